/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a table. A bucket, aligned to two cache lines:
 *
 *	struct weir_bucket	tags; lock and what a newcomer needs
 *	struct weir_wheel	the floor, for each count
 *	struct weir_states	if the table distinguishes newcomers
 *	u32 until[]		of each way, as in struct weir_state
 *	struct weir_way[]	aligned to two lines
 *
 * With up to 15 slots, counts of two bytes and IPv6 prefixes up to 64 a way is
 * one cache line, and the ways 2i and 2i + 1 are a pair of lines.
 */
#ifndef WEIR_LAYOUT_H
#define WEIR_LAYOUT_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/rcupdate.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>

#include "count/count.h"
#include "table/table.h"

struct weir_batches;

/* weir_way.dropped: number of refusals, and whether they were only observed. */
#define WEIR_DROPPED_OBSERVED	BIT(31)
#define WEIR_DROPPED_MAX	(BIT(31) - 1)

/* What the floors of counts that never end are of, BIT(index) of each. */
struct weir_floor {
	u8 ends;		/* a count that ends */
	u8 stays;		/* a source that was counted for ever */
};

/* A set of ways; BH off. The floor follows at table->floor_off. */
struct weir_bucket {
	/* Eight bits of the hash of the source, 0 if free; a hint without the lock */
	u8 tag[WEIR_WAYS_MAX] __aligned(8);
	u32 version;		/* changes with every tag, after it */
	bool moving;		/* to the successor; constant from then on */
	bool moved;		/* likewise, and all is there */
	struct weir_floor floor;
	u32 seen_end;		/* last slot for which @seen holds, if slots end */
	u32 expired;		/* when blocks that had ended were cleared, in WEIR_SINCE_TICKS */
	/* Protects the rest and the four above, and which source has which way */
	raw_spinlock_t lock ____cacheline_aligned;
	u8 hand;		/* way that was evicted last */
	u8 used;		/* ways that are not free */
	u8 looks;		/* saved by searches for a victim */
	u64 blocked;		/* ways with WEIR_STATE_BLOCKED */
	u64 seen;		/* ways that were live when a search looked, or stay */
};

#define WEIR_LOOKS 5	/* ways that a search for a victim looks at, on average at most */

#define WEIR_SINCE_TICKS	(HZ / 4)

/* What a table knows of a source with a way; see the top of state.c. */
struct weir_state {
	u32 until;	/* when its block ends, 0 without one; in WEIR_SINCE_TICKS */
	u16 since;	/* that it has the way, or is not blocked any more; likewise */
	bool newcomer;
	bool late;	/* it became known while newcomers had no room */
};

/* These of a bucket but for @until, at table->states_off; under its lock. */
struct weir_states {
	u64 newcomers;		/* ways with WEIR_STATE_NEWCOMER, if they are not free */
	u64 late;
	u16 since[WEIR_WAYS_MAX];
};

/* In a way's scope: its source is a newcomer; it is blocked, or was until lately. */
#define WEIR_STATE_NEWCOMER	BIT(2)
#define WEIR_STATE_BLOCKED	BIT(3)
#define WEIR_STATE_FLAGS	WEIR_SCOPE_FREE

/*
 * A source. The wheels follow from table->wheel_off on. With PREEMPT_RT a seqcount_raw_spinlock_t
 * would have a pointer to the lock, and most ways a second cache line for it.
 */
struct weir_way {
	raw_spinlock_t lock;	/* protects the source and the wheels */
	seqcount_t seq;		/* of the source and the wheels */
	atomic_t dropped;	/* WEIR_DROPPED_*; outside lock and seqcount */
	u32 scope;		/* of the source, and WEIR_STATE_*; WEIR_SCOPE_INVALID if free */
	__be32 word[];		/* table->words words of its masked address */
};

/* Constant once published, but for the last group. */
struct weir_table {
	u32 mask;		/* buckets less one */
	u32 chunk_mask;		/* buckets of a chunk less one */
	u32 stride;		/* bytes of a bucket */
	u16 way_off;		/* offset of the first way in a bucket */
	u16 way_size;		/* bytes of a way */
	u16 wheel_off;		/* offset of the first wheel in a way */
	u8 words;		/* words of a key, 2 or 4 */
	u8 ways;		/* ways of a bucket, an even number */
	u8 quota;		/* ways of a bucket that may be blocked */
	u8 chunk_shift;		/* log2 of the buckets in a chunk */
	u8 more;		/* counts besides the first */
	bool stays;		/* a count never ends, so that live sources stay */
	struct weir_count count[WEIR_BUDGETS_MAX];
	u16 floor_off;		/* offset of the floor in a bucket */
	u16 states_off;		/* offset of struct weir_states in a bucket, or 0 */
	u16 until_off;		/* offset of the ends of blocks in a bucket */
	u16 wheels_size;	/* bytes of the wheels of a way or floor */
	u32 floor_end;		/* see weir_floor_ends(); as of a block */
	struct weir_calendar calendar[WEIR_BUDGETS_MAX];	/* of those that have one */
	struct weir_table_spec spec;
	bool merged;		/* something was merged: its slots stay where they are */
	u32 chunks;		/* of memory */
	u64 bytes;		/* of memory in total */
	atomic64_t *held;	/* to which they are added until it is freed, or NULL */
	/* The next three are set if there is a predecessor */
	const hsiphash_key_t *key;	/* of the hash */
	u64 budget[WEIR_BUDGETS_MAX];	/* of the limit with this table */
	u64 old_budget[WEIR_BUDGETS_MAX];	/* of the limit with the predecessor */
	struct weir_batches __percpu *batches;	/* CPU-local; if a prefix length is 0, or NULL */
	atomic64_t evicted;	/* live sources of the predecessor that found no way */
	atomic64_t unblocked;	/* blocks of the predecessor that found no room */

	struct weir_table __rcu *old;	/* predecessor, until it is drained */
	u32 epoch;		/* see weir_table_forget(), _clear() and _age() */

	void *chunk[] __counted_by(chunks);
};

/* A packet reads one cache line of what precedes @old. */
static_assert(offsetof(struct weir_table, count[0].calendar) <= 64);

/* A source of a predecessor, but for its wheels. */
struct weir_moved {
	struct weir_source source;	/* masked */
	u32 hash;
	u32 dropped;		/* WEIR_DROPPED_* */
	struct weir_state state;
	u64 weight;		/* of its wheels; 0 if it is idle */
};

/* Room for a copy of any wheel. */
union weir_wheel_copy {
	struct weir_wheel wheel;
	u64 bytes[1 + 1 + 128];
};

static inline struct weir_bucket *weir_bucket(const struct weir_table *table, u32 hash)
{
	void *chunk = table->chunk[(hash & table->mask) >> table->chunk_shift];

	return chunk + (size_t)(hash & table->chunk_mask) * table->stride;
}

static inline struct weir_wheel *
weir_bucket_floor(const struct weir_table *table, struct weir_bucket *bucket)
{
	return (void *)bucket + table->floor_off;
}

static inline struct weir_states *
weir_bucket_states(const struct weir_table *table, struct weir_bucket *bucket)
{
	return (void *)bucket + table->states_off;
}

static inline struct weir_way *weir_bucket_way(const struct weir_table *table,
					       struct weir_bucket *bucket,
					       unsigned int way)
{
	return (void *)bucket + table->way_off + way * table->way_size;
}

static inline unsigned int weir_bucket_index(const struct weir_table *table,
					     struct weir_bucket *bucket,
					     const struct weir_way *way)
{
	return ((void *)way - (void *)weir_bucket_way(table, bucket, 0)) / table->way_size;
}

static inline struct weir_wheel *weir_way_wheel(const struct weir_table *table,
						struct weir_way *way)
{
	return (void *)way + table->wheel_off;
}

static inline void weir_way_write_begin(struct weir_way *way)
{
	lockdep_assert_held(&way->lock);
	write_seqcount_begin(&way->seq);
}

/* Tags and homes use other bits of the hash than buckets do. */
static inline u8 weir_hash_tag(u32 hash)
{
	u8 tag = hash >> 16;

	return tag ?: 1;
}

static inline unsigned int weir_hash_home(const struct weir_table *table, u32 hash)
{
	return (hash >> 24) * table->ways >> 8;
}

/* The slot of the first count. */
static inline u64 weir_table_slot(const struct weir_table *table, u64 tick)
{
	return weir_count_slot(table->count, tick);
}

/* Is it the source's way, whatever is said of it? */
static inline bool weir_way_is(const struct weir_table *table, const struct weir_way *way,
			       const struct weir_source *source)
{
	return (way->scope & ~WEIR_STATE_FLAGS) == source->scope &&
	       way->word[0] == source->word[0] && way->word[1] == source->word[1] &&
	       (likely(table->words == 2) ||
		(way->word[2] == source->word[2] &&
		 way->word[3] == source->word[3]));
}

#endif /* WEIR_LAYOUT_H */
