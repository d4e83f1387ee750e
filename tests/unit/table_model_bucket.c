// SPDX-License-Identifier: GPL-2.0-or-later
/* What a bucket of the model does: turn, give away ways, foretell answers. */
#include "table_model.h"

void model_lose_way(struct model *m, struct model_bucket *bucket,
		    unsigned int way)
{
	m->source[bucket->holder[way]].way = NOWAY;
	bucket->holder[way] = -1;
}

void model_turn(struct model *m, struct model_bucket *bucket,
		struct weir_bucket *real, u64 slot)
{
	bool gap = slot >= bucket->slot + WEIR_SWEEP_SLOTS;
	bool sweep = gap || slot >> WEIR_SWEEP_SHIFT !=
		     bucket->slot >> WEIR_SWEEP_SHIFT;
	unsigned int i;

	if (slot <= bucket->slot)
		return;
	bucket->slot = slot;
	twin_turn(&bucket->floor, m->table->shape.ring, slot);
	twin_turn(&bucket->all, m->table->shape.ring, slot);
	for (i = 0; i < m->table->ways; i++) {
		struct model_source *s = &m->source[bucket->holder[i]];
		struct weir_way *way = weir_bucket_way(m->table, real, i);

		if (bucket->holder[i] < 0)
			continue;
		twin_turn(&s->wheel, m->table->shape.ring, slot);
		if (gap)
			check(!twin_sum(&s->wheel), "run %llu", m->run);
		if (gap || (sweep && weir_wheel_idle(m->table->shape,
					weir_way_wheel(m->table, way), slot)))
			model_lose_way(m, bucket, i);
	}
}

void model_take(struct model *m, struct model_source *s, bool live,
		u64 pending)
{
	struct model_bucket *bucket = bucket_of(m, s);
	struct weir_bucket *real = real_bucket(m, s);
	struct twin_wheel floor = bucket->floor;
	struct weir_source holder;
	unsigned int i, j;
	int old;
	u64 sum;

	for (i = 0; i < m->table->ways; i++) {
		weir_way_source(m->table, weir_bucket_way(m->table, real, i),
				&holder);
		if (!weir_tag_free(real->tag[i]) &&
		    !memcmp(&holder, &s->source, sizeof(holder)))
			break;
	}
	check(i < m->table->ways, "run %llu: no way", m->run);
	old = bucket->holder[i];
	if (old >= 0) {
		sum = twin_sum(&m->source[old].wheel);
		check(!sum == !live, "run %llu: %llu %d", m->run, sum, live);
		for (j = 0; live && j < m->table->ways; j++)
			check(bucket->holder[j] >= 0 && sum <=
			      twin_sum(&m->source[bucket->holder[j]].wheel),
			      "run %llu: not the smallest", m->run);
		if (live && !m->table->spec.lenient)
			twin_join(&bucket->floor, &m->source[old].wheel,
				  m->table->shape.ring);
		model_lose_way(m, bucket, i);
	} else {
		check(!live, "run %llu: a free way", m->run);
	}
	bucket->holder[i] = s - m->source;
	s->way = i;
	s->wheel = m->table->spec.lenient ?
		   (struct twin_wheel) { .at = bucket->slot } : floor;
	s->dropped = pending;
	s->has_refused = false;
}

static bool all_live(struct model *m, struct model_bucket *bucket)
{
	unsigned int i;

	for (i = 0; i < m->table->ways; i++)
		if (bucket->holder[i] < 0 ||
		    !twin_sum(&m->source[bucket->holder[i]].wheel))
			return false;
	return true;
}

bool model_idle(struct model *m, struct model_bucket *bucket)
{
	unsigned int i;

	for (i = 0; i < m->table->ways; i++)
		if (bucket->holder[i] >= 0 &&
		    twin_sum(&m->source[bucket->holder[i]].wheel))
			return false;
	return !twin_sum(&bucket->floor);
}

/*
 * What early refusals can cost: no wheel and no floor holds more than its
 * bucket admitted, slot by slot, and a floor no more than its share of what
 * came since the bucket was idle.
 */
static void check_bound(struct model *m, struct model_bucket *bucket,
			const struct twin_wheel *w)
{
	u64 of_w = 0, of_all = 0;
	unsigned int age;

	for (age = 0; age < m->table->shape.ring; age++) {
		of_w += w->count[age];
		of_all += bucket->all.count[age];
		check(of_w <= of_all, "run %llu: %llu of %llu admitted, age %u",
		      m->run, of_w, of_all, age);
	}
	check(twin_sum(&bucket->floor) <= bucket->since_idle / m->table->ways &&
	      twin_sum(&bucket->floor) <= m->table->spec.budget,
	      "run %llu: a floor of %llu from %llu", m->run,
	      twin_sum(&bucket->floor), bucket->since_idle);
}

unsigned int model_foretell(struct model *m, struct model_source *s, u64 cost)
{
	struct model_bucket *bucket = bucket_of(m, s);
	u64 slot = bucket->slot;

	if (s->way != NOWAY) {
		if (twin_sum(&s->wheel) + cost <= m->budget)
			return 0;
		if (!s->has_refused || slot - s->refused > m->table->shape.ring)
			return WEIR_REFUSED | WEIR_FIRST;
		return WEIR_REFUSED;
	}
	if (m->table->spec.lenient && cost > m->budget)
		return WEIR_REFUSED;
	if (twin_sum(&bucket->floor) + cost > m->budget)
		return WEIR_REFUSED | WEIR_FLOORED;
	return all_live(m, bucket) ? WEIR_EVICTED : 0;
}

void model_check(struct model *m, struct model_source *s)
{
	struct model_bucket *bucket = bucket_of(m, s);
	struct weir_bucket *real = real_bucket(m, s);
	int differs;

	check(real->slot == bucket->slot, "run %llu: slot %llu for %llu",
	      m->run, real->slot, bucket->slot);
	differs = twin_differs(m->table, weir_bucket_floor(real), bucket->floor,
			       bucket->slot);
	check(differs < 0, "run %llu: floor, age %d", m->run, differs);
	check_bound(m, bucket, s->way == NOWAY ? &bucket->floor : &s->wheel);
	if (s->way == NOWAY)
		return;
	check(!weir_tag_free(real->tag[s->way]), "run %llu: way %u is free",
	      m->run, s->way);
	differs = twin_differs(m->table,
			       weir_way_wheel(m->table, real_way(m, s)),
			       s->wheel, bucket->slot);
	check(differs < 0, "run %llu: wheel, age %d", m->run, differs);
	check(real_way(m, s)->dropped +
	      weir_recent_pending(m->table, &s->source) == s->dropped,
	      "run %llu: dropped %llu + %llu for %llu", m->run,
	      real_way(m, s)->dropped,
	      weir_recent_pending(m->table, &s->source), s->dropped);
}
