// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table against its model: every charge, refusal, flag and count of random runs over
 * tables of a few entries.
 */
#include "table_model.h"

static void give_back(struct model_held *held)
{
	struct model_source *s = held->source;
	u64 slot;
	bool given;

	if (!s)
		return;
	slot = weir_table_slot(m.table, held->lookup.tick);
	slot += (u16)(held->lookup.receipt.at[0] - slot);
	given = s->has_entry && held->lookup.receipt.epoch == m.epoch &&
		twin_uncharge(&s->count, m.reach, slot, held->lookup.amount[0]);
	check(weir_table_uncharge(m.table, &held->lookup) == given,
	      "run %llu: given back or not?", m.run);
	m.given += given;
	m.left += !given;
	held->source = NULL;
}

static void forget(struct model_source *s)
{
	check(weir_table_forget(m.table, &s->source, s->hash, m.tick) ==
	      (s->has_entry && (s->dropped || twin_sum(&s->count, m.reach, s->count.at))),
	      "run %llu", m.run);
	if (!s->has_entry)
		return;
	m.epoch++;
	memset(s->count.count, 0, sizeof(s->count.count));
	s->dropped = 0;
	s->observed = false;
	s->marked = false;
	twin_forget(&s->history);
}

static void clear(u32 set)
{
	struct model_set *b = &m.set[set];
	struct model_source *s;

	weir_table_clear(m.table, set);
	m.epoch += 1 + !set;
	for (s = m.source; s < m.source + m.sources; s++)
		if (set_of(s) == b) {
			s->has_entry = false;
			twin_forget(&s->history);
		}
	*b = (struct model_set) { .floor.at = b->floor.at };
}

/* A leap in time after which old slots would seem new, if the table did not age. */
static void leap(void)
{
	u64 slots = BIT(30) - 1 - below(BIT(29)), slot;
	struct model_source *s;
	unsigned int i;

	if (m.tick > BIT_ULL(61) || m.table->spec.meter[0].slot_ticks > 100)
		return;
	for (i = 0; i < HELD; i++)
		give_back(&m.held[i]);
	m.tick += slots * m.table->spec.meter[0].slot_ticks;
	slot = weir_table_slot(m.table, m.tick);
	twin_leave();
	weir_table_age(m.table, m.tick);
	m.epoch++;
	twin_enter();
	for (s = m.source; s < m.source + m.sources; s++)
		if (s->has_entry && slot >= s->count.at + BIT(30))
			s->has_entry = false;
	for (i = 0; i <= m.table->mask; i++)
		twin_turn(&m.set[i].floor, m.reach, slot);
}

static void pass_time(void)
{
	u64 slot = m.table->spec.meter[0].slot_ticks;

	switch (below(400)) {
	case 0 ... 99:
		m.tick += 1 + below(slot);
		break;
	case 100 ... 129:
		m.tick += slot * below(3);
		break;
	case 130 ... 135:
		m.tick += slot * below(2 * m.table->spec.meter[0].slots + 2);
		break;
	case 136:
		leap();
		break;
	}
}

static void step(void)
{
	struct model_source *s;
	u64 cost;

	pass_time();
	s = &m.source[below(below(2) ? m.sources : m.sources / 8 + 1)];
	cost = 1 + below(below(3) ? m.budget / 4 + 1 : m.budget);
	switch (below(200)) {
	case 0:
		forget(s);
		break;
	case 1:
		if (!below(8))
			clear(s->hash & m.table->mask);
		else if (!below(8))
			m.budget = 1 + below(m.table->spec.meter[0].budget);
		m.budget_most = max(m.budget, m.budget_most);
		break;
	case 2 ... 4:
		model_check_walk(s->hash & m.table->mask);
		break;
	case 5 ... 20:
		model_check_peek(s);
		break;
	case 21 ... 50:
		give_back(&m.held[below(HELD)]);
		break;
	default:
		model_packet(s, cost);
	}
}

static struct weir_table_spec random_spec(void)
{
	static const struct weir_prefix prefix[] = {
		{ 32, 64 }, { 32, 128 }, { 24, 48 }, { 0, 128 },
	};
	static const u64 budget[] = {
		1, 3, 10, 100, U16_MAX, U16_MAX + 1ull, U32_MAX, BIT_ULL(56),
	};

	return (struct weir_table_spec) {
		.meter[0] = {
			.budget = budget[below(ARRAY_SIZE(budget))],
			.slot_ticks = below(8) ? 1 + below(5) : 2592000000,
			.slots = 1 + below(below(4) ? 8 : 64),
			.lenient = !below(4),
		},
		.sources = below(2) ? 1 : 64,
		.prefix = prefix[below(ARRAY_SIZE(prefix))],
	};
}

static void begin(u64 run)
{
	struct weir_table_spec spec;
	struct model_source *s;
	unsigned int i;

	memset(m.set, 0, sizeof(m.set));
	memset(m.held, 0, sizeof(m.held));
	m.chance = chance_of(run);
	m.run = run;
	spec = random_spec();
	m.very_late = !below(8);
	/* 32-bit slot numbers wrap. */
	m.tick = below(2) ? below(BIT_ULL(50)) :
		 (BIT_ULL(32) * (1 + below(3)) - 20) * spec.meter[0].slot_ticks;
	spec.meter[0].base = below(2) ? 0 : below(spec.meter[0].slot_ticks);
	m.table = weir_table_alloc(&spec, m.tick);
	assert_false(IS_ERR(m.table));
	twin_shrink(m.table, spec.sources > 1 ? 1 << below(2) : 1,
		    below(4) ? 2 + 2 * below(3) : m.table->entries);
	m.reach = m.table->meter[0].shape.reach;
	m.epoch = 0;
	m.budget = below(2) ? spec.meter[0].budget : 1 + below(spec.meter[0].budget);
	m.budget_most = m.budget;
	m.sources = m.table->entries * (1 + below(4)) * (m.table->mask + 1);
	m.source = calloc(m.sources, sizeof(*m.source));
	assert_non_null(m.source);
	for (i = 0; i <= m.table->mask; i++)
		m.set[i].floor.at = weir_table_slot(m.table, m.tick);
	for (s = m.source; s < m.source + m.sources; s++) {
		s->source = twin_source(s - m.source, spec.prefix);
		s->hash = weir_source_hash(&s->source, spec.prefix, &twin_key);
		/* Equal tags are rare, so force them, and equal homes. */
		if (below(2))
			s->hash &= 0xff00ffff;
		if (!below(4))
			s->hash &= 0x00ffffff;
	}
}

static void end(void)
{
	struct model_source *s;

	for (s = m.source; s < m.source + m.sources; s++)
		twin_forget(&s->history);
	free(m.source);
	weir_table_free(m.table);
}

static void test_model(void **state)
{
	struct unit_runs runs = unit_runs(600);
	u64 run, i;

	for (run = runs.first; run < runs.end; run++) {
		begin(run);
		for (i = 0; i < 2500; i++) {
			twin_wander(&m.chance);
			twin_enter();
			step();
			twin_leave();
		}
		end();
	}
	print_message("# %llu runs: %llu admitted, %llu refused, %llu by floors, %llu evicted, %llu given back, %llu left\n",
		      runs.end - runs.first, m.admitted, m.refused, m.floored,
		      m.evicted, m.given, m.left);
	assert_int_equal(shim_allocations, 0);
	assert_true(m.admitted && m.refused && m.floored && m.evicted &&
		    m.first && m.given && m.left);
}

UNIT_MAIN("table_model", T(test_model))
