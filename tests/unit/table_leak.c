// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table of leaky buckets: whoever is evicted, moved or given back, no window of a source has
 * more than the size and a budget, the largest since the source's history began.
 */
#include "table_twin.h"

#define SOURCES	12
#define WAYS	4

/* The table, its limit, and what was admitted. */
static struct {
	struct weir_table *table;
	u64 size, rate, size_most, rate_most, tick, run;
	u32 window;
	struct twin_history history[SOURCES];
	struct chance c;
	bool reserves;		/* some charges are reservations; the budget stays */
	u64 admitted, refused, floored, evicted, reserved;
} t;

static u64 below(u64 n)
{
	return chance_below(&t.c, n);
}

/* The window stays, so that a bound for it holds. */
static struct weir_table *random_table(void)
{
	struct weir_table_spec spec = { .sources = 1, .prefix = { 32, 64 } };
	struct weir_meter_spec *meter = &spec.meter[0];
	struct weir_table *table;

	meter->slot_ticks = 1 + below(min(t.window, 5u));
	meter->slots = (t.window + meter->slot_ticks - 1) / meter->slot_ticks;
	t.rate = 1 + below(20);
	meter->rate = t.rate;
	t.size = 1 + below(below(2) ? 3 : 4 * t.rate);
	meter->budget = t.size;
	t.size_most = max(t.size_most, t.size);
	t.rate_most = max(t.rate_most, t.rate);
	table = weir_table_alloc(&spec, t.tick);
	assert_false(IS_ERR(table));
	twin_shrink(table, 1, WAYS);
	return table;
}

static void charge(unsigned int i)
{
	u64 late_most = min(t.tick, 3 * t.table->spec.meter[0].slot_ticks + 1ull);
	u64 late = below(4) ? 0 : below(late_most), tick;
	struct weir_lookup lookup = {
		.tick = t.tick - late, .amount = { 1 + below(below(2) ? min(t.size, 2ull) : t.size) },
	};
	struct weir_source source = twin_source_in(t.table, i, &lookup.hash);
	u64 most = t.size_most + t.rate_most, sum, twice = 2 * t.size;
	struct weir_take take = { .cost = lookup.amount[0], .due = t.size };
	bool ahead = t.reserves && below(2);
	u16 result;

	lookup.source = &source;
	lookup.budgets = ahead ? &twice : &t.size;
	twin_enter();
	result = ahead ? weir_table_take(t.table, &lookup, &take) :
			 twin_packet(t.table, &lookup);
	t.refused += !!(result & WEIR_REFUSED);
	t.floored += !!(result & WEIR_FLOORED);
	t.evicted += !!(result & WEIR_EVICTED);
	if (!(result & WEIR_CHARGED))
		take.wait = 0;
	t.reserved += !!take.wait;
	if (result & WEIR_CHARGED && !ahead && !below(5)) {
		weir_table_uncharge(t.table, &lookup);
	} else if (result & WEIR_CHARGED) {
		t.admitted++;
		/* What is due later counts then. */
		tick = take.wait ? lookup.tick + take.wait : twin_charged_at(t.table, &lookup, 0, t.tick);
		twin_admit(&t.history[i], tick, lookup.amount[0]);
		sum = twin_most(&t.history[i], t.window, tick);
		check(sum <= most, "run %llu: %llu of %llu", t.run, sum, most);
	}
	twin_leave();
}

static u64 clock_now(void)
{
	return t.tick;
}

static void move(void)
{
	u64 size = t.size;
	struct weir_table *old = t.table;

	t.table = random_table();
	shim_clock = clock_now;
	weir_table_succeed(t.table, old, &t.size, &size, &twin_key);
	weir_table_drain(t.table);
	synchronize_rcu();
	weir_table_free(old);
}

static void one_run(u64 run)
{
	unsigned int i, step;

	t.run = run;
	t.c = chance_of(run);
	t.tick = 1000 + below(BIT_ULL(33));
	t.window = 1 + below(below(2) ? 10 : 300);
	t.size_most = 0;
	t.rate_most = 0;
	t.reserves = below(2);
	t.table = random_table();
	for (step = 0; step < 300; step++) {
		i = below(SOURCES);
		t.tick += below(3) ? below(2) : below(t.window + 2);
		switch (below(32)) {
		case 0:
			twin_forget_in(t.table, i);
			twin_forget(&t.history[i]);
			break;
		case 1:
			weir_table_age(t.table, t.tick);
			break;
		case 2:
			if (!t.reserves)
				move();
			break;
		default:
			charge(i);
		}
	}
	weir_table_free(t.table);
	for (i = 0; i < SOURCES; i++)
		twin_forget(&t.history[i]);
	assert_int_equal(shim_allocations, 0);
}

static void test_leaks(void **state)
{
	u64 run, runs = unit_rounds(2000);

	for (run = 0; run < runs; run++)
		one_run(run);
	print_message("# %llu runs: %llu admitted, %llu reserved, %llu refused, %llu by floors, %llu evicted\n",
		      runs, t.admitted, t.reserved, t.refused, t.floored, t.evicted);
	assert_true(t.evicted && t.floored && t.reserved);
}

UNIT_MAIN("table_leak", T(test_leaks))
