// SPDX-License-Identifier: GPL-2.0-or-later
/* What is told and forgotten of the model, beside its table. */
#include "table_model.h"

/* Ticks until one more is let through, by the twin. */
static u64 wait_of(struct model *m, struct model_source *s, u64 *count)
{
	struct model_bucket *bucket = bucket_of(m, s);
	unsigned int ring = m->table->shape.ring, wait;
	struct twin_wheel w = s->way != NOWAY ? s->wheel : bucket->floor;
	u64 slot = max(bucket->slot, m->tick / m->table->spec.slot_ticks);
	u64 when;

	twin_turn(&w, ring, slot);
	*count = twin_sum(&w);
	for (wait = 0; twin_sum(&w) + 1 > m->budget; wait++)
		twin_turn(&w, ring, slot + wait + 1);
	when = (slot + wait) * m->table->spec.slot_ticks;
	return wait && when > m->tick ? when - m->tick : 0;
}

/*
 * Where one bucket is cleared all refusals that wait are nobody's, those too that
 * a forgotten source awaits in another one, which would be cleared next.
 */
static u64 told_dropped(const struct model_source *s)
{
	return max_t(s64, s->dropped, 0);
}

void model_peek(struct model *m, struct model_source *s)
{
	const void *behind_lock = &real_bucket(m, s)->lock + 1;
	size_t size = m->table->stride - sizeof(spinlock_t);
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1], count, wait, sum = 0;
	unsigned int i;

	assert_true(size <= sizeof(m->before));
	memcpy(m->before, behind_lock, size);
	weir_table_peek(m->table, &s->source, s->hash, m->tick, m->budget,
			&state, slot);
	assert_memory_equal(m->before, behind_lock, size);
	wait = wait_of(m, s, &count);
	for (i = 0; i <= WEIR_SLOTS_MAX; i++)
		sum += slot[i];
	check(state.count == count && sum == count && state.live == !!count,
	      "run %llu: %llu, %llu for %llu", m->run, state.count, sum, count);
	check(state.wait == wait, "run %llu: wait %llu for %llu", m->run,
	      state.wait, wait);
	check(state.floor == (s->way == NOWAY), "run %llu", m->run);
	if (s->way != NOWAY)
		check(state.dropped == told_dropped(s), "run %llu", m->run);
	assert_memory_equal(&state.source, &s->source, sizeof(s->source));
	/* The moment named is exact. */
	if (wait && m->tick / m->table->spec.slot_ticks >=
		    bucket_of(m, s)->slot && chance_one_in(&m->chance, 4)) {
		m->tick += wait - 1;
		count = m->refused;
		model_charge(m, s, 1);
		check(m->refused == count + 1, "run %llu: early", m->run);
		m->tick++;
		model_charge(m, s, 1);
		check(m->refused == count + 1, "run %llu: late", m->run);
	}
}

void model_forget(struct model *m, struct model_source *s)
{
	bool known = weir_table_forget(m->table, &s->source, s->hash);

	check(known == (s->way != NOWAY), "run %llu", m->run);
	if (!known)
		return;
	s->dropped = 0;
	s->has_refused = false;
	s->wheel = (struct twin_wheel) { .at = bucket_of(m, s)->slot };
	model_let_go(m, s);
	model_check(m, s);
}

void model_clear(struct model *m, u32 index)
{
	struct model_bucket *bucket = &m->bucket[index];
	unsigned int i;

	/* Refusals that wait are forgotten in all buckets. */
	local_bh_disable(); /* a reader that gave up early ends here */
	local_bh_enable();
	for (i = 0; i < m->sources; i++)
		m->source[i].dropped -=
			weir_recent_pending(m->table, &m->source[i].source);
	weir_table_clear(m->table, index);
	for (i = 0; i < m->table->ways; i++)
		if (bucket->holder[i] >= 0)
			model_lose_way(m, bucket, i);
	bucket->floor = (struct twin_wheel) { .at = bucket->slot };
	for (i = 0; i < m->sources; i++)
		if ((m->source[i].hash & m->table->mask) == index)
			model_let_go(m, &m->source[i]);
}

void model_walk(struct model *m, u32 index)
{
	struct model_bucket *bucket = &m->bucket[index];
	struct weir_source_state *state = m->state;
	unsigned int i, j, n, holders = 0;
	u64 count, wait;

	n = weir_table_walk(m->table, index, m->tick, m->budget, state);
	for (i = 0; i < m->table->ways; i++) {
		struct model_source *s = &m->source[bucket->holder[i]];

		if (bucket->holder[i] < 0)
			continue;
		holders++;
		for (j = 0; j < n; j++)
			if (!memcmp(&state[j].source, &s->source,
				    sizeof(s->source)))
				break;
		check(j < n, "run %llu: source missing", m->run);
		wait = wait_of(m, s, &count);
		check(state[j].count == count && state[j].wait == wait &&
		      state[j].dropped == told_dropped(s) && !state[j].floor &&
		      state[j].live == !!count, "run %llu: state", m->run);
		model_check(m, s);
	}
	check(holders == n, "run %llu: %u of %u", m->run, n, holders);
}
