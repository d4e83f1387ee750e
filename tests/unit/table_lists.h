/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources with several budgets as lists of all that each was charged, by which every answer of
 * a table is known.
 */
#ifndef TABLE_LISTS_H
#define TABLE_LISTS_H

#include "table_ways.h"

#define LISTS_SOURCES 12
#define LISTS_EVENTS 512

/* What was charged to a count, by its slots. */
struct list {
	unsigned int len;
	struct way_event event[LISTS_EVENTS];
};

struct limit {
	struct weir_table *table;
	unsigned int budgets;
	struct way_budget budget[WEIR_BUDGETS_MAX];
	u64 room[WEIR_BUDGETS_MAX];
	u64 period[WEIR_BUDGETS_MAX], ends[WEIR_BUDGETS_MAX];	/* of a calendar */
};

extern struct lists {
	struct chance chance;
	struct limit now, old;	/* the old one has no table, or none before a change */
	unsigned int from[WEIR_BUDGETS_MAX];	/* of which old count each is */
	u64 tick, run;
	bool kept;		/* the change was not of the budgets */
	bool unknown;		/* a log got longer: what had left the old one is unknown */
	struct list list[LISTS_SOURCES][WEIR_BUDGETS_MAX];
	/* In packets and in bytes, and how much of it is from before the change. */
	struct twin_history history[LISTS_SOURCES][2];
	unsigned int before[LISTS_SOURCES];
	u64 admitted, refused[WEIR_BUDGETS_MAX];
	/* By first and second budget; and the old and the new way of counts that were moved. */
	u64 pair_refused[WAYS][WAYS][2], moved[WAYS][WAYS];
} lists;

static inline u64 below(u64 n)
{
	return chance_below(&lists.chance, n);
}

void lists_limit(struct limit *l, u32 sources, enum way first, enum way second);
u64 lists_slot(const struct limit *l, unsigned int i);
u64 lists_expected(const struct limit *l, unsigned int i, const struct list *list);
void lists_add(unsigned int source, unsigned int i, u64 amount);
u16 lists_packet(unsigned int i, bool exact);
void lists_peek(unsigned int i, struct weir_source_state *state);
void lists_check(unsigned int i);
void lists_pass(u64 ticks);
void lists_pass_random(void);
void lists_begin(u64 run, u32 sources);
void lists_end(void);

#endif /* TABLE_LISTS_H */
