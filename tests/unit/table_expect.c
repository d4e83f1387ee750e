// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The answers expected from a table, by the model. The table chooses which source it
 * evicts: the model looks which one it was and checks that this was allowed.
 */
#include "table_model.h"

struct model m;

static struct weir_lookup lookup_of(const struct model_source *s, u64 cost)
{
	u64 late = below(8) ? 0 : below(20 * m.table->spec.count[0].slot_ticks);

	if (m.very_late && !below(8))
		late = below(400 * m.table->spec.count[0].slot_ticks);
	return (struct weir_lookup) {
		.source = &s->source, .hash = s->hash, .amount = { cost },
		.budgets = &m.budget, .tick = m.tick - min(m.tick, late),
	};
}

static bool is_marked(const struct model_source *s, u64 slot)
{
	return s->marked && slot + 30 >= s->mark && slot <= s->mark + m.reach + 1;
}

/* Round up to four significant bits, at most 15 * 2^30. */
static u64 rounded(u64 cost)
{
	u64 step = 1;

	while (cost > 15 * step && step < BIT(30))
		step *= 2;
	return min((cost + step - 1) / step, 15ull) * step;
}

/* Expected state of a source: of its way, or else of its bucket's floor. */
static struct weir_source_state expected(const struct model_source *s)
{
	const struct twin_wheel *w = s->has_way ? &s->wheel : &bucket_of(s)->floor;
	u64 slot = max(weir_table_slot(m.table, m.tick), w->at), when, cost = 1;
	struct weir_source_state state = {
		.source = s->source, .count[0] = twin_sum(w, m.reach, slot), .floor = !s->has_way,
	};

	if (s->has_way && is_marked(s, slot))
		cost = min(s->wanted, m.budget);
	for (when = slot; twin_sum(w, m.reach, when) + cost > m.budget; when++)
		;
	when = weir_count_begins(m.table->count, when);
	state.live = state.count[0];
	state.wait = when > m.tick ? when - m.tick : 0;
	if (when == weir_count_begins(m.table->count, slot))
		state.wait = 0;
	if (s->has_way) {
		state.dropped = s->dropped;
		state.observed = s->dropped && s->observed;
	}
	return state;
}

static void check_state(const struct model_source *s, const struct weir_source_state *is)
{
	struct weir_source_state be = expected(s);

	check(is->count[0] == be.count[0] && is->live == be.live &&
	      is->floor == be.floor &&
	      (m.very_late || is->wait == be.wait) &&
	      is->dropped == be.dropped && (is->observed == be.observed || !be.dropped),
	      "run %llu: count %llu for %llu, wait %llu for %llu, dropped %llu for %llu, floor %u for %u",
	      m.run, is->count[0], be.count[0], is->wait, be.wait, is->dropped,
	      be.dropped, is->floor, be.floor);
}

static struct weir_source_state peek(const struct model_source *s, u64 slot[WEIR_SLOTS_MAX + 1])
{
	struct weir_source_state state;

	weir_table_peek(m.table, &s->source, s->hash, m.tick, &m.budget, NULL, &state, slot);
	return state;
}

void model_check_peek(const struct model_source *s)
{
	struct twin_wheel w = s->has_way ? s->wheel : bucket_of(s)->floor;
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];
	unsigned int age;

	state = peek(s, slot);
	check_state(s, &state);
	twin_turn(&w, m.reach, weir_table_slot(m.table, m.tick));
	for (age = 0; age <= WEIR_SLOTS_MAX; age++)
		check(slot[WEIR_SLOTS_MAX - age] == (age > m.reach ? 0 : w.count[age]),
		      "run %llu: %llu for %llu, age %u", m.run,
		      slot[WEIR_SLOTS_MAX - age], w.count[age], age);
}

/* A walk that tells only whether there is a wait tells the rest as the other one. */
static void check_whether(u32 bucket, unsigned int n)
{
	static struct weir_source_state state[WEIR_WAYS_MAX];
	const struct weir_source_state *a = state, *b = m.state;

	check(weir_table_walk(m.table, bucket, m.tick, &m.budget, NULL, true, state) == n,
	      "run %llu: not %u", m.run, n);
	for (; a < state + n; a++, b++)
		check(weir_source_same(&a->source, &b->source) && a->count[0] == b->count[0] &&
		      a->dropped == b->dropped &&
		      /* After 2^63 ticks slots do not end where they should. */
		      (m.very_late || m.tick > S64_MAX || a->wait == !!b->wait),
		      "run %llu: count %llu for %llu, wait %llu for %llu", m.run, a->count[0],
		      b->count[0], a->wait, b->wait);
}

/* A walk reports each source of a bucket that has a way, once. */
void model_check_walk(u32 bucket)
{
	unsigned int n, i, has_way = 0;
	struct model_source *s;

	n = weir_table_walk(m.table, bucket, m.tick, &m.budget, NULL, false, m.state);
	check_whether(bucket, n);
	for (s = m.source; s < m.source + m.sources; s++) {
		if (bucket_of(s) != &m.bucket[bucket] || !s->has_way)
			continue;
		has_way++;
		for (i = 0; i < n; i++)
			if (weir_source_same(&m.state[i].source, &s->source))
				break;
		check(i < n, "run %llu: not told of", m.run);
		check_state(s, &m.state[i]);
	}
	check(n == has_way, "run %llu: %u for %u", m.run, n, has_way);
}

/* The bound on floors in design.rst */
static void check_floor(const struct model_bucket *b)
{
	u64 floor = twin_sum(&b->floor, m.reach, b->all.at);
	u64 ways = m.table->ways;

	check(floor <= twin_sum(&b->all, m.reach, b->all.at),
	      "run %llu: floor %llu of %llu", m.run, floor, twin_sum(&b->all, m.reach, b->all.at));
	check(floor <= b->most_cost ||
	      (floor - b->most_cost) <= b->since_idle / min(ways, (u64)WEIR_LOOKS),
	      "run %llu: floor %llu, costs %llu, since idle %llu", m.run, floor,
	      b->most_cost, b->since_idle);
}

static void note_admitted(struct model_source *s, const struct weir_lookup *lookup, u64 at)
{
	struct model_bucket *b = bucket_of(s);
	u64 now = weir_table_slot(m.table, m.tick), held;
	/* No clock is further behind. */
	u64 slot = now - min(now, 420ull);
	struct model_source *other;

	held = twin_sum(&b->floor, m.reach, slot);
	for (other = m.source; other < m.source + m.sources; other++)
		if (neighbours(s, other) && other->has_way)
			held |= twin_sum(&other->wheel, m.reach, slot);
	held |= twin_sum(&s->wheel, m.reach, slot) - lookup->amount[0];
	if (!held) {
		b->since_idle = 0;
		b->most_cost = 0;
	}
	b->since_idle += lookup->amount[0];
	b->most_cost = max(b->most_cost, lookup->amount[0]);
	twin_turn(&b->all, m.reach, at);
	if (b->all.at - at <= m.reach)
		b->all.count[b->all.at - at] += lookup->amount[0];
	check_floor(b);
	m.admitted++;
}

/* The packet has passed: its charge can no longer be given back. */
static void note_passed(struct model_source *s, const struct weir_lookup *lookup)
{
	u64 window = (u64)m.table->spec.count[0].slots * m.table->spec.count[0].slot_ticks;
	u64 tick = twin_charged_at(m.table, lookup, 0, m.tick), most;

	twin_admit(&s->history, tick, lookup->amount[0]);
	most = twin_most(&s->history, window, tick);
	check(most / (m.table->spec.count[0].lenient ? 2 : 1) <= m.budget_most,
	      "run %llu: %llu of %llu", m.run, most, m.budget_most);
}

/* The source evicted for @s, or NULL. */
static struct model_source *loser_to(const struct model_source *s)
{
	struct model_source *other, *loser = NULL;
	unsigned int ways = 0;
	u64 slot[WEIR_SLOTS_MAX + 1];

	for (other = m.source; other < m.source + m.sources; other++) {
		if (!neighbours(s, other) || !other->has_way)
			continue;
		ways++;
		if (!peek(other, slot).floor)
			continue;
		check(!loser, "run %llu: two lost their ways", m.run);
		loser = other;
	}
	check(!!loser == (ways == m.table->ways), "run %llu: %u ways of %u",
	      m.run, ways, m.table->ways);
	return loser;
}

/* What a bucket knew before it evicted. */
static struct {
	u64 seen;		/* ways that were live when they were looked at */
	unsigned int looks;	/* that the search had */
	u64 floor;
} before;

static void note_before(const struct model_source *s, u64 slot)
{
	const struct weir_bucket *b = weir_bucket(m.table, s->hash);

	before.seen = b->seen_end - (u32)slot <= m.reach / 4 ? b->seen : 0;
	before.looks = min(b->looks + WEIR_LOOKS, m.table->ways + 0);
	before.floor = twin_sum(&bucket_of(s)->floor, m.reach, slot);
}

static unsigned int index_of(const struct model_source *s)
{
	struct weir_bucket *b = weir_bucket(m.table, s->hash);

	return weir_bucket_index(m.table, b,
				 weir_bucket_search(m.table, b, &s->source, s->hash));
}

/*
 * A live source goes only if no idle one was among those that a search looks at: all that were not
 * live within a quarter of the window, if they are not too many. It is within the floor, or no
 * other of those that were looked at is smaller.
 */
static void check_victim(const struct model_source *s, const struct model_source *loser, u64 slot)
{
	unsigned int ways = m.table->ways, others = 1;
	unsigned int fresh = hweight64(GENMASK_ULL(ways - 1, 0) & ~before.seen);
	u64 sum = twin_sum(&loser->wheel, m.reach, slot), of;
	const struct model_source *other;

	for (other = m.source; other < m.source + m.sources; other++) {
		if (!neighbours(s, other) || !other->has_way)
			continue;
		of = twin_sum(&other->wheel, m.reach, slot);
		others += of >= sum;
		check(of || (before.seen & BIT_ULL(index_of(other)) ?
			     slot <= other->wheel.at + m.reach + m.reach / 4 + 1 :
			     fresh > before.looks),
		      "run %llu: a live source went before an idle one", m.run);
	}
	check(sum <= before.floor || others >= min(ways, WEIR_LOOKS + 0u),
	      "run %llu: evicted %llu, above the floor and not the least: %u are as large", m.run,
	      sum, others);
}

/* A new source starts from the floor as it was before the eviction. */
static void take(struct model_source *s, u64 slot, u8 result)
{
	struct model_source *loser = loser_to(s);
	struct twin_wheel *floor = &bucket_of(s)->floor;
	bool live = loser && twin_sum(&loser->wheel, m.reach, slot);

	check(!(result & WEIR_EVICTED) == !live, "run %llu: %u", m.run, result);
	if (loser)
		loser->has_way = false;
	if (live) {
		m.evicted++;
		check_victim(s, loser, slot);
		twin_turn(&loser->wheel, m.reach, slot);
		twin_turn(floor, m.reach, loser->wheel.at);
		twin_turn(&loser->wheel, m.reach, floor->at);
	}
	if (loser && !live)
		twin_turn(floor, m.reach, loser->wheel.at);
	s->wheel = *floor;
	if (live)
		twin_join(floor, &loser->wheel, m.reach);
	s->has_way = true;
	s->dropped = 0;
	s->marked = false;
}

static void refuse(struct model_source *s, const struct weir_lookup *lookup, u64 slot)
{
	bool observed = !below(50);
	u32 packets = 1 + below(3);

	if (!s->marked || s->mark != slot)
		s->wanted = rounded(lookup->amount[0]);
	s->marked = true;
	s->mark = slot;
	check(weir_way_is(m.table, lookup->way, &s->source), "run %llu", m.run);
	weir_way_dropped(lookup->way, packets, observed);
	if (observed != s->observed)
		s->dropped = 0;
	s->observed = observed;
	s->dropped += packets;
}

static void charge_way(struct model_source *s, struct weir_lookup *lookup, u64 slot)
{
	if (slot > s->wheel.at && !(slot - s->wheel.at <= 2 * m.reach + 1 && is_marked(s, slot)))
		s->marked = false;
	twin_turn(&s->wheel, m.reach, slot);
	s->wheel.count[0] += lookup->amount[0];
	check(lookup->receipt.at[0] == (u16)s->wheel.at, "run %llu: counted in slot %u",
	      m.run, lookup->receipt.at[0]);
	note_admitted(s, lookup, s->wheel.at);
}

static void hold_or_pass(struct model_source *s, struct weir_lookup *lookup)
{
	struct model_held *held = &m.held[below(HELD)];

	if (!held->source && !below(4))
		*held = (struct model_held) { s, *lookup };
	else
		note_passed(s, lookup);
}

void model_packet(struct model_source *s, u64 cost)
{
	struct weir_lookup lookup = lookup_of(s, cost);
	u64 slot = weir_table_slot(m.table, lookup.tick);
	struct twin_wheel *floor = &bucket_of(s)->floor;
	bool had_way = s->has_way, marked, room, early;
	u8 result;

	if (!had_way)
		twin_turn(floor, m.reach, slot);
	room = twin_sum(had_way ? &s->wheel : floor, m.reach, slot) + cost <=
	       m.budget;
	marked = is_marked(s, slot);
	early = weir_table_refuse(m.table, &lookup);
	check(!early || (had_way && !room), "run %llu: refused", m.run);
	check(m.very_late || early == (had_way && !room && marked), "run %llu: %u", m.run, early);
	if (early) {
		refuse(s, &lookup, slot);
		m.refused++;
		return;
	}
	note_before(s, slot);
	result = weir_table_charge(m.table, &lookup);
	check(!(result & WEIR_CHARGED) == !room &&
	      !(result & WEIR_REFUSED) == room, "run %llu: %u, cost %llu", m.run, result, cost);
	check(!(result & WEIR_FLOORED) == (room || had_way), "run %llu", m.run);
	m.refused += !room;
	m.floored += !room && !had_way;
	if (!room && had_way) {
		check(m.very_late || !(result & WEIR_FIRST) == marked,
		      "run %llu: %u", m.run, result);
		m.first += !marked;
		refuse(s, &lookup, slot);
	} else if (room) {
		if (!had_way)
			take(s, slot, result);
		charge_way(s, &lookup, slot);
		hold_or_pass(s, &lookup);
	}
}
