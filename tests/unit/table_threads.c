// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads on one source, one set, one table, and on two limits at once, of one budget or two,
 * counted in every way, while a mover replaces the tables and a reader looks at sources and forgets
 * some: together they are never admitted more than is said of each budget, and counts are exact
 * while time stands still.
 */
#include "table_ways.h"

#define SENDERS 3
#define SOURCES 24
#define LIMITS 2
#define BYTES 300	/* of a packet */
#define WINDOW 32
#define SLOT_MOST 8

static const struct weir_prefix prefix = { 32, 64 };

static struct weir_table __rcu *tables[LIMITS];
static u64 now;				/* atomic */
static bool stop;			/* atomic */
static u32 begun;			/* atomic */

static struct run {
	unsigned int sources, limits;
	bool tiny, time_passes, forgets, newcomers;
	unsigned int packets, moves_least;
	unsigned int more;		/* a second budget, so many ways further */
} r;

/* Of each limit; the second one refuses what the first one has charged. */
static struct way_budget budget[LIMITS][2];
static u64 room[LIMITS][2];
static unsigned int budgets;

static unsigned int moves;		/* atomic */
static u32 forgotten[LIMITS][SOURCES];

static struct sender {
	struct thread thread;
	unsigned int number;
	struct twin_history history[LIMITS][SOURCES][2];	/* of each budget */
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

static u8 ask(struct weir_lookup *lookup, struct weir_table **table)
{
	unsigned int n;
	u8 result = 0;

	for (n = 0; n < r.limits && !result; n++) {
		table[n] = rcu_dereference(tables[n]);
		lookup[n].budgets = room[n];
		result = weir_table_refuse(table[n], &lookup[n]);
	}
	return result ? n : 0;
}

/* When a charge counts; of a calendar, any time of that period, which another has not. */
static u64 charged_at(const struct weir_table *table, const struct weir_lookup *lookup,
		      unsigned int limit, unsigned int i, u64 clock)
{
	return budget[limit][i].way == CALENDAR ? 2 * WINDOW * lookup->receipt.at[i] :
	       twin_charged_at(table, lookup, i, clock);
}

static void admitted(struct sender *w, unsigned int limit, unsigned int source,
		     const struct weir_table *table, const struct weir_lookup *lookup, u64 clock)
{
	unsigned int i;

	for (i = 0; i < budgets; i++)
		twin_admit(&w->history[limit][source][i],
			   charged_at(table, lookup, limit, i, clock),
			   lookup->amount[budget[limit][i].spec.bytes]);
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
			.source = &source, .tick = tick, .amount = { 1, BYTES },
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
			admitted(w, k, i, table[k], &lookup[k], clock[k]);
		else if (k != by - 1)
			w->left[k][i] += !weir_table_uncharge(table[k], &lookup[k]);
	if ((result & (WEIR_REFUSED | WEIR_FLOORED)) == WEIR_REFUSED) {
		weir_entry_dropped(lookup[by - 1].entry, 1, false);
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

/* A calendar's timer: its periods are as long as the window. */
static void turn(struct weir_table *table, unsigned int limit)
{
	unsigned int i;

	for (i = 0; i < budgets; i++)
		if (budget[limit][i].way == CALENDAR)
			WRITE_ONCE(table->meter[i].base, test_clock() / WINDOW);
}

static struct weir_table *make_table(struct chance *c, unsigned int limit)
{
	struct weir_table_spec spec = {
		.sources = r.tiny ? 1 : 512 << chance_below(c, 3),
		.prefix = prefix,
		.newcomers = r.newcomers && !chance_one_in(c, 4),
	};
	struct way_budget with[2] = { budget[limit][0], budget[limit][1] };
	/* If time stands still, slots must not change. */
	bool wide = r.time_passes && chance_one_in(c, 2);
	struct weir_table *table;
	unsigned int i;

	for (i = 0; wide && i < budgets; i++)
		if (with[i].way == STRICT || with[i].way == LENIENT) {
			with[i].spec.slot_ticks = SLOT_MOST;
			with[i].spec.slots = WINDOW / SLOT_MOST;
		}
	table = way_table(&spec, with, budgets, test_clock());
	turn(table, limit);
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
		next = make_table(c, i);
		weir_table_succeed(next, old, room[i], room[i], &twin_key);
		rcu_assign_pointer(tables[i], next);
		weir_table_drain(next);
		synchronize_rcu();
		weir_table_free(old);
		WRITE_ONCE(moves, moves + 1);
	}
}

/* Look at random sources, sometimes forget one, and have periods end. */
static void look(void *arg)
{
	static struct weir_source_state state[WEIR_ENTRIES_MAX];
	struct chance c = chance_of(77);
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source source;
	struct weir_table *table;
	unsigned int i, n, limit;
	u32 hash;

	(void)arg;
	while (!READ_ONCE(stop)) {
		limit = chance_below(&c, r.limits);
		i = chance_below(&c, r.sources);
		source = twin_source(i, prefix);
		hash = weir_source_hash(&source, prefix, &twin_key);
		rcu_read_lock();
		table = rcu_dereference(tables[limit]);
		turn(table, limit);
		weir_table_peek(table, &source, hash, test_clock(), room[limit], NULL, &state[0], slot);
		for (n = 0; n < budgets; n++)
			check(state[0].count[n] <= room[limit][n], "%llu counted by way %u",
			      state[0].count[n], budget[limit][n].way);
		weir_table_walk(table, hash & (weir_table_sets(table) - 1),
				test_clock(), room[limit], NULL, false, state);
		if (r.forgets && chance_one_in(&c, 4))
			forgotten[limit][i] += weir_table_forget(table, &source, hash,
								 test_clock());
		rcu_read_unlock();
		cond_resched();
	}
}

/* All that a budget admitted of a source, from all senders, by time */
static struct twin_history merge(unsigned int limit, unsigned int i, unsigned int by)
{
	unsigned int at[SENDERS] = { }, n, first = 0;
	struct twin_history all = { };
	const struct twin_event *from, *event;
	const struct twin_history *of;

	do {
		from = NULL;
		for (n = 0; n < SENDERS; n++) {
			of = &sender[n].history[limit][i][by];
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
			test_clock(), room[limit], NULL, &state, slot);
	rcu_read_unlock();
	for (n = 0; n < SENDERS; n++) {
		dropped += sender[n].dropped[limit][i];
		left += sender[n].left[limit][i];
	}
	for (n = 0; n < budgets; n++)
		check(state.count[n] == (admitted + left) * (budget[limit][n].spec.bytes ? BYTES : 1),
		      "source %u, way %u: %llu for %llu + %llu", i, budget[limit][n].way,
		      state.count[n], admitted, left);
	/* A refusal while its way is being moved may be lost. */
	check(state.dropped <= dropped && (moves || state.dropped == dropped),
	      "source %u: %llu dropped for %llu", i, state.dropped, dropped);
}

static void check_source(unsigned int limit, unsigned int i)
{
	const struct way_budget *by;
	struct twin_history all;
	unsigned int n;
	u64 window, most, is;

	for (n = 0; n < budgets; n++) {
		by = &budget[limit][n];
		all = merge(limit, i, n);
		/* If slots change, the tick of a late charge is only known to a slot. */
		window = by->way == TOTAL ? WAY_FOR_EVER : moves ? WINDOW - SLOT_MOST : WINDOW;
		is = twin_most(&all, window, 0);
		most = by->way == CALENDAR ? by->room : way_most(by);
		check(is <= most * (1 + forgotten[limit][i]),
		      "source %u, way %u: %llu of %llu, %u times forgotten", i, by->way, is, most,
		      forgotten[limit][i]);
		if (!n && !r.time_passes && !r.forgets && !r.tiny)
			check_exact(limit, i, all.len);
		twin_forget(&all);
	}
}

static void check_all(u64 *admitted, u64 *refused, u64 *again)
{
	unsigned int limit, i, n;

	for (limit = 0; limit < r.limits; limit++)
		for (i = 0; i < r.sources; i++) {
			check_source(limit, i);
			cond_resched();
		}
	for (n = 0; n < SENDERS; n++) {
		*admitted += sender[n].admitted;
		*refused += sender[n].refused;
		*again += sender[n].again;
		for (i = 0; i < 2 * LIMITS * SOURCES; i++)
			twin_forget(&sender[n].history[i / 2 / SOURCES][i / 2 % SOURCES][i % 2]);
	}
}

/* A window of eight slots or one */
static struct way_budget small(enum way way, u64 packets, bool bytes)
{
	u32 slot_ticks = way == FIXED || way == CALENDAR ? WINDOW : WINDOW / 8;

	packets *= bytes && way != LOG ? BYTES : 1;
	return way_budget(way, packets, packets, 8, slot_ticks, bytes);
}

static void run_way(enum way way, u64 *admitted, u64 *refused, u64 *again)
{
	enum way other = (way + r.more) % WAYS;
	struct thread mover, looker;
	struct chance c = chance_of(99);
	unsigned int i;

	budgets = r.more ? 2 : 1;
	for (i = 0; i < LIMITS; i++) {
		budget[i][0] = small(i ? other : way, 20 - 8 * i, false);
		budget[i][1] = small(i ? way : other, 15 - 8 * i, true);
		room[i][0] = budget[i][0].room;
		room[i][1] = budget[i][1].room;
	}
	memset(sender, 0, sizeof(sender));
	memset(forgotten, 0, sizeof(forgotten));
	now = 1000;
	moves = 0;
	stop = false;
	begun = 0;
	for (i = 0; i < r.limits; i++)
		RCU_INIT_POINTER(tables[i], make_table(&c, i));
	shim_clock = test_clock;
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
	check_all(admitted, refused, again);
	for (i = 0; i < r.limits; i++)
		weir_table_free(current_table(i));
}

/* Each way to count has its part of the packets and moves. */
static void run(struct run what)
{
	u64 admitted = 0, refused = 0, again = 0;
	unsigned int way, all_moves = 0;

	r = what;
	r.packets = unit_rounds(what.packets) / WAYS + 1;
	r.moves_least = what.moves_least ? unit_rounds(what.moves_least) / WAYS + 1 : 0;
	for (way = 0; way < WAYS; way++) {
		run_way(way, &admitted, &refused, &again);
		all_moves += moves;
	}
	print_message("# %llu admitted, %llu refused, %llu again, %u moves\n",
		      admitted, refused, again, all_moves);
	assert_true(admitted && refused);
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
TEST(test_several, .sources = SOURCES, .limits = 2, .packets = 20000, .more = 1)
TEST(test_several_one, .sources = 1, .limits = 1, .packets = 50000, .more = 5)
TEST(test_several_moved, .sources = SOURCES, .limits = 2, .packets = 10000, .more = 2,
	.moves_least = 50)
TEST(test_several_tiny, .sources = SOURCES, .limits = 2, .packets = 20000, .tiny = true,
	.time_passes = true, .more = 3, .moves_least = 100)
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
