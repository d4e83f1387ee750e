// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All short schedules of small budgets, of each way to count and each pair of ways: the table
 * against lists of charges, no interval has more than "limit show" says, and one has as much.
 */
#include "config/check.h"
#include "limit/limit.h"
#include "table_ways.h"

#define STEPS	8
#define SOURCES	3
#define BEGIN	1000000ull	/* all slots begin */
#define ROOM	2048

/* A table after some steps, and what they were. */
struct state {
	u64 tick;
	bool loose;		/* a bucket was given back less than a list, and so holds more */
	unsigned int len[SOURCES];
	struct way_event event[SOURCES][2][STEPS];
	u64 at[SOURCES][STEPS];	/* tick of each charge */
	struct weir_lookup last;	/* charge, unless it is given back */
	unsigned int last_of;
	u8 set[ROOM];
};

static struct {
	struct weir_table *table;
	struct way_budget budget[2];
	unsigned int budgets;
	bool crowd;		/* more sources than ways */
	u64 room[2], reached[2], states, evicted;
	struct weir_source source[SOURCES];
	u32 hash[SOURCES];
} t;

static void set_clock(u64 tick)
{
	unsigned int i;

	for (i = 0; i < t.budgets; i++)
		if (t.budget[i].way == CALENDAR)
			t.table->meter[i].base = (tick - BEGIN) / way_window(&t.budget[i]);
}

static u64 slot_of(unsigned int i, u64 tick)
{
	return way_slot(&t.budget[i], tick, t.table->meter[i].base);
}

static bool list_full(const struct state *s, unsigned int source, const u64 *amount)
{
	unsigned int i;

	for (i = 0; i < t.budgets; i++)
		if (way_full(&t.budget[i], s->event[source][i], s->len[source],
			     slot_of(i, s->tick), amount[t.budget[i].spec.bytes]))
			return true;
	return false;
}

static void admitted(struct state *s, unsigned int source, const struct weir_lookup *lookup)
{
	unsigned int i, k, n = s->len[source]++;
	u64 sum;

	s->at[source][n] = s->tick;
	for (i = 0; i < t.budgets; i++) {
		s->event[source][i][n] = (struct way_event) {
			slot_of(i, s->tick), lookup->amount[t.budget[i].spec.bytes],
		};
		/* Time does not go back: intervals that end here */
		for (sum = 0, k = 0; k <= n; k++)
			if (s->at[source][k] + way_window(&t.budget[i]) >= s->tick)
				sum += s->event[source][i][k].amount;
		check(sum <= way_most(&t.budget[i]), "ways %u, %u: %llu of %llu by %u",
		      t.budget[0].way, t.budget[1].way, sum, way_most(&t.budget[i]), i);
		t.reached[i] = max(t.reached[i], sum);
	}
	s->last = *lookup;
	s->last_of = source;
}

/* Returns whether it fits the budgets at all. */
static bool packet(struct state *s, unsigned int source, u64 packets)
{
	struct weir_lookup lookup = {
		.source = &t.source[source], .hash = t.hash[source], .tick = s->tick,
		.budgets = t.room, .amount = { packets, 3 - packets },
	};
	unsigned int i;
	u16 result;
	bool must;

	for (i = 0; i < t.budgets; i++)
		if (lookup.amount[t.budget[i].spec.bytes] > t.room[i])
			return false;
	must = list_full(s, source, lookup.amount);
	result = twin_packet(t.table, &lookup);
	check(!(result & WEIR_CHARGED) || !must, "ways %u, %u: admitted", t.budget[0].way,
	      t.budget[1].way);
	check(t.crowd || s->loose || !(result & WEIR_REFUSED) || must, "ways %u, %u: refused",
	      t.budget[0].way, t.budget[1].way);
	t.evicted += !!(result & WEIR_EVICTED);
	if (result & WEIR_CHARGED)
		admitted(s, source, &lookup);
	return true;
}

static bool pass_tick(struct state *s)
{
	set_clock(++s->tick);
	return true;
}

static bool give_back(struct state *s)
{
	unsigned int i;

	if (!s->last.source)
		return false;
	weir_table_uncharge(t.table, &s->last);
	s->last.source = NULL;
	s->len[s->last_of]--;
	for (i = 0; i < t.budgets; i++)
		s->loose |= t.budget[i].way == LEAK && s->last.tick < s->tick;
	return true;
}

/* One source: a small packet, a large one, time, give back. A crowd: a packet of each, time. */
static bool step(struct state *s, unsigned int what)
{
	if (t.crowd)
		return what < SOURCES ? packet(s, what, 1) : pass_tick(s);
	return what < 2 ? packet(s, 0, what + 1) : what == 2 ? pass_tick(s) : give_back(s);
}

/* Only packets are worth being the last step. */
static void explore(const struct state *from, unsigned int steps)
{
	unsigned int what, last = t.crowd ? SOURCES : 2;
	struct weir_set *set = weir_set(t.table, 0);
	struct state s;

	for (what = 0; what < (steps > 1 ? 4 : last); what++) {
		s = *from;
		memcpy(set, s.set, t.table->stride);
		set_clock(s.tick);
		if (!step(&s, what))
			continue;
		t.states++;
		memcpy(s.set, set, t.table->stride);
		if (steps > 1)
			explore(&s, steps - 1);
	}
}

static void explore_budgets(unsigned int steps)
{
	struct weir_table_spec spec = { .sources = 1, .prefix = { 32, 64 } };
	struct state start = { .tick = BEGIN };
	unsigned int i;

	t.table = way_table(&spec, t.budget, t.budgets, BEGIN);
	assert_true(t.table->stride <= ROOM);
	twin_shrink(t.table, 1, t.crowd ? 2 : 4);
	for (i = 0; i < SOURCES; i++)
		t.source[i] = twin_source_in(t.table, i, &t.hash[i]);
	for (i = 0; i < t.budgets; i++) {
		t.room[i] = t.budget[i].room;
		t.reached[i] = 0;
	}
	memcpy(start.set, weir_set(t.table, 0), t.table->stride);
	twin_enter();
	explore(&start, steps);
	twin_leave();
	weir_table_free(t.table);
}

/* What the tool shows for a budget of a second; for no window, of a total. */
static u64 shown(const struct way_budget *budget)
{
	static const u8 mode[WAYS] = {
		[LENIENT] = WEIR_MODE_LENIENT, [FIXED] = WEIR_MODE_FIXED,
		[LEAK] = WEIR_MODE_BUCKET, [LOG] = WEIR_MODE_EXACT, [CALENDAR] = WEIR_MODE_CALENDAR,
	};
	const struct weir_limit limit = {
		.room[0] = budget->room,
		.cfg.budget[0] = {
			.amount = budget->spec.rate ?: budget->room, .mode = mode[budget->way],
			.window_ms = budget->way == TOTAL ? 0 : WEIR_DAY_MS,
		},
	};

	return weir_limit_most(&limit, 0);
}

/* Slots and their ticks */
static const u8 slots[][2] = { { 1, 1 }, { 2, 1 }, { 3, 1 }, { 1, 2 }, { 2, 2 }, { 1, 3 } };

static struct way_budget small(enum way way, u64 budget, unsigned int n, bool bytes)
{
	return way_budget(way, budget, budget > 1 ? budget : 3, slots[n][0], slots[n][1], bytes);
}

/* Each way, with one source and with a crowd */
static void test_alone(void **state)
{
	unsigned int way, n;
	u64 budget;

	t.budgets = 1;
	for (way = 0; way < WAYS; way++)
	for (n = 0; n < ARRAY_SIZE(slots); n++)
	for (budget = 1; budget <= 3; budget++) {
		t.budget[0] = small(way, budget, n, false);
		t.budget[1].way = way;
		t.crowd = false;
		explore_budgets(STEPS);
		check(t.reached[0] == shown(&t.budget[0]) && t.reached[0] == way_most(&t.budget[0]),
		      "way %u: %llu of %llu in %ux%u ticks", way, t.reached[0],
		      shown(&t.budget[0]), slots[n][0], slots[n][1]);
		t.crowd = true;
		if (budget < 3 && (n == 1 || n == 3))
			explore_budgets(STEPS);
	}
}

static void test_pairs(void **state)
{
	unsigned int pair, n;

	t.budgets = 2;
	for (pair = 0; pair < WAYS * WAYS; pair++)
	for (n = 0; n < 4; n++) {
		t.budget[0] = small(pair / WAYS, 2, 1 + n % 2, false);
		t.budget[1] = small(pair % WAYS, n < 2 ? 3 : 2, 4 - n, n % 2);
		t.crowd = false;
		explore_budgets(STEPS - 1);
		t.crowd = true;
		if (n == 2)
			explore_budgets(STEPS - 1);
	}
	print_message("# %llu states, %llu evicted\n", t.states, t.evicted);
	assert_true(t.evicted);
	assert_int_equal(shim_allocations, 0);
}

UNIT_MAIN("table_all", T(test_alone), T(test_pairs))
