// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Newcomers of a limit: who is known and since when, whose ways they take, and what a
 * change keeps.
 */
#include "hook_newcomers.h"

/* Known from the first packet that is admitted more than KNOWN after the way was taken. */
static void test_known(void **state)
{
	begin(1000, 64);
	assert_true(state_of(1).unknown);
	assert_int_equal(arrive(1), WEIR_CHARGED | WEIR_NEWCOMER);
	shim_jiffies += KNOWN - 1;
	assert_int_equal(arrive(1), WEIR_CHARGED | WEIR_NEWCOMER);
	assert_true(state_of(1).unknown);
	/* Ages are kept in quarters of a second. */
	shim_jiffies += 1 + HZ / 2;
	assert_int_equal(arrive(1), WEIR_CHARGED | WEIR_NEWCOMER);
	assert_false(state_of(1).unknown);
	assert_int_equal(arrive(1), WEIR_CHARGED);
	/* Idle, and through the work that frees old ways. */
	shim_jiffies += 20ull << 30;
	weir_table_age(limit()->table, shim_jiffies);
	assert_false(state_of(1).unknown);
	assert_int_equal(arrive(1), WEIR_CHARGED);
	end();
}

/* While a limit learns nobody is refused, and who comes again is known. */
static void test_learn(void **state)
{
	struct weir_limit made = words(1, 64);

	shim_jiffies = 100000;
	assert_int_equal(edit_add(&wn, &made, NULL, &error), 0);
	assert_int_equal(arrive(1), WEIR_CHARGED | WEIR_NEWCOMER);
	assert_int_equal(arrive(2), WEIR_CHARGED);
	assert_int_equal(arrive(3), WEIR_CHARGED);
	shim_jiffies += HZ / 2;
	assert_true(arrive(2) & WEIR_CHARGED);
	shim_jiffies += KNOWN;
	assert_false(state_of(2).unknown);
	assert_true(state_of(3).unknown);
	arrive(4);
	assert_int_equal(arrive(5), WEIR_REFUSED | WEIR_NEWCOMER);
	assert_true(newcomers_wait());
	weir_newcomers_learn(&limit()->newcomers);
	assert_false(newcomers_wait());
	assert_int_equal(arrive(5), WEIR_CHARGED);
	end();
}

/* Whose ways newcomers take: of those that never were known, before any other. */
static void test_victims(void **state)
{
	u32 ways, n, kept = 0;

	begin(100000, 64);
	ways = weir_table_ways(limit()->table);
	/* A third is known, and idle then. */
	for (n = 1; n <= ways / 3; n++)
		arrive(n);
	shim_jiffies += KNOWN + HZ;
	for (n = 1; n <= ways / 3; n++)
		arrive(n);
	shim_jiffies += 2 * HZ;
	for (n = 1000; n < 1000 + 20 * ways; n++) {
		assert_true(arrive(n) & WEIR_CHARGED);
		/* Fewer are live at a time than the table has ways for. */
		shim_jiffies += 10;
	}
	for (n = 1; n <= ways / 3; n++)
		kept += !state_of(n).unknown;
	check(kept == ways / 3, "%u of %u are known still", kept, ways / 3);
	end();
}

/* A pool that becomes known late pushes out nobody who was known before, idle or not. */
static void test_late(void **state)
{
	u32 ways, n, kept = 0, round;

	begin(20, 64);
	ways = weir_table_ways(limit()->table);
	weir_newcomers_learn(&limit()->newcomers);
	for (n = 1; n <= ways / 3; n++)
		arrive(n);
	shim_jiffies += HZ;
	for (n = 1; n <= ways / 3; n++)
		arrive(n);
	assert_false(state_of(1).unknown);
	shim_jiffies += 2 * HZ;
	for (round = 0; round < 2000; round++) {
		shim_jiffies += 2;
		for (n = 0; n < 40; n++)
			arrive(1000 + (round * 40 + n) % 200);
	}
	for (n = 1; n <= ways / 3; n++)
		kept += !state_of(n).unknown;
	check(kept == ways / 3, "%u of %u are known still", kept, ways / 3);
	end();
}

/* Changes keep who is known, and since when others have their ways. */
static void test_changes(void **state)
{
	struct weir_limit to = words(1000, 512);

	begin(1000, 64);
	arrive(1);
	arrive(3);
	shim_jiffies += KNOWN + HZ / 2;
	arrive(1);
	arrive(2);
	shim_jiffies += 5 * HZ;
	change(&to);
	assert_false(state_of(1).unknown);
	assert_true(state_of(2).unknown);
	/* Idle and never known: it was left behind. */
	assert_true(state_of(3).floor);
	arrive(2);
	to.sources = 64;
	to.newcomers.window_ms = 5000;
	to.newcomers.flood = 100000;
	change(&to);
	arrive(2);
	assert_false(state_of(1).unknown);
	to.newcomers.budget = 0;
	change(&to);
	arrive(1);
	assert_int_equal(arrive(4), WEIR_CHARGED);
	to.newcomers.budget = 10;
	change(&to);
	assert_false(state_of(1).unknown);
	assert_false(state_of(4).unknown);
	assert_true(state_of(5).unknown);
	end();
}

/* A configuration that replaces one with the same words changes nothing. */
static void test_replace(void **state)
{
	struct weir_limit to = words(5, 64);
	const struct weir_limit *was;
	struct weir_edit *edit;
	unsigned int i;

	begin(5, 64);
	for (i = 0; i < 5; i++)
		assert_true(arrive(1 + i) & WEIR_CHARGED);
	assert_true(arrive(10) & WEIR_REFUSED);
	was = limit();
	edit = weir_edit_begin(&wn, true, 0);
	assert_int_equal(weir_edit_end(edit, weir_edit_limit(edit, &to, NULL, &error), &error), 0);
	assert_ptr_equal(limit(), was);
	assert_true(arrive(11) & WEIR_REFUSED);
	/* Likewise, with one word changed. */
	to.budget[0].amount++;
	edit = weir_edit_begin(&wn, true, 0);
	assert_int_equal(weir_edit_end(edit, weir_edit_limit(edit, &to, NULL, &error), &error), 0);
	assert_ptr_not_equal(limit(), was);
	assert_true(arrive(12) & WEIR_REFUSED);
	end();
}

UNIT_MAIN("newcomers", T(test_known), T(test_learn), T(test_victims), T(test_late),
	  T(test_changes), T(test_replace))
