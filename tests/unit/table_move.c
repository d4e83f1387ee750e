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
#include "table_twin.h"

#define SOURCES_MAX 96
#define WINDOW 24

struct moved_source {
	struct weir_source source;
	u32 hash;
	struct twin_wheel wheel, next_wheel;
	struct twin_history history;	/* in the table's unit */
	struct twin_history since;	/* the last change */
	u64 dropped;
	bool was_idle;			/* ... when copied: it may lose them */
};

static struct {
	struct chance chance;
	struct weir_table *table, *next;
	u64 budget, next_budget;
	u64 budget_most, window_least;
	u64 tick;
	bool exact, same_unit, gives_back, no_sweep;
	unsigned int sources, done, reslotted;
	struct moved_source source[SOURCES_MAX];
	u64 run, admitted, refused, pressed, moves;
} m;

static u64 test_clock(void)
{
	return m.tick;
}

static u64 window_of(const struct weir_table *table)
{
	return (u64)table->spec.slots * table->spec.slot_ticks;
}

static bool is_copied(const struct moved_source *s)
{
	return m.next && (s->hash & m.table->mask) < m.done;
}

static struct weir_cost random_cost(void)
{
	u64 most = m.table->spec.bytes ? m.budget / 16 : m.budget;
	u32 packets = 1 + chance_below(&m.chance, most / 3 + 1);

	return (struct weir_cost) {
		.packets = packets,
		.bytes = 16 * packets,
	};
}

static void note_admitted(struct moved_source *s, u64 tick, u64 cost)
{
	bool lenient = m.table->spec.lenient;
	u64 most;

	m.admitted++;
	twin_note(&s->history, tick, cost);
	twin_note(&s->since, tick, cost);
	most = twin_most_since(&s->since, window_of(m.table), tick);
	check(most <= m.budget * (lenient ? 2 : 1), "run %llu: %llu of %llu since a change", m.run,
	      most, m.budget);
	most = twin_most_since(&s->history, m.window_least, tick);
	/* A lenient wheel forgets at the slots' ends, and slots have changed. */
	check(!m.same_unit ||
	      most <= m.budget_most * (lenient ? 2 + m.reslotted : 1),
	      "run %llu: %llu of %llu", m.run, most, m.budget_most);
}

static void give_back(struct moved_source *s, u64 tick, struct weir_cost cost)
{
	weir_table_uncharge(m.table, &s->source, s->hash, tick, cost);
	twin_take_back(&s->history, tick, weir_table_cost(m.table, cost));
	twin_take_back(&s->since, tick, weir_table_cost(m.table, cost));
	twin_uncharge(&s->wheel, m.table->shape.ring,
		      weir_table_slot(m.table, tick),
		      weir_table_cost(m.table, cost));
	if (is_copied(s))
		twin_uncharge(&s->next_wheel, m.next->shape.ring,
			      weir_table_slot(m.next, tick),
			      weir_table_cost(m.next, cost));
}

/* Suffix sums beyond what the width holds are cut. */
static void twin_cut(struct twin_wheel *w, const struct weir_table *table)
{
	u64 room = table->budget_max;
	unsigned int age;

	for (age = 0; age <= WEIR_SLOTS_MAX; age++) {
		w->count[age] = min(w->count[age], room);
		room -= w->count[age];
	}
}

static void foretell(struct moved_source *s, u64 tick, struct weir_cost cost,
		     unsigned int result)
{
	u64 slot = weir_table_slot(m.table, tick);
	u64 of = weir_table_cost(m.table, cost);

	check(!(result & (WEIR_EVICTED | WEIR_FLOORED)), "run %llu", m.run);
	twin_turn(&s->wheel, m.table->shape.ring, slot);
	check((twin_sum(&s->wheel) + of > m.budget) == !!result,
	      "run %llu: %u at %llu + %llu of %llu", m.run, result,
	      twin_sum(&s->wheel), of, m.budget);
	if (result)
		return;
	s->wheel.count[0] += of;
	if (!is_copied(s))
		return;
	/* Other old buckets may have brought it further. */
	twin_turn(&s->next_wheel, m.next->shape.ring,
		  weir_bucket(m.next, s->hash & m.next->mask)->slot);
	s->next_wheel.count[0] += weir_table_cost(m.next, cost);
	twin_cut(&s->next_wheel, m.next);
}

static void charge(struct moved_source *s)
{
	struct weir_cost cost = random_cost();
	struct weir_visit visit = { };
	u64 tick = m.tick;
	unsigned int result, early;

	if (chance_one_in(&m.chance, 8))
		tick -= min(tick, chance_below(&m.chance, WINDOW / 2));
	twin_wander(&m.chance);
	local_bh_disable();
	rcu_read_lock();
	early = twin_recall(m.table, &s->source, m.tick, cost, m.budget,
			    &visit) ?:
		twin_refuse(m.table, &s->source, s->hash, m.tick, cost,
			    m.budget, &visit);
	result = twin_charge(m.table, &s->source, s->hash,
				   early ? &m.tick : &tick, cost, m.budget,
				   &visit);
	tick = early ? m.tick : tick;
	check(!early || result & WEIR_REFUSED, "run %llu: %u then %u", m.run,
	      early, result);
	check(!(result & WEIR_AGAIN), "run %llu: nothing is live", m.run);
	if (m.exact)
		foretell(s, tick, cost, result & ~WEIR_FIRST);
	m.pressed += !!(result & (WEIR_EVICTED | WEIR_FLOORED));
	s->dropped += (!!early + !!(result & WEIR_REFUSED)) * twin_packets(cost);
	if (result & WEIR_REFUSED) {
		m.refused++;
	} else {
		note_admitted(s, tick, weir_table_cost(m.table, cost));
		if (m.gives_back && chance_one_in(&m.chance, 8))
			give_back(s, tick, cost);
	}
	rcu_read_unlock();
	local_bh_enable();
}

static void traffic(unsigned int packets)
{
	u64 often = m.sources / 4 + 1;

	while (packets--) {
		if (chance_one_in(&m.chance, 3))
			m.tick += chance_below(&m.chance, 3);
		if (chance_one_in(&m.chance, 400))
			m.tick += chance_below(&m.chance, 2 * WINDOW);
		charge(&m.source[chance_below(&m.chance,
				chance_one_in(&m.chance, 2) ? often :
				m.sources)]);
	}
}

/* The twin of a wheel that was copied at this tick. */
static void convert(struct moved_source *s)
{
	struct weir_bucket *bucket = weir_bucket(m.table,
						 s->hash & m.table->mask);
	u64 tick = max(m.tick, bucket->slot * m.table->spec.slot_ticks), sum;

	twin_turn(&s->wheel, m.table->shape.ring,
		  weir_table_slot(m.table, tick));
	s->was_idle |= !twin_sum(&s->wheel);
	s->next_wheel = s->wheel;
	if (!m.same_unit ||
	    m.table->spec.slot_ticks != m.next->spec.slot_ticks ||
	    m.table->shape.ring != m.next->shape.ring) {
		sum = twin_sum(&s->wheel);
		if (!m.same_unit && sum)
			sum = sum >= m.budget ? m.next_budget :
			      mul_u64_u64_div_u64(sum, m.next_budget, m.budget) + 1;
		s->next_wheel = (struct twin_wheel) {
			.at = weir_bucket(m.next, s->hash & m.next->mask)->slot,
			.count[0] = sum,
		};
	}
	twin_cut(&s->next_wheel, m.next);
}

/* What a table knows of a source is at least what it was admitted. */
static void check_bound(struct weir_table *table, struct moved_source *s)
{
	struct weir_bucket *bucket = weir_bucket(table, s->hash & table->mask);
	u64 slot = max(bucket->slot, weir_table_slot(table, m.tick));
	union weir_wheel_copy copy = { };
	u64 bound = 0, sent = 0;
	struct weir_way *way;
	unsigned int age, i = s->history.len;

	if (table->spec.lenient || m.table->spec.lenient)
		return;
	/*
	 * A full narrow count cannot tell what is given back. The larger
	 * budget holds nonetheless, see note_admitted().
	 */
	if (m.gives_back && table->budget_max < m.table->budget_max)
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
			if (s->history.event[i - 1].tick + m.window_least <
			    m.tick)
				break;
			sent += s->history.event[--i].cost;
		}
		check(bound >= min(sent, table->budget_max),
		      "run %llu: %s knows %llu of %llu, age %u", m.run,
		      way ? "way" : "floor", bound, sent, age);
	}
}

static void between_buckets(void)
{
	unsigned int i;

	for (i = 0; i < m.sources; i++)
		if ((m.source[i].hash & m.table->mask) == m.done)
			convert(&m.source[i]);
	m.done++;
	traffic(chance_below(&m.chance, 20));
	for (i = 0; m.same_unit && i < m.sources; i++)
		if (is_copied(&m.source[i]))
			check_bound(m.next, &m.source[i]);
}

static struct weir_table *random_table(u64 *budget, const struct weir_table *was)
{
	static const u8 slots[] = { 1, 2, 3, 4, 6, 8, 12, 24 };
	static const u64 budgets[] = { 1, 5, 40, 300, 70000, 5000000000 };
	struct weir_table_spec spec = {
		.slots = slots[chance_below(&m.chance, ARRAY_SIZE(slots))],
		.sources = 64 << chance_below(&m.chance, 5),
		.bytes = chance_one_in(&m.chance, 3),
		.lenient = was ? was->spec.lenient :
			   m.exact && chance_one_in(&m.chance, 8),
		.prefix = was ? was->spec.prefix : (struct weir_prefix) {
			32, chance_one_in(&m.chance, 2) ? 64 : 128
		},
	};
	struct weir_table *table;

	spec.slot_ticks = WINDOW / spec.slots;
	if (was && chance_one_in(&m.chance, 2)) {
		spec.slots = was->spec.slots;
		spec.slot_ticks = was->spec.slot_ticks;
	}
	if (chance_one_in(&m.chance, 4))
		spec.slot_ticks += chance_below(&m.chance, 2);
	if (was && !chance_one_in(&m.chance, 4))
		spec.bytes = was->spec.bytes;
	*budget = budgets[chance_below(&m.chance, ARRAY_SIZE(budgets))];
	if (!spec.bytes)
		*budget = min(*budget, (u64)U32_MAX);
	else
		*budget *= 16;
	if (was && chance_one_in(&m.chance, 2) &&
	    spec.bytes == was->spec.bytes)
		*budget = m.budget;
	spec.budget = *budget;
	if (chance_one_in(&m.chance, 4))
		spec.budget *= 2;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	if (!m.exact)
		twin_shrink(table, min(table->mask + 1,
				       1u << chance_below(&m.chance, 4)),
			    1 + chance_below(&m.chance, 4));
	return table;
}

/* Refusals follow their source, those that waited, too. */
static void check_dropped(struct weir_table *table)
{
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;
	struct moved_source *s;

	for (s = m.source; s < m.source + m.sources; s++) {
		weir_table_peek(table, &s->source, s->hash, m.tick, m.budget,
				&state, slot);
		check(s->was_idle || state.dropped == s->dropped, "run %llu: %llu for %llu",
		      m.run, state.dropped, s->dropped);
	}
}

/* Who holds the old table is sent to the new one, and nothing is remembered. */
static void come_late(struct weir_table *old, struct moved_source *s)
{
	struct weir_cost cost = { .packets = 1, .bytes = 1 };
	struct weir_recent was;
	struct weir_visit visit = { };
	u64 tick = m.tick;

	if (twin_recall(old, &s->source, tick, cost, m.budget, &visit)) {
		s->dropped += twin_packets(cost);
		return;
	}
	was = *visit.recent;
	check(twin_charge(old, &s->source, s->hash, &tick, cost, m.budget,
			  &visit) == WEIR_AGAIN, "run %llu", m.run);
	assert_memory_equal(&was, visit.recent, sizeof(was));
}

static void go_live(void)
{
	struct weir_table *old = m.table;
	struct moved_source *s;
	unsigned int i;

	local_bh_disable();
	rcu_read_lock();
	weir_table_live(m.next);
	for (i = 0; i < m.sources; i++) {
		s = &m.source[i];
		come_late(old, s);
		s->wheel = s->next_wheel;
		twin_forget(&s->since);
		if (!m.same_unit)
			twin_forget(&s->history);
	}
	rcu_read_unlock();
	local_bh_enable();
	m.budget_most = m.same_unit ? max(m.budget_most, m.next_budget) :
			m.next_budget;
	m.window_least = min(m.window_least, window_of(m.next));
	if (!m.same_unit)
		m.window_least = window_of(m.next);
	m.reslotted += m.table->spec.slot_ticks != m.next->spec.slot_ticks ||
		       m.table->shape.ring != m.next->shape.ring;
	m.table = m.next;
	m.budget = m.next_budget;
	m.next = NULL;
	m.same_unit = true;
	weir_table_settle(old, m.table);
	weir_table_put(old);
	if (m.exact && m.no_sweep)
		check_dropped(m.table);
}

static void move(void)
{
	m.next = random_table(&m.next_budget, m.table);
	m.same_unit = m.next->spec.bytes == m.table->spec.bytes;
	m.done = 0;
	m.moves++;
	shim_resched = between_buckets;
	weir_table_move(m.table, m.next, m.budget, m.next_budget, &twin_key,
			test_clock);
	shim_resched = NULL;
	check(m.done == m.table->mask + 1, "run %llu: %u buckets", m.run,
	      m.done);
	traffic(50);
	go_live();
}

/* After T and a slot of silence a whole burst passes. */
static void silence(void)
{
	struct moved_source *s = &m.source[0];
	u64 cost = m.budget, tick;

	m.tick += window_of(m.table) + m.table->spec.slot_ticks;
	tick = m.tick;
	if (!m.table->spec.bytes)
		assert_true(cost <= U32_MAX);
	local_bh_disable();
	rcu_read_lock();
	check(!twin_charge(m.table, &s->source, s->hash, &tick,
				 (struct weir_cost) { cost, cost }, m.budget,
				 NULL),
	      "run %llu: no burst", m.run);
	rcu_read_unlock();
	local_bh_enable();
}

static void one_run(u64 run)
{
	unsigned int i, moves;

	m.chance = chance_of(run);
	m.run = run;
	m.exact = chance_one_in(&m.chance, 2);
	m.gives_back = chance_one_in(&m.chance, 2);
	m.same_unit = true;
	m.reslotted = 0;
	m.tick = chance_below(&m.chance, BIT_ULL(40));
	/* Right behind a sweep, whatever the slots: the next one is far. */
	m.no_sweep = chance_one_in(&m.chance, 2);
	if (m.no_sweep)
		m.tick = ((1 + m.tick % 8) * 26771144400 << WEIR_SWEEP_SHIFT) +
			 WINDOW;
	m.table = random_table(&m.budget, NULL);
	m.budget_most = m.budget;
	m.window_least = window_of(m.table);
	m.sources = m.exact ? 1 + chance_below(&m.chance, 40) : SOURCES_MAX;
	memset(m.source, 0, sizeof(m.source));
	for (i = 0; i < m.sources; i++) {
		struct moved_source *s = &m.source[i];

		s->source = twin_source(i, m.table->spec.prefix);
		s->hash = weir_source_hash(&s->source, m.table->spec.prefix,
					   &twin_key);
	}
	traffic(200);
	for (moves = 1 + chance_below(&m.chance, 4); moves; moves--) {
		move();
		traffic(200);
	}
	silence();
	for (i = 0; i < m.sources; i++) {
		twin_forget(&m.source[i].history);
		twin_forget(&m.source[i].since);
	}
	weir_table_put(m.table);
}

static void test_move(void **state)
{
	struct unit_runs runs = unit_runs(1000);
	u64 run;

	(void)state;
	for (run = runs.first; run < runs.end; run++)
		one_run(run);
	print_message("# %llu moves: %llu admitted, %llu refused, %llu under pressure\n",
		      m.moves, m.admitted, m.refused, m.pressed);
	assert_int_equal(shim_allocations, 0);
	assert_true(m.admitted && m.refused && m.pressed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_move),
	};

	return cmocka_run_group_tests_name("table_move", tests, NULL, NULL);
}
