// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chains of tables that take over from each other, while packets of the old and the new
 * configuration arrive between any two sets. If all sources find entries, the twin predicts
 * every answer; otherwise no window of a source holds more than the larger budget.
 */
#include "table/saved.h"
#include "table_twin.h"

#define SOURCES_MAX 96
#define WINDOW 24

struct moved_source {
	struct weir_source source;
	u32 hash;
	struct twin_count count;	/* in the table that holds its set */
	u64 dropped, not_first;		/* no refusal before that tick is a first */
	struct twin_history history;	/* in the table's unit */
	struct twin_history since;	/* the same, since the last change */
};

struct config {
	struct weir_table *table;
	u64 budget;
};

static struct moved {
	struct chance chance;
	struct config now, next;	/* next.table is NULL at rest */
	u64 run, tick, budget_most, window_least;
	bool exact, gives_back, same_unit, quiet;
	unsigned int lenient;		/* a window may hold this many budgets */
	unsigned int sources, done;
	bool pulled[1024];		/* which sets of now.table */
	struct moved_source source[SOURCES_MAX];
	struct weir_lookup held;	/* a charge in now.table, to be given back */
	u64 admitted, refused, pressed, again, moves;
} m;

static u64 below(u64 n)
{
	return chance_below(&m.chance, n);
}

static u64 test_clock(void)
{
	return m.tick;
}

static u64 window_of(const struct weir_table *table)
{
	return (u64)table->spec.meter[0].slots * table->spec.meter[0].slot_ticks;
}

/* Ticks after a refusal in which no other is a first: slots round it down. */
static u64 marked_for(const struct weir_table *table)
{
	return (table->spec.meter[0].slots - 1) * table->spec.meter[0].slot_ticks;
}

static bool same_slots(const struct weir_table *a, const struct weir_table *b)
{
	const struct weir_meter_spec *x = a->spec.meter, *y = b->spec.meter;

	return x->slot_ticks == y->slot_ticks && a->meter[0].shape.reach == b->meter[0].shape.reach &&
	       x->bytes == y->bytes;
}

/* Move the twins of an old set's sources when the set is moved. */
static void pulled(u32 hash, u64 tick)
{
	const struct weir_table *old = m.now.table, *next = m.next.table;
	u64 slot = weir_table_slot(old, tick), sum;
	struct moved_source *s;

	if (m.pulled[hash & old->mask])
		return;
	m.pulled[hash & old->mask] = true;
	for (s = m.source; s < m.source + m.sources; s++) {
		if ((s->hash ^ hash) & old->mask)
			continue;
		s->not_first = min(s->not_first, tick + marked_for(next));
		if (same_slots(old, next)) {
			twin_turn(&s->count, next->meter[0].shape.reach, slot);
			continue;
		}
		sum = twin_sum(&s->count, old->meter[0].shape.reach, slot);
		if (old->spec.meter[0].bytes != next->spec.meter[0].bytes)
			sum = weir_budget_part(sum, m.next.budget, m.now.budget);
		s->count = (struct twin_count) { .at = weir_table_slot(next, tick), .count[0] = sum };
	}
}

static struct config *config_of(const struct moved_source *s)
{
	return m.next.table && m.pulled[s->hash & m.now.table->mask] ? &m.next : &m.now;
}

static void check_answer(struct moved_source *s, const struct weir_lookup *lookup, u8 result)
{
	const struct weir_table *table = config_of(s)->table;
	unsigned int reach = table->meter[0].shape.reach;
	u64 slot = weir_table_slot(table, lookup->tick);
	bool room = twin_sum(&s->count, reach, slot) + lookup->amount[0] <= *lookup->budgets;

	check(!(result & (WEIR_EVICTED | WEIR_FLOORED)), "run %llu", m.run);
	check(!(result & WEIR_REFUSED) == room, "run %llu: %u, %llu + %llu of %llu", m.run, result,
	      twin_sum(&s->count, reach, slot), lookup->amount[0], *lookup->budgets);
	check(!(result & WEIR_FIRST) || lookup->tick >= s->not_first, "run %llu: first again", m.run);
	if (room) {
		twin_turn(&s->count, reach, slot);
		s->count.count[0] += lookup->amount[0];
	} else {
		s->dropped++;
		s->not_first = lookup->tick + marked_for(table);
	}
}

static void admitted(struct moved_source *s, const struct config *config,
		     const struct weir_lookup *lookup)
{
	u64 tick = twin_charged_at(config->table, lookup, 0, m.tick), most;

	m.admitted++;
	twin_admit(&s->history, tick, lookup->amount[0]);
	twin_admit(&s->since, tick, lookup->amount[0]);
	most = twin_most(&s->since, window_of(config->table), tick);
	check(m.next.table || most / m.lenient <= config->budget,
	      "run %llu: %llu of %llu since a change", m.run, most, config->budget);
	most = twin_most(&s->history, m.window_least, tick);
	check(!m.same_unit || most / m.lenient <= m.budget_most,
	      "run %llu: %llu of %llu", m.run, most, m.budget_most);
}

/* A charge is not given back if its set has moved since. */
static void give_back(struct weir_lookup *lookup, struct config *config, bool here)
{
	struct moved_source *s = container_of(lookup->source, struct moved_source, source);
	bool given = weir_table_uncharge(config->table, lookup);
	u64 slot;

	check(here || !given, "run %llu: given back where it is not", m.run);
	if (!m.exact || !here)
		return;
	slot = weir_table_slot(config->table, lookup->tick);
	check(given == twin_uncharge(&s->count, config->table->meter[0].shape.reach, slot, lookup->amount[0]),
	      "run %llu: given back or not?", m.run);
}

static void give_back_held(void)
{
	struct weir_lookup held = m.held;

	m.held.source = NULL;
	if (held.source)
		give_back(&held, &m.now, !m.next.table || !m.pulled[held.hash & m.now.table->mask]);
}

static void packet(struct moved_source *s)
{
	struct config *config = m.next.table && below(2) ? &m.next : &m.now;
	struct weir_lookup lookup = { .source = &s->source, .hash = s->hash };
	u64 tick = m.tick;
	bool again;
	u8 result;

	if (!m.exact && !below(8))
		tick -= min(tick, below(2 * WINDOW));
	do {
		lookup.tick = tick;
		lookup.budgets = &config->budget;
		lookup.amount[0] = 1 + below(config->budget / 3 + 1);
		lookup.amount[1] = lookup.amount[0];
		if (config == &m.next)
			pulled(s->hash, m.tick);
		again = config == &m.now && config_of(s) == &m.next;
		result = twin_packet(config->table, &lookup);
		check(!(result & WEIR_AGAIN) == !again, "run %llu: %u", m.run, result);
		m.again += again;
		config = again ? &m.next : config;
	} while (again);
	m.pressed += !!(result & (WEIR_EVICTED | WEIR_FLOORED));
	m.refused += !!(result & WEIR_REFUSED);
	if (m.exact)
		check_answer(s, &lookup, result);
	if (!(result & WEIR_CHARGED))
		return;
	if (m.gives_back && !below(8))
		give_back(&lookup, config, true);
	else if (m.gives_back && !m.held.source && config == &m.now)
		m.held = lookup;
	else
		admitted(s, config, &lookup);
}

static void traffic(unsigned int packets)
{
	while (packets--) {
		if (!below(3))
			m.tick += below(3);
		if (!below(100))
			m.tick += below(2 * WINDOW);
		twin_wander(&m.chance);
		twin_enter();
		packet(&m.source[below(below(2) ? m.sources / 4 + 1 : m.sources)]);
		if (!below(16))
			give_back_held();
		twin_leave();
	}
}

static void between_sets(void)
{
	if (m.done <= m.now.table->mask)
		pulled(m.done, m.tick);
	m.done++;
	traffic(m.quiet ? 0 : below(20));
}

static struct config random_config(const struct config *was)
{
	static const u8 slots[] = { 1, 2, 3, 4, 6, 8, 12, 24 };
	static const u64 budgets[] = { 1, 5, 40, 300, 70000, 5000000000 };
	const struct weir_meter_spec *old = was ? was->table->spec.meter : NULL;
	struct weir_table_spec spec = {
		.meter[0] = {
			.slots = slots[below(ARRAY_SIZE(slots))],
			.bytes = old ? old->bytes ^ !below(6) : !below(3),
			.lenient = !below(8),
		},
		.sources = m.exact ? 512 << below(3) : 1 << below(6),
		.prefix = was ? was->table->spec.prefix :
			  (struct weir_prefix) { 32, below(2) ? 64 : 128 },
	};
	struct weir_meter_spec *meter = &spec.meter[0];
	struct config config;

	meter->slot_ticks = WINDOW / meter->slots;
	if (old && below(2)) {
		meter->slots = old->slots;
		meter->slot_ticks = old->slot_ticks;
		meter->lenient = old->lenient;
	}
	meter->slot_ticks += !below(4) && below(2);
	config.budget = budgets[below(ARRAY_SIZE(budgets))];
	if (old && below(2) && meter->bytes == old->bytes)
		config.budget = was->budget;
	/* As in config/make.c */
	meter->budget = config.budget;
	if (old)
		meter->budget = max(meter->budget, meter->bytes == old->bytes ? old->budget :
				    weir_budget_part(old->budget, config.budget, was->budget));
	meter->base = below(meter->slot_ticks);
	if (was)
		weir_slots_follow(&spec, was->table);
	config.table = weir_table_alloc(&spec, m.tick);
	assert_false(IS_ERR(config.table));
	if (!m.exact && config.table->entries > 6 && below(2))
		twin_shrink(config.table, config.table->mask + 1, 2 + 2 * below(2));
	/* A lenient count forgets at slot boundaries, which a move may shift. */
	if (m.lenient > 1)
		m.lenient++;
	else if (meter->lenient)
		m.lenient = 2 + !!old;
	return config;
}

/* A table counts for a source at least what the source was admitted. */
static void check_bound(struct moved_source *s)
{
	u64 now = weir_table_slot(m.now.table, m.tick), bound = 0, sent = 0;
	const struct twin_event *event;
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;
	unsigned int age, i = s->history.len;

	rcu_read_lock();
	weir_table_peek(m.now.table, &s->source, s->hash, m.tick, &m.now.budget, NULL, &state, slot);
	rcu_read_unlock();
	check(!m.exact || (state.dropped == s->dropped && state.count[0] ==
	      twin_sum(&s->count, m.now.table->meter[0].shape.reach, now)),
	      "run %llu: %llu dropped for %llu", m.run, state.dropped, s->dropped);
	for (age = 0; m.same_unit && age <= m.now.table->meter[0].shape.reach; age++) {
		bound += slot[WEIR_SLOTS_MAX - age];
		for (; i; i--) {
			event = &s->history.event[i - 1];
			if (event->tick + m.window_least <= m.tick ||
			    weir_table_slot(m.now.table, event->tick) + age < now)
				break;
			sent += event->cost;
		}
		check(m.lenient > 1 || bound >= sent,
		      "run %llu: %s knows %llu of %llu, age %u", m.run,
		      state.floor ? "floor" : "entry", bound, sent, age);
	}
}

static void move(void)
{
	struct weir_table *old = m.now.table;
	unsigned int i;
	u64 evicted;

	m.next = random_config(&m.now);
	assert_true(old->mask < ARRAY_SIZE(m.pulled));
	memset(m.pulled, 0, sizeof(m.pulled));
	m.done = 0;
	m.moves++;
	if (m.next.table->spec.meter[0].bytes != old->spec.meter[0].bytes) {
		m.same_unit = false;
		for (i = 0; i < m.sources; i++)
			twin_forget(&m.source[i].history);
	}
	m.budget_most = max(m.budget_most, m.next.budget);
	m.window_least = min(m.window_least, window_of(m.next.table));
	shim_clock = test_clock;
	weir_table_succeed(m.next.table, old, &m.next.budget, &m.now.budget, &twin_key);
	traffic(m.quiet ? 0 : below(50));
	shim_resched = between_sets;
	evicted = weir_table_drain(m.next.table);
	shim_resched = NULL;
	check(m.done == max(old->mask, m.next.table->mask) + 1, "run %llu: %u sets", m.run, m.done);
	check(!m.exact || !evicted, "run %llu: %llu lost their entries", m.run, evicted);
	traffic(below(50));
	twin_enter();
	give_back_held();
	twin_leave();
	if (!m.same_unit) {
		for (i = 0; i < m.sources; i++)
			twin_forget(&m.source[i].history);
		m.budget_most = m.next.budget;
		m.window_least = window_of(m.next.table);
		m.same_unit = true;
	}
	m.now = m.next;
	m.next.table = NULL;
	synchronize_rcu();
	weir_table_free(old);
	for (i = 0; i < m.sources; i++) {
		twin_forget(&m.source[i].since);
		check_bound(&m.source[i]);
	}
}

/* After a window and a slot of silence a full burst passes. */
static void silence(void)
{
	struct weir_lookup lookup = {
		.source = &m.source[0].source, .hash = m.source[0].hash,
		.budgets = &m.now.budget, .amount = { m.now.budget, m.now.budget },
	};

	m.tick += window_of(m.now.table) + m.now.table->spec.meter[0].slot_ticks;
	lookup.tick = m.tick;
	twin_enter();
	check(twin_packet(m.now.table, &lookup) & WEIR_CHARGED, "run %llu: no burst", m.run);
	twin_leave();
}

static void one_run(u64 run)
{
	struct moved_source *s;
	unsigned int moves;

	m.chance = chance_of(run);
	m.run = run;
	m.exact = below(2);
	m.gives_back = below(2);
	m.quiet = !below(4);
	m.same_unit = true;
	m.lenient = 1;
	m.tick = below(BIT_ULL(40));
	m.now = random_config(NULL);
	m.budget_most = m.now.budget;
	m.window_least = window_of(m.now.table);
	m.sources = m.exact ? 1 + below(40) : SOURCES_MAX;
	memset(m.source, 0, sizeof(m.source));
	for (s = m.source; s < m.source + m.sources; s++) {
		s->source = twin_source(s - m.source, m.now.table->spec.prefix);
		s->hash = weir_source_hash(&s->source, m.now.table->spec.prefix, &twin_key);
	}
	traffic(200);
	for (moves = 1 + below(4); moves; moves--) {
		move();
		traffic(200);
	}
	m.held.source = NULL;
	silence();
	for (s = m.source; s < m.source + m.sources; s++) {
		twin_forget(&s->history);
		twin_forget(&s->since);
	}
	weir_table_free(m.now.table);
}

static void test_move(void **state)
{
	struct unit_runs runs = unit_runs(1000);
	u64 run;

	for (run = runs.first; run < runs.end; run++)
		one_run(run);
	print_message("# %llu moves: %llu admitted, %llu refused, %llu under pressure, %llu again\n",
		      m.moves, m.admitted, m.refused, m.pressed, m.again);
	assert_int_equal(shim_allocations, 0);
	assert_true(m.admitted && m.refused && m.pressed && m.again);
}

UNIT_MAIN("table_move", T(test_move))
