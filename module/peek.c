// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table seen from outside: how sources stand, and forgetting them.
 */
#include <linux/bottom_half.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "bucket.h"

/* How a wheel will stand at a tick; turns it. */
static void wheel_state(const struct weir_table *table,
			struct weir_wheel *wheel, u64 tick, u64 budget,
			struct weir_source_state *state)
{
	u64 slot = weir_table_slot(table, tick), when, cost;
	unsigned int wait;

	weir_wheel_turn(table->shape, wheel, slot);
	slot += (s32)(wheel->at - (u32)slot);
	state->count = weir_wheel_sum(table->shape, wheel, wheel->at);
	state->live = state->count;
	cost = min(weir_wheel_wanted(table->shape, wheel), budget);
	wait = weir_wheel_peek(table->shape, wheel, cost, budget);
	when = (slot + wait) * table->spec.slot_ticks;
	state->wait = wait && when > tick ? when - tick : 0;
}

/* With BH off; the wheel is copied, so that its lock is held for a moment. */
static void way_state(const struct weir_table *table, struct weir_way *way,
		      union weir_wheel_copy *copy,
		      struct weir_source_state *state)
{
	u32 dropped = atomic_read(&way->dropped);

	state->dropped = dropped & WEIR_DROPPED_MAX;
	state->observed = dropped & WEIR_DROPPED_OBSERVED;
	/* A refusal without the lock may just be marked in it. */
	data_race(memcpy(copy, weir_way_wheel(table, way),
			 weir_wheel_size(table->shape)));
}

/**
 * weir_table_peek - how a source stands, changing nothing
 * @table: table
 * @source: masked source
 * @hash: its hash
 * @tick: now
 * @budget: of the limit
 * @state: filled
 * @slot: filled with the counts of the ring, oldest first; zeroes in front
 *	where the ring is shorter than WEIR_SLOTS_MAX + 1
 *
 * Context: process or BH, RCU read lock.
 */
void weir_table_peek(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u64 tick,
		     u64 budget, struct weir_source_state *state,
		     u64 slot[WEIR_SLOTS_MAX + 1])
{
	struct weir_bucket *bucket = weir_bucket(table, hash);
	union weir_wheel_copy copy;
	struct weir_way *way;
	unsigned int age;

	*state = (struct weir_source_state) { .source = *source };
	local_bh_disable();
	weir_table_settle(table, hash);
	raw_spin_lock(&bucket->lock);
	way = weir_bucket_search(table, bucket, source, hash);
	if (way) {
		raw_spin_lock(&way->lock);
		way_state(table, way, &copy, state);
		raw_spin_unlock(&way->lock);
	} else {
		memcpy(&copy, weir_bucket_floor(table, bucket),
		       weir_wheel_size(table->shape));
	}
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();

	state->floor = !way;
	wheel_state(table, &copy.wheel, tick, budget, state);
	memset(slot, 0, sizeof(*slot) * (WEIR_SLOTS_MAX + 1));
	for (age = 0; age <= table->shape.reach; age++)
		slot[WEIR_SLOTS_MAX - age] = weir_wheel_slot(table->shape,
							     &copy.wheel, age);
}

/**
 * weir_table_walk - how the sources of a bucket stand
 * @table: table
 * @index: of the bucket
 * @tick: now
 * @budget: of the limit
 * @state: filled, WEIR_WAYS_MAX of them
 *
 * What is still in a predecessor is left out: that is while a change is on.
 *
 * Context: process, a reference or RCU read lock.
 * Return: states filled, idle sources among them.
 */
unsigned int weir_table_walk(struct weir_table *table, u32 index, u64 tick,
			     u64 budget, struct weir_source_state *state)
{
	struct weir_bucket *bucket = weir_bucket(table, index);
	union weir_wheel_copy copy;
	struct weir_way *way;
	unsigned int i, n = 0;

	for (i = 0; i < table->ways; i++) {
		way = weir_bucket_way(table, bucket, i);
		local_bh_disable();
		raw_spin_lock(&way->lock);
		weir_way_source(table, way, &state[n].source);
		way_state(table, way, &copy, &state[n]);
		raw_spin_unlock(&way->lock);
		local_bh_enable();
		if (state[n].source.scope == WEIR_SCOPE_INVALID)
			continue;
		state[n].floor = false;
		wheel_state(table, &copy.wheel, tick, budget, &state[n++]);
	}
	return n;
}

/**
 * weir_table_forget - let a source start afresh
 * @table: table without a predecessor
 * @source: masked source
 * @hash: its hash
 *
 * Context: process, RCU read lock; one caller at a time.
 * Return: whether anything was known of it.
 */
bool weir_table_forget(struct weir_table *table,
		       const struct weir_source *source, u32 hash)
{
	struct weir_bucket *bucket = weir_bucket(table, hash);
	struct weir_wheel *wheel;
	struct weir_way *way;

	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	way = weir_bucket_search(table, bucket, source, hash);
	if (way) {
		wheel = weir_way_wheel(table, way);
		raw_spin_lock(&way->lock);
		write_seqcount_begin(&way->seq);
		weir_wheel_reset(table->shape, wheel, wheel->at);
		atomic_set(&way->dropped, 0);
		/* Read under the lock of the way by who gives back. */
		WRITE_ONCE(table->epoch, table->epoch + 1);
		write_seqcount_end(&way->seq);
		raw_spin_unlock(&way->lock);
	}
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();
	return way;
}

/* Free the ways of a locked bucket that have had nothing to count for so long. */
static void bucket_free(const struct weir_table *table,
			struct weir_bucket *bucket, u32 slot, s32 slots)
{
	struct weir_wheel *wheel;
	struct weir_way *way;
	unsigned int i;

	for (i = 0; i < table->ways; i++) {
		if (!bucket->tag[i])
			continue;
		way = weir_bucket_way(table, bucket, i);
		wheel = weir_way_wheel(table, way);
		raw_spin_lock(&way->lock);
		if ((s32)(slot - wheel->at) >= slots)
			weir_way_free(table, bucket, i);
		raw_spin_unlock(&way->lock);
	}
}

/**
 * weir_table_clear - forget the sources of a bucket, and its floor
 * @table: table without a predecessor
 * @index: of the bucket; the caller goes through all of them
 *
 * Context: process; one caller at a time.
 */
void weir_table_clear(struct weir_table *table, u32 index)
{
	struct weir_bucket *bucket = weir_bucket(table, index);
	struct weir_wheel *floor = weir_bucket_floor(table, bucket);

	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	bucket_free(table, bucket, 0, S32_MIN);
	weir_wheel_reset(table->shape, floor, floor->at);
	/* Before anybody takes a way again; read under the lock of that way. */
	WRITE_ONCE(table->epoch, table->epoch + 1);
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();
}

/**
 * weir_table_age - keep the times of a table near
 * @table: table
 * @tick: now; called before 2^30 slots have passed since the last call
 *
 * Context: process, may sleep.
 */
void weir_table_age(struct weir_table *table, u64 tick)
{
	u32 slot = weir_table_slot(table, tick), i;
	struct weir_bucket *bucket;

	for (i = 0; i <= table->mask; i++) {
		bucket = weir_bucket(table, i);
		local_bh_disable();
		raw_spin_lock(&bucket->lock);
		bucket_free(table, bucket, slot, BIT(30));
		weir_wheel_turn(table->shape, weir_bucket_floor(table, bucket),
				slot);
		raw_spin_unlock(&bucket->lock);
		local_bh_enable();
		cond_resched();
	}
	/* Slots come round, and batches name theirs by 32 bits. */
	WRITE_ONCE(table->epoch, table->epoch + 1);
}
