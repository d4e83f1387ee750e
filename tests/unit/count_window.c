// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a count promises to senders and receivers: no interval of a window's length has more than
 * the budget, an even sender is never refused, and silence restores the full burst.
 */
#include "count/count.h"
#include "unit.h"
#include "count_chance.h"

/*
 * To the tick: no interval of n slots, wherever it begins, has more than the
 * budget, or twice the budget for a lenient count, which refuses nothing that an
 * exact sliding count admits. CPUs' clocks differ, and times wrap.
 */
static void one_source(u64 run)
{
	struct chance c = chance_of(run);
	u64 budget = 1 + chance_below(&c, chance_one_in(&c, 2) ? 8 : 300);
	bool lenient = chance_one_in(&c, 2);
	struct weir_shape shape = random_shape(&c, budget, lenient);
	u64 slots = shape.reach + lenient, slot_ticks = 1 + chance_below(&c, 9);
	u64 window = slots * slot_ticks, cost, tick, sum, exact;
	u64 at = random_slot(&c), now = at * slot_ticks;
	struct { u64 tick, cost; } event[600];
	unsigned int i, k, n = 0;
	union room room;

	weir_count_init(&shape, &room.count, at);
	random_total(&c, shape, &room.count);
	for (i = 0; i < ARRAY_SIZE(event); i++) {
		cost = 1 + chance_below(&c, chance_one_in(&c, 4) ? budget : 2);
		now += random_step(&c, window);
		tick = now - (chance_one_in(&c, 4) ?
			      chance_below(&c, min(now, 3 * slot_ticks) + 1) : 0);
		weir_count_advance(&shape, &room.count, tick / slot_ticks);
		at = max(at, tick / slot_ticks);
		tick = max(tick, at * slot_ticks);
		for (k = n, exact = 0; k--;)
			if (event[k].tick + window > tick)
				exact += event[k].cost;
		if (!count_charge(shape, &room.count, cost, budget)) {
			check(!lenient || exact + cost > budget,
			      "run %llu: %llu + %llu of %llu", run, exact, cost, budget);
			continue;
		}
		for (k = n++; k && event[k - 1].tick > tick; k--)
			event[k] = event[k - 1];
		event[k].tick = tick;
		event[k].cost = cost;
		/* All intervals that end at this charge or later */
		for (; k < n; k++) {
			unsigned int j = k + 1;

			for (sum = 0; j && event[j - 1].tick + window >= event[k].tick;)
				sum += event[--j].cost;
			check(sum <= budget * (lenient ? 2 : 1),
			      "run %llu: %llu of %llu", run, sum, budget);
		}
	}
}

static void test_intervals(void **state)
{
	u64 run, runs = unit_rounds(5000);

	for (run = 0; run < runs; run++)
		one_source(run);
}

/*
 * A sender of cost c every (n+1) S c / L or less often, in any phase to the slots,
 * is never refused. S is 2^20 L ticks here, so that no time is rounded.
 */
static void test_even(void **state)
{
	u64 run, runs = unit_rounds(3000), budget, cost, apart, time, slot, i;
	struct weir_shape shape;
	struct weir_count *w;
	struct chance c;
	union room room;

	for (run = 0; run < runs; run++) {
		c = chance_of(run);
		budget = 1 + chance_below(&c, chance_one_in(&c, 2) ? 5 : 5000);
		shape = random_shape(&c, budget, false);
		cost = 1 + chance_below(&c, chance_one_in(&c, 2) ? 1 : budget);
		/* n+1 slots hold a whole number of packets */
		apart = ((shape.reach + 1ull) * budget << 20) / (budget / cost);
		apart += !!(((shape.reach + 1ull) * budget << 20) % (budget / cost));
		time = chance_below(&c, BIT_ULL(50));
		w = &room.count;
		weir_count_init(&shape, w, time / (budget << 20));
		random_total(&c, shape, w);
		for (i = 0; i < 1000; i++) {
			slot = time / (budget << 20);
			weir_count_advance(&shape, w, slot);
			check(count_charge(shape, w, cost, budget),
			      "run %llu: %llu of %llu, reach %u", run, cost, budget, shape.reach);
			time += apart;
			if (chance_one_in(&c, 8))
				time += chance_below(&c, apart);
		}
	}
}

/* T and a slot of silence restore the burst; L n/(n+1) per window always passes. */
static void test_bursts(void **state)
{
	u64 budget, slot, i, slots, cost, sent;
	struct weir_shape shape;
	struct weir_count *w;
	union room room;

	for (slots = 1; slots <= 64; slots++) {
		shape = weir_ring_shape(slots, false, 4);
		budget = 1000 * (slots + 1);
		w = &room.count;
		slot = 3;
		weir_count_init(&shape, w, slot);
		/* L n/(n+1) per window is L/(n+1) per slot */
		for (i = 0; i < 10 * slots; i++, slot++) {
			weir_count_advance(&shape, w, slot);
			for (sent = 0; sent < 1000; sent += cost) {
				cost = i % 2 ? 1 : 500;
				assert_true(count_charge(shape, w, cost, budget));
			}
		}
		slot += slots;
		weir_count_advance(&shape, w, slot);
		assert_true(count_charge(shape, w, budget, budget));
		slot += slots;
		weir_count_advance(&shape, w, slot);
		assert_false(count_charge(shape, w, 1, budget));
		weir_count_advance(&shape, w, slot + 1);
		assert_true(count_charge(shape, w, budget, budget));
	}
}

UNIT_MAIN("count_window", T(test_intervals), T(test_even), T(test_bursts))
