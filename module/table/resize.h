/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Take over from a predecessor. See the top of resize.c.
 */
#ifndef WEIR_RESIZE_H
#define WEIR_RESIZE_H

#include "table/layout.h"

/* What a table takes over from another, and the budgets of its limit with each. */
struct weir_heritage {
	struct weir_table *next;
	const struct weir_table *old;
	const u64 *budget;
	const u64 *old_budget;
	bool saved;		/* @old is of a saved state; see table/saved.c */
};

unsigned int weir_meter_before(const struct weir_meter *next, const struct weir_table *old);
void weir_count_convert(const struct weir_heritage *of, unsigned int n, struct weir_count *to,
			struct weir_count *first, u64 tick);
u64 weir_moved_weight(const struct weir_heritage *of, struct weir_count *first, u64 tick);

/* As that of a source that finds no entry: of what was counted for ever, if it was. */
#define WEIR_SOURCE_FLOOR ((struct weir_floor) { .stays = U8_MAX })

void weir_floor_raise(const struct weir_heritage *of, unsigned int n, struct weir_set *to,
		      struct weir_floor was, struct weir_count *count);

/* Pull the old set of a source, and its floor. BH off, RCU read lock. */
void weir_table_pull(struct weir_table *next, struct weir_table *old, u32 hash);

/* Pull the set of a source first, if there is a predecessor. */
static inline void weir_table_settle(struct weir_table *table, u32 hash)
{
	struct weir_table *old = rcu_dereference(table->old);

	if (unlikely(old))
		weir_table_pull(table, old, hash);
}

#endif /* WEIR_RESIZE_H */
