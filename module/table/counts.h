/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All counts of an entry or of a floor at once. See the top of counts.c. @first is the count of
 * the first meter. The caller serialises as for a single count; "full" and "marked" may be
 * read in a seqcount.
 */
#ifndef WEIR_ENTRY_COUNTS_H
#define WEIR_ENTRY_COUNTS_H

#include "table/layout.h"

/* Weight of a source that is never evicted, because a count of it never ends. */
#define WEIR_STAYS BIT_ULL(62)

/* The count of a meter; @first is that of the same entry or floor. */
static inline struct weir_count *weir_count_of(const struct weir_meter *meter,
					       struct weir_count *first)
{
	return (void *)first + meter->off;
}

u16 weir_counts_longest(const struct weir_table *table, struct weir_count *first,
			const struct weir_lookup *lookup, unsigned int full);
/* Of all counts but the first. */
u64 weir_counts_weight_more(const struct weir_table *table, struct weir_count *first, u64 tick);
void weir_counts_copy_more(const struct weir_table *table, struct weir_count *floor,
			   struct weir_count *first, bool free);

bool weir_counts_mark(const struct weir_table *table, struct weir_count *first,
		      const struct weir_lookup *lookup, u16 result);
bool weir_counts_undo(const struct weir_table *table, struct weir_count *first,
		      const struct weir_lookup *lookup);
u64 weir_counts_weight(const struct weir_table *table, struct weir_count *first, u64 tick);
void weir_counts_advance(const struct weir_table *table, struct weir_count *first, u64 tick);
void weir_counts_start(const struct weir_table *table, struct weir_count *floor,
		       struct weir_count *first);
void weir_counts_unmark(const struct weir_table *table, struct weir_count *first);
bool weir_counts_init(const struct weir_table *table, struct weir_count *first);

/* Of one meter: the count and the floor's. */
void weir_count_raise(const struct weir_meter *meter, struct weir_count *floor,
		      struct weir_count *count);
u64 weir_count_until(const struct weir_meter *meter, const struct weir_count *count, u64 tick,
		     u64 cost, u64 budget);
u64 weir_meter_left(const struct weir_meter *meter, u32 at, u64 tick, u32 slots);

/*
 * Is there no room for the packet? Returns WEIR_REFUSED and in which count, the one that is full
 * for longest, or 0. Fills in the slots; the caller has set the first.
 */
static inline u16 counts_full(const struct weir_table *table, struct weir_count *first,
			      struct weir_lookup *lookup)
{
	const struct weir_meter *meter = table->meter;
	u64 cost = lookup->amount[meter->bytes];
	unsigned int full = weir_count_full(&meter->shape, first, lookup->slot[0], cost,
					    lookup->budgets[0]) && cost, i;

	if (likely(!table->more))
		return full ? WEIR_REFUSED : 0;
	for (i = 1; i <= table->more; i++) {
		meter++;
		cost = lookup->amount[meter->bytes];
		lookup->slot[i] = weir_meter_slot(meter, lookup->tick);
		if (unlikely(weir_count_full(&meter->shape, weir_count_of(meter, first),
					     lookup->slot[i], cost, lookup->budgets[i])) && cost)
			full |= BIT(i);
	}
	return likely(!full) ? 0 : weir_counts_longest(table, first, lookup, full);
}

/* Charge a count, in its slot. Returns the slot that was charged. */
static inline u16 count_charge(const struct weir_meter *meter, struct weir_count *count, u32 slot,
			       const struct weir_lookup *lookup)
{
	if (count->at != slot)
		weir_count_advance(&meter->shape, count, slot);
	weir_count_add(&meter->shape, count, lookup->amount[meter->bytes]);
	return count->at;
}

/* Charge all counts, after counts_full(), and fill in the receipt. */
static inline void counts_add(const struct weir_table *table, struct weir_count *first,
			      struct weir_lookup *lookup)
{
	const struct weir_meter *meter = table->meter;
	unsigned int i;

	lookup->receipt.at[0] = count_charge(meter, first, lookup->slot[0], lookup);
	for (i = 1; unlikely(i <= table->more); i++) {
		meter++;
		lookup->receipt.at[i] = count_charge(meter, weir_count_of(meter, first),
						     lookup->slot[i], lookup);
	}
	/* Pairs with weir_table_forget() and weir_table_clear(). */
	lookup->receipt.epoch = READ_ONCE(table->epoch);
}

/* The weight of a source by a count, perhaps the first, of which this is the sum. */
static inline u64 count_weight(const struct weir_meter *meter, u64 sum, bool first)
{
	if (sum && unlikely(weir_meter_stays(meter)))
		return WEIR_STAYS;
	return first ? min(sum, WEIR_STAYS - 1) : sum > 0;
}

/*
 * What orders sources by how little is lost if they are evicted: 0 if they are idle,
 * WEIR_STAYS if they may not be. Of @now only the tick and the first slot are used.
 */
static inline u64 counts_weight(const struct weir_table *table, struct weir_count *first,
				const struct weir_lookup *now)
{
	const struct weir_meter *meter = table->meter;
	u64 weight = count_weight(meter, weir_count_sum(&meter->shape, first, now->slot[0]), true);

	return unlikely(table->more) ?
	       max(weight, weir_counts_weight_more(table, first, now->tick)) : weight;
}

static inline void count_copy(const struct weir_meter *meter, struct weir_count *floor,
			      struct weir_count *count, bool free)
{
	/* A late clock must not count in slots before the idle count's. */
	if (!free && count->at != floor->at)
		weir_count_advance(&meter->shape, floor, count->at);
	/* A refusal of the former source may be marking it. */
	data_race(memcpy(count, floor, meter->shape.size));
	weir_count_unmark(&meter->shape, count);
}

/* Start a source of an entry that is idle, or @free, from the floor. */
static inline void counts_copy(const struct weir_table *table, struct weir_count *floor,
			       struct weir_count *first, bool free)
{
	count_copy(table->meter, floor, first, free);
	if (unlikely(table->more))
		weir_counts_copy_more(table, floor, first, free);
}

#endif /* WEIR_ENTRY_COUNTS_H */
