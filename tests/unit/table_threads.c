// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads on one source, one bucket, one table, and on two limits at once, while a mover replaces
 * the tables and a reader looks at sources and forgets some: together they are never admitted more
 * than the budget, and counts are exact while time stands still.
 */
#include "table_twin.h"

#define SENDERS 3
#define SOURCES 24
#define LIMITS 2
#define BUDGET 50
#define WINDOW 32
#define SLOT_MOST 8

static const u64 budget[2] = { 2 * BUDGET, 300 * BUDGET };
static const struct weir_prefix prefix = { 32, 64 };

static struct weir_table __rcu *tables[LIMITS];
static u64 now;				/* atomic */
static bool stop;			/* atomic */
static u32 begun;			/* atomic */

static struct run {
	unsigned int sources, limits;
	bool tiny, time_passes, forgets, newcomers, several;
	unsigned int packets, moves_least;
} r;

static unsigned int moves;		/* atomic */
static u32 forgotten[LIMITS][SOURCES];

static struct sender {
	struct thread thread;
	unsigned int number;
	struct twin_history history[LIMITS][SOURCES];
	u64 dropped[LIMITS][SOURCES];	/* refused, by a way */
	u64 left[LIMITS][SOURCES];	/* charges that could not be given back */
	u64 admitted, refused, again;
} sender[SENDERS];

static u64 test_clock(void)
{
	return READ_ONCE(now);
}

/* For the only publisher of tables, or once there is none. */
static struct weir_table *current_table(unsigned int limit)
{
	return rcu_dereference_protected(tables[limit], true);
}

/* Of each limit, in packets and in bytes, which refuse first. */
static const u64 budgets[LIMITS][2] = {
	{ 2 * BUDGET, 300 * BUDGET }, { 2 * BUDGET, 300 * (BUDGET - 20) },
};

static u8 ask(struct weir_lookup *lookup, struct weir_table **table)
{
	unsigned int n;
	u8 result = 0;

	for (n = 0; n < r.limits && !result; n++) {
		table[n] = rcu_dereference(tables[n]);
		/* The second limit refuses what the first has charged. */
		lookup[n].budget = BUDGET - 20 * n;
		lookup[n].budgets = budgets[n];
		result = weir_table_refuse(table[n], &lookup[n]);
	}
	return result ? n : 0;
}

/* Like the hook: ask all limits, charge in order, give back in order. */
static u8 pass(struct sender *w, unsigned int i, u64 tick)
{
	struct weir_source source = twin_source(i, prefix);
	struct weir_lookup lookup[LIMITS];
	struct weir_table *table[LIMITS];
	unsigned int n, k, by;
	const struct weir_permit permit = { .late = i % 2 };
	u64 clock[LIMITS];
	u8 result = 0;

	for (n = 0; n < LIMITS; n++)
		lookup[n] = (struct weir_lookup) {
			.source = &source, .tick = tick, .cost = 1, .amount = { 1, 300 },
			.hash = weir_source_hash(&source, prefix, &twin_key),
		};
	by = ask(lookup, table);
	if (by)
		result = WEIR_REFUSED;
	for (n = 0; n < r.limits && !by; n++) {
		clock[n] = test_clock();
		result = weir_table_charge(table[n], &lookup[n]);
		if (result == WEIR_NEWCOMER)
			result = weir_table_admit(table[n], &lookup[n], &permit);
		if (!(result & WEIR_CHARGED))
			by = n + 1;
	}
	for (k = 0; k < n; k++)
		if (!by)
			twin_admit(&w->history[k][i],
				   twin_charged_at(table[k], &lookup[k], clock[k]), 1);
		else if (k != by - 1)
			w->left[k][i] += !weir_table_uncharge(table[k], &lookup[k]);
	if ((result & (WEIR_REFUSED | WEIR_FLOORED)) == WEIR_REFUSED) {
		weir_way_dropped(lookup[by - 1].way, 1, false);
		w->dropped[by - 1][i]++;
	}
	return result;
}

static void packet(struct sender *w, struct chance *c, unsigned int i)
{
	u64 tick = test_clock();
	u8 result;

	if (r.time_passes && chance_one_in(c, 4))
		tick -= chance_below(c, 2 * WINDOW);
	twin_enter();
	while ((result = pass(w, i, tick)) & WEIR_AGAIN)
		w->again++;
	twin_leave();
	w->refused += !!(result & WEIR_REFUSED);
	w->admitted += !!(result & WEIR_CHARGED);
}

static void send_packets(void *arg)
{
	struct sender *w = arg;
	struct chance c = chance_of(w->number);
	unsigned int i;

	thread_go(w->number);
	__atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
	while (READ_ONCE(begun) < SENDERS)
		cond_resched();
	for (i = 0; i < r.packets || READ_ONCE(moves) < r.moves_least; i++) {
		packet(w, &c, chance_below(&c, r.sources));
		if (r.time_passes && chance_one_in(&c, 200))
			__atomic_add_fetch(&now, 1, __ATOMIC_RELAXED);
		cond_resched();
	}
}

static struct weir_table *make_table(struct chance *c)
{
	struct weir_table_spec spec = {
		.budget = BUDGET, .slot_ticks = 4, .slots = 8,
		.sources = r.tiny ? 1 : 512 << chance_below(c, 3),
		.prefix = prefix,
		.newcomers = r.newcomers && !chance_one_in(c, 4),
	};
	struct weir_table *table;

	if (r.several)
		spec.more[0] = (struct weir_count_spec) {
			.budget = budgets[0][1], .slot_ticks = 4, .slots = 8, .bytes = true,
		};
	/* If time stands still, slots must not change. */
	if (r.time_passes && chance_one_in(c, 2)) {
		spec.slot_ticks = SLOT_MOST;
		spec.slots = 4;
	}
	table = weir_table_alloc(&spec, test_clock());
	assert_false(IS_ERR(table));
	return table;
}

static void move(void *arg)
{
	struct chance *c = arg;
	struct weir_table *old, *next;
	unsigned int i;

	while (!READ_ONCE(stop)) {
		i = chance_below(c, r.limits);
		old = current_table(i);
		next = make_table(c);
		weir_table_succeed(next, old, budget, budget, &twin_key, test_clock);
		rcu_assign_pointer(tables[i], next);
		weir_table_drain(next);
		synchronize_rcu();
		weir_table_free(old);
		WRITE_ONCE(moves, moves + 1);
	}
}

/* Look at random sources, and sometimes forget one. */
static void look(void *arg)
{
	static struct weir_source_state state[WEIR_WAYS_MAX];
	struct chance c = chance_of(77);
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source source;
	struct weir_table *table;
	unsigned int i, limit;
	u32 hash;

	(void)arg;
	while (!READ_ONCE(stop)) {
		limit = chance_below(&c, r.limits);
		i = chance_below(&c, r.sources);
		source = twin_source(i, prefix);
		hash = weir_source_hash(&source, prefix, &twin_key);
		rcu_read_lock();
		table = rcu_dereference(tables[limit]);
		weir_table_peek(table, &source, hash, test_clock(), budget, &state[0], slot);
		check(state[0].count[0] <= (r.several ? 2 : 1) * BUDGET, "%llu counted",
		      state[0].count[0]);
		weir_table_walk(table, hash & (weir_table_buckets(table) - 1),
				test_clock(), budget, state);
		if (r.forgets && chance_one_in(&c, 4))
			forgotten[limit][i] += weir_table_forget(table, &source, hash);
		rcu_read_unlock();
		cond_resched();
	}
}

/* All that a source was admitted, from all senders, by time */
static struct twin_history merge(unsigned int limit, unsigned int i)
{
	unsigned int at[SENDERS] = { }, n, first = 0;
	struct twin_history all = { };
	const struct twin_event *from, *event;
	const struct twin_history *of;

	do {
		from = NULL;
		for (n = 0; n < SENDERS; n++) {
			of = &sender[n].history[limit][i];
			if (at[n] == of->len)
				continue;
			event = &of->event[at[n]];
			if (from && event->tick >= from->tick)
				continue;
			from = event;
			first = n;
		}
		if (from) {
			twin_admit(&all, from->tick, from->cost);
			at[first]++;
		}
	} while (from);
	return all;
}

/* While time stands still and all sources have ways, counts are exact. */
static void check_exact(unsigned int limit, unsigned int i, u64 admitted)
{
	struct weir_source source = twin_source(i, prefix);
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1], dropped = 0, left = 0;
	unsigned int n;

	rcu_read_lock();
	weir_table_peek(current_table(limit), &source, weir_source_hash(&source, prefix, &twin_key),
			test_clock(), budget, &state, slot);
	rcu_read_unlock();
	for (n = 0; n < SENDERS; n++) {
		dropped += sender[n].dropped[limit][i];
		left += sender[n].left[limit][i];
	}
	check(state.count[0] == admitted + left, "source %u: %llu for %llu + %llu",
	      i, state.count[0], admitted, left);
	check(!r.several || state.count[1] == 300 * state.count[0], "source %u: %llu bytes",
	      i, state.count[1]);
	/* A refusal while its way is being moved may be lost. */
	check(state.dropped <= dropped && (moves || state.dropped == dropped),
	      "source %u: %llu dropped for %llu", i, state.dropped, dropped);
}

static void check_source(unsigned int limit, unsigned int i)
{
	struct twin_history all = merge(limit, i);
	/* If slots change, the tick of a late charge is only known to a slot. */
	u64 most = twin_most(&all, moves ? WINDOW - SLOT_MOST : WINDOW, 0);

	check(most <= (BUDGET - 20ull * limit) * (1 + forgotten[limit][i]),
	      "source %u: %llu of %u, %u times forgotten", i, most,
	      BUDGET - 20 * limit, forgotten[limit][i]);
	if (!r.time_passes && !r.forgets && !r.tiny)
		check_exact(limit, i, all.len);
	twin_forget(&all);
}

static void check_all(void)
{
	u64 admitted = 0, refused = 0, again = 0;
	unsigned int limit, i, n;

	for (limit = 0; limit < r.limits; limit++)
		for (i = 0; i < r.sources; i++) {
			check_source(limit, i);
			cond_resched();
		}
	for (n = 0; n < SENDERS; n++) {
		admitted += sender[n].admitted;
		refused += sender[n].refused;
		again += sender[n].again;
		for (i = 0; i < LIMITS * SOURCES; i++)
			twin_forget(&sender[n].history[i / SOURCES][i % SOURCES]);
	}
	print_message("# %llu admitted, %llu refused, %llu again, %u moves\n",
		      admitted, refused, again, moves);
	assert_true(admitted && refused);
}

static void run(struct run what)
{
	struct thread mover, looker;
	struct chance c = chance_of(99);
	unsigned int i;

	r = what;
	r.packets = unit_rounds(what.packets);
	r.moves_least = what.moves_least ? unit_rounds(what.moves_least) : 0;
	memset(sender, 0, sizeof(sender));
	memset(forgotten, 0, sizeof(forgotten));
	now = 1000;
	moves = 0;
	stop = false;
	begun = 0;
	for (i = 0; i < r.limits; i++)
		RCU_INIT_POINTER(tables[i], make_table(&c));
	for (i = 0; i < SENDERS; i++) {
		sender[i].number = i;
		thread_start(&sender[i].thread, send_packets, &sender[i]);
	}
	if (r.moves_least)
		thread_start(&mover, move, &c);
	thread_start(&looker, look, NULL);
	for (i = 0; i < SENDERS; i++)
		thread_join(&sender[i].thread);
	WRITE_ONCE(stop, true);
	if (r.moves_least)
		thread_join(&mover);
	thread_join(&looker);
	check_all();
	for (i = 0; i < r.limits; i++)
		weir_table_free(current_table(i));
	assert_int_equal(shim_allocations, 0);
}

/* A test of one run */
#define TEST(name, ...)					\
static void name(void **state)				\
{							\
	run((struct run) { __VA_ARGS__ });		\
}
TEST(test_exact, .sources = SOURCES, .limits = 2, .packets = 100000)
TEST(test_exact_moved, .sources = SOURCES, .limits = 2, .packets = 10000, .moves_least = 50)
/* Give-back races with forgetting. */
TEST(test_forgotten, .sources = 3, .limits = 2, .packets = 100000, .forgets = true)
TEST(test_several, .sources = SOURCES, .limits = 2, .packets = 20000, .several = true)
TEST(test_several_one, .sources = 1, .limits = 1, .packets = 50000, .several = true)
TEST(test_several_moved, .sources = SOURCES, .limits = 2, .packets = 10000, .several = true,
	.moves_least = 50)
TEST(test_several_tiny, .sources = SOURCES, .limits = 2, .packets = 20000, .tiny = true,
	.time_passes = true, .several = true, .moves_least = 100)
TEST(test_one_source, .sources = 1, .limits = 1, .packets = 100000, .time_passes = true)
TEST(test_one_source_moved, .sources = 1, .limits = 2, .packets = 10000, .time_passes = true,
	.moves_least = 100)
TEST(test_tiny_moved, .sources = SOURCES, .limits = 2, .packets = 50000, .tiny = true,
	.time_passes = true, .moves_least = 200)
TEST(test_moved, .sources = SOURCES, .limits = 2, .packets = 20000, .time_passes = true,
	.moves_least = 50)
TEST(test_newcomers, .sources = SOURCES, .limits = 2, .packets = 50000, .newcomers = true,
	.moves_least = 50)
TEST(test_newcomers_moved, .sources = SOURCES, .limits = 2, .packets = 50000, .tiny = true,
	.time_passes = true, .newcomers = true, .moves_least = 200)

UNIT_MAIN("table_threads", T(test_exact), T(test_exact_moved), T(test_forgotten),
	  T(test_one_source), T(test_one_source_moved), T(test_tiny_moved), T(test_moved),
	  T(test_newcomers), T(test_newcomers_moved), T(test_several), T(test_several_one),
	  T(test_several_moved), T(test_several_tiny))
