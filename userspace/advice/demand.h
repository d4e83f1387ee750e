/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sources sent, and how much of it budgets would have refused, by the module's own counts.
 * Time and cost are arguments.
 */
#ifndef WEIR_DEMAND_H
#define WEIR_DEMAND_H

#include "err.h"
#include "model.h"

/* Windows whose peaks are kept: that of the limit, and longer ones. */
#define WEIR_DEMAND_WINDOWS	3

/* A source; counts of the first window are of the limit's unit, others of packets. */
struct weir_sender {
	struct weir_prefix prefix;
	uint64_t first, last;		/* ticks */
	uint64_t packets, bytes;
	uint64_t peak[WEIR_DEMAND_WINDOWS];	/* the most in a window, if nothing is refused */
	struct weir_counter lost;	/* to the budgets that are judged */
	/* What the caller saw of it last, if it is one that looks */
	struct {
		uint64_t look, slot, count, dropped;
	} seen;
};

struct weir_demand;

/*
 * The window and the way to count of the first budget are those that are looked at; with @judge
 * all budgets of the limit are judged as well, together. Times are of ticks so long. NULL with a
 * sentence.
 */
struct weir_demand *weir_demand_new(const struct weir_limit *limit, bool judge, uint64_t tick_ns,
				    struct weir_err *err);
void weir_demand_free(struct weir_demand *demand);
/*
 * A source, as the limit counts it, sends packets with so many bytes in all, of one size as nearly
 * as that goes; -ENOMEM.
 */
int weir_demand_add(struct weir_demand *demand, const struct weir_prefix *source, uint64_t ns,
		    uint64_t packets, uint64_t bytes);
/* The source of an address, which is new if it has no packets; or NULL: no memory. */
struct weir_sender *weir_demand_find(struct weir_demand *demand, const struct weir_prefix *source);
/* There is no more; before anything that follows. -ENOMEM. */
int weir_demand_end(struct weir_demand *demand);

/* What was sent in all, and the most at once. */
struct weir_demand_facts {
	unsigned int sources;		/* that sent something */
	uint64_t ticks, packets, bytes;
	uint64_t live;			/* the most sources within the window and a slot */
	uint32_t known_ms;		/* what newcomers are younger than */
	uint64_t newcomer_ticks;	/* for how long they could be told from others */
	uint64_t newcomer_packets, newcomer_peak;	/* in all, and in a second */
	uint32_t window_ms[WEIR_DEMAND_WINDOWS];
};

void weir_demand_facts(const struct weir_demand *demand, struct weir_demand_facts *facts);
/* One of all, some of whom may have sent nothing; NULL behind the last one. */
const struct weir_sender *weir_demand_sender(const struct weir_demand *demand, unsigned int i);
/* What single budgets of the first window would have refused, and those that are judged. */
unsigned int weir_demand_rungs(const struct weir_demand *demand);
uint64_t weir_demand_rung(const struct weir_demand *demand, unsigned int rung);
void weir_demand_lost(const struct weir_demand *demand, unsigned int rung, struct weir_loss *loss);
void weir_demand_judged(const struct weir_demand *demand, struct weir_loss *loss);
/* Packets of one source. */
uint64_t weir_demand_lost_by(const struct weir_demand *demand, const struct weir_sender *sender,
			     unsigned int rung);

#endif
