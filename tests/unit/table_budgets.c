// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources with several budgets, against lists of all that each was admitted: what is
 * admitted and refused, by which budget; give-back; eviction and floors; successors with
 * other budgets.
 */
#include "budgets.h"
#include "table_twin.h"

#define SOURCES 12
#define EVENTS 4096

enum kind { STRICT, LENIENT, FIXED, TOTAL, LEAK, KINDS };

struct event {
	u64 tick, amount[2];
	bool given;		/* back */
};

static struct {
	struct chance chance;
	struct weir_table *table;
	enum kind kind[WEIR_BUDGETS_MAX];
	u64 room[WEIR_BUDGETS_MAX];
	u64 tick, run;
	unsigned int budgets, len[SOURCES];
	struct event event[SOURCES][EVENTS];
	u64 admitted, refused[WEIR_BUDGETS_MAX];
} t;

static u64 below(u64 n)
{
	return chance_below(&t.chance, n);
}

static u64 clock_now(void)
{
	return t.tick;
}

static struct weir_count_spec random_count(enum kind *kind, u64 *room)
{
	struct weir_count_spec spec = { .slots = 1 + below(16), .bytes = below(2) };
	u64 amount = spec.bytes ? 1500 + below(20000) : 2 + below(30);

	*kind = below(KINDS);
	*room = amount;
	spec.budget = below(3) ? amount : amount << below(40);
	spec.slot_ticks = 1 + below(below(2) ? 10 : 300);
	spec.lenient = *kind != STRICT;
	if (*kind == FIXED || *kind == TOTAL)
		spec.slots = 1;
	if (*kind == TOTAL)
		spec.slot_ticks = 0;
	if (*kind == LEAK) {
		spec.rate = amount;
		*room = amount + below(2 * amount);
		spec.budget = *room;
	}
	return spec;
}

static struct weir_table *random_table(u32 sources)
{
	struct weir_table_spec spec = { .sources = sources, .prefix = { 32, 64 } };
	struct weir_count_spec first = random_count(&t.kind[0], &t.room[0]);
	struct weir_table *table;
	unsigned int i;

	t.budgets = 1 + below(WEIR_BUDGETS_MAX);
	spec.budget = first.budget;
	spec.rate = first.rate;
	spec.slot_ticks = first.slot_ticks;
	spec.slots = first.slots;
	spec.lenient = first.lenient;
	spec.bytes = first.bytes;
	for (i = 1; i < t.budgets; i++)
		spec.more[i - 1] = random_count(&t.kind[i], &t.room[i]);
	table = weir_table_alloc(&spec, t.tick);
	assert_false(IS_ERR(table));
	assert_int_equal(table->more, t.budgets - 1);
	return table;
}

/* What a count holds of a source, in its unit; of a leak, in parts. */
static u64 expected(unsigned int source, unsigned int i)
{
	const struct weir_count *count = &t.table->count[i];
	u64 now = weir_count_slot(count, t.tick), slot, last = 0, sum = 0, left;
	const struct event *event = t.event[source];

	for (; event < t.event[source] + t.len[source]; event++) {
		slot = weir_count_slot(count, event->tick);
		if (event->given)
			continue;
		if (t.kind[i] == LEAK) {
			left = (slot - last) * count->shape.rate;
			sum = (sum > left ? sum - left : 0) +
			      event->amount[count->bytes] * count->shape.parts;
			last = slot;
		} else if (slot + count->shape.reach >= now) {
			sum += event->amount[count->bytes];
		}
	}
	left = t.kind[i] == LEAK ? (now - last) * count->shape.rate : 0;
	return sum > left ? sum - left : 0;
}

static bool full(unsigned int source, unsigned int i, u64 cost)
{
	u64 parts, sum = expected(source, i);

	parts = t.kind[i] == LEAK ? t.table->count[i].shape.parts : 1;
	return sum + cost * parts > t.room[i] * parts;
}

static void begin_lookup(struct weir_lookup *lookup, const struct weir_source *source)
{
	u64 packets = 1 + below(3), bytes = packets * (40 + below(1000));

	/* All fit: the limit refuses what is too large. */
	*lookup = (struct weir_lookup) {
		.source = source, .tick = t.tick, .budgets = t.room, .budget = t.room[0],
		.amount = { min(packets, 2ull), min(bytes, 1500ull) },
		.hash = weir_source_hash(source, t.table->spec.prefix, &twin_key),
	};
	lookup->cost = lookup->amount[t.table->spec.bytes];
}

/* @exact: the source has a way, and so the table's answer is the list's. */
static u16 packet(unsigned int i, bool exact)
{
	struct weir_source source = twin_source(i, t.table->spec.prefix);
	struct weir_lookup lookup;
	bool must = false;
	unsigned int n, by;
	u16 result;

	begin_lookup(&lookup, &source);
	for (n = 0; n < t.budgets; n++)
		must |= full(i, n, lookup.amount[t.table->count[n].bytes]);
	twin_enter();
	result = weir_table_refuse(t.table, &lookup) ?: weir_table_charge(t.table, &lookup);
	by = result >> WEIR_BUDGET_SHIFT;
	check(!(result & WEIR_CHARGED) || !must, "run %llu: source %u was admitted", t.run, i);
	check(!exact || must == !!(result & WEIR_REFUSED), "run %llu: result %x, must %u",
	      t.run, result, must);
	if (exact && result & WEIR_REFUSED)
		check(by < t.budgets && full(i, by, lookup.amount[t.table->count[by].bytes]),
		      "run %llu: refused by %u", t.run, by);
	if (result & WEIR_CHARGED) {
		assert_true(t.len[i] < EVENTS);
		t.event[i][t.len[i]++] = (struct event) {
			.tick = t.tick, .amount = { lookup.amount[0], lookup.amount[1] },
		};
		/* Another limit refuses it. */
		if (!below(5)) {
			result = weir_table_uncharge(t.table, &lookup);
			check(result, "run %llu: not given back", t.run);
			t.event[i][t.len[i] - 1].given = true;
		}
		t.admitted++;
	} else {
		t.refused[by]++;
	}
	twin_leave();
	return result;
}

static void peek(unsigned int i, struct weir_source_state *state)
{
	struct weir_source source = twin_source(i, t.table->spec.prefix);
	u64 slot[WEIR_SLOTS_MAX + 1];

	rcu_read_lock();
	weir_table_peek(t.table, &source, weir_source_hash(&source, t.table->spec.prefix, &twin_key),
			t.tick, t.room, state, slot);
	rcu_read_unlock();
}

static void check_peek(unsigned int i)
{
	struct weir_source_state state;
	u64 is, parts, most = 0, live = 0;
	unsigned int n;

	peek(i, &state);
	for (n = 0; n < t.budgets; n++) {
		parts = t.kind[n] == LEAK ? t.table->count[n].shape.parts : 1;
		is = (expected(i, n) + parts - 1) / parts;
		check(state.count[n] == is, "run %llu: count %u is %llu, not %llu", t.run, n,
		      state.count[n], is);
		most = max(most, state.waits[n]);
		live |= is;
	}
	check(state.live == !!live && state.wait == most && state.waits[state.by] == most,
	      "run %llu: live %u, wait %llu by %u", t.run, state.live, state.wait, state.by);
}

static void pass_time(void)
{
	t.tick += below(3) ? below(4) : below(below(8) ? 60 : 4000);
}

static void begin_run(u64 run, u32 sources)
{
	memset(t.len, 0, sizeof(t.len));
	t.run = run;
	t.chance = chance_of(run);
	t.tick = 100000 + below(1000);
	t.table = random_table(sources);
}

/* Each source has a way, so all is exact. */
static void test_exact(void **state)
{
	struct unit_runs runs = unit_runs(2000);
	unsigned int n, i;

	memset(&t.refused, 0, sizeof(t.refused));
	for (; runs.first < runs.end; runs.first++) {
		begin_run(runs.first, 64);
		for (n = 0; n < 200; n++) {
			i = below(4);
			pass_time();
			packet(i, true);
			if (!below(8))
				check_peek(i);
			if (!below(60))
				weir_table_age(t.table, t.tick);
		}
		weir_table_free(t.table);
	}
	print_message("# %llu admitted, refused by %llu %llu %llu %llu\n", t.admitted,
		      t.refused[0], t.refused[1], t.refused[2], t.refused[3]);
	for (n = 0; n < WEIR_BUDGETS_MAX; n++)
		assert_true(t.refused[n]);
}

/* More sources than ways: none gets more than any of its budgets. */
static void test_floors(void **state)
{
	struct unit_runs runs = unit_runs(1000);
	u64 evicted = 0, floored = 0;
	unsigned int n;
	u16 result;

	for (; runs.first < runs.end; runs.first++) {
		begin_run(runs.first, 1);
		twin_shrink(t.table, 1, 4);
		for (n = 0; n < 300; n++) {
			pass_time();
			result = packet(below(SOURCES), false);
			evicted += !!(result & WEIR_EVICTED);
			floored += !!(result & WEIR_FLOORED);
		}
		weir_table_free(t.table);
	}
	print_message("# %llu evicted, %llu refused by floors\n", evicted, floored);
	assert_true(evicted && floored);
}

/* The index of an old count that bounds a new one: its unit, and no shorter window. */
static int bound_of(const struct weir_count *count, const struct weir_table *old)
{
	unsigned int i;

	for (i = 0; i <= old->more; i++)
		if (old->count[i].bytes == count->bytes && old->count[i].window >= count->window)
			return i;
	return -1;
}

/* A change to other budgets loses no count: not of those that an old one bounds. */
static void test_moved(void **state)
{
	u64 old_room[WEIR_BUDGETS_MAX], had, is, exact = 0, bound = 0;
	struct unit_runs runs = unit_runs(2000);
	struct weir_source_state now;
	struct weir_table *old;
	unsigned int n, i, k;
	enum kind kind[WEIR_BUDGETS_MAX];

	for (; runs.first < runs.end; runs.first++) {
		begin_run(runs.first, 64);
		for (n = 0; n < 60; n++) {
			pass_time();
			packet(below(4), true);
		}
		old = t.table;
		memcpy(old_room, t.room, sizeof(old_room));
		memcpy(kind, t.kind, sizeof(kind));
		t.table = random_table(64);
		weir_table_succeed(t.table, old, t.room, old_room, &twin_key, clock_now);
		assert_int_equal(weir_table_drain(t.table), 0);
		for (i = 0; i < 4; i++) {
			peek(i, &now);
			for (n = 0; n < t.budgets; n++) {
				/* What has leaked of a bucket is forgotten; a lenient ring forgets early. */
				for (k = 0; k <= old->more; k++)
					if (kind[k] == LEAK || kind[k] == LENIENT || kind[k] == FIXED)
						break;
				if (k <= old->more || t.kind[n] == LEAK ||
				    bound_of(&t.table->count[n], old) < 0)
					continue;
				had = expected(i, n);
				is = now.count[n];
				had = min(had, weir_shape_max(t.table->count[n].shape));
				check(is >= had, "run %llu: source %u: count %u of %llu became %llu",
				      t.run, i, n, had, is);
				exact += is == had;
				bound += is > had;
			}
		}
		synchronize_rcu();
		weir_table_free(old);
		weir_table_free(t.table);
	}
	print_message("# %llu kept, %llu bounded\n", exact, bound);
	assert_true(exact && bound);
}

/* Sources forgotten, and all; a total is never evicted. */
static void test_forget(void **state)
{
	struct unit_runs runs = unit_runs(500);
	struct weir_source_state now;
	struct weir_source source;
	unsigned int n, k;
	u32 bucket;

	for (; runs.first < runs.end; runs.first++) {
		begin_run(runs.first, 64);
		for (n = 0; n < 40; n++)
			packet(below(4), true);
		source = twin_source(1, t.table->spec.prefix);
		check(weir_table_forget(t.table, &source,
					weir_source_hash(&source, t.table->spec.prefix, &twin_key)) ==
		      !!t.len[1], "run %llu: forgotten?", t.run);
		for (n = 0; n < t.len[1]; n++)
			t.event[1][n].given = true;
		for (k = 0; k < 4; k++)
			check_peek(k);
		for (bucket = 0; bucket < weir_table_buckets(t.table); bucket++)
			weir_table_clear(t.table, bucket);
		peek(2, &now);
		check(!now.live && now.floor, "run %llu: still there", t.run);
		weir_table_free(t.table);
	}
}

UNIT_MAIN("table_budgets", T(test_exact), T(test_floors), T(test_moved), T(test_forget))
