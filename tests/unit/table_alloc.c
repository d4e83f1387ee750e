// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of a table: its size by number of sources, the size reported, and
 * clean failure when allocation fails.
 */
#include <linux/mm.h>

#include <math.h>

#include "table_twin.h"

static struct weir_table_spec spec_of(u32 sources)
{
	return (struct weir_table_spec) {
		.meter[0] = { .budget = 1000, .slot_ticks = 4, .slots = 15 },
		.sources = sources, .prefix = { 32, 64 },
	};
}

static struct weir_table *alloc(u32 sources)
{
	struct weir_table_spec spec = spec_of(sources);
	struct weir_table *table;

	table = weir_table_alloc(&spec, 1000);
	assert_false(IS_ERR(table));
	assert_true(weir_table_need(&spec) == shim_allocated);
	assert_true(weir_table_need(&spec) == weir_table_bytes(table));
	assert_int_equal(weir_table_sets(table), table->mask + 1);
	assert_int_equal(weir_table_entries(table), (table->mask + 1) * table->entries);
	assert_memory_equal(&table->spec, &spec, sizeof(spec));
	return table;
}

/* Share of sources without an entry, if a set's sources are Poisson distributed. */
static double lost(double mean, unsigned int entries)
{
	double p = exp(-mean), sum = 0;
	unsigned int n;

	for (n = 1; n < 400; n++) {
		p *= mean / n;
		if (n > entries)
			sum += p * (n - entries);
	}
	return sum / mean;
}

/* The fewest entries (by twos) and sets that leave out under 1 source in 1000. */
static void test_size(void **state)
{
	struct weir_table *table;
	double sets;
	u32 sources;

	for (sources = 1; sources < 2500; sources++) {
		table = alloc(sources);
		sets = table->mask + 1;
		check(lost(sources / sets, table->entries) < 1e-3,
		      "%u sources: %u entries", sources, table->entries);
		if (table->entries > 4)
			check(lost(ceil(16 * sources / sets) / 16, table->entries - 2) >= 1e-3,
			      "%u sources: %u entries, fewer do", sources, table->entries);
		if (sets > 1)
			check(lost(ceil(32 * sources / sets) / 16, WEIR_ENTRIES_MAX) >= 1e-3,
			      "%u sources: %g sets, fewer do", sources, sets);
		weir_table_free(table);
	}
}

/* That many live sources find entries, nearly two in three in their home slot. */
static void test_sources(void **state)
{
	static const u32 sources[] = { 64, 1000, 4096, 30000, 65536 };
	struct weir_lookup lookup = { .tick = 1000, .amount = { 1 }, .budgets = &(const u64){ 1000 } };
	u64 evicted, total = 0, of = 0, home = 0;
	struct weir_source source;
	struct weir_table *table;
	hsiphash_key_t key;
	unsigned int i, n;
	u8 result;

	for (n = 0; n < ARRAY_SIZE(sources); n++) {
		key = (hsiphash_key_t) { { n, 7 * n } };
		table = alloc(sources[n]);
		evicted = 0;
		twin_enter();
		for (i = 0; i < sources[n]; i++) {
			source = twin_source(i, table->spec.prefix);
			lookup.source = &source;
			lookup.hash = weir_source_hash(&source, table->spec.prefix, &key);
			result = twin_packet(table, &lookup);
			assert_true(result & WEIR_CHARGED);
			evicted += !!(result & WEIR_EVICTED);
			home += lookup.entry ==
				weir_set_entry(table, weir_set(table, lookup.hash),
					       weir_hash_home(table, lookup.hash));
		}
		twin_leave();
		total += evicted;
		of += sources[n];
		weir_table_free(table);
	}
	check(total * 1000 < of * 5 / 4, "%llu of %llu", total, of);
	check(home * 10 > of * 6, "%llu at home of %llu", home, of);
}

static u64 up(u64 bytes, u64 to)
{
	return (bytes + to - 1) / to * to;
}

/* The formula of design.rst for sets of @entries entries */
static u64 bytes_of(const struct weir_table_spec *spec, u64 sets, unsigned int entries)
{
	const struct weir_meter_spec *meter = &spec->meter[0];
	u64 slots = meter->slots + !meter->lenient, ring = 1, each = 1;
	u64 width = meter->budget < 1ull << 16 ? 2 : meter->budget < 1ull << 32 ? 4 : 8;
	u64 count, entry, set;

	while (ring < slots)
		ring *= 2;
	count = (width == 2 ? 6 : 8) + width * (1 + ring);
	entry = up((spec->prefix.len6 > 64 ? 32 : 24) + count, 64);
	set = up(up(88 + count, 4) + 4 * entries, 128) + entries * entry;
	set = up(set, 128);
	while (each < sets && 2 * each * set <= 4 << 20)
		each *= 2;
	return sets / each * (up(each * set, 4096) + 8) + sizeof(struct weir_table);
}

/*
 * Every part of the layout is aligned, does not overlap the next, and has the documented size. A
 * entry with 15 slots, two-byte counts and half an IPv6 address is one cache line.
 */
static void test_layout(void **state)
{
	static const u64 budget[] = { 1, U16_MAX, U16_MAX + 1ull, U32_MAX, BIT_ULL(56) };
	struct weir_table_spec spec = spec_of(64);
	unsigned int b, slots, len6, i, n;
	struct weir_set *set;
	struct weir_entry *entry;
	struct weir_table *t;

	for (b = 0; b < ARRAY_SIZE(budget); b++)
	for (slots = 1; slots <= WEIR_SLOTS_MAX; slots++)
	for (len6 = 64; len6 <= 128; len6 += 64) {
		spec.meter[0].budget = budget[b];
		spec.meter[0].slots = slots;
		spec.prefix.len6 = len6;
		spec.meter[0].lenient = slots % 2;
		t = weir_table_alloc(&spec, 1000);
		assert_false(IS_ERR(t));
		assert_true(weir_width_max(t->meter[0].shape.width) >= budget[b]);
		assert_true(weir_table_holds(t, 0, budget[b]));
		assert_true(weir_table_bytes(t) == bytes_of(&spec, t->mask + 1, t->entries));
		check(t->entry_size == 64 || slots > 15 || len6 > 64 ||
		      budget[b] > U16_MAX, "%u slots: %u", slots, t->entry_size);
		for (i = 0; i <= t->mask; i++) {
			set = weir_set(t, i);
			assert_true((uintptr_t)set % 128 == 0);
			assert_true(t->floor_off + t->meter[0].shape.size <= t->until_off);
			assert_true(t->until_off + 4 * t->entries <= t->entry_off);
			/* The sanitizer checks the bounds. */
			memset(weir_set_floor(t, set), 0x5a, t->meter[0].shape.size);
			for (n = 0; n < t->entries; n++) {
				entry = weir_set_entry(t, set, n);
				assert_true((uintptr_t)entry % 64 == 0);
				assert_true(entry->scope == WEIR_SCOPE_INVALID);
				assert_true((uintptr_t)weir_entry_count(t, entry) % 8 == 0);
				memset(entry->word, 0x5a, 4 * t->words);
				memset(weir_entry_count(t, entry), 0x5a, t->meter[0].shape.size);
				assert_true(t->count_off + t->meter[0].shape.size <=
					    t->entry_size);
			}
			assert_true((size_t)t->entry_off + t->entries * t->entry_size <= t->stride);
		}
		weir_table_free(t);
	}
}

/* The slot, computed by multiplication, is the exact quotient for any tick. */
static void test_slot(void **state)
{
	struct weir_table_spec spec = spec_of(64);
	struct chance c = chance_of(1);
	struct weir_table *t;
	unsigned int i, n;
	u64 tick;

	for (i = 0; i < 4000; i++) {
		spec.meter[0].slot_ticks = i < 300 ? i + 1 : max(1u, (u32)chance(&c) >> (i & 31));
		t = weir_table_alloc(&spec, 1000);
		for (n = 0; n < 64; n++) {
			tick = chance(&c) >> (1 + chance_below(&c, 63));
			assert_true(weir_table_slot(t, tick) == tick / spec.meter[0].slot_ticks);
			tick -= tick % spec.meter[0].slot_ticks;
			assert_true(weir_table_slot(t, tick) == tick / spec.meter[0].slot_ticks);
			tick -= !!tick;
			assert_true(weir_table_slot(t, tick) == tick / spec.meter[0].slot_ticks);
		}
		assert_true(weir_table_slot(t, INT64_MAX) == INT64_MAX / spec.meter[0].slot_ticks);
		weir_table_free(t);
	}
}

/* With several chunks sets do not overlap. */
static void test_chunks(void **state)
{
	struct weir_table *table = alloc(600000);
	u32 i;

	assert_true(table->chunks > 1);
	for (i = 0; i <= table->mask; i++) {
		assert_int_equal(weir_set(table, i)->hand, 0);
		weir_set(table, i)->seen_end = i + 1;
	}
	for (i = 0; i <= table->mask; i++)
		assert_int_equal(weir_set(table, i)->seen_end, i + 1);
	weir_table_free(table);
	assert_int_equal(shim_allocations, 0);
}

static unsigned int rests;

static void rest(void)
{
	rests++;
}

/* Whoever frees a large table lets others run, after each chunk. */
static void test_rests(void **state)
{
	struct weir_table *table = alloc(600000);
	unsigned int chunks = table->chunks;

	rests = 0;
	shim_resched = rest;
	weir_table_free(table);
	shim_resched = NULL;
	check(rests >= chunks, "%u rests in %u chunks", rests, chunks);
}

/* An eighth of the available memory must stay free. */
static void test_memory_left(void **state)
{
	struct weir_table_spec spec = spec_of(600000);
	long pages = weir_table_need(&spec) >> PAGE_SHIFT, enough = pages;

	while (enough - enough / 8 < pages)
		enough++;
	assert_true(enough > pages);
	shim_available_pages = enough - 1;
	assert_int_equal(PTR_ERR(weir_table_alloc(&spec, 1000)), -ENOMEM);
	shim_available_pages = -1;
	assert_int_equal(PTR_ERR(weir_table_alloc(&spec, 1000)), -ENOMEM);
	shim_available_pages = enough;
	weir_table_free(alloc(600000));
	shim_available_pages = 1l << 24;
	assert_int_equal(shim_allocations, 0);
}

/* If any allocation fails, the call fails and leaks nothing. */
static void test_failures(void **state)
{
	struct weir_table_spec spec = spec_of(600000);
	struct weir_table *table;
	int i;

	for (i = 0; ; i++) {
		shim_fail_after = i;
		table = weir_table_alloc(&spec, 1000);
		shim_fail_after = -1;
		if (!IS_ERR(table))
			break;
		assert_int_equal(PTR_ERR(table), -ENOMEM);
		assert_int_equal(shim_allocations, 0);
	}
	assert_int_equal(i, 1 + table->chunks);
	weir_table_free(table);
	assert_int_equal(shim_allocations, 0);
}

/* Ticks in nanoseconds, exact up to the largest number of 64 bits. */
static void test_ns(void **state)
{
	const u64 tick = 1000000000 / HZ, most = U64_MAX / tick;
	static const u64 ticks[] = {
		0, 1, HZ, 2592000ull * HZ, U32_MAX, 4096 * 2592000ull * HZ,
		2 * 4096 * 2592000ull * HZ, BIT_ULL(62), BIT_ULL(63), WEIR_NEVER,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ticks); i++)
		check(weir_ticks_ns(ticks[i]) == (ticks[i] > most ? U64_MAX : ticks[i] * tick),
		      "%llu ticks", (unsigned long long)ticks[i]);
	/* Where it saturates may be a second early. */
	check(weir_ticks_ns(most + 1) == U64_MAX, "no more than that");
	check(weir_ticks_ns(most - HZ) == (most - HZ) * tick, "nor less");
}

UNIT_MAIN("table_alloc", T(test_size), T(test_sources), T(test_layout), T(test_slot), T(test_ns),
	  T(test_chunks), T(test_rests), T(test_memory_left), T(test_failures))
