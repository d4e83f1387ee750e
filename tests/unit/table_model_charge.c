// SPDX-License-Identifier: GPL-2.0-or-later
/* What the model is charged, given back and refused, beside its table. */
#include "table_model.h"

static struct weir_cost cost_of(struct model *m, u64 cost)
{
	if (m->table->spec.bytes)
		return (struct weir_cost) { .packets = ~0u, .bytes = cost };
	return (struct weir_cost) { .packets = cost, .bytes = ~0ull };
}

static u64 window(struct model *m)
{
	return (u64)m->table->spec.slots * m->table->spec.slot_ticks;
}

/* A wheel does not learn of it. */
static void refused_early(struct model *m, struct model_source *s, u64 cost)
{
	if (s->way != NOWAY)
		s->dropped += twin_packets(cost_of(m, cost));
	m->first = false;
}

bool model_try_refuse(struct model *m, struct model_source *s, u64 cost,
		      bool must)
{
	u64 slot = m->tick / m->table->spec.slot_ticks;
	unsigned int result, foretold;

	result = twin_recall(m->table, &s->source, m->tick, cost_of(m, cost),
			     m->budget, &s->visit) ?:
		 twin_refuse(m->table, &s->source, s->hash, m->tick,
			     cost_of(m, cost), m->budget, &s->visit);
	check(result || !must, "run %llu: full, and not refused", m->run);
	if (!result)
		return false;
	/* Behind the bucket's time it was true at its own, and ahead of it? */
	foretold = s->way == NOWAY ? WEIR_REFUSED | WEIR_FLOORED : WEIR_REFUSED;
	if (slot >= bucket_of(m, s)->slot || must) {
		struct twin_wheel w = s->way != NOWAY ? s->wheel :
				      bucket_of(m, s)->floor;

		twin_turn(&w, m->table->shape.ring, slot);
		check(twin_sum(&w) + cost > m->budget, "run %llu: %llu of %llu",
		      m->run, twin_sum(&w), m->budget);
	}
	check(result == foretold, "run %llu: %u for %u", m->run, result,
	      foretold);
	refused_early(m, s, cost);
	return true;
}

static void admitted(struct model *m, struct model_source *s, u64 tick,
		     u64 cost)
{
	u64 most;

	m->admitted++;
	s->wheel.count[0] += cost;
	bucket_of(m, s)->all.count[0] += cost;
	bucket_of(m, s)->since_idle += cost;
	twin_note(&s->history, tick, cost);
	most = twin_most_since(&s->history, window(m), tick);
	/* Intervals that end now: by the budget that is in force now. */
	if (!m->table->spec.lenient)
		check(most <= m->budget, "run %llu: %llu admitted of %llu",
		      m->run, most, m->budget);
}

static void refused(struct model *m, struct model_source *s, u64 cost,
		    unsigned int result)
{
	m->refused++;
	m->floored += !!(result & WEIR_FLOORED);
	if (s->way != NOWAY) {
		s->dropped += twin_packets(cost_of(m, cost));
		s->has_refused = true;
		s->refused = bucket_of(m, s)->slot;
	}
	if (s->way != NOWAY ? twin_sum(&s->wheel) :
			      twin_sum(&bucket_of(m, s)->floor))
		while (chance_one_in(&m->chance, 4))
			model_try_refuse(m, s, cost, true);
}

void model_give_back(struct model *m, struct model_held *held)
{
	struct model_source *s = held->source;
	u64 slot = held->tick / m->table->spec.slot_ticks;

	if (!s)
		return;
	weir_table_uncharge(m->table, &s->source, s->hash, held->tick,
			    cost_of(m, held->cost));
	if (s->way != NOWAY)
		twin_uncharge(&s->wheel, m->table->shape.ring, slot, held->cost);
	twin_take_back(&s->history, held->tick, held->cost);
	held->source = NULL;
	model_check(m, s);
}

static void hold(struct model *m, struct model_source *s, u64 tick, u64 cost)
{
	struct model_held *held;

	if (!chance_one_in(&m->chance, 6))
		return;
	held = &m->held[chance_below(&m->chance, ARRAY_SIZE(m->held))];
	model_give_back(m, held);
	*held = (struct model_held) { s, tick, cost };
	if (chance_one_in(&m->chance, 2))
		model_give_back(m, held);
}

void model_let_go(struct model *m, struct model_source *s)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(m->held); i++)
		if (m->held[i].source == s)
			m->held[i].source = NULL;
	twin_forget(&s->history);
}

/* Without the lock, as a packet begins: true if that is its end. */
static bool charge_early(struct model *m, struct model_source *s, u64 cost,
			 struct weir_visit *visit)
{
	struct weir_cost of = cost_of(m, cost);

	if (twin_recall(m->table, &s->source, m->tick, of, m->budget, visit))
		check(model_foretell(m, s, cost) & WEIR_REFUSED &&
		      s->way != NOWAY, "run %llu: recalled", m->run);
	/* As a packet does where it was not known to have room. */
	else if (!chance_one_in(&m->chance, 2) ||
		 !twin_refuse(m->table, &s->source, s->hash, m->tick, of,
			      m->budget, visit))
		return false;
	m->refused++;
	refused_early(m, s, cost);
	return true;
}

void model_charge(struct model *m, struct model_source *s, u64 cost)
{
	struct model_bucket *bucket = bucket_of(m, s);
	u64 slot = m->tick / m->table->spec.slot_ticks, tick = m->tick, pending;
	unsigned int result, foretold;
	struct weir_visit visit = { };

	switch (chance_below(&m->chance, 3)) {
	case 0:
		visit = s->visit;
		visit.recalled = false;
		visit.recent = NULL;
		break;
	case 1:
		if (charge_early(m, s, cost, &visit))
			return;
		break;
	}

	model_turn(m, bucket, real_bucket(m, s), slot);
	if (model_idle(m, bucket))
		bucket->since_idle = 0;
	foretold = model_foretell(m, s, cost);
	local_bh_disable(); /* a reader that gave up early ends here */
	local_bh_enable();
	pending = weir_recent_pending(m->table, &s->source);
	result = twin_charge(m->table, &s->source, s->hash, &tick,
			     cost_of(m, cost), m->budget, &visit);
	if (!m->first) {
		result &= ~WEIR_FIRST;
		foretold &= ~WEIR_FIRST;
	}
	check(result == foretold, "run %llu: %u for %u", m->run, result,
	      foretold);
	check(tick == (slot < bucket->slot ?
		       bucket->slot * m->table->spec.slot_ticks : m->tick),
	      "run %llu: counted at %llu", m->run, tick);
	if (result & WEIR_REFUSED) {
		refused(m, s, cost, result);
	} else {
		if (s->way == NOWAY)
			model_take(m, s, result & WEIR_EVICTED, pending);
		m->evicted += !!(result & WEIR_EVICTED);
		admitted(m, s, tick, cost);
		hold(m, s, tick, cost);
	}
	model_check(m, s);
}
