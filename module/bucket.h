/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of a table, for table.c and move.c alone.
 *
 * A bucket in memory, at a multiple of a cache line:
 *
 *	struct weir_bucket	lock, sequence, time, a tag for each way
 *	struct weir_wheel	the floor
 *	struct weir_way[]	each with its key and its wheel, at the next line
 *
 * With 16 slots, counts of two bytes and IPv6 prefixes up to 64 a way is one
 * cache line of 64 bytes, and so is the head of a bucket.
 */
#ifndef WEIR_BUCKET_H
#define WEIR_BUCKET_H

#include <linux/cache.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>

#include "table.h"
#include "wheel.h"

/*
 * Idle ways keep their source until another wants them, or until the bucket
 * has met this many slots: times of 16 bits stay unambiguous that way.
 */
#define WEIR_SWEEP_SHIFT 13
#define WEIR_SWEEP_SLOTS BIT_ULL(WEIR_SWEEP_SHIFT)

/**
 * struct weir_bucket - a set of ways
 * @lock: covers the bucket, its floor and its ways; taken with BH off
 * @seq: odd while one of them changes
 * @slot: slot of the last turn, the only time that is not cut
 * @tag: eight bits of the hash of each way's source, 0 where the way is free
 */
struct weir_bucket {
	spinlock_t lock;	/* covers the bucket, its floor and its ways */
	seqcount_spinlock_t seq;
	u64 slot;
	u8 tag[WEIR_WAYS_MAX];
};

/**
 * struct weir_way - a source's place
 * @dropped: refusals of the source since it took the way
 * @word: two or four words of its masked address, then its zone; the wheel
 *	follows at table->wheel_off
 */
struct weir_way {
	u64 dropped;
	__be32 word[];
};

/* Refusals of one source that its way does not know of yet. */
struct weir_drops {
	struct weir_source source;
	u32 hash;
	u32 count;
	u32 epoch;
	u64 slot;
};

#define WEIR_DROPS_BITS 4

/* One CPU's; touched by that CPU with BH off, read by others for display. */
struct weir_drops_cache {
	struct weir_drops entry[BIT(WEIR_DROPS_BITS)];
};

/**
 * struct weir_table - constant once published, but for the last group
 * @spec: what it was made for
 * @shape: of the wheels
 * @words: words of a key, without the zone
 * @ways: ways of a bucket
 * @mask: buckets less one
 * @stride: bytes of a bucket
 * @way_off: offset of the first way in a bucket
 * @way_size: bytes of a way
 * @wheel_off: offset of the wheel in a way
 * @chunk_shift: log2 of the buckets in a chunk
 * @chunks: of memory
 * @bytes: of memory, all told
 * @budget_max: the largest budget that the counts hold
 * @drops: CPU-local
 * @ref: the limit's and the dumps'
 * @next: successor, published before the first bucket is copied
 * @epoch: grows when all sources are forgotten; refusals that wait and are
 *	of another one count no more
 * @copied: buckets below this index are in the successor too; bucket i is
 *	marked under its lock
 * @live: a successor's: packets enter by it; set before the configuration
 *	that has it is published
 */
struct weir_table {
	struct weir_table_spec spec;
	struct weir_wheel_shape shape;
	u8 words;
	u8 ways;
	u32 mask;
	u32 stride;
	u16 way_off;
	u16 way_size;
	u16 wheel_off;
	u8 chunk_shift;
	u32 chunks;
	u64 bytes;
	u64 budget_max;
	struct weir_drops_cache __percpu *drops;
	refcount_t ref;

	struct weir_table __rcu *next;
	u32 epoch;
	u32 copied;
	bool live;

	void *chunk[] __counted_by(chunks);
};

/* Room for a copy of any wheel: its head, the sum and the longest ring. */
union weir_wheel_copy {
	struct weir_wheel wheel;
	u64 bytes[1 + 1 + WEIR_SLOTS_MAX + 1];
};

static inline struct weir_bucket *
weir_bucket(const struct weir_table *table, u32 index)
{
	void *chunk = table->chunk[index >> table->chunk_shift];

	index &= BIT(table->chunk_shift) - 1;
	return chunk + (size_t)index * table->stride;
}

static inline struct weir_wheel *weir_bucket_floor(struct weir_bucket *bucket)
{
	return (struct weir_wheel *)(bucket + 1);
}

static inline struct weir_way *weir_bucket_way(const struct weir_table *table,
					       struct weir_bucket *bucket,
					       unsigned int way)
{
	return (void *)bucket + table->way_off + way * table->way_size;
}

static inline struct weir_wheel *weir_way_wheel(const struct weir_table *table,
						struct weir_way *way)
{
	return (void *)way + table->wheel_off;
}

static inline u64 weir_table_slot(const struct weir_table *table, u64 tick)
{
	return div_u64(tick, table->spec.slot_ticks);
}

static inline u64 weir_table_cost(const struct weir_table *table,
				  struct weir_cost cost)
{
	return table->spec.bytes ? cost.bytes : cost.packets;
}

/* Buckets are found by the low bits of a hash, ways by the highest. */
static inline u8 weir_hash_tag(u32 hash)
{
	return hash >> 24 ?: 1;
}

/* The successor, if this locked bucket has been copied to it. */
static inline struct weir_table *
weir_bucket_follower(struct weir_table *table, u32 index)
{
	/* Pairs with the store under this bucket's lock in move.c. */
	if (likely(index >= READ_ONCE(table->copied)))
		return NULL;
	return rcu_dereference(table->next);
}

void weir_bucket_turn(const struct weir_table *table,
		      struct weir_bucket *bucket, u64 slot);
struct weir_way *weir_bucket_find(const struct weir_table *table,
				  struct weir_bucket *bucket,
				  const struct weir_source *source, u8 tag);
struct weir_way *weir_bucket_take(const struct weir_table *table,
				  struct weir_bucket *bucket,
				  const struct weir_source *source, u8 tag,
				  bool *evicted);
unsigned int weir_bucket_charge(const struct weir_table *table,
				struct weir_bucket *bucket,
				const struct weir_source *source, u32 hash,
				u64 cost, u64 budget);
void weir_bucket_add(const struct weir_table *table,
		     struct weir_bucket *bucket,
		     const struct weir_source *source, u32 hash, u64 slot,
		     u64 cost);
void weir_way_source(const struct weir_table *table,
		     const struct weir_way *way, struct weir_source *source);

void weir_bucket_drops(const struct weir_table *table,
		       struct weir_bucket *bucket,
		       const struct weir_source *source, u32 hash, u32 count,
		       u64 slot);
void weir_drops_note(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u64 slot);
u64 weir_drops_pending(const struct weir_table *table,
		       const struct weir_source *source);

#endif /* WEIR_BUCKET_H */
