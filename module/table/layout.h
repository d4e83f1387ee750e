/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a table. A set, aligned to two cache lines:
 *
 *	struct weir_set	tags; lock and what a newcomer needs
 *	struct weir_count	the floor, for each meter
 *	struct weir_states	if the table distinguishes newcomers
 *	u32 until[]		of each entry, as in struct weir_state
 *	struct weir_entry[]	aligned to two lines
 *
 * With up to 15 slots, cells of two bytes and IPv6 prefixes up to 64 an entry is
 * one cache line, and the entries 2i and 2i + 1 are a pair of lines.
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

/* weir_entry.dropped: number of refusals, and whether they were only observed. */
#define WEIR_DROPPED_OBSERVED	BIT(31)
#define WEIR_DROPPED_MAX	(BIT(31) - 1)

/* What floors whose counts never end are of, BIT(index) of each. */
struct weir_floor {
	u8 ends;		/* a count that ends */
	u8 stays;		/* a source that was counted for ever */
};

/* A set of entries; BH off. The floor follows at table->floor_off. */
struct weir_set {
	/* Eight bits of the hash of the source, 0 if free; a hint without the lock */
	u8 tag[WEIR_ENTRIES_MAX] __aligned(8);
	u32 version;		/* changes with every tag, after it */
	bool moving;		/* to the successor; constant from then on */
	bool moved;		/* likewise, and all is there */
	struct weir_floor floor;
	u32 seen_end;		/* last slot for which @seen holds, if slots end */
	u32 expired;		/* when blocks that had ended were cleared, in WEIR_SINCE_TICKS */
	/* Protects the rest and the four above, and which source has which entry */
	raw_spinlock_t lock ____cacheline_aligned;
	u8 hand;		/* entry that was evicted last */
	u8 used;		/* entries that are not free */
	u8 looks;		/* saved by searches for a victim */
	u64 blocked;		/* entries with WEIR_STATE_BLOCKED */
	u64 seen;		/* entries that were live when a search looked, or stay */
};

#define WEIR_LOOKS 5	/* entries that a search for a victim looks at, on average at most */

#define WEIR_SINCE_TICKS	(HZ / 4)

/* What a table knows of a source with an entry; see the top of state.c. */
struct weir_state {
	u32 until;	/* when its block ends, 0 without one; in WEIR_SINCE_TICKS */
	u16 since;	/* that it has the entry, or is not blocked any more; likewise */
	bool newcomer;
	bool late;	/* it became known while newcomers had no room */
};

/* These of a set but for @until, at table->states_off; under its lock. */
struct weir_states {
	u64 newcomers;		/* entries with WEIR_STATE_NEWCOMER, if they are not free */
	u64 late;
	u16 since[WEIR_ENTRIES_MAX];
};

/* In an entry's scope: its source is a newcomer; it is blocked, or was until lately. */
#define WEIR_STATE_NEWCOMER	BIT(2)
#define WEIR_STATE_BLOCKED	BIT(3)
#define WEIR_STATE_FLAGS	WEIR_SCOPE_FREE

/*
 * A source. The counts follow from table->count_off on. With PREEMPT_RT a seqcount_raw_spinlock_t
 * would have a pointer to the lock, and most entries a second cache line for it.
 */
struct weir_entry {
	raw_spinlock_t lock;	/* protects the source and the counts */
	seqcount_t seq;		/* of the source and the counts */
	atomic_t dropped;	/* WEIR_DROPPED_*; outside lock and seqcount */
	u32 scope;		/* of the source, and WEIR_STATE_*; WEIR_SCOPE_INVALID if free */
	__be32 word[];		/* table->words words of its masked address */
};

/* Constant once published, but for the last group. */
struct weir_table {
	u32 mask;		/* sets less one */
	u32 chunk_mask;		/* sets of a chunk less one */
	u32 stride;		/* bytes of a set */
	u16 entry_off;		/* offset of the first entry in a set */
	u16 entry_size;		/* bytes of an entry */
	u16 count_off;		/* offset of the first count in an entry */
	u8 words;		/* words of a key, 2 or 4 */
	u8 entries;		/* entries of a set, an even number */
	u8 quota;		/* entries of a set that may be blocked */
	u8 chunk_shift;		/* log2 of the sets in a chunk */
	u8 more;		/* meters besides the first */
	bool stays;		/* a count never ends, so that live sources stay */
	struct weir_meter meter[WEIR_BUDGETS_MAX];
	u16 floor_off;		/* offset of the floor in a set */
	u16 states_off;		/* offset of struct weir_states in a set, or 0 */
	u16 until_off;		/* offset of the ends of blocks in a set */
	u16 counts_size;	/* bytes of the counts of an entry or floor */
	u32 floor_end;		/* see weir_floor_ends(); as of a block */
	struct weir_calendar calendar[WEIR_BUDGETS_MAX];	/* of those that have one */
	struct weir_table_spec spec;
	bool merged;		/* something was merged: its slots stay where they are */
	u32 chunks;		/* of memory */
	u64 bytes;		/* of memory in total */
	atomic64_t *held;	/* to which they are added until it is freed, or NULL */
	/* The next three are set if there is a predecessor */
	const hsiphash_key_t *key;	/* of the hash */
	u64 room[WEIR_BUDGETS_MAX];	/* of the limit with this table */
	u64 old_room[WEIR_BUDGETS_MAX];	/* of the limit with the predecessor */
	struct weir_batches __percpu *batches;	/* CPU-local; if a prefix length is 0, or NULL */
	atomic64_t evicted;	/* live sources of the predecessor that found no entry */
	atomic64_t unblocked;	/* blocks of the predecessor that found no room */

	struct weir_table __rcu *old;	/* predecessor, until it is drained */
	u32 epoch;		/* see weir_table_forget(), _clear() and _age() */

	void *chunk[] __counted_by(chunks);
};

/* A packet reads one cache line of what precedes @old. */
static_assert(offsetof(struct weir_table, meter[0].calendar) <= 64);

/* A source of a predecessor, but for its counts. */
struct weir_moved {
	struct weir_source source;	/* masked */
	u32 hash;
	u32 dropped;		/* WEIR_DROPPED_* */
	struct weir_state state;
	u64 weight;		/* of its counts; 0 if it is idle */
};

/* Room for a copy of any count. */
union weir_count_copy {
	struct weir_count count;
	u64 bytes[1 + 1 + 128];
};

static inline struct weir_set *weir_set(const struct weir_table *table, u32 hash)
{
	void *chunk = table->chunk[(hash & table->mask) >> table->chunk_shift];

	return chunk + (size_t)(hash & table->chunk_mask) * table->stride;
}

static inline struct weir_count *
weir_set_floor(const struct weir_table *table, struct weir_set *set)
{
	return (void *)set + table->floor_off;
}

static inline struct weir_states *
weir_set_states(const struct weir_table *table, struct weir_set *set)
{
	return (void *)set + table->states_off;
}

static inline struct weir_entry *weir_set_entry(const struct weir_table *table,
						struct weir_set *set,
						unsigned int entry)
{
	return (void *)set + table->entry_off + entry * table->entry_size;
}

static inline unsigned int weir_set_index(const struct weir_table *table,
					  struct weir_set *set,
					  const struct weir_entry *entry)
{
	return ((void *)entry - (void *)weir_set_entry(table, set, 0)) / table->entry_size;
}

static inline struct weir_count *weir_entry_count(const struct weir_table *table,
						  struct weir_entry *entry)
{
	return (void *)entry + table->count_off;
}

static inline void weir_entry_write_begin(struct weir_entry *entry)
{
	lockdep_assert_held(&entry->lock);
	write_seqcount_begin(&entry->seq);
}

/* Tags and homes use other bits of the hash than sets do. */
static inline u8 weir_hash_tag(u32 hash)
{
	u8 tag = hash >> 16;

	return tag ?: 1;
}

static inline unsigned int weir_hash_home(const struct weir_table *table, u32 hash)
{
	return (hash >> 24) * table->entries >> 8;
}

/* The slot of the first meter. */
static inline u64 weir_table_slot(const struct weir_table *table, u64 tick)
{
	return weir_meter_slot(table->meter, tick);
}

/* Is it the source's entry, whatever is said of it? */
static inline bool weir_entry_is(const struct weir_table *table, const struct weir_entry *entry,
				 const struct weir_source *source)
{
	return (entry->scope & ~WEIR_STATE_FLAGS) == source->scope &&
	       entry->word[0] == source->word[0] && entry->word[1] == source->word[1] &&
	       (likely(table->words == 2) ||
		(entry->word[2] == source->word[2] &&
		 entry->word[3] == source->word[3]));
}

#endif /* WEIR_LAYOUT_H */
