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
 * splits a set, a shrinking one joins several. If the slots keep their length
 * and number, counts are copied entry by entry; otherwise their sum goes to the
 * newest slot, which is an upper bound. The newest slot is that of the clock, read
 * under the lock, because a packet's tick may be late. Between packets and bytes a
 * source keeps the part of its budget that it has used.
 *
 * Locks: the old set's, then the new one's, nested, then an entry's.
 */
#include <linux/bottom_half.h>
#include <linux/sched.h>

#include "clock.h"
#include "table/set.h"
#include "table/counts.h"
#include "table/resize.h"
#include "table/state.h"

/* Do two meters count alike, whatever their budgets are? */
static bool same_way(const struct weir_meter *a, const struct weir_meter *b)
{
	return a->slot_ticks == b->slot_ticks && a->shape.kind == b->shape.kind &&
	       a->shape.reach == b->shape.reach && a->shape.parts == b->shape.parts &&
	       a->shape.rate == b->shape.rate && !a->calendar == !b->calendar;
}

/* Do slots that are as long begin at the same time? Of calendars see calendars_succeed(). */
static bool same_base(const struct weir_meter *a, const struct weir_meter *b)
{
	return a->calendar || a->base == b->base;
}

/* Do their counts have the same slots? */
static bool same_slots(const struct weir_meter *a, const struct weir_meter *b)
{
	return same_way(a, b) && same_base(a, b) && a->shape.kind == WEIR_COUNT_RING;
}

/* Does @a bound the counts of a new meter better than @b does? */
static bool bounds_better(const struct weir_meter *next, const struct weir_meter *a,
			  const struct weir_meter *b)
{
	bool long_a = a->window >= next->window, long_b = b->window >= next->window;

	if (long_a != long_b)
		return long_a;
	if (a->bytes != b->bytes)
		return a->bytes == next->bytes;
	if (a->window != b->window)
		return (a->window < b->window) == long_a;
	if (same_way(a, next) != same_way(b, next))
		return same_way(a, next);
	return a->bytes == next->bytes && weir_shape_max(&a->shape) > weir_shape_max(&b->shape);
}

/*
 * The meter of a predecessor that a new one starts from: of the shortest window asked for that is
 * no shorter, or else of the longest, in the same unit if there is one. Of equal ones the one
 * that counts alike: another may have let go what that still holds; and then in the same unit the
 * widest, as a narrow one may have been cut off when it was converted.
 */
unsigned int weir_meter_before(const struct weir_meter *next, const struct weir_table *old)
{
	unsigned int i, best = 0;

	for (i = 1; i <= old->more; i++)
		if (bounds_better(next, &old->meter[i], &old->meter[best]))
			best = i;
	return best;
}

/* Fill the count @to of the meter @n; @first is the first count in the old table. */
void weir_count_convert(const struct weir_heritage *of, unsigned int n, struct weir_count *to,
			struct weir_count *first, u64 tick)
{
	const struct weir_meter *now = &of->next->meter[n];
	unsigned int before = weir_meter_before(now, of->old);
	const struct weir_meter *was = &of->old->meter[before];
	const struct weir_count *from = weir_count_of(was, first);
	u64 most = weir_shape_max(&now->shape), count;
	u64 slot = weir_meter_slot(was, tick);
	s32 ahead = from->at - (u32)slot;
	u32 at = slot + max(ahead, 0), age, i;

	if (of->next->spec.blocks) {
		/* Nobody is counted. */
		weir_count_init(&now->shape, to, weir_meter_slot(now, tick));
		return;
	}
	if (same_slots(was, now) && was->bytes == now->bytes) {
		weir_count_init(&now->shape, to, at);
		for (age = 0; age <= now->shape.reach; age++) {
			i = at - age;
			count = (s32)(i - from->at) > 0 ? 0 :
				weir_ring_since(&was->shape, from, i);
			weir_count_store(&now->shape, to,
					 1 + (i & now->shape.mask),
					 -min(count, most));
		}
	} else if (was->shape.kind == WEIR_COUNT_LOG && now->shape.kind == WEIR_COUNT_LOG &&
		   was->slot_ticks == now->slot_ticks && was->base == now->base) {
		weir_count_init(&now->shape, to, from->at);
		weir_log_copy(&now->shape, to, &was->shape, from);
	} else if (same_way(was, now) && same_base(was, now) && was->bytes == now->bytes &&
		   of->saved) {
		/* A set that was saved; in packets the level would be rounded up. */
		weir_count_init(&now->shape, to, at);
		weir_count_store(&now->shape, to, 0, weir_leak_level(&was->shape, from, at));
	} else {
		count = weir_count_sum(&was->shape, from, slot);
		if (was->bytes != now->bytes)
			count = of->budget[n] ? weir_budget_part(count, of->budget[n],
								 of->old_budget[before]) : 0;
		/* A calendar may have crossed an end since the predecessor's was stopped. */
		weir_count_init(&now->shape, to, same_slots(was, now) ? at :
				weir_meter_slot(now, tick));
		weir_count_add(&now->shape, to, min(count, most));
	}
	if (weir_count_marked(&was->shape, from, slot)) {
		/* Of other windows it would be forgotten too early, or too late. */
		to->refused = same_way(was, now) && same_base(was, now) && !now->calendar ?
			      READ_ONCE(from->refused) : to->at >> now->shape.mark_shift;
		/* Pairs with weir_count_mark(), which takes no lock. */
		to->wanted = was->bytes == now->bytes ? READ_ONCE(from->wanted) : 1;
	}
}

/*
 * Join a count of the meter @n into the floor of a locked set. It was of a floor like @was;
 * that of a source that finds no entry is like WEIR_SOURCE_FLOOR.
 */
void weir_floor_raise(const struct weir_heritage *of, unsigned int n, struct weir_set *to,
		      struct weir_floor was, struct weir_count *count)
{
	const struct weir_meter *meter = &of->next->meter[n];
	unsigned int before = weir_meter_before(meter, of->old);
	bool ends = !weir_meter_stays(&of->old->meter[before]);

	if (weir_meter_stays(meter) && weir_count_sum(&meter->shape, count, 0)) {
		if (ends || was.ends & BIT(before))
			to->floor.ends |= BIT(n);
		if (!ends && was.stays & BIT(before))
			to->floor.stays |= BIT(n);
	}
	weir_count_raise(meter, weir_count_of(meter, weir_set_floor(of->next, to)), count);
}

/*
 * Convert the counts at @first of the old table into those of a locked entry, or with NULL
 * join them into the floor of the locked set, as weir_floor_raise().
 */
static noinline_for_stack void
counts_put(const struct weir_heritage *of, struct weir_set *to, struct weir_entry *entry,
	   struct weir_floor was, struct weir_count *first, u64 tick)
{
	const struct weir_meter *meter = of->next->meter;
	union weir_count_copy copy;
	unsigned int i;

	for (i = 0; i <= of->next->more; i++, meter++) {
		weir_count_convert(of, i, &copy.count, first, tick);
		if (!entry)
			weir_floor_raise(of, i, to, was, &copy.count);
		else
			/* A refusal of the former source may be marking it. */
			data_race(memcpy(weir_count_of(meter, weir_entry_count(of->next, entry)),
					 &copy, meter->shape.size));
	}
}

/* The weight that the counts at @first of the old table have in the new one. */
noinline_for_stack u64 weir_moved_weight(const struct weir_heritage *of, struct weir_count *first,
					 u64 tick)
{
	const struct weir_meter *meter = of->next->meter;
	union weir_count_copy copy;
	u64 weight = 0, sum;
	unsigned int i;

	for (i = 0; i <= of->next->more; i++, meter++) {
		weir_count_convert(of, i, &copy.count, first, tick);
		sum = weir_count_sum(&meter->shape, &copy.count, copy.count.at);
		weight = max(weight, count_weight(meter, sum, !i));
	}
	return weight;
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
		counts_put(of, to, entry, WEIR_SOURCE_FLOOR, count, tick);
		write_seqcount_end(&entry->seq);
		raw_spin_unlock(&entry->lock);
	} else {
		evicted = moved.weight;
		counts_put(of, to, NULL, WEIR_SOURCE_FLOOR, count, tick);
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
	const struct weir_heritage of = {
		.next = next, .old = old, .budget = next->budget, .old_budget = next->old_budget,
	};
	struct weir_set *from = weir_set(old, hash);
	struct weir_set *to = weir_set(next, hash);

	set_pull(&of, old, from);
	raw_spin_lock(&to->lock);
	/* An empty floor has a slot, too: a late clock must not count before it. */
	counts_put(&of, to, NULL, from->floor, weir_set_floor(old, from), weir_clock());
	raw_spin_unlock(&to->lock);
}

/*
 * Have calendars go on with the periods of those in @old with the same window, and their
 * numbers. The old ones stop, so that an end that comes to pass before all is pulled is
 * crossed by a single timer: what is pulled then is of the period before.
 */
static void calendars_succeed(struct weir_table *next, struct weir_table *old)
{
	struct weir_meter *now = next->meter;
	unsigned int n, i, from, before;

	for (n = 0; n <= next->more; n++, now++) {
		if (!now->calendar)
			continue;
		before = weir_meter_before(now, old);
		from = WEIR_BUDGETS_MAX;
		for (i = 0; i <= old->more; i++)
			if (old->meter[i].calendar && old->meter[i].slot_ticks == now->slot_ticks &&
			    (i == before || from == WEIR_BUDGETS_MAX))
				from = i;
		if (from == WEIR_BUDGETS_MAX)
			continue;
		weir_calendar_stop(&old->calendar[from]);
		/* Pairs with the timer, which has stopped. */
		now->base = READ_ONCE(old->meter[from].base);
		weir_calendar_succeed(&next->calendar[n], &old->calendar[from], &now->base);
	}
}

/*
 * Have the unpublished @next take over from @old, which has no predecessor itself. The
 * budgets are those of the limit with each table, one for each meter; a meter whose new budget is
 * 0 begins anew in another unit. @key outlives @next.
 */
void weir_table_succeed(struct weir_table *next, struct weir_table *old,
			const u64 *budget, const u64 *old_budget, const hsiphash_key_t *key)
{
	calendars_succeed(next, old);
	next->key = key;
	/* Until floors_end(). */
	next->floor_end = WEIR_FOR_EVER;
	memcpy(next->budget, budget, (next->more + 1) * sizeof(*budget));
	memcpy(next->old_budget, old_budget, (old->more + 1) * sizeof(*budget));
	rcu_assign_pointer(next->old, old);
}

/* Nothing is charged in the predecessor any more: its windows end, and with them its floors. */
static void floors_end(struct weir_table *next, const struct weir_table *old)
{
	const struct weir_meter_spec *was;
	const struct weir_meter *meter;
	unsigned int before;
	u32 end = 0;

	for (meter = next->meter; meter <= &next->meter[next->more]; meter++) {
		before = weir_meter_before(meter, old);
		was = &old->spec.meter[before];
		if (weir_meter_stays(meter))
			end = max(end, weir_meter_stays(&old->meter[before]) ? old->floor_end :
				  weir_block_until(weir_clock() +
						   (was->slots + 1ull) * was->slot_ticks));
	}
	/* Pairs with weir_floor_ends(). */
	WRITE_ONCE(next->floor_end, end);
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
	floors_end(next, old);
	rcu_assign_pointer(next->old, NULL);
	return atomic64_read(&next->evicted);
}

/* The number of blocks that found no room, when it is drained. */
u64 weir_table_unblocked(const struct weir_table *next)
{
	return atomic64_read(&next->unblocked);
}
