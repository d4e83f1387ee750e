// SPDX-License-Identifier: GPL-2.0-only
/*
 * Theory of operation
 *
 * A table is a power of two of buckets, found by a keyed hash of the source.
 * A bucket is a set of ways; a way holds a source and its wheel. All memory
 * is allocated when the table is made.
 *
 * A bucket also has a floor: a wheel that is an upper bound of what any
 * source without a way in this bucket has sent. At first it is empty. When a
 * source needs a way and none is free or idle, the way of the smallest sum is
 * taken and its wheel joined into the floor; so the bound holds for the
 * source that lost its way. A source that takes a way starts from a copy of
 * the floor, for it may have had a way before. One that the floor leaves no
 * room is refused, takes no way and evicts nobody. So no source ever sends
 * more than its budget in a window, however small the table is; what too
 * small a table costs are refusals that come early. A lenient table has no
 * floor: newcomers start empty, and the bound holds per stay.
 *
 * Serialisation
 *
 * A bucket's spinlock covers its ways and its floor. It is taken with BH off,
 * and never with another table lock held but while a successor is filled or
 * charged beside the old table: old bucket first, then the successor's.
 *
 * A refusal takes no lock: weir_table_refuse() reads tag, key, sum and
 * boundary inside the bucket's sequence count. It never waits: when a writer
 * is at work it says nothing, and the caller charges under the lock. A
 * refusal read so was true at the moment of the read: the sum had no room and
 * nothing leaves the wheel before its boundary.
 *
 * The time of a charge is the bucket's: when another CPU has turned the
 * bucket to a later slot, the charge counts there, and the caller is told.
 *
 * A way's count of refusals is written under the lock. Refusals without the
 * lock wait on their CPU: see recent.c.
 *
 * Tables are found through an RCU pointer of the configuration. Whoever sleeps
 * with one holds a reference; the owner drops its own after a grace period.
 */
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include "bucket.h"

/* The most that the page allocator gives in one piece on any kernel. */
#define CHUNK_BYTES (4u << 20)

/* Entries of a CPU for sources it met a moment ago, as powers of two. */
#define RECENTS_SHIFT_MIN 4
#define RECENTS_SHIFT_MAX 10

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

/* Where weir_table_recall() looks for them. */
static_assert(offsetof(struct weir_table, recents) == 0);
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
	u64 wheel;

	table->shape.ring = spec->slots + !spec->lenient;
	table->shape.width = weir_wheel_width(spec->budget);
	table->budget_max = weir_wheel_max(table->shape.width);
	table->words = weir_prefix_words(spec->prefix);
	wheel = weir_wheel_size(table->shape);

	table->wheel_off = ALIGN(offsetof(struct weir_way, word) +
				 4 * (table->words + 1), table->shape.width);
	table->way_size = ALIGN(table->wheel_off + wheel, 8);
	table->way_off = ALIGN(sizeof(struct weir_bucket) + wheel, 64);
	table->stride = ALIGN(table->way_off + table->ways * table->way_size,
			      64);
	table->chunk_shift = min(ilog2(CHUNK_BYTES / table->stride),
				 fls(table->mask));
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

/* As many for all CPUs together as an eighth of the sources, or a few. */
static void table_recents(struct weir_table *table)
{
	u32 entries = table->spec.sources / 8 / num_possible_cpus();

	table->recents.shift = clamp(ilog2(entries | 1), RECENTS_SHIFT_MIN,
				     RECENTS_SHIFT_MAX);
}

static size_t recents_bytes(const struct weir_table *table)
{
	return ((size_t)nr_cpu_ids << table->recents.shift) *
	       sizeof(*table->recents.entry);
}

static void bucket_init(const struct weir_table *table,
			struct weir_bucket *bucket)
{
	spin_lock_init(&bucket->lock);
	seqcount_spinlock_init(&bucket->seq, &bucket->lock);
	weir_bucket_wipe(table, bucket);
}

static void table_free(struct weir_table *table)
{
	u32 i;

	for (i = 0; i < table->chunks; i++)
		chunk_free(table->chunk[i], chunk_bytes(table));
	kvfree(table->recents.entry);
	kvfree(table);
}

static void table_plan(struct weir_table *table,
		       const struct weir_table_spec *spec)
{
	*table = (struct weir_table) { .spec = *spec };
	table_size(table);
	table_slot_inverse(table);
	table_layout(table);
	table_recents(table);
	table->bytes = (u64)chunk_bytes(table) * table->chunks +
		       struct_size(table, chunk, table->chunks) +
		       recents_bytes(table);
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
 * Who asks for a page in vain has processes ended for it: a table may have all
 * that is free or easily freed but an eighth, which is left to others.
 */
static bool memory_holds(u64 bytes)
{
	u64 available = max(si_mem_available(), 0L);

	return bytes >> PAGE_SHIFT <= available - available / 8;
}

/**
 * weir_table_alloc - make an empty table
 * @spec: what it is for
 *
 * Context: process, may sleep.
 * Return: the table with one reference, or ERR_PTR(-ENOMEM).
 */
struct weir_table *weir_table_alloc(const struct weir_table_spec *spec)
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
	table->recents.entry = kvzalloc(recents_bytes(table), gfp);
	if (!table->recents.entry)
		goto err;
	for (i = 0; i < table->chunks; i++) {
		table->chunk[i] = chunk_alloc(chunk_bytes(table), gfp);
		if (!table->chunk[i])
			goto err;
		cond_resched();
	}
	for (i = 0; i <= table->mask; i++) {
		bucket_init(table, weir_bucket(table, i));
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
	return budget <= table->budget_max;
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
