// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The wheel in millions of random arrivals: all shapes, budgets at the limits
 * of each width, totals that wrap, time that stands, passes, jumps, wraps and
 * goes backwards; and the algebra of join, by suffix sums.
 */
#include "wheel.h"

#include "unit.h"
#include "wheel_chance.h"

struct twin {
	u64 at;
	u64 count[RING_MAX];	/* by age */
	u64 refused;		/* slot of the last refusal, where it is marked */
	bool marked;
};

static const u64 budgets[] = {
	1, 2, 7, 100, 1000, U16_MAX - 1, U16_MAX, U16_MAX + 1ull,
	U32_MAX - 1, U32_MAX, U32_MAX + 1ull, BIT_ULL(56), U64_MAX,
};

static bool twin_marked(const struct twin *t, unsigned int ring, u64 slot)
{
	return t->marked && slot <= t->refused + ring;
}

static void twin_turn(struct twin *t, unsigned int ring, u64 slot)
{
	if (slot > t->at)
		t->marked = twin_marked(t, ring, slot);
	for (; t->at < slot; t->at++) {
		if (slot - t->at > ring)
			t->at = slot - ring;
		memmove(t->count + 1, t->count,
			(RING_MAX - 1) * sizeof(*t->count));
		t->count[0] = 0;
		if (ring < RING_MAX)
			t->count[ring] = 0;
	}
}

/* The sum of the newest j slots */
static u64 suffix(const struct twin *t, unsigned int j)
{
	u64 sum = 0;

	while (j--)
		sum += t->count[j];
	return sum;
}

static void check_equal(u64 run, struct weir_wheel_shape shape,
			const struct weir_wheel *w, const struct twin *t)
{
	unsigned int age;

	check(w->at == (u32)t->at, "run %llu: at", run);
	for (age = 0; age <= shape.reach; age++)
		check(weir_wheel_slot(shape, w, age) == t->count[age],
		      "run %llu: age %u: %llu for %llu", run, age,
		      weir_wheel_slot(shape, w, age), t->count[age]);
	for (age = 0; age <= shape.reach + 1u; age++)
		check(weir_wheel_sum(shape, w, t->at + age) ==
		      suffix(t, shape.reach + 1 - age),
		      "run %llu: sum %u slots on", run, age);
}

static void charge(struct chance *c, u64 run, struct weir_wheel_shape shape,
		   struct weir_wheel *w, struct twin *t, u64 slot, u64 budget)
{
	u64 cost = chance_one_in(c, 4) ? 1 :
		   chance_below(c, chance_one_in(c, 4) ?
				min(budget, U64_MAX - 2) + 2 :
				budget / (shape.reach + 1) + 2);
	bool full = weir_wheel_full(shape, w, slot, cost, budget);
	unsigned int ring = shape.reach + 1, wait = 0;
	union room before;
	u64 sum;

	check(weir_wheel_marked(shape, w, slot) == twin_marked(t, ring, slot),
	      "run %llu: marked, by slot %llu", run, slot);
	weir_wheel_turn(shape, w, slot);
	twin_turn(t, ring, slot);
	sum = suffix(t, ring);
	memcpy(&before, w, sizeof(before));
	if (cost <= budget)
		wait = weir_wheel_peek(shape, w, cost, budget);
	check(wait ? suffix(t, ring + 1 - wait) > budget - cost &&
		     suffix(t, ring - wait) <= budget - cost :
		     cost > budget || sum <= budget - cost,
	      "run %llu: wait %u", run, wait);
	assert_memory_equal(&before, w, sizeof(before));
	check(weir_wheel_charge(shape, w, cost, budget) == !full,
	      "run %llu: full %d", run, full);
	check(full == (cost > budget || sum > budget - cost),
	      "run %llu: %llu + %llu of %llu", run, sum, cost, budget);
	if (!full) {
		t->count[0] += cost;
		return;
	}
	assert_memory_equal(&before, w, sizeof(before));
	/* In the wheel's slot, or a late clock's. */
	t->refused = chance_one_in(c, 2) ? t->at : slot;
	t->marked = true;
	w->refused = t->refused;
}

/* What was charged, or more than that, or what has left the window. */
static void give_back(struct chance *c, u64 run, struct weir_wheel_shape shape,
		      struct weir_wheel *w, struct twin *t)
{
	unsigned int age = chance_below(c, min(shape.reach + 2, 4));
	u64 of = age <= shape.reach ? t->count[age] : 0, cost;
	bool known = age <= shape.reach;
	union room before;

	cost = chance_one_in(c, 4) ? of + chance_below(c, 2) :
	       chance_below(c, min(of, U64_MAX - 3) + 3);
	if (chance_one_in(c, 16)) {
		/* A slot that has not come */
		age = -chance_below(c, 3) - 1;
		known = false;
	}
	known = known && cost <= of;
	memcpy(&before, w, sizeof(before));
	check(weir_wheel_uncharge(shape, w, t->at - (s32)age, cost) == known,
	      "run %llu: %llu of %llu, age %d", run, cost, of, (s32)age);
	if (known)
		t->count[age] -= cost;
	else
		assert_memory_equal(&before, w, sizeof(before));
}

static void one_wheel(u64 run)
{
	struct chance c = chance_of(run);
	u64 budget = budgets[chance_below(&c, ARRAY_SIZE(budgets))];
	struct weir_wheel_shape shape = random_shape(&c, budget,
						     chance_one_in(&c, 2));
	size_t size = weir_wheel_size(shape), beyond;
	unsigned int ring = shape.reach + 1, i;
	u64 slot = random_slot(&c), late;
	union room room, before;
	struct twin t = { .at = slot };
	struct weir_wheel *w = &room.wheel;

	memset(&room, 0xa5, sizeof(room));
	weir_wheel_reset(shape, w, slot);
	for (i = 0; i < 2000; i++) {
		if (chance_one_in(&c, 64))
			random_total(&c, shape, w);
		slot += random_step(&c, ring);
		late = chance_one_in(&c, 8) ? chance_below(&c, 31) : 0;
		charge(&c, run, shape, w, &t, slot - late, budget);
		if (chance_one_in(&c, 6))
			give_back(&c, run, shape, w, &t);
		if (chance_one_in(&c, 64)) {
			weir_wheel_unmark(w);
			t.marked = false;
		}
		check_equal(run, shape, w, &t);
		if (chance_one_in(&c, 64)) {
			before = room;
			weir_wheel_turn(shape, &before.wheel, t.at + ring);
			check(weir_wheel_charge(shape, &before.wheel, budget,
						budget),
			      "run %llu: no burst after silence", run);
		}
	}
	for (beyond = size; beyond < sizeof(room); beyond++)
		check(((u8 *)&room)[beyond] == 0xa5, "run %llu: byte %zu of %zu",
		      run, beyond, size);
}

static void test_arrivals(void **state)
{
	u64 run, runs = unit_rounds(1500);

	(void)state;
	for (run = 0; run < runs; run++)
		one_wheel(run);
}

/* A wheel of random counts, in a random place of its ring, and its twin. */
static void random_wheel(struct chance *c, struct weir_wheel_shape shape,
			 u64 budget, u64 slot, union room *room, struct twin *t)
{
	unsigned int n = chance_below(c, 2 * shape.reach + 4);
	struct weir_wheel *w = &room->wheel;
	u64 cost;

	*t = (struct twin) { .at = slot - n };
	memset(room, 0, sizeof(*room));
	weir_wheel_reset(shape, w, slot - n);
	random_total(c, shape, w);
	do {
		cost = chance_below(c, budget / 2 + 2);
		weir_wheel_turn(shape, w, slot - n);
		twin_turn(t, shape.reach + 1, slot - n);
		if (weir_wheel_charge(shape, w, cost, budget))
			t->count[0] += cost;
		else
			w->refused = w->at;
	} while (n--);
	check_equal(0, shape, w, t);
}

/* The least upper bound of twins; suffix sums are what is compared. */
static void twin_join(struct twin *t, const struct twin *v)
{
	u64 sum[RING_MAX];
	unsigned int j;

	for (j = 0; j < RING_MAX; j++)
		sum[j] = max(suffix(t, j + 1), suffix(v, j + 1));
	for (j = 0; j < RING_MAX; j++)
		t->count[j] = sum[j] - (j ? sum[j - 1] : 0);
}

/* The least upper bound, whichever is joined into which, and when. */
static void test_join(void **state)
{
	u64 run, runs = unit_rounds(30000), budget, slot;
	union room a, b, c, ab, ba, was, later;
	struct twin ta, tb, tc, tab, tabc;
	struct weir_wheel_shape shape;
	struct chance chance;
	unsigned int j;
	bool marked;

	(void)state;
	for (run = 0; run < runs; run++) {
		chance = chance_of(run);
		budget = budgets[chance_below(&chance, ARRAY_SIZE(budgets))];
		shape = random_shape(&chance, budget, chance_one_in(&chance, 2));
		slot = random_slot(&chance);
		random_wheel(&chance, shape, budget, slot, &a, &ta);
		random_wheel(&chance, shape, budget, slot, &b, &tb);
		random_wheel(&chance, shape, budget, slot, &c, &tc);
		tab = ta;
		twin_join(&tab, &tb);
		tabc = tab;
		twin_join(&tabc, &tc);
		/* What one was goes to the other; marks stay where they are. */
		ab = a;
		was = b;
		marked = weir_wheel_marked(shape, &a.wheel, slot);
		weir_wheel_join_swap(shape, &ab.wheel, &was.wheel);
		check_equal(run, shape, &ab.wheel, &tab);
		check_equal(run, shape, &was.wheel, &ta);
		check(weir_wheel_marked(shape, &ab.wheel, slot) == marked &&
		      !weir_wheel_marked(shape, &was.wheel, slot),
		      "run %llu: marks", run);
		ba = b;
		was = a;
		weir_wheel_join_swap(shape, &ba.wheel, &was.wheel);
		check_equal(run, shape, &ba.wheel, &tab);
		check_equal(run, shape, &was.wheel, &tb);
		/* (a b) c and b (c a) */
		was = c;
		weir_wheel_join_swap(shape, &ab.wheel, &was.wheel);
		check_equal(run, shape, &ab.wheel, &tabc);
		was = a;
		weir_wheel_join_swap(shape, &c.wheel, &was.wheel);
		was = c;
		weir_wheel_join_swap(shape, &b.wheel, &was.wheel);
		check_equal(run, shape, &b.wheel, &tabc);
		/* It is full when and where one of them was. */
		for (j = 0; j <= shape.reach + 1u; j++)
			check(weir_wheel_full(shape, &ab.wheel, slot + j, 1,
					      budget) ==
			      (suffix(&tabc, shape.reach + 1 - j) == budget),
			      "run %llu: full %u slots on", run, j);
		/* It stays a bound as time passes. */
		later = ab;
		j = chance_below(&chance, shape.reach + 2);
		weir_wheel_turn(shape, &later.wheel, slot + j);
		twin_turn(&tabc, shape.reach + 1, slot + j);
		check_equal(run, shape, &later.wheel, &tabc);
	}
}

/*
 * No refusal is taken for a new one, or forgotten, whatever time does. A refusal
 * turns no wheel that is full: marks may be up to the reach ahead of it.
 */
static void test_marks(void **state)
{
	struct weir_wheel_shape shape = { .mask = 127, .width = 2 };
	unsigned int late, ahead, gap, passed, most;
	union room room;
	struct weir_wheel *w = &room.wheel;

	(void)state;
	for (shape.reach = 0; shape.reach <= 64; shape.reach++)
	for (ahead = 0; ahead <= shape.reach; ahead += max(shape.reach / 2, 1))
	for (gap = 0; gap < 600; gap++) {
		most = ahead + shape.reach + 1;
		weir_wheel_reset(shape, w, -90);
		for (late = 0; late <= 30; late++)
			assert_false(weir_wheel_marked(shape, w, -90u - late));
		assert_false(weir_wheel_marked(shape, w, -90u + gap));
		w->refused = -90 + ahead;
		for (late = 0; late <= 30; late++)
			assert_true(weir_wheel_marked(shape, w,
						      -90u + ahead - late));
		if (gap + 30 < ahead)
			continue;
		assert_int_equal(weir_wheel_marked(shape, w, -90u + gap),
				 gap <= most);
		weir_wheel_turn(shape, w, -90u + gap);
		for (passed = 0; passed < 300; passed++)
			assert_int_equal(weir_wheel_marked(shape, w,
							   w->at + passed),
					 gap + passed <= most);
	}
}

/* Sizes and widths as they are told. */
static void test_shapes(void **state)
{
	(void)state;
	assert_int_equal(weir_wheel_width(1), 2);
	assert_int_equal(weir_wheel_width(U16_MAX), 2);
	assert_int_equal(weir_wheel_width(U16_MAX + 1ull), 4);
	assert_int_equal(weir_wheel_width(U32_MAX), 4);
	assert_int_equal(weir_wheel_width(U32_MAX + 1ull), 8);
	assert_int_equal(weir_wheel_width(BIT_ULL(56)), 8);
	assert_true(weir_wheel_max(2) == U16_MAX);
	assert_true(weir_wheel_max(4) == U32_MAX);
	assert_true(weir_wheel_max(8) == U64_MAX);
	assert_int_equal(weir_wheel_size(weir_wheel_shape(15, false, 2)), 40);
	assert_int_equal(weir_wheel_size(weir_wheel_shape(16, true, 4)), 76);
	assert_int_equal(weir_wheel_size(weir_wheel_shape(64, false, 8)), 1040);
	assert_int_equal(weir_wheel_shape(1, true, 2).mask, 0);
	assert_int_equal(weir_wheel_shape(16, false, 2).mask, 31);
	assert_int_equal(sizeof(union room), 1040);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrivals),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests_name("wheel_random", tests, NULL, NULL);
}
