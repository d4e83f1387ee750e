// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of sources
 *
 * Of a source with a way a table knows whether it is a newcomer, if it distinguishes them (see
 * the top of newcomers.c), and whether it is blocked. weir_state_set() alone writes this, under
 * the locks of bucket and way, inside a write section of the way's seqcount, which also
 * invalidates what refusal caches say. Flags in the way's scope tell that there is anything to
 * tell, so that other sources do not read it.
 *
 * A blocked source is refused until a time, whatever its wheel says, and what it sent before
 * stays counted: refused packets are not. A way with a block is neither evicted nor freed before
 * that has ended. At most half of a bucket's ways are blocked, so that newcomers find a way; all
 * of them if sources are only blocked. A block that has ended is cleared by the next packet of its
 * source, of a newcomer in its bucket, or the next block there.
 */
#include "table/counts.h"
#include "table/state.h"

/* The end of a block that lasts until a tick above 0, rounded up, or with WEIR_NEVER for ever. */
u32 weir_block_until(u64 tick)
{
	u64 until = div_u64(tick - 1, WEIR_SINCE_TICKS) + 1;

	return min_t(u64, until, WEIR_FOR_EVER);
}

/* Under the bucket's lock. */
struct weir_state weir_state_get(const struct weir_table *table, struct weir_bucket *bucket,
				 unsigned int i)
{
	const struct weir_states *states = weir_bucket_states(table, bucket);
	struct weir_state state = { .until = *weir_bucket_until(table, bucket, i) };

	if (table->states_off) {
		state.newcomer = states->newcomers & BIT_ULL(i);
		state.late = states->late & BIT_ULL(i);
		state.since = states->since[i];
	}
	return state;
}

/* After the end of a block the next refusal is the first one. */
void weir_state_set(const struct weir_table *table, struct weir_bucket *bucket, unsigned int i,
		    struct weir_state state)
{
	struct weir_states *states = weir_bucket_states(table, bucket);
	struct weir_way *way = weir_bucket_way(table, bucket, i);
	u64 others = bucket->blocked & ~BIT_ULL(i);

	lockdep_assert_held(&bucket->lock);
	lockdep_assert_held(&way->lock);
	if (state.until || way->scope & WEIR_STATE_BLOCKED) {
		/* Pairs with weir_way_until(). */
		WRITE_ONCE(*weir_bucket_until(table, bucket, i), state.until);
		/* Pairs with weir_bucket_blocks(). */
		WRITE_ONCE(bucket->blocked, state.until ? others | BIT_ULL(i) : others);
		if (!state.until)
			weir_counts_unmark(table, weir_way_wheel(table, way));
	}
	way->scope &= ~WEIR_STATE_FLAGS;
	if (state.until)
		way->scope |= WEIR_STATE_BLOCKED;
	if (!table->states_off)
		return;
	if (state.newcomer)
		way->scope |= WEIR_STATE_NEWCOMER;
	states->newcomers = (states->newcomers & ~BIT_ULL(i)) | (u64)state.newcomer << i;
	states->late = (states->late & ~BIT_ULL(i)) | (u64)state.late << i;
	states->since[i] = state.since;
}

/*
 * Set when the block of a way ends, or with 0 end it, under the bucket's lock alone. A newcomer
 * is one from the end of its block on: nothing of it was admitted meanwhile.
 */
void weir_state_block(const struct weir_table *table, struct weir_bucket *bucket,
		      struct weir_way *way, u32 until, u64 tick)
{
	unsigned int i = weir_bucket_index(table, bucket, way);
	struct weir_state state = weir_state_get(table, bucket, i);

	state.until = until;
	if (!until)
		state.since = weir_since(tick);
	raw_spin_lock(&way->lock);
	weir_way_write_begin(way);
	weir_state_set(table, bucket, i, state);
	write_seqcount_end(&way->seq);
	raw_spin_unlock(&way->lock);
}

/* Clear the blocks of a locked bucket that have ended: none does between two of these times. */
void weir_state_expire(const struct weir_table *table, struct weir_bucket *bucket, u64 tick)
{
	u32 now = div_u64(tick, WEIR_SINCE_TICKS);
	unsigned int i;
	u64 left;

	if (bucket->expired == now)
		return;
	/* Pairs with weir_table_blocks(). */
	WRITE_ONCE(bucket->expired, now);
	for (left = bucket->blocked; left; left &= left - 1) {
		i = __ffs64(left);
		if (!weir_block_left(*weir_bucket_until(table, bucket, i), tick))
			weir_state_block(table, bucket, weir_bucket_way(table, bucket, i), 0,
					 tick);
	}
}

/*
 * The way of @lookup has WEIR_STATE_BLOCKED: refuse without a lock if what was read since
 * @seq is consistent, or with the way's. Returns WEIR_REFUSED | WEIR_BLOCKED, or 0 if the
 * block has ended or was another source's.
 */
u16 weir_state_blocked(const struct weir_table *table, struct weir_bucket *bucket,
		       struct weir_lookup *lookup, u32 seq)
{
	struct weir_way *way = lookup->way;
	u32 until = weir_way_until(table, bucket, way);

	/* Retry first: that ends KCSAN's atomic region also if @seq is odd. */
	if (read_seqcount_retry(&way->seq, seq) || seq & 1) {
		raw_spin_lock(&way->lock);
		seq = way->seq.sequence;
		until = weir_way_is(table, way, lookup->source) ?
			weir_way_until(table, bucket, way) : 0;
		raw_spin_unlock(&way->lock);
	}
	if (weir_block_left(until, lookup->tick)) {
		lookup->seq = seq;
		return WEIR_REFUSED | WEIR_BLOCKED;
	}
	return 0;
}

/* Clear the blocks of a bucket that have ended, before a charge. */
void weir_state_unblock(const struct weir_table *table, struct weir_bucket *bucket, u64 tick)
{
	raw_spin_lock(&bucket->lock);
	weir_state_expire(table, bucket, tick);
	raw_spin_unlock(&bucket->lock);
}

/*
 * The source of a way was admitted, as @permit says: if it was a newcomer and is known from now
 * on, returns WEIR_MET. Under both locks.
 */
u16 weir_state_admitted(const struct weir_table *table, struct weir_bucket *bucket,
			struct weir_way *way, u64 tick, const struct weir_permit *permit)
{
	unsigned int i = weir_bucket_index(table, bucket, way);
	struct weir_state state = weir_state_get(table, bucket, i);
	u16 passed = weir_since(tick) - state.since;

	if (!state.newcomer ||
	    /* A clock that is late has not come there yet. */
	    passed == U16_MAX ||
	    /* Both times are rounded down. */
	    (u64)passed * WEIR_SINCE_TICKS < permit->known_ticks + WEIR_SINCE_TICKS)
		return 0;
	state.newcomer = false;
	state.late = permit->late;
	weir_way_write_begin(way);
	weir_state_set(table, bucket, i, state);
	write_seqcount_end(&way->seq);
	return WEIR_MET;
}

/* The source of a way is a newcomer again, since when it was. Under both locks. */
void weir_state_doubt(const struct weir_table *table, struct weir_bucket *bucket,
		      struct weir_way *way)
{
	unsigned int i = weir_bucket_index(table, bucket, way);
	struct weir_state state = weir_state_get(table, bucket, i);

	state.newcomer = true;
	state.late = false;
	weir_way_write_begin(way);
	weir_state_set(table, bucket, i, state);
	write_seqcount_end(&way->seq);
}
