// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table against its twin: every charge, refusal, flag and count of random
 * runs over tables of a few ways, foretold by a model that knows no bits.
 *
 * Which of several idle ways is given away is the table's business: the model
 * looks, and checks that it was one that could go.
 */
#include <linux/jiffies.h>

#include "table_twin.h"

#define NOWAY WEIR_WAYS_MAX

struct model_source {
	struct weir_visit visit;
	struct weir_source source;
	u32 hash;
	unsigned int way;	/* in its bucket, or NOWAY */
	struct twin_wheel wheel;
	u64 dropped;
	bool has_refused;
	u64 refused;
	struct twin_history history;
};

struct model_bucket {
	u64 slot;
	struct twin_wheel floor;
	struct twin_wheel all;		/* what it admitted, given back or not */
	u64 since_idle;			/* the same since it held nothing */
	int holder[WEIR_WAYS_MAX];	/* index of a source, or -1 */
};

/* A charge that another limit may still make void. */
struct model_charge {
	struct model_source *source;
	u64 tick, cost;
};

struct model {
	struct weir_table *table;
	struct model_charge held[8];
	struct chance chance;
	u64 budget, tick;
	bool first;	/* WEIR_FIRST can be foretold */
	unsigned int sources;
	struct model_source *source;
	struct model_bucket bucket[8];
	u64 admitted, refused, floored, evicted;
	u64 run;
};

static struct model_bucket *bucket_of(struct model *m, struct model_source *s)
{
	return &m->bucket[s->hash & m->table->mask];
}

static struct weir_bucket *real_bucket(struct model *m, struct model_source *s)
{
	return weir_bucket(m->table, s->hash & m->table->mask);
}

static struct weir_way *real_way(struct model *m, struct model_source *s)
{
	return weir_bucket_way(m->table, real_bucket(m, s), s->way);
}

static u64 window(struct model *m)
{
	return (u64)m->table->spec.slots * m->table->spec.slot_ticks;
}

static void lose_way(struct model *m, struct model_bucket *bucket,
		     unsigned int way)
{
	m->source[bucket->holder[way]].way = NOWAY;
	bucket->holder[way] = -1;
}

/* The bucket comes to a slot: idle ways may be freed, at times they must. */
static void model_turn(struct model *m, struct model_bucket *bucket,
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
			lose_way(m, bucket, i);
	}
}

/*
 * A source got a way: find it, and see that its former holder could go. Refusals
 * that waited before will be counted in it.
 */
static void model_take(struct model *m, struct model_source *s, bool live,
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
		lose_way(m, bucket, i);
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

static bool all_idle(struct model *m, struct model_bucket *bucket)
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

/* What a charge will be answered, with the bucket's slot up to date. */
static unsigned int foretell(struct model *m, struct model_source *s, u64 cost)
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

static struct weir_cost cost_of(struct model *m, u64 cost)
{
	if (m->table->spec.bytes)
		return (struct weir_cost) { .packets = ~0u, .bytes = cost };
	return (struct weir_cost) { .packets = cost, .bytes = ~0ull };
}

static void check_wheels(struct model *m, struct model_source *s)
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

/* A refusal without the lock: only where a charge is refused too. */
static bool try_refuse(struct model *m, struct model_source *s, u64 cost,
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
	if (s->way != NOWAY)
		s->dropped++;
	m->first = false;
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
		s->dropped++;
		s->has_refused = true;
		s->refused = bucket_of(m, s)->slot;
	}
	if (s->way != NOWAY ? twin_sum(&s->wheel) :
			      twin_sum(&bucket_of(m, s)->floor))
		while (chance_one_in(&m->chance, 4))
			try_refuse(m, s, cost, true);
}

/* Give back at once or, where time passes and others come first, later. */
static void give_back(struct model *m, struct model_charge *held)
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
	check_wheels(m, s);
}

static void hold(struct model *m, struct model_source *s, u64 tick, u64 cost)
{
	struct model_charge *held;

	if (!chance_one_in(&m->chance, 6))
		return;
	held = &m->held[chance_below(&m->chance, ARRAY_SIZE(m->held))];
	give_back(m, held);
	*held = (struct model_charge) { s, tick, cost };
	if (chance_one_in(&m->chance, 2))
		give_back(m, held);
}

/* What a source was charged counts no more once it is forgotten. */
static void let_go(struct model *m, struct model_source *s)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(m->held); i++)
		if (m->held[i].source == s)
			m->held[i].source = NULL;
	twin_forget(&s->history);
}

/* Without the lock, on the way to a charge: true if that is needless. */
static bool refuse_first(struct model *m, struct model_source *s, u64 cost,
			 struct weir_visit *visit)
{
	unsigned int result = twin_refuse(m->table, &s->source, s->hash,
					  m->tick, cost_of(m, cost), m->budget,
					  visit);

	if (!result)
		return false;
	if (s->way != NOWAY)
		s->dropped++;
	m->refused++;
	m->first = false;
	return true;
}

/*
 * With what was seen last, however old, with what the CPU recalls, or with
 * nothing. Recalling may refuse at once.
 */
static void charge(struct model *m, struct model_source *s, u64 cost)
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
		if (!twin_recall(m->table, &s->source, m->tick,
				 cost_of(m, cost), m->budget, &visit)) {
			/* As a packet does where it was not known to have room. */
			if (chance_one_in(&m->chance, 2) &&
			    refuse_first(m, s, cost, &visit))
				return;
			break;
		}
		foretold = foretell(m, s, cost);
		check(foretold & WEIR_REFUSED && s->way != NOWAY,
		      "run %llu: recalled", m->run);
		m->refused++;
		s->dropped++;
		m->first = false;
		return;
	}

	model_turn(m, bucket, real_bucket(m, s), slot);
	if (all_idle(m, bucket))
		bucket->since_idle = 0;
	foretold = foretell(m, s, cost);
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
	check_wheels(m, s);
}

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

static void peek(struct model *m, struct model_source *s)
{
	struct weir_bucket *real = real_bucket(m, s);
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1], count, wait, sum = 0;
	char before[32768];
	unsigned int i;

	assert_true(m->table->stride <= sizeof(before));
	memcpy(before, real, m->table->stride);
	/* What a lock leaves behind is the same. */
	weir_table_peek(m->table, &s->source, s->hash, m->tick, m->budget,
			&state, slot);
	assert_memory_equal(before, real, m->table->stride);
	wait = wait_of(m, s, &count);
	for (i = 0; i <= WEIR_SLOTS_MAX; i++)
		sum += slot[i];
	check(state.count == count && sum == count && state.live == !!count,
	      "run %llu: %llu, %llu for %llu", m->run, state.count, sum, count);
	check(state.wait == wait, "run %llu: wait %llu for %llu", m->run,
	      state.wait, wait);
	check(state.floor == (s->way == NOWAY), "run %llu", m->run);
	if (s->way != NOWAY)
		check(state.dropped == s->dropped, "run %llu", m->run);
	assert_memory_equal(&state.source, &s->source, sizeof(s->source));
	/* The moment named is exact. */
	if (wait && m->tick / m->table->spec.slot_ticks >=
		    bucket_of(m, s)->slot && chance_one_in(&m->chance, 4)) {
		m->tick += wait - 1;
		count = m->refused;
		charge(m, s, 1);
		check(m->refused == count + 1, "run %llu: early", m->run);
		m->tick++;
		charge(m, s, 1);
		check(m->refused == count + 1, "run %llu: late", m->run);
	}
}

static void forget(struct model *m, struct model_source *s)
{
	bool known = weir_table_forget(m->table, &s->source, s->hash);

	check(known == (s->way != NOWAY), "run %llu", m->run);
	if (!known)
		return;
	s->dropped = 0;
	s->has_refused = false;
	s->wheel = (struct twin_wheel) { .at = bucket_of(m, s)->slot };
	let_go(m, s);
	check_wheels(m, s);
}

static void clear(struct model *m, u32 index)
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
			lose_way(m, bucket, i);
	bucket->floor = (struct twin_wheel) { .at = bucket->slot };
	for (i = 0; i < m->sources; i++)
		if ((m->source[i].hash & m->table->mask) == index)
			let_go(m, &m->source[i]);
}

static void walk(struct model *m, u32 index)
{
	struct weir_source_state state[WEIR_WAYS_MAX];
	struct model_bucket *bucket = &m->bucket[index];
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
		      state[j].dropped == s->dropped && !state[j].floor &&
		      state[j].live == !!count, "run %llu: state", m->run);
		check_wheels(m, s);
	}
	check(holders == n, "run %llu: %u of %u", m->run, n, holders);
}

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
			give_back(m, &m->held[i]);
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
	shim_cpu = chance_below(&m->chance, SHIM_CPUS);
	switch (chance_below(&m->chance, 200)) {
	case 0:
		forget(m, s);
		break;
	case 1:
		if (chance_one_in(&m->chance, 8))
			clear(m, s->hash & m->table->mask);
		else if (chance_one_in(&m->chance, 8))
			m->budget = 1 + chance_below(&m->chance,
						     m->table->spec.budget);
		else if (chance_one_in(&m->chance, 4))
			m->budget = m->table->spec.budget;
		break;
	case 2 ... 5:
		walk(m, s->hash & m->table->mask);
		break;
	case 6 ... 20:
		peek(m, s);
		break;
	case 21 ... 40:
		model_turn(m, bucket_of(m, s), real_bucket(m, s), 0);
		try_refuse(m, s, cost, false);
		break;
	default:
		charge(m, s, cost);
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

	*m = (struct model) { .chance = chance_of(run), .run = run };
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
	memset(m->bucket, 0, sizeof(m->bucket));
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
	u64 run = unit_number("UNIT_RUN", 0), runs = unit_rounds(600), i;
	u64 admitted = 0, refused = 0, floored = 0, evicted = 0;
	struct model m;

	(void)state;
	if (getenv("UNIT_RUN"))
		runs = run + 1;
	for (; run < runs; run++) {
		model_init(&m, run);
		local_bh_disable();
		for (i = 0; i < 2500; i++)
			step(&m);
		local_bh_enable();
		admitted += m.admitted;
		refused += m.refused;
		floored += m.floored;
		evicted += m.evicted;
		model_exit(&m);
	}
	print_message("# %llu runs: %llu admitted, %llu refused, %llu by floors, %llu evicted\n",
		      runs, admitted, refused, floored, evicted);
	assert_int_equal(shim_allocations, 0);
	assert_true(floored && evicted);
}

/* A budget beyond what the counts hold is what they hold. */
static void test_budget_cut(void **state)
{
	struct weir_table_spec spec = {
		.budget = 100, .slot_ticks = 1, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_source source = twin_source(1, spec.prefix);
	struct weir_cost cost = { .packets = U16_MAX };
	struct weir_table *table;
	u64 tick = 5;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	local_bh_disable();
	assert_int_equal(twin_charge(table, &source, 1, &tick, cost,
					   1000000, NULL), 0);
	cost.packets = 1;
	assert_true(twin_charge(table, &source, 1, &tick, cost, 1000000,
				      NULL) & WEIR_REFUSED);
	local_bh_enable();
	weir_table_put(table);
}

/* Another source of the same bucket, on another CPU. */
static struct {
	struct weir_table *table;
	struct weir_source source;
} other;

static void other_charges(void)
{
	struct weir_cost cost = { .packets = 1 };
	u64 tick = 5;

	twin_charge(other.table, &other.source, 1, &tick, cost, 10, NULL);
}

/* What a writer came across is thrown away, and so is what it is at. */
static void test_second_look(void **state)
{
	struct weir_table_spec spec = {
		.budget = 10, .slot_ticks = 1, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_source source = twin_source(1, spec.prefix);
	struct weir_cost cost = { .packets = 10 };
	struct weir_bucket *bucket;
	struct weir_visit visit = { };
	struct weir_table *table;
	unsigned int i;
	u64 tick = 5;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	bucket = weir_bucket(table, 1 & table->mask);
	other.table = table;
	other.source = twin_source(2, spec.prefix);
	local_bh_disable();
	for (i = 0; i < 2; i++)
		twin_charge(table, &source, 1, &tick, cost, 10, NULL);
	assert_true(twin_refuse(table, &source, 1, tick, cost, 10, &visit));
	shim_reading = other_charges;
	assert_false(twin_refuse(table, &source, 1, tick, cost, 10, &visit));
	shim_reading = NULL;
	assert_true(twin_refuse(table, &source, 1, tick, cost, 10, &visit));
	spin_lock(&bucket->lock);
	write_seqcount_begin(&bucket->seq);
	assert_false(twin_refuse(table, &source, 1, tick, cost, 10, &visit));
	write_seqcount_end(&bucket->seq);
	spin_unlock(&bucket->lock);
	local_bh_enable();
	weir_table_put(table);
}

/*
 * What a CPU remembers refuses at once, but nothing that was not so: for no
 * other source, slot, sum, budget or bucket than it saw.
 */
static void test_recall(void **state)
{
	struct weir_table_spec spec = {
		.budget = 10, .slot_ticks = 4, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_source source = twin_source(1, spec.prefix);
	struct weir_source another = twin_source(2, spec.prefix);
	struct weir_cost cost = { .packets = 10 }, less = { .packets = 1 };
	struct weir_recent *recent;
	struct weir_visit visit = { };
	struct weir_table *table;
	u64 tick = 41;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	local_bh_disable();
	assert_false(twin_recall(table, &source, tick, cost, 10, &visit));
	assert_false(visit.recalled);
	assert_false(twin_charge(table, &source, 1, &tick, cost, 10, &visit));
	/* Full, but how long it will be nobody has asked. */
	assert_false(twin_recall(table, &source, tick, less, 10, &visit));
	assert_true(visit.recalled);
	assert_true(twin_charge(table, &source, 1, &tick, cost, 10, &visit));
	assert_true(twin_recall(table, &source, tick, less, 10, &visit));
	assert_int_equal(weir_recent_pending(table, &source), 1);

	assert_false(twin_recall(table, &another, tick, cost, 10, &visit));
	assert_false(twin_recall(table, &source, tick + 4, less, 10, &visit));
	assert_false(twin_recall(table, &source, tick, less, 11, &visit));
	assert_true(twin_recall(table, &source, tick, less, 10, &visit));
	/* Another one's refusals in its place. */
	recent = visit.recent;
	recent->source.word[0]++;
	assert_false(twin_recall(table, &source, tick, less, 10, &visit));
	recent->source.word[0]--;
	assert_true(twin_recall(table, &source, tick, less, 10, &visit));
	/* Somebody has been at the bucket. */
	assert_false(twin_charge(table, &another, 1, &tick, less, 10, NULL));
	assert_false(twin_recall(table, &source, tick, less, 10, &visit));
	assert_true(twin_refuse(table, &source, 1, tick, less, 10, &visit));
	assert_true(twin_recall(table, &source, tick, less, 10, &visit));
	local_bh_enable();
	/* Those of another bucket are forgotten, and all refusals that wait. */
	assert_true(table->mask);
	weir_table_clear(table, 0);
	local_bh_disable();
	assert_false(twin_recall(table, &source, tick, less, 10, &visit));
	assert_true(twin_refuse(table, &source, 1, tick, less, 10, &visit));
	assert_int_equal(weir_recent_pending(table, &source), 1);
	local_bh_enable();
	/* All are forgotten; the way still has its old wheel. */
	weir_table_clear(table, 1 & table->mask);
	local_bh_disable();
	assert_false(twin_recall(table, &source, tick, cost, 10, &visit));
	assert_false(twin_charge(table, &source, 1, &tick, cost, 10, &visit));
	local_bh_enable();
	weir_table_put(table);
}

/* ... nor for longer than a second, in which a sequence comes round. */
static void test_recall_ends(void **state)
{
	struct weir_table_spec spec = {
		.budget = 1, .slot_ticks = 100 * HZ, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_source source = twin_source(1, spec.prefix);
	struct weir_cost cost = { .packets = 1 };
	struct weir_visit visit = { };
	struct weir_table *table;
	u64 tick = 5;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	local_bh_disable();
	assert_false(twin_recall(table, &source, tick, cost, 1, &visit));
	assert_false(twin_charge(table, &source, 1, &tick, cost, 1, &visit));
	assert_true(twin_charge(table, &source, 1, &tick, cost, 1, &visit));
	assert_true(twin_recall(table, &source, tick + HZ - 1, cost, 1, &visit));
	assert_false(twin_recall(table, &source, tick + HZ, cost, 1, &visit));
	local_bh_enable();
	weir_table_put(table);
}

/* Refusals of more than there was room for wait no longer than that is so. */
static void test_admitted_again(void **state)
{
	struct weir_table_spec spec = {
		.budget = 10, .slot_ticks = 4, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_source source = twin_source(1, spec.prefix);
	struct weir_cost cost = { .packets = 1 }, more = { .packets = 9 };
	struct weir_visit visit = { };
	struct weir_table *table;
	u64 tick = 41;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	local_bh_disable();
	assert_false(twin_recall(table, &source, tick, more, 10, &visit));
	assert_false(twin_charge(table, &source, 1, &tick, more, 10, &visit));
	assert_false(twin_recall(table, &source, tick, more, 10, &visit));
	assert_true(twin_charge(table, &source, 1, &tick, more, 10, &visit));
	assert_true(twin_recall(table, &source, tick, more, 10, &visit));
	assert_int_equal(weir_recent_pending(table, &source), 1);
	assert_false(twin_recall(table, &source, tick, cost, 10, &visit));
	assert_false(twin_charge(table, &source, 1, &tick, cost, 10, &visit));
	assert_int_equal(weir_recent_pending(table, &source), 0);
	assert_int_equal(visit.way->dropped, 2);
	local_bh_enable();
	weir_table_put(table);
}

/* Who lost his way and got another one is remembered there. */
static void test_recall_elsewhere(void **state)
{
	struct weir_table_spec spec = {
		.budget = 10, .slot_ticks = 4, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_source source[3];
	struct weir_cost cost = { .packets = 1 }, more = { .packets = 5 };
	struct weir_visit visit = { };
	struct weir_table *table;
	struct weir_way *was;
	u64 tick = 41;
	unsigned int i;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	twin_shrink(table, 1, 2);
	for (i = 0; i < ARRAY_SIZE(source); i++)
		source[i] = twin_source(i + 1, spec.prefix);
	local_bh_disable();
	assert_false(twin_recall(table, &source[0], tick, cost, 10, &visit));
	assert_false(twin_charge(table, &source[0], 1, &tick, cost, 10, &visit));
	was = visit.way;
	assert_false(twin_charge(table, &source[1], 2, &tick, more, 10, NULL));
	assert_int_equal(twin_charge(table, &source[2], 3, &tick, more, 10, NULL),
			 WEIR_EVICTED);
	assert_int_equal(twin_charge(table, &source[0], 1, &tick, cost, 10, NULL),
			 WEIR_EVICTED);
	assert_false(twin_recall(table, &source[0], tick, cost, 10, &visit));
	assert_ptr_equal(visit.way, was);
	assert_false(weir_way_is(table, was, &source[0]));
	assert_false(twin_refuse(table, &source[0], 1, tick, cost, 10, &visit));
	assert_false(twin_charge(table, &source[0], 1, &tick, cost, 10, &visit));
	assert_false(twin_recall(table, &source[0], tick, cost, 10, &visit));
	assert_true(weir_way_is(table, visit.way, &source[0]));
	local_bh_enable();
	weir_table_put(table);
}

/* As a packet does it. */
static unsigned int meet(struct weir_table *table,
			 const struct weir_source *source, u32 hash, u64 tick)
{
	struct weir_cost cost = { .packets = 1 };
	struct weir_visit visit = { };
	unsigned int result;

	local_bh_disable();
	result = twin_recall(table, source, tick, cost, 1, &visit) ?:
		 twin_refuse(table, source, hash, tick, cost, 1, &visit) ?:
		 twin_charge(table, source, hash, &tick, cost, 1, &visit);
	local_bh_enable();
	return result;
}

static u64 dropped_of(struct weir_table *table,
		      const struct weir_source *source, u32 hash, u64 tick)
{
	struct weir_source_state stood;
	u64 slot[WEIR_SLOTS_MAX + 1];

	weir_table_peek(table, source, hash, tick, 1, &stood, slot);
	return stood.dropped;
}

/* Those without a place in which to count their refusals are counted, too. */
static void test_place_taken(void **state)
{
	struct weir_table_spec spec = {
		.budget = 1, .slot_ticks = 4, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_source source[40];
	struct weir_table *table;
	unsigned int i, n;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	assert_true(BIT(table->recents.shift) < ARRAY_SIZE(source));
	for (n = 0; n < 64; n++) {
		for (i = 0; i < ARRAY_SIZE(source); i++) {
			source[i] = twin_source(i, spec.prefix);
			meet(table, &source[i], i << 24, 41);
		}
	}
	for (i = 0; i < ARRAY_SIZE(source); i++)
		assert_int_equal(dropped_of(table, &source[i], i << 24, 41),
				 n - 1);
	weir_table_put(table);
}

/* Refusals keep their place for a slot, but for one in so many of another's. */
static void test_place_kept(void **state)
{
	struct weir_table_spec spec = {
		.budget = 1, .slot_ticks = 4, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_source a = twin_source(1, spec.prefix), b;
	struct weir_recent *recent;
	struct weir_table *table;
	unsigned int i;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	assert_true(table->mask);
	recent = weir_recent_entry(&table->recents, shim_cpu, &a);
	for (i = 2; ; i++) {
		b = twin_source(i, spec.prefix);
		if (weir_recent_entry(&table->recents, shim_cpu, &b) == recent)
			break;
	}
	assert_false(meet(table, &a, 0, 41));
	for (i = 0; i < 2; i++)
		assert_true(meet(table, &a, 0, 41));
	assert_false(meet(table, &b, 1, 41));
	assert_true(weir_source_same(&recent->source, &a));
	/* In the next slot they are of the past. */
	assert_true(meet(table, &b, 1, 44));
	assert_true(weir_source_same(&recent->source, &b));
	assert_int_equal(dropped_of(table, &a, 0, 44), 2);
	assert_true(meet(table, &b, 1, 44));
	assert_true(meet(table, &a, 0, 44));
	assert_true(weir_source_same(&recent->source, &b));
	for (i = 0; i < 16; i++)
		assert_true(meet(table, &a, 0, 44));
	assert_true(weir_source_same(&recent->source, &a));
	assert_int_equal(dropped_of(table, &a, 0, 44), 19);
	assert_int_equal(dropped_of(table, &b, 1, 44), 2);
	weir_table_put(table);
}

/*
 * A way that a sweep has freed is given away as what it is, though so long has
 * passed since that the time of its wheel says nothing any more.
 */
static void test_swept(void **state)
{
	struct weir_table_spec spec = {
		.budget = 10, .slot_ticks = 1, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_cost cost = { .packets = 1 }, more = { .packets = 5 };
	struct weir_source source[4];
	u64 tick = WEIR_SWEEP_SLOTS + 1;
	struct weir_table *table;
	unsigned int i;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	twin_shrink(table, 1, 2);
	local_bh_disable();
	for (i = 0; i < ARRAY_SIZE(source); i++)
		source[i] = twin_source(i + 1, spec.prefix);
	for (i = 0; i < 3; i++)
		assert_int_equal(twin_charge(table, &source[i], i, &tick, cost,
					     10, NULL),
				 i == 2 ? WEIR_EVICTED : 0);
	/* One source stays live at each sweep. */
	for (i = 2; i < 7; i++) {
		tick = i * WEIR_SWEEP_SLOTS - 1;
		assert_false(twin_charge(table, &source[2], 2, &tick, more, 10,
					 NULL));
		tick++;
		assert_false(twin_charge(table, &source[2], 2, &tick, more, 10,
					 NULL));
	}
	assert_int_equal(twin_charge(table, &source[3], 3, &tick, cost, 10,
				     NULL), 0);
	local_bh_enable();
	weir_table_put(table);
}

/* A source is found behind ways that a sweep has freed. */
static void test_behind_swept(void **state)
{
	struct weir_table_spec spec = {
		.budget = 10, .slot_ticks = 1, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_cost cost = { .packets = 6 };
	u64 tick = WEIR_SWEEP_SLOTS + 1;
	struct weir_table *table;
	struct weir_source source;
	unsigned int i;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	twin_shrink(table, 1, 16);
	local_bh_disable();
	/* All would stand among the first eight ways. */
	for (i = 1; i < 10; i++) {
		if (i == 9)
			tick = 2 * WEIR_SWEEP_SLOTS - 1;
		source = twin_source(i, spec.prefix);
		assert_false(twin_charge(table, &source, i << 24, &tick, cost,
					 10, NULL));
	}
	tick++;
	assert_true(twin_charge(table, &source, 9 << 24, &tick, cost, 10, NULL) &
		    WEIR_REFUSED);
	local_bh_enable();
	weir_table_put(table);
}

/* More refusals than 32 bits hold, on one CPU within one slot. */
static void test_many_refusals(void **state)
{
	struct weir_table_spec spec = {
		.budget = 1, .slot_ticks = 1, .slots = 4, .sources = 64,
		.prefix = { 32, 64 },
	};
	struct weir_source source = twin_source(1, spec.prefix);
	u64 slot[WEIR_SLOTS_MAX + 1], tick = 5;
	struct weir_cost cost = { .packets = 1 };
	struct weir_source_state stood;
	struct weir_visit visit = { };
	struct weir_table *table;
	unsigned int i;

	(void)state;
	table = weir_table_alloc(&spec);
	assert_false(IS_ERR(table));
	local_bh_disable();
	for (i = 0; i < 2; i++)
		twin_charge(table, &source, 1, &tick, cost, 1, NULL);
	assert_false(twin_recall(table, &source, tick, cost, 1, &visit));
	assert_true(twin_refuse(table, &source, 1, tick, cost, 1, &visit));
	visit.recent->count = U32_MAX;
	assert_true(twin_recall(table, &source, tick, cost, 1, &visit) ?:
		    twin_refuse(table, &source, 1, tick, cost, 1, &visit));
	weir_table_peek(table, &source, 1, tick, 1, &stood, slot);
	assert_true(stood.dropped == U32_MAX + 2ull);
	local_bh_enable();
	weir_table_put(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_budget_cut),
		cmocka_unit_test(test_second_look),
		cmocka_unit_test(test_recall),
		cmocka_unit_test(test_recall_ends),
		cmocka_unit_test(test_admitted_again),
		cmocka_unit_test(test_recall_elsewhere),
		cmocka_unit_test(test_place_taken),
		cmocka_unit_test(test_place_kept),
		cmocka_unit_test(test_swept),
		cmocka_unit_test(test_behind_swept),
		cmocka_unit_test(test_many_refusals),
	};

	return cmocka_run_group_tests_name("table_model", tests, NULL, NULL);
}
