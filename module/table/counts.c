// SPDX-License-Identifier: GPL-2.0-only
/*
 * A limit may have several budgets. An entry, and a floor, then has a count for each, one
 * behind the other, and each has its own clock, unit and room. A packet is charged to
 * all or to none, under the one lock of the entry; the seqcount covers all of them.
 *
 * A packet that several budgets refuse is refused by the one that stays full for longest,
 * and only that is marked. A source is live while any of its counts is not 0. Each floor
 * is joined and each promise is kept by itself, as if its budget were the only one.
 */
#include "table/counts.h"

/*
 * Ticks from @tick until so many slots after the one to which a count was turned, which may be
 * ahead of the clock; or WEIR_NEVER if the count never ends.
 */
u64 weir_meter_left(const struct weir_meter *meter, u32 at, u64 tick, u32 slots)
{
	u64 slot = weir_meter_slot(meter, tick), when;

	if (!slots)
		return 0;
	if (weir_meter_stays(meter))
		return WEIR_NEVER;
	if (meter->calendar)
		return weir_calendar_wait(meter->calendar);
	when = weir_meter_begins(meter, slot + (s32)(at - (u32)slot) + slots);
	return when > tick ? when - tick : 0;
}

/* The tick until which a full count stays full for @cost, if nothing changes. */
u64 weir_count_until(const struct weir_meter *meter, const struct weir_count *count, u64 tick,
		     u64 cost, u64 budget)
{
	u32 at = weir_meter_slot(meter, tick), wait = 1;
	u64 left;

	if (meter->shape.kind != WEIR_COUNT_RING) {
		/* A torn read is of another seqcount. */
		at = data_race(count->at);
		/* As above. */
		wait = data_race(weir_count_wait(&meter->shape, count, at, cost, budget));
	}
	left = weir_meter_left(meter, at, tick, wait);
	return left == WEIR_NEVER ? left : tick + left;
}

/* Of counts that are full, @full by index, the one that stays so for longest refuses. */
noinline u16 weir_counts_longest(const struct weir_table *table, struct weir_count *first,
				 const struct weir_lookup *lookup, unsigned int full)
{
	const struct weir_meter *meter = table->meter;
	u64 until, latest = 0;
	unsigned int i, by = 0;

	for (i = 0; i <= table->more; i++, meter++) {
		if (!(full & BIT(i)))
			continue;
		until = weir_count_until(meter, weir_count_of(meter, first), lookup->tick,
					 lookup->amount[meter->bytes], lookup->budgets[i]);
		if (until > latest) {
			latest = until;
			by = i;
		}
	}
	return WEIR_REFUSED | WEIR_BY_BUDGET | by << WEIR_BUDGET_SHIFT;
}

u64 weir_counts_weight_more(const struct weir_table *table, struct weir_count *first, u64 tick)
{
	const struct weir_meter *meter = table->meter;
	u64 sum, weight = 0;
	unsigned int i;

	for (i = 1; i <= table->more; i++) {
		meter++;
		sum = weir_count_sum(&meter->shape, weir_count_of(meter, first),
				     weir_meter_slot(meter, tick));
		weight = max(weight, count_weight(meter, sum, false));
	}
	return weight;
}

void weir_counts_copy_more(const struct weir_table *table, struct weir_count *floor,
			   struct weir_count *first, bool free)
{
	const struct weir_meter *meter = table->meter;
	unsigned int i;

	for (i = 1; i <= table->more; i++) {
		meter++;
		count_copy(meter, weir_count_of(meter, floor), weir_count_of(meter, first), free);
	}
}

/* Mark a refusal in the count that refused. Returns whether one was marked there. */
bool weir_counts_mark(const struct weir_table *table, struct weir_count *first,
		      const struct weir_lookup *lookup, u16 result)
{
	unsigned int i = result >> WEIR_BUDGET_SHIFT;
	const struct weir_meter *meter = &table->meter[i];
	struct weir_count *count = weir_count_of(meter, first);
	bool marked = weir_count_marked(&meter->shape, count, lookup->slot[i]);

	weir_count_mark(&meter->shape, count, lookup->slot[i], lookup->amount[meter->bytes]);
	return marked;
}

u64 weir_counts_weight(const struct weir_table *table, struct weir_count *first, u64 tick)
{
	const struct weir_lookup now = { .tick = tick, .slot[0] = weir_table_slot(table, tick) };

	return counts_weight(table, first, &now);
}

/*
 * Give back a charge to each count whose window still holds it. Returns whether all did. One
 * that does not has dropped it.
 */
bool weir_counts_undo(const struct weir_table *table, struct weir_count *first,
		      const struct weir_lookup *lookup)
{
	const struct weir_meter *meter = table->meter;
	struct weir_count *count;
	bool given = true;
	unsigned int i;
	u16 age;

	for (i = 0; i <= table->more; i++, meter++) {
		count = weir_count_of(meter, first);
		age = count->at - lookup->receipt.at[i];
		given &= weir_count_undo(&meter->shape, count, count->at - age,
					 lookup->amount[meter->bytes]);
	}
	return given;
}

void weir_counts_advance(const struct weir_table *table, struct weir_count *first, u64 tick)
{
	const struct weir_meter *meter = table->meter;
	unsigned int i;

	for (i = 0; i <= table->more; i++, meter++)
		weir_count_advance(&meter->shape, weir_count_of(meter, first),
				   weir_meter_slot(meter, tick));
}

/*
 * Start a source of an entry from the floor as it was before the entry's former source, which is
 * live, is evicted.
 */
void weir_counts_start(const struct weir_table *table, struct weir_count *floor,
		       struct weir_count *first)
{
	const struct weir_meter *meter = table->meter;
	unsigned int i;

	for (i = 0; i <= table->more; i++, meter++)
		weir_count_raise(meter, weir_count_of(meter, floor), weir_count_of(meter, first));
}

void weir_counts_unmark(const struct weir_table *table, struct weir_count *first)
{
	const struct weir_meter *meter = table->meter;
	unsigned int i;

	for (i = 0; i <= table->more; i++, meter++)
		weir_count_unmark(&meter->shape, weir_count_of(meter, first));
}

/* Empty all counts, in the slots where they are. Returns whether one was not. */
bool weir_counts_init(const struct weir_table *table, struct weir_count *first)
{
	const struct weir_meter *meter = table->meter;
	struct weir_count *count;
	bool live = false;
	unsigned int i;

	for (i = 0; i <= table->more; i++, meter++) {
		count = weir_count_of(meter, first);
		live |= weir_count_sum(&meter->shape, count, count->at) > 0;
		weir_count_init(&meter->shape, count, count->at);
	}
	return live;
}

/*
 * Join a count into a floor; @count becomes the former floor. Both are turned to the later
 * of their slots, so that a count ahead of the clock keeps what it has for as long as it
 * would have.
 */
void weir_count_raise(const struct weir_meter *meter, struct weir_count *floor,
		      struct weir_count *count)
{
	if (floor->at != count->at) {
		weir_count_advance(&meter->shape, floor, count->at);
		weir_count_advance(&meter->shape, count, floor->at);
	}
	weir_count_join(&meter->shape, floor, count);
}
