// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the state of sources, tell when a charge fits or is due, and forget sources.
 */
#include <linux/bottom_half.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "bucket.h"

/* Ticks from now until so many slots after the one to which a wheel was turned. */
static u64 ticks_until(const struct weir_table *table, const struct weir_wheel *wheel,
		       u64 tick, unsigned int slots)
{
	u64 slot = weir_table_slot(table, tick), when;

	if (slots && !table->spec.slot_ticks)
		return WEIR_NEVER;
	slot += (s32)(wheel->at - (u32)slot);
	when = (slot + slots) * table->spec.slot_ticks;
	return slots && when > tick ? when - tick : 0;
}

/* The state of a wheel at a tick, to which it is turned. */
static void wheel_state(const struct weir_table *table,
			struct weir_wheel *wheel, u64 tick, u64 budget,
			struct weir_source_state *state)
{
	u64 cost;

	weir_wheel_turn(table->shape, wheel, weir_table_slot(table, tick));
	state->count = weir_wheel_sum(table->shape, wheel, wheel->at);
	state->live = state->count;
	cost = min(weir_wheel_wanted(table->shape, wheel), budget);
	state->wait = ticks_until(table, wheel, tick,
				  weir_wheel_peek(table->shape, wheel, cost, budget));
}

/* Under the way's lock; the wheel is copied, to hold the lock only briefly. */
static void way_state(const struct weir_table *table, struct weir_way *way,
		      union weir_wheel_copy *copy,
		      struct weir_source_state *state)
{
	u32 dropped = atomic_read(&way->dropped);

	state->dropped = dropped & WEIR_DROPPED_MAX;
	state->observed = dropped & WEIR_DROPPED_OBSERVED;
	state->unknown = way->scope & WEIR_SCOPE_UNKNOWN;
	/* A refusal without the lock may be marking it. */
	data_race(memcpy(copy, weir_way_wheel(table, way),
			 weir_wheel_size(table->shape)));
}

/* Has a locked bucket no way for a newcomer, because all of its sources stay for ever? */
static bool bucket_full(const struct weir_table *table, struct weir_bucket *bucket)
{
	struct weir_way *way;
	unsigned int i;

	if (table->spec.slot_ticks || bucket->used < table->ways)
		return false;
	for (i = 0; i < table->ways; i++) {
		way = weir_bucket_way(table, bucket, i);
		/* It may be charged meanwhile, and then was not full. */
		if (!data_race(weir_wheel_sum(table->shape, weir_way_wheel(table, way), 0)))
			return false;
	}
	return true;
}

/*
 * The tick until which what @lookup refused is refused, if nothing changes: if it leaks, or
 * else to the end of the slot. Without the lock it is valid if the way's seqcount is.
 */
u64 weir_table_until(const struct weir_table *table, const struct weir_lookup *lookup)
{
	u64 slot = weir_table_slot(table, lookup->tick), wait = 1;
	const struct weir_wheel *wheel;

	if (!table->spec.slot_ticks)
		return WEIR_NEVER;
	if (table->shape.parts) {
		wheel = (void *)lookup->way + table->wheel_off;
		slot += (s32)(wheel->at - (u32)slot);
		/* A torn read is of another seqcount. */
		wait = data_race(weir_wheel_peek(table->shape, wheel, lookup->cost,
						 lookup->budget));
	}
	return (slot + wait) * table->spec.slot_ticks;
}

/* Copy the wheel of a source, or its floor. Returns whether it can have no way. */
static bool source_copy(struct weir_table *table, const struct weir_source *source, u32 hash,
			union weir_wheel_copy *copy, struct weir_source_state *state)
{
	struct weir_bucket *bucket = weir_bucket(table, hash);
	struct weir_way *way;
	bool full;

	*state = (struct weir_source_state) { .source = *source };
	local_bh_disable();
	weir_table_settle(table, hash);
	raw_spin_lock(&bucket->lock);
	way = weir_bucket_search(table, bucket, source, hash);
	if (way) {
		raw_spin_lock(&way->lock);
		way_state(table, way, copy, state);
		raw_spin_unlock(&way->lock);
	} else {
		memcpy(copy, weir_bucket_floor(table, bucket),
		       weir_wheel_size(table->shape));
	}
	full = !way && bucket_full(table, bucket);
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();

	state->floor = !way;
	if (!way)
		state->unknown = table->standing_off;
	return full;
}

/* The current slot is the last of @slot; unused ones in front are 0. */
void weir_table_peek(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u64 tick,
		     u64 budget, struct weir_source_state *state,
		     u64 slot[WEIR_SLOTS_MAX + 1])
{
	union weir_wheel_copy copy;
	bool full = source_copy(table, source, hash, &copy, state);
	unsigned int age;

	wheel_state(table, &copy.wheel, tick, budget, state);
	if (full) {
		state->count = budget;
		state->wait = WEIR_NEVER;
	}
	memset(slot, 0, sizeof(*slot) * (WEIR_SLOTS_MAX + 1));
	for (age = 0; age <= table->shape.reach; age++)
		slot[WEIR_SLOTS_MAX - age] = weir_wheel_slot(table->shape,
							     &copy.wheel, age);
}

/* Ticks until a cost fits, if nothing else is charged; 0 if it does, or WEIR_NEVER. */
u64 weir_table_wait(struct weir_table *table, const struct weir_lookup *lookup)
{
	struct weir_source_state state;
	union weir_wheel_copy copy;

	if (lookup->cost > lookup->budget ||
	    source_copy(table, lookup->source, lookup->hash, &copy, &state))
		return WEIR_NEVER;
	weir_wheel_turn(table->shape, &copy.wheel, weir_table_slot(table, lookup->tick));
	return ticks_until(table, &copy.wheel, lookup->tick,
			   weir_wheel_peek(table->shape, &copy.wheel, lookup->cost,
					   lookup->budget));
}

/* Slots until the last charge of a wheel is due, from the time of the lookup on. */
static u32 wheel_due(const struct weir_table *table, struct weir_wheel *wheel,
		     const struct weir_lookup *lookup, u64 size)
{
	weir_wheel_turn(table->shape, wheel, weir_table_slot(table, lookup->tick));
	return weir_leak_due(table->shape, wheel, lookup->cost, size);
}

/*
 * Ticks until a charge is due that a leaky bucket was just given beyond its @size, up to
 * twice that: it counts then as if it had been made then. With BH off.
 */
u64 weir_table_due(struct weir_table *table, const struct weir_lookup *lookup, u64 size)
{
	struct weir_bucket *bucket = weir_bucket(table, lookup->hash);
	struct weir_wheel *wheel = weir_bucket_floor(table, bucket);
	struct weir_way *way;
	u32 slots;

	raw_spin_lock(&bucket->lock);
	way = weir_bucket_search(table, bucket, lookup->source, lookup->hash);
	if (way) {
		wheel = weir_way_wheel(table, way);
		raw_spin_lock(&way->lock);
		weir_way_write_begin(way);
		slots = wheel_due(table, wheel, lookup, size);
		write_seqcount_end(&way->seq);
		raw_spin_unlock(&way->lock);
	} else if (bucket->moving) {
		/* To the successor: as long as can be. */
		slots = div64_u64(size * table->shape.parts, table->shape.rate) + 1;
	} else {
		/* Who was evicted meanwhile is within the floor. */
		slots = wheel_due(table, wheel, lookup, size);
	}
	raw_spin_unlock(&bucket->lock);
	return ticks_until(table, wheel, lookup->tick, slots);
}

/*
 * Fill up to WEIR_WAYS_MAX states, of idle sources, too, and return how many. Sources
 * that are still in a predecessor are left out.
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

/* Returns whether there was anything to forget. */
bool weir_table_forget(struct weir_table *table,
		       const struct weir_source *source, u32 hash)
{
	struct weir_bucket *bucket = weir_bucket(table, hash);
	struct weir_wheel *wheel;
	struct weir_way *way;
	bool known = false;

	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	way = weir_bucket_search(table, bucket, source, hash);
	if (way) {
		wheel = weir_way_wheel(table, way);
		raw_spin_lock(&way->lock);
		known = weir_wheel_sum(table->shape, wheel, wheel->at) ||
			atomic_read(&way->dropped);
		weir_way_write_begin(way);
		weir_wheel_reset(table->shape, wheel, wheel->at);
		atomic_set(&way->dropped, 0);
		/* Pairs with weir_table_uncharge(), under the way's lock. */
		WRITE_ONCE(table->epoch, table->epoch + 1);
		write_seqcount_end(&way->seq);
		raw_spin_unlock(&way->lock);
	}
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();
	return known;
}

/* Free the ways of a locked bucket that have not been turned for @slots. */
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

/* Turn the ways of a locked bucket whose sources are known, lest they are freed. */
static void bucket_turn(const struct weir_table *table,
			struct weir_bucket *bucket, u32 slot)
{
	struct weir_way *way;
	unsigned int i;

	for (i = 0; i < table->ways; i++) {
		way = weir_bucket_way(table, bucket, i);
		if (!bucket->tag[i] || way->scope & WEIR_SCOPE_UNKNOWN)
			continue;
		raw_spin_lock(&way->lock);
		weir_way_write_begin(way);
		weir_wheel_turn(table->shape, weir_way_wheel(table, way), slot);
		write_seqcount_end(&way->seq);
		raw_spin_unlock(&way->lock);
	}
}

/* Forget the sources of a bucket, and its floor. The caller goes through all buckets. */
void weir_table_clear(struct weir_table *table, u32 index)
{
	struct weir_bucket *bucket = weir_bucket(table, index);
	struct weir_wheel *floor = weir_bucket_floor(table, bucket);

	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	bucket_free(table, bucket, 0, S32_MIN);
	weir_wheel_reset(table->shape, floor, floor->at);
	/*
	 * Before a way is taken again; pairs with weir_table_uncharge(). All buckets
	 * are an odd number of epochs, which the 16 bits of a receipt tell apart.
	 */
	WRITE_ONCE(table->epoch, table->epoch + 1 + !index);
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();
}

/* Free idle ways before slots alias: at most 2^30 slots after the last call; may sleep. */
void weir_table_age(struct weir_table *table, u64 tick)
{
	u32 slot = weir_table_slot(table, tick), i;
	struct weir_bucket *bucket;

	for (i = 0; i <= table->mask; i++) {
		bucket = weir_bucket(table, i);
		local_bh_disable();
		raw_spin_lock(&bucket->lock);
		if (table->standing_off)
			bucket_turn(table, bucket, slot);
		bucket_free(table, bucket, slot, BIT(30));
		weir_wheel_turn(table->shape, weir_bucket_floor(table, bucket),
				slot);
		raw_spin_unlock(&bucket->lock);
		local_bh_enable();
		cond_resched();
	}
	/* Invalidate batches, whose 32-bit slots alias, too. */
	WRITE_ONCE(table->epoch, table->epoch + 1);
}
