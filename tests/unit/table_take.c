// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Charges by request, of threads at the same time as packets: a reservation counts when it is
 * said to be due, and then no window has more than the bucket and a budget.
 */
#include <sched.h>

#include "table_ways.h"

#define SENDERS 4
#define SOURCES 6
#define SIZE 16
#define RATE 8
#define WINDOW 32

static struct weir_table *table;
static u64 now;			/* atomic */
static u32 begun;		/* atomic */

static struct sender {
	struct thread thread;
	unsigned int number, sources, requests;
	struct twin_history history[SOURCES];
	u64 reserved, ahead, refused, passed;
} sender[SENDERS];

static struct weir_table *table_of(enum way way, unsigned int ways)
{
	struct weir_table_spec spec = { .sources = 1, .prefix = { 32, 64 } };
	struct way_budget budget = way_budget(way, RATE, SIZE, WINDOW, 1, false);
	struct weir_table *made = way_table(&spec, &budget, 1, now);

	twin_shrink(made, 1, ways);
	return made;
}

static const u64 size[WEIR_BUDGETS_MAX] = { SIZE }, twice[] = { 2 * SIZE };

static void request(struct sender *w, struct chance *c)
{
	unsigned int i = chance_below(c, w->sources);
	struct weir_take take = { .cost = 1 + chance_below(c, SIZE), .due = SIZE };
	struct weir_lookup lookup = { .tick = READ_ONCE(now), .budgets = twice };
	struct weir_source source = twin_source_in(table, i, &lookup.hash);
	u16 result;

	lookup.source = &source;
	twin_enter();
	result = weir_table_take(table, &lookup, &take);
	twin_leave();
	w->refused += !!(result & WEIR_REFUSED);
	if (!(result & WEIR_CHARGED))
		return;
	twin_admit(&w->history[i], take.wait ? lookup.tick + take.wait :
		   twin_charged_at(table, &lookup, 0, READ_ONCE(now)), take.cost);
	w->reserved++;
	w->ahead += !!take.wait;
}

static void packet(struct sender *w, struct chance *c)
{
	unsigned int i = chance_below(c, w->sources);
	struct weir_lookup lookup = {
		.tick = READ_ONCE(now), .amount = { 1 }, .budgets = size,
	};
	struct weir_source source = twin_source_in(table, i, &lookup.hash);
	u16 result;

	lookup.source = &source;
	twin_enter();
	result = twin_packet(table, &lookup);
	twin_leave();
	if (!(result & WEIR_CHARGED))
		return;
	twin_admit(&w->history[i], twin_charged_at(table, &lookup, 0, READ_ONCE(now)), 1);
	w->passed++;
}

static void send_all(void *arg)
{
	struct sender *w = arg;
	struct chance c = chance_of(w->number);
	unsigned int i;

	thread_go(w->number);
	__atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
	while (READ_ONCE(begun) < SENDERS)
		cond_resched();
	for (i = 0; i < w->requests; i++) {
		if (w->number)
			request(w, &c);
		else
			packet(w, &c);
		if (chance_one_in(&c, 8))
			__atomic_add_fetch(&now, 1 + (chance_one_in(&c, 8) ? chance_below(&c, 4 * WINDOW) : 0),
					   __ATOMIC_RELAXED);
		sched_yield();
	}
}

static int compare(const void *a, const void *b)
{
	const struct twin_event *x = a, *y = b;

	return (x->tick > y->tick) - (x->tick < y->tick);
}

static void check_source(unsigned int i)
{
	struct twin_history all = { };
	unsigned int n, k;
	u64 most;

	for (n = 0; n < SENDERS; n++) {
		for (k = 0; k < sender[n].history[i].len; k++)
			twin_admit(&all, sender[n].history[i].event[k].tick,
				   sender[n].history[i].event[k].cost);
		twin_forget(&sender[n].history[i]);
	}
	if (all.len)
		qsort(all.event, all.len, sizeof(*all.event), compare);
	most = twin_most(&all, WINDOW, 0);
	check(most <= SIZE + RATE, "source %u: %llu in a window, not %u", i, most, SIZE + RATE);
	twin_forget(&all);
}

static void run(unsigned int sources)
{
	u64 reserved = 0, ahead = 0, refused = 0, passed = 0;
	unsigned int i;

	memset(sender, 0, sizeof(sender));
	now = 1000;
	begun = 0;
	table = table_of(LEAK, 4);
	for (i = 0; i < SENDERS; i++) {
		sender[i].number = i;
		sender[i].sources = sources;
		sender[i].requests = unit_rounds(40000);
		thread_start(&sender[i].thread, send_all, &sender[i]);
	}
	for (i = 0; i < SENDERS; i++) {
		thread_join(&sender[i].thread);
		reserved += sender[i].reserved;
		ahead += sender[i].ahead;
		refused += sender[i].refused;
		passed += sender[i].passed;
	}
	print_message("# %llu reserved, %llu of them ahead, %llu refused, %llu packets\n",
		      reserved, ahead, refused, passed);
	assert_true(ahead && refused && passed && reserved > ahead);
	for (i = 0; i < sources; i++)
		check_source(i);
	weir_table_free(table);
	assert_int_equal(shim_allocations, 0);
}

static void test_reserve(void **state)
{
	run(1);
}

/* With fewer ways than sources. */
static void test_reserve_evicted(void **state)
{
	run(SOURCES);
}

UNIT_MAIN("table_take", T(test_reserve), T(test_reserve_evicted))
