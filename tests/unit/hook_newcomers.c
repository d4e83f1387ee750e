// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Newcomers of a limit: who is known and since when, whose ways they take, what they are
 * charged for first and second tries, and what a change keeps.
 */
#include "hook_edit.h"
#include "table_twin.h"
#include "unit.h"

#define CELL (HZ / 16)
#define KNOWN (2 * HZ)
#define EVENTS 3000

static struct net net = { .user_ns = &init_user_ns };
static struct weir_net wn = { .net = &net };
static struct weir_error error;

void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source)
{
}

void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit, u64 tick)
{
}

static struct weir_limit words(u32 newcomers, u32 sources)
{
	struct weir_limit limit = edit_words("a", 20);

	limit.sources = sources;
	limit.newcomers.budget = newcomers;
	limit.newcomers.window_ms = 1000;
	limit.newcomers.flood = 1000;
	limit.newcomers.known_ms = 1000 * KNOWN / HZ;
	return limit;
}

static const struct weir_limit *limit(void)
{
	return weir_limit_find(weir_config_get(&wn), "a");
}

/* A limit that has learned already. */
static void begin(u32 newcomers, u32 sources)
{
	struct weir_limit made = words(newcomers, sources);

	shim_jiffies = 100000;
	assert_int_equal(edit_add(&wn, &made, NULL, &error), 0);
	shim_jiffies += KNOWN + 1;
}

static void end(void)
{
	assert_int_equal(edit_del(&wn, "a", &error), 0);
}

static void change(struct weir_limit *to)
{
	to->id = limit()->id;
	assert_int_equal(edit_set(&wn, to, &error), 0);
}

static struct weir_source source_of(u32 n)
{
	return (struct weir_source) { .word = { (__force __be32)n } };
}

/* A packet of a source, as verdict.c charges it. */
static u16 packet(u32 n, struct weir_lookup *lookup)
{
	const struct weir_source source = source_of(n);
	const struct weir_limit *in = limit();
	u16 result;

	*lookup = (struct weir_lookup) {
		.source = &source, .tick = shim_jiffies, .cost = 1, .budget = in->budget,
		.hash = weir_source_hash(&source, in->prefix, &wn.key),
	};
	twin_enter();
	result = weir_table_charge(in->table, lookup);
	if (result == WEIR_NEWCOMER)
		result = weir_permit_charge(in, lookup, 1);
	twin_leave();
	return result;
}

static u16 arrive(u32 n)
{
	struct weir_lookup lookup;

	return packet(n, &lookup) & ~(WEIR_FIRST | WEIR_EVICTED);
}

static struct weir_source_state state_of(u32 n)
{
	const struct weir_source source = source_of(n);
	const struct weir_limit *in = limit();
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];

	rcu_read_lock();
	weir_table_peek(in->table, &source, weir_source_hash(&source, in->prefix, &wn.key),
			shim_jiffies, in->budget, &state, slot);
	rcu_read_unlock();
	return state;
}

static u64 newcomers_wait(void)
{
	struct weir_newcomers_state state;

	rcu_read_lock();
	weir_newcomers_peek(&limit()->newcomers, &state);
	rcu_read_unlock();
	return state.wait;
}

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
	to.budget++;
	edit = weir_edit_begin(&wn, true, 0);
	assert_int_equal(weir_edit_end(edit, weir_edit_limit(edit, &to, NULL, &error), &error), 0);
	assert_ptr_not_equal(limit(), was);
	assert_true(arrive(12) & WEIR_REFUSED);
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
		.source = &source, .tick = shim_jiffies, .cost = 5, .budget = limit()->budget,
		.hash = weir_source_hash(&source, limit()->prefix, &wn.key),
	};
	twin_enter();
	assert_int_equal(weir_table_charge(limit()->table, &lookup), WEIR_NEWCOMER);
	assert_int_equal(weir_permit_charge(limit(), &lookup, 5), WEIR_REFUSED | WEIR_NEWCOMER);
	twin_leave();
	end();
}

UNIT_MAIN("newcomers", T(test_known), T(test_learn), T(test_second_try), T(test_no_second_try),
	  T(test_victims), T(test_late), T(test_give_back), T(test_strict), T(test_changes),
	  T(test_window), T(test_replace), T(test_raise), T(test_large))
