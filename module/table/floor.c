// SPDX-License-Identifier: GPL-2.0-only
/*
 * Floors whose counts never end
 *
 * A total may take over from a window, and its floor then has what the window counted. That ends,
 * but a source that started from such a floor would keep it for ever. So until the window is over
 * the floor refuses strangers. Then it is emptied, unless it also has what was counted for ever.
 */
#include "clock.h"
#include "table/counts.h"
#include "table/floor.h"
#include "table/state.h"

u64 weir_floor_wait(const struct weir_table *table, u64 tick)
{
	/* Pairs with weir_floors_end(). */
	return weir_block_left(READ_ONCE(table->floor_end), tick);
}

u8 weir_floor_ends(const struct weir_table *table, struct weir_set *set, u64 tick)
{
	u8 empty = set->floor.ends & ~set->floor.stays;
	const struct weir_meter *meter = table->meter;
	struct weir_count *floor;
	unsigned int i;

	if (!set->floor.ends || weir_floor_wait(table, tick))
		return set->floor.ends;
	for (i = 0; i <= table->more; i++, meter++) {
		floor = weir_count_of(meter, weir_set_floor(table, set));
		if (empty & BIT(i))
			weir_count_init(&meter->shape, floor, floor->at);
	}
	set->floor.ends = 0;
	return 0;
}

noinline_for_stack void weir_floor_raise(const struct weir_heritage *of, struct weir_set *set,
					 struct weir_floor was, struct weir_count *first, u64 tick)
{
	const struct weir_meter *meter = of->next->meter;
	union weir_count_copy copy;
	unsigned int i;
	bool ends;

	for (i = 0; i <= of->next->more; i++, meter++) {
		weir_count_convert(of, i, &copy.count, first, tick);
		ends = !weir_meter_stays(&of->old->meter[of->before[i]]);
		if (weir_meter_stays(meter) && weir_count_sum(&meter->shape, &copy.count, 0)) {
			if (ends || was.ends & BIT(of->before[i]))
				set->floor.ends |= BIT(i);
			if (!ends && was.stays & BIT(of->before[i]))
				set->floor.stays |= BIT(i);
		}
		weir_count_raise(meter, weir_count_of(meter, weir_set_floor(of->next, set)),
				 &copy.count);
	}
}

void weir_floors_end(struct weir_table *table, u32 until)
{
	/* Pairs with weir_floor_wait(). */
	WRITE_ONCE(table->floor_end, until);
}

u32 weir_floors_until(const struct weir_table *next, const struct weir_table *old)
{
	const struct weir_meter_spec *was;
	unsigned int i, before;
	u32 until = 0;

	for (i = 0; i <= next->more; i++) {
		before = weir_meter_before(&next->meter[i], old);
		was = &old->spec.meter[before];
		if (weir_meter_stays(&next->meter[i]))
			until = max(until, weir_meter_stays(&old->meter[before]) ? old->floor_end :
				    weir_block_until(weir_clock() +
						     (was->slots + 1ull) * was->slot_ticks));
	}
	return until;
}
