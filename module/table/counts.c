// SPDX-License-Identifier: GPL-2.0-only
/*
 * A limit may have several budgets. A way, and a floor, then has a wheel for each, one
 * behind the other, and each has its own clock, unit and room. A packet is charged to
 * all or to none, under the one lock of the way; the seqcount covers all of them.
 *
 * A packet that several budgets refuse is refused by the one that stays full for longest,
 * and only that is marked. A source is live while any of its counts is not 0. Each floor
 * is joined and each promise is kept by itself, as if its budget were the only one.
 */
#include "table/counts.h"

/*
 * Ticks from @tick until so many slots after the one to which a wheel was turned, which may be
 * ahead of the clock; or WEIR_NEVER if the count never ends.
 */
u64 weir_count_left(const struct weir_count *count, u32 at, u64 tick, u32 slots)
{
	u64 slot = weir_count_slot(count, tick), when;

	if (!slots)
		return 0;
	if (weir_count_stays(count))
		return WEIR_NEVER;
	if (count->calendar)
		return weir_calendar_wait(count->calendar);
	when = weir_count_begins(count, slot + (s32)(at - (u32)slot) + slots);
	return when > tick ? when - tick : 0;
}

/* The tick until which a full count stays full for @cost, if nothing changes. */
u64 weir_count_until(const struct weir_count *count, const struct weir_wheel *wheel, u64 tick,
		     u64 cost, u64 budget)
{
	u32 at = weir_count_slot(count, tick), wait = 1;
	u64 left;

	if (count->shape.kind != WEIR_COUNT_RING) {
		/* A torn read is of another seqcount. */
		at = data_race(wheel->at);
		/* As above. */
		wait = data_race(weir_count_wait(&count->shape, wheel, at, cost, budget));
	}
	left = weir_count_left(count, at, tick, wait);
	return left == WEIR_NEVER ? left : tick + left;
}

/* Of counts that are full, @full by index, the one that stays so for longest refuses. */
noinline u16 weir_counts_longest(const struct weir_table *table, struct weir_wheel *first,
				 const struct weir_lookup *lookup, unsigned int full)
{
	const struct weir_count *count = table->count;
	u64 until, latest = 0;
	unsigned int i, by = 0;

	for (i = 0; i <= table->more; i++, count++) {
		if (!(full & BIT(i)))
			continue;
		until = weir_count_until(count, weir_wheel_of(count, first), lookup->tick,
					 lookup->amount[count->bytes], lookup->budgets[i]);
		if (until > latest) {
			latest = until;
			by = i;
		}
	}
	return WEIR_REFUSED | WEIR_BY_BUDGET | by << WEIR_BUDGET_SHIFT;
}

u64 weir_counts_weight_more(const struct weir_table *table, struct weir_wheel *first, u64 tick)
{
	const struct weir_count *count = table->count;
	u64 sum, weight = 0;
	unsigned int i;

	for (i = 1; i <= table->more; i++) {
		count++;
		sum = weir_count_sum(&count->shape, weir_wheel_of(count, first),
				     weir_count_slot(count, tick));
		weight = max(weight, count_weight(count, sum, false));
	}
	return weight;
}

void weir_counts_copy_more(const struct weir_table *table, struct weir_wheel *floor,
			   struct weir_wheel *first, bool free)
{
	const struct weir_count *count = table->count;
	unsigned int i;

	for (i = 1; i <= table->more; i++) {
		count++;
		count_copy(count, weir_wheel_of(count, floor), weir_wheel_of(count, first), free);
	}
}

/* Mark a refusal in the count that refused. Returns whether one was marked there. */
bool weir_counts_mark(const struct weir_table *table, struct weir_wheel *first,
		      const struct weir_lookup *lookup, u16 result)
{
	unsigned int i = result >> WEIR_BUDGET_SHIFT;
	const struct weir_count *count = &table->count[i];
	struct weir_wheel *wheel = weir_wheel_of(count, first);
	bool marked = weir_count_marked(&count->shape, wheel, lookup->slot[i]);

	weir_count_mark(&count->shape, wheel, lookup->slot[i], lookup->amount[count->bytes]);
	return marked;
}

u64 weir_counts_weight(const struct weir_table *table, struct weir_wheel *first, u64 tick)
{
	const struct weir_lookup now = { .tick = tick, .slot[0] = weir_table_slot(table, tick) };

	return counts_weight(table, first, &now);
}

/*
 * Give back a charge to each count whose window still holds it. Returns whether all did. One
 * that does not has dropped it.
 */
bool weir_counts_undo(const struct weir_table *table, struct weir_wheel *first,
		      const struct weir_lookup *lookup)
{
	const struct weir_count *count = table->count;
	struct weir_wheel *wheel;
	bool given = true;
	unsigned int i;
	u16 age;

	for (i = 0; i <= table->more; i++, count++) {
		wheel = weir_wheel_of(count, first);
		age = wheel->at - lookup->receipt.at[i];
		given &= weir_count_undo(&count->shape, wheel, wheel->at - age,
					 lookup->amount[count->bytes]);
	}
	return given;
}

void weir_counts_advance(const struct weir_table *table, struct weir_wheel *first, u64 tick)
{
	const struct weir_count *count = table->count;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++)
		weir_count_advance(&count->shape, weir_wheel_of(count, first),
				   weir_count_slot(count, tick));
}

/*
 * Start a source of a way from the floor as it was before the way's former source, which is
 * live, is evicted.
 */
void weir_counts_start(const struct weir_table *table, struct weir_wheel *floor,
		       struct weir_wheel *first)
{
	const struct weir_count *count = table->count;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++)
		weir_count_raise(count, weir_wheel_of(count, floor), weir_wheel_of(count, first));
}

void weir_counts_unmark(const struct weir_table *table, struct weir_wheel *first)
{
	const struct weir_count *count = table->count;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++)
		weir_count_unmark(&count->shape, weir_wheel_of(count, first));
}

/* Empty all counts, in the slots where they are. Returns whether one was not. */
bool weir_counts_init(const struct weir_table *table, struct weir_wheel *first)
{
	const struct weir_count *count = table->count;
	struct weir_wheel *wheel;
	bool live = false;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++) {
		wheel = weir_wheel_of(count, first);
		live |= weir_count_sum(&count->shape, wheel, wheel->at) > 0;
		weir_count_init(&count->shape, wheel, wheel->at);
	}
	return live;
}

/*
 * Join a wheel into a floor; @wheel becomes the former floor. Both are turned to the later
 * of their slots, so that a wheel ahead of the clock keeps its counts for as long as it
 * would have.
 */
void weir_count_raise(const struct weir_count *count, struct weir_wheel *floor,
		      struct weir_wheel *wheel)
{
	if (floor->at != wheel->at) {
		weir_count_advance(&count->shape, floor, wheel->at);
		weir_count_advance(&count->shape, wheel, floor->at);
	}
	weir_count_join(&count->shape, floor, wheel);
}
