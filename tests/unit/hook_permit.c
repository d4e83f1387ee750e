// SPDX-License-Identifier: GPL-2.0-or-later
/* What newcomers are charged for first and second tries, and what comes back. */
#include "hook_newcomers.h"

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
		weir_permit_uncharge(newcomers, shim_jiffies, 1, result, lookup.newcomer);
		twin_leave();
	}
	/* Also when a refusal has just found that there is no room. */
	arrive(50);
	arrive(51);
	result = packet(52, &lookup);
	assert_int_equal(arrive(53), WEIR_REFUSED | WEIR_NEWCOMER);
	assert_int_equal(arrive(54), WEIR_REFUSED | WEIR_NEWCOMER);
	twin_enter();
	weir_permit_uncharge(newcomers, shim_jiffies, 1, result, lookup.newcomer);
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

/* No window of the newcomers' budget holds more than twice it, on any CPUs. */
static void test_strict(void **state)
{
	static u64 at[2][EVENTS];
	struct unit_runs runs = unit_runs(60);
	unsigned int count[2], i, j, second;
	struct chance c;
	u64 run, window;
	u32 budget;
	u16 result;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		budget = 1 + chance_below(&c, 300);
		begin(budget, 64);
		window = (u64)limit()->newcomers.slots * limit()->newcomers.slot_ticks;
		memset(count, 0, sizeof(count));
		for (i = 0; i < EVENTS; i++) {
			shim_cpu = chance_below(&c, SHIM_CPUS);
			shim_jiffies += chance_one_in(&c, 30) ? chance_below(&c, HZ) : 0;
			result = arrive(chance_one_in(&c, 2) ? chance_below(&c, 40) : 1000 + i);
			if (!(result & WEIR_NEWCOMER) || !(result & WEIR_CHARGED))
				continue;
			second = !!(result & WEIR_SECOND);
			at[second][count[second]++] = shim_jiffies;
			for (j = count[second]; j && at[second][j - 1] + window > shim_jiffies; j--)
				;
			check(count[second] - j <= budget, "run %llu: %u of %u", run,
			      count[second] - j, budget);
		}
		end();
	}
	shim_cpu = 0;
}

/* Changes of the window keep the newcomers' count. */
static void test_window(void **state)
{
	struct weir_limit to = words(10, 64);
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
	struct weir_limit to;

	begin(1, 64);
	to = *limit();
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
		.source = &source, .tick = shim_jiffies, .cost = 5, .budget = limit()->room[0],
		.hash = weir_source_hash(&source, limit()->prefix, &wn.key),
	};
	twin_enter();
	assert_int_equal(weir_table_charge(limit()->table, &lookup), WEIR_NEWCOMER);
	assert_int_equal(weir_permit_charge(limit(), &lookup, 5), WEIR_REFUSED | WEIR_NEWCOMER);
	twin_leave();
	end();
}

UNIT_MAIN("permit", T(test_second_try), T(test_no_second_try), T(test_give_back),
	  T(test_strict), T(test_window), T(test_raise), T(test_large))
