// SPDX-License-Identifier: GPL-2.0-or-later
/* What newcomers are charged for first and second tries, and what comes back. */
#include "hook_newcomers.h"
#include "count/numbers.h"
#include "limit/pool.h"
#include "table/saved.h"

#define EVENTS 3000

/* Without room: refused, no way; from two cells on by the second budget, and kept there. */
static void test_second_try(void **state)
{
	unsigned int i;

	begin(5, 64);
	for (i = 0; i < 5; i++)
		assert_int_equal(arrive(10 + i), WEIR_CHARGED | WEIR_NEWCOMER);
	assert_int_equal(arrive(1), WEIR_REFUSED | WEIR_NEWCOMER);
	assert_true(state_of(1).floor);
	assert_int_equal(arrive(1), WEIR_REFUSED | WEIR_NEWCOMER);
	shim_jiffies += CELL;
	assert_int_equal(arrive(1), WEIR_REFUSED | WEIR_NEWCOMER);
	shim_jiffies += CELL;
	for (i = 0; i < 5; i++)
		assert_int_equal(arrive(1), WEIR_CHARGED | WEIR_NEWCOMER | WEIR_SECOND);
	assert_int_equal(arrive(1), WEIR_REFUSED | WEIR_NEWCOMER);
	/* It is remembered for as long as it goes on. */
	shim_jiffies += HZ + HZ / 8;
	for (i = 0; i < 5; i++)
		assert_int_equal(arrive(20 + i), WEIR_CHARGED | WEIR_NEWCOMER);
	assert_int_equal(arrive(1), WEIR_CHARGED | WEIR_NEWCOMER | WEIR_SECOND);
	end();
}

/* Addresses that differ in any bit have different fingerprints. */
static void test_no_second_try(void **state)
{
	unsigned int again = 0, i;

	begin(1, 64);
	while (arrive(0) & WEIR_CHARGED)
		;
	for (i = 0; i < 300000; i++) {
		shim_jiffies += !(i % 8);
		again += !!(arrive((i + 1) * 0x01010101u) & WEIR_SECOND);
	}
	check(again <= 2, "%u of %u were taken for second tries", again, i);
	end();
}

/* What a newcomer was charged comes back when its packet is dropped elsewhere. */
static void test_give_back(void **state)
{
	const struct weir_newcomers *newcomers;
	struct weir_lookup lookup;
	unsigned int i;
	u16 result;

	begin(3, 64);
	newcomers = &limit()->newcomers;
	for (i = 0; i < 20; i++) {
		result = packet(1 + i, &lookup);
		check(result == (WEIR_CHARGED | WEIR_NEWCOMER), "packet %u: %#x", i, result);
		twin_enter();
		weir_newcomers_uncharge(newcomers, 1, result, &lookup.newcomer);
		twin_leave();
	}
	/* Also when a refusal has just found that there is no room. */
	arrive(50);
	arrive(51);
	result = packet(52, &lookup);
	assert_int_equal(arrive(53), WEIR_REFUSED | WEIR_NEWCOMER);
	assert_int_equal(arrive(54), WEIR_REFUSED | WEIR_NEWCOMER);
	twin_enter();
	weir_newcomers_uncharge(newcomers, 1, result, &lookup.newcomer);
	twin_leave();
	assert_int_equal(arrive(55), WEIR_CHARGED | WEIR_NEWCOMER);
	end();
	/* Nor does a source take of it that its own budget refuses. */
	begin(40, 64);
	for (i = 0; i < 30; i++)
		arrive(1);
	for (i = 0; i < 20; i++)
		assert_int_equal(arrive(2 + i), WEIR_CHARGED | WEIR_NEWCOMER);
	end();
}

/*
 * Is a packet admitted as a newcomer's? Then @most is how many were in the window that ends with it,
 * by the same try, of which @at has the times.
 */
static bool admits(u32 from, u64 window, u64 at[2][2 * EVENTS], unsigned int count[2],
		   unsigned int *most)
{
	u16 result = arrive(from);
	bool second = result & WEIR_SECOND;
	unsigned int j;

	if (!(result & WEIR_NEWCOMER) || !(result & WEIR_CHARGED))
		return false;
	at[second][count[second]++] = shim_jiffies;
	for (j = count[second]; j && at[second][j - 1] + window > shim_jiffies; j--)
		;
	*most = count[second] - j;
	return true;
}

/* No window of the newcomers' budget holds more than twice it, on any CPUs. */
static void test_strict(void **state)
{
	static u64 at[2][2 * EVENTS];
	struct unit_runs runs = unit_runs(60);
	unsigned int count[2], i, most;
	struct chance c;
	u64 run, window;
	u32 budget;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		budget = 1 + chance_below(&c, 300);
		begin(budget, 64);
		window = (u64)limit()->newcomers.slots * limit()->newcomers.slot_ticks;
		memset(count, 0, sizeof(count));
		for (i = 0; i < EVENTS; i++) {
			shim_cpu = chance_below(&c, SHIM_CPUS);
			shim_jiffies += chance_one_in(&c, 30) ? chance_below(&c, HZ) : 0;
			if (admits(chance_one_in(&c, 2) ? chance_below(&c, 40) : 1000 + i,
				   window, at, count, &most))
				check(most <= budget, "run %llu: %u of %u", run, most, budget);
		}
		end();
	}
	shim_cpu = 0;
}

/* What a message has of the newcomers' budgets. */
struct kept {
	u64 tick, slot_ticks, phase;
	unsigned int bytes[WEIR_NEWCOMERS_POOLS];
	u8 numbers[WEIR_NEWCOMERS_POOLS][WEIR_NUMBERS_BYTES];
	u64 wait[WEIR_NEWCOMERS_POOLS];
};

/* So many packets were @charged. */
static void keep(struct kept *kept, const unsigned int charged[WEIR_NEWCOMERS_POOLS])
{
	const struct weir_newcomers *newcomers = &limit()->newcomers;
	struct weir_pool_state state;
	unsigned int i;

	for (i = 0; i < WEIR_NEWCOMERS_POOLS; i++) {
		weir_pool_peek(&newcomers->pool[i], shim_jiffies, newcomers->budget, &state);
		check(state.packets <= charged[i], "%llu of %u", state.packets, charged[i]);
		kept->wait[i] = state.wait;
		kept->bytes[i] = weir_count_keep(&state.meter, (struct weir_count *)state.count,
						 kept->numbers[i]);
	}
	kept->tick = shim_jiffies;
	kept->slot_ticks = state.meter.slot_ticks;
	kept->phase = shim_jiffies % kept->slot_ticks;
}

/*
 * As of @tick, into a limit that has charged nothing. With a window that is not longer nobody waits
 * for longer, but for a slot where slots begin elsewhere.
 */
static void restore(const struct kept *kept, u64 tick, bool same_clock)
{
	const struct weir_newcomers *newcomers = &limit()->newcomers;
	const struct weir_kept_clock clock = {
		.tick = tick, .tick_ns = weir_ticks_ns(1),
		.slot_ns = weir_ticks_ns(kept->slot_ticks), .phase_ns = weir_ticks_ns(kept->phase),
		.slots = WEIR_POOL_SLOTS,
	};
	struct weir_table_spec spec = { .sources = WEIR_SOURCES_MIN };
	u64 wait, passed = shim_jiffies - tick, slot = 0;
	static struct weir_table was;
	struct weir_saved saved;
	struct weir_count *count;
	struct weir_pool_state state;
	unsigned int i;

	for (i = 0; i < WEIR_NEWCOMERS_POOLS; i++)
		spec.meter[i] = (struct weir_meter_spec) {
			.budget = WEIR_PACKETS_MAX, .slots = WEIR_POOL_SLOTS,
			.slot_ticks = newcomers->slot_ticks,
		};
	weir_table_plan(&was, &spec);
	/* As long slots of the same clock are the same. */
	if (!same_clock || kept->slot_ticks != newcomers->slot_ticks)
		slot = max(kept->slot_ticks, (u64)newcomers->slot_ticks);
	for (i = 0; i < WEIR_NEWCOMERS_POOLS; i++) {
		count = weir_saved_count(&saved, &was.meter[i]);
		assert_true(weir_count_restore(&was.meter[i], count, kept->numbers[i],
					       kept->bytes[i], sizeof(u32), &clock));
		weir_pool_merge(&newcomers->pool[i], count, false);
		weir_pool_peek(&newcomers->pool[i], shim_jiffies, newcomers->budget, &state);
		wait = kept->wait[i] - min(kept->wait[i], passed);
		check(state.wait <= wait + slot || limit()->cfg.newcomers.window_ms > 1000,
		      "waits for %llu, not %llu", state.wait, wait);
	}
}

/*
 * Across a restart, with any time in between and any begin of the clock, no window has more than
 * the budget.
 */
static void test_restart(void **state)
{
	static const u32 windows[] = { 1000, 1000, 60, 400, 3000 };
	static u64 at[2][2 * EVENTS];
	struct unit_runs runs = unit_runs(300);
	unsigned int count[2], i, part, second, most;
	struct weir_limit_config made;
	struct kept kept;
	struct chance c;
	u64 run, window, passed, moved;
	bool same_clock;
	u32 budget;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		budget = 1 + chance_below(&c, 300);
		made = words(budget, 64);
		begin(budget, 64);
		window = (u64)limit()->newcomers.slots * limit()->newcomers.slot_ticks;
		memset(count, 0, sizeof(count));
		for (part = 0; part < 2; part++) {
			for (i = 0; i < EVENTS / 10; i++) {
				shim_cpu = chance_below(&c, SHIM_CPUS);
				shim_jiffies += chance_one_in(&c, 20) ? chance_below(&c, HZ / 4) : 0;
				if (admits(chance_one_in(&c, 2) ? chance_below(&c, 40) : 1000 + i,
					   window, at, count, &most))
					check(most <= budget, "run %llu: %u of %u", run, most, budget);
			}
			if (part)
				break;
			keep(&kept, count);
			end();
			same_clock = chance_one_in(&c, 2);
			made.newcomers.window_ms = windows[chance_below(&c, ARRAY_SIZE(windows))];
			passed = chance_one_in(&c, 2) ? chance_below(&c, 10) : chance_below(&c, 2 * HZ);
			moved = shim_jiffies;
			begin_with(&made);
			shim_jiffies = passed + (same_clock ? max(shim_jiffies, moved) :
						 shim_jiffies + chance_below(&c, 1000));
			restore(&kept, shim_jiffies - passed, same_clock);
			moved = shim_jiffies - passed - moved;
			for (second = 0; second < 2; second++)
				for (i = 0; i < count[second]; i++)
					at[second][i] += moved;
			window = min(window, (u64)limit()->newcomers.slots *
					     limit()->newcomers.slot_ticks);
		}
		end();
	}
	shim_cpu = 0;
}

/* Changes of the window keep the newcomers' count. */
static void test_window(void **state)
{
	struct weir_limit_config to = words(10, 64);
	unsigned int i;

	begin(10, 64);
	for (i = 0; i < 10; i++)
		assert_true(arrive(1 + i) & WEIR_CHARGED);
	to.newcomers.window_ms = 3000;
	change(&to);
	assert_true(arrive(100) & WEIR_REFUSED);
	shim_jiffies += 2 * HZ;
	assert_true(arrive(101) & WEIR_REFUSED);
	shim_jiffies += 2 * HZ;
	assert_true(arrive(102) & WEIR_CHARGED);
	end();
}

/* A larger budget has room at once. */
static void test_raise(void **state)
{
	struct weir_limit_config to;

	begin(1, 64);
	to = limit()->cfg;
	assert_true(arrive(1) & WEIR_CHARGED);
	assert_true(arrive(2) & WEIR_REFUSED);
	to.newcomers.budget = 2;
	change(&to);
	assert_true(arrive(3) & WEIR_CHARGED);
	end();
}

/* A packet larger than the newcomers' budget says nothing of the limit's floors. */
static void test_large(void **state)
{
	const struct weir_source source = source_of(1);
	struct weir_lookup lookup;

	begin(4, 64);
	lookup = (struct weir_lookup) {
		.source = &source, .tick = shim_jiffies, .amount = { 5 }, .budgets = limit()->room,
		.hash = weir_source_hash(&source, limit()->cfg.prefix, &wn.key),
	};
	twin_enter();
	assert_int_equal(weir_table_charge(limit()->table, &lookup), WEIR_NEWCOMER);
	assert_int_equal(weir_newcomers_charge(&limit()->newcomers, limit()->table, &lookup, 5),
			 WEIR_REFUSED | WEIR_NEWCOMER | WEIR_FIRST);
	twin_leave();
	end();
}

UNIT_MAIN("permit", T(test_second_try), T(test_no_second_try), T(test_give_back),
	  T(test_strict), T(test_restart), T(test_window), T(test_raise), T(test_large))
