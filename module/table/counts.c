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

noinline void weir_count_turn(const struct weir_count *count, struct weir_wheel *wheel, u32 slot)
{
	weir_wheel_turn(count->shape, wheel, slot);
}

/* The tick until which a full count stays full for @cost, if nothing changes. */
u64 weir_count_until(const struct weir_count *count, const struct weir_wheel *wheel, u64 tick,
		     u64 cost, u64 budget)
{
	u64 slot = weir_count_slot(count, tick), wait = 1;

	if (!count->slot_ticks)
		return WEIR_NEVER;
	if (count->calendar)
		return tick + weir_calendar_wait(count->calendar);
	if (count->shape.parts) {
		slot += (s32)(wheel->at - (u32)slot);
		/* A torn read is of another seqcount. */
		wait = data_race(weir_wheel_peek(count->shape, wheel, cost, budget));
	}
	return (slot + wait) * count->slot_ticks;
}

/* As weir_wheel_full() and weir_wheel_add(), with logs out of the way. */
static inline bool count_full(const struct weir_count *count, const struct weir_wheel *wheel,
			      u32 slot, u64 cost, u64 budget)
{
	if (unlikely(count->shape.entries))
		return weir_log_wait(count->shape, wheel, slot, cost, budget);
	return weir_wheel_full(weir_shape_unlogged(count->shape), wheel, slot, cost, budget);
}

static inline void count_add(const struct weir_count *count, struct weir_wheel *wheel, u64 cost)
{
	if (unlikely(count->shape.entries))
		weir_log_add(count->shape, wheel, cost);
	else
		weir_wheel_add(weir_shape_unlogged(count->shape), wheel, cost);
}

/* Of counts that are full, @full by index, the one that stays so for longest refuses. */
static noinline u16 longest(const struct weir_table *table, struct weir_wheel *first,
			    struct weir_lookup *lookup, unsigned int full)
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
	lookup->cost = lookup->amount[table->count[by].bytes];
	lookup->budget = lookup->budgets[by];
	return WEIR_REFUSED | WEIR_BY_BUDGET | by << WEIR_BUDGET_SHIFT;
}

/* As weir_wheels_full(); sets cost and budget of the lookup to those that refused. */
u16 weir_budgets_full(const struct weir_table *table, struct weir_wheel *first,
		      struct weir_lookup *lookup)
{
	const struct weir_count *count = table->count;
	size_t i = 0, more = table->more;
	unsigned int full = 0;
	u32 slot = lookup->slot;
	u64 cost;

	for (;;) {
		cost = lookup->amount[count->bytes];
		lookup->slots[i] = slot;
		if (unlikely(count_full(count, weir_wheel_of(count, first), slot, cost,
					lookup->budgets[i])) && cost)
			full |= BIT(i);
		if (i++ == more)
			break;
		slot = weir_count_slot(++count, lookup->tick);
	}
	return likely(!full) ? 0 : longest(table, first, lookup, full);
}

/* Mark a refusal in the count that refused. Returns whether one was marked there. */
bool weir_count_mark(const struct weir_table *table, struct weir_wheel *first,
		     const struct weir_lookup *lookup, u16 result)
{
	const struct weir_count *count = &table->count[result >> WEIR_BUDGET_SHIFT];
	struct weir_wheel *wheel = weir_wheel_of(count, first);
	u32 slot = weir_count_slot(count, lookup->tick);
	bool marked = weir_wheel_marked(count->shape, wheel, slot);

	weir_wheel_mark(count->shape, wheel, slot, lookup->cost);
	return marked;
}

/* Refuse if what was read since @seq is consistent, as way_refuses() for the first count. */
bool weir_budgets_refuse(const struct weir_table *table, struct weir_way *way, u32 seq,
			 const struct weir_lookup *lookup, u16 result)
{
	const struct weir_count *count = &table->count[result >> WEIR_BUDGET_SHIFT];
	struct weir_wheel *wheel = weir_wheel_of(count, weir_way_wheel(table, way));
	u32 slot = weir_count_slot(count, lookup->tick);

	if (seq & 1 || !weir_wheel_marked(count->shape, wheel, slot) ||
	    read_seqcount_retry(&way->seq, seq))
		return false;
	weir_wheel_mark(count->shape, wheel, slot, lookup->cost);
	return true;
}

/* As weir_wheels_add(), after weir_budgets_full(); fills in the receipt. */
void weir_budgets_add(const struct weir_table *table, struct weir_wheel *first,
		      struct weir_lookup *lookup)
{
	const struct weir_count *count = table->count;
	struct weir_wheel *wheel;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++) {
		wheel = weir_wheel_of(count, first);
		if (wheel->at != lookup->slots[i])
			weir_count_turn(count, wheel, lookup->slots[i]);
		count_add(count, wheel, lookup->amount[count->bytes]);
		lookup->receipt.at[i] = wheel->at;
	}
}

/*
 * Give back a charge to each count whose window still holds it. Returns whether all did. One
 * that does not has dropped it.
 */
bool weir_budgets_uncharge(const struct weir_table *table, struct weir_wheel *first,
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
		given &= weir_wheel_uncharge(count->shape, wheel, wheel->at - age,
					     lookup->amount[count->bytes]);
	}
	return given;
}

/*
 * What orders sources by how little is lost if they are evicted: 0 if they are idle,
 * WEIR_STAYS if they may not be.
 */
u64 weir_budgets_weight(const struct weir_table *table, struct weir_wheel *first, u64 tick)
{
	const struct weir_count *count = table->count;
	u64 weight, least = 0;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++) {
		weight = weir_wheel_weight(count->shape, weir_wheel_of(count, first),
					   weir_count_slot(count, tick));
		if (weight && !count->slot_ticks)
			return WEIR_STAYS;
		if (weight && (!i || !least))
			least = i ? 1 : min(weight, WEIR_STAYS - 1);
	}
	return least;
}

void weir_budgets_turn(const struct weir_table *table, struct weir_wheel *first, u64 tick)
{
	const struct weir_count *count = table->count;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++)
		weir_wheel_turn(count->shape, weir_wheel_of(count, first),
				weir_count_slot(count, tick));
}

void weir_budgets_unmark(const struct weir_table *table, struct weir_wheel *first)
{
	const struct weir_count *count = table->count;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++)
		weir_wheel_unmark(count->shape, weir_wheel_of(count, first));
}

/* Empty all counts, in the slots where they are. Returns whether one was not. */
bool weir_budgets_reset(const struct weir_table *table, struct weir_wheel *first)
{
	const struct weir_count *count = table->count;
	struct weir_wheel *wheel;
	bool live = false;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++) {
		wheel = weir_wheel_of(count, first);
		live |= weir_wheel_weight(count->shape, wheel, wheel->at) > 0;
		weir_wheel_reset(count->shape, wheel, wheel->at);
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
	const struct weir_wheel_shape shape = count->shape;

	if (floor->at != wheel->at) {
		weir_wheel_turn(shape, floor, wheel->at);
		weir_wheel_turn(shape, wheel, floor->at);
	}
	weir_wheel_join_swap(shape, floor, wheel);
}

/*
 * Start a source of a way from the floor, as it was before the way's former source, if
 * that is @live, is evicted.
 */
void weir_budgets_start(const struct weir_table *table, struct weir_wheel *floor,
			struct weir_wheel *first, bool live, bool free)
{
	const struct weir_count *count = table->count;
	struct weir_wheel *wheel, *from;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++) {
		wheel = weir_wheel_of(count, first);
		from = weir_wheel_of(count, floor);
		if (live) {
			weir_count_raise(count, from, wheel);
			continue;
		}
		if (!free)
			weir_wheel_turn(count->shape, from, wheel->at);
		/* As bucket_take() does for a single count. */
		data_race(memcpy(wheel, from, weir_wheel_size(count->shape)));
		weir_wheel_unmark(count->shape, wheel);
	}
}
