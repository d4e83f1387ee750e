// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks
 *
 * A blocked source is refused until a time, whatever its wheel says, and what it sent
 * before stays counted: refused packets are not. The time is in an array beside the ways,
 * and a flag in the way's scope tells that there is one, so that other sources do not
 * read it. Both are written under the locks of bucket and way, inside a write section of
 * the way's seqcount, which also invalidates what refusal caches say.
 *
 * A way with a block is neither evicted nor freed before that has ended. At most half of
 * a bucket's ways are, so that newcomers find a way. A block that has ended is cleared by
 * the next packet of its source, or of a newcomer in its bucket.
 */
#include "table/block.h"
#include "table/counts.h"
#include "table/known.h"

/* The end of a block that lasts until a tick above 0, rounded up, or with WEIR_NEVER for ever. */
u32 weir_block_until(u64 tick)
{
	u64 until = div_u64(tick - 1, WEIR_SINCE_TICKS) + 1;

	return min_t(u64, until, WEIR_FOR_EVER);
}

/*
 * Set when the block of a way ends, or with 0 end it. The next refusal is the first one
 * then. Under both locks, inside a write section of the seqcount.
 */
void weir_way_block(const struct weir_table *table, struct weir_bucket *bucket,
		    unsigned int i, u32 until)
{
	struct weir_way *way = weir_bucket_way(table, bucket, i);
	u64 others = bucket->blocked & ~BIT_ULL(i);

	lockdep_assert_held(&bucket->lock);
	/* Pairs with weir_way_blocked(). */
	WRITE_ONCE(*weir_bucket_until(table, bucket, i), until);
	way->scope &= ~WEIR_SCOPE_BLOCKED;
	if (until)
		way->scope |= WEIR_SCOPE_BLOCKED;
	else
		weir_counts_unmark(table, weir_way_wheel(table, way));
	/* Pairs with weir_bucket_blocks(). */
	WRITE_ONCE(bucket->blocked, until ? others | BIT_ULL(i) : others);
}

/*
 * As weir_way_block(), under the bucket's lock alone. A source that is not known when its block
 * ends is a newcomer from then on: nothing of it was admitted meanwhile.
 */
void weir_way_reblock(const struct weir_table *table, struct weir_bucket *bucket,
		      struct weir_way *way, u32 until, u64 tick)
{
	unsigned int i = weir_bucket_index(table, bucket, way);

	raw_spin_lock(&way->lock);
	weir_way_write_begin(way);
	weir_way_block(table, bucket, i, until);
	if (!until && table->standing_off)
		weir_bucket_standing(table, bucket)->since[i] = weir_since(tick);
	write_seqcount_end(&way->seq);
	raw_spin_unlock(&way->lock);
}

/* Clear the blocks of a locked bucket that have ended: none does between two of these times. */
void weir_bucket_expire(const struct weir_table *table, struct weir_bucket *bucket, u64 tick)
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
			weir_way_reblock(table, bucket, weir_bucket_way(table, bucket, i), 0,
					 tick);
	}
}

/*
 * The way of @lookup has WEIR_SCOPE_BLOCKED: refuse without a lock if what was read since
 * @seq is consistent, or with the way's. Returns WEIR_REFUSED | WEIR_BLOCKED, or 0 if the
 * block has ended or was another source's; if @wanted it is cleared then.
 */
u16 weir_way_blocked(const struct weir_table *table, struct weir_bucket *bucket,
		     struct weir_lookup *lookup, u32 seq, bool wanted)
{
	struct weir_way *way = lookup->way;
	u32 until = weir_way_until(table, bucket, way);

	if (seq & 1 || read_seqcount_retry(&way->seq, seq)) {
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
	if (wanted && until) {
		raw_spin_lock(&bucket->lock);
		weir_bucket_expire(table, bucket, lookup->tick);
		raw_spin_unlock(&bucket->lock);
	}
	return 0;
}
