// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block sources, and release them. See the top of state.c.
 */
#include <linux/bottom_half.h>

#include "table/bucket.h"
#include "table/state.h"

/* Has the quota of the source's bucket room, as a hint? Perhaps, if blocks may have ended. */
bool weir_table_blocks(const struct weir_table *table, const struct weir_lookup *lookup)
{
	const struct weir_bucket *bucket = weir_bucket(table, lookup->hash);

	/* Pairs with weir_state_expire(). */
	return weir_bucket_blocks(table, bucket) ||
	       READ_ONCE(bucket->expired) != (u32)div_u64(lookup->tick, WEIR_SINCE_TICKS);
}

/*
 * Block the source of @lookup until a tick, @end, or up to a quarter of a second longer, or
 * with WEIR_NEVER for ever. With PUNISH and PROLONG the way that refused stays in @lookup, even if
 * it is another source's by now. Returns 0, or 1 if a live source was evicted; -ENOSPC if the
 * bucket's quota is used up, or no way can be had; -EEXIST or -ENOENT as @how says.
 */
int weir_table_block(struct weir_table *table, struct weir_lookup *lookup, u64 end,
		     enum weir_block how)
{
	struct weir_bucket *bucket = weir_bucket(table, lookup->hash);
	bool later = how == WEIR_BLOCK_EXTEND || how == WEIR_BLOCK_PROLONG;
	bool punish = how >= WEIR_BLOCK_PUNISH;
	u32 until = weir_block_until(end), was;
	const struct weir_permit permit = { };
	struct weir_way *way;
	u16 result;
	int err = 0;

	/* A flood of one that is blocked takes no lock a packet; who comes next corrects a hint. */
	if (how == WEIR_BLOCK_PROLONG && lookup->way &&
	    weir_way_until(table, bucket, lookup->way) >= until)
		return -EEXIST;
	lookup->slot[0] = weir_table_slot(table, lookup->tick);
	raw_spin_lock(&bucket->lock);
	weir_state_expire(table, bucket, lookup->tick);
	way = weir_bucket_search(table, bucket, lookup->source, lookup->hash);
	was = way ? weir_way_until(table, bucket, way) : 0;
	if (!way && punish)
		err = -ENOENT;
	else if (was && how != WEIR_BLOCK_REPLACE && (!later || was >= until))
		err = -EEXIST;
	else if (!was && !weir_bucket_blocks(table, bucket))
		err = -ENOSPC;
	if (!err && !way) {
		result = weir_bucket_enter(table, bucket, lookup, &permit);
		way = lookup->way;
		err = result & WEIR_CHARGED ? !!(result & WEIR_EVICTED) : -ENOSPC;
	}
	if (err >= 0)
		weir_state_block(table, bucket, way, until, lookup->tick);
	raw_spin_unlock(&bucket->lock);
	return err;
}

/* End the block of a source. Returns whether there was one. */
bool weir_table_release(struct weir_table *table, const struct weir_source *source,
			u32 hash, u64 tick)
{
	struct weir_bucket *bucket = weir_bucket(table, hash);
	struct weir_way *way;
	bool blocked;

	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	weir_state_expire(table, bucket, tick);
	way = weir_bucket_search(table, bucket, source, hash);
	blocked = way && weir_way_until(table, bucket, way);
	if (blocked)
		weir_state_block(table, bucket, way, 0, tick);
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();
	return blocked;
}
