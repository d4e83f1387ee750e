// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A log against the list of all charges: it admits what an exact sliding window does, no
 * packet more and none less, and gives back exactly what it was charged.
 */
#include "count/count.h"
#include "unit.h"
#include "count_chance.h"

#define CHARGES	400

static struct {
	struct chance c;
	struct weir_shape shape;
	unsigned long long run, budget, now;
	union room room;
	u64 list[CHARGES];	/* the slot of each packet, in order */
	unsigned int n;
} t;

static u64 below(u64 n)
{
	return chance_below(&t.c, n);
}

/* Packets in the window that ends in a slot. */
static unsigned int list_sum(u64 slot)
{
	unsigned int i = t.n;

	while (i && t.list[i - 1] + t.shape.parts >= slot)
		i--;
	return t.n - i;
}

static void check_state(void)
{
	struct weir_count *w = &t.room.count;
	u64 cost = 1 + below(t.budget), ahead = below(2) ? 0 : below(t.shape.parts + 3ull), wait = 0;

	check(weir_count_sum(&t.shape, w, t.now + ahead) == list_sum(t.now + ahead),
	      "run %llu: sum", t.run);
	check(weir_count_full(&t.shape, w, t.now + ahead, cost, t.budget) ==
	      (list_sum(t.now + ahead) + cost > t.budget), "run %llu: full", t.run);
	weir_count_advance(&t.shape, w, t.now);
	check(weir_count_sum(&t.shape, w, t.now) == list_sum(t.now), "run %llu: turn", t.run);
	wait = weir_count_wait(&t.shape, w, w->at, cost, t.budget);
	check(list_sum(t.now + wait) + cost <= t.budget &&
	      (!wait || list_sum(t.now + wait - 1) + cost > t.budget), "run %llu: wait", t.run);
}

/* The slot of the last turn. */
static u64 log_at(void)
{
	return t.now - (u32)((u32)t.now - t.room.count.at);
}

/* The late clock of another CPU counts at the log's time. */
static bool charge(u64 cost)
{
	struct weir_count *w = &t.room.count;
	u64 i, at, slot = t.now - (below(4) ? 0 : below(min(t.now, 5ull) + 1));

	if (weir_count_full(&t.shape, w, slot, cost, t.budget))
		return false;
	weir_count_advance(&t.shape, w, slot);
	weir_count_add(&t.shape, w, cost);
	at = log_at();
	for (i = 0; i < cost; i++)
		t.list[t.n++] = at;
	check(list_sum(at) <= t.budget, "run %llu: %u", t.run, list_sum(at));
	return true;
}

/* Give back some of what a slot was charged, perhaps after others. */
static void uncharge(void)
{
	u64 slot = t.n ? t.list[t.n - 1 - below(min(t.n, 4u))] : t.now, cost = 1 + below(3);
	unsigned int i, end = t.n, from;
	bool given;

	while (end && t.list[end - 1] > slot)
		end--;
	for (from = end; from && t.list[from - 1] == slot; from--)
		;
	given = weir_count_undo(&t.shape, &t.room.count, slot, cost);
	if (slot + t.shape.parts < log_at()) {
		check(!given, "run %llu: gave back from before the window", t.run);
		return;
	}
	/* Older packets than a log has entries were overwritten. */
	check(given == (end - from >= cost), "run %llu: give back %llu", t.run,
	      (unsigned long long)cost);
	if (!given)
		return;
	for (i = end; i < t.n; i++)
		t.list[i - cost] = t.list[i];
	t.n -= cost;
}

static void one_source(u64 run)
{
	unsigned int step;

	t.run = run;
	t.c = chance_of(run);
	t.shape = weir_log_shape(1 + below(below(2) ? 12 : WEIR_LOG_SLOTS),
				 1 + below(WEIR_LOG_CELLS));
	t.budget = 1 + below(t.shape.cells);
	t.now = below(BIT_ULL(33));
	t.n = 0;
	weir_count_init(&t.shape, &t.room.count, t.now);
	for (step = 0; step < 600 && t.n + t.budget < CHARGES; step++) {
		check_state();
		if (below(3))
			t.now += below(3) ? below(3) : below(t.shape.parts + 2ull);
		if (below(5))
			charge(1 + below(below(3) ? 1 : t.budget));
		else
			uncharge();
	}
}

static void test_charges(void **state)
{
	u64 run, runs = unit_rounds(5000);

	for (run = 0; run < runs; run++)
		one_source(run);
}

/* What is given back each time leaves old packets in the log: none may alias. */
static void test_age(void **state)
{
	struct weir_count *w = &t.room.count;
	u32 slot = 5, i;

	t.shape = weir_log_shape(WEIR_LOG_SLOTS, 4);
	weir_count_init(&t.shape, w, slot);
	weir_count_add(&t.shape, w, 2);
	for (i = 0; i < 600; i++) {
		slot += WEIR_LOG_SLOTS / 2 + 1;
		assert_false(weir_count_full(&t.shape, w, slot, 2, 4));
		weir_count_advance(&t.shape, w, slot);
		weir_count_add(&t.shape, w, 1);
		assert_true(weir_count_undo(&t.shape, w, slot, 1));
		assert_true(weir_count_sum(&t.shape, w, slot) == (i ? 0 : 2));
	}
}

/* A log that is left alone for long has nothing in its window, however far its entries are. */
static void test_silence(void **state)
{
	static const u32 windows[] = { 1, 1000, WEIR_LOG_SLOTS };
	struct weir_count *w = &t.room.count;
	u32 i, j, entries, n;

	for (i = 0; i < 2 * ARRAY_SIZE(windows); i++) {
		const u32 window = windows[i / 2];
		const u32 passed[] = { 0, window, window + 1, BIT(30), BIT(31) - window - 2,
				       BIT(31) - window - 1, BIT(31) - window, BIT(31) - 1 };

		entries = i % 2 ? WEIR_LOG_CELLS : 1;
		t.shape = weir_log_shape(window, entries);
		for (j = 0; j < ARRAY_SIZE(passed); j++) {
			/* A packet in each window: the first of them are older than one. */
			weir_count_init(&t.shape, w, -window * entries);
			for (n = 0; n < entries; n++) {
				weir_count_advance(&t.shape, w, w->at + window);
				weir_count_add(&t.shape, w, 1);
			}
			n = passed[j] > window ? 0 : passed[j] ? 1 : min(entries, 2u);
			assert_int_equal(weir_count_sum(&t.shape, w, passed[j]), n);
			assert_int_equal(weir_count_sum(&t.shape, w, passed[j]), n);
			assert_int_equal(!!weir_count_full(&t.shape, w, passed[j], 1, entries), n == entries);
			assert_int_equal(!!weir_count_full(&t.shape, w, passed[j], entries, entries), !!n);
			weir_count_advance(&t.shape, w, passed[j]);
			assert_int_equal(weir_count_sum(&t.shape, w, passed[j]), n);
			assert_int_equal(!weir_count_wait(&t.shape, w, w->at, entries, entries), !n);
		}
	}
}

/* A log with a longer window counts the packets of the one that it is a copy of, and no others. */
static void test_longer(void **state)
{
	static const u32 windows[] = { 1, 2, 1000, WEIR_LOG_SLOTS - 1, WEIR_LOG_SLOTS };
	struct weir_shape was, now;
	union room old, new;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(windows); i++)
		for (j = 0; j < ARRAY_SIZE(windows); j++) {
			was = weir_log_shape(windows[i], 5);
			now = weir_log_shape(windows[j], j % 2 ? 5 : WEIR_LOG_CELLS);
			weir_count_init(&was, &old.count, 7);
			weir_count_init(&now, &new.count, 7);
			weir_log_copy(&now, &new.count, &was, &old.count);
			assert_int_equal(weir_count_sum(&now, &new.count, 7), 0);
			weir_count_add(&was, &old.count, 3);
			assert_true(weir_count_undo(&was, &old.count, 7, 1));
			weir_log_copy(&now, &new.count, &was, &old.count);
			assert_int_equal(weir_count_sum(&now, &new.count, 7), 2);
			/* Silence, and a packet */
			weir_count_advance(&was, &old.count, 8 + windows[i]);
			weir_count_add(&was, &old.count, 1);
			weir_count_init(&now, &new.count, old.count.at);
			weir_log_copy(&now, &new.count, &was, &old.count);
			assert_int_equal(weir_count_sum(&now, &new.count, old.count.at), 1);
		}
}

/* The join is the least upper bound of every suffix, and leaves the old one behind. */
static void test_join(void **state)
{
	struct chance c = chance_of(7);
	union room a, b, old;
	u32 slot, run, i, from;
	u64 of_a, of_b;

	for (run = 0; run < 2000; run++) {
		t.shape = weir_log_shape(20, 1 + chance_below(&c, 9));
		slot = chance_below(&c, BIT_ULL(32));
		weir_count_init(&t.shape, &a.count, slot);
		weir_count_init(&t.shape, &b.count, slot);
		for (i = 0; i < 30; i++, slot++) {
			weir_count_advance(&t.shape, &a.count, slot);
			weir_count_advance(&t.shape, &b.count, slot);
			if (!chance_below(&c, 3))
				weir_count_add(&t.shape, &a.count, 1);
			if (!chance_below(&c, 4))
				weir_count_add(&t.shape, &b.count, 1);
		}
		slot = a.count.at;
		old = a;
		i = chance_below(&c, 20);
		of_b = weir_log_since(&t.shape, &b.count, slot - i);
		weir_count_join(&t.shape, &a.count, &b.count);
		of_a = weir_log_since(&t.shape, &old.count, slot - i);
		assert_int_equal(weir_log_since(&t.shape, &a.count, slot - i), max(of_a, of_b));
		for (from = slot - 20; from != slot + 1; from++)
			assert_int_equal(weir_log_since(&t.shape, &b.count, from),
					 weir_log_since(&t.shape, &old.count, from));
	}
}

UNIT_MAIN("count_log", T(test_charges), T(test_age), T(test_silence), T(test_longer), T(test_join))
