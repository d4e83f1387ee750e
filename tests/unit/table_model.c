// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table against its twin: every charge, refusal, flag and count of random
 * runs over tables of a few ways, foretold by a model that knows no bits.
 *
 * Which of several idle ways is given away is the table's business: the model
 * looks, and checks that it was one that could go.
 */
#include <linux/jiffies.h>

#include "table_model.h"

static void pass_time(struct model *m)
{
	struct weir_table_spec *spec = &m->table->spec;
	u64 slot = spec->slot_ticks;
	unsigned int i;

	switch (chance_below(&m->chance, 400)) {
	case 0 ... 99:
		m->tick += 1 + chance_below(&m->chance, slot);
		break;
	case 100 ... 129:
		m->tick += slot * chance_below(&m->chance, 3);
		break;
	case 130 ... 139:
		m->tick -= min(m->tick, chance_below(&m->chance, 3 * slot));
		break;
	case 140 ... 145:
		m->tick += slot * chance_below(&m->chance, 2 * spec->slots + 2);
		break;
	case 146:
		/* No packet takes so long. */
		for (i = 0; i < ARRAY_SIZE(m->held); i++)
			model_give_back(m, &m->held[i]);
		m->tick += slot * (BIT(chance_below(&m->chance, 18)) -
				   chance_below(&m->chance, 2));
		break;
	}
}

static void step(struct model *m)
{
	u64 often = m->sources / 8 + 1, cost;
	struct model_source *s;

	pass_time(m);
	s = &m->source[chance_below(&m->chance, chance_one_in(&m->chance, 2) ?
				    often : m->sources)];
	cost = chance_one_in(&m->chance, 3) ?
	       1 + chance_below(&m->chance, m->budget + m->budget / 8 + 1) :
	       1 + chance_below(&m->chance, m->budget / 4 + 1);
	if (!m->table->spec.bytes)
		cost = min(cost, (u64)U32_MAX);
	switch (chance_below(&m->chance, 200)) {
	case 0:
		model_forget(m, s);
		break;
	case 1:
		if (chance_one_in(&m->chance, 8))
			model_clear(m, s->hash & m->table->mask);
		else if (chance_one_in(&m->chance, 8))
			m->budget = 1 + chance_below(&m->chance,
						     m->table->spec.budget);
		else if (chance_one_in(&m->chance, 4))
			m->budget = m->table->spec.budget;
		break;
	case 2 ... 5:
		model_walk(m, s->hash & m->table->mask);
		break;
	case 6 ... 20:
		model_peek(m, s);
		break;
	case 21 ... 40:
		model_turn(m, bucket_of(m, s), real_bucket(m, s), 0);
		model_try_refuse(m, s, cost, false);
		break;
	default:
		model_charge(m, s, cost);
	}
}

static void random_spec(struct chance *c, struct weir_table_spec *spec)
{
	static const struct weir_prefix prefix[] = {
		{ 32, 64 }, { 32, 128 }, { 24, 48 }, { 0, 128 },
	};
	static const u64 budget[] = {
		1, 3, 10, 100, U16_MAX, U16_MAX + 1ull, U32_MAX,
	};

	*spec = (struct weir_table_spec) {
		.budget = budget[chance_below(c, ARRAY_SIZE(budget))],
		.slot_ticks = chance_one_in(c, 8) ?	/* 30 days of one slot */
			      2592000000 : 1 + chance_below(c, 5),
		.sources = 64,
		.slots = 1 + chance_below(c, chance_one_in(c, 4) ? 64 : 8),
		.lenient = chance_one_in(c, 4),
		.bytes = chance_one_in(c, 3),
		.prefix = prefix[chance_below(c, ARRAY_SIZE(prefix))],
	};
	if (spec->bytes && chance_one_in(c, 2))
		spec->budget = chance_one_in(c, 2) ? BIT_ULL(56) :
			       U32_MAX + 1ull;
}

static void model_init(struct model *m, u64 run)
{
	struct weir_table_spec spec;
	unsigned int i;

	memset(m, 0, sizeof(*m));
	m->chance = chance_of(run);
	m->run = run;
	random_spec(&m->chance, &spec);
	m->table = weir_table_alloc(&spec);
	assert_false(IS_ERR(m->table));
	if (chance_one_in(&m->chance, 4))
		twin_shrink(m->table, 2, m->table->ways);
	else
		twin_shrink(m->table, 1 + chance_below(&m->chance, 2),
			    1 + chance_below(&m->chance, 12));
	m->budget = spec.budget;
	m->first = chance_one_in(&m->chance, 2);
	m->sources = m->table->ways * (1 + chance_below(&m->chance, 5));
	m->source = calloc(m->sources, sizeof(*m->source));
	assert_non_null(m->source);
	for (i = 0; i < ARRAY_SIZE(m->bucket); i++)
		memset(m->bucket[i].holder, 0xff, sizeof(m->bucket[i].holder));
	for (i = 0; i < m->sources; i++) {
		m->source[i].way = NOWAY;
		m->source[i].source = twin_source(i, spec.prefix);
		m->source[i].hash = weir_source_hash(&m->source[i].source,
						     spec.prefix, &twin_key);
		/* Equal tags are rare: make them. */
		if (chance_one_in(&m->chance, 2))
			m->source[i].hash &= 0x03ffffff;
	}
	m->tick = chance_one_in(&m->chance, 2) ? 0 :
		  chance_below(&m->chance, BIT_ULL(50));
}

static void model_exit(struct model *m)
{
	unsigned int i;

	for (i = 0; i < m->sources; i++)
		twin_forget(&m->source[i].history);
	free(m->source);
	weir_table_put(m->table);
}

static void test_model(void **state)
{
	u64 admitted = 0, refused = 0, floored = 0, evicted = 0, run, i;
	struct unit_runs runs = unit_runs(600);
	static struct model m;

	(void)state;
	for (run = runs.first; run < runs.end; run++) {
		model_init(&m, run);
		for (i = 0; i < 2500; i++) {
			twin_wander(&m.chance);
			local_bh_disable();
			rcu_read_lock();
			step(&m);
			rcu_read_unlock();
			local_bh_enable();
		}
		admitted += m.admitted;
		refused += m.refused;
		floored += m.floored;
		evicted += m.evicted;
		model_exit(&m);
	}
	print_message("# %llu runs: %llu admitted, %llu refused, %llu by floors, %llu evicted\n",
		      runs.end - runs.first, admitted, refused, floored, evicted);
	assert_int_equal(shim_allocations, 0);
	assert_true(admitted && refused && floored && evicted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests_name("table_model", tests, NULL, NULL);
}
