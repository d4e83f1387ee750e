// SPDX-License-Identifier: GPL-2.0-only
/*
 * Divide windows into slots. A slot is rounded up to whole ticks; down would admit too much.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>

#include "count/window.h"

/* A window may grow by 1 / ROUND_PART when its slots are rounded up to ticks. */
#define ROUND_PART		16

/* Ticks of a slot, rounded up; 0 if a slot would be shorter than a tick. */
u32 weir_slot_ticks(u32 window_ms, unsigned int slots)
{
	u64 part = (u64)MSEC_PER_SEC * slots;
	u64 ticks = (u64)window_ms * HZ;

	return ticks < part ? 0 : div64_u64(ticks + part - 1, part);
}

/*
 * The number of slots of a window, and their length: @slots, or for 0 the largest
 * number up to 15 that rounds little. Returns 0 if @slots do not fit.
 */
unsigned int weir_slots_fit(u32 window_ms, unsigned int slots, u32 *slot_ticks)
{
	u64 excess, least = U64_MAX;
	unsigned int n, best = 0;
	u32 ticks;

	if (slots) {
		*slot_ticks = weir_slot_ticks(window_ms, slots);
		return *slot_ticks ? slots : 0;
	}
	for (n = WEIR_SLOTS_USUAL; n; n--) {
		ticks = weir_slot_ticks(window_ms, n);
		if (!ticks)
			continue;
		excess = (u64)ticks * n * MSEC_PER_SEC - (u64)window_ms * HZ;
		if (excess >= least)
			continue;
		least = excess;
		best = n;
		*slot_ticks = ticks;
		if (excess * ROUND_PART <= (u64)window_ms * HZ)
			break;
	}
	/* A window of less than a tick has one slot of one tick. */
	if (!best) {
		best = 1;
		*slot_ticks = 1;
	}
	return best;
}

/* Slots of a tick, or so long that a window has @most. Returns their number. */
u32 weir_slots_most(u32 window_ms, u32 most, u32 *slot_ticks)
{
	u32 ticks = weir_slot_ticks(window_ms, 1) ?: 1;

	*slot_ticks = DIV_ROUND_UP_ULL(ticks, most);
	return DIV_ROUND_UP_ULL(ticks, *slot_ticks);
}

/* Number slots of so many ticks, above 0: see weir_slot_of(). */
void weir_meter_divide(struct weir_meter *meter, u32 ticks)
{
	unsigned int shift = order_base_2(ticks);
	u64 whole;
	u32 left;

	whole = div_u64_rem(BIT_ULL(63), ticks, &left);
	meter->slot_shift = shift;
	meter->slot_inverse = (whole << shift) +
			      div_u64(((u64)left << shift) + ticks - 1, ticks);
}
