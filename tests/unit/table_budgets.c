// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources with several budgets, of all ways to count in all pairs, against lists of all that
 * each was charged: what is admitted and refused, by which budget; give-back; eviction and floors;
 * successors with other budgets; and what any interval admits.
 */
#include "budgets.h"
#include "table_ways.h"

#define SOURCES 12
#define EVENTS 512

/* What was charged to a count, by its slots. */
struct list {
	unsigned int len;
	struct way_event event[EVENTS];
};

struct limit {
	struct weir_table *table;
	unsigned int budgets;
	struct way_budget budget[WEIR_BUDGETS_MAX];
	u64 room[WEIR_BUDGETS_MAX];
	u64 period[WEIR_BUDGETS_MAX], ends[WEIR_BUDGETS_MAX];	/* of a calendar */
};

static struct {
	struct chance chance;
	struct limit now, old;	/* the old one has no table, or none before a change */
	unsigned int from[WEIR_BUDGETS_MAX];	/* of which old count each is */
	u64 tick, run;
	bool kept;		/* the change was not of the budgets */
	bool unknown;		/* a log got longer: what had left the old one is unknown */
	struct list list[SOURCES][WEIR_BUDGETS_MAX];
	/* In packets and in bytes, and how much of it is from before the change. */
	struct twin_history history[SOURCES][2];
	unsigned int before[SOURCES];
	u64 admitted, refused[WEIR_BUDGETS_MAX];
	/* By first and second budget; and the old and the new way of counts that were moved. */
	u64 pair_refused[WAYS][WAYS][2], moved[WAYS][WAYS];
} t;

static u64 below(u64 n)
{
	return chance_below(&t.chance, n);
}

static u64 clock_now(void)
{
	return t.tick;
}

static struct way_budget random_budget(enum way way)
{
	bool bytes = way != LOG && below(2);
	u64 budget = (bytes ? 1500 : 2) + below((below(2) ? 4 : 30) * (bytes ? 700 : 1));
	u32 slot_ticks = 1 + below(below(2) ? 10 : 300);
	struct way_budget random = way_budget(way, budget, budget + below(2 * budget),
					      1 + below(16), slot_ticks, bytes);

	/* Counts may have more room. */
	if (!below(3))
		random.spec.budget = way == LOG ? budget + below(25) : random.room << below(40);
	return random;
}

/* A window as long as that of another budget */
static void same_window(struct way_budget *budget, const struct way_budget *as)
{
	bool one_slot = budget->way == FIXED || budget->way == CALENDAR || as->spec.slots == 1;

	if (as->way == TOTAL || budget->way == TOTAL)
		return;
	budget->spec.slots = one_slot ? 1 : as->spec.slots;
	budget->spec.slot_ticks = one_slot ? way_window(as) : as->spec.slot_ticks;
}

static void random_limit(struct limit *l, u32 sources, enum way first, enum way second)
{
	struct weir_table_spec spec = { .sources = sources, .prefix = { 32, 64 } };
	struct way_budget *budget = l->budget;
	unsigned int i;

	l->budgets = 1 + below(WEIR_BUDGETS_MAX);
	for (i = 0; i < l->budgets; i++, budget++) {
		*budget = random_budget(!i ? first : i == 1 ? second : below(WAYS));
		if (i && !below(3))
			same_window(budget, &l->budget[0]);
		else if (t.old.budgets > i && budget->way == t.old.budget[i].way && below(2))
			same_window(budget, &t.old.budget[i]);
		l->room[i] = budget->room;
	}
	t.kept = t.old.budgets && !below(4);
	if (t.kept)
		*l = t.old;
	/* Calendars of a window end as one. */
	for (i = 0; i < l->budgets; i++) {
		l->period[i] = 0;
		l->ends[i] = t.tick - t.tick % way_window(&l->budget[i]) + way_window(&l->budget[i]);
	}
	l->table = way_table(&spec, l->budget, l->budgets, t.tick);
}

static u64 slot_of(const struct limit *l, unsigned int i)
{
	return way_slot(&l->budget[i], t.tick, l->period[i]);
}

/* What a count holds of a list, in its unit, rounded up. */
static u64 expected(const struct limit *l, unsigned int i, const struct list *list)
{
	u64 held = way_held(&l->budget[i], list->event, list->len, slot_of(l, i));

	/* A log has no entry for more. */
	return min(DIV_ROUND_UP_ULL(held, way_parts(&l->budget[i])),
		   weir_shape_max(l->table->count[i].shape));
}

static bool full(unsigned int source, unsigned int i, u64 cost)
{
	const struct list *list = &t.list[source][i];

	return way_full(&t.now.budget[i], list->event, list->len, slot_of(&t.now, i), cost);
}

static void list_add(unsigned int source, unsigned int i, u64 amount)
{
	struct list *list = &t.list[source][i];

	assert_true(list->len < EVENTS);
	list->event[list->len].slot = slot_of(&t.now, i);
	list->event[list->len++].amount = amount;
}

/* No interval has more than is said of it: of the new count, and where it spans the change. */
static void check_most(unsigned int source, unsigned int i)
{
	const struct way_budget *now = &t.now.budget[i], *old = &t.old.budget[t.from[i]];
	const struct twin_history *all = &t.history[source][now->spec.bytes];
	unsigned int before = t.before[source];
	struct twin_history since = { all->event + before, all->len - before, 0 };
	u64 most = way_most(now), is;

	is = twin_most(&since, way_window(now), t.tick);
	check(is <= most, "run %llu: count %u: %llu of %llu", t.run, i, is, most);
	if (!t.old.budgets || old->spec.bytes != now->spec.bytes)
		return;
	/* What both have let go */
	most += way_most(old) - old->room + max(old->room, now->room) - now->room;
	is = twin_most(all, min(way_window(old), way_window(now)), t.tick);
	check(is <= most, "run %llu: across the change to %u: %llu of %llu", t.run, i, is, most);
}

static void admitted(unsigned int source, const u64 *amount)
{
	unsigned int i;

	t.admitted++;
	for (i = 0; i < 2; i++)
		twin_admit(&t.history[source][i], t.tick, amount[i]);
	for (i = 0; i < t.now.budgets; i++) {
		list_add(source, i, amount[t.now.budget[i].spec.bytes]);
		check_most(source, i);
	}
}

static void begin_lookup(struct weir_lookup *lookup, const struct weir_source *source)
{
	u64 packets = 1 + below(3), bytes = packets * (40 + below(1000));

	/* All fit: the limit refuses what is too large. */
	*lookup = (struct weir_lookup) {
		.source = source, .tick = t.tick, .budgets = t.now.room, .budget = t.now.room[0],
		.amount = { min(packets, 2ull), min(bytes, 1500ull) },
		.hash = weir_source_hash(source, t.now.table->spec.prefix, &twin_key),
	};
	lookup->cost = lookup->amount[t.now.budget[0].spec.bytes];
}

/* @exact: the source has a way, and so the table's answer is the list's. */
static u16 packet(unsigned int i, bool exact)
{
	struct weir_source source = twin_source(i, t.now.table->spec.prefix);
	struct weir_lookup lookup;
	bool must = false;
	unsigned int n, by;
	u16 result;

	begin_lookup(&lookup, &source);
	for (n = 0; n < t.now.budgets; n++)
		must |= full(i, n, lookup.amount[t.now.budget[n].spec.bytes]);
	twin_enter();
	result = weir_table_refuse(t.now.table, &lookup) ?:
		 weir_table_charge(t.now.table, &lookup);
	by = result >> WEIR_BUDGET_SHIFT;
	check(!(result & WEIR_CHARGED) || !must, "run %llu: source %u was admitted", t.run, i);
	check(!exact || t.unknown || must == !!(result & WEIR_REFUSED),
	      "run %llu: result %x, must %u", t.run, result, must);
	if (exact && !t.unknown && result & WEIR_REFUSED)
		check(by < t.now.budgets && full(i, by, lookup.amount[t.now.budget[by].spec.bytes]),
		      "run %llu: refused by %u", t.run, by);
	/* Another limit refuses it. */
	if (result & WEIR_CHARGED && !below(5))
		check(weir_table_uncharge(t.now.table, &lookup), "run %llu: not given back", t.run);
	else if (result & WEIR_CHARGED)
		admitted(i, lookup.amount);
	else
		t.refused[by]++;
	if (result & WEIR_REFUSED && by < 2 && t.now.budgets > 1)
		t.pair_refused[t.now.budget[0].way][t.now.budget[1].way][by]++;
	twin_leave();
	return result;
}

static void peek(unsigned int i, struct weir_source_state *state)
{
	struct weir_table *table = t.now.table;
	struct weir_source source = twin_source(i, table->spec.prefix);
	u64 slot[WEIR_SLOTS_MAX + 1];

	rcu_read_lock();
	weir_table_peek(table, &source, weir_source_hash(&source, table->spec.prefix, &twin_key),
			t.tick, t.now.room, state, slot);
	rcu_read_unlock();
}

static void check_peek(unsigned int i)
{
	struct weir_source_state state;
	u64 is, most = 0, live = 0;
	unsigned int n;

	peek(i, &state);
	for (n = 0; n < t.now.budgets; n++) {
		is = expected(&t.now, n, &t.list[i][n]);
		check(state.count[n] == is || (t.unknown && state.count[n] > is),
		      "run %llu: count %u is %llu, not %llu", t.run, n, state.count[n], is);
		most = max(most, state.waits[n]);
		live |= state.count[n];
	}
	check(state.live == !!live && state.wait == most && state.waits[state.by] == most,
	      "run %llu: live %u, wait %llu by %u", t.run, state.live, state.wait, state.by);
}

/* A calendar's timer ends its periods; a clock that is set back lengthens one. */
static void pass_time(u64 ticks)
{
	struct limit *l = &t.now;
	unsigned int i;

	t.tick += ticks;
	for (i = 0; i < l->budgets; i++)
		while (l->budget[i].way == CALENDAR && l->ends[i] <= t.tick) {
			l->period[i]++;
			l->table->count[i].slot++;
			l->ends[i] += way_window(&l->budget[i]) * (l->period[i] % 8 ? 4 : 5) / 4;
		}
}

static void pass_random_time(void)
{
	pass_time(below(3) ? below(4) : below(below(8) ? 60 : 4000));
}

/* The first two ways to count are all pairs in turn. */
static void begin_run(u64 run, u32 sources)
{
	memset(t.list, 0, sizeof(t.list));
	memset(t.before, 0, sizeof(t.before));
	t.run = run;
	t.unknown = false;
	t.chance = chance_of(run);
	t.tick = 100000 + below(1000);
	t.old.budgets = 0;
	random_limit(&t.now, sources, run % WAYS, run / WAYS % WAYS);
}

static void end_run(void)
{
	unsigned int i;

	weir_table_free(t.now.table);
	for (i = 0; i < 2 * SOURCES; i++)
		twin_forget(&t.history[i / 2][i % 2]);
}

/* Each source has a way, so all is exact. */
static void test_exact(void **state)
{
	struct unit_runs runs = unit_runs(6000);
	unsigned int n, i;

	memset(&t.refused, 0, sizeof(t.refused));
	for (; runs.first < runs.end; runs.first++) {
		begin_run(runs.first, 64);
		for (n = 0; n < 200; n++) {
			i = below(4);
			pass_random_time();
			packet(i, true);
			if (!below(8))
				check_peek(i);
			if (!below(60))
				weir_table_age(t.now.table, t.tick);
		}
		end_run();
	}
	print_message("# %llu admitted, refused by %llu %llu %llu %llu\n", t.admitted,
		      t.refused[0], t.refused[1], t.refused[2], t.refused[3]);
	for (n = 0; n < WEIR_BUDGETS_MAX; n++)
		assert_true(t.refused[n]);
}

/* More sources than ways: none gets more than any of its budgets. */
static void test_floors(void **state)
{
	struct unit_runs runs = unit_runs(2000);
	u64 evicted = 0, floored = 0;
	unsigned int n;
	u16 result;

	for (; runs.first < runs.end; runs.first++) {
		begin_run(runs.first, 1);
		twin_shrink(t.now.table, 1, 4);
		for (n = 0; n < 300; n++) {
			pass_random_time();
			result = packet(below(SOURCES), false);
			evicted += !!(result & WEIR_EVICTED);
			floored += !!(result & WEIR_FLOORED);
		}
		end_run();
	}
	print_message("# %llu evicted, %llu refused by floors\n", evicted, floored);
	assert_true(evicted && floored);
}

/* Slots of the same numbers */
static bool same_slots(const struct way_budget *a, const struct way_budget *b)
{
	bool ring = a->way < LEAK && b->way < LEAK && way_reach(a) == way_reach(b);

	return (ring || (a->way == LOG && b->way == LOG)) &&
	       a->spec.slot_ticks == b->spec.slot_ticks && a->spec.bytes == b->spec.bytes;
}

/* Alike but for the budgets; buckets leak differently with another one. */
static bool same_way(const struct way_budget *a, const struct way_budget *b)
{
	return same_slots(a, b) ? a->spec.slots == b->spec.slots || a->way < LEAK :
	       a->way == b->way && a->spec.slots == b->spec.slots &&
	       a->spec.slot_ticks == b->spec.slot_ticks && a->spec.rate == b->spec.rate;
}

/*
 * How far an old count is from a new one, which starts from the nearest: of the shortest window
 * that is no shorter, in the same unit if there is one; or else of the longest. Of equals it is
 * one that counts alike.
 */
static u64 distance(const struct way_budget *old, const struct way_budget *now)
{
	u64 was = way_window(old), is = way_window(now);
	u64 far = was >= is ? was - is : BIT_ULL(62) | (BIT_ULL(60) - was);

	if (old->spec.bytes != now->spec.bytes)
		far |= BIT_ULL(61);
	return 2 * far + !same_way(old, now);
}

/* The list of a new count: that of the old one, or what that held, in the present slot. */
static void list_move(unsigned int source, unsigned int i, const struct list *was)
{
	const struct way_budget *now = &t.now.budget[i], *old = &t.old.budget[t.from[i]];
	struct list *list = &t.list[source][i];
	u64 held = expected(&t.old, t.from[i], was);
	unsigned int n;

	t.moved[old->way][now->way] += !!held;
	list->len = 0;
	for (n = 0; same_slots(old, now) && n < was->len; n++)
		if (was->event[n].slot + way_reach(old) >= slot_of(&t.old, t.from[i]))
			list->event[list->len++] = was->event[n];
	if (same_slots(old, now) || !held)
		return;
	if (old->spec.bytes != now->spec.bytes)
		held = weir_budget_part(held, now->room, old->room);
	list_add(source, i, min(held, weir_shape_max(t.now.table->count[i].shape)));
}

/* Into the table of a limit with other budgets. */
static void move(u32 sources, bool tiny)
{
	static struct list was[WEIR_BUDGETS_MAX];
	const struct way_budget *old;
	unsigned int i, k, source;

	t.old = t.now;
	random_limit(&t.now, sources, t.run / WAYS % WAYS, below(WAYS));
	if (tiny)
		twin_shrink(t.now.table, 1, 4);
	weir_table_succeed(t.now.table, t.old.table, t.now.room, t.old.room, &twin_key, clock_now);
	k = weir_table_drain(t.now.table);
	assert_true(!k || tiny);
	for (i = 0; i < t.now.budgets; i++) {
		t.from[i] = t.kept ? i : 0;
		for (k = 1; k < t.old.budgets && !t.kept; k++)
			if (distance(&t.old.budget[k], &t.now.budget[i]) <
			    distance(&t.old.budget[t.from[i]], &t.now.budget[i]))
				t.from[i] = k;
		old = &t.old.budget[t.from[i]];
		t.unknown |= same_slots(old, &t.now.budget[i]) && old->way == LOG &&
			     t.now.budget[i].spec.slots > old->spec.slots;
	}
	for (source = 0; source < SOURCES; source++) {
		memcpy(was, t.list[source], sizeof(was));
		t.before[source] = t.history[source][0].len;
		for (i = 0; i < t.now.budgets; i++)
			list_move(source, i, &was[t.from[i]]);
	}
	synchronize_rcu();
	weir_table_free(t.old.table);
}

/* A change to other budgets loses no count, and keeps none for longer than it should. */
static void test_moved(void **state)
{
	struct unit_runs runs = unit_runs(6000);
	unsigned int n, i, sources;
	bool tiny;

	for (; runs.first < runs.end; runs.first++) {
		begin_run(runs.first, 64);
		tiny = !below(3);
		sources = tiny ? SOURCES : 4;
		if (tiny)
			twin_shrink(t.now.table, 1, 4);
		for (n = 0; n < 200; n++) {
			if (n == 100)
				move(64, tiny);
			for (i = 0; i < 4 && !tiny && n > 98 && n < 102; i++)
				check_peek(i);
			pass_random_time();
			packet(below(sources), !tiny);
		}
		pass_time(5000);
		for (i = 0; i < 4 && !tiny; i++)
			check_peek(i);
		end_run();
	}
}

/* Sources forgotten, and all */
static void test_forget(void **state)
{
	struct unit_runs runs = unit_runs(500);
	struct weir_source_state now;
	struct weir_source source;
	unsigned int n, k;
	u32 bucket, hash;

	for (; runs.first < runs.end; runs.first++) {
		begin_run(runs.first, 64);
		for (n = 0; n < 40; n++) {
			pass_time(below(2));
			packet(below(4), true);
		}
		peek(1, &now);
		source = twin_source_in(t.now.table, 1, &hash);
		/* What is over is forgotten, too. */
		check(weir_table_forget(t.now.table, &source, hash) >= now.live,
		      "run %llu: not forgotten", t.run);
		for (n = 0; n < t.now.budgets; n++)
			t.list[1][n].len = 0;
		for (k = 0; k < 4; k++)
			check_peek(k);
		for (bucket = 0; bucket < weir_table_buckets(t.now.table); bucket++)
			weir_table_clear(t.now.table, bucket);
		peek(2, &now);
		check(!now.live && now.floor, "run %llu: still there", t.run);
		end_run();
	}
}

/* Whatever the tests before drew at random, it was each pair and each change. */
static void test_pairs(void **state)
{
	unsigned int a, b;

	/* So many runs that none is missing by chance. */
	if (unit_runs(6000).end - unit_runs(6000).first < 1000)
		return;
	for (a = 0; a < WAYS; a++)
		for (b = 0; b < WAYS; b++) {
			check(t.pair_refused[a][b][0] && t.pair_refused[a][b][1],
			      "%u and %u: %llu, %llu refused", a, b, t.pair_refused[a][b][0],
			      t.pair_refused[a][b][1]);
			check(t.moved[a][b], "%u was not changed into %u", a, b);
		}
}

UNIT_MAIN("table_budgets", T(test_exact), T(test_floors), T(test_moved), T(test_forget),
	  T(test_pairs))
