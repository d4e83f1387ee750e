/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The budget of a limit for packets of sources that it does not know. See the top of
 * newcomers.c.
 */
#ifndef WEIR_NEWCOMERS_H
#define WEIR_NEWCOMERS_H

#include <linux/types.h>

#include "table/table.h"

struct weir_error;
struct weir_limit;
struct weir_net;
struct weir_way;

/* Sources that were refused lately; a cell has a fingerprint in 24 bits, a time in 8. */
#define WEIR_CELLS	7

struct weir_row {
	u32 next;		/* cell to overwrite */
	u32 cell[WEIR_CELLS];
};

/* How a limit stands to newcomers; any CPU writes the group in the middle. */
struct weir_tries {
	struct weir_row *row;
	u32 mask;		/* rows less one */
	u64 key[2];		/* of the fingerprints, odd */

	u64 used_up;		/* tick until which a late refusal is remembered */
	u64 full;		/* tick until which nothing fits the first budget, */
	u32 full_seq;		/* while this is the seqcount of its way */

	u64 learn;		/* until this tick; process context writes it */
	atomic64_t *held;	/* as that of struct weir_table */
};

/* The two sources of a table of newcomers, as weir_batch_wanted() expects them. */
extern const struct weir_source weir_room_of[2];

/* A part of struct weir_limit. The first four are as asked for. */
struct weir_newcomers {
	u32 budget;		/* packets a window; 0 if newcomers are not distinguished */
	u32 window_ms;
	u32 flood;		/* expected, in packets a second */
	u32 known_ms;		/* admitted later than this, a source is known */
	u32 known_ticks;
	u32 slot_ticks;		/* length of a slot */
	u32 span_ticks;		/* window and a slot */
	u8 slots;		/* of the window */
	u32 hash[2];		/* of the two sources in @table */
	struct weir_table *table;	/* first tries and second tries, or NULL */
	struct weir_way *way;	/* of first tries, as a rule */
	struct weir_tries *tries;	/* who was refused lately, or NULL */
};

/* Bytes that @table and @tries take. */
u64 weir_newcomers_bytes(const struct weir_newcomers *newcomers);
/* Makes those of a checked configuration, or takes those of @was; may sleep. */
int weir_newcomers_make(struct weir_net *wn, struct weir_newcomers *newcomers,
			const struct weir_newcomers *was, struct weir_error *error);
/* Frees what @heir, which may be NULL, has not taken. */
void weir_newcomers_free(struct weir_newcomers *newcomers, const struct weir_newcomers *heir);

/* Begin to learn, because nobody is known: at first, and when all are forgotten. */
void weir_newcomers_learn(const struct weir_newcomers *newcomers);

/* permit.c: packets. BH off, RCU read lock. */
u16 weir_permit_refuse(const struct weir_limit *limit, const struct weir_lookup *lookup);
u16 weir_permit_charge(const struct weir_limit *limit, struct weir_lookup *lookup,
		       u32 packets);
void weir_permit_uncharge(const struct weir_newcomers *newcomers, u64 tick, u32 packets,
			  u16 result, struct weir_receipt receipt);

/* How the two budgets stand now; RCU read lock. */
struct weir_newcomers_state {
	u64 count;	/* packets in the window, of both */
	u64 wait;	/* ticks until a first try has room, 0 if now */
};

void weir_newcomers_peek(const struct weir_newcomers *newcomers,
			 struct weir_newcomers_state *state);

#endif /* WEIR_NEWCOMERS_H */
