// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The count in C against the operations that tests/proof/wheel.py proves things about, on functions
 * from ages to sums, here arrays S[0..reach]: every reach and width, totals and slots about to
 * wrap, sums at their bounds and random. Ring entries beyond the reach are arbitrary, memory behind
 * the ring is not touched. Also tested: whether there is room, refusal marks, and sizes.
 */
#include "count/count.h"
#include "unit.h"
#include "count_chance.h"

typedef u64 sums[RING_MAX];

/* The operations of wheel.py, for all ages below R */
static void charge(sums S, unsigned int R, u64 cost)
{
	unsigned int a;

	for (a = 0; a < R; a++)
		S[a] += cost;
}

static void turn(sums S, unsigned int R, u64 passed)
{
	unsigned int a;

	for (a = R; a--;)
		S[a] = a < passed ? 0 : S[a - passed];
}

static void uncharge(sums S, unsigned int R, unsigned int age, u64 cost)
{
	unsigned int a;

	for (a = age; a < R; a++)
		S[a] -= cost;
}

static void join(sums S, unsigned int R, const sums T)
{
	unsigned int a;

	for (a = 0; a < R; a++)
		S[a] = max(S[a], T[a]);
}

static bool has_room(const sums S, unsigned int R, u64 budget, u64 cost)
{
	return S[R - 1] <= budget && cost <= budget - S[R - 1];
}

static bool holds(const sums S, unsigned int age, u64 cost)
{
	return S[age] - (age ? S[age - 1] : 0) >= cost;
}

static u64 edge(struct chance *c, u64 max)
{
	switch (chance_below(c, 6)) {
	case 0:
		return 0;
	case 1:
		return max;
	case 2:
		return min(max, 1ull);
	case 3:
		return max - min(max, 1ull);
	}
	return max == U64_MAX ? chance(c) : chance_below(c, max + 1);
}

/* Random sums, growing with age up to the budget */
static void random_sums(struct chance *c, sums S, unsigned int R, u64 budget)
{
	unsigned int a;

	S[R - 1] = edge(c, budget);
	for (a = R - 1; a--;)
		S[a] = chance_one_in(c, 3) ? edge(c, S[a + 1]) : S[a + 1];
}

/* Make the count with the sums S in slot @at */
static void count_of(struct chance *c, struct weir_shape shape,
		     union room *room, u32 at, const sums S)
{
	u64 most = weir_width_max(shape.width), total;
	struct weir_count *w = &room->count;
	unsigned int i;

	total = chance_one_in(c, 3) ? S[edge(c, shape.reach)] : edge(c, most);
	for (i = 0; i < ARRAY_SIZE(room->bytes); i++)
		room->bytes[i] = chance(c);
	w->at = at;
	weir_count_unmark(&shape, w);
	weir_count_store(&shape, w, 0, total);
	for (i = 0; i <= shape.reach; i++)
		weir_count_store(&shape, w, 1 + ((at - i) & shape.mask), total - S[i]);
}

static void check_sums(u64 run, const char *name, struct weir_shape shape,
		       const union room *room, u32 at, const sums S)
{
	const struct weir_count *w = &room->count;
	unsigned int a;

	check(w->at == at, "run %llu: %s: in slot %u for %u", run, name, w->at, at);
	for (a = 0; a <= shape.reach; a++)
		check(weir_ring_since(&shape, w, at - a) == S[a],
		      "run %llu: %s: reach %u, width %u, age %u: %llu for %llu",
		      run, name, shape.reach, shape.width, a,
		      weir_ring_since(&shape, w, at - a), S[a]);
}

static void check_charge(struct chance *c, u64 run, struct weir_shape shape, union room *room,
			 sums S, u64 budget)
{
	unsigned int R = shape.reach + 1;
	u32 at = room->count.at;
	u64 cost, asked = edge(c, budget);
	unsigned int wait, later;
	bool room_for;

	cost = chance_one_in(c, 2) ? budget - S[R - 1] + chance_below(c, 2) : edge(c, U64_MAX);
	room_for = has_room(S, R, asked, cost);
	if (cost <= asked) {
		wait = weir_count_wait(&shape, &room->count, at, cost, asked);
		check(wait <= R && (wait == R || S[R - 1 - wait] <= asked - cost) &&
		      (!wait || S[R - wait] > asked - cost),
		      "run %llu: %llu of %llu after %u slots", run, cost, asked, wait);
		for (later = 0; later <= R + 1; later++)
			check(weir_count_full(&shape, &room->count, at + later, cost, asked) ==
			      (later < wait), "run %llu: full %u slots on", run, later);
	}
	check(count_charge(shape, &room->count, cost, asked) == room_for,
	      "run %llu: %llu + %llu of %llu", run, S[R - 1], cost, asked);
	if (room_for)
		charge(S, R, cost);
	check_sums(run, "charge", shape, room, at, S);
}

static void check_turn(struct chance *c, u64 run, struct weir_shape shape, union room *room, sums S)
{
	u32 at = room->count.at, passed = edge(c, shape.reach + 2), a;

	if (chance_one_in(c, 8))
		passed = edge(c, BIT(31) - 1);
	for (a = 0; a <= shape.reach + 2u; a++)
		check(weir_count_sum(&shape, &room->count, at + a) ==
		      (a > shape.reach ? 0 : S[shape.reach - a]),
		      "run %llu: sum %u slots on", run, a);
	/* A late clock changes nothing. */
	a = edge(c, 1000);
	check(weir_count_sum(&shape, &room->count, at - a) == S[shape.reach],
	      "run %llu: sum %u slots before", run, a);
	weir_count_advance(&shape, &room->count, at - a);
	check_sums(run, "turn back", shape, room, at, S);
	weir_count_advance(&shape, &room->count, at + passed);
	turn(S, shape.reach + 1, passed);
	check_sums(run, "turn", shape, room, at + passed, S);
}

static void check_uncharge(struct chance *c, u64 run,
			   struct weir_shape shape, union room *room, sums S)
{
	s32 age = edge(c, shape.reach + 2) - chance_one_in(c, 8);
	u32 at = room->count.at;
	u64 cost = edge(c, U64_MAX);
	bool done = false;

	if (age >= 0 && age <= shape.reach) {
		if (chance_one_in(c, 2))
			cost = S[age] - (age ? S[age - 1] : 0) + chance_below(c, 3) - 1;
		done = holds(S, age, cost);
	}
	check(weir_count_undo(&shape, &room->count, at - age, cost) == done,
	      "run %llu: reach %u, %llu of age %d", run, shape.reach, cost, age);
	if (done)
		uncharge(S, shape.reach + 1, age, cost);
	check_sums(run, "uncharge", shape, room, at, S);
}

static void check_join(struct chance *c, u64 run, struct weir_shape shape,
		       union room *room, sums S, u64 budget)
{
	unsigned int R = shape.reach + 1;
	bool marked = chance_one_in(c, 2);
	u32 at = room->count.at;
	union room other;
	sums T, was;

	random_sums(c, T, R, budget);
	count_of(c, shape, &other, at, T);
	memcpy(was, S, sizeof(was));
	join(S, R, T);
	/* A mark stays in its count; the other count's is cleared. */
	other.count.refused = at;
	if (marked)
		room->count.refused = at;
	weir_count_join(&shape, &room->count, &other.count);
	check(weir_count_marked(&shape, &room->count, at) == marked &&
	      !weir_count_marked(&shape, &other.count, at), "run %llu: marks", run);
	check_sums(run, "join", shape, room, at, S);
	check_sums(run, "swap", shape, &other, at, was);
}

static void one_state(u64 run, struct weir_shape shape)
{
	struct chance c = chance_of(run);
	u64 budget = edge(&c, weir_width_max(shape.width));
	u32 at = chance_one_in(&c, 2) ? chance_below(&c, 200) - 100 : chance(&c);
	size_t size = shape.size;
	union room room, was;
	unsigned int op;
	sums S, before;

	random_sums(&c, S, shape.reach + 1, budget);
	count_of(&c, shape, &was, at, S);
	check_sums(run, "start", shape, &was, at, S);
	memcpy(before, S, sizeof(before));
	for (op = 0; op < 4; op++) {
		room = was;
		memcpy(S, before, sizeof(S));
		if (op == 0)
			check_charge(&c, run, shape, &room, S, budget);
		else if (op == 1)
			check_turn(&c, run, shape, &room, S);
		else if (op == 2)
			check_uncharge(&c, run, shape, &room, S);
		else
			check_join(&c, run, shape, &room, S, budget);
		assert_memory_equal((u8 *)&room + size, (u8 *)&was + size, sizeof(room) - size);
	}
	weir_count_init(&shape, &room.count, at);
	memset(S, 0, sizeof(S));
	check_sums(run, "reset", shape, &room, at, S);
}

static void test_operations(void **state)
{
	struct weir_shape shape;
	u64 run = 0, i, runs = unit_rounds(2000);
	unsigned int slots, width;

	for (slots = 1; slots <= 65; slots++)
	for (width = 2; width <= 8; width *= 2) {
		/* reach 0 to 64 */
		shape = weir_ring_shape(slots, true, width);
		assert_int_equal(shape.reach, slots - 1);
		for (i = 0; i < runs; i++)
			one_state(run++, shape);
	}
}

/*
 * A refusal mark neither expires early nor reappears, whatever the clock does. A
 * refusal does not turn a full count, so marks may be up to the reach ahead of it.
 */
static void test_marks(void **state)
{
	unsigned int slots, late, ahead, gap, passed, most;
	struct weir_shape shape;
	union room room;
	struct weir_count *w = &room.count;

	for (slots = 1, shape = weir_ring_shape(slots, true, 2); slots <= 65;
	     shape = weir_ring_shape(++slots, true, 2))
	for (ahead = 0; ahead <= shape.reach; ahead += max(shape.reach / 2, 1))
	for (gap = 0; gap < 600; gap++) {
		most = ahead + shape.reach + 1;
		weir_count_init(&shape, w, -90);
		for (late = 0; late <= 30; late++)
			assert_false(weir_count_marked(&shape, w, -90u - late));
		assert_false(weir_count_marked(&shape, w, -90u + gap));
		w->refused = -90 + ahead;
		for (late = 0; late <= 30; late++)
			assert_true(weir_count_marked(&shape, w, -90u + ahead - late));
		if (gap + 30 < ahead)
			continue;
		assert_int_equal(weir_count_marked(&shape, w, -90u + gap), gap <= most);
		weir_count_advance(&shape, w, -90u + gap);
		for (passed = 0; passed < 300; passed++)
			assert_int_equal(weir_count_marked(&shape, w, w->at + passed),
					 gap + passed <= most);
	}
}

/* Sizes and widths as documented */
static void test_shapes(void **state)
{
	assert_int_equal(weir_width_of(1), 2);
	assert_int_equal(weir_width_of(U16_MAX), 2);
	assert_int_equal(weir_width_of(U16_MAX + 1ull), 4);
	assert_int_equal(weir_width_of(U32_MAX), 4);
	assert_int_equal(weir_width_of(U32_MAX + 1ull), 8);
	assert_int_equal(weir_width_of(BIT_ULL(56)), 8);
	assert_true(weir_width_max(2) == U16_MAX);
	assert_true(weir_width_max(4) == U32_MAX);
	assert_true(weir_width_max(8) == U64_MAX);
	assert_int_equal(weir_ring_shape(15, false, 2).size, 40);
	assert_int_equal(weir_ring_shape(16, true, 4).size, 76);
	assert_int_equal(weir_ring_shape(64, false, 8).size, 1040);
	assert_int_equal(weir_ring_shape(1, true, 2).mask, 0);
	assert_int_equal(weir_ring_shape(16, false, 2).mask, 31);
	assert_int_equal(sizeof(union room), 1040);
}

UNIT_MAIN("count_proof", T(test_operations), T(test_marks), T(test_shapes))
