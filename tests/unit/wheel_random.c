// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The wheel in millions of random arrivals: all shapes, budgets at the limits
 * of each width, time that stands, passes, jumps, wraps and goes backwards;
 * and the algebra of join, add and uncharge, by suffix sums.
 */
#include "wheel_join.h"

#include "unit.h"
#include "wheel_chance.h"

struct twin {
	u64 at;
	u64 count[RING_MAX];	/* by age */
};

static const u64 budgets[] = {
	1, 2, 7, 100, 1000, U16_MAX - 1, U16_MAX, U16_MAX + 1ull,
	U32_MAX - 1, U32_MAX, U32_MAX + 1ull, BIT_ULL(56),
};

static void twin_turn(struct twin *t, unsigned int ring, u64 slot)
{
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

	check(w->at == (u16)t->at, "run %llu: at", run);
	for (age = 0; age < shape.ring; age++)
		check(weir_wheel_slot(shape, w, age) == t->count[age],
		      "run %llu: age %u: %llu for %llu", run, age,
		      weir_wheel_slot(shape, w, age), t->count[age]);
	check(weir_wheel_sum(shape, w) == suffix(t, shape.ring),
	      "run %llu: sum", run);
}

static void one_wheel(u64 run)
{
	struct chance c = chance_of(run);
	u64 budget = budgets[chance_below(&c, ARRAY_SIZE(budgets))];
	struct weir_wheel_shape shape = random_shape(&c, budget);
	u64 slot = chance_below(&c, BIT_ULL(40)), earlier, cost, sum, last = 0;
	struct twin t = { .at = slot };
	union room room, before;
	struct weir_wheel *w = &room.wheel;
	bool shut, admitted, first, known = false;
	unsigned int i, wait;

	weir_wheel_reset(shape, w, slot);
	for (i = 0; i < 2000; i++) {
		cost = chance_one_in(&c, 4) ? 1 :
		       chance_below(&c, chance_one_in(&c, 4) ? budget + 2 :
				    budget / shape.ring + 2);
		slot += random_step(&c, shape.ring);
		earlier = slot - (chance_one_in(&c, 8) ?
				  chance_below(&c, min(slot, 100ull) + 1) : 0);
		shut = weir_wheel_shut(shape, w, slot, cost, budget);
		weir_wheel_turn(shape, w, earlier);
		twin_turn(&t, shape.ring, earlier);
		check(weir_wheel_idle(shape, w, t.at) ==
		      !suffix(&t, shape.ring), "run %llu", run);
		sum = suffix(&t, shape.ring);
		before = room;
		wait = cost <= budget ? weir_wheel_peek(shape, w, cost, budget) :
		       ~0u;
		assert_memory_equal(&before, &room, weir_wheel_size(shape));
		admitted = weir_wheel_charge(shape, w, cost, budget);
		check(admitted == (sum + cost <= budget) && admitted == !wait,
		      "run %llu: %llu + %llu of %llu", run, sum, cost, budget);
		if (shut && earlier == slot)
			check(!admitted, "run %llu: was shut", run);
		if (admitted) {
			t.count[0] += cost;
			if (chance_one_in(&c, 6)) {
				unsigned int age = chance_below(&c, 3);
				u64 of = age < shape.ring ? t.count[age] : 0;

				weir_wheel_uncharge(shape, w, t.at - age, cost);
				if (age < shape.ring)
					t.count[age] -= min(cost, of);
			}
		} else {
			assert_memory_equal(&before, &room,
					    weir_wheel_size(shape));
			first = weir_wheel_refuse(shape, w);
			check(first == (!known || t.at - last > shape.ring),
			      "run %llu: first %d", run, first);
			known = true;
			last = t.at;
			if (sum)
				check(weir_wheel_shut(shape, w, t.at, cost,
						      budget),
				      "run %llu: full but open", run);
		}
		check_equal(run, shape, w, &t);
		if (chance_one_in(&c, 64)) {
			before = room;
			weir_wheel_turn(shape, &before.wheel, t.at + shape.ring);
			check(weir_wheel_idle(shape, w, t.at + shape.ring) &&
			      weir_wheel_charge(shape, &before.wheel, budget,
						budget),
			      "run %llu: no burst after silence", run);
		}
	}
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
			 u64 budget, u64 slot, struct weir_wheel *w,
			 struct twin *t)
{
	unsigned int n = chance_below(c, 2 * shape.ring + 2);
	u64 cost;

	*t = (struct twin) { .at = slot - n };
	weir_wheel_reset(shape, w, slot - n);
	do {
		cost = chance_below(c, budget / 2 + 2);
		weir_wheel_turn(shape, w, slot - n);
		twin_turn(t, shape.ring, slot - n);
		if (weir_wheel_charge(shape, w, cost, budget))
			t->count[0] += cost;
		else if (chance_one_in(c, 2))
			weir_wheel_refuse(shape, w);
	} while (n--);
	check_equal(0, shape, w, t);
}

static void check_suffixes(u64 run, struct weir_wheel_shape shape,
			   const struct weir_wheel *w, const u64 *expected)
{
	unsigned int j;
	u64 sum = 0;

	for (j = 0; j < shape.ring; j++) {
		sum += weir_wheel_slot(shape, w, j);
		check(sum == expected[j], "run %llu: suffix %u: %llu for %llu",
		      run, j + 1, sum, expected[j]);
	}
	check(weir_wheel_sum(shape, w) == sum, "run %llu: sum", run);
}

static union room join(struct weir_wheel_shape shape, const union room *w,
		       const union room *v)
{
	union room joined = *w, left = *v;

	weir_wheel_trade(shape, &joined.wheel, &left.wheel);
	return joined;
}

/* The least upper bound, whichever is joined into which, and when. */
static void test_join(void **state)
{
	u64 run, runs = unit_rounds(30000), expected[RING_MAX], budget, slot;
	union room a, b, c, ab, ba, later, before;
	struct weir_wheel_shape shape;
	struct twin ta, tb, tc;
	struct chance chance;
	unsigned int j;

	(void)state;
	for (run = 0; run < runs; run++) {
		chance = chance_of(run);
		budget = budgets[chance_below(&chance, ARRAY_SIZE(budgets))];
		shape = random_shape(&chance, budget);
		slot = 200 + chance_below(&chance, BIT_ULL(20));
		random_wheel(&chance, shape, budget, slot, &a.wheel, &ta);
		random_wheel(&chance, shape, budget, slot, &b.wheel, &tb);
		random_wheel(&chance, shape, budget, slot, &c.wheel, &tc);
		ab = join(shape, &a, &b);
		ba = join(shape, &b, &a);
		for (j = 0; j < shape.ring; j++)
			expected[j] = max(suffix(&ta, j + 1),
					  suffix(&tb, j + 1));
		check_suffixes(run, shape, &ab.wheel, expected);
		check_suffixes(run, shape, &ba.wheel, expected);
		/* What was there goes to the other. */
		ba = a;
		later = b;
		weir_wheel_trade(shape, &ba.wheel, &later.wheel);
		check_suffixes(run, shape, &ba.wheel, expected);
		check_equal(run, shape, &later.wheel, &ta);
		check(!later.wheel.has_refused, "run %llu: it remembers", run);
		/* What a floor takes in, it leaves itself for. */
		later = a;
		before = b;
		weir_wheel_trade(shape, &later.wheel, &before.wheel);
		check_suffixes(run, shape, &later.wheel, expected);
		check_equal(run, shape, &before.wheel, &ta);
		check(!before.wheel.has_refused, "run %llu: refused", run);
		for (j = 0; j <= shape.ring; j++) {
			union room turned = later;

			weir_wheel_turn(shape, &turned.wheel, slot + j);
			check(!weir_wheel_shut(shape, &later.wheel, slot + j, 1,
					       budget) ||
			      !weir_wheel_room(shape, &turned.wheel, budget),
			      "run %llu: traded, shut %u slots on", run, j);
		}
		/* (a b) c and a (b c) */
		ab = join(shape, &ab, &c);
		b = join(shape, &b, &c);
		a = join(shape, &a, &b);
		for (j = 0; j < shape.ring; j++)
			expected[j] = max(expected[j], suffix(&tc, j + 1));
		check_suffixes(run, shape, &ab.wheel, expected);
		check_suffixes(run, shape, &a.wheel, expected);
		/* Shut only where it stays shut. */
		for (j = 0; j <= shape.ring; j++) {
			later = a;
			weir_wheel_turn(shape, &later.wheel, slot + j);
			check(!weir_wheel_shut(shape, &a.wheel, slot + j, 1,
					       budget) ||
			      !weir_wheel_room(shape, &later.wheel, budget),
			      "run %llu: shut %u slots on", run, j);
		}
		/* It stays a bound as time passes. */
		later = a;
		slot += chance_below(&chance, shape.ring + 1);
		weir_wheel_turn(shape, &later.wheel, slot);
		twin_turn(&tc, shape.ring, slot);
		check(weir_wheel_sum(shape, &later.wheel) >=
		      suffix(&tc, shape.ring), "run %llu: later", run);
	}
}

/* What is added beyond the width leaves every suffix exact or full. */
static void test_add(void **state)
{
	u64 run, runs = unit_rounds(30000), expected[RING_MAX], slot, cost, most;
	struct weir_wheel_shape shape;
	struct chance c;
	unsigned int i, j;
	struct twin t;
	union room a;

	(void)state;
	for (run = 0; run < runs; run++) {
		c = chance_of(run);
		shape = random_shape(&c, 1);
		most = weir_wheel_max(shape.width);
		slot = 200 + chance_below(&c, BIT_ULL(20));
		random_wheel(&c, shape, most - 1, slot, &a.wheel, &t);
		for (j = 0; j < shape.ring; j++)
			expected[j] = suffix(&t, j + 1);
		for (i = 0; i < 4; i++) {
			cost = chance(&c) >> chance_below(&c, 64);
			weir_wheel_add(shape, &a.wheel, cost);
			for (j = 0; j < shape.ring; j++)
				expected[j] = cost > most - expected[j] ? most :
					      expected[j] + cost;
			check_suffixes(run, shape, &a.wheel, expected);
		}
	}
}

/* Sizes and widths as they are told. */
static void test_widths(void **state)
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
	assert_int_equal(weir_wheel_size((struct weir_wheel_shape) { 17, 2 }),
			 44);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrivals),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_widths),
	};

	return cmocka_run_group_tests_name("wheel_random", tests, NULL, NULL);
}
