// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a table takes over from another: each of its meters starts from one of the other's. If slots
 * keep their length and number, counts are copied cell by cell; otherwise their sum goes to the
 * newest slot, which is an upper bound. Between packets and bytes a source keeps the part of its
 * budget that it has used, or what it has in a shorter window of the new unit if that is more.
 */
#include "table/counts.h"
#include "table/heritage.h"

/* Do two meters count alike, whatever their budgets are? */
static bool same_way(const struct weir_meter *a, const struct weir_meter *b)
{
	return a->slot_ticks == b->slot_ticks && a->shape.kind == b->shape.kind &&
	       a->shape.reach == b->shape.reach && a->shape.parts == b->shape.parts &&
	       a->shape.rate == b->shape.rate && !a->calendar == !b->calendar;
}

/* Do slots that are as long begin at the same time? Of calendars see weir_calendars_succeed(). */
static bool same_base(const struct weir_meter *a, const struct weir_meter *b)
{
	return a->calendar || a->base == b->base;
}

/* Do their counts have the same slots? */
static bool same_slots(const struct weir_meter *a, const struct weir_meter *b)
{
	return same_way(a, b) && same_base(a, b) && a->shape.kind == WEIR_COUNT_RING;
}

/* Does @a bound the counts of a new meter better than @b does? */
static bool bounds_better(const struct weir_meter *next, const struct weir_meter *a,
			  const struct weir_meter *b)
{
	bool long_a = a->window >= next->window, long_b = b->window >= next->window;

	if (long_a != long_b)
		return long_a;
	if (a->bytes != b->bytes)
		return a->bytes == next->bytes;
	if (a->window != b->window)
		return (a->window < b->window) == long_a;
	if (same_way(a, next) != same_way(b, next))
		return same_way(a, next);
	return a->bytes == next->bytes && weir_shape_max(&a->shape) > weir_shape_max(&b->shape);
}

/*
 * The meter of a predecessor that a new one starts from: of the shortest window asked for that is
 * no shorter, or else of the longest, in the same unit if there is one. Of equal ones the one
 * that counts alike: another may have let go what that still holds; and then in the same unit the
 * widest, as a narrow one may have been cut off when it was converted.
 */
unsigned int weir_meter_before(const struct weir_meter *next, const struct weir_table *old)
{
	unsigned int i, best = 0;

	for (i = 1; i <= old->more; i++)
		if (bounds_better(next, &old->meter[i], &old->meter[best]))
			best = i;
	return best;
}

struct weir_heritage weir_heritage(struct weir_table *next, const struct weir_table *old,
				   const u64 *room, const u64 *old_room, bool saved)
{
	struct weir_heritage of = {
		.next = next, .old = old, .room = room, .old_room = old_room,
		.saved = saved, .empty = next->spec.blocks,
	};
	unsigned int i;

	for (i = 0; i <= next->more; i++)
		of.before[i] = weir_meter_before(&next->meter[i], old);
	return of;
}

/* Slot by slot; @at is the newest one. */
static void convert_slots(const struct weir_meter *now, struct weir_count *to,
			  const struct weir_meter *was, const struct weir_count *from, u32 at)
{
	u64 most = weir_shape_max(&now->shape), since;
	u32 age, i;

	weir_count_init(&now->shape, to, at);
	for (age = 0; age <= now->shape.reach; age++) {
		i = at - age;
		since = (s32)(i - from->at) > 0 ? 0 : weir_ring_since(&was->shape, from, i);
		weir_count_store(&now->shape, to, 1 + (i & now->shape.mask), -min(since, most));
	}
}

/* A sum at a tick, counted in slot @at. */
static void convert_sum(const struct weir_heritage *of, unsigned int n, struct weir_count *to,
			u64 sum, u32 at, struct weir_count *first, u64 tick)
{
	const struct weir_meter *now = &of->next->meter[n], *was = of->old->meter;
	unsigned int before = of->before[n], i;

	if (was[before].bytes != now->bytes) {
		sum = of->room[n] ? weir_budget_part(sum, of->room[n], of->old_room[before]) : 0;
		for (i = 0; i <= of->old->more; i++, was++)
			if (was->bytes == now->bytes)
				sum = max(sum, weir_count_sum(&was->shape,
							      weir_count_of(was, first),
							      weir_meter_slot(was, tick)));
	}
	weir_count_init(&now->shape, to, at);
	weir_count_add(&now->shape, to, min(sum, weir_shape_max(&now->shape)));
}

void weir_count_convert(const struct weir_heritage *of, unsigned int n, struct weir_count *to,
			struct weir_count *first, u64 tick)
{
	const struct weir_meter *now = &of->next->meter[n], *was = &of->old->meter[of->before[n]];
	const struct weir_count *from = weir_count_of(was, first);
	bool unit = was->bytes == now->bytes, alike = same_way(was, now) && same_base(was, now);
	u64 slot = weir_meter_slot(was, tick);
	s32 ahead = from->at - (u32)slot;
	u32 at = slot + max(ahead, 0);

	if (of->empty) {
		weir_count_init(&now->shape, to, weir_meter_slot(now, tick));
		return;
	}
	if (same_slots(was, now) && unit) {
		convert_slots(now, to, was, from, at);
	} else if (was->shape.kind == WEIR_COUNT_LOG && now->shape.kind == WEIR_COUNT_LOG &&
		   was->slot_ticks == now->slot_ticks && was->base == now->base) {
		weir_count_init(&now->shape, to, from->at);
		weir_log_copy(&now->shape, to, &was->shape, from);
	} else if (alike && unit && of->saved) {
		/* A set that was saved, with any level; in packets it would be rounded up. */
		weir_count_init(&now->shape, to, at);
		weir_count_store(&now->shape, to, 0,
				 min(weir_leak_level(&was->shape, from, at),
				     weir_shape_max(&now->shape) * now->shape.parts));
	} else {
		/* A calendar may have crossed an end since the predecessor's was stopped. */
		convert_sum(of, n, to, weir_count_sum(&was->shape, from, slot),
			    same_slots(was, now) ? at : weir_meter_slot(now, tick), first, tick);
	}
	if (!weir_count_marked(&was->shape, from, slot))
		return;
	/* Of other windows it would be forgotten too early, or too late. */
	to->refused = alike && now->slot_inverse ? READ_ONCE(from->refused) :
		      to->at >> now->shape.mark_shift;
	/* Pairs with weir_count_mark(), which takes no lock. */
	to->wanted = unit ? READ_ONCE(from->wanted) : 1;
}

noinline_for_stack u64 weir_moved_weight(const struct weir_heritage *of, struct weir_count *first,
					 u64 tick)
{
	const struct weir_meter *meter = of->next->meter;
	union weir_count_copy copy;
	u64 weight = 0, sum;
	unsigned int i;

	for (i = 0; i <= of->next->more; i++, meter++) {
		weir_count_convert(of, i, &copy.count, first, tick);
		sum = weir_count_sum(&meter->shape, &copy.count, copy.count.at);
		weight = max(weight, count_weight(meter, sum, !i));
	}
	return weight;
}

void weir_calendars_succeed(struct weir_table *next, struct weir_table *old)
{
	struct weir_meter *now = next->meter;
	unsigned int n, i, from, before;

	for (n = 0; n <= next->more; n++, now++) {
		if (!now->calendar)
			continue;
		before = weir_meter_before(now, old);
		from = WEIR_BUDGETS_MAX;
		for (i = 0; i <= old->more; i++)
			if (old->meter[i].calendar && old->meter[i].slot_ticks == now->slot_ticks &&
			    (i == before || from == WEIR_BUDGETS_MAX))
				from = i;
		if (from == WEIR_BUDGETS_MAX)
			continue;
		weir_calendar_stop(&old->calendar[from]);
		/* Pairs with the timer, which has stopped. */
		now->base = READ_ONCE(old->meter[from].base);
		weir_calendar_succeed(&next->calendar[n], &old->calendar[from], &now->base);
	}
}
