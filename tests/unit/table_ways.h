/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways to count a budget, and for each what a list of charges says of it.
 */
#ifndef TABLE_WAYS_H
#define TABLE_WAYS_H

#include "table_twin.h"

enum way { STRICT, LENIENT, FIXED, TOTAL, LEAK, LOG, CALENDAR, WAYS };

/* A budget, and the constants of its count. */
struct way_budget {
	enum way way;
	u64 room;	/* the budget, or what a bucket holds */
	struct weir_meter_spec spec;
};

/* What was charged, in the unit of the budget. */
struct way_event {
	u64 slot;
	u64 amount;
};

/* Longer than a test lasts */
#define WAY_FOR_EVER BIT_ULL(50)

/* Of n slots, each so many ticks long, if the way has such; a bucket holds @room. */
struct way_budget way_budget(enum way way, u64 budget, u64 room, u32 slots, u32 slot_ticks,
			     bool bytes);
/* A table of these budgets; the caller sets sources and prefix before. */
struct weir_table *way_table(struct weir_table_spec *spec, const struct way_budget *budget,
			     unsigned int n, u64 tick);

/* The slot of a tick; of a calendar, @period. */
u64 way_slot(const struct way_budget *budget, u64 tick, u64 period);
/* Slots that count besides the current one. */
u64 way_reach(const struct way_budget *budget);
u64 way_window(const struct way_budget *budget);
/* The most that any interval of a window has: the room, and what the count has let go. */
u64 way_most(const struct way_budget *budget);
/* Parts of a packet or byte in a bucket; otherwise 1. */
u64 way_parts(const struct way_budget *budget);
/* What the count of a list holds in a slot, in parts. */
u64 way_held(const struct way_budget *budget, const struct way_event *event, unsigned int len,
	     u64 slot);
bool way_full(const struct way_budget *budget, const struct way_event *event, unsigned int len,
	      u64 slot, u64 cost);

#endif /* TABLE_WAYS_H */
