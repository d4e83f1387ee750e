// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parts of limits: the slots of a window, when a table is replaced, and the memory
 * quota of a user namespace.
 */
#include <linux/jiffies.h>
#include <linux/user_namespace.h>

#include "count/window.h"
#include "hook_edit.h"
#include "limit/stats.h"
#include "table_twin.h"

static struct net net = { .user_ns = &init_user_ns };
static struct weir_net wn = { .net = &net };

void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source)
{
}

void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit, u64 tick)
{
}

/* Tick-milliseconds by which n slots are longer than the window, or -1. */
static s64 excess_of(u32 window_ms, unsigned int n, u64 *ticks)
{
	u64 least = (u64)window_ms * HZ;

	for (*ticks = least / (1000 * n); *ticks * n * 1000 < least; ++*ticks)
		;
	/* A slot lasts at least a tick and fits 32 bits. */
	if (least < 1000ull * n || *ticks > U32_MAX)
		return -1;
	return *ticks * n * 1000 - least;
}

static void check_fit(u32 window_ms)
{
	unsigned int n, best = 0, fit;
	u64 ticks, best_ticks = 1;
	s64 excess, least = -1;
	u32 slot_ticks = 0;

	for (n = 1; n <= WEIR_SLOTS_MAX; n++) {
		excess = excess_of(window_ms, n, &ticks);
		fit = weir_slots_fit(window_ms, n, &slot_ticks);
		check(fit == (excess < 0 ? 0 : n), "%u ms, %u slots: %u", window_ms, n, fit);
		check(!fit || slot_ticks == ticks, "%u ms, %u slots: %u ticks",
		      window_ms, n, slot_ticks);
	}
	/* The largest n up to 15 that extends the window by at most 1/16, or else least. */
	for (n = 15; n; n--) {
		excess = excess_of(window_ms, n, &ticks);
		if (excess < 0 || (best && excess >= least))
			continue;
		best = n;
		best_ticks = ticks;
		least = excess;
		if ((u64)excess * 16 <= (u64)window_ms * HZ)
			break;
	}
	fit = weir_slots_fit(window_ms, 0, &slot_ticks);
	check(fit == (best ? best : 1) && slot_ticks == best_ticks,
	      "%u ms: %u slots of %u ticks for %u of %llu", window_ms, fit,
	      slot_ticks, best, best_ticks);
}

static void test_slots(void **state)
{
	static const u32 windows[] = { 1000, 60000, 3600000, 86400000, 2591999999, 2592000000 };
	struct chance c = chance_of(0);
	u32 ms, i;

	for (ms = 1; ms < 3000; ms++)
		check_fit(ms);
	for (i = 0; i < ARRAY_SIZE(windows); i++)
		check_fit(windows[i]);
	for (i = 0; i < unit_rounds(3000); i++)
		check_fit(1 + chance_below(&c, 2592000000));
}

static int add(const struct weir_limit_config *limit, struct weir_error *error)
{
	*error = (struct weir_error) { };
	return edit_add(&wn, limit, NULL, error);
}

/* Only a budget beyond the counts' width replaces the table. */
static void test_tables(void **state)
{
	static const u64 budgets[] = { 1000, U16_MAX, U16_MAX + 1ull, 5, U32_MAX };
	const struct weir_table *table = NULL;
	const struct weir_limit *limit;
	struct weir_limit_config config = edit_words("a", 100);
	struct weir_error error = { };
	unsigned int i;

	assert_int_equal(add(&config, &error), 0);
	for (i = 0; i < ARRAY_SIZE(budgets); i++) {
		config.budget[0].amount = budgets[i];
		limit = weir_limit_find(weir_config_get(&wn), "a");
		table = limit->table;
		assert_int_equal(edit_set(&wn, &config, &error), 0);
		limit = weir_limit_find(weir_config_get(&wn), "a");
		assert_int_equal(limit->cfg.budget[0].amount, budgets[i]);
		assert_true(weir_table_holds(limit->table, 0, limit->room[0]));
		assert_int_equal(limit->table != table, i == 2);
	}
	/* A small budget does not narrow the counts of the next table. */
	config.budget[0].amount = 5;
	config.sources *= 2;
	table = limit->table;
	assert_int_equal(edit_set(&wn, &config, &error), 0);
	limit = weir_limit_find(weir_config_get(&wn), "a");
	assert_true(limit->table != table);
	assert_true(weir_table_holds(limit->table, 0, U32_MAX));
	assert_int_equal(atomic64_read(&wn.bytes), weir_table_bytes(limit->table));
	assert_int_equal(edit_flush(&wn, true), 0);
	assert_int_equal(atomic64_read(&wn.bytes), 0);
}

/* Only a budget beyond the entries of a log replaces the table: 6, 22 and 54 fit the lines. */
static void test_log(void **state)
{
	static const u64 budgets[] = { 5, 6, 7, 22, 56, 23, 1, 56 };
	const struct weir_limit *limit;
	struct weir_limit_config config = edit_words("a", 1);
	const struct weir_table *table = NULL;
	struct weir_error error = { };
	unsigned int i;
	u64 most = 0;

	config.budget[0].mode = WEIR_MODE_EXACT;
	assert_int_equal(add(&config, &error), 0);
	for (i = 0; i < ARRAY_SIZE(budgets); i++) {
		config.budget[0].amount = budgets[i];
		limit = weir_limit_find(weir_config_get(&wn), "a");
		table = limit->table;
		most = weir_shape_max(&table->meter[0].shape);
		assert_int_equal(edit_set(&wn, &config, &error), 0);
		limit = weir_limit_find(weir_config_get(&wn), "a");
		assert_true(weir_table_holds(limit->table, 0, budgets[i]));
		assert_true(weir_shape_max(&limit->table->meter[0].shape) >= budgets[i]);
		assert_int_equal(limit->table != table, budgets[i] > most);
	}
	assert_int_equal(edit_flush(&wn, true), 0);
}

/* Sizes that pressure asks for, at their ends: a power of two, and no more than there can be. */
static void test_sizes(void **state)
{
	static const struct {
		u32 sources;
		u64 evictions, wanted;
	} sizes[] = {
		{ 64, 0, 0 }, { 64, 1, 128 }, { 64, 64, 128 }, { 64, 65, 256 },
		{ 64, U32_MAX - 63, WEIR_SOURCES_MAX }, { 64, BIT_ULL(40), WEIR_SOURCES_MAX },
		{ 64, U64_MAX - 63, WEIR_SOURCES_MAX }, { WEIR_SOURCES_MAX, 1, WEIR_SOURCES_MAX },
	};
	struct weir_limit limit = { .span_ticks = U32_MAX };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		assert_int_equal(weir_limit_account(&limit), 0);
		limit.cfg.sources = sizes[i].sources;
		weir_limit_count(&limit, WEIR_COUNTER_OF(evictions), sizes[i].evictions);
		assert_int_equal(weir_pressure_sources(&limit, 1), sizes[i].wanted);
		/* a successor asks for no more because of the floors that it took over, for a window */
		shim_jiffies = 1;
		weir_pressure_reset(&limit);
		weir_limit_count(&limit, WEIR_COUNTER_OF(packets[WEIR_FLOOR_REFUSED]), 9);
		limit.span_ticks = 100;
		assert_int_equal(weir_pressure_sources(&limit, weir_clock() + 99), 0);
		weir_limit_count(&limit, WEIR_COUNTER_OF(packets[WEIR_FLOOR_REFUSED]), 9);
		assert_true(weir_pressure_sources(&limit, weir_clock() + 100));
		limit.span_ticks = U32_MAX;
		free_percpu(limit.stats);
		kfree(limit.pressure);
	}
}

/* Send packets of 100 bytes; returns how many are admitted. */
static unsigned int admitted(unsigned int packets)
{
	const struct weir_limit *limit = weir_limit_find(weir_config_get(&wn), "a");
	struct weir_source source = { .word[0] = 1 };
	struct weir_lookup lookup;
	unsigned int count = 0;

	local_bh_disable();
	while (packets--) {
		lookup = (struct weir_lookup) {
			.source = &source,
			.tick = shim_jiffies,
			.amount = { 1, 100 }, .budgets = limit->room,
			.hash = weir_source_hash(&source, limit->cfg.prefix, &wn.key),
		};
		count += weir_table_charge(limit->table, &lookup) & WEIR_CHARGED;
	}
	local_bh_enable();
	return count;
}

struct step {
	u64 budget;
	bool bytes;
	unsigned int packets, admitted;
};

static void take_steps(const struct step *steps, unsigned int count)
{
	struct weir_limit_config limit = edit_words("a", 100);
	struct weir_error error;
	unsigned int i;

	for (i = 0; i < count; i++) {
		limit.budget[0].amount = steps[i].budget;
		limit.budget[0].unit = steps[i].bytes;
		assert_int_equal(i ? edit_set(&wn, &limit, &error) : add(&limit, &error), 0);
		check(admitted(steps[i].packets) == steps[i].admitted, "step %u", i);
	}
	assert_int_equal(edit_flush(&wn, true), 0);
}

/* Budget changes in between do not lose what a source was charged. */
static void test_units(void **state)
{
	static const struct step units[] = {
		{ 1000, false, 3000, 1000 }, { 10, false, 3000, 0 }, { 10000, true, 3000, 0 },
		{ 10, false, 3000, 0 }, { 1000, false, 3000, 0 }, { 500000, true, 3000, 0 },
		{ 2000, false, 3000, 0 }, { 3000, false, 3000, 1000 },
	};
	/* The table has held more than the budget it was created for. */
	static const struct step grown[] = {
		{ 100, false, 0, 0 }, { 60000, false, 60001, 60000 }, { 100, false, 1, 0 },
		{ 1000, true, 1, 0 }, { 600000, true, 6000, 0 },
	};

	take_steps(units, ARRAY_SIZE(units));
	take_steps(grown, ARRAY_SIZE(grown));
}

/* Of two budgets of one window the narrow one goes on with what the wide one, which goes, has counted. */
static void test_twins(void **state)
{
	struct weir_limit_config limit = edit_words("a", 60000);
	struct weir_error error;

	limit.budget[0].unit = true;
	assert_int_equal(add(&limit, &error), 0);
	check(admitted(6000) < 6000, "the bytes are used up");
	limit.budget[1] = (struct weir_budget_config) { .amount = 13, .mode = WEIR_MODE_FIXED };
	limit.budget[2] = (struct weir_budget_config) { .amount = 100000 };
	limit.budgets = 3;
	assert_int_equal(edit_set(&wn, &limit, &error), 0);
	limit.budgets = 2;
	assert_int_equal(edit_set(&wn, &limit, &error), 0);
	limit.budget[0].amount = 1000000000;
	limit.budget[1] = limit.budget[2];
	assert_int_equal(edit_set(&wn, &limit, &error), 0);
	check(admitted(200000) < 10000, "what was cut off is not admitted again");
	assert_int_equal(edit_flush(&wn, true), 0);
}

/* The quota covers all tables of a user namespace together. */
static void test_quota(void **state)
{
	struct user_namespace user = { .id = 1 };
	struct weir_limit_config limit = edit_words("a", 100);
	struct weir_error error;

	limit.sources = 400000;
	net.user_ns = &user;
	assert_int_equal(add(&limit, &error), 0);
	strcpy(limit.name, "b");
	assert_int_equal(add(&limit, &error), -EDQUOT);
	assert_int_equal(error.attr, WEIR_A_LIMIT_SOURCES);
	net.user_ns = &init_user_ns;
	assert_int_equal(add(&limit, &error), 0);
	assert_true(atomic64_read(&wn.bytes) > 64 << 20);
	assert_int_equal(edit_flush(&wn, true), 0);
	assert_int_equal(atomic64_read(&wn.bytes), 0);
	weir_config_free(&wn);
	assert_int_equal(shim_allocations, 0);
}

UNIT_MAIN("hook_limit", T(test_slots), T(test_tables), T(test_log), T(test_sizes),
	  T(test_units), T(test_twins), T(test_quota))
