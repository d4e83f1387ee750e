// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Successors: tables that move to others while charges go on between any two
 * buckets, and move again.
 *
 * Where all sources find ways every answer is foretold by a twin of each
 * wheel. Where they do not, what holds is checked: no source above its budget
 * in any window, and after each move a bound for each source that its history
 * does not exceed.
 */
#include "table_move.h"

struct moved moved;

static u64 test_clock(void)
{
	return moved.tick;
}

/* The twin of a wheel that was copied at this tick. */
static void convert(struct moved_source *s)
{
	struct weir_bucket *bucket = weir_bucket(moved.table,
						 s->hash & moved.table->mask);
	u64 tick = max(moved.tick,
		       bucket->slot * moved.table->spec.slot_ticks), sum;

	twin_turn(&s->wheel, moved.table->shape.ring,
		  weir_table_slot(moved.table, tick));
	s->was_idle |= !twin_sum(&s->wheel);
	s->next_wheel = s->wheel;
	if (!moved.same_unit ||
	    moved.table->spec.slot_ticks != moved.next->spec.slot_ticks ||
	    moved.table->shape.ring != moved.next->shape.ring) {
		sum = twin_sum(&s->wheel);
		if (!moved.same_unit && sum)
			sum = sum >= moved.budget ? moved.next_budget :
			      mul_u64_u64_div_u64(sum, moved.next_budget, moved.budget) + 1;
		s->next_wheel = (struct twin_wheel) {
			.at = weir_bucket(moved.next, s->hash & moved.next->mask)->slot,
			.count[0] = sum,
		};
	}
	twin_cut(&s->next_wheel, moved.next);
}

/* What a table knows of a source is at least what it was admitted. */
static void check_bound(struct weir_table *table, struct moved_source *s)
{
	struct weir_bucket *bucket = weir_bucket(table, s->hash & table->mask);
	u64 slot = max(bucket->slot, weir_table_slot(table, moved.tick));
	union weir_wheel_copy copy = { };
	u64 bound = 0, sent = 0;
	struct weir_way *way;
	unsigned int age, i = s->history.len;

	if (table->spec.lenient || moved.table->spec.lenient)
		return;
	/*
	 * A full narrow count cannot tell what is given back. The larger
	 * budget holds nonetheless, see note_admitted().
	 */
	if (moved.gives_back && table->budget_max < moved.table->budget_max)
		return;
	way = weir_bucket_find(table, bucket, &s->source,
			       weir_hash_tag(s->hash));
	memcpy(&copy, way ? weir_way_wheel(table, way) :
	       weir_bucket_floor(bucket), weir_wheel_size(table->shape));
	weir_wheel_turn(table->shape, &copy.wheel, slot);
	for (age = 0; age < table->shape.ring; age++) {
		bound += weir_wheel_slot(table->shape, &copy.wheel, age);
		while (i && weir_table_slot(table, s->history.event[i - 1].tick)
			    + age >= slot) {
			/* The old table's window may be the shorter one. */
			if (s->history.event[i - 1].tick + moved.window_least <
			    moved.tick)
				break;
			sent += s->history.event[--i].cost;
		}
		check(bound >= min(sent, table->budget_max),
		      "run %llu: %s knows %llu of %llu, age %u", moved.run,
		      way ? "way" : "floor", bound, sent, age);
	}
}

static void between_buckets(void)
{
	unsigned int i;

	for (i = 0; i < moved.sources; i++)
		if ((moved.source[i].hash & moved.table->mask) == moved.done)
			convert(&moved.source[i]);
	moved.done++;
	moved_traffic(chance_below(&moved.chance, 20));
	for (i = 0; moved.same_unit && i < moved.sources; i++)
		if (is_copied(&moved.source[i]))
			check_bound(moved.next, &moved.source[i]);
}

static struct weir_table *random_table(u64 *budget, const struct weir_table *was)
{
	static const u8 slots[] = { 1, 2, 3, 4, 6, 8, 12, 24 };
	static const u64 budgets[] = { 1, 5, 40, 300, 70000, 5000000000 };
	struct weir_table_spec spec = {
		.slots = slots[chance_below(&moved.chance, ARRAY_SIZE(slots))],
		.sources = 64 << chance_below(&moved.chance, 5),
		.bytes = chance_one_in(&moved.chance, 3),
		.lenient = was ? was->spec.lenient :
			   moved.exact && chance_one_in(&moved.chance, 8),
		.prefix = was ? was->spec.prefix : (struct weir_prefix) {
			32, chance_one_in(&moved.chance, 2) ? 64 : 128
		},
	};
	struct weir_table *table;

	spec.slot_ticks = WINDOW / spec.slots;
	if (was && chance_one_in(&moved.chance, 2)) {
		spec.slots = was->spec.slots;
		spec.slot_ticks = was->spec.slot_ticks;
	}
	if (chance_one_in(&moved.chance, 4))
		spec.slot_ticks += chance_below(&moved.chance, 2);
	if (was && !chance_one_in(&moved.chance, 4))
		spec.bytes = was->spec.bytes;
	*budget = budgets[chance_below(&moved.chance, ARRAY_SIZE(budgets))];
	if (!spec.bytes)
		*budget = min(*budget, (u64)U32_MAX);
	else
		*budget *= 16;
	if (was && chance_one_in(&moved.chance, 2) &&
	    spec.bytes == was->spec.bytes)
		*budget = moved.budget;
	spec.budget = *budget;
	if (chance_one_in(&moved.chance, 4))
		spec.budget *= 2;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	if (!moved.exact)
		twin_shrink(table, min(table->mask + 1,
				       1u << chance_below(&moved.chance, 4)),
			    1 + chance_below(&moved.chance, 4));
	return table;
}

/* Refusals follow their source, those that waited, too. */
static void check_dropped(struct weir_table *table)
{
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;
	struct moved_source *s;

	for (s = moved.source; s < moved.source + moved.sources; s++) {
		weir_table_peek(table, &s->source, s->hash, moved.tick,
				moved.budget, &state, slot);
		check(s->was_idle || state.dropped == s->dropped,
		      "run %llu: %llu for %llu", moved.run, state.dropped,
		      s->dropped);
	}
}

/* Who holds the old table is sent to the new one, and nothing is remembered. */
static void come_late(struct weir_table *old, struct moved_source *s)
{
	struct weir_cost cost = { .packets = 1, .bytes = 1 };
	struct weir_recent was;
	struct weir_visit visit = { };
	u64 tick = moved.tick;

	if (twin_recall(old, &s->source, tick, cost, moved.budget, &visit)) {
		s->dropped += twin_packets(cost);
		return;
	}
	was = *visit.recent;
	check(twin_charge(old, &s->source, s->hash, &tick, cost, moved.budget,
			  &visit) == WEIR_AGAIN, "run %llu", moved.run);
	assert_memory_equal(&was, visit.recent, sizeof(was));
}

static void go_live(void)
{
	struct weir_table *old = moved.table;
	struct moved_source *s;
	unsigned int i;

	local_bh_disable();
	rcu_read_lock();
	weir_table_live(moved.next);
	for (i = 0; i < moved.sources; i++) {
		s = &moved.source[i];
		come_late(old, s);
		s->wheel = s->next_wheel;
		twin_forget(&s->since);
		if (!moved.same_unit)
			twin_forget(&s->history);
	}
	rcu_read_unlock();
	local_bh_enable();
	moved.budget_most = moved.same_unit ?
		max(moved.budget_most, moved.next_budget) : moved.next_budget;
	moved.window_least = min(moved.window_least, window_of(moved.next));
	if (!moved.same_unit)
		moved.window_least = window_of(moved.next);
	moved.reslotted +=
		moved.table->spec.slot_ticks != moved.next->spec.slot_ticks ||
		moved.table->shape.ring != moved.next->shape.ring;
	moved.table = moved.next;
	moved.budget = moved.next_budget;
	moved.next = NULL;
	moved.same_unit = true;
	weir_table_settle(old, moved.table);
	weir_table_put(old);
	if (moved.exact && moved.no_sweep)
		check_dropped(moved.table);
}

static void move(void)
{
	moved.next = random_table(&moved.next_budget, moved.table);
	moved.same_unit = moved.next->spec.bytes == moved.table->spec.bytes;
	moved.done = 0;
	moved.moves++;
	shim_resched = between_buckets;
	weir_table_move(moved.table, moved.next, moved.budget,
			moved.next_budget, &twin_key, test_clock);
	shim_resched = NULL;
	check(moved.done == moved.table->mask + 1, "run %llu: %u buckets", moved.run,
	      moved.done);
	moved_traffic(50);
	go_live();
}

/* After T and a slot of silence a whole burst passes. */
static void silence(void)
{
	struct moved_source *s = &moved.source[0];
	u64 cost = moved.budget, tick;

	moved.tick += window_of(moved.table) + moved.table->spec.slot_ticks;
	tick = moved.tick;
	if (!moved.table->spec.bytes)
		assert_true(cost <= U32_MAX);
	local_bh_disable();
	rcu_read_lock();
	check(!twin_charge(moved.table, &s->source, s->hash, &tick,
				 (struct weir_cost) { cost, cost }, moved.budget,
				 NULL),
	      "run %llu: no burst", moved.run);
	rcu_read_unlock();
	local_bh_enable();
}

static void one_run(u64 run)
{
	unsigned int i, moves;

	moved.chance = chance_of(run);
	moved.run = run;
	moved.exact = chance_one_in(&moved.chance, 2);
	moved.gives_back = chance_one_in(&moved.chance, 2);
	moved.same_unit = true;
	moved.reslotted = 0;
	moved.tick = chance_below(&moved.chance, BIT_ULL(40));
	/* Right behind a sweep, whatever the slots: the next one is far. */
	moved.no_sweep = chance_one_in(&moved.chance, 2);
	if (moved.no_sweep)
		moved.tick = ((1 + moved.tick % 8) * 26771144400 << WEIR_SWEEP_SHIFT) +
			 WINDOW;
	moved.table = random_table(&moved.budget, NULL);
	moved.budget_most = moved.budget;
	moved.window_least = window_of(moved.table);
	moved.sources = moved.exact ? 1 + chance_below(&moved.chance, 40) : SOURCES_MAX;
	memset(moved.source, 0, sizeof(moved.source));
	for (i = 0; i < moved.sources; i++) {
		struct moved_source *s = &moved.source[i];

		s->source = twin_source(i, moved.table->spec.prefix);
		s->hash = weir_source_hash(&s->source, moved.table->spec.prefix,
					   &twin_key);
	}
	moved_traffic(200);
	for (moves = 1 + chance_below(&moved.chance, 4); moves; moves--) {
		move();
		moved_traffic(200);
	}
	silence();
	for (i = 0; i < moved.sources; i++) {
		twin_forget(&moved.source[i].history);
		twin_forget(&moved.source[i].since);
	}
	weir_table_put(moved.table);
}

static void test_move(void **state)
{
	struct unit_runs runs = unit_runs(1000);
	u64 run;

	(void)state;
	for (run = runs.first; run < runs.end; run++)
		one_run(run);
	print_message("# %llu moves: %llu admitted, %llu refused, %llu under pressure\n",
		      moved.moves, moved.admitted, moved.refused, moved.pressed);
	assert_int_equal(shim_allocations, 0);
	assert_true(moved.admitted && moved.refused && moved.pressed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_move),
	};

	return cmocka_run_group_tests_name("table_move", tests, NULL, NULL);
}
