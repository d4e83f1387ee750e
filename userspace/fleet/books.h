/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host and those that it shares a limit with have admitted: who announces what, and what
 * is charged here for the others. Without clock, socket or kernel: see the top of books.c.
 */
#ifndef FLEET_BOOKS_H
#define FLEET_BOOKS_H

#include "announce.h"

#define FLEET_PEERS_MAX		1024
#define FLEET_SOURCES_MAX	65536	/* of a limit, */
#define FLEET_PEER_SOURCES_MAX	32768	/* of which a peer may announce so many, */
#define FLEET_SHARES_MAX	262144	/* and all of them together */

/* A limit whose budgets are counted in slots. */
struct fleet_shape {
	unsigned int budgets;
	struct fleet_ring {
		uint64_t budget, slot_ns;
		unsigned int reach;	/* slots that count besides the current one */
	} ring[WEIR_BUDGETS_MAX];
};

/*
 * Where the module's clock is: the number of the current slot, and how long that has lasted.
 * Nothing was counted in slots before @since since the last dump.
 */
struct fleet_clock {
	uint64_t slot, phase_ns, since;
};

/* What happened so far; sources are counted once in a message. */
struct fleet_books_counts {
	uint64_t announced;	/* by this host */
	uint64_t left_out;	/* from a message that was full; the next one has them */
	uint64_t heard;		/* of others */
	uint64_t capped;	/* beyond what a peer may announce */
	uint64_t no_room;	/* in the books, also for this host's own */
	uint64_t malformed;	/* messages of which nothing was taken, likewise */
	uint64_t babbled;	/* more of them than the interval allows */
	uint64_t repeated;	/* that had come before */
	uint64_t lost;		/* that never came */
};

struct fleet_books;

/* @run is drawn at random. NULL: out of memory. */
struct fleet_books *fleet_books_new(const char *host, uint64_t run,
				    const struct fleet_shape *shape, uint16_t interval_ms);
void fleet_books_free(struct fleet_books *books);

/*
 * The module's counts at this time of each budget, of which the first that is given begins the
 * books, are those that follow: @numbers of a budget are of the slots before it, current first.
 */
void fleet_books_clock(struct fleet_books *books, const struct fleet_clock clock[], int64_t now_ms);
void fleet_books_dumped(struct fleet_books *books, const struct weir_prefix *source,
			const uint64_t *const numbers[], const unsigned int count[]);
/* All was dumped: forget what has ended, and announce the rest; false: nothing is to be said. */
bool fleet_books_announce(struct fleet_books *books, uint16_t age_ms, struct fleet_writer *to);
/* Take a message; -EINVAL: it is malformed, and was counted so. */
int fleet_books_hear(struct fleet_books *books, const void *data, size_t size, int64_t now_ms);

/* Add so much to each budget of a source here, in the slots of the last fleet_books_clock(). */
typedef void fleet_books_add(const struct weir_prefix *source, const uint64_t amount[], void *data);
void fleet_books_charge(struct fleet_books *books, int64_t now_ms, fleet_books_add *add,
			void *data);

/* Sources with a smaller count do not matter to the others. */
uint64_t fleet_books_least(const struct fleet_books *books);
/* Peers that were heard in the last @within_ms. */
unsigned int fleet_books_peers(const struct fleet_books *books, int64_t now_ms, int64_t within_ms);
const struct fleet_books_counts *fleet_books_counts(const struct fleet_books *books);

#endif
