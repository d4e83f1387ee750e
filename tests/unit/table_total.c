// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A slot that never ends: what was counted stays until it is forgotten, whatever time
 * passes; who was counted keeps the entry, and a set full of such sources refuses newcomers.
 */
#include "table_twin.h"

#define SOURCES	8
#define ENTRIES	4

/* The table, and what a list of counts says of it. */
static struct {
	struct weir_table *table;
	u64 budget, tick;
	u64 count[SOURCES];
	u64 run;
	struct chance c;
	struct weir_lookup held;	/* a charge that may be given back, if it has a cost */
	unsigned int holder;
} t;

static struct weir_table *table_of(u32 slot_ticks, u8 slots, unsigned int entries)
{
	struct weir_table_spec spec = {
		.meter[0] = {
			.budget = t.budget, .slot_ticks = slot_ticks, .slots = slots,
			.lenient = !slot_ticks,
		},
		.sources = SOURCES, .prefix = { 32, 64 },
	};
	struct weir_table *table = weir_table_alloc(&spec, t.tick);

	assert_false(IS_ERR(table));
	twin_shrink(table, 1, entries);
	return table;
}

static unsigned int counted(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < SOURCES; i++)
		n += !!t.count[i];
	return n;
}

static u64 below(u64 n)
{
	return chance_below(&t.c, n);
}

/* Charge 1, whatever the list says. */
static u16 charged(unsigned int i)
{
	struct weir_lookup lookup = { .tick = t.tick, .amount = { 1 }, .budgets = &t.budget };
	struct weir_source source = twin_source_in(t.table, i, &lookup.hash);
	u16 result;

	lookup.source = &source;
	twin_enter();
	result = twin_packet(t.table, &lookup);
	twin_leave();
	return result;
}

static void charge(unsigned int i, u64 cost)
{
	struct weir_lookup lookup = { .tick = t.tick, .amount = { cost }, .budgets = &t.budget };
	struct weir_source source = twin_source_in(t.table, i, &lookup.hash);
	bool fits = cost <= t.budget - t.count[i];
	bool entry = t.count[i] || counted() < ENTRIES;
	u16 result;

	lookup.source = &source;
	twin_enter();
	result = twin_packet(t.table, &lookup);
	check(!!(result & WEIR_CHARGED) == (fits && entry), "run %llu: %u: %llu of %llu, %u counted",
	      t.run, result, t.count[i] + cost, t.budget, counted());
	check(!!(result & WEIR_FLOORED) == (fits && !entry), "run %llu: %u", t.run, result);
	check(!(result & WEIR_EVICTED), "run %llu: evicted", t.run);
	if (result & WEIR_CHARGED && !below(4))
		check(weir_table_uncharge(t.table, &lookup), "run %llu: not given back", t.run);
	else if (result & WEIR_CHARGED)
		t.count[i] += cost;
	if (result & WEIR_CHARGED && t.count[i] && !t.held.amount[0]) {
		t.held = lookup;
		t.holder = i;
	}
	twin_leave();
}

/* Give back what was held, after other packets. */
static void give_back(void)
{
	struct weir_source source = twin_source_in(t.table, t.holder, &t.held.hash);

	t.held.source = &source;
	twin_enter();
	if (t.held.amount[0] && weir_table_uncharge(t.table, &t.held))
		t.count[t.holder] -= t.held.amount[0];
	twin_leave();
	t.held.amount[0] = 0;
}

static void check_all(void)
{
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;
	struct weir_source source;
	unsigned int i;
	bool full;
	u64 want;
	u32 hash;

	rcu_read_lock();
	for (i = 0; i < SOURCES; i++) {
		source = twin_source_in(t.table, i, &hash);
		weir_table_peek(t.table, &source, hash, t.tick, &t.budget, NULL, &state, slot);
		/* Where all entries are taken for ever, a newcomer has no room. */
		full = !t.count[i] && counted() == ENTRIES && !t.table->spec.meter[0].slot_ticks;
		want = full ? t.budget : t.count[i];
		check(state.count[0] == want, "run %llu: %llu, not %llu", t.run, state.count[0], want);
		check(want < t.budget || t.table->spec.meter[0].slot_ticks ||
		      state.wait == WEIR_NEVER, "run %llu: a wait", t.run);
		check(want || !state.wait, "run %llu: a wait for nothing", t.run);
	}
	rcu_read_unlock();
}

static u64 clock_now(void)
{
	return t.tick;
}

/* Into a table of another kind and back: counts stay while its window lasts. */
static void move(void)
{
	struct weir_table *old = t.table;

	t.held.amount[0] = 0;
	t.table = table_of(old->spec.meter[0].slot_ticks ? 0 : 1000000000, 4, ENTRIES);
	shim_clock = clock_now;
	weir_table_succeed(t.table, old, &t.budget, &t.budget, &twin_key);
	check(!weir_table_drain(t.table), "run %llu: a source lost its entry", t.run);
	synchronize_rcu();
	weir_table_free(old);
	check_all();
	if (t.table->spec.meter[0].slot_ticks)
		move();
}

static void one_run(u64 run)
{
	unsigned int i, step;

	t.run = run;
	t.c = chance_of(run);
	t.budget = 1 + below(below(2) ? 3 : 100000);
	t.tick = below(BIT_ULL(40));
	memset(t.count, 0, sizeof(t.count));
	t.held.amount[0] = 0;
	t.table = table_of(0, 1, ENTRIES);
	for (step = 0; step < 200; step++) {
		i = below(SOURCES);
		t.tick += below(3) ? below(3) : below(BIT_ULL(33));
		switch (below(16)) {
		case 0:
			twin_forget_in(t.table, i);
			t.count[i] = 0;
			break;
		case 1:
			weir_table_age(t.table, t.tick);
			break;
		case 2:
			move();
			break;
		case 3 ... 4:
			give_back();
			break;
		default:
			charge(i, 1 + below(below(3) ? min(t.budget, 2ull) : t.budget));
		}
		check_all();
	}
	weir_table_free(t.table);
	assert_int_equal(shim_allocations, 0);
}

static void test_total(void **state)
{
	u64 run, runs = unit_rounds(2000);

	for (run = 0; run < runs; run++)
		one_run(run);
}

/* Likewise by a request: is it refused for ever? */
static bool refused_for_ever(unsigned int i)
{
	struct weir_take take = { .cost = 1 };
	struct weir_lookup lookup = { .tick = t.tick, .budgets = &t.budget };
	struct weir_source source = twin_source_in(t.table, i, &lookup.hash);
	u16 result;

	lookup.source = &source;
	twin_enter();
	result = weir_table_take(t.table, &lookup, &take);
	twin_leave();
	return result & WEIR_REFUSED && take.wait == WEIR_NEVER;
}

static struct weir_source_state state_of(unsigned int i)
{
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;
	struct weir_source source;
	u32 hash;

	source = twin_source_in(t.table, i, &hash);
	rcu_read_lock();
	weir_table_peek(t.table, &source, hash, t.tick, &t.budget, NULL, &state, slot);
	rcu_read_unlock();
	return state;
}

static bool has_entry(unsigned int i)
{
	return !state_of(i).floor;
}

/*
 * Totals of a larger table, more than there are entries, raise the floor. Who is forgotten then
 * leaves an entry, which the next newcomer finds wherever it is.
 */
static void idle_entry(unsigned int forgotten)
{
	struct weir_table *old;
	unsigned int i, had = 0;

	t = (typeof(t)) { .budget = 3, .tick = 1000 };
	old = table_of(0, 1, SOURCES);
	t.table = old;
	for (i = 0; i < SOURCES; i++)
		assert_true(charged(i) & WEIR_CHARGED);
	t.table = table_of(0, 1, ENTRIES);
	shim_clock = clock_now;
	weir_table_succeed(t.table, old, &t.budget, &t.budget, &twin_key);
	check(weir_table_drain(t.table) == SOURCES - ENTRIES, "not all entries are taken");
	synchronize_rcu();
	weir_table_free(old);
	/* The search that this one makes finds no idle entry. */
	check(charged(SOURCES) == (WEIR_REFUSED | WEIR_FLOORED), "an entry without an end was taken");
	check(refused_for_ever(SOURCES), "a request was not refused for ever");
	for (i = 0; had <= forgotten; i++)
		if (has_entry(i) && had++ == forgotten)
			twin_forget_in(t.table, i);
	check(charged(SOURCES) == WEIR_CHARGED, "the idle entry %u was not found", forgotten);
	weir_table_free(t.table);
}

static void test_idle_entry(void **state)
{
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		idle_entry(i);
}

/* Have another table take over, with the slots given. Returns how many found no entry. */
static u64 succeeded(u32 slot_ticks, u8 slots, unsigned int entries)
{
	struct weir_table *old = t.table;
	u64 lost;

	t.table = table_of(slot_ticks, slots, entries);
	shim_clock = clock_now;
	weir_table_succeed(t.table, old, &t.budget, &t.budget, &twin_key);
	lost = weir_table_drain(t.table);
	synchronize_rcu();
	weir_table_free(old);
	return lost;
}

/* How long a stranger waits for room. */
static u64 waits(unsigned int i)
{
	return state_of(i).wait;
}

#define FLOOD	100	/* sources of a flood; others are numbered from there */

/* A flood fills the floor of a window, and a total of so many entries takes over. */
static u64 after_flood(u32 slot_ticks, u8 slots, unsigned int packets, unsigned int entries)
{
	unsigned int i;

	t = (typeof(t)) { .budget = 3, .tick = 1000 };
	t.table = table_of(slot_ticks, slots, ENTRIES);
	for (i = 0; i < packets; i++)
		charged(i);
	return succeeded(0, 1, entries);
}

/*
 * What a window counted is a bound of what strangers sent until that window has passed. Then
 * each has the whole budget of the total, whatever table takes over from it.
 */
static void test_floor_ends(void **state)
{
	static const struct {
		u32 slot_ticks;
		u8 slots;
	} windows[] = { { 1, 1 }, { 10, 4 }, { 1000, 15 }, { U32_MAX / 2, 1 } };
	unsigned int i, row, moves, packet;
	u64 window, end;

	for (i = 0; i < 6 * ARRAY_SIZE(windows); i++) {
		moves = i % 3;
		row = i / 6;
		window = (u64)windows[row].slots * windows[row].slot_ticks;
		/* The floor leaves room, or none. */
		after_flood(windows[row].slot_ticks, windows[row].slots, i % 2 ? FLOOD : ENTRIES + 1,
			    SOURCES);
		end = t.tick + window;
		/* Another size, while the floor holds */
		if (moves)
			succeeded(0, 1, SOURCES + 2);
		for (; t.tick <= end; t.tick += window / 4 + 1) {
			check(charged(FLOOD) == (WEIR_REFUSED | WEIR_FLOORED), "case %u: early", i);
			check(waits(FLOOD) && waits(FLOOD) < 3 * window + HZ, "case %u: waits %llu", i,
			      (unsigned long long)waits(FLOOD));
		}
		t.tick = end + windows[row].slot_ticks + HZ / 4;
		/* Into a window, and back: an ended floor stays empty. */
		if (moves > 1)
			succeeded(1000, 15, SOURCES);
		if (moves > 1)
			succeeded(0, 1, SOURCES);
		check(!waits(FLOOD), "case %u: it waits", i);
		for (packet = 0; packet <= t.budget; packet++)
			check(!!(charged(FLOOD) & WEIR_CHARGED) == (packet < t.budget),
			      "case %u: packet %u", i, packet);
		weir_table_free(t.table);
	}
}

/*
 * So is what was counted for sources of a window that find no entry; for those of a total it stays,
 * also if the floor has something of a window, too.
 */
static void no_entry(bool total)
{
	u64 lost = after_flood(1000, 4, ENTRIES + total, total ? SOURCES : 2);
	unsigned int i;

	if (total)
		lost = succeeded(0, 1, 2);
	check(lost == ENTRIES - 2, "%llu found no entry", (unsigned long long)lost);
	for (i = 0; i < ENTRIES; i++)
		twin_forget_in(t.table, i);
	t.tick += 5000 + HZ / 4;
	check(waits(FLOOD) == 0, "the floor is not that of one packet");
	for (i = 0; charged(FLOOD) & WEIR_CHARGED; i++)
		;
	check(i == t.budget - total, "%u of %llu", i, t.budget);
	weir_table_free(t.table);
}

static void test_no_entry(void **state)
{
	no_entry(false);
	no_entry(true);
}

UNIT_MAIN("table_total", T(test_total), T(test_idle_entry), T(test_floor_ends), T(test_no_entry))
