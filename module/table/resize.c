// SPDX-License-Identifier: GPL-2.0-only
/*
 * Successors
 *
 * A change of size, window, slots, unit or width makes a new table, which refers
 * to the old one and is published at once:
 *
 *  1. The first packet of a source in the new table pulls the source's old set: under the
 *     old set's lock each entry is copied, freed, and placed under its set in the new table,
 *     where that is full instead of a source that weighs less; who has no entry then is joined into
 *     the floor. Then the old set is marked as moved, and is constant from then on.
 *  2. A packet with the old configuration charges the old table until its source
 *     has no entry there and it finds the mark, under the old set's lock; then it
 *     starts again with the new configuration.
 *  3. The floor of the old set, constant once marked, is joined into that of the
 *     source's new set.
 *  4. The change itself pulls the remaining sets one by one, and drops the old
 *     table a grace period later. So a table has at most one predecessor.
 *
 * Both tables index their sets by the low bits of the same hash: a growing table
 * splits a set, a shrinking one joins several. See heritage.c for what becomes of counts. Their
 * newest slot is that of the clock, read under the lock, because a packet's tick may be late.
 *
 * Locks: the old set's, then the new one's, nested, then an entry's.
 */
#include <linux/bottom_half.h>
#include <linux/sched.h>

#include "clock.h"
#include "table/counts.h"
#include "table/floor.h"
#include "table/resize.h"
#include "table/set.h"
#include "table/state.h"

/* Fill a locked entry, inside a write section of its seqcount. */
static noinline_for_stack void
entry_fill(const struct weir_heritage *of, struct weir_entry *entry, struct weir_count *first,
	   u64 tick)
{
	const struct weir_meter *meter = of->next->meter;
	union weir_count_copy copy;
	unsigned int i;

	for (i = 0; i <= of->next->more; i++, meter++) {
		weir_count_convert(of, i, &copy.count, first, tick);
		/* A refusal of the former source may be marking it. */
		data_race(memcpy(weir_count_of(meter, weir_entry_count(of->next, entry)), &copy,
				 meter->shape.size));
	}
}

/* Pull an entry. Under the old set's lock. */
static void entry_pull(const struct weir_heritage *of, struct weir_table *old,
		       struct weir_set *from, unsigned int i)
{
	struct weir_entry *entry = weir_set_entry(old, from, i);
	struct weir_count *count = weir_entry_count(old, entry);
	struct weir_table *next = of->next;
	struct weir_moved moved;
	struct weir_set *to;
	bool evicted;
	u64 tick;

	raw_spin_lock(&entry->lock);
	tick = weir_clock();
	moved.weight = weir_counts_weight(old, count, tick);
	weir_entry_source(old, entry, &moved.source);
	moved.dropped = atomic_read(&entry->dropped);
	/* Who was there before newcomers were distinguished is known, or comes now. */
	moved.state = weir_state_get(old, from, i);
	if (!weir_block_left(moved.state.until, tick))
		moved.state.until = 0;
	if (next->spec.strangers && next->states_off && !old->states_off) {
		moved.state.newcomer = true;
		moved.state.since = weir_since(tick);
	}
	weir_entry_free(old, from, i);
	raw_spin_unlock(&entry->lock);

	if (!moved.weight && !moved.state.until &&
	    (next->states_off ? moved.state.newcomer : !moved.dropped))
		return;
	moved.hash = weir_source_hash(&moved.source, next->spec.prefix, next->key);
	to = weir_set(next, moved.hash);
	raw_spin_lock_nested(&to->lock, SINGLE_DEPTH_NESTING);
	if (to->used == next->entries)
		moved.weight = weir_moved_weight(of, count, tick);
	entry = weir_set_room(next, to, &moved, false, tick);
	/* Nobody charges the former entry: its source is not there any more. */
	if (entry) {
		raw_spin_lock(&entry->lock);
		weir_entry_write_begin(entry);
		evicted = weir_set_place(next, to, &moved, entry, tick);
		entry_fill(of, entry, count, tick);
		write_seqcount_end(&entry->seq);
		raw_spin_unlock(&entry->lock);
	} else {
		evicted = moved.weight;
		weir_floor_raise(of, to, WEIR_SOURCE_FLOOR, count, tick);
	}
	atomic64_add(evicted, &next->evicted);
	atomic64_add(!!moved.state.until, &next->unblocked);
	raw_spin_unlock(&to->lock);
}

static void set_pull(const struct weir_heritage *of, struct weir_table *old, struct weir_set *set)
{
	unsigned int i;

	/* Pairs with the release below: its sources are in the new table. */
	if (smp_load_acquire(&set->moved))
		return;
	raw_spin_lock(&set->lock);
	if (!set->moved) {
		/* Before an entry is freed; pairs with charge_newcomer(). */
		WRITE_ONCE(set->moving, true);
		weir_floor_ends(old, set, weir_clock());
		for (i = 0; i < old->entries; i++)
			if (set->tag[i])
				entry_pull(of, old, set, i);
		/* What is left of batches would count in the slot of the pull. */
		if (old->batches)
			WRITE_ONCE(old->epoch, old->epoch + 1);
		/* Pairs with the acquire above. */
		smp_store_release(&set->moved, true);
	}
	raw_spin_unlock(&set->lock);
}

/* Pull the old set of a source, and its floor. BH off, RCU read lock. */
void weir_table_pull(struct weir_table *next, struct weir_table *old, u32 hash)
{
	const struct weir_heritage of = weir_heritage(next, old, next->room, next->old_room, false);
	struct weir_set *from = weir_set(old, hash);
	struct weir_set *to = weir_set(next, hash);

	set_pull(&of, old, from);
	raw_spin_lock(&to->lock);
	/* An empty floor has a slot, too: a late clock must not count before it. */
	weir_floor_raise(&of, to, from->floor, weir_set_floor(old, from), weir_clock());
	raw_spin_unlock(&to->lock);
}

/*
 * Have the unpublished @next take over from @old, which has no predecessor itself. The
 * rooms are those of the limit with each table, one for each meter; a meter whose new room is
 * 0 begins anew in another unit. @key outlives @next.
 */
void weir_table_succeed(struct weir_table *next, struct weir_table *old,
			const u64 *room, const u64 *old_room, const hsiphash_key_t *key)
{
	weir_calendars_succeed(next, old);
	next->key = key;
	weir_floors_end(next, WEIR_FOR_EVER);
	memcpy(next->room, room, (next->more + 1) * sizeof(*room));
	memcpy(next->old_room, old_room, (old->more + 1) * sizeof(*room));
	rcu_assign_pointer(next->old, old);
}

/*
 * Pull all that is left in the predecessor of the published @next; it may be freed a
 * grace period later. Returns the number of live sources that found no entry. The caller
 * keeps other changes out. Process context, may sleep.
 */
u64 weir_table_drain(struct weir_table *next)
{
	struct weir_table *old = rcu_dereference_protected(next->old, true);
	u32 i, most = max(old->mask, next->mask);

	for (i = 0; i <= most; i++) {
		local_bh_disable();
		weir_table_pull(next, old, i);
		local_bh_enable();
		cond_resched();
	}
	weir_floors_end(next, weir_floors_until(next, old));
	rcu_assign_pointer(next->old, NULL);
	return atomic64_read(&next->evicted);
}

/* The number of blocks that found no room, when it is drained. */
u64 weir_table_unblocked(const struct weir_table *next)
{
	return atomic64_read(&next->unblocked);
}
