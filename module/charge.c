// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet path of a table: refuse without a lock, charge, give back.
 */
#include <linux/prefetch.h>
#include <linux/rcupdate.h>

#include "bucket.h"

static __always_inline unsigned int
table_refuse(struct weir_table *table, const struct weir_source *source,
	     u64 cost, u64 budget, struct weir_visit *visit)
{
	bool known = visit->table == table;
	u8 tag = weir_hash_tag(visit->hash);
	struct weir_bucket *bucket;
	struct weir_wheel *wheel;
	struct weir_way *way;
	u64 slot;

	if (known) {
		bucket = weir_bucket_of(visit->number);
	} else {
		bucket = weir_bucket(table, visit->hash & table->mask);
		/* Most likely the source's: come along with the head. */
		prefetch(weir_bucket_way(table, bucket,
					 weir_bucket_home(table, tag)));
	}
	visit->table = NULL;
	visit->seq = raw_read_seqcount(&bucket->seq);
	if (unlikely(visit->seq & 1))
		return 0;
	if (known && weir_way_is(table, visit->way, source)) {
		way = visit->way;
	} else {
		way = weir_bucket_find(table, bucket, source, tag);
		/* What this CPU remembers of it is another way. */
		visit->recalled = false;
	}
	visit->table = table;
	visit->number = weir_bucket_number(bucket);
	visit->way = way;
	if (!way && table->spec.lenient)
		return 0;
	wheel = way ? weir_way_wheel(table, way) : weir_bucket_floor(bucket);
	visit->sum = weir_wheel_sum(table->shape, wheel);
	/* Most often there is room, and no more need be asked. */
	if (visit->sum + cost <= budget)
		return 0;
	/* A clock that is late counts at the bucket's time, as a charge does. */
	slot = max(weir_table_slot(table, visit->tick), bucket->slot);
	if (slot - bucket->slot >= WEIR_SWEEP_SLOTS ||
	    !weir_wheel_shut(table->shape, wheel, slot, cost, budget) ||
	    read_seqcount_retry(&bucket->seq, visit->seq))
		return 0;
	if (!way)
		return WEIR_REFUSED | WEIR_FLOORED;
	weir_recent_refuse(table, source, visit, slot, visit->packets);
	return WEIR_REFUSED;
}

/**
 * weir_table_refuse - refuse without a lock where there surely is no room
 * @table: table
 * @source: masked source
 * @cost: of the packet, in the table's unit
 * @budget: of the limit
 * @visit: as weir_table_recall() left it, and with the hash
 *
 * Context: BH off, RCU read lock. Writes nothing that CPUs share, but once a
 * slot and source to count its refusals, or where another source's keep the
 * place in which this CPU does.
 * Return: 0 if a charge must tell, or WEIR_REFUSED and perhaps WEIR_FLOORED.
 */
unsigned int weir_table_refuse(struct weir_table *table,
			       const struct weir_source *source, u64 cost,
			       u64 budget, struct weir_visit *visit)
{
	unsigned int result = table_refuse(table, source, cost, budget, visit);

	/* Where the count was not asked again: for KCSAN its readers end here. */
	kcsan_atomic_next(0);
	return result;
}

/*
 * A bucket that has been copied is charged in both tables: the old one
 * decides, the new one follows. Once packets enter by the new one it alone
 * decides, and whoever still holds the old configuration reads again. That is
 * asked under the successor's lock: a packet that entered by it held the same
 * lock and had seen @live.
 */
static noinline unsigned int
charge_both(struct weir_table *table, struct weir_bucket *bucket,
	    struct weir_table *next, const struct weir_source *source,
	    struct weir_cost cost, u64 budget, struct weir_visit *visit)
{
	struct weir_bucket *follower = weir_bucket(next, visit->hash & next->mask);
	u64 slot = weir_table_slot(next, visit->tick);
	unsigned int result = WEIR_AGAIN;

	spin_lock_nested(&follower->lock, SINGLE_DEPTH_NESTING);
	if (!READ_ONCE(next->live)) {
		result = weir_bucket_charge(table, bucket, source,
					    weir_table_cost(table, cost),
					    budget, visit);
		write_seqcount_begin_nested(&follower->seq,
					    SINGLE_DEPTH_NESTING);
		if (!(result & WEIR_REFUSED))
			weir_bucket_add(next, follower, source, visit->hash,
					slot, weir_table_cost(next, cost));
		else if (!(result & WEIR_FLOORED))
			weir_bucket_drops(next, follower, source, visit->hash,
					  visit->packets, slot);
		write_seqcount_end(&follower->seq);
	}
	spin_unlock(&follower->lock);
	return result;
}

/*
 * Bring a locked bucket to the time of a visit, or the visit to that of a
 * bucket that is ahead. Ways may be freed.
 */
static noinline void visit_turn(const struct weir_table *table,
				struct weir_bucket *bucket,
				struct weir_visit *visit)
{
	u64 slot = weir_table_slot(table, visit->tick);

	if (slot < bucket->slot)
		visit->tick = bucket->slot * table->spec.slot_ticks;
	else
		weir_bucket_turn(table, bucket, slot);
}

/* Does the way that was seen still belong to the source? */
static bool visit_finds(const struct weir_table *table,
			const struct weir_source *source,
			const struct weir_visit *visit)
{
	return visit->table == table && visit->way &&
	       weir_way_is(table, visit->way, source);
}

static noinline void visit_refused(struct weir_table *table,
				   const struct weir_source *source,
				   const struct weir_visit *visit,
				   unsigned int result)
{
	if (visit->way && !(result & WEIR_AGAIN))
		weir_recent_refuse(table, source, visit,
				   weir_table_slot(table, visit->tick), 0);
}

/**
 * weir_table_charge - take room for a packet, or refuse it
 * @table: table
 * @source: masked source
 * @cost: of the packet
 * @budget: of the limit; what the table's counts cannot hold is cut
 * @visit: with tick, packets and hash, @visit->table NULL or as
 *	weir_table_recall() or weir_table_refuse() left it
 *
 * Context: BH off, RCU read lock.
 * Return: 0 or WEIR_EVICTED if admitted; WEIR_REFUSED with flags, or
 * WEIR_AGAIN, if nothing was counted.
 */
unsigned int weir_table_charge(struct weir_table *table,
			       const struct weir_source *source,
			       struct weir_cost cost, u64 budget,
			       struct weir_visit *visit)
{
	u32 index = visit->hash & table->mask, ticks = table->spec.slot_ticks;
	bool stands = visit->table == table && !visit->recalled;
	struct weir_bucket *bucket;
	struct weir_table *next;
	unsigned int result;

	bucket = visit->table == table ? weir_bucket_of(visit->number) :
					 weir_bucket(table, index);
	budget = min(budget, table->budget_max);
	spin_lock(&bucket->lock);
	/* What was seen a moment ago; who holds the lock sees no writer. */
	stands = stands && visit->seq == *weir_bucket_number(bucket);
	write_seqcount_begin(&bucket->seq);
	if (unlikely(visit->tick - bucket->slot * ticks >= ticks)) {
		visit_turn(table, bucket, visit);
		stands = false;
	}
	if (!stands && !visit_finds(table, source, visit)) {
		visit->way = weir_bucket_find(table, bucket, source,
					      weir_hash_tag(visit->hash));
		visit->recalled = false;
	}
	visit->table = table;
	visit->number = weir_bucket_number(bucket);
	next = weir_bucket_follower(table, index);
	if (unlikely(next))
		result = charge_both(table, bucket, next, source, cost, budget,
				     visit);
	else
		result = weir_bucket_charge(table, bucket, source,
					    weir_table_cost(table, cost),
					    budget, visit);
	write_seqcount_end(&bucket->seq);
	visit->seq = *visit->number;
	spin_unlock(&bucket->lock);
	if (likely(!(result & ~WEIR_EVICTED)))
		weir_recent_charge(table, source, visit);
	else
		visit_refused(table, source, visit, result);
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

	weir_bucket_begin(bucket);
	bucket_uncharge(table, bucket, source, hash, tick, cost);
	next = weir_bucket_follower(table, index);
	if (unlikely(next)) {
		follower = weir_bucket(next, hash & next->mask);
		weir_bucket_begin_nested(follower);
		bucket_uncharge(next, follower, source, hash, tick, cost);
		weir_bucket_end(follower);
	}
	weir_bucket_end(bucket);
}
