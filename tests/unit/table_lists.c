// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lists of table_lists.h, and packets whose results are compared with them.
 */
#include "table_lists.h"

struct lists lists;

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

void lists_limit(struct limit *l, u32 sources, enum way first, enum way second)
{
	struct weir_table_spec spec = { .sources = sources, .prefix = { 32, 64 } };
	struct way_budget *budget = l->budget;
	unsigned int i;

	l->budgets = 1 + below(WEIR_BUDGETS_MAX);
	for (i = 0; i < l->budgets; i++, budget++) {
		*budget = random_budget(!i ? first : i == 1 ? second : below(WAYS));
		if (i && !below(3))
			same_window(budget, &l->budget[0]);
		else if (lists.old.budgets > i && budget->way == lists.old.budget[i].way && below(2))
			same_window(budget, &lists.old.budget[i]);
		l->room[i] = budget->room;
	}
	lists.kept = lists.old.budgets && !below(4);
	if (lists.kept)
		*l = lists.old;
	/* Calendars of a window end as one. */
	for (i = 0; i < l->budgets; i++) {
		l->period[i] = 0;
		l->ends[i] = lists.tick - lists.tick % way_window(&l->budget[i]) + way_window(&l->budget[i]);
	}
	l->table = way_table(&spec, l->budget, l->budgets, lists.tick);
}

u64 lists_slot(const struct limit *l, unsigned int i)
{
	return way_slot(&l->budget[i], lists.tick, l->period[i]);
}

/* What a count holds of a list, in its unit, rounded up. */
u64 lists_expected(const struct limit *l, unsigned int i, const struct list *list)
{
	u64 held = way_held(&l->budget[i], list->event, list->len, lists_slot(l, i));

	/* A log has no entry for more. */
	return min(DIV_ROUND_UP_ULL(held, way_parts(&l->budget[i])),
		   weir_shape_max(&l->table->meter[i].shape));
}

static bool full(unsigned int source, unsigned int i, u64 cost)
{
	const struct list *list = &lists.list[source][i];

	return way_full(&lists.now.budget[i], list->event, list->len, lists_slot(&lists.now, i), cost);
}

void lists_add(unsigned int source, unsigned int i, u64 amount)
{
	struct list *list = &lists.list[source][i];

	assert_true(list->len < LISTS_EVENTS);
	list->event[list->len].slot = lists_slot(&lists.now, i);
	list->event[list->len++].amount = amount;
}

/* No interval has more than is said of it: of the new count, and where it spans the change. */
static void check_most(unsigned int source, unsigned int i)
{
	const struct way_budget *now = &lists.now.budget[i], *old = &lists.old.budget[lists.from[i]];
	const struct twin_history *all = &lists.history[source][now->spec.bytes];
	unsigned int before = lists.before[source];
	struct twin_history since = { all->event + before, all->len - before, 0 };
	u64 most = way_most(now), is;

	is = twin_most(&since, way_window(now), lists.tick);
	check(is <= most, "run %llu: count %u: %llu of %llu", lists.run, i, is, most);
	if (!lists.old.budgets || old->spec.bytes != now->spec.bytes)
		return;
	/* What both have let go */
	most += way_most(old) - old->room + max(old->room, now->room) - now->room;
	is = twin_most(all, min(way_window(old), way_window(now)), lists.tick);
	check(is <= most, "run %llu: across the change to %u: %llu of %llu", lists.run, i, is, most);
}

static void admitted(unsigned int source, const u64 *amount)
{
	unsigned int i;

	lists.admitted++;
	for (i = 0; i < 2; i++)
		twin_admit(&lists.history[source][i], lists.tick, amount[i]);
	for (i = 0; i < lists.now.budgets; i++) {
		lists_add(source, i, amount[lists.now.budget[i].spec.bytes]);
		check_most(source, i);
	}
}

static void begin_lookup(struct weir_lookup *lookup, const struct weir_source *source)
{
	u64 packets = 1 + below(3), bytes = packets * (40 + below(1000));

	/* All fit: the limit refuses what is too large. */
	*lookup = (struct weir_lookup) {
		.source = source, .tick = lists.tick, .budgets = lists.now.room,
		.amount = { min(packets, 2ull), min(bytes, 1500ull) },
		.hash = weir_source_hash(source, lists.now.table->spec.prefix, &twin_key),
	};
}

/* @exact: the source has a way, and so the table's answer is the list's. */
u16 lists_packet(unsigned int i, bool exact)
{
	struct weir_source source = twin_source(i, lists.now.table->spec.prefix);
	struct weir_lookup lookup;
	bool must = false;
	unsigned int n, by;
	u16 result;

	begin_lookup(&lookup, &source);
	for (n = 0; n < lists.now.budgets; n++)
		must |= full(i, n, lookup.amount[lists.now.budget[n].spec.bytes]);
	twin_enter();
	result = weir_table_refuse(lists.now.table, &lookup) ?:
		 weir_table_charge(lists.now.table, &lookup);
	by = result >> WEIR_BUDGET_SHIFT;
	check(!(result & WEIR_CHARGED) || !must, "run %llu: source %u was admitted", lists.run, i);
	check(!exact || lists.unknown || must == !!(result & WEIR_REFUSED),
	      "run %llu: result %x, must %u", lists.run, result, must);
	if (exact && !lists.unknown && result & WEIR_REFUSED)
		check(by < lists.now.budgets && full(i, by, lookup.amount[lists.now.budget[by].spec.bytes]),
		      "run %llu: refused by %u", lists.run, by);
	/* Another limit refuses it. */
	if (result & WEIR_CHARGED && !below(5))
		check(weir_table_uncharge(lists.now.table, &lookup), "run %llu: not given back", lists.run);
	else if (result & WEIR_CHARGED)
		admitted(i, lookup.amount);
	else
		lists.refused[by]++;
	if (result & WEIR_REFUSED && by < 2 && lists.now.budgets > 1)
		lists.pair_refused[lists.now.budget[0].way][lists.now.budget[1].way][by]++;
	twin_leave();
	return result;
}

void lists_peek(unsigned int i, struct weir_source_state *state)
{
	struct weir_table *table = lists.now.table;
	struct weir_source source = twin_source(i, table->spec.prefix);
	u64 slot[WEIR_SLOTS_MAX + 1];

	rcu_read_lock();
	weir_table_peek(table, &source, weir_source_hash(&source, table->spec.prefix, &twin_key),
			lists.tick, lists.now.room, NULL, state, slot);
	rcu_read_unlock();
}

void lists_check(unsigned int i)
{
	struct weir_source_state state;
	u64 is, most = 0, live = 0;
	unsigned int n;

	lists_peek(i, &state);
	for (n = 0; n < lists.now.budgets; n++) {
		is = lists_expected(&lists.now, n, &lists.list[i][n]);
		check(state.count[n] == is || (lists.unknown && state.count[n] > is),
		      "run %llu: count %u is %llu, not %llu", lists.run, n, state.count[n], is);
		most = max(most, state.waits[n]);
		live |= state.count[n];
	}
	check(state.live == !!live && state.wait == most && state.waits[state.by] == most,
	      "run %llu: live %u, wait %llu by %u", lists.run, state.live, state.wait, state.by);
}

/* A calendar's timer ends its periods; a clock that is set back lengthens one. */
void lists_pass(u64 ticks)
{
	struct limit *l = &lists.now;
	unsigned int i;

	lists.tick += ticks;
	for (i = 0; i < l->budgets; i++)
		while (l->budget[i].way == CALENDAR && l->ends[i] <= lists.tick) {
			l->period[i]++;
			l->table->meter[i].base++;
			l->ends[i] += way_window(&l->budget[i]) * (l->period[i] % 8 ? 4 : 5) / 4;
		}
}

void lists_pass_random(void)
{
	lists_pass(below(3) ? below(4) : below(below(8) ? 60 : 4000));
}

/* The first two ways to count are all pairs in turn. */
void lists_begin(u64 run, u32 sources)
{
	memset(lists.list, 0, sizeof(lists.list));
	memset(lists.before, 0, sizeof(lists.before));
	lists.run = run;
	lists.unknown = false;
	lists.chance = chance_of(run);
	lists.tick = 100000 + below(1000);
	lists.old.budgets = 0;
	lists_limit(&lists.now, sources, run % WAYS, run / WAYS % WAYS);
}

void lists_end(void)
{
	unsigned int i;

	weir_table_free(lists.now.table);
	for (i = 0; i < 2 * LISTS_SOURCES; i++)
		twin_forget(&lists.history[i / 2][i % 2]);
}
