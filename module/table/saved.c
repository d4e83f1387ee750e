// SPDX-License-Identifier: GPL-2.0-only
/*
 * A saved state is a predecessor: what was saved is merged into a table by the rules by which a
 * successor takes over, but that its sources may be there already, and that it comes in parts,
 * first sources and then floors. By these a source that was evicted while others were saved is
 * within a floor that was saved later.
 *
 * To join is to take the larger of what was saved and what is there, slot by slot; to add is for
 * counts of other packets. Either way a count never becomes smaller.
 */
#include <linux/bottom_half.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "table/floor.h"
#include "table/saved.h"
#include "table/set.h"
#include "table/shared.h"
#include "table/state.h"

/* Turn what was copied to @tick. Returns 0, or -EAGAIN if a count is ahead of that. */
static int counts_turn(const struct weir_table *table, struct weir_saved *saved, u64 tick)
{
	const struct weir_meter *meter = table->meter;
	unsigned int i;

	for (i = 0; i <= table->more; i++, meter++)
		if ((s32)(weir_saved_count(saved, meter)->at -
			  (u32)weir_meter_slot(meter, tick)) > 0)
			return -EAGAIN;
	weir_counts_advance(table, &saved->count->count, tick);
	return 0;
}

int weir_saved_source(const struct weir_table *table, u32 index, unsigned int i, u64 tick,
		      struct weir_saved *saved)
{
	struct weir_set *set = weir_set(table, index);
	struct weir_entry *entry = weir_set_entry(table, set, i);
	struct weir_moved *moved = &saved->moved;
	bool used;

	local_bh_disable();
	raw_spin_lock(&set->lock);
	used = set->tag[i];
	if (used) {
		raw_spin_lock(&entry->lock);
		weir_entry_source(table, entry, &moved->source);
		/* A refusal without the lock may be marking it. */
		data_race(memcpy(saved->count, weir_entry_count(table, entry), table->counts_size));
		moved->dropped = atomic_read(&entry->dropped);
		moved->state = weir_state_get(table, set, i);
		raw_spin_unlock(&entry->lock);
	}
	raw_spin_unlock(&set->lock);
	local_bh_enable();
	if (!used)
		return false;
	weir_batches_undo(table, &moved->source, &saved->count->count);
	if (counts_turn(table, saved, tick))
		return -EAGAIN;
	if (!weir_block_left(moved->state.until, tick))
		moved->state.until = 0;
	moved->weight = weir_counts_weight(table, &saved->count->count, tick);
	return moved->weight || moved->dropped || moved->state.until ||
	       (table->states_off && !moved->state.newcomer);
}

/*
 * Of a source that was read at @tick, has the first count counted anything in the slot of @since or
 * later, and at least @least, above 0, in its window? A bucket or a log may have.
 */
bool weir_saved_changed(const struct weir_table *table, struct weir_saved *saved, u64 since,
			u64 tick, u64 least)
{
	const struct weir_shape *shape = &table->meter->shape;
	const struct weir_count *count = weir_saved_count(saved, table->meter);
	u64 passed = weir_meter_slot(table->meter, tick) -
		     weir_meter_slot(table->meter, min(since, tick));

	if (weir_count_sum(shape, count, count->at) < least)
		return false;
	return shape->kind != WEIR_COUNT_RING ||
	       weir_ring_since(shape, count, count->at - min_t(u64, passed, shape->reach));
}

int weir_saved_floor(struct weir_table *table, u32 index, u64 tick, struct weir_saved *saved)
{
	struct weir_set *set = weir_set(table, index);

	local_bh_disable();
	raw_spin_lock(&set->lock);
	weir_floor_ends(table, set, tick);
	memcpy(saved->count, weir_set_floor(table, set), table->counts_size);
	saved->floor = set->floor;
	raw_spin_unlock(&set->lock);
	local_bh_enable();
	return counts_turn(table, saved, tick) ?:
	       weir_counts_weight(table, &saved->count->count, tick) > 0;
}

/* Merge one count into another one; both are turned to the later of their slots. */
void weir_count_merge(const struct weir_meter *meter, struct weir_count *to,
		      struct weir_count *from, bool add)
{
	const struct weir_shape *shape = &meter->shape;
	bool marked = weir_count_marked(shape, from, from->at);
	u8 refused = from->refused, wanted = from->wanted;

	weir_count_advance(shape, to, from->at);
	weir_count_advance(shape, from, to->at);
	if (add)
		weir_count_plus(shape, to, from);
	else
		weir_count_join(shape, to, from);
	if (!marked || weir_count_marked(shape, to, to->at))
		return;
	/* Pairs with weir_count_mark(), which takes no lock. */
	WRITE_ONCE(to->wanted, wanted);
	WRITE_ONCE(to->refused, refused);
}

/* Merge the counts into those of a locked entry, inside a write section of its seqcount. */
static noinline_for_stack void
entry_merge(const struct weir_heritage *of, struct weir_entry *entry, struct weir_saved *saved,
	    bool add, u64 tick)
{
	const struct weir_meter *meter = of->next->meter;
	union weir_count_copy copy;
	unsigned int i;

	for (i = 0; i <= of->next->more; i++, meter++) {
		weir_count_convert(of, i, &copy.count, &saved->count->count, tick);
		weir_count_merge(meter, weir_count_of(meter, weir_entry_count(of->next, entry)),
				 &copy.count, add);
	}
}

/*
 * Give a source an entry, that starts from the floor, within which it may be. As
 * weir_set_place().
 */
static bool entry_take(const struct weir_table *table, struct weir_set *set,
		       struct weir_entry *entry, struct weir_moved *moved, u64 tick)
{
	bool free = !set->tag[weir_set_index(table, set, entry)];
	bool evicted = weir_set_place(table, set, moved, entry, tick);

	if (free)
		counts_copy(table, weir_set_floor(table, set), weir_entry_count(table, entry),
			    true);
	return evicted;
}

/* What is known of a source that has an entry: what either knows more of. Under both locks. */
static void state_merge(const struct weir_table *table, struct weir_set *set,
			struct weir_entry *entry, struct weir_moved *moved)
{
	unsigned int i = weir_set_index(table, set, entry);
	struct weir_state state = weir_state_get(table, set, i);

	if (moved->state.until > state.until && (state.until || weir_set_blocks(table, set)))
		state.until = moved->state.until;
	if (moved->state.until <= state.until)
		moved->state.until = 0;
	if (!moved->state.newcomer) {
		state.newcomer = false;
		state.late &= moved->state.late;
	}
	weir_state_set(table, set, i, state);
	if (moved->dropped > (u32)atomic_read(&entry->dropped))
		atomic_set(&entry->dropped, moved->dropped);
}

/*
 * Merge a source, of whose @moved all but the hash is filled in. When counts are added what else
 * is known of it is left out. Returns WEIR_MERGE_*.
 */
u8 weir_saved_merge(const struct weir_heritage *of, struct weir_saved *saved, bool add, u64 tick)
{
	struct weir_moved *moved = &saved->moved;
	struct weir_table *next = of->next;
	struct weir_set *set = weir_set(next, moved->hash);
	bool there, evicted = false;
	struct weir_entry *entry;

	if (add) {
		moved->dropped = 0;
		moved->state = (struct weir_state) {
			.newcomer = next->states_off, .since = weir_since(tick),
		};
	}
	moved->weight = weir_counts_weight(of->old, &saved->count->count, tick);
	local_bh_disable();
	raw_spin_lock(&set->lock);
	weir_state_expire(next, set, tick);
	entry = weir_set_search(next, set, &moved->source, moved->hash);
	there = entry;
	if (!entry && set->used == next->entries)
		moved->weight = weir_moved_weight(of, &saved->count->count, tick);
	if (!entry)
		entry = weir_set_room(next, set, moved, add, tick);
	if (entry) {
		raw_spin_lock(&entry->lock);
		weir_entry_write_begin(entry);
		if (!there)
			evicted = entry_take(next, set, entry, moved, tick);
		else if (!add)
			state_merge(next, set, entry, moved);
		entry_merge(of, entry, saved, add, tick);
		write_seqcount_end(&entry->seq);
		raw_spin_unlock(&entry->lock);
	} else {
		evicted = moved->weight;
		/* A sum over many sources would leave no room for others: they are joined. */
		weir_floor_raise(of, set, WEIR_SOURCE_FLOOR, &saved->count->count, tick);
	}
	raw_spin_unlock(&set->lock);
	local_bh_enable();
	return (evicted ? WEIR_MERGE_EVICTED : 0) |
	       (moved->state.until ? WEIR_MERGE_UNBLOCKED : 0);
}

/* Merge the floor of a set of the saved table into those of the same sources. */
void weir_saved_merge_floor(const struct weir_heritage *of, u32 index, struct weir_saved *saved,
			    u64 tick)
{
	u32 step = min(of->old->mask, of->next->mask) + 1;
	struct weir_set *set;

	for (index &= of->next->mask; index <= of->next->mask; index += step) {
		set = weir_set(of->next, index);
		local_bh_disable();
		raw_spin_lock(&set->lock);
		weir_floor_ends(of->next, set, tick);
		weir_floor_raise(of, set, saved->floor, &saved->count->count, tick);
		raw_spin_unlock(&set->lock);
		local_bh_enable();
		cond_resched();
	}
}

/* If not, what was counted in a slot would belong to two of the other, and go to the later one. */
static bool same_length(const struct weir_meter *a, const struct weir_meter *b)
{
	return a->slot_inverse && b->slot_inverse && a->slot_ticks == b->slot_ticks;
}

void weir_slots_follow(struct weir_table_spec *spec, const struct weir_table *old)
{
	const struct weir_meter *was;
	struct weir_table layout;
	unsigned int i;

	weir_table_plan(&layout, spec);
	for (i = 0; i <= layout.more; i++) {
		was = &old->meter[weir_meter_before(&layout.meter[i], old)];
		if (same_length(&layout.meter[i], was))
			spec->meter[i].base = was->base;
	}
}

/* Once there are counts, slots stay where they are, and those of the saved table follow them. */
void weir_slots_align(struct weir_table *next, struct weir_table *saved, bool fresh, u64 tick)
{
	struct weir_meter *meter, *was;

	fresh &= !next->merged;
	for (meter = next->meter; meter <= &next->meter[next->more]; meter++) {
		was = &saved->meter[weir_meter_before(meter, saved)];
		if (!same_length(meter, was))
			continue;
		if (fresh)
			meter->base = was->base;
		else
			was->base = meter->base;
	}
	if (fresh)
		weir_table_init(next, tick);
	next->merged = true;
}
