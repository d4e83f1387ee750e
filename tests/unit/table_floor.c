// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of floors: the worst cases of Documentation/design.rst, floods of spoofed
 * sources over tables of many shapes, and sources that aim at one set. table_model
 * checks the bound itself in every run.
 */
#include <math.h>

#include "table/saved.h"
#include "table_twin.h"

#define SLOT_TICKS 4

/* The table under test */
static struct {
	struct weir_table *table;
	u64 budget, tick, sources;
	struct weir_prefix prefix;
} t = { .prefix = { 32, 64 } };

static void begin(u64 budget, u8 slots, u32 sources)
{
	struct weir_table_spec spec = {
		.meter[0] = { .budget = budget, .slot_ticks = SLOT_TICKS, .slots = slots },
		.sources = sources, .prefix = t.prefix,
	};

	t.tick = 1000 * SLOT_TICKS;
	t.table = weir_table_alloc(&spec, t.tick);
	assert_false(IS_ERR(t.table));
	t.budget = budget;
	twin_enter();
}

static void end(void)
{
	twin_leave();
	weir_table_free(t.table);
	assert_int_equal(shim_allocations, 0);
}

static struct weir_source source_of(u64 number, u32 *hash)
{
	struct weir_source source = {
		.word = { htonl(0x20010db8), htonl(number) },
		.scope = WEIR_SCOPE_IPV6,
	};

	*hash = weir_source_hash(&source, t.table->spec.prefix, &twin_key);
	return source;
}

static u8 charge(u64 number, u64 cost, u32 *hash)
{
	struct weir_source source = source_of(number, hash);
	struct weir_lookup lookup = {
		.source = &source, .tick = t.tick, .amount = { cost }, .budgets = &t.budget, .hash = *hash,
	};

	return twin_packet(t.table, &lookup);
}

/* The count that a new source would start from */
static u64 floor_of(u32 hash)
{
	struct weir_source nobody = { .scope = 1 << WEIR_SCOPE_DEV_SHIFT };
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;

	weir_table_peek(t.table, &nobody, hash, t.tick, &t.budget, NULL, &state, slot);
	return state.count[0];
}

/*
 * From rest: W sources that send f each, and the packet that evicts one of them, raise the floor to
 * f, so a newcomer that sends more than L - f is refused. With one packet less the floor is f - 1.
 */
static void test_from_rest(void **state)
{
	static const u8 ways_of[] = { 2, 4, 6 };
	const u64 budget = 30;
	unsigned int w, entries, i;
	u32 hash;
	u64 f;

	for (w = 0; w < ARRAY_SIZE(ways_of); w++)
	for (f = 1; f <= budget; f++) {
		entries = ways_of[w];
		begin(budget, 4, 64);
		twin_shrink(t.table, 1, entries);
		for (i = 0; i < entries; i++) {
			assert_int_equal(charge(i, f, &hash), WEIR_CHARGED);
			assert_int_equal(floor_of(hash), 0);
		}
		assert_int_equal(charge(entries, 1, &hash), WEIR_CHARGED | WEIR_EVICTED);
		assert_int_equal(floor_of(hash), f);
		assert_true(charge(entries + 1, budget - f + 1, &hash) & WEIR_FLOORED);
		if (f < budget)
			assert_int_equal(charge(entries + 2, budget - f, &hash),
					 WEIR_CHARGED | WEIR_EVICTED);
		end();

		begin(budget, 4, 64);
		twin_shrink(t.table, 1, entries);
		for (i = 0; i < entries; i++)
			assert_true(charge(i, f - (i == entries - 1), &hash) & WEIR_CHARGED);
		assert_false(charge(entries, 1, &hash) & WEIR_REFUSED);
		assert_int_equal(floor_of(hash), f - 1);
		end();
	}
}

/* Share of a Poisson distributed number of packets that exceeds @most. */
static double excess(double mean, double most)
{
	double lost = 0, p;
	u64 n;

	for (n = 1; n < 2 * mean + 100; n++) {
		p = exp(n * log(mean) - mean - lgamma(n + 1.));
		if (n > most)
			lost += p * (n - most);
	}
	return lost / mean;
}

/* What each set admitted in the window, by slot */
static struct {
	struct twin_count all[64];
	u64 came, lost;
	double above;
} flood;

static void flood_packet(u64 number, bool settled)
{
	struct twin_count *all;
	unsigned int result;
	double share;
	u32 hash;

	result = charge(number, 1, &hash);
	all = &flood.all[hash & t.table->mask];
	twin_turn(all, t.table->meter[0].shape.reach, t.tick / SLOT_TICKS);
	all->count[0] += !(result & WEIR_REFUSED);
	share = (double)twin_sum(all, t.table->meter[0].shape.reach, all->at) / t.table->entries;
	flood.above = max(flood.above, floor_of(hash) - share);
	flood.came += settled;
	flood.lost += settled && result & WEIR_REFUSED;
}

/*
 * Every packet has its own source. Floors exceed their share of what the set admitted by less
 * than 3 packets, and newcomers lose only what has no room left above such floors.
 */
static void one_flood(u64 budget, u8 slots, u32 sources, double load)
{
	u64 window = (u64)slots * SLOT_TICKS, start, number = 0;
	double a_tick, due = 0, lost, most, came;

	begin(budget, slots, sources);
	assert_true(t.table->mask < ARRAY_SIZE(flood.all));
	memset(&flood, 0, sizeof(flood));
	flood.above = -1e9;
	a_tick = load * sources * budget / window;
	start = t.tick;
	for (; t.tick < start + 8 * (window + SLOT_TICKS); t.tick++)
		for (due += a_tick; due >= 1; due--)
			flood_packet(number++, t.tick > start + 3 * (window + SLOT_TICKS));
	came = a_tick * (window + SLOT_TICKS) / (t.table->mask + 1);
	lost = (double)flood.lost / flood.came;
	most = budget > 3 ? excess(came, t.table->entries * (budget - 3)) : 1;
	check(flood.above < 3, "L %llu, %u slots, %u sources, load %g: %g above",
	      budget, slots, sources, load, flood.above);
	check(lost <= most + .02, "L %llu, %u slots, %u sources, load %g: %g lost of %g",
	      budget, slots, sources, load, lost, most);
	if (sources == 64 && budget == 60)
		print_message("# L %llu, %2u slots, sources x L = flood x T / %g: %4.1f %% lost, bound %4.1f %%, floors up to %+.1f\n",
			      budget, slots, load, 100 * lost, 100 * most,
			      flood.above);
	end();
}

static void test_floods(void **state)
{
	static const double load[] = { 4, 2, 1, .5, .25 };
	static const u8 slots[] = { 1, 2, 4, 16, 64 };
	static const u32 sources[] = { 64, 100 };
	static const u64 budget[] = { 1, 2, 5, 18, 60 };
	unsigned int b, i, n, k;

	for (b = 0; b < ARRAY_SIZE(budget); b++)
	for (i = 0; i < ARRAY_SIZE(sources); i++)
	for (n = 0; n < ARRAY_SIZE(slots); n++)
	for (k = 0; k < ARRAY_SIZE(load); k++)
		if (unit_number("UNIT_PERCENT", 100) == 100 || b == 3)
			one_flood(budget[b], slots[n], sources[i], load[k]);
}

#define CHOSEN 1000

/* Charge all chosen sources; returns how many were refused or evicted another. */
static unsigned int pressed(const u32 chosen[CHOSEN], u64 key)
{
	hsiphash_key_t k = { { key * 0x9e3779b97f4a7c15ull, ~key } };
	struct weir_lookup lookup = { .amount = { 100 }, .budgets = &t.budget };
	struct weir_source source;
	unsigned int i, n = 0;

	begin(100, 4, 4096);
	lookup.tick = t.tick;
	for (i = 0; i < CHOSEN; i++) {
		source = twin_source(chosen[i], t.prefix);
		lookup.source = &source;
		lookup.hash = weir_source_hash(&source, t.prefix, &k);
		n += twin_packet(t.table, &lookup) != WEIR_CHARGED;
	}
	end();
	return n;
}

/* Sources that share a set under a known key do not under any other key. */
static void test_aimed(void **state)
{
	const hsiphash_key_t known = { { 0x9e3779b97f4a7c15ull, ~1ull } };
	struct weir_source source;
	u32 chosen[CHOSEN], n, i;
	unsigned int found;
	u64 key;

	for (t.prefix.len6 = 64; t.prefix.len6 <= 128; t.prefix.len6 += 64) {
		for (found = 0, n = 1; found < CHOSEN; n++) {
			source = twin_source(n, t.prefix);
			chosen[found] = n;
			/* a table of 4096 sources has 256 sets at most */
			found += !(weir_source_hash(&source, t.prefix, &known) & 255);
		}
		assert_true(pressed(chosen, 1) > CHOSEN / 2);
		for (key = 2; key < 10; key++) {
			i = pressed(chosen, key);
			check(!i, "key %llu: %u of %u found no entry", key, i, CHOSEN);
		}
	}
}

#define MANY 60

static u64 now(void)
{
	return t.tick;
}

static int fewer(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? 1 : -(*x > *y);
}

/* Merge all sources that were saved of @old, as restore does; returns how many found no entry. */
static unsigned int merge(struct weir_table *old)
{
	const struct weir_heritage of = weir_heritage(t.table, old, &t.budget, &t.budget, true);
	unsigned int set, entry, out = 0;
	struct weir_saved saved;

	for (set = 0; set <= old->mask; set++)
		for (entry = 0; entry < old->entries; entry++) {
			if (!weir_saved_source(old, set, entry, t.tick, &saved))
				continue;
			saved.moved.hash = weir_source_hash(&saved.moved.source, t.prefix, &twin_key);
			out += !!(weir_saved_merge(&of, &saved, false, t.tick) & WEIR_MERGE_EVICTED);
		}
	return out;
}

/*
 * In a smaller table the sources with the largest counts have the entries, in whatever order they
 * come, and the floor is the largest count of the others: strangers may send what that leaves.
 */
static void one_smaller(unsigned int entries, struct chance *c)
{
	u64 sent[MANY], rank[2][MANY], left;
	unsigned int i, n[2] = { }, out;
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;
	struct weir_source source;
	struct weir_table *old;
	u32 hash, index;

	begin(100, 4, 4096);
	old = t.table;
	for (i = 0; i < MANY; i++) {
		sent[i] = chance_below(c, 8) ? 1 + chance_below(c, 4) : 1 + chance_below(c, 100);
		assert_int_equal(charge(i, sent[i], &hash), WEIR_CHARGED);
		rank[hash & 1][n[hash & 1]++] = sent[i];
	}
	twin_leave();
	begin(100, 4, 64);
	twin_shrink(t.table, 2, entries);
	twin_leave();
	qsort(rank[0], n[0], sizeof(u64), fewer);
	qsort(rank[1], n[1], sizeof(u64), fewer);
	out = MANY - min(n[0], entries) - min(n[1], entries);
	if (chance_below(c, 2)) {
		assert_int_equal(merge(old), out);
	} else {
		shim_clock = now;
		weir_table_succeed(t.table, old, &t.budget, &t.budget, &twin_key);
		assert_int_equal(weir_table_drain(t.table), out);
	}
	synchronize_rcu();
	weir_table_free(old);
	twin_enter();
	for (i = 0; i < MANY; i++) {
		source = source_of(i, &hash);
		index = hash & 1;
		left = n[index] > entries ? rank[index][entries] : 0;
		weir_table_peek(t.table, &source, hash, t.tick, &t.budget, NULL, &state, slot);
		check(floor_of(hash) == left, "%llu in the floor, not %llu", floor_of(hash), left);
		check(sent[i] <= left || (!state.floor && state.count[0] == sent[i]),
		      "one of %llu has no entry, but others of %llu", sent[i], left);
	}
	end();
}

static void test_smaller(void **state)
{
	struct unit_runs runs = unit_runs(400);
	struct chance c;
	u64 run;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		one_smaller(2 + 2 * chance_below(&c, 12), &c);
	}
}

UNIT_MAIN("table_floor", T(test_from_rest), T(test_floods), T(test_aimed), T(test_smaller))
