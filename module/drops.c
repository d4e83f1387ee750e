// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals that were made without a lock wait here, on the CPU that made them,
 * until their slot is over or another source wants their place: so a flood
 * from one source writes nothing that CPUs share.
 */
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/smp.h>
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
		for (i = 0; i < BIT(old->drops_shift); i++) {
			drops = &weir_cpu_drops(old, cpu)[i];
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
		cond_resched();
	}
}

static bool same_source(const struct weir_source *a,
			const struct weir_source *b)
{
	return a->word[0] == b->word[0] && a->zone == b->zone &&
	       a->word[1] == b->word[1] && a->word[2] == b->word[2] &&
	       a->word[3] == b->word[3];
}

/* Where a source's refusals wait; no more than a cache, so any hash will do. */
static struct weir_drops *drops_entry(const struct weir_table *table,
				      unsigned int cpu,
				      const struct weir_source *source)
{
	u32 mix = (__force u32)(source->word[0] ^ source->word[1] ^
				source->word[3]) ^ source->zone;

	return &weir_cpu_drops(table, cpu)[hash_32(mix, table->drops_shift)];
}

/**
 * weir_drops_note - one more refusal of a source, on this CPU
 * @table: table
 * @source: masked source that has a way
 * @hash: its hash
 * @slot: the current slot
 * @way: of the source
 *
 * Context: BH off, no bucket locked.
 */
void weir_drops_note(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u64 slot,
		     struct weir_way *way)
{
	struct weir_drops *drops;

	drops = drops_entry(table, smp_processor_id(), source);
	if (drops->count && drops->epoch != READ_ONCE(table->epoch))
		drops->count = 0;
	/* A slot of a long window has room for more than 32 bits hold. */
	if (drops->count && drops->count < U32_MAX && drops->slot == slot &&
	    same_source(&drops->source, source)) {
		drops->way = way;
		WRITE_ONCE(drops->count, drops->count + 1);
		return;
	}
	if (drops->count)
		drops_flush(table, drops);
	drops->source = *source;
	drops->hash = hash;
	drops->epoch = READ_ONCE(table->epoch);
	drops->slot = slot;
	drops->way = way;
	WRITE_ONCE(drops->count, 1);
}

/**
 * weir_table_recall - refuse at once a source that was refused a moment ago
 * @table: table
 * @source: masked source
 * @tick: now
 * @cost: of the packet
 * @budget: of the limit
 *
 * As weir_table_refuse(), for a source whose refusals wait on this CPU: the
 * place where it was seen spares the hash and the search. The entry says only
 * where to look; what is found there is read inside the sequence count.
 *
 * Context: BH off, RCU read lock.
 * Return: 0 if weir_table_refuse() must tell, or WEIR_REFUSED.
 */
unsigned int weir_table_recall(struct weir_table *table,
			       const struct weir_source *source, u64 tick,
			       struct weir_cost cost, u64 budget)
{
	struct weir_drops *drops = drops_entry(table, smp_processor_id(),
					       source);
	struct weir_bucket *bucket;
	unsigned int seq;
	bool shut;
	u64 slot;

	if (!same_source(&drops->source, source))
		return 0;
	slot = weir_table_slot(table, tick);
	/* Within a slot ways are freed all together, in another epoch. */
	if (drops->slot != slot || drops->epoch != READ_ONCE(table->epoch) ||
	    !drops->count || drops->count == U32_MAX)
		return 0;
	bucket = weir_bucket(table, drops->hash & table->mask);
	seq = raw_read_seqcount(&bucket->seq);
	if (seq & 1)
		return 0;
	slot = max(slot, bucket->slot);
	shut = weir_way_is(table, drops->way, source) &&
	       weir_wheel_shut(table->shape, weir_way_wheel(table, drops->way),
			       slot, weir_table_cost(table, cost), budget);
	if (!shut || read_seqcount_retry(&bucket->seq, seq))
		return 0;
	WRITE_ONCE(drops->count, drops->count + 1);
	return WEIR_REFUSED;
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
		drops = drops_entry(table, cpu, source);
		/* An entry that changes hands is counted or not. */
		if (data_race(drops->epoch == epoch &&
			      same_source(&drops->source, source)))
			pending += READ_ONCE(drops->count);
	}
	return pending;
}
