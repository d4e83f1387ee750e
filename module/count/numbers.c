// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts as numbers. What was counted in a slot goes to the slot here in which its last tick
 * lies: the same one if slots are as long and begin at the same ticks, else one that holds it for
 * longer, by a slot at most.
 */
#include <linux/string.h>
#include <linux/time64.h>

#include "count/numbers.h"

static void number_put(void *numbers, unsigned int i, u8 width, u64 number)
{
	u32 narrow = number;
	u16 narrowest = number;

	memcpy(numbers + i * width, width == 2 ? (void *)&narrowest :
	       width == 4 ? (void *)&narrow : (void *)&number, width);
}

static u64 number_get(const void *numbers, unsigned int i, u8 width)
{
	u64 number;
	u32 narrow;
	u16 narrowest;

	if (width == 8) {
		memcpy(&number, numbers + i * 8, 8);
		return number;
	}
	if (width == 4) {
		memcpy(&narrow, numbers + i * 4, 4);
		return narrow;
	}
	memcpy(&narrowest, numbers + i * 2, 2);
	return narrowest;
}

/* The numbers of a count that was turned to the current slot. Returns their bytes. */
unsigned int weir_count_keep(const struct weir_meter *meter, const struct weir_count *w,
			     void *numbers)
{
	const struct weir_shape *shape = &meter->shape;
	unsigned int i, n = 0;
	u64 number;

	if (shape->kind == WEIR_COUNT_LOG) {
		n = weir_log_since(shape, w, w->at - shape->parts);
		for (i = 0; i < n; i++)
			number_put(numbers, i, shape->width, w->at - weir_log_slot(shape, w, i));
	} else if (shape->kind == WEIR_COUNT_LEAK) {
		number = weir_leak_level(shape, w, w->at);
		number_put(numbers, 0, shape->width, number);
		n = !!number;
	} else {
		for (i = 0; i <= shape->reach; i++) {
			number = weir_ring_slot(shape, w, i);
			number_put(numbers, i, shape->width, number);
			if (number)
				n = i + 1;
		}
	}
	return n * shape->width;
}

/* Has a count refused lately? If so, fill in how many slots @ago. */
bool weir_count_keep_refusal(const struct weir_meter *meter, const struct weir_count *w, u32 *ago)
{
	const struct weir_shape *shape = &meter->shape;
	u32 group = w->at >> shape->mark_shift;

	if (!weir_count_marked(shape, w, w->at))
		return false;
	/* A mark may be ahead of its count. */
	group -= max_t(s8, group - w->refused, 0);
	*ago = w->at - (group << shape->mark_shift);
	return true;
}

/* How many ticks here the current slot had lasted: not more, lest it ends before it would have. */
u64 weir_kept_lasted(const struct weir_kept_clock *clock)
{
	/* What was kept was rounded down. */
	return mul_u64_u64_div_u64(clock->phase_ns + 1, HZ, NSEC_PER_SEC);
}

/* The tick here in which a slot ended, so many before the current one. */
static u64 last_tick(const struct weir_kept_clock *clock, u32 slots)
{
	/* Each of the three was rounded down. */
	const u64 rounded = 3;
	u64 ns, ticks;

	if (!slots)
		return clock->tick;
	ns = clock->phase_ns + (slots - 1) * clock->slot_ns +
	     min_t(u64, clock->tick_ns, NSEC_PER_SEC / HZ) + rounded;
	ticks = mul_u64_u64_div_u64(ns, HZ, NSEC_PER_SEC);
	return clock->tick - min(clock->tick, ticks);
}

/* A level in the parts of a packet here, rounded up. */
static u64 level_here(const struct weir_shape *shape, u64 level, u32 slots)
{
	u32 rest;
	u64 here;

	if (check_mul_overflow(div_u64_rem(level, slots, &rest), (u64)shape->parts, &here) ||
	    check_add_overflow(here, div_u64((u64)rest * shape->parts + slots - 1, slots), &here))
		return U64_MAX;
	return here;
}

/* Turn a count to the slot that has the last tick of one that was kept. */
static void count_turn(const struct weir_meter *meter, struct weir_count *w,
		       const struct weir_kept_clock *clock, u32 slots)
{
	weir_count_advance(&meter->shape, w, weir_meter_slot(meter, last_tick(clock, slots)));
}

/*
 * Fill a count, up to the slot of clock->tick. Each length of @clock is below 2^60, that of all
 * slots of a window, too. Returns false if a count has no such numbers, or none so narrow.
 */
bool weir_count_restore(const struct weir_meter *meter, struct weir_count *w,
			const void *numbers, unsigned int bytes, u8 width,
			const struct weir_kept_clock *clock)
{
	const struct weir_shape *shape = &meter->shape;
	unsigned int n = bytes / width;
	u64 number, oldest = 0;

	if (bytes % width || n > (shape->kind == WEIR_COUNT_LOG ? shape->cells :
				  shape->kind == WEIR_COUNT_LEAK ? 1 : shape->reach + 1u))
		return false;
	if (n)
		oldest = shape->kind == WEIR_COUNT_LOG ? number_get(numbers, n - 1, width) :
			 shape->kind == WEIR_COUNT_LEAK ? 0 : n - 1;
	if (oldest > clock->slots)
		return false;
	weir_count_init(shape, w, weir_meter_slot(meter, last_tick(clock, oldest)));
	while (n--) {
		number = number_get(numbers, n, width);
		if (shape->kind == WEIR_COUNT_LEAK) {
			weir_count_store(shape, w, 0, level_here(shape, number, clock->slots));
		} else if (shape->kind == WEIR_COUNT_LOG) {
			if (number > oldest)
				return false;
			oldest = number;
			count_turn(meter, w, clock, number);
			weir_count_add(shape, w, 1);
		} else if (number > min(WEIR_NUMBER_MAX, weir_width_max(shape->width) -
					weir_count_cell(shape, w, 0))) {
			return false;
		} else if (number) {
			count_turn(meter, w, clock, n);
			weir_count_add(shape, w, number);
		}
	}
	count_turn(meter, w, clock, 0);
	return true;
}

/* A count that was filled has refused a cost. */
void weir_count_restore_refusal(const struct weir_meter *meter, struct weir_count *w, u64 cost,
				u32 ago, const struct weir_kept_clock *clock)
{
	weir_count_mark(&meter->shape, w, weir_meter_slot(meter, last_tick(clock, ago)), cost);
}
