// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a CPU remembers of the sources that it charged or refused last: where
 * in the table they are, so that the next packet finds its way without hash
 * and search; what their wheel held, so that the next refusal reads nothing
 * but the number of the bucket's sequence; and the refusals that their way
 * does not know of yet, so that a flood from one source writes nothing that
 * CPUs share.
 *
 * An entry is no more than a hint. A way that it names is looked at under the
 * bucket's lock or inside its sequence count. What it says of a wheel holds as
 * long as the bucket's sequence has not moved, for then nobody has written
 * since; and no longer than a second, in which no sequence comes round.
 *
 * Refusals wait until the source is seen in another slot or admitted again, or
 * another source wants the place. As long as the refusals of one source keep
 * an entry, others that belong there are counted in their ways at once, and
 * take it over now and then.
 */
#include <linux/bottom_half.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

#include "bucket.h"

/* Of so many that find their entry taken, one takes it over. */
#define TURNS 16

/**
 * weir_bucket_drops - add refusals to a source's way, if it has one still
 * @table: table
 * @bucket: locked bucket, its sequence count odd
 * @source: masked source
 * @hash: its hash
 * @count: of packets; below 0 to take them back
 * @slot: of the last of them, or 0
 */
void weir_bucket_drops(const struct weir_table *table,
		       struct weir_bucket *bucket,
		       const struct weir_source *source, u32 hash, s64 count,
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

/* Adds @count; if it is what waits in an entry, none waits any more. */
static void table_drops(struct weir_table *table,
			const struct weir_source *source, u32 hash,
			struct weir_recent *recent, s64 count, u64 slot)
{
	u32 index = hash & table->mask;
	struct weir_bucket *bucket = weir_bucket(table, index), *follower;
	struct weir_table *next;

	weir_bucket_begin(bucket);
	/* Who has the lock finds them here or there: weir_table_forget(). */
	if (recent)
		WRITE_ONCE(recent->count, 0);
	weir_bucket_drops(table, bucket, source, hash, count, slot);
	next = weir_bucket_follower(table, index);
	if (unlikely(next)) {
		follower = weir_bucket(next, hash & next->mask);
		weir_bucket_begin_nested(follower);
		weir_bucket_drops(next, follower, source, hash, count, 0);
		weir_bucket_end(follower);
	}
	weir_bucket_end(bucket);
}

/* The slot of the refusals that wait. */
static u64 recent_slot(const struct weir_table *table,
		       const struct weir_recent *recent)
{
	return weir_table_slot(table, recent->until - 1);
}

static void recent_flush(struct weir_table *table, struct weir_recent *recent)
{
	if (recent->count && recent->epoch == READ_ONCE(table->recents.epoch))
		table_drops(table, &recent->source, recent->hash, recent,
			    recent->count, recent_slot(table, recent));
	else
		WRITE_ONCE(recent->count, 0);
	/* Another source comes after this; pairs with weir_recent_pending(). */
	smp_wmb();
}

/**
 * weir_table_unrefuse - take a refusal back that the packet met too early
 * @table: table that counted it at the source's way
 * @source: masked source
 * @hash: its hash
 * @packets: of the packet
 *
 * Context: BH off, RCU read lock.
 */
void weir_table_unrefuse(struct weir_table *table,
			 const struct weir_source *source, u32 hash,
			 u32 packets)
{
	table_drops(table, source, hash, NULL, -(s64)packets, 0);
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
	const struct weir_recent *recent;
	struct weir_bucket *bucket;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < BIT(old->recents.shift); i++) {
			recent = old->recents.entry + i +
				 ((size_t)cpu << old->recents.shift);
			if (!recent->count || recent->epoch != old->recents.epoch)
				continue;
			bucket = weir_bucket(next, recent->hash & next->mask);
			local_bh_disable();
			weir_bucket_begin(bucket);
			weir_bucket_drops(next, bucket, &recent->source,
					  recent->hash, recent->count, 0);
			weir_bucket_end(bucket);
			local_bh_enable();
		}
		cond_resched();
	}
}

/*
 * Do refusals of another source, not long ago, keep the entry? Those of the
 * past give way.
 */
static bool recent_taken(struct weir_table *table, struct weir_recent *recent,
			 const struct weir_source *source, u64 tick)
{
	if (!recent->count || weir_source_same(&recent->source, source))
		return false;
	if (tick < recent->until)
		return true;
	recent_flush(table, recent);
	return false;
}

static void recent_see(struct weir_recent *recent,
		       const struct weir_source *source,
		       const struct weir_visit *visit, u64 until)
{
	recent->source = *source;
	recent->hash = visit->hash;
	recent->number = visit->number;
	recent->way_at = (void *)visit->way - (void *)visit->number;
	recent->sum = visit->sum;
	recent->seq = visit->seq;
	recent->until = until;
}

/**
 * weir_recent_take - remember a source that was charged, in an entry that may
 * be another's
 * @table: table
 * @source: masked source
 * @visit: after the charge, not with a NULL @visit->recent
 *
 * Context: BH off, no bucket locked.
 */
void weir_recent_take(struct weir_table *table,
		      const struct weir_source *source,
		      const struct weir_visit *visit)
{
	struct weir_recent *recent = visit->recent;

	if (recent->count) {
		if (recent_taken(table, recent, source, visit->tick))
			return;
		recent_flush(table, recent);
	}
	recent_see(recent, source, visit, 0);
}

/**
 * weir_recent_refuse - remember a source that was refused
 * @table: table
 * @source: masked source that has a way
 * @visit: after the refusal
 * @slot: of the refusal
 * @count: packets refused that its way does not know of, below WEIR_RECENT_FULL
 *
 * Context: BH off, no bucket locked.
 */
void weir_recent_refuse(struct weir_table *table,
			const struct weir_source *source,
			const struct weir_visit *visit, u64 slot,
			unsigned int count)
{
	struct weir_recent *recent = visit->recent;
	u32 epoch = READ_ONCE(table->recents.epoch);
	u64 until;

	if (!recent)
		return;
	if (recent_taken(table, recent, source, visit->tick) &&
	    visit->seq / 2 % TURNS) {
		if (count)
			table_drops(table, source, visit->hash, NULL, count,
				    slot);
		return;
	}
	/* A slot of a long window has room for more than 32 bits hold. */
	if (recent->count &&
	    (recent->epoch != epoch || recent->count >= WEIR_RECENT_FULL ||
	     !weir_source_same(&recent->source, source) ||
	     recent_slot(table, recent) != slot))
		recent_flush(table, recent);
	until = min((slot + 1) * table->spec.slot_ticks,
		    max(visit->tick, slot * table->spec.slot_ticks) + HZ);
	recent_see(recent, source, visit, until);
	recent->epoch = epoch;
	/* Pairs with weir_recent_pending(). */
	smp_store_release(&recent->count, recent->count + count);
	/* Once a slot, for all; pairs with weir_table_refuses(). */
	if (READ_ONCE(table->recents.until) < until)
		WRITE_ONCE(table->recents.until, until);
}

/**
 * weir_recent_pending - packets of a source refused that its way does not know
 * of yet
 * @table: table
 * @source: masked source
 *
 * Entries change while they are read: an answer is exact at rest, and for those
 * that waited before where the bucket is locked.
 */
u64 weir_recent_pending(const struct weir_table *table,
			const struct weir_source *source)
{
	u32 epoch = READ_ONCE(table->recents.epoch);
	const struct weir_recent *recent;
	u64 pending = 0;
	u32 count;
	int cpu;

	for_each_possible_cpu(cpu) {
		recent = weir_recent_entry(&table->recents, cpu, source);
		/* Pairs with weir_recent_refuse(): its source came first. */
		count = smp_load_acquire(&recent->count);
		/* Compared while it is written, it may be another's. */
		if (!data_race(recent->epoch == epoch &&
			       weir_source_same(&recent->source, source)))
			continue;
		/* The count may have been that of the source before. */
		smp_rmb();
		pending += min(count, READ_ONCE(recent->count));
	}
	return pending;
}
