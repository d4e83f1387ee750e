// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The wheel, exhaustively: every shape of up to 4 slots, every budget up to
 * 4, every cost up to 3, and all schedules of 4 arrivals (5 where there is one
 * slot), each 0 to n + 2 slots after the last, by halves of a slot, or on a CPU
 * whose clock is late by a slot and a half. Slots and totals wrap on the way.
 * The twin is the list of what was admitted.
 */
#include "wheel.h"

#include "unit.h"

#define SLOT_TICKS 2
#define LATE 3
#define DEPTH_MAX 8

struct arrival {
	u64 tick;
	u64 cost;
};

static struct {
	struct weir_wheel_shape shape;
	unsigned int slots;
	bool lenient;
	u64 budget;
	struct arrival admitted[DEPTH_MAX];
	unsigned int depth, len;
	u64 refused;	/* slot of the last refusal, 0 if none */
	u64 schedules, refusals;
} t;

/* Admitted in slots from..to */
static u64 in_slots(u64 from, u64 to)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < t.len; i++)
		if (t.admitted[i].tick / SLOT_TICKS >= from &&
		    t.admitted[i].tick / SLOT_TICKS <= to)
			sum += t.admitted[i].cost;
	return sum;
}

/* Admitted within the window that ends at a tick, without its first moment */
static u64 in_window(u64 tick)
{
	u64 window = t.slots * SLOT_TICKS, sum = 0;
	unsigned int i;

	for (i = 0; i < t.len; i++)
		if (t.admitted[i].tick + window > tick)
			sum += t.admitted[i].cost;
	return sum;
}

/* The most within the window that ends with any of the charges. */
static u64 in_any_window(void)
{
	u64 window = t.slots * SLOT_TICKS, sum, most = 0;
	unsigned int i, j;

	for (i = 0; i < t.len; i++) {
		for (j = 0, sum = 0; j < t.len; j++)
			if (t.admitted[j].tick <= t.admitted[i].tick &&
			    t.admitted[j].tick + window >= t.admitted[i].tick)
				sum += t.admitted[j].cost;
		most = max(most, sum);
	}
	return most;
}

static void arrive(struct weir_wheel *w, u64 *now, u64 tick, u64 cost)
{
	u64 slot, sum;
	unsigned int wait;
	bool admitted, full;

	/* A late clock counts in the wheel's slot. */
	full = weir_wheel_full(t.shape, w, tick / SLOT_TICKS, cost, t.budget);
	weir_wheel_turn(t.shape, w, tick / SLOT_TICKS);
	slot = max(*now, tick) / SLOT_TICKS;
	tick = max(tick, slot * SLOT_TICKS);
	*now = max(*now, tick);
	sum = in_slots(slot - t.shape.reach, slot);
	assert_int_equal(weir_wheel_sum(t.shape, w, slot), sum);
	assert_int_equal(weir_wheel_marked(t.shape, w, slot),
			 t.refused && slot - t.refused <= t.shape.reach + 1u);
	wait = cost <= t.budget ? weir_wheel_peek(t.shape, w, cost, t.budget) :
	       ~0u;
	admitted = weir_wheel_charge(t.shape, w, cost, t.budget);
	assert_int_equal(admitted, !wait);
	assert_int_equal(admitted, !full);
	/* Refused only where there is no room, admitted only where there is. */
	assert_int_equal(admitted, sum + cost <= t.budget);
	if (t.lenient && in_window(tick) + cost <= t.budget)
		assert_true(admitted);
	if (!admitted) {
		w->refused = slot;
		t.refused = slot;
		t.refusals++;
		return;
	}
	t.admitted[t.len++] = (struct arrival) { tick, cost };
	assert_true(in_any_window() <= t.budget * (t.lenient ? 2 : 1));
}

/* At the moment that peek names a cost is admitted, and not before. */
static void check_peek(const struct weir_wheel *w, size_t size)
{
	char room[64] __aligned(8);
	struct weir_wheel *copy = (void *)room;
	unsigned int wait, slot;
	u64 cost;

	for (cost = 1; cost <= t.budget; cost++) {
		wait = weir_wheel_peek(t.shape, w, cost, t.budget);
		assert_true(wait <= t.shape.reach + 1u);
		for (slot = 0; slot <= wait; slot++) {
			memcpy(room, w, size);
			weir_wheel_turn(t.shape, copy, w->at + slot);
			assert_int_equal(weir_wheel_charge(t.shape, copy, cost,
							   t.budget),
					 slot == wait);
		}
		/* The same without turning it. */
		for (slot = 0; slot <= t.shape.reach + 2u; slot++)
			assert_int_equal(weir_wheel_full(t.shape, w,
							 w->at + slot, cost,
							 t.budget),
					 slot < wait);
	}
	/* Silence of a window and a slot makes a burst whole. */
	memcpy(room, w, size);
	weir_wheel_turn(t.shape, copy, w->at + t.slots + 1);
	assert_true(weir_wheel_charge(t.shape, copy, t.budget, t.budget));
}

static void all_schedules(const struct weir_wheel *was, u64 tick,
			  unsigned int depth)
{
	char room[64] __aligned(8);
	struct weir_wheel *w = (void *)room;
	size_t size = weir_wheel_size(t.shape);
	unsigned int len = t.len;
	u64 refused = t.refused;
	int later;
	u64 cost;

	t.schedules++;
	if (depth == t.depth)
		return;
	check_peek(was, size);
	for (later = -LATE; later <= (int)(t.slots + 2) * SLOT_TICKS; later++) {
		if (later < 0 && later > -LATE)
			continue;
		for (cost = 1; cost <= 3; cost++) {
			u64 now = tick;

			memcpy(room, was, size);
			arrive(w, &now, tick + later, cost);
			all_schedules(w, now, depth + 1);
			t.len = len;
			t.refused = refused;
		}
	}
}

static void test_all(void **state)
{
	u64 room[8] = { };
	struct weir_wheel *w = (void *)room;
	unsigned int phase, i;

	for (t.slots = 1; t.slots <= 4; t.slots++)
	for (t.lenient = false; ; t.lenient = true) {
		t.shape = weir_wheel_shape(t.slots, t.lenient, 2);
		t.depth = (t.slots > 1 ? 4 : 5) -
			  (unit_number("UNIT_PERCENT", 100) < 100);
		for (t.budget = 1; t.budget <= 4; t.budget++)
		for (phase = 0; phase < SLOT_TICKS; phase++) {
			u64 tick = (BIT_ULL(33) - 3) * SLOT_TICKS + phase;

			t.len = 0;
			weir_wheel_reset(t.shape, w, tick / SLOT_TICKS);
			for (i = 0; i < t.shape.mask + 2u; i++)
				weir_wheel_store(t.shape, w, i, U16_MAX - 1);
			all_schedules(w, tick, 0);
		}
		if (t.lenient)
			break;
	}
	print_message("# %llu schedules, %llu refusals\n", t.schedules,
		      t.refusals);
	assert_true(t.refusals);
}

UNIT_MAIN("wheel_small", T(test_all))
