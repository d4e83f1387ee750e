// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A budget shared by all CPUs: no window exceeds it, whatever the CPUs' batches hold. Unspent rest
 * is returned, is not reported as used, and disappears when the source is forgotten.
 */
#include "table/shared.h"
#include "table_twin.h"
#include "unit.h"

#define SLOTS 4
#define SLOT_TICKS 10
#define WINDOW (SLOTS * SLOT_TICKS)
#define EVENTS 4000

static struct weir_table *table;
static const struct weir_source everybody, all_ipv6 = { .scope = WEIR_SCOPE_IPV6 };
static const struct weir_source *who = &everybody;
static u64 budget, tick;

static void begin_sized(u64 with, bool bytes, u32 sources)
{
	struct weir_table_spec spec = {
		.meter[0] = {
			.budget = with, .slot_ticks = SLOT_TICKS, .slots = SLOTS,
			.bytes = bytes,
		},
		.sources = sources,
	};

	budget = with;
	tick = 1000;
	table = weir_table_alloc(&spec, tick);
	assert_false(IS_ERR(table));
}

static void begin(u64 with, bool bytes)
{
	begin_sized(with, bytes, 64);
}

/* Charge on a CPU whose clock is @late ticks behind. */
static bool charge(unsigned int cpu, u64 late, u64 cost)
{
	struct weir_lookup lookup = {
		.source = who, .tick = tick - late, .budgets = &budget, .amount = { cost, cost },
	};
	u8 result;

	shim_cpu = cpu;
	twin_enter();
	result = weir_batch_charge(table, &lookup);
	twin_leave();
	return result & WEIR_CHARGED;
}

static u64 counted(void)
{
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];

	rcu_read_lock();
	weir_table_peek(table, who, 0, tick, &budget, NULL, &state, slot);
	weir_batches_unspent(table, tick, &state, slot);
	rcu_read_unlock();
	return state.count[0];
}

static void test_strict(void **state)
{
	static u64 at[EVENTS], cost[EVENTS];
	struct unit_runs runs = unit_runs(300);
	unsigned int i, j, n;
	struct chance c;
	u64 run, sum, late, of;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		begin(1 + chance_below(&c, 2000), chance_one_in(&c, 3));
		for (i = 0, n = 0; i < EVENTS; i++) {
			tick += chance_one_in(&c, 40) ? chance_below(&c, WINDOW) : 0;
			late = chance_one_in(&c, 20) ? chance_below(&c, 15) : 0;
			of = 1 + chance_below(&c, chance_one_in(&c, 8) ? 20 : 2);
			if (!charge(chance_below(&c, SHIM_CPUS), late, min(of, budget)))
				continue;
			/* It may have counted at any time up to now. */
			at[n] = tick - late;
			cost[n++] = min(of, budget);
			for (j = n, sum = 0; j-- && at[j] + WINDOW >= tick;)
				sum += cost[j];
			check(sum <= budget || late, "run %llu: %llu of %llu", run, sum, budget);
		}
		assert_true(counted() <= budget);
		weir_table_free(table);
	}
}

/* An even sender at 80 % of the budget, on all CPUs in turn, is hardly refused. */
static void test_comes_back(void **state)
{
	unsigned int i, refused = 0, n = 20000;

	begin(1000, false);
	for (i = 0; i < n; i++) {
		tick += i % 20 == 0;
		refused += !charge(i % SHIM_CPUS, 0, 1);
	}
	check(refused < n / 100, "%u of %u refused", refused, n);
	tick += 2 * WINDOW;
	assert_int_equal(counted(), 0);
	weir_table_free(table);
}

static void test_told(void **state)
{
	unsigned int i;

	begin(1000, false);
	for (i = 0; i < 10; i++) {
		assert_true(charge(i % SHIM_CPUS, 0, 1));
		assert_int_equal(counted(), i + 1);
	}
	rcu_read_lock();
	assert_true(weir_table_forget(table, &everybody, 0, tick));
	rcu_read_unlock();
	assert_int_equal(counted(), 0);
	/* Batches from before are not spent on top. */
	for (i = 0; charge(i % SHIM_CPUS, 0, 1); i++)
		;
	assert_true(i <= 1000);
	assert_true(counted() <= 1000);
	weir_table_free(table);
}

static void give_away(void)
{
	shim_locking = NULL;
	weir_table_clear(table, 0);
	who = &all_ipv6;
	assert_true(charge(1, 0, 1));
	who = &everybody;
}

/* The way goes to another source while a CPU waits for its lock. */
static void test_stranger(void **state)
{
	begin(1000, false);
	assert_true(charge(0, 0, 1));
	tick += WINDOW;
	shim_locking = give_away;
	assert_true(charge(0, 0, 1));
	assert_null(shim_locking);
	assert_int_equal(counted(), 1);
	who = &all_ipv6;
	assert_int_equal(counted(), 1);
	who = &everybody;
	weir_table_free(table);
}

/* Batches end even if clearing many sets would wrap a narrow epoch. */
static void test_clear(void **state)
{
	unsigned int i, n = 0;

	begin_sized(1000, false, 8192);
	assert_int_equal(weir_table_sets(table), 256);
	for (i = 0; i < SHIM_CPUS; i++)
		assert_true(charge(i, 0, 1));
	for (i = 0; i < weir_table_sets(table); i++)
		weir_table_clear(table, i);
	assert_int_equal(counted(), 0);
	for (i = 0; i < 4 * 1000; i++)
		n += charge(i % SHIM_CPUS, 0, 1);
	check(n <= 1000, "%u of 1000", n);
	weir_table_free(table);
}

/* A charge is not given back after so many clears, either. */
static void test_receipt(void **state)
{
	struct weir_lookup first = { .source = who, .amount = { 1 }, .budgets = &budget }, other;
	unsigned int i;

	begin_sized(10, false, 8192);
	first.tick = tick;
	other = first;
	twin_enter();
	assert_int_equal(weir_table_charge(table, &first), WEIR_CHARGED);
	twin_leave();
	for (i = 0; i < 1 << 16; i++)
		weir_table_clear(table, i & (weir_table_sets(table) - 1));
	twin_enter();
	assert_int_equal(weir_table_charge(table, &other), WEIR_CHARGED);
	assert_false(weir_table_uncharge(table, &first));
	twin_leave();
	weir_table_free(table);
}

static u64 now(void)
{
	return tick;
}

/* The rest of a batch moves with its source to the next table. */
static void test_moved(void **state)
{
	struct weir_table *old;

	begin(1000, false);
	old = table;
	assert_true(charge(0, 0, 1));
	assert_true(charge(0, 0, 1)); /* from the batch */
	begin(1000, false);
	shim_clock = now;
	weir_table_succeed(table, old, &budget, &budget, &twin_key);
	weir_table_drain(table);
	synchronize_rcu();
	weir_table_free(table);
	table = old;
	assert_false(charge(0, 0, 1));
	weir_table_free(table);
}

/* A batch taken from a larger budget is not spent under a smaller one. */
static void test_lowered(void **state)
{
	unsigned int i, n = 0;

	begin(1000, false);
	for (i = 0; i < SHIM_CPUS; i++)
		assert_true(charge(i, 0, 1));
	budget = 10;
	for (i = 0; i < 4 * 1000; i++)
		n += charge(i % SHIM_CPUS, 0, 1);
	check(n <= 10, "%u of 10", n);
	weir_table_free(table);
}

/* What a CPU holds when all is reserved leaks until that is due, and is not given back from it. */
static void test_reserved(void **state)
{
	const struct weir_table_spec spec = {
		.meter[0] = { .budget = 1000, .rate = 1000, .slot_ticks = 1, .slots = 100 },
		.sources = 64,
	};
	struct weir_take take = { .cost = 1000, .due = 1000 };
	const u64 twice = 2000;
	u64 slot[WEIR_SLOTS_MAX + 1], before;
	struct weir_source_state state_of;
	struct weir_lookup lookup;

	budget = 1000;
	tick = 1000;
	table = weir_table_alloc(&spec, tick);
	assert_false(IS_ERR(table));
	assert_true(charge(0, 0, 1));
	assert_true(charge(0, 0, 1));
	lookup = (struct weir_lookup) { .source = who, .tick = tick, .budgets = &twice };
	twin_enter();
	assert_int_equal(weir_table_take(table, &lookup, &take), WEIR_CHARGED);
	weir_table_peek(table, who, 0, tick, &budget, NULL, &state_of, slot);
	before = state_of.count[0];
	twin_leave();
	assert_true(take.wait && before > budget);
	/* More than it holds: it would take another batch. */
	assert_false(charge(0, 0, 900));
	twin_enter();
	weir_table_peek(table, who, 0, tick, &budget, NULL, &state_of, slot);
	twin_leave();
	assert_int_equal(state_of.count[0], before);
	weir_table_free(table);
}

UNIT_MAIN("table_batch", T(test_strict), T(test_comes_back), T(test_told), T(test_stranger),
	  T(test_clear), T(test_receipt), T(test_moved), T(test_lowered), T(test_reserved))
