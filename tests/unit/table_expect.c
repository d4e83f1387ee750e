// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The answers expected from a table, by the model. The table chooses which source it
 * evicts: the model looks which one it was and checks that this was allowed.
 */
#include "table_model.h"

struct model m;

static struct weir_lookup lookup_of(const struct model_source *s, u64 cost)
{
	u64 late = below(8) ? 0 : below(20 * m.table->spec.meter[0].slot_ticks);

	if (m.very_late && !below(8))
		late = below(400 * m.table->spec.meter[0].slot_ticks);
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

/* Expected state of a source: of its entry, or else of its set's floor. */
static struct weir_source_state expected(const struct model_source *s)
{
	const struct twin_count *w = s->has_entry ? &s->count : &set_of(s)->floor;
	u64 slot = max(weir_table_slot(m.table, m.tick), w->at), when, cost = 1;
	struct weir_source_state state = {
		.source = s->source, .count[0] = twin_sum(w, m.reach, slot), .floor = !s->has_entry,
	};

	if (s->has_entry && is_marked(s, slot))
		cost = min(s->wanted, m.budget);
	for (when = slot; twin_sum(w, m.reach, when) + cost > m.budget; when++)
		;
	when = weir_meter_begins(m.table->meter, when);
	state.live = state.count[0];
	state.wait = when > m.tick ? when - m.tick : 0;
	if (when == weir_meter_begins(m.table->meter, slot))
		state.wait = 0;
	if (s->has_entry) {
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
	struct twin_count w = s->has_entry ? s->count : set_of(s)->floor;
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
static void check_whether(u32 set, unsigned int n)
{
	static struct weir_source_state state[WEIR_ENTRIES_MAX];
	const struct weir_source_state *a = state, *b = m.state;

	check(weir_table_walk(m.table, set, m.tick, &m.budget, NULL, true, state) == n,
	      "run %llu: not %u", m.run, n);
	for (; a < state + n; a++, b++)
		check(weir_source_same(&a->source, &b->source) && a->count[0] == b->count[0] &&
		      a->dropped == b->dropped &&
		      /* After 2^63 ticks slots do not end where they should. */
		      (m.very_late || m.tick > S64_MAX || a->wait == !!b->wait),
		      "run %llu: count %llu for %llu, wait %llu for %llu", m.run, a->count[0],
		      b->count[0], a->wait, b->wait);
}

/* A walk reports each source of a set that has an entry, once. */
void model_check_walk(u32 set)
{
	unsigned int n, i, has_entry = 0;
	struct model_source *s;

	n = weir_table_walk(m.table, set, m.tick, &m.budget, NULL, false, m.state);
	check_whether(set, n);
	for (s = m.source; s < m.source + m.sources; s++) {
		if (set_of(s) != &m.set[set] || !s->has_entry)
			continue;
		has_entry++;
		for (i = 0; i < n; i++)
			if (weir_source_same(&m.state[i].source, &s->source))
				break;
		check(i < n, "run %llu: not told of", m.run);
		check_state(s, &m.state[i]);
	}
	check(n == has_entry, "run %llu: %u for %u", m.run, n, has_entry);
}

/* The bound on floors in design.rst */
static void check_floor(const struct model_set *b)
{
	u64 floor = twin_sum(&b->floor, m.reach, b->all.at);
	u64 entries = m.table->entries;

	check(floor <= twin_sum(&b->all, m.reach, b->all.at),
	      "run %llu: floor %llu of %llu", m.run, floor, twin_sum(&b->all, m.reach, b->all.at));
	check(floor <= b->most_cost ||
	      (floor - b->most_cost) <= b->since_idle / min(entries, (u64)WEIR_LOOKS),
	      "run %llu: floor %llu, costs %llu, since idle %llu", m.run, floor,
	      b->most_cost, b->since_idle);
}

static void note_admitted(struct model_source *s, const struct weir_lookup *lookup, u64 at)
{
	struct model_set *b = set_of(s);
	u64 now = weir_table_slot(m.table, m.tick), held;
	/* No clock is further behind. */
	u64 slot = now - min(now, 420ull);
	struct model_source *other;

	held = twin_sum(&b->floor, m.reach, slot);
	for (other = m.source; other < m.source + m.sources; other++)
		if (neighbours(s, other) && other->has_entry)
			held |= twin_sum(&other->count, m.reach, slot);
	held |= twin_sum(&s->count, m.reach, slot) - lookup->amount[0];
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
	u64 window = (u64)m.table->spec.meter[0].slots * m.table->spec.meter[0].slot_ticks;
	u64 tick = twin_charged_at(m.table, lookup, 0, m.tick), most;

	twin_admit(&s->history, tick, lookup->amount[0]);
	most = twin_most(&s->history, window, tick);
	check(most / (m.table->spec.meter[0].lenient ? 2 : 1) <= m.budget_most,
	      "run %llu: %llu of %llu", m.run, most, m.budget_most);
}

/* The source evicted for @s, or NULL. */
static struct model_source *loser_to(const struct model_source *s)
{
	struct model_source *other, *loser = NULL;
	unsigned int entries = 0;
	u64 slot[WEIR_SLOTS_MAX + 1];

	for (other = m.source; other < m.source + m.sources; other++) {
		if (!neighbours(s, other) || !other->has_entry)
			continue;
		entries++;
		if (!peek(other, slot).floor)
			continue;
		check(!loser, "run %llu: two lost their entries", m.run);
		loser = other;
	}
	check(!!loser == (entries == m.table->entries), "run %llu: %u entries of %u",
	      m.run, entries, m.table->entries);
	return loser;
}

/* What a set knew before it evicted. */
static struct {
	u64 seen;		/* entries that were live when they were looked at */
	unsigned int looks;	/* that the search had */
	u64 floor;
} before;

static void note_before(const struct model_source *s, u64 slot)
{
	const struct weir_set *b = weir_set(m.table, s->hash);

	before.seen = b->seen_end - (u32)slot <= m.reach / 4 ? b->seen : 0;
	before.looks = min(b->looks + WEIR_LOOKS, m.table->entries + 0);
	before.floor = twin_sum(&set_of(s)->floor, m.reach, slot);
}

static unsigned int index_of(const struct model_source *s)
{
	struct weir_set *b = weir_set(m.table, s->hash);

	return weir_set_index(m.table, b, weir_set_search(m.table, b, &s->source, s->hash));
}

/*
 * A live source goes only if no idle one was among those that a search looks at: all that were not
 * live within a quarter of the window, if they are not too many. It is within the floor, or no
 * other of those that were looked at is smaller.
 */
static void check_victim(const struct model_source *s, const struct model_source *loser, u64 slot)
{
	unsigned int entries = m.table->entries, others = 1;
	unsigned int fresh = hweight64(GENMASK_ULL(entries - 1, 0) & ~before.seen);
	u64 sum = twin_sum(&loser->count, m.reach, slot), of;
	const struct model_source *other;

	for (other = m.source; other < m.source + m.sources; other++) {
		if (!neighbours(s, other) || !other->has_entry)
			continue;
		of = twin_sum(&other->count, m.reach, slot);
		others += of >= sum;
		check(of || (before.seen & BIT_ULL(index_of(other)) ?
			     slot <= other->count.at + m.reach + m.reach / 4 + 1 :
			     fresh > before.looks),
		      "run %llu: a live source went before an idle one", m.run);
	}
	check(sum <= before.floor || others >= min(entries, WEIR_LOOKS + 0u),
	      "run %llu: evicted %llu, above the floor and not the least: %u are as large", m.run,
	      sum, others);
}

/* A new source starts from the floor as it was before the eviction. */
static void take(struct model_source *s, u64 slot, u8 result)
{
	struct model_source *loser = loser_to(s);
	struct twin_count *floor = &set_of(s)->floor;
	bool live = loser && twin_sum(&loser->count, m.reach, slot);

	check(!(result & WEIR_EVICTED) == !live, "run %llu: %u", m.run, result);
	if (loser)
		loser->has_entry = false;
	if (live) {
		m.evicted++;
		check_victim(s, loser, slot);
		twin_turn(&loser->count, m.reach, slot);
		twin_turn(floor, m.reach, loser->count.at);
		twin_turn(&loser->count, m.reach, floor->at);
	}
	if (loser && !live)
		twin_turn(floor, m.reach, loser->count.at);
	s->count = *floor;
	if (live)
		twin_join(floor, &loser->count, m.reach);
	s->has_entry = true;
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
	check(weir_entry_is(m.table, lookup->entry, &s->source), "run %llu", m.run);
	weir_entry_dropped(lookup->entry, packets, observed);
	if (observed != s->observed)
		s->dropped = 0;
	s->observed = observed;
	s->dropped += packets;
}

static void charge_entry(struct model_source *s, struct weir_lookup *lookup, u64 slot)
{
	if (slot > s->count.at && !(slot - s->count.at <= 2 * m.reach + 1 && is_marked(s, slot)))
		s->marked = false;
	twin_turn(&s->count, m.reach, slot);
	s->count.count[0] += lookup->amount[0];
	check(lookup->receipt.at[0] == (u16)s->count.at, "run %llu: counted in slot %u",
	      m.run, lookup->receipt.at[0]);
	note_admitted(s, lookup, s->count.at);
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
	struct twin_count *floor = &set_of(s)->floor;
	bool had_entry = s->has_entry, marked, room, early;
	u8 result;

	if (!had_entry)
		twin_turn(floor, m.reach, slot);
	room = twin_sum(had_entry ? &s->count : floor, m.reach, slot) + cost <=
	       m.budget;
	marked = is_marked(s, slot);
	early = weir_table_refuse(m.table, &lookup);
	check(!early || (had_entry && !room), "run %llu: refused", m.run);
	check(m.very_late || early == (had_entry && !room && marked), "run %llu: %u", m.run, early);
	if (early) {
		refuse(s, &lookup, slot);
		m.refused++;
		return;
	}
	note_before(s, slot);
	result = weir_table_charge(m.table, &lookup);
	check(!(result & WEIR_CHARGED) == !room &&
	      !(result & WEIR_REFUSED) == room, "run %llu: %u, cost %llu", m.run, result, cost);
	check(!(result & WEIR_FLOORED) == (room || had_entry), "run %llu", m.run);
	m.refused += !room;
	m.floored += !room && !had_entry;
	if (!room && had_entry) {
		check(m.very_late || !(result & WEIR_FIRST) == marked,
		      "run %llu: %u", m.run, result);
		m.first += !marked;
		refuse(s, &lookup, slot);
	} else if (room) {
		if (!had_entry)
			take(s, slot, result);
		charge_entry(s, &lookup, slot);
		hold_or_pass(s, &lookup);
	}
}
