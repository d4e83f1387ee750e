// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What limits are made of: the slots of a window, words at their bounds, tables
 * that serve or do not, and the memory that a user's namespace may hold.
 */
#include <linux/jiffies.h>
#include <linux/user_namespace.h>

#include "limit.h"
#include "table_twin.h"
#include "weir.h"

static struct net net = { .user_ns = &init_user_ns };
static struct weir_net wn = { .net = &net };

void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source)
{
	(void)wn, (void)limit, (void)source;
}

void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit,
			 u32 hash, u64 tick)
{
	(void)wn, (void)limit, (void)hash, (void)tick;
}

void weir_event_limit(struct weir_net *wn, enum weir_event_type type,
		      const struct weir_limit *limit)
{
	(void)wn, (void)type, (void)limit;
}

/* Tick-milliseconds by which n slots are longer than the window, or -1. */
static s64 excess_of(u32 window_ms, unsigned int n, u64 *ticks)
{
	u64 least = (u64)window_ms * HZ;

	for (*ticks = least / (1000 * n); *ticks * n * 1000 < least; ++*ticks)
		;
	/* A slot is not shorter than a tick, nor beyond 32 bits. */
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
		check(fit == (excess < 0 ? 0 : n), "%u ms, %u slots: %u",
		      window_ms, n, fit);
		check(!fit || slot_ticks == ticks, "%u ms, %u slots: %u ticks",
		      window_ms, n, slot_ticks);
	}
	/* The largest up to 16 that grows by a sixteenth, or that grows least. */
	for (n = 16; n; n--) {
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
	static const u32 windows[] = {
		1000, 60000, 3600000, 86400000, 2591999999, 2592000000,
	};
	struct chance c = chance_of(0);
	u32 ms, i;

	(void)state;
	for (ms = 1; ms < 3000; ms++)
		check_fit(ms);
	for (i = 0; i < ARRAY_SIZE(windows); i++)
		check_fit(windows[i]);
	for (i = 0; i < unit_rounds(3000); i++)
		check_fit(1 + chance_below(&c, 2592000000));
}

static struct weir_words words_of(const char *name)
{
	struct weir_words words = {
		.given = BIT(WEIR_WORD_NAME) | BIT(WEIR_WORD_BUDGET) |
			 BIT(WEIR_WORD_WINDOW) | BIT(WEIR_WORD_SOURCES),
		.budget = 100, .window_ms = 1000, .sources = 64,
	};

	strcpy(words.name, name);
	return words;
}

static int add(const struct weir_words *words, struct weir_fault *fault)
{
	*fault = (struct weir_fault) { .word = -1 };
	return weir_limit_add(&wn, words, fault);
}

/* Bounds, and one beyond each. */
static void test_words(void **state)
{
	static const struct {
		enum weir_word word;
		u64 good, bad;
		int err;
	} bounds[] = {
		{ WEIR_WORD_BUDGET, 1, 0, -EINVAL },
		{ WEIR_WORD_BUDGET, WEIR_PACKETS_MAX, WEIR_PACKETS_MAX + 1, -ERANGE },
		{ WEIR_WORD_WINDOW, 10, 9, -ERANGE },
		{ WEIR_WORD_WINDOW, 2592000000, 2592000001, -ERANGE },
		{ WEIR_WORD_SLOTS, 64, 65, -ERANGE },
		{ WEIR_WORD_SLOTS, 1, 251, -ERANGE },
		{ WEIR_WORD_PREFIX4, 32, 33, -ERANGE },
		{ WEIR_WORD_PREFIX6, 128, 129, -ERANGE },
		{ WEIR_WORD_SOURCES, 64, 63, -ERANGE },
		{ WEIR_WORD_SOURCES, 64, WEIR_SOURCES_MAX + 1, -ERANGE },
	};
	static const char *const names[] = { "a", "-a", "a-b_.:+@9", "", "a b", "a/b" };
	struct weir_fault fault;
	struct weir_words words;
	unsigned int i, bad;
	u64 value;

	(void)state;
	for (i = 0; i < 2 * ARRAY_SIZE(bounds); i++) {
		bad = i % 2;
		value = bad ? bounds[i / 2].bad : bounds[i / 2].good;
		words = words_of("a");
		words.given |= BIT(bounds[i / 2].word);
		if (bounds[i / 2].word == WEIR_WORD_BUDGET)
			words.budget = value;
		else if (bounds[i / 2].word == WEIR_WORD_WINDOW)
			words.window_ms = value;
		else if (bounds[i / 2].word == WEIR_WORD_SLOTS)
			words.slots = value;
		else if (bounds[i / 2].word == WEIR_WORD_PREFIX4)
			words.prefix.len4 = value;
		else if (bounds[i / 2].word == WEIR_WORD_PREFIX6)
			words.prefix.len6 = value;
		else
			words.sources = value;
		check(add(&words, &fault) == (bad ? bounds[i / 2].err : 0),
		      "bound %u: %llu", i / 2, value);
		if (bad) {
			assert_int_equal(fault.word, bounds[i / 2].word);
			assert_true(strlen(fault.msg) < 80);
		} else {
			assert_int_equal(weir_limit_del(&wn, "a", &fault), 0);
		}
	}
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		words = words_of(names[i]);
		assert_int_equal(add(&words, &fault), i == 0 || i == 2 ? 0 :
				 -EINVAL);
	}
	assert_int_equal(weir_limit_flush(&wn), 0);
}

/* A budget that the counts cannot hold takes another table, others none. */
static void test_tables(void **state)
{
	static const u64 budgets[] = { 1000, U16_MAX, U16_MAX + 1ull, 5, U32_MAX };
	const struct weir_table *table = NULL;
	const struct weir_limit *limit;
	struct weir_fault fault = { };
	struct weir_words words;
	unsigned int i;

	(void)state;
	words = words_of("a");
	assert_int_equal(add(&words, &fault), 0);
	for (i = 0; i < ARRAY_SIZE(budgets); i++) {
		words.given = BIT(WEIR_WORD_NAME) | BIT(WEIR_WORD_BUDGET);
		words.budget = budgets[i];
		limit = weir_limit_find(weir_config_get(&wn), "a");
		table = limit->table;
		assert_int_equal(weir_limit_set(&wn, &words, &fault), 0);
		limit = weir_limit_find(weir_config_get(&wn), "a");
		assert_int_equal(limit->budget, budgets[i]);
		assert_true(weir_table_holds(limit->table, limit->budget));
		assert_int_equal(limit->table != table, i == 2);
	}
	/* A narrow budget gets no narrower counts with another table. */
	words.given = BIT(WEIR_WORD_NAME) | BIT(WEIR_WORD_BUDGET) |
		      BIT(WEIR_WORD_SOURCES);
	words.budget = 5;
	words.sources = 2 * limit->sources;
	table = limit->table;
	assert_int_equal(weir_limit_set(&wn, &words, &fault), 0);
	limit = weir_limit_find(weir_config_get(&wn), "a");
	assert_true(limit->table != table);
	assert_true(weir_table_holds(limit->table, U32_MAX));
	assert_true(wn.bytes == weir_table_bytes(limit->table));
	assert_int_equal(weir_limit_flush(&wn), 0);
	assert_true(!wn.bytes);
}

/* Packets of 100 bytes, one after the other; returns how many are let through. */
static unsigned int admitted(unsigned int packets)
{
	const struct weir_limit *limit = weir_limit_find(weir_config_get(&wn), "a");
	struct weir_cost cost = { .packets = 1, .bytes = 100 };
	struct weir_source source = { .word[0] = 1 };
	struct weir_visit visit;
	unsigned int count = 0;

	local_bh_disable();
	while (packets--) {
		visit = (struct weir_visit) {
			.tick = shim_jiffies,
			.packets = cost.packets,
			.hash = weir_source_hash(&source, limit->prefix, &wn.key),
		};
		count += !weir_table_charge(limit->table, &source, cost,
					    limit->budget, &visit);
	}
	local_bh_enable();
	return count;
}

/* What a source has sent stays so, whatever its budget was meanwhile. */
static void test_units(void **state)
{
	static const struct {
		u64 budget;
		bool bytes;
		unsigned int admitted;
	} steps[] = {
		{ 1000, false, 1000 }, { 10, false, 0 }, { 10000, true, 0 },
		{ 10, false, 0 }, { 1000, false, 0 }, { 500000, true, 0 },
		{ 2000, false, 0 }, { 3000, false, 1000 },
	};
	struct weir_words words = words_of("a");
	struct weir_fault fault;
	unsigned int i;

	(void)state;
	words.given |= BIT(WEIR_WORD_BUDGET) | BIT(WEIR_WORD_UNIT);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		words.budget = steps[i].budget;
		words.bytes = steps[i].bytes;
		assert_int_equal(i ? weir_limit_set(&wn, &words, &fault) :
				 add(&words, &fault), 0);
		check(admitted(3000) == steps[i].admitted, "step %u", i);
	}
	assert_int_equal(weir_limit_flush(&wn), 0);
}

/* All tables of a user's namespace together. */
static void test_quota(void **state)
{
	struct user_namespace user = { .id = 1 };
	struct weir_words words = words_of("a");
	struct weir_fault fault;

	(void)state;
	words.sources = 400000;
	net.user_ns = &user;
	assert_int_equal(add(&words, &fault), 0);
	strcpy(words.name, "b");
	assert_int_equal(add(&words, &fault), -EDQUOT);
	assert_int_equal(fault.word, WEIR_WORD_SOURCES);
	net.user_ns = &init_user_ns;
	assert_int_equal(add(&words, &fault), 0);
	assert_true(wn.bytes > 64 << 20);
	assert_int_equal(weir_limit_flush(&wn), 0);
	weir_config_free(&wn);
	assert_int_equal(shim_allocations, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_quota),
	};

	return cmocka_run_group_tests_name("hook_limit", tests, NULL, NULL);
}
