// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads on one source, one bucket, one table, while a mover replaces the
 * table under them: what they were admitted together is never above the
 * budget, and exact where time stands still.
 */
#include "table_twin.h"

#define THREADS 3
#define SOURCES 24

static struct weir_table __rcu *table;
static u64 now = 1000;			/* atomic */
static bool stop;			/* atomic */
static u64 budget;
static unsigned int sources, packets, moves, moves_least;
static u32 begun;			/* atomic */
static bool time_passes;

struct worker {
	struct thread thread;
	unsigned int number;
	struct twin_history history[SOURCES];
	u64 refused[SOURCES], given_back, again, packets;
};

static u64 test_clock(void)
{
	return READ_ONCE(now);
}

/* Where nobody else publishes one. */
static struct weir_table *current_table(void)
{
	return rcu_dereference_protected(table, true);
}

/* As the hook does it. */
static void packet(struct worker *w, struct chance *c, unsigned int i)
{
	const struct weir_prefix prefix = { 32, 64 };
	struct weir_source source = twin_source(i, prefix);
	u32 hash = weir_source_hash(&source, prefix, &twin_key);
	struct weir_cost cost = { .packets = 1, .bytes = 1 };
	struct weir_visit visit = { };
	unsigned int result;
	struct weir_table *t;
	u64 tick;

	local_bh_disable();
	rcu_read_lock();
	do {
		t = rcu_dereference(table);
		tick = test_clock();
		result = twin_recall(t, &source, tick, cost, budget, &visit) ?:
			 twin_refuse(t, &source, hash, tick, cost, budget,
				     &visit);
		if (!result)
			result = twin_charge(t, &source, hash, &tick, cost,
					     budget, &visit);
		w->again += !!(result & WEIR_AGAIN);
	} while (result & WEIR_AGAIN);
	if (result & WEIR_REFUSED) {
		w->refused[i]++;
	} else if (chance_one_in(c, 16)) {
		weir_table_uncharge(t, &source, hash, tick, cost);
		w->given_back++;
	} else {
		twin_note(&w->history[i], tick, 1);
	}
	rcu_read_unlock();
	local_bh_enable();
}

static void work(void *arg)
{
	struct worker *w = arg;
	struct chance c = chance_of(w->number);
	unsigned int i;

	thread_go(w->number);
	__atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
	while (READ_ONCE(begun) < THREADS)
		cond_resched();
	for (i = 0; i < packets || READ_ONCE(moves) < moves_least; i++) {
		packet(w, &c, chance_below(&c, sources));
		if (time_passes && chance_one_in(&c, 200))
			__atomic_add_fetch(&now, 1, __ATOMIC_RELAXED);
		w->packets++;
		cond_resched();
	}
}

static struct weir_table *make_table(struct chance *c, bool tiny)
{
	struct weir_table_spec spec = {
		.budget = budget, .slot_ticks = 4, .slots = 8,
		.sources = 64 << chance_below(c, 4), .prefix = { 32, 64 },
	};
	struct weir_table *t;

	if (chance_one_in(c, 2))
		spec = (struct weir_table_spec) {
			.budget = budget, .slot_ticks = 8, .slots = 4,
			.sources = 64, .prefix = { 32, 64 },
		};
	t = weir_table_alloc(&spec);
	assert_false(IS_ERR(t));
	if (tiny)
		twin_shrink(t, min(t->mask + 1, 4u), 2);
	return t;
}

static void move(void *arg)
{
	struct chance c = chance_of(99);
	struct weir_table *old, *next;

	while (!READ_ONCE(stop)) {
		WRITE_ONCE(moves, moves + 1);
		old = current_table();
		next = make_table(&c, *(bool *)arg);
		weir_table_move(old, next, budget, budget, &twin_key,
				test_clock);
		local_bh_disable();
		preempt_disable();
		weir_table_live(next);
		rcu_assign_pointer(table, next);
		preempt_enable();
		local_bh_enable();
		synchronize_rcu();
		weir_table_put(old);
	}
}

/* What a source was admitted by all threads, in order of time. */
static struct twin_history merge(const struct worker *worker, unsigned int i)
{
	const struct twin_history *of, *from;
	unsigned int at[THREADS] = { }, n, first = 0;
	struct twin_history all = { };

	do {
		from = NULL;
		for (n = 0; n < THREADS; n++) {
			of = &worker[n].history[i];
			if (at[n] == of->len || (from && of->event[at[n]].tick >=
						 from->event[at[first]].tick))
				continue;
			from = of;
			first = n;
		}
		if (from) {
			twin_note(&all, from->event[at[first]].tick,
				  from->event[at[first]].cost);
			at[first]++;
		}
	} while (from);
	return all;
}

/* Returns what was admitted, and checks every window of every source. */
static u64 join(struct worker *worker, u64 *packet, u64 *refused,
		u64 *again)
{
	struct twin_history all;
	unsigned int i, n;
	u64 admitted = 0;

	for (i = 0; i < sources; i++) {
		all = merge(worker, i);
		for (n = 0; n < THREADS; n++) {
			*refused += worker[n].refused[i];
			twin_forget(&worker[n].history[i]);
		}
		admitted += all.len;
		check(twin_most(&all, 32) <= budget,
		      "source %u: %llu of %llu", i, twin_most(&all, 32), budget);
		twin_forget(&all);
		cond_resched();
	}
	for (n = 0; n < THREADS; n++) {
		admitted += worker[n].given_back;
		*again += worker[n].again;
		*packet += worker[n].packets;
	}
	return admitted;
}

static void forget_table(void)
{
	weir_table_put(current_table());
	assert_int_equal(shim_allocations, 0);
}

/* Returns what was refused. */
static u64 run(unsigned int n, bool tiny, bool time, bool mover)
{
	static struct worker worker[THREADS];
	u64 admitted, packet = 0, refused = 0, again = 0;
	struct thread mover_thread;
	struct chance c = chance_of(n);
	unsigned int i;

	memset(worker, 0, sizeof(worker));
	sources = n;
	budget = 50;
	packets = unit_rounds(150000);
	time_passes = time;
	moves = 0;
	moves_least = mover ? unit_rounds(200) : 0;
	RCU_INIT_POINTER(table, make_table(&c, tiny));
	stop = false;
	begun = 0;
	for (i = 0; i < THREADS; i++) {
		worker[i].number = i;
		thread_start(&worker[i].thread, work, &worker[i]);
	}
	if (mover)
		thread_start(&mover_thread, move, &tiny);
	for (i = 0; i < THREADS; i++)
		thread_join(&worker[i].thread);
	WRITE_ONCE(stop, true);
	if (mover)
		thread_join(&mover_thread);
	admitted = join(worker, &packet, &refused, &again);
	assert_int_equal(admitted + refused, packet);
	print_message("# %llu admitted, %llu refused, %llu again, %u moves\n",
		      admitted, refused, again, moves);
	return refused;
}

/* Time stands: a source gets its budget to the packet, refusals are counted. */
static void test_exact(void **state)
{
	const struct weir_prefix prefix = { 32, 64 };
	struct weir_source_state stood;
	u64 slot[WEIR_SLOTS_MAX + 1], refused, dropped = 0, counted = 0;
	struct weir_source source;
	unsigned int i;

	(void)state;
	refused = run(SOURCES, false, false, false);
	for (i = 0; i < SOURCES; i++) {
		source = twin_source(i, prefix);
		weir_table_peek(current_table(), &source,
				weir_source_hash(&source, prefix, &twin_key),
				now, budget, &stood, slot);
		counted += stood.count;
		dropped += stood.dropped;
	}
	assert_true(counted == SOURCES * budget);
	check(dropped == refused, "%llu for %llu", dropped, refused);
	forget_table();
}

static void test_one_source(void **state)
{
	(void)state;
	run(1, false, true, false);
	forget_table();
}

static void test_one_source_moved(void **state)
{
	(void)state;
	run(1, false, true, true);
	forget_table();
}

static void test_tiny_moved(void **state)
{
	(void)state;
	run(SOURCES, true, true, true);
	forget_table();
}

static void test_table_moved(void **state)
{
	(void)state;
	run(SOURCES, false, true, true);
	forget_table();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_one_source),
		cmocka_unit_test(test_one_source_moved),
		cmocka_unit_test(test_tiny_moved),
		cmocka_unit_test(test_table_moved),
	};

	return cmocka_run_group_tests_name("table_threads", tests, NULL, NULL);
}
