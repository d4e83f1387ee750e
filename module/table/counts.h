/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources that have several budgets: all counts of a way or of a floor at once. See the
 * top of counts.c. @first is the wheel of the first count. The caller serialises as for
 * a single wheel; "full" and "marked" may be read in a seqcount.
 */
#ifndef WEIR_BUDGETS_H
#define WEIR_BUDGETS_H

#include "table/layout.h"

/* Weight of a source that is never evicted, because a count of it never ends. */
#define WEIR_STAYS BIT_ULL(62)

/* The wheel of a count; @first is that of the same way or floor. */
static inline struct weir_wheel *weir_wheel_of(const struct weir_count *count,
					       struct weir_wheel *first)
{
	return (void *)first + count->off;
}

u16 weir_budgets_full(const struct weir_table *table, struct weir_wheel *first,
		      struct weir_lookup *lookup);
bool weir_budgets_refuse(const struct weir_table *table, struct weir_way *way, u32 seq,
			 const struct weir_lookup *lookup, u16 result);
void weir_budgets_add(const struct weir_table *table, struct weir_wheel *first,
		      struct weir_lookup *lookup);
bool weir_budgets_uncharge(const struct weir_table *table, struct weir_wheel *first,
			   const struct weir_lookup *lookup);

void weir_budgets_start(const struct weir_table *table, struct weir_wheel *floor,
			struct weir_wheel *first, bool live, bool free);

/* Of one count; floor and wheel are its own. */
void weir_count_turn(const struct weir_count *count, struct weir_wheel *wheel, u32 slot);
void weir_count_raise(const struct weir_count *count, struct weir_wheel *floor,
		      struct weir_wheel *wheel);
u64 weir_count_until(const struct weir_count *count, const struct weir_wheel *wheel, u64 tick,
		     u64 cost, u64 budget);
bool weir_count_mark(const struct weir_table *table, struct weir_wheel *first,
		     const struct weir_lookup *lookup, u16 result);

/* Of any number of counts. */
u64 weir_budgets_weight(const struct weir_table *table, struct weir_wheel *first, u64 tick);
void weir_budgets_turn(const struct weir_table *table, struct weir_wheel *first, u64 tick);
void weir_budgets_unmark(const struct weir_table *table, struct weir_wheel *first);
bool weir_budgets_reset(const struct weir_table *table, struct weir_wheel *first);

/*
 * Is there no room for the packet in a count? Returns WEIR_REFUSED and which, the one that
 * is full for longest, or 0.
 */
static __always_inline u16 weir_wheels_full(const struct weir_table *table,
					    struct weir_wheel *first,
					    struct weir_lookup *lookup)
{
	if (unlikely(!table->plain))
		return weir_budgets_full(table, first, lookup);
	return weir_wheel_full(weir_shape_unlogged(table->shape), first, lookup->slot, lookup->cost,
			       lookup->budget) ? WEIR_REFUSED : 0;
}

/* Charge all counts, which have room. */
static inline void weir_wheels_add(const struct weir_table *table, struct weir_wheel *first,
				   struct weir_lookup *lookup)
{
	if (unlikely(!table->plain)) {
		weir_budgets_add(table, first, lookup);
		return;
	}
	if (first->at != lookup->slot)
		weir_wheel_turn(weir_shape_unlogged(table->shape), first, lookup->slot);
	weir_wheel_add(weir_shape_unlogged(table->shape), first, lookup->cost);
}

#endif /* WEIR_BUDGETS_H */
