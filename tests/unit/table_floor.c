// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What floors cost: the worst cases that Documentation/design.rst states, made
 * as it says, and floods of spoofed sources over tables of many shapes. The
 * bound itself is held by every run of table_model.
 */
#include <math.h>

#include "table_twin.h"

#define SLOT_TICKS 4

/* Sources that nobody has been yet. */
static struct {
	struct weir_table *table;
	u64 budget, tick, sources;
} t;

static void begin(u64 budget, u8 slots, u32 sources)
{
	struct weir_table_spec spec = {
		.budget = budget, .slot_ticks = SLOT_TICKS, .slots = slots,
		.sources = sources, .prefix = { 32, 64 },
	};

	t.table = weir_table_alloc(&spec);
	assert_false(IS_ERR(t.table));
	t.budget = budget;
	t.tick = 1000 * SLOT_TICKS;
	local_bh_disable();
}

static void end(void)
{
	local_bh_enable();
	weir_table_put(t.table);
	assert_int_equal(shim_allocations, 0);
}

static struct weir_source source_of(u64 number, u32 *hash)
{
	struct weir_source source = {
		.word = { htonl(0x20010db8), htonl(number) },
		.zone = WEIR_ZONE_IPV6,
	};

	*hash = weir_source_hash(&source, t.table->spec.prefix, &twin_key);
	return source;
}

static unsigned int charge(u64 number, u64 cost, u32 *hash)
{
	struct weir_source source = source_of(number, hash);
	struct weir_cost packets = { cost, cost };
	u64 tick = t.tick;

	return twin_charge(t.table, &source, *hash, &tick, packets,
				 t.budget, NULL);
}

static bool has_way(u64 number)
{
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;
	struct weir_source source;
	u32 hash;

	source = source_of(number, &hash);
	weir_table_peek(t.table, &source, hash, t.tick, t.budget, &state, slot);
	return !state.floor;
}

static u64 floor_of(u32 hash)
{
	struct weir_bucket *bucket = weir_bucket(t.table, hash & t.table->mask);
	union weir_wheel_copy copy;

	memcpy(&copy, weir_bucket_floor(bucket),
	       weir_wheel_size(t.table->shape));
	weir_wheel_turn(t.table->shape, &copy.wheel, bucket->slot);
	return weir_wheel_sum(t.table->shape, &copy.wheel);
}

/*
 * From rest: W sources that send f each and the packet that evicts one of them
 * raise the floor to f, and a newcomer of more than L - f is refused. One packet
 * less, and none is.
 */
static void test_from_rest(void **state)
{
	static const u8 ways_of[] = { 1, 2, 4, 11, 46 };
	const u64 budget = 30;
	unsigned int w, ways, i;
	u32 hash;
	u64 f;

	(void)state;
	for (w = 0; w < ARRAY_SIZE(ways_of); w++)
	for (f = 1; f <= budget; f++) {
		ways = ways_of[w];
		begin(budget, 4, 64);
		twin_shrink(t.table, 1, ways);
		for (i = 0; i < ways; i++) {
			assert_int_equal(charge(i, f, &hash), 0);
			assert_int_equal(floor_of(hash), 0);
		}
		assert_int_equal(charge(ways, 1, &hash), WEIR_EVICTED);
		assert_int_equal(floor_of(hash), f);
		assert_true(charge(ways + 1, budget - f + 1, &hash) &
			    WEIR_FLOORED);
		if (f < budget)
			assert_int_equal(charge(ways + 2, budget - f, &hash),
					 WEIR_EVICTED);
		end();

		begin(budget, 4, 64);
		twin_shrink(t.table, 1, ways);
		for (i = 0; i < ways; i++)
			assert_int_equal(charge(i, f - (i == ways - 1), &hash),
					 0);
		assert_false(charge(ways, 1, &hash) & WEIR_REFUSED);
		assert_int_equal(floor_of(hash), f - 1);
		end();
	}
}

/*
 * A floor that was raised is kept for less than it took. One source holds a way
 * with a packet of its own; at the last moment it sends f, and fresh sources,
 * who inherit the old floor, come to hold more than it does. The next one evicts
 * it, and takes its part.
 */
static void test_kept(void **state)
{
	const unsigned int ways = 46, slots = 4, rounds = 50;
	const u64 f = 1000, budget = 2000;
	unsigned int round, i;
	u64 kept, next = 0;
	u32 hash;

	(void)state;
	begin(budget, slots, 64);
	twin_shrink(t.table, 1, ways);
	for (i = 0; i < ways; i++)
		assert_false(charge(next++, f, &hash));
	kept = next++;
	assert_int_equal(charge(kept, 1, &hash), WEIR_EVICTED);
	t.tick += SLOT_TICKS;
	for (round = 0; round < rounds; round++) {
		charge(next++, budget + 1, &hash);
		assert_int_equal(floor_of(hash), f);
		assert_true(charge(next++, budget - f + 1, &hash) &
			    WEIR_FLOORED);
		t.tick += (slots - 1) * SLOT_TICKS;
		assert_false(charge(kept, f, &hash));
		for (i = 1; i < ways; i++)
			assert_int_equal(charge(next++, 2, &hash), WEIR_EVICTED);
		assert_true(has_way(kept));
		assert_int_equal(charge(next, 1, &hash), WEIR_EVICTED);
		assert_false(has_way(kept));
		kept = next++;
		/* What was there before leaves. */
		t.tick += SLOT_TICKS;
	}
	print_message("# a floor of %llu was raised for %llu and kept for %llu a window\n",
		      f, f * ways + 1, f + 2 * ways - 1);
	end();
}

/* The part of a Poisson number of packets that comes above what is let in. */
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

/* What each bucket admitted in the window, by the slot. */
static struct {
	struct twin_wheel all[64];
	u64 came, lost;
	double above;
} flood;

static void flood_packet(u64 number, bool settled)
{
	struct twin_wheel *all;
	unsigned int result;
	double share;
	u32 hash;

	result = charge(number, 1, &hash);
	all = &flood.all[hash & t.table->mask];
	twin_turn(all, t.table->shape.ring, t.tick / SLOT_TICKS);
	all->count[0] += !(result & WEIR_REFUSED);
	share = (double)twin_sum(all) / t.table->ways;
	flood.above = max(flood.above, (double)floor_of(hash) - share);
	flood.came += settled;
	flood.lost += settled && result & WEIR_REFUSED;
}

/*
 * Every packet has a source of its own. Floors stay within 3 packets of their
 * share of what the bucket admitted, and newcomers lose no more than what that
 * leaves no room for.
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
			flood_packet(number++,
				     t.tick > start + 3 * (window + SLOT_TICKS));
	came = a_tick * (window + SLOT_TICKS) / (t.table->mask + 1);
	lost = (double)flood.lost / flood.came;
	most = budget > 3 ? excess(came, t.table->ways * (budget - 3.)) : 1;
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

	(void)state;
	for (b = 0; b < ARRAY_SIZE(budget); b++)
	for (i = 0; i < ARRAY_SIZE(sources); i++)
	for (n = 0; n < ARRAY_SIZE(slots); n++)
	for (k = 0; k < ARRAY_SIZE(load); k++)
		if (unit_number("UNIT_PERCENT", 100) == 100 || b == 3)
			one_flood(budget[b], slots[n], sources[i], load[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_rest),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_floods),
	};

	return cmocka_run_group_tests_name("table_floor", tests, NULL, NULL);
}
