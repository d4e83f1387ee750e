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
	struct weir_limit_config made = words(1, 64);

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
	ways = weir_table_entries(limit()->table);
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
	ways = weir_table_entries(limit()->table);
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

/*
 * In a total, newcomers stay. A stranger who comes again, which pushes out nobody who is known as
 * long as others would do, takes the way of one who is known and idle if none of them would.
 */
static void test_total_late(void **state)
{
	const u32 known = 10, strangers = 40;
	u32 n, got = 0, refused = 0;
	struct weir_limit_config made = words(50, 64);

	made.budget[0] = (struct weir_budget_config) { .amount = 20 };
	made.newcomers.known_ms = 3600000;
	begin_with(&made);
	shim_jiffies += 3600 * HZ;
	for (n = 1; n <= known; n++)
		arrive(n);
	shim_jiffies += 3601 * HZ;
	for (n = 1; n <= known; n++)
		arrive(n);
	assert_false(state_of(known).unknown);
	/* Until all ways are taken */
	for (n = 1000; refused < 100; n++) {
		refused += !(arrive(n) & WEIR_CHARGED);
		shim_jiffies += HZ / 40;
	}
	shim_jiffies += 2 * HZ;
	/* A few of them use up the newcomers' budget. */
	for (n = 0; arrive(1000 + n / 10) & WEIR_CHARGED; n++)
		;
	for (n = 5000; n < 5000 + strangers; n++)
		assert_int_equal(arrive(n), WEIR_REFUSED | WEIR_NEWCOMER);
	for (n = 1; n <= known; n++)
		forget(n);
	shim_jiffies += HZ;
	for (n = 5000; n < 5000 + strangers; n++)
		got += !!(arrive(n) & WEIR_CHARGED);
	check(got == known, "%u got the ways of %u", got, known);
	end();
}

/* Changes keep who is known, and since when others have their ways. */
static void test_changes(void **state)
{
	struct weir_limit_config to = words(1000, 512);

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
	struct weir_limit_config to = words(5, 64);
	const struct weir_limit *was;
	struct weir_edit *edit;
	unsigned int i;

	begin(5, 64);
	for (i = 0; i < 5; i++)
		assert_true(arrive(1 + i) & WEIR_CHARGED);
	assert_true(arrive(10) & WEIR_REFUSED);
	was = limit();
	edit = weir_edit_begin(&wn, true, 0);
	assert_int_equal(weir_edit_end(edit, weir_edit_limit_add(edit, &to, NULL, &error),
				       WEIR_EDIT_PUBLISH, &error), 0);
	assert_ptr_equal(limit(), was);
	assert_true(arrive(11) & WEIR_REFUSED);
	/* Likewise, with one word changed. */
	to.budget[0].amount++;
	edit = weir_edit_begin(&wn, true, 0);
	assert_int_equal(weir_edit_end(edit, weir_edit_limit_add(edit, &to, NULL, &error),
				       WEIR_EDIT_PUBLISH, &error), 0);
	assert_ptr_not_equal(limit(), was);
	assert_true(arrive(12) & WEIR_REFUSED);
	end();
}

/* How a limit with several budgets may count: each way, and a total. */
static const struct weir_budget_config ways[] = {
	{ .amount = 9, .window_ms = 1000, .mode = WEIR_MODE_STRICT },
	{ .amount = 9, .window_ms = 60000, .mode = WEIR_MODE_LENIENT },
	{ .amount = 9, .window_ms = 60000, .mode = WEIR_MODE_FIXED },
	{ .amount = 9, .window_ms = WEIR_DAY_MS, .mode = WEIR_MODE_CALENDAR },
	{ .amount = 9, .window_ms = 60000, .mode = WEIR_MODE_BUCKET },
	{ .amount = 9, .window_ms = 60000, .mode = WEIR_MODE_EXACT },
	{ .amount = 9 },
};

static struct weir_limit_config words_of(unsigned int first, unsigned int second, u32 newcomers)
{
	struct weir_limit_config made = words(newcomers, 64);

	made.budget[0] = ways[first];
	made.budget[1] = ways[second];
	made.budgets = 2;
	return made;
}

/*
 * Several budgets, counted in each way: what a dropped packet was charged and learnt is given
 * back by all of them, and a refusal by any takes nothing of the newcomers' budget.
 */
static void test_budgets(void **state)
{
	const struct weir_source source = source_of(1);
	unsigned int i, first, second;
	struct weir_source_state is;
	struct weir_lookup lookup;
	struct weir_limit_config made;
	u16 result;

	for (i = 0; i < ARRAY_SIZE(ways) * ARRAY_SIZE(ways); i++) {
		first = i / ARRAY_SIZE(ways);
		second = i % ARRAY_SIZE(ways);
		made = words_of(first, second, 12);
		begin_with(&made);
		assert_int_equal(arrive(1), WEIR_CHARGED | WEIR_NEWCOMER);
		shim_jiffies += KNOWN + HZ;
		is = state_of(1);
		result = packet(1, &lookup);
		check(result == (WEIR_CHARGED | WEIR_NEWCOMER | WEIR_MET), "%u, %u: %#x", first,
		      second, result);
		assert_false(state_of(1).unknown);
		lookup.source = &source;
		twin_enter();
		check(weir_table_uncharge(limit()->table, &lookup), "%u, %u: not given back", first,
		      second);
		weir_table_unmeet(limit()->table, &lookup);
		weir_newcomers_uncharge(&limit()->newcomers, 1, result, &lookup.newcomer);
		twin_leave();
		assert_true(state_of(1).unknown);
		assert_memory_equal(state_of(1).count, is.count, sizeof(is.count));
		while (packet(2, &lookup) & WEIR_CHARGED)
			;
		is = state_of(2);
		check(is.wait && is.unknown, "%u, %u: not refused", first, second);
		/* Nine of twelve are taken, and so three have room. */
		for (result = 3; result < 6; result++)
			check(arrive(result) == (WEIR_CHARGED | WEIR_NEWCOMER), "%u, %u: no room",
			      first, second);
		assert_int_equal(arrive(7), WEIR_REFUSED | WEIR_NEWCOMER);
		end();
	}
}

/* A block takes nothing of the newcomers' budget, and makes nobody known. */
static void test_blocked(void **state)
{
	unsigned int i;

	begin(3, 64);
	assert_int_equal(arrive(1), WEIR_CHARGED | WEIR_NEWCOMER);
	shim_jiffies += KNOWN + HZ;
	assert_int_equal(arrive(1), WEIR_CHARGED | WEIR_NEWCOMER);
	assert_int_equal(arrive(2), WEIR_CHARGED | WEIR_NEWCOMER);
	for (i = 1; i < 5; i++)
		assert_int_equal(block(i, 100 * HZ), 0);
	for (i = 1; i < 20; i++)
		assert_true(i < 5 ? arrive(i) & WEIR_BLOCKED : arrive(i) & ~WEIR_BLOCKED);
	shim_jiffies += 50 * HZ;
	assert_int_equal(block(3, 0), 1);
	for (i = 3; i < 5; i++) {
		/* Released, and after the block has ended */
		assert_int_equal(arrive(i), WEIR_CHARGED | WEIR_NEWCOMER);
		shim_jiffies += HZ;
		assert_int_equal(arrive(i), WEIR_CHARGED | WEIR_NEWCOMER);
		assert_true(state_of(i).unknown);
		shim_jiffies += KNOWN;
		assert_int_equal(arrive(i), WEIR_CHARGED | WEIR_NEWCOMER);
		assert_false(state_of(i).unknown);
		shim_jiffies += 51 * HZ;
	}
	assert_int_equal(arrive(1), WEIR_CHARGED);
	assert_int_equal(arrive(2), WEIR_CHARGED | WEIR_NEWCOMER);
	end();
}

/* Forgotten: who was known stays known, blocked or not; any other is a newcomer from then on. */
static void test_forgotten(void **state)
{
	unsigned int i;

	begin(1000, 64);
	arrive(1);
	arrive(2);
	shim_jiffies += KNOWN + HZ;
	arrive(1);
	arrive(2);
	arrive(3);
	arrive(4);
	assert_int_equal(block(2, 100 * HZ), 0);
	assert_int_equal(block(4, 100 * HZ), 0);
	assert_int_equal(block(5, 100 * HZ), 0);
	shim_jiffies += KNOWN + HZ;
	for (i = 1; i <= 5; i++) {
		forget(i);
		assert_false(state_of(i).blocked);
		check(state_of(i).unknown == (i > 2), "%u", i);
	}
	for (i = 3; i <= 5; i++) {
		assert_int_equal(arrive(i), WEIR_CHARGED | WEIR_NEWCOMER);
		check(state_of(i).unknown, "%u is known by what it sent before", i);
	}
	shim_jiffies += KNOWN + HZ;
	for (i = 1; i <= 5; i++) {
		assert_int_equal(arrive(i), i > 2 ? WEIR_CHARGED | WEIR_NEWCOMER : WEIR_CHARGED);
		assert_false(state_of(i).unknown);
	}
	end();
}

/* A set of blocked sources and of totals refuses newcomers until the first block ends. */
static void test_full(void **state)
{
	struct weir_limit_config made = words(1000, 64);
	unsigned int i, total = 0, blocked = 0;
	u64 ends = 0;

	made.budget[0] = ways[6];
	begin_with(&made);
	twin_shrink(limit()->table, 1, 4);
	for (i = 1; i <= 2; i++) {
		assert_int_equal(block(i, 100 * HZ), 0);
		ends = state_of(i).blocked;
		blocked++;
	}
	assert_int_equal(block(3, 100 * HZ), -ENOSPC);
	for (i = 3; i <= 4; i++)
		total += !!(arrive(i) & WEIR_CHARGED);
	assert_int_equal(total + blocked, 4);
	assert_int_equal(state_of(5).wait, ends);
	assert_int_equal(state_of(5).count[0], 9);
	assert_int_equal(arrive(5), WEIR_REFUSED | WEIR_FLOORED);
	assert_int_equal(block(5, HZ), -ENOSPC);
	shim_jiffies += ends;
	assert_int_equal(state_of(5).wait, 0);
	assert_int_equal(arrive(5), WEIR_CHARGED | WEIR_NEWCOMER);
	assert_int_equal(arrive(6), WEIR_CHARGED | WEIR_NEWCOMER);
	assert_int_equal(state_of(7).wait, WEIR_NEVER);
	assert_int_equal(arrive(7), WEIR_REFUSED | WEIR_FLOORED);
	end();
}

/* The age of a source is right where ticks exceed 32 bits. */
static void test_wrap(void **state)
{
	begin(1000, 64);
	shim_jiffies = BIT_ULL(32) - HZ / 4;
	arrive(1);
	shim_jiffies += HZ / 2;
	arrive(1);
	assert_true(state_of(1).unknown);
	shim_jiffies += KNOWN;
	arrive(1);
	assert_false(state_of(1).unknown);
	end();
}

UNIT_MAIN("newcomers", T(test_known), T(test_learn), T(test_victims), T(test_late), T(test_total_late),
	  T(test_changes), T(test_replace), T(test_budgets), T(test_blocked), T(test_forgotten), T(test_full),
	  T(test_wrap))
