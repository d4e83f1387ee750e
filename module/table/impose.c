// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block sources, and release them. See the top of state.c.
 */
#include <linux/bottom_half.h>

#include "table/set.h"
#include "table/state.h"

/* Has the quota of the source's set room, as a hint? Perhaps, if blocks may have ended. */
bool weir_table_blocks(const struct weir_table *table, const struct weir_lookup *lookup)
{
	const struct weir_set *set = weir_set(table, lookup->hash);

	/* Pairs with weir_state_expire(). */
	return weir_set_blocks(table, set) ||
	       READ_ONCE(set->expired) != (u32)div_u64(lookup->tick, WEIR_SINCE_TICKS);
}

/*
 * Block the source of @lookup until a tick, @end, or up to a quarter of a second longer, or
 * with WEIR_NEVER for ever. With PUNISH and PROLONG the entry that refused stays in @lookup, even
 * if it is another source's by now. Returns 0, or 1 if a live source was evicted; -ENOSPC if the
 * set's quota is used up, or no entry can be had; -EEXIST or -ENOENT as @how says.
 */
int weir_table_block(struct weir_table *table, struct weir_lookup *lookup, u64 end,
		     enum weir_block how)
{
	struct weir_set *set = weir_set(table, lookup->hash);
	bool later = how == WEIR_BLOCK_EXTEND || how == WEIR_BLOCK_PROLONG;
	bool punish = how >= WEIR_BLOCK_PUNISH;
	u32 until = weir_block_until(end), was;
	const struct weir_permit permit = { };
	struct weir_entry *entry;
	u16 result;
	int err = 0;

	/* A flood of one that is blocked takes no lock a packet; who comes next corrects a hint. */
	if (how == WEIR_BLOCK_PROLONG && lookup->entry &&
	    weir_entry_until(table, set, lookup->entry) >= until)
		return -EEXIST;
	lookup->slot[0] = weir_table_slot(table, lookup->tick);
	raw_spin_lock(&set->lock);
	weir_state_expire(table, set, lookup->tick);
	entry = weir_set_search(table, set, lookup->source, lookup->hash);
	was = entry ? weir_entry_until(table, set, entry) : 0;
	if (!entry && punish)
		err = -ENOENT;
	else if (was && how != WEIR_BLOCK_REPLACE && (!later || was >= until))
		err = -EEXIST;
	else if (!was && !weir_set_blocks(table, set))
		err = -ENOSPC;
	if (!err && !entry) {
		result = weir_set_enter(table, set, lookup, &permit);
		entry = lookup->entry;
		err = result & WEIR_CHARGED ? !!(result & WEIR_EVICTED) : -ENOSPC;
	}
	if (err >= 0)
		weir_state_block(table, set, entry, until, lookup->tick);
	raw_spin_unlock(&set->lock);
	return err;
}

/* End the block of a source. Returns whether there was one. */
bool weir_table_release(struct weir_table *table, const struct weir_source *source,
			u32 hash, u64 tick)
{
	struct weir_set *set = weir_set(table, hash);
	struct weir_entry *entry;
	bool blocked;

	local_bh_disable();
	raw_spin_lock(&set->lock);
	weir_state_expire(table, set, tick);
	entry = weir_set_search(table, set, source, hash);
	blocked = entry && weir_entry_until(table, set, entry);
	if (blocked)
		weir_state_block(table, set, entry, 0, tick);
	raw_spin_unlock(&set->lock);
	local_bh_enable();
	return blocked;
}
