// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A leaky bucket against a list of charges: it admits at most its size and a budget in any
 * window, nothing less than a bucket of exact time would, and gives back no more than it has.
 */
#include "count/count.h"
#include "unit.h"
#include "count_chance.h"

#define CHARGES	200

struct charge { u64 slot, cost; };

static struct {
	struct chance c;
	struct weir_shape shape;
	u64 run, size, slot;
	union room room;
	struct charge charge[CHARGES + 1];
	unsigned int n;
} t;

static u64 below(u64 n)
{
	return chance_below(&t.c, n);
}

/* The level by all charges, in parts; exact. */
static u64 level_of(void)
{
	u64 level = 0, at = 0, left;
	unsigned int i;

	for (i = 0; i <= t.n; i++) {
		left = ((i < t.n ? t.charge[i].slot : t.slot) - at) * t.shape.rate;
		level -= min(level, left);
		if (i == t.n)
			break;
		level += t.charge[i].cost * t.shape.parts;
		at = t.charge[i].slot;
	}
	return level;
}

/* Intervals of a window that end with the last charge. */
static void check_window(void)
{
	u64 sum = 0, last = t.charge[t.n - 1].slot;
	unsigned int i;

	for (i = t.n; i-- && t.charge[i].slot + t.shape.parts >= last;)
		sum += t.charge[i].cost;
	check(sum <= t.size + t.shape.rate, "run %llu: %llu of %llu + %llu", t.run, sum, t.size,
	      t.shape.rate);
}

static void check_state(void)
{
	u64 level = level_of(), cost = 1 + below(t.size), wait;
	struct weir_count *w = &t.room.count;

	check(weir_count_sum(&t.shape, w, t.slot) == (level + t.shape.parts - 1) / t.shape.parts,
	      "run %llu: level", t.run);
	check(weir_count_full(&t.shape, w, t.slot, cost, t.size) ==
	      (level + cost * t.shape.parts > t.size * t.shape.parts), "run %llu: full", t.run);
	weir_count_advance(&t.shape, w, t.slot);
	check(weir_count_cell(&t.shape, w, 0) == level, "run %llu: turn", t.run);
	wait = weir_count_wait(&t.shape, w, w->at, cost, t.size);
	check(!weir_count_full(&t.shape, w, t.slot + wait, cost, t.size) &&
	      (!wait || weir_count_full(&t.shape, w, t.slot + wait - 1, cost, t.size)),
	      "run %llu: wait %llu", t.run, wait);
}

static void charge(void)
{
	struct weir_count *w = &t.room.count;
	u64 cost = 1 + below(below(3) ? min(t.size, 3ull) : t.size);
	/* A late clock counts at the count's time. */
	u32 slot = t.slot - (below(4) ? 0 : below(min(t.slot, 5ull) + 1));
	unsigned int i, late;
	u64 other;

	if (weir_count_full(&t.shape, w, slot, cost, t.size))
		return;
	weir_count_advance(&t.shape, w, slot);
	weir_count_add(&t.shape, w, cost);
	t.charge[t.n++] = (struct charge) { t.slot, cost };
	check_window();
	if (below(4))
		return;
	/* Give back one, perhaps after others; the rest as if it had never been is no larger. */
	late = below(3) ? 0 : below(2 * t.shape.parts + 2);
	t.slot += late;
	weir_count_advance(&t.shape, w, t.slot);
	i = t.n - 1;
	slot = t.charge[i].slot;
	other = 1 + below(t.size);
	if (late && !weir_count_full(&t.shape, w, t.slot, other, t.size)) {
		weir_count_add(&t.shape, w, other);
		t.charge[t.n++] = (struct charge) { t.slot, other };
	}
	t.charge[i].cost = 0;
	weir_count_undo(&t.shape, w, slot, cost);
	check(weir_count_cell(&t.shape, w, 0) >= level_of(), "run %llu: gave back too much", t.run);
	check(late || weir_count_cell(&t.shape, w, 0) == level_of(), "run %llu: kept some", t.run);
	/* Go on from what the bucket has. */
	t.n = 0;
	weir_count_init(&t.shape, w, t.slot);
}

/* An empty bucket of any shape and size, at any time. */
static void begin(u64 run)
{
	t.run = run;
	t.c = chance_of(run);
	t.shape = weir_leak_shape(1 + below(below(2) ? 8 : WEIR_PARTS_MAX),
				  1 + below(below(2) ? 8 : 100000));
	t.size = 1 + below(below(2) ? 4 : 4 * t.shape.rate);
	t.slot = below(BIT_ULL(33));
	t.n = 0;
	weir_count_init(&t.shape, &t.room.count, t.slot);
}

static void one_source(u64 run)
{
	begin(run);
	while (t.n < CHARGES && below(400)) {
		t.slot += below(3) ? below(2) : below(t.shape.parts + 2);
		check_state();
		charge();
	}
}

static void test_charges(void **state)
{
	u64 run, runs = unit_rounds(5000);

	for (run = 0; run < runs; run++)
		one_source(run);
}

/*
 * Charges, some beyond the size: these count when they are due, which is when they would have
 * fitted, and then no window has more than the size and a budget.
 */
static void reserve(u64 *last)
{
	u64 cost = 1 + below(t.size), due = t.slot, wait;
	struct weir_count *w = &t.room.count;
	bool ahead = below(2);

	if (weir_count_full(&t.shape, w, t.slot, cost, ahead ? 2 * t.size : t.size))
		return;
	weir_count_advance(&t.shape, w, t.slot);
	wait = weir_count_wait(&t.shape, w, w->at, cost, t.size);
	weir_count_add(&t.shape, w, cost);
	if (ahead)
		due += weir_leak_due(&t.shape, w, cost, t.size);
	check(due == t.slot + wait, "run %llu: due in %llu, not %llu", t.run, due - t.slot, wait);
	check(due >= *last, "run %llu: before the last", t.run);
	check(weir_count_cell(&t.shape, w, 0) <= 2 * t.size * t.shape.parts + t.shape.rate,
	      "run %llu: the level", t.run);
	*last = due;
	t.charge[t.n++] = (struct charge) { due, cost };
	check_window();
}

static void test_reserve(void **state)
{
	u64 run, runs = unit_rounds(20000), last;

	for (run = 0; run < runs; run++) {
		begin(run);
		last = 0;
		while (t.n < CHARGES && below(60)) {
			t.slot += below(3) ? below(2) : below(t.shape.parts + 2);
			reserve(&last);
		}
	}
}

/* The most that the level may be has 64 bits, and drains within 2^30 slots. */
static void test_most(void **state)
{
	const struct weir_shape shape = weir_leak_shape(WEIR_PARTS_MAX, BIT_ULL(56));
	const struct weir_shape slow = weir_leak_shape(WEIR_PARTS_MAX, 1);
	union room room;

	weir_count_init(&shape, &room.count, 0);
	weir_count_add(&shape, &room.count, BIT_ULL(46));
	assert_false(weir_count_full(&shape, &room.count, 0, BIT_ULL(46), BIT_ULL(47)));
	weir_count_add(&shape, &room.count, BIT_ULL(46));
	assert_int_equal(weir_leak_due(&shape, &room.count, BIT_ULL(46), BIT_ULL(46)), BIT(6));
	assert_true(weir_count_full(&shape, &room.count, 0, 1, BIT_ULL(47)));
	weir_count_init(&slow, &room.count, 0);
	weir_count_add(&slow, &room.count, 2 * WEIR_BURST_BUDGETS);
	assert_int_equal(weir_leak_due(&slow, &room.count, 1, WEIR_BURST_BUDGETS), BIT(28));
	assert_true(weir_leak_level(&slow, &room.count, BIT(30)) == 0);
}

/* What a bucket counts is rounded up, up to the largest level, which a change may bring about. */
static void test_sum(void **state)
{
	static const u32 parts[] = { 1, 3, 7, WEIR_PARTS_MAX - 1, WEIR_PARTS_MAX };
	struct weir_shape shape;
	union room room;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		shape = weir_leak_shape(parts[i], BIT_ULL(56));
		weir_count_init(&shape, &room.count, 0);
		assert_true(weir_count_sum(&shape, &room.count, 0) == 0);
		weir_count_store(&shape, &room.count, 0, 1);
		assert_true(weir_count_sum(&shape, &room.count, 0) == 1);
		weir_count_store(&shape, &room.count, 0, parts[i] + 1ull);
		assert_true(weir_count_sum(&shape, &room.count, 0) == 2);
		weir_count_init(&shape, &room.count, 0);
		weir_count_add(&shape, &room.count, weir_shape_max(&shape));
		assert_true(weir_count_sum(&shape, &room.count, 0) == weir_shape_max(&shape));
		weir_count_store(&shape, &room.count, 0, U64_MAX);
		assert_true(weir_count_sum(&shape, &room.count, 0) >= weir_shape_max(&shape));
	}
}

/* The join is the later time: no source gets more room than it had. */
static void test_join(void **state)
{
	const struct weir_shape shape = weir_leak_shape(1000, 3);
	u64 run, runs = unit_rounds(2000), a, b;
	union room one, other;
	struct chance c;

	for (run = 0; run < runs; run++) {
		c = chance_of(run);
		weir_count_init(&shape, &one.count, 5);
		weir_count_init(&shape, &other.count, 5);
		a = chance_below(&c, 50);
		b = chance_below(&c, 50);
		weir_count_add(&shape, &one.count, a);
		weir_count_add(&shape, &other.count, b);
		weir_count_join(&shape, &one.count, &other.count);
		assert_int_equal(weir_count_sum(&shape, &one.count, 5), max(a, b));
		assert_int_equal(weir_count_sum(&shape, &other.count, 5), a);
	}
}

/* A mark holds for a window and a little, at every number of parts, and then does not. */
static void test_marks(void **state)
{
	struct weir_shape shape;
	struct weir_count *w;
	union room room;
	u32 parts, at;

	for (parts = 1; parts <= WEIR_PARTS_MAX; parts += 1 + parts / 3)
		for (at = -3u * parts; at - 1 < 3 * parts || -at <= 3 * parts; at += 1 + parts / 2) {
			shape = weir_leak_shape(parts, 1);
			w = &room.count;
			weir_count_init(&shape, w, at);
			assert_false(weir_count_marked(&shape, w, at));
			weir_count_mark(&shape, w, at, 5);
			assert_true(weir_count_marked(&shape, w, at));
			assert_int_equal(weir_count_wanted(&shape, w, w->at), 5);
			assert_true(weir_count_marked(&shape, w, at + parts));
			assert_false(weir_count_marked(&shape, w, at + 40 * parts));
			weir_count_advance(&shape, w, at + 40 * parts);
			assert_false(weir_count_marked(&shape, w, at + 40 * parts));
		}
}

UNIT_MAIN("count_leak", T(test_charges), T(test_reserve), T(test_most), T(test_sum), T(test_join),
	  T(test_marks))
