// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals that were made without a lock wait here, on the CPU that made them,
 * until their slot is over or another source wants their place: so a flood
 * from one source writes nothing that CPUs share.
 */
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "bucket.h"

/**
 * weir_bucket_drops - add refusals to a source's way, if it has one still
 * @table: table
 * @bucket: locked bucket, its sequence count odd
 * @source: masked source
 * @hash: its hash
 * @count: of refusals
 * @slot: of the last of them
 */
void weir_bucket_drops(const struct weir_table *table,
		       struct weir_bucket *bucket,
		       const struct weir_source *source, u32 hash, u32 count,
		       u64 slot)
{
	struct weir_wheel *wheel;
	struct weir_way *way;

	lockdep_assert_held(&bucket->lock);
	way = weir_bucket_find(table, bucket, source, weir_hash_tag(hash));
	if (!way)
		return;
	way->dropped += count;
	wheel = weir_way_wheel(table, way);
	/* One that waited for long is no news, and too old for 16 bits. */
	if (slot + WEIR_SWEEP_SLOTS > bucket->slot &&
	    (s16)(slot - wheel->refused) > 0)
		wheel->refused = slot;
}

static void drops_flush(struct weir_table *table, struct weir_drops *drops)
{
	u32 index = drops->hash & table->mask;
	struct weir_bucket *bucket = weir_bucket(table, index), *follower;
	struct weir_table *next;

	spin_lock(&bucket->lock);
	write_seqcount_begin(&bucket->seq);
	weir_bucket_drops(table, bucket, &drops->source, drops->hash,
			  drops->count, drops->slot);
	next = weir_bucket_follower(table, index);
	if (unlikely(next)) {
		follower = weir_bucket(next, drops->hash & next->mask);
		spin_lock_nested(&follower->lock, SINGLE_DEPTH_NESTING);
		write_seqcount_begin_nested(&follower->seq,
					    SINGLE_DEPTH_NESTING);
		weir_bucket_drops(next, follower, &drops->source, drops->hash,
				  drops->count, 0);
		write_seqcount_end(&follower->seq);
		spin_unlock(&follower->lock);
	}
	write_seqcount_end(&bucket->seq);
	spin_unlock(&bucket->lock);
}

/**
 * weir_table_settle - hand the refusals that wait over to the successor
 * @old: table that no packet finds any more
 * @next: its successor
 *
 * Context: process.
 */
void weir_table_settle(struct weir_table *old, struct weir_table *next)
{
	const struct weir_drops *drops;
	struct weir_bucket *bucket;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < BIT(WEIR_DROPS_BITS); i++) {
			drops = &per_cpu_ptr(old->drops, cpu)->entry[i];
			if (!drops->count || drops->epoch != old->epoch)
				continue;
			bucket = weir_bucket(next, drops->hash & next->mask);
			spin_lock_bh(&bucket->lock);
			write_seqcount_begin(&bucket->seq);
			weir_bucket_drops(next, bucket, &drops->source,
					  drops->hash, drops->count, 0);
			write_seqcount_end(&bucket->seq);
			spin_unlock_bh(&bucket->lock);
		}
	}
}

/* Where a source's refusals wait; no more than a cache, so any hash will do. */
static struct weir_drops *drops_entry(struct weir_drops_cache *cache,
				      const struct weir_source *source)
{
	u32 mix = (__force u32)(source->word[0] ^ source->word[1] ^
				source->word[3]) ^ source->zone;

	return &cache->entry[hash_32(mix, WEIR_DROPS_BITS)];
}

/**
 * weir_drops_note - one more refusal of a source, on this CPU
 * @table: table
 * @source: masked source that has a way
 * @hash: its hash
 * @slot: the current slot
 *
 * Context: BH off, no bucket locked.
 */
void weir_drops_note(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u64 slot)
{
	struct weir_drops *drops;

	drops = drops_entry(this_cpu_ptr(table->drops), source);
	if (drops->count && drops->epoch != READ_ONCE(table->epoch))
		drops->count = 0;
	/* A slot of a long window has room for more than 32 bits hold. */
	if (drops->count && drops->count < U32_MAX && drops->slot == slot &&
	    drops->hash == hash &&
	    !memcmp(&drops->source, source, sizeof(*source))) {
		WRITE_ONCE(drops->count, drops->count + 1);
		return;
	}
	if (drops->count)
		drops_flush(table, drops);
	drops->source = *source;
	drops->hash = hash;
	drops->epoch = READ_ONCE(table->epoch);
	drops->slot = slot;
	WRITE_ONCE(drops->count, 1);
}

/**
 * weir_drops_pending - refusals of a source that its way does not know of yet
 * @table: table
 * @source: masked source
 *
 * Entries change while they are read; at rest the answer is exact.
 */
u64 weir_drops_pending(const struct weir_table *table,
		       const struct weir_source *source)
{
	u32 epoch = READ_ONCE(table->epoch);
	const struct weir_drops *drops;
	u64 pending = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		drops = drops_entry(per_cpu_ptr(table->drops, cpu), source);
		/* An entry that changes hands is counted or not. */
		if (data_race(drops->epoch == epoch &&
			      !memcmp(&drops->source, source, sizeof(*source))))
			pending += READ_ONCE(drops->count);
	}
	return pending;
}
