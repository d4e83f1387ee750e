// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources with several budgets, of all ways to count in all pairs, against lists of all that
 * each was charged: what is admitted and refused, by which budget; give-back; eviction and floors;
 * successors with other budgets; and what any interval admits.
 */
#include "table/counts.h"
#include "table_lists.h"

static u64 clock_now(void)
{
	return lists.tick;
}

/* Each source has a way, so all is exact. */
static void test_exact(void **state)
{
	struct unit_runs runs = unit_runs(6000);
	unsigned int n, i;

	memset(&lists.refused, 0, sizeof(lists.refused));
	for (; runs.first < runs.end; runs.first++) {
		lists_begin(runs.first, 64);
		for (n = 0; n < 200; n++) {
			i = below(4);
			lists_pass_random();
			lists_packet(i, true);
			if (!below(8))
				lists_check(i);
			if (!below(60))
				weir_table_age(lists.now.table, lists.tick);
		}
		lists_end();
	}
	print_message("# %llu admitted, refused by %llu %llu %llu %llu\n", lists.admitted,
		      lists.refused[0], lists.refused[1], lists.refused[2], lists.refused[3]);
	for (n = 0; n < WEIR_BUDGETS_MAX; n++)
		assert_true(lists.refused[n]);
}

/* More sources than ways: none gets more than any of its budgets. */
static void test_floors(void **state)
{
	struct unit_runs runs = unit_runs(2000);
	u64 evicted = 0, floored = 0;
	unsigned int n;
	u16 result;

	for (; runs.first < runs.end; runs.first++) {
		lists_begin(runs.first, 1);
		twin_shrink(lists.now.table, 1, 4);
		for (n = 0; n < 300; n++) {
			lists_pass_random();
			result = lists_packet(below(LISTS_SOURCES), false);
			evicted += !!(result & WEIR_EVICTED);
			floored += !!(result & WEIR_FLOORED);
		}
		lists_end();
	}
	print_message("# %llu evicted, %llu refused by floors\n", evicted, floored);
	assert_true(evicted && floored);
}

/* Slots of the same numbers */
static bool same_slots(const struct way_budget *a, const struct way_budget *b)
{
	bool ring = a->way < LEAK && b->way < LEAK && way_reach(a) == way_reach(b);

	return (ring || (a->way == b->way && (a->way == LOG || a->way == CALENDAR))) &&
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

/* Is the old budget @a nearer than @b, or wider? */
static bool nearer(unsigned int a, unsigned int b, const struct way_budget *now)
{
	u64 far_a = distance(&lists.old.budget[a], now), far_b = distance(&lists.old.budget[b], now);

	if (far_a != far_b)
		return far_a < far_b;
	return lists.old.budget[a].spec.bytes == now->spec.bytes &&
	       weir_shape_max(&lists.old.table->meter[a].shape) >
	       weir_shape_max(&lists.old.table->meter[b].shape);
}

/*
 * The list of a new count: that of the old one, or what that held, in the present slot. A floor
 * forgets when the old window has passed what a count that never ends has of it.
 */
static void list_move(unsigned int source, unsigned int i, const struct list *all, bool floor)
{
	const struct way_budget *now = &lists.now.budget[i], *old = &lists.old.budget[lists.from[i]];
	const struct list *was = &all[lists.from[i]];
	struct list *list = &lists.list[source][i];
	u64 held = lists_expected(&lists.old, lists.from[i], was);
	bool unit = old->spec.bytes == now->spec.bytes;
	unsigned int n;

	lists.moved[old->way][now->way] += !!held;
	list->len = 0;
	for (n = 0; same_slots(old, now) && n < was->len; n++)
		if (was->event[n].slot + way_reach(old) >= lists_slot(&lists.old, lists.from[i]))
			list->event[list->len++] = was->event[n];
	if (!unit)
		held = weir_budget_part(held, now->room, old->room);
	for (n = 0; !unit && n < lists.old.budgets; n++)
		if (lists.old.budget[n].spec.bytes == now->spec.bytes)
			held = max(held, lists_expected(&lists.old, n, &all[n]));
	if (same_slots(old, now) || !held || (floor && now->way == TOTAL && old->way != TOTAL))
		return;
	lists_add(source, i, min(held, weir_shape_max(&lists.now.table->meter[i].shape)));
}

/* Into the table of a limit with other budgets. */
static void move(u32 sources, bool tiny)
{
	static struct list was[WEIR_BUDGETS_MAX];
	struct weir_source_state state;
	const struct way_budget *old;
	unsigned int i, k, source;

	lists.old = lists.now;
	lists_limit(&lists.now, sources, lists.run / WAYS % WAYS, below(WAYS));
	if (tiny)
		twin_shrink(lists.now.table, 1, 4);
	shim_clock = clock_now;
	weir_table_succeed(lists.now.table, lists.old.table, lists.now.room, lists.old.room, &twin_key);
	/* A calendar goes on with that of the same window. */
	for (i = 0; i < lists.now.budgets; i++)
		lists.now.period[i] = lists.now.table->meter[i].base;
	k = weir_table_drain(lists.now.table);
	assert_true(!k || tiny);
	for (i = 0; i < lists.now.budgets; i++) {
		lists.from[i] = lists.kept ? i : 0;
		for (k = 1; k < lists.old.budgets && !lists.kept; k++)
			if (nearer(k, lists.from[i], &lists.now.budget[i]))
				lists.from[i] = k;
		old = &lists.old.budget[lists.from[i]];
		lists.unknown |= same_slots(old, &lists.now.budget[i]) && old->way == LOG &&
			     lists.now.budget[i].spec.slots > old->spec.slots;
	}
	for (source = 0; source < LISTS_SOURCES; source++) {
		memcpy(was, lists.list[source], sizeof(was));
		lists.before[source] = lists.history[source][0].len;
		lists_peek(source, &state);
		for (i = 0; i < lists.now.budgets; i++)
			list_move(source, i, was, state.floor);
	}
	synchronize_rcu();
	weir_table_free(lists.old.table);
}

/* A change to other budgets loses no count, and keeps none for longer than it should. */
static void test_moved(void **state)
{
	struct unit_runs runs = unit_runs(6000);
	unsigned int n, i, sources;
	bool tiny;

	for (; runs.first < runs.end; runs.first++) {
		lists_begin(runs.first, 64);
		tiny = !below(3);
		sources = tiny ? LISTS_SOURCES : 4;
		if (tiny)
			twin_shrink(lists.now.table, 1, 4);
		for (n = 0; n < 200; n++) {
			if (n == 100)
				move(64, tiny);
			for (i = 0; i < 4 && !tiny && n > 98 && n < 102; i++)
				lists_check(i);
			lists_pass_random();
			lists_packet(below(sources), !tiny);
		}
		lists_pass(5000);
		for (i = 0; i < 4 && !tiny; i++)
			lists_check(i);
		lists_end();
	}
}

/* Sources forgotten, and all */
static void test_forget(void **state)
{
	struct unit_runs runs = unit_runs(500);
	struct weir_source_state now;
	struct weir_source source;
	unsigned int n, k;
	u32 set, hash;

	for (; runs.first < runs.end; runs.first++) {
		lists_begin(runs.first, 64);
		for (n = 0; n < 40; n++) {
			lists_pass(below(2));
			lists_packet(below(4), true);
		}
		lists_peek(1, &now);
		source = twin_source_in(lists.now.table, 1, &hash);
		/* What is over is forgotten, too. */
		check(weir_table_forget(lists.now.table, &source, hash, 0) >= now.live,
		      "run %llu: not forgotten", lists.run);
		for (n = 0; n < lists.now.budgets; n++)
			lists.list[1][n].len = 0;
		for (k = 0; k < 4; k++)
			lists_check(k);
		for (set = 0; set < weir_table_sets(lists.now.table); set++)
			weir_table_clear(lists.now.table, set);
		lists_peek(2, &now);
		check(!now.live && now.floor, "run %llu: still there", lists.run);
		lists_end();
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
			check(lists.pair_refused[a][b][0] && lists.pair_refused[a][b][1],
			      "%u and %u: %llu, %llu refused", a, b, lists.pair_refused[a][b][0],
			      lists.pair_refused[a][b][1]);
			check(lists.moved[a][b], "%u was not changed into %u", a, b);
		}
}

UNIT_MAIN("table_budgets", T(test_exact), T(test_floors), T(test_moved), T(test_forget),
	  T(test_pairs))
