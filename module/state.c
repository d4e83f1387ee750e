// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table seen from outside: how sources stand, and forgetting them.
 */
#include <linux/bottom_half.h>
#include <linux/string.h>

#include "bucket.h"

/* Refusals that wait may get into the way between two looks. */
static u64 dropped_in_all(const struct weir_table *table,
			  const struct weir_source *source, u64 in_way)
{
	return max_t(s64, in_way + weir_recent_pending(table, source), 0);
}

/* How a wheel will stand at a tick; turns it. */
static void wheel_state(const struct weir_table *table,
			struct weir_wheel *wheel, u64 bucket_slot, u64 tick,
			u64 budget, struct weir_source_state *state)
{
	u64 slot = max(bucket_slot, weir_table_slot(table, tick));
	unsigned int wait;
	u64 when;

	if (slot - bucket_slot >= WEIR_SWEEP_SLOTS)
		weir_wheel_reset(table->shape, wheel, slot);
	weir_wheel_turn(table->shape, wheel, slot);
	state->count = weir_wheel_sum(table->shape, wheel);
	state->live = state->count;
	wait = weir_wheel_peek(table->shape, wheel, 1, budget);
	when = (slot + wait) * table->spec.slot_ticks;
	state->wait = wait && when > tick ? when - tick : 0;
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
 * Context: process or BH, RCU read lock or a reference.
 */
void weir_table_peek(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u64 tick,
		     u64 budget, struct weir_source_state *state,
		     u64 slot[WEIR_SLOTS_MAX + 1])
{
	struct weir_bucket *bucket = weir_bucket(table, hash & table->mask);
	union weir_wheel_copy copy = { };
	struct weir_way *way;
	u64 bucket_slot;
	unsigned int i;

	*state = (struct weir_source_state) { .source = *source };
	spin_lock_bh(&bucket->lock);
	way = weir_bucket_find(table, bucket, source, weir_hash_tag(hash));
	state->floor = !way;
	if (way)
		state->dropped = way->dropped;
	memcpy(&copy, way ? weir_way_wheel(table, way) :
	       weir_bucket_floor(bucket), weir_wheel_size(table->shape));
	bucket_slot = bucket->slot;
	spin_unlock_bh(&bucket->lock);

	wheel_state(table, &copy.wheel, bucket_slot, tick, budget, state);
	if (way)
		state->dropped = dropped_in_all(table, source, state->dropped);
	memset(slot, 0, sizeof(*slot) * (WEIR_SLOTS_MAX + 1));
	for (i = 0; i < table->shape.ring; i++)
		slot[WEIR_SLOTS_MAX - i] = weir_wheel_slot(table->shape,
							   &copy.wheel, i);
}

/**
 * weir_table_forget - let a source start afresh
 * @table: table without a successor
 * @source: masked source
 * @hash: its hash
 *
 * Context: process.
 * Return: whether anything was known of it.
 */
bool weir_table_forget(struct weir_table *table,
		       const struct weir_source *source, u32 hash)
{
	struct weir_bucket *bucket = weir_bucket(table, hash & table->mask);
	struct weir_way *way;

	spin_lock_bh(&bucket->lock);
	way = weir_bucket_find(table, bucket, source, weir_hash_tag(hash));
	if (way) {
		write_seqcount_begin(&bucket->seq);
		/* Those that wait on a CPU will still be added. */
		way->dropped = -weir_recent_pending(table, source);
		weir_wheel_reset(table->shape, weir_way_wheel(table, way),
				 bucket->slot);
		weir_bucket_least(bucket, 0);
		write_seqcount_end(&bucket->seq);
	}
	spin_unlock_bh(&bucket->lock);
	return way;
}

/**
 * weir_table_clear - forget the sources of a bucket, and its floor
 * @table: table without a successor
 * @index: of the bucket; the caller goes through all of them
 *
 * Context: process; one caller at a time.
 */
void weir_table_clear(struct weir_table *table, u32 index)
{
	struct weir_bucket *bucket = weir_bucket(table, index);

	local_bh_disable();
	weir_bucket_begin(bucket);
	weir_bucket_wipe(table, bucket);
	/* Read where refusals wait: those from before are nobody's now. */
	WRITE_ONCE(table->recents.epoch, table->recents.epoch + 1);
	weir_wheel_reset(table->shape, weir_bucket_floor(bucket), bucket->slot);
	weir_bucket_end(bucket);
	local_bh_enable();
}

/**
 * weir_table_walk - how the sources of a bucket stand
 * @table: table
 * @index: of the bucket
 * @tick: now
 * @budget: of the limit
 * @state: filled, WEIR_WAYS_MAX of them
 *
 * Context: process, a reference or RCU read lock.
 * Return: states filled, idle sources among them.
 */
unsigned int weir_table_walk(struct weir_table *table, u32 index, u64 tick,
			     u64 budget, struct weir_source_state *state)
{
	struct weir_bucket *bucket = weir_bucket(table, index);
	union weir_wheel_copy copy = { };
	struct weir_way *way;
	unsigned int i, n = 0;

	spin_lock_bh(&bucket->lock);
	for (i = 0; i < table->ways; i++) {
		if (weir_tag_free(bucket->tag[i]))
			continue;
		way = weir_bucket_way(table, bucket, i);
		state[n] = (struct weir_source_state) {
			.dropped = way->dropped,
		};
		weir_way_source(table, way, &state[n].source);
		memcpy(&copy, weir_way_wheel(table, way),
		       weir_wheel_size(table->shape));
		wheel_state(table, &copy.wheel, bucket->slot, tick, budget,
			    &state[n]);
		n++;
	}
	spin_unlock_bh(&bucket->lock);
	for (i = 0; i < n; i++)
		state[i].dropped = dropped_in_all(table, &state[i].source,
						  state[i].dropped);
	return n;
}
