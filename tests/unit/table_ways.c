// SPDX-License-Identifier: GPL-2.0-or-later
#include "table_ways.h"

struct way_budget way_budget(enum way way, u64 budget, u64 room, u32 slots, u32 slot_ticks,
			     bool bytes)
{
	bool one_slot = way == FIXED || way == TOTAL || way == CALENDAR;

	return (struct way_budget) {
		.way = way,
		.room = way == LEAK ? room : budget,
		.spec = {
			.budget = way == LEAK ? room : budget,
			.rate = way == LEAK ? budget : 0,
			.slots = one_slot ? 1 : slots,
			.slot_ticks = way == TOTAL ? 0 : slot_ticks,
			.calendar_ms = way == CALENDAR ? WEIR_DAY_MS : 0,
			.log = way == LOG,
			.lenient = way != STRICT,
			.bytes = bytes && way != LOG,
		},
	};
}

struct weir_table *way_table(struct weir_table_spec *spec, const struct way_budget *budget,
			     unsigned int n, u64 tick)
{
	struct weir_table *table;
	unsigned int i;

	for (i = 0; i < n; i++)
		spec->meter[i] = budget[i].spec;
	table = weir_table_alloc(spec, tick);
	assert_false(IS_ERR(table));
	assert_int_equal(table->more, n - 1);
	return table;
}

u64 way_slot(const struct way_budget *budget, u64 tick, u64 period)
{
	if (budget->way == CALENDAR)
		return period;
	return budget->way == TOTAL ? 0 : tick / budget->spec.slot_ticks;
}

u64 way_reach(const struct way_budget *budget)
{
	return budget->spec.slots - (budget->spec.lenient && budget->way != LOG);
}

u64 way_window(const struct way_budget *budget)
{
	return budget->way == TOTAL ? WAY_FOR_EVER :
	       (u64)budget->spec.slots * budget->spec.slot_ticks;
}

u64 way_most(const struct way_budget *budget)
{
	if (budget->way == LEAK)
		return budget->room + budget->spec.rate;
	return budget->way == STRICT || budget->way == TOTAL || budget->way == LOG ?
	       budget->room : 2 * budget->room;
}

u64 way_parts(const struct way_budget *budget)
{
	return budget->way == LEAK ? budget->spec.slots : 1;
}

u64 way_held(const struct way_budget *budget, const struct way_event *event, unsigned int len,
	     u64 slot)
{
	u64 reach = way_reach(budget), rate = budget->spec.rate, sum = 0, last = 0;

	for (; len--; event++) {
		if (budget->way == LEAK)
			sum -= min(sum, (event->slot - last) * rate);
		else if (event->slot + reach < slot)
			continue;
		sum += event->amount * way_parts(budget);
		last = event->slot;
	}
	return budget->way == LEAK ? sum - min(sum, (slot - last) * rate) : sum;
}

bool way_full(const struct way_budget *budget, const struct way_event *event, unsigned int len,
	      u64 slot, u64 cost)
{
	return way_held(budget, event, len, slot) + cost * way_parts(budget) >
	       budget->room * way_parts(budget);
}
