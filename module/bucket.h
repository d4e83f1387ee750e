/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of a table, for table.c and move.c alone.
 *
 * A bucket in memory, at a multiple of a cache line:
 *
 *	struct weir_bucket	lock, sequence, time, a tag for each way; then
 *				what a newcomer needs
 *	struct weir_wheel	the floor
 *	struct weir_way[]	each with its key and its wheel, at the next line
 *
 * With 16 slots, counts of two bytes and IPv6 prefixes up to 64 a way is one
 * cache line of 64 bytes, and so is the head of a bucket.
 */
#ifndef WEIR_BUCKET_H
#define WEIR_BUCKET_H

#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>

#include "recent.h"
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
 * @tag: eight bits of the hash of each way's source, or WEIR_TAG_*
 * @least: no source with a way has a smaller sum in this slot
 * @hand: way to look at first when one must go
 * @full: no way is free
 */
struct weir_bucket {
	spinlock_t lock;	/* covers the bucket, its floor and its ways */
	seqcount_spinlock_t seq;
	u64 slot;
	u8 tag[WEIR_WAYS_MAX];

	u64 least;
	u8 hand;
	bool full;
};

/**
 * struct weir_way - a source's place
 * @dropped: packets of the source refused since it took the way
 * @word: two or four words of its masked address, then its zone; the wheel
 *	follows at table->wheel_off
 */
struct weir_way {
	u64 dropped;
	__be32 word[];
};

/**
 * struct weir_table - constant once published, but for the last group
 * @recents: what CPUs remember
 * @spec: what it was made for
 * @shape: of the wheels
 * @words: words of a key, without the zone
 * @ways: ways of a bucket
 * @slot_inverse: of the length of a slot, see weir_table_slot()
 * @slot_shift: log2 of it, rounded up
 * @mask: buckets less one
 * @stride: bytes of a bucket
 * @way_off: offset of the first way in a bucket
 * @way_size: bytes of a way
 * @wheel_off: offset of the wheel in a way
 * @chunk_shift: log2 of the buckets in a chunk
 * @chunks: of memory
 * @bytes: of memory, all told
 * @budget_max: the largest budget that the counts hold
 * @ref: the limit's and the dumps'
 * @next: successor, published before the first bucket is copied
 * @copied: buckets below this index are in the successor too; bucket i is
 *	marked under its lock
 * @live: a successor's: packets enter by it; set before the configuration
 *	that has it is published
 */
struct weir_table {
	struct weir_recents recents;
	struct weir_table_spec spec;
	struct weir_wheel_shape shape;
	u8 words;
	u8 ways;
	u8 slot_shift;
	u64 slot_inverse;
	u32 mask;
	u32 stride;
	u16 way_off;
	u16 way_size;
	u16 wheel_off;
	u8 chunk_shift;
	u32 chunks;
	u64 bytes;
	u64 budget_max;
	refcount_t ref;

	struct weir_table __rcu *next;
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

/*
 * The number of the bucket's sequence. Whoever finds it as it was, and it was
 * even, knows that nobody has written since: it goes up in front of each write.
 */
static inline const unsigned int *
weir_bucket_number(const struct weir_bucket *bucket)
{
	return &bucket->seq.seqcount.sequence;
}

static inline struct weir_bucket *weir_bucket_of(const unsigned int *number)
{
	return container_of(number, struct weir_bucket, seq.seqcount.sequence);
}

/* Write a bucket. Context: BH off. */
static inline void weir_bucket_begin(struct weir_bucket *bucket)
	__acquires(&bucket->lock)
{
	spin_lock(&bucket->lock);
	write_seqcount_begin(&bucket->seq);
}

/* ... one of a successor, while that of the old table is written. */
static inline void weir_bucket_begin_nested(struct weir_bucket *bucket)
	__acquires(&bucket->lock)
{
	spin_lock_nested(&bucket->lock, SINGLE_DEPTH_NESTING);
	write_seqcount_begin_nested(&bucket->seq, SINGLE_DEPTH_NESTING);
}

static inline void weir_bucket_end(struct weir_bucket *bucket)
	__releases(&bucket->lock)
{
	write_seqcount_end(&bucket->seq);
	spin_unlock(&bucket->lock);
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

/*
 * tick / slot_ticks by a multiplication, exact for all ticks below 2^63:
 * T. Granlund, P. L. Montgomery, Division by Invariant Integers using
 * Multiplication, PLDI 1994, theorem 4.2, with N = 63.
 */
static inline u64 weir_table_slot(const struct weir_table *table, u64 tick)
{
	return mul_u64_u64_shr(tick << 1, table->slot_inverse, 64) >>
	       table->slot_shift;
}

static inline u64 weir_table_cost(const struct weir_table *table,
				  struct weir_cost cost)
{
	return table->spec.bytes ? cost.bytes : cost.packets;
}

/*
 * Tags of ways that are free. In the order of a search no source stands behind
 * eight ways of which one is fresh, so it ends there. A way whose source is
 * forgotten alone is freed but not fresh.
 */
#define WEIR_TAG_FRESH	0
#define WEIR_TAG_FREED	1

/* Buckets are found by the low bits of a hash, ways by the highest. */
static inline u8 weir_hash_tag(u32 hash)
{
	return max_t(u8, hash >> 24, WEIR_TAG_FREED + 1);
}

static inline bool weir_tag_free(u8 tag)
{
	return tag <= WEIR_TAG_FREED;
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

/* Where the search for a source begins, and where it is put if it can be. */
static inline unsigned int weir_bucket_home(const struct weir_table *table,
					    u8 tag)
{
	return tag * table->ways >> 8;
}

static inline bool weir_way_is(const struct weir_table *table,
			       const struct weir_way *way,
			       const struct weir_source *source)
{
	if (way->word[0] != source->word[0] || way->word[1] != source->word[1])
		return false;
	if (table->words == 2)
		return (__force u32)way->word[2] == source->zone;
	return way->word[2] == source->word[2] &&
	       way->word[3] == source->word[3] &&
	       (__force u32)way->word[4] == source->zone;
}

/*
 * The bytes of eight tags that are equal to one, by their highest bit. No
 * carry leaves a byte: another tag, of a free way even, is never taken for it.
 */
static inline u64 weir_tags_equal(const u8 *tag, u64 pattern)
{
	u64 low = 0x7f7f7f7f7f7f7f7full;
	u64 x = le64_to_cpup((const __le64 *)tag) ^ pattern;

	return ~(((x & low) + low) | x | low);
}

void weir_bucket_wipe(const struct weir_table *table,
		      struct weir_bucket *bucket);
struct weir_way *weir_bucket_search(const struct weir_table *table,
				    struct weir_bucket *bucket,
				    const struct weir_source *source, u8 tag);

/**
 * weir_bucket_find - the way of a source
 * @table: table
 * @bucket: bucket of the source
 * @source: masked source
 * @tag: of its hash, not 0
 *
 * Context: under the bucket's lock, or inside its sequence count, where the
 * answer is worth what the count says.
 * Return: the way or NULL.
 */
static __always_inline struct weir_way *
weir_bucket_find(const struct weir_table *table, struct weir_bucket *bucket,
		 const struct weir_source *source, u8 tag)
{
	unsigned int home = weir_bucket_home(table, tag);
	struct weir_way *way = weir_bucket_way(table, bucket, home);

	if (bucket->tag[home] == tag && likely(weir_way_is(table, way, source)))
		return way;
	return weir_bucket_search(table, bucket, source, tag);
}

/* A sum in the bucket has become this, and may be the smallest now. */
static inline void weir_bucket_least(struct weir_bucket *bucket, u64 sum)
{
	bucket->least = min(bucket->least, sum);
}

void weir_bucket_turn(const struct weir_table *table,
		      struct weir_bucket *bucket, u64 slot);
struct weir_way *weir_bucket_take(const struct weir_table *table,
				  struct weir_bucket *bucket,
				  const struct weir_source *source, u8 tag,
				  bool *evicted);
unsigned int weir_bucket_admit(const struct weir_table *table,
			       struct weir_bucket *bucket,
			       const struct weir_source *source,
			       u64 cost, u64 budget,
			       struct weir_visit *visit);
void weir_bucket_add(const struct weir_table *table,
		     struct weir_bucket *bucket,
		     const struct weir_source *source, u32 hash, u64 slot,
		     u64 cost);

/**
 * weir_bucket_charge - take room for a cost in a bucket, or refuse it
 * @table: table
 * @bucket: locked and turned bucket, its sequence count odd
 * @source: masked source
 * @cost: in the table's unit
 * @budget: of the limit, no more than the counts hold
 * @visit: with the source's hash and its way, NULL if it has none; the way that
 *	it has then, and its sum, are filled in
 *
 * Return: as weir_table_charge().
 */
static __always_inline unsigned int
weir_bucket_charge(const struct weir_table *table, struct weir_bucket *bucket,
		   const struct weir_source *source, u64 cost, u64 budget,
		   struct weir_visit *visit)
{
	struct weir_wheel *wheel;
	unsigned int result = 0;

	lockdep_assert_held(&bucket->lock);
	if (unlikely(!visit->way))
		return weir_bucket_admit(table, bucket, source, cost, budget,
					 visit);
	wheel = weir_way_wheel(table, visit->way);
	if (unlikely(wheel->at != (u16)bucket->slot))
		weir_wheel_turn(table->shape, wheel, bucket->slot);
	if (unlikely(!weir_wheel_charge(table->shape, wheel, cost, budget))) {
		visit->way->dropped += visit->packets;
		result = WEIR_REFUSED;
		if (weir_wheel_refuse(table->shape, wheel))
			result |= WEIR_FIRST;
	}
	visit->sum = weir_wheel_sum(table->shape, wheel);
	return result;
}

void weir_way_source(const struct weir_table *table,
		     const struct weir_way *way, struct weir_source *source);

void weir_bucket_drops(const struct weir_table *table,
		       struct weir_bucket *bucket,
		       const struct weir_source *source, u32 hash, s64 count,
		       u64 slot);
void weir_recent_take(struct weir_table *table,
		      const struct weir_source *source,
		      const struct weir_visit *visit);

/* Remember a source that was charged, as weir_recent_take(). */
static __always_inline void
weir_recent_charge(struct weir_table *table, const struct weir_source *source,
		   const struct weir_visit *visit)
{
	struct weir_recent *recent = visit->recent;

	if (likely(visit->recalled && !recent->count)) {
		recent->sum = visit->sum;
		recent->seq = visit->seq;
		recent->until = 0;
	} else if (recent) {
		weir_recent_take(table, source, visit);
	}
}

void weir_recent_refuse(struct weir_table *table,
			const struct weir_source *source,
			const struct weir_visit *visit, u64 slot,
			unsigned int count);
u64 weir_recent_pending(const struct weir_table *table,
			const struct weir_source *source);

#endif /* WEIR_BUCKET_H */
