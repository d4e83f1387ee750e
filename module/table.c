// SPDX-License-Identifier: GPL-2.0-only
/*
 * Theory of operation
 *
 * A table is a power of two of buckets, found by a keyed hash of the source. A
 * bucket is a head and a set of ways; a way holds a source and its wheel, in one
 * cache line as a rule. The hash names the bucket and in it a home. Whoever has
 * a packet looks at the home and its neighbour, comparing whole sources, and
 * only where neither is the source's at the tags in the head. All memory is
 * allocated when the table is made.
 *
 * A bucket has a floor: a wheel that is an upper bound of what any source
 * without a way in this bucket was admitted. At first it is empty. When a source
 * needs a way and none is free or idle, a live one gives way and its wheel is
 * joined into the floor; so the bound holds for the source that lost its way. A
 * source that takes a way starts from a copy of the floor, for it may have had
 * one before. One that the floor leaves no room is refused, takes no way and
 * evicts nobody. So no source ever sends more than its budget in a window,
 * however small the table is; what too small a table costs are refusals that
 * come early. Any victim is sound; a small one raises the floor least.
 *
 * Serialisation
 *
 * The lock of a way covers its source and its wheel, the lock of a bucket its
 * head, its floor and which source has which way: a way changes hands under
 * both. Order: bucket, then way; nobody waits for a bucket with a way locked.
 * Both are raw spinlocks, taken with BH off and held for a bounded number of
 * cache lines, so that they mean the same with PREEMPT_RT.
 *
 *   refuse	no lock: reads source, time, total and one entry of the ring
 *		between two looks at the version of the way
 *   charge	the lock of the way, and the source compared again under it
 *   newcomer	the lock of the bucket, a second search if its version changed
 *		since the first, then the lock of the way
 *
 * What a search without the bucket's lock finds is a hint. That it finds
 * nothing means nothing until the bucket is locked and its version is as it was.
 *
 * A way has its own time: on a CPU whose clock is late it counts and refuses at
 * the way's. Two wheels are turned to the later of their times before they are
 * joined. Times have 32 bits: weir_table_age() frees ways that were idle for
 * long enough to be taken for new.
 *
 * Tables are found through an RCU pointer of the configuration. Whoever sleeps
 * with one holds a reference; the owner drops its own after a grace period. How
 * one table takes over from another is at the top of move.c.
 */
#include <linux/bitops.h>
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "bucket.h"

/* The most that the page allocator gives in one piece on any kernel. */
#define CHUNK_BYTES (4u << 20)

/* Ways and their neighbours are pairs of lines. */
#define PAIR_BYTES 128

#define WAYS_MIN 4

/*
 * The largest mean number of sources in a bucket, in sixteenths, such that of
 * a Poisson number of them less than one in a thousand finds no way, for 4
 * ways, 5 ways and so on.
 */
static const u16 sources_per_bucket[] = {
	10, 17, 25, 34, 43, 53, 63, 74, 85, 96, 107, 119, 131, 143, 155, 167,
	179, 192, 204, 217, 230, 243, 256, 269, 282, 295, 308, 321, 334, 348,
	361, 375, 388, 402, 415, 429, 443, 456, 470, 484, 498, 511, 525, 539,
	553,
};

static_assert(ARRAY_SIZE(sources_per_bucket) == WEIR_WAYS_MAX - WAYS_MIN + 1);

/* The fewest buckets that hold the sources, and the ways that this takes. */
static void table_size(struct weir_table *table)
{
	u32 most = sources_per_bucket[ARRAY_SIZE(sources_per_bucket) - 1];
	u64 sources = table->spec.sources * 16ull;
	unsigned int shift = 0;

	while (sources > (u64)most << shift)
		shift++;
	table->mask = BIT(shift) - 1;
	table->ways = WAYS_MIN;
	while (sources > (u64)sources_per_bucket[table->ways - WAYS_MIN] << shift)
		table->ways++;
	table->ways = ALIGN(table->ways, 2);
}

/* See weir_table_slot(). */
static void table_slot_inverse(struct weir_table *table)
{
	u32 ticks = table->spec.slot_ticks, left;
	unsigned int shift = order_base_2(ticks);
	u64 whole = div_u64_rem(BIT_ULL(63), ticks, &left);

	table->slot_shift = shift;
	table->slot_inverse = (whole << shift) +
			      div_u64(((u64)left << shift) + ticks - 1, ticks);
}

static void table_layout(struct weir_table *table)
{
	const struct weir_table_spec *spec = &table->spec;
	size_t wheel;

	table->shape = weir_wheel_shape(spec->slots, spec->lenient,
					weir_wheel_width(spec->budget));
	table->words = weir_prefix_words(spec->prefix);
	wheel = weir_wheel_size(table->shape);

	table->wheel_off = ALIGN(offsetof(struct weir_way, word) +
				 4 * table->words, 8);
	table->way_size = ALIGN(table->wheel_off + wheel, 64);
	table->floor_off = ALIGN(offsetofend(struct weir_bucket, rescan), 8);
	table->way_off = ALIGN(table->floor_off + wheel, PAIR_BYTES);
	table->stride = ALIGN(table->way_off + table->ways * table->way_size,
			      PAIR_BYTES);
	table->chunk_shift = min(ilog2(CHUNK_BYTES / table->stride),
				 fls(table->mask));
	table->chunk_mask = BIT(table->chunk_shift) - 1;
	table->chunks = (table->mask >> table->chunk_shift) + 1;
}

static size_t chunk_bytes(const struct weir_table *table)
{
	return PAGE_ALIGN((size_t)table->stride << table->chunk_shift);
}

/*
 * Pages in one piece are mapped by huge ones, so that a packet misses the TLB
 * once; where memory is in pieces, any pages do.
 */
static void *chunk_alloc(size_t bytes, gfp_t gfp)
{
	void *chunk = alloc_pages_exact(bytes, gfp | __GFP_ZERO |
					__GFP_NORETRY);

	return chunk ?: __vmalloc(bytes, gfp | __GFP_ZERO |
				  __GFP_RETRY_MAYFAIL);
}

static void chunk_free(void *chunk, size_t bytes)
{
	if (is_vmalloc_addr(chunk))
		vfree(chunk);
	else if (chunk)
		free_pages_exact(chunk, bytes);
}

static void bucket_init(const struct weir_table *table,
			struct weir_bucket *bucket, u32 slot)
{
	struct weir_way *way;
	unsigned int i;

	raw_spin_lock_init(&bucket->lock);
	bucket->rescan = slot;
	weir_wheel_reset(table->shape, weir_bucket_floor(table, bucket), slot);
	for (i = 0; i < table->ways; i++) {
		way = weir_bucket_way(table, bucket, i);
		raw_spin_lock_init(&way->lock);
		seqcount_raw_spinlock_init(&way->seq, &way->lock);
		way->zone = WEIR_ZONE_NOBODY;
	}
}

static void table_free(struct weir_table *table)
{
	u32 i;

	for (i = 0; i < table->chunks; i++)
		chunk_free(table->chunk[i], chunk_bytes(table));
	free_percpu(table->batches);
	kvfree(table);
}

static bool has_batches(const struct weir_table_spec *spec)
{
	return !spec->prefix.len4 || !spec->prefix.len6;
}

static void table_plan(struct weir_table *table,
		       const struct weir_table_spec *spec)
{
	*table = (struct weir_table) { .spec = *spec };
	table_size(table);
	table_slot_inverse(table);
	table_layout(table);
	table->bytes = (u64)chunk_bytes(table) * table->chunks +
		       struct_size(table, chunk, table->chunks) +
		       has_batches(spec) * nr_cpu_ids *
		       sizeof(*table->batches);
}

/**
 * weir_table_need - the memory that a table will take
 * @spec: what it is for
 *
 * Return: bytes, all told.
 */
u64 weir_table_need(const struct weir_table_spec *spec)
{
	struct weir_table layout;

	table_plan(&layout, spec);
	return layout.bytes;
}

/*
 * A failed allocation would wake the OOM killer: a table may have all that is
 * free or easily freed but an eighth.
 */
static bool memory_holds(u64 bytes)
{
	u64 available = max(si_mem_available(), 0L);

	return bytes >> PAGE_SHIFT <= available - available / 8;
}

/**
 * weir_table_alloc - make an empty table
 * @spec: what it is for
 * @tick: now
 *
 * Context: process, may sleep.
 * Return: the table with one reference, or ERR_PTR(-ENOMEM).
 */
struct weir_table *weir_table_alloc(const struct weir_table_spec *spec,
				    u64 tick)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	struct weir_table layout, *table;
	u32 i;

	table_plan(&layout, spec);
	if (!memory_holds(layout.bytes))
		return ERR_PTR(-ENOMEM);

	table = kvzalloc(struct_size(table, chunk, layout.chunks), gfp);
	if (!table)
		return ERR_PTR(-ENOMEM);
	*table = layout;
	refcount_set(&table->ref, 1);
	if (has_batches(spec)) {
		table->batches = alloc_percpu_gfp(struct weir_batches, gfp);
		if (!table->batches)
			goto err;
	}
	for (i = 0; i < table->chunks; i++) {
		table->chunk[i] = chunk_alloc(chunk_bytes(table), gfp);
		if (!table->chunk[i])
			goto err;
		cond_resched();
	}
	for (i = 0; i <= table->mask; i++) {
		bucket_init(table, weir_bucket(table, i),
			    weir_table_slot(table, tick));
		if (!(i & 1023))
			cond_resched();
	}
	return table;
err:
	table_free(table);
	return ERR_PTR(-ENOMEM);
}

/**
 * weir_table_tryget - hold a table across a sleep
 * @table: found under rcu_read_lock()
 */
bool weir_table_tryget(struct weir_table *table)
{
	return refcount_inc_not_zero(&table->ref);
}

/**
 * weir_table_put - drop a reference, the owner's after a grace period
 * @table: table or NULL
 *
 * Context: process.
 */
void weir_table_put(struct weir_table *table)
{
	if (table && refcount_dec_and_test(&table->ref))
		table_free(table);
}

/** weir_table_spec - what a table was made for */
const struct weir_table_spec *weir_table_spec(const struct weir_table *table)
{
	return &table->spec;
}

/** weir_table_holds - are the counts wide enough for a budget? */
bool weir_table_holds(const struct weir_table *table, u64 budget)
{
	return budget <= weir_wheel_max(table->shape.width);
}

/** weir_table_bytes - memory of a table, all told */
u64 weir_table_bytes(const struct weir_table *table)
{
	return table->bytes;
}

/** weir_table_buckets - buckets of a table */
u32 weir_table_buckets(const struct weir_table *table)
{
	return table->mask + 1;
}

/** weir_table_ways - sources that a table can hold at the most */
u32 weir_table_ways(const struct weir_table *table)
{
	return weir_table_buckets(table) * table->ways;
}
