// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet path of a table: refuse without a lock, charge, give back.
 */
#include <linux/prefetch.h>
#include <linux/rcupdate.h>

#include "bucket.h"

/**
 * weir_table_refuse - refuse without a lock where there surely is no room
 * @table: table
 * @source: masked source
 * @hash: its hash
 * @tick: now
 * @cost: of the packet
 * @budget: of the limit
 * @glance: filled, for weir_table_charge()
 *
 * Context: BH off, RCU read lock. Writes nothing that CPUs share, but once a
 * slot and source to count its refusals.
 * Return: 0 if a charge must tell, or WEIR_REFUSED and perhaps WEIR_FLOORED.
 */
unsigned int weir_table_refuse(struct weir_table *table,
			       const struct weir_source *source, u32 hash,
			       u64 tick, struct weir_cost cost, u64 budget,
			       struct weir_glance *glance)
{
	struct weir_bucket *bucket = weir_bucket(table, hash & table->mask);
	u8 tag = weir_hash_tag(hash);
	struct weir_wheel *wheel;
	struct weir_way *way;
	u64 slot;
	bool shut;

	/* Most likely the source's: come along with the bucket's head. */
	prefetch(weir_bucket_way(table, bucket, weir_bucket_home(table, tag)));
	slot = weir_table_slot(table, tick);
	glance->table = table;
	glance->seq = raw_read_seqcount(&bucket->seq);
	if (unlikely(glance->seq & 1)) {
		glance->table = NULL;
		return 0;
	}
	way = weir_bucket_find(table, bucket, source, tag);
	glance->way = way;
	/* A clock that is late counts at the bucket's time, as a charge does. */
	slot = max(slot, bucket->slot);
	if (slot - bucket->slot >= WEIR_SWEEP_SLOTS ||
	    (!way && table->spec.lenient))
		return 0;
	wheel = way ? weir_way_wheel(table, way) : weir_bucket_floor(bucket);
	shut = weir_wheel_shut(table->shape, wheel, slot,
			       weir_table_cost(table, cost), budget);
	if (!shut || read_seqcount_retry(&bucket->seq, glance->seq))
		return 0;
	if (!way)
		return WEIR_REFUSED | WEIR_FLOORED;
	weir_drops_note(table, source, hash, slot, way);
	return WEIR_REFUSED;
}

/*
 * A bucket that has been copied is charged in both tables: the old one
 * decides, the new one follows. Once packets enter by the new one it alone
 * decides, and whoever still holds the old configuration reads again. That is
 * asked under the successor's lock: a packet that entered by it held the same
 * lock and had seen @live.
 */
static unsigned int charge_both(struct weir_table *table,
				struct weir_bucket *bucket,
				struct weir_way *way, struct weir_table *next,
				const struct weir_source *source, u32 hash,
				u64 tick, struct weir_cost cost, u64 budget)
{
	struct weir_bucket *follower = weir_bucket(next, hash & next->mask);
	unsigned int result = WEIR_AGAIN;

	spin_lock_nested(&follower->lock, SINGLE_DEPTH_NESTING);
	if (!READ_ONCE(next->live)) {
		result = weir_bucket_charge(table, bucket, way, source, hash,
					    weir_table_cost(table, cost), budget);
		write_seqcount_begin_nested(&follower->seq,
					    SINGLE_DEPTH_NESTING);
		if (!(result & WEIR_REFUSED))
			weir_bucket_add(next, follower, source, hash,
					weir_table_slot(next, tick),
					weir_table_cost(next, cost));
		else if (!(result & WEIR_FLOORED))
			weir_bucket_drops(next, follower, source, hash, 1,
					  weir_table_slot(next, tick));
		write_seqcount_end(&follower->seq);
	}
	spin_unlock(&follower->lock);
	return result;
}

/**
 * weir_table_charge - take room for a packet, or refuse it
 * @table: table
 * @source: masked source
 * @hash: its hash
 * @tick: now; set to the time that the charge was counted at
 * @cost: of the packet
 * @budget: of the limit; what the table's counts cannot hold is cut
 * @glance: of weir_table_refuse() for the same source, if it was the last one
 *	asked, or NULL
 *
 * Context: BH off, RCU read lock.
 * Return: 0 or WEIR_EVICTED if admitted; WEIR_REFUSED with flags, or
 * WEIR_AGAIN, if nothing was counted.
 */
unsigned int weir_table_charge(struct weir_table *table,
			       const struct weir_source *source, u32 hash,
			       u64 *tick, struct weir_cost cost, u64 budget,
			       const struct weir_glance *glance)
{
	u32 index = hash & table->mask;
	struct weir_bucket *bucket = weir_bucket(table, index);
	u64 slot = weir_table_slot(table, *tick);
	struct weir_table *next;
	struct weir_way *way;
	unsigned int result;
	bool seen;

	budget = min(budget, table->budget_max);
	spin_lock(&bucket->lock);
	seen = glance && glance->table == table &&
	       !read_seqcount_retry(&bucket->seq, glance->seq);
	write_seqcount_begin(&bucket->seq);
	if (unlikely(slot < bucket->slot)) {
		*tick = bucket->slot * table->spec.slot_ticks;
	} else if (slot != bucket->slot) {
		/* May free the way. */
		weir_bucket_turn(table, bucket, slot);
		seen = false;
	}
	way = seen ? glance->way :
		     weir_bucket_find(table, bucket, source,
				      weir_hash_tag(hash));
	next = weir_bucket_follower(table, index);
	if (unlikely(next))
		result = charge_both(table, bucket, way, next, source, hash,
				     *tick, cost, budget);
	else
		result = weir_bucket_charge(table, bucket, way, source, hash,
					    weir_table_cost(table, cost), budget);
	write_seqcount_end(&bucket->seq);
	spin_unlock(&bucket->lock);
	return result;
}

static void bucket_uncharge(const struct weir_table *table,
			    struct weir_bucket *bucket,
			    const struct weir_source *source, u32 hash,
			    u64 tick, struct weir_cost cost)
{
	struct weir_way *way;

	lockdep_assert_held(&bucket->lock);
	way = weir_bucket_find(table, bucket, source, weir_hash_tag(hash));
	if (!way)
		return;
	weir_wheel_uncharge(table->shape, weir_way_wheel(table, way),
			    weir_table_slot(table, tick),
			    weir_table_cost(table, cost));
	weir_bucket_least(bucket, 0);
}

/**
 * weir_table_uncharge - give back what another limit made void
 * @table: table
 * @source: masked source
 * @hash: its hash
 * @tick: the time given to weir_table_charge(), or what it was set to
 * @cost: as charged
 *
 * A source that lost its way since keeps the charge in the floor.
 *
 * Context: BH off, RCU read lock.
 */
void weir_table_uncharge(struct weir_table *table,
			 const struct weir_source *source, u32 hash,
			 u64 tick, struct weir_cost cost)
{
	u32 index = hash & table->mask;
	struct weir_bucket *bucket = weir_bucket(table, index);
	struct weir_bucket *follower;
	struct weir_table *next;

	spin_lock(&bucket->lock);
	write_seqcount_begin(&bucket->seq);
	bucket_uncharge(table, bucket, source, hash, tick, cost);
	next = weir_bucket_follower(table, index);
	if (unlikely(next)) {
		follower = weir_bucket(next, hash & next->mask);
		spin_lock_nested(&follower->lock, SINGLE_DEPTH_NESTING);
		write_seqcount_begin_nested(&follower->seq,
					    SINGLE_DEPTH_NESTING);
		bucket_uncharge(next, follower, source, hash, tick, cost);
		write_seqcount_end(&follower->seq);
		spin_unlock(&follower->lock);
	}
	write_seqcount_end(&bucket->seq);
	spin_unlock(&bucket->lock);
}
