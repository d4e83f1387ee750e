// SPDX-License-Identifier: GPL-2.0-only
/*
 * Successors
 *
 * A change of size, window, slots, unit or width makes a new table. It is
 * filled while packets still enter by the old one:
 *
 *  1. The old table is told its successor.
 *  2. Each bucket of the old table is copied under its lock and marked. From
 *     then on its charges go to both tables: the old one decides, the new one
 *     follows, so the new one knows at all times what it must.
 *  3. When all are copied, the successor is declared live and the
 *     configuration that has it is published, both with BH and preemption off.
 *     Packets enter by it now, and it decides alone. A packet that still has
 *     the old configuration finds the successor live under the successor's
 *     bucket lock and starts again with the new one.
 *  4. A grace period later the old table goes, and refusals that it still has
 *     to count are counted in the successor.
 *
 * So a packet sees either the old budget and table or the new ones, also where
 * several limits change at once.
 *
 * Both tables find their bucket by the low bits of the same hash. A growing
 * table splits a bucket and copies its floor to all the parts, a shrinking one
 * joins them. Where slots are as long and as many as before, wheels are copied
 * slot by slot, otherwise their sum goes to the newest slot: an upper bound.
 * Between packets and bytes a source keeps the part of its budget that it has
 * used.
 */
#include <linux/bottom_half.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "bucket.h"
#include "wheel_join.h"

/* What is constant while one table is copied to another. */
struct move {
	struct weir_table *old;
	struct weir_table *next;
	const hsiphash_key_t *key;
	u64 old_budget;
	u64 next_budget;
	u64 tick;
	u64 evictions;
	bool same_unit;
	bool same_slots;
};

/* A wheel of the old table as one of the new, turned to the bucket's slot. */
static void wheel_convert(const struct move *move, struct weir_wheel *to,
			  u64 to_slot, struct weir_wheel *from)
{
	struct weir_wheel_shape new = move->next->shape;
	struct weir_wheel_shape old = move->old->shape;
	unsigned int age;

	weir_wheel_turn(old, from, weir_table_slot(move->old, move->tick));
	weir_wheel_reset(new, to, to_slot);
	if (!move->same_slots || !move->same_unit) {
		u64 sum = weir_wheel_sum(old, from);

		if (!move->same_unit)
			sum = weir_budget_part(sum, move->next_budget,
					       move->old_budget);
		weir_wheel_add(new, to, sum);
		return;
	}
	/* The bucket may be ahead of the clock that was read, never behind. */
	to->at = from->at;
	to->until = from->at;
	for (age = old.ring; age--;) {
		to->head = old.ring - 1 - age;
		weir_wheel_add(new, to, weir_wheel_slot(old, from, age));
	}
	weir_wheel_turn(new, to, to_slot);
}

/* Under the old bucket's lock. */
static void copy_way(struct move *move, struct weir_way *way)
{
	struct weir_table *next = move->next;
	struct weir_wheel *from = weir_way_wheel(move->old, way), *wheel;
	struct weir_bucket *bucket;
	struct weir_source source;
	struct weir_way *new;
	union weir_wheel_copy copy;
	bool evicted;
	u32 hash;

	weir_wheel_turn(move->old->shape, from,
			weir_table_slot(move->old, move->tick));
	if (!weir_wheel_sum(move->old->shape, from) && !way->dropped)
		return;
	weir_way_source(move->old, way, &source);
	hash = weir_source_hash(&source, next->spec.prefix, move->key);
	bucket = weir_bucket(next, hash & next->mask);

	weir_bucket_begin_nested(bucket);
	weir_bucket_turn(next, bucket, weir_table_slot(next, move->tick));
	new = weir_bucket_take(next, bucket, &source, weir_hash_tag(hash),
			       &evicted);
	move->evictions += evicted;
	new->dropped = way->dropped;
	wheel = weir_way_wheel(next, new);
	wheel_convert(move, &copy.wheel, bucket->slot, from);
	memcpy(wheel, &copy.wheel, weir_wheel_size(next->shape));
	wheel->has_refused = from->has_refused;
	wheel->refused = wheel->at;
	weir_bucket_least(bucket, weir_wheel_sum(next->shape, wheel));
	weir_bucket_end(bucket);
}

/* Under the old bucket's lock. */
static void copy_floor(const struct move *move, struct weir_wheel *from,
		       u32 index)
{
	struct weir_table *next = move->next;
	struct weir_bucket *bucket;
	struct weir_wheel *floor;
	union weir_wheel_copy copy;
	u64 i;

	if (move->old->spec.lenient || next->spec.lenient ||
	    weir_wheel_idle(move->old->shape, from,
			    weir_table_slot(move->old, move->tick)))
		return;
	for (i = index & next->mask; i <= next->mask;
	     i += (u64)move->old->mask + 1) {
		bucket = weir_bucket(next, i);
		weir_bucket_begin_nested(bucket);
		weir_bucket_turn(next, bucket,
				 weir_table_slot(next, move->tick));
		floor = weir_bucket_floor(bucket);
		weir_wheel_turn(next->shape, floor, bucket->slot);
		wheel_convert(move, &copy.wheel, bucket->slot, from);
		weir_wheel_trade(next->shape, floor, &copy.wheel);
		weir_bucket_end(bucket);
	}
}

static void copy_bucket(struct move *move, u32 index, u64 (*clock)(void))
{
	struct weir_bucket *bucket = weir_bucket(move->old, index);
	struct weir_way *way;
	unsigned int i;

	local_bh_disable();
	weir_bucket_begin(bucket);
	move->tick = max(clock(), bucket->slot * move->old->spec.slot_ticks);
	weir_bucket_turn(move->old, bucket,
			 weir_table_slot(move->old, move->tick));
	for (i = 0; i < move->old->ways; i++) {
		way = weir_bucket_way(move->old, bucket, i);
		if (!weir_tag_free(bucket->tag[i]))
			copy_way(move, way);
	}
	copy_floor(move, weir_bucket_floor(bucket), index);
	/* Read by bucket_follower(), under the same lock where it matters. */
	WRITE_ONCE(move->old->copied, index + 1);
	weir_bucket_end(bucket);
	local_bh_enable();
}

/**
 * weir_table_move - fill a successor while packets enter by the old table
 * @old: table in use
 * @next: table that was just made
 * @old_budget: of the limit
 * @next_budget: what it will be
 * @key: of the hash
 * @clock: tells the tick
 *
 * The caller keeps other movers out, calls weir_table_live() next, and
 * weir_table_settle() a grace period later.
 *
 * Context: process, may sleep.
 * Return: live sources that lost their way to another one.
 */
u64 weir_table_move(struct weir_table *old, struct weir_table *next,
		    u64 old_budget, u64 next_budget,
		    const hsiphash_key_t *key, u64 (*clock)(void))
{
	struct move move = {
		.old = old,
		.next = next,
		.key = key,
		.old_budget = old_budget,
		.next_budget = next_budget,
		.same_unit = old->spec.bytes == next->spec.bytes,
		.same_slots = old->spec.slot_ticks == next->spec.slot_ticks &&
			      old->shape.ring == next->shape.ring,
	};
	u32 i;

	rcu_assign_pointer(old->next, next);
	for (i = 0; i <= old->mask; i++) {
		copy_bucket(&move, i, clock);
		cond_resched();
	}
	return move.evictions;
}

/**
 * weir_table_live - let packets enter by a successor from now on
 * @next: filled successor
 *
 * The configuration that has it is published next, with BH and preemption off in
 * between: until then packets of the old configuration start again and again.
 */
void weir_table_live(struct weir_table *next)
{
	lockdep_assert(softirq_count());
	WRITE_ONCE(next->live, true);
}
