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

#include "table/bucket.h"
#include "table/saved.h"
#include "table/shared.h"
#include "table/state.h"

/* Turn what was copied to @tick. Returns 0, or -EAGAIN if a count is ahead of that. */
static int wheels_turn(const struct weir_table *table, struct weir_saved *saved, u64 tick)
{
	const struct weir_count *count = table->count;
	unsigned int i;

	for (i = 0; i <= table->more; i++, count++)
		if ((s32)(weir_saved_wheel(saved, count)->at -
			  (u32)weir_count_slot(count, tick)) > 0)
			return -EAGAIN;
	weir_counts_advance(table, &saved->wheel->wheel, tick);
	return 0;
}

int weir_saved_source(const struct weir_table *table, u32 index, unsigned int i, u64 tick,
		      struct weir_saved *saved)
{
	struct weir_bucket *bucket = weir_bucket(table, index);
	struct weir_way *way = weir_bucket_way(table, bucket, i);
	struct weir_moved *moved = &saved->moved;
	bool used;

	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	used = bucket->tag[i];
	if (used) {
		raw_spin_lock(&way->lock);
		weir_way_source(table, way, &moved->source);
		/* A refusal without the lock may be marking it. */
		data_race(memcpy(saved->wheel, weir_way_wheel(table, way), table->wheels_size));
		moved->dropped = atomic_read(&way->dropped);
		moved->state = weir_state_get(table, bucket, i);
		raw_spin_unlock(&way->lock);
	}
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();
	if (!used)
		return false;
	weir_batches_undo(table, &moved->source, &saved->wheel->wheel);
	if (wheels_turn(table, saved, tick))
		return -EAGAIN;
	if (!weir_block_left(moved->state.until, tick))
		moved->state.until = 0;
	moved->weight = weir_counts_weight(table, &saved->wheel->wheel, tick);
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
	const struct weir_shape *shape = &table->count->shape;
	const struct weir_wheel *wheel = weir_saved_wheel(saved, table->count);
	u64 passed = weir_count_slot(table->count, tick) -
		     weir_count_slot(table->count, min(since, tick));

	if (weir_count_sum(shape, wheel, wheel->at) < least)
		return false;
	return shape->kind != WEIR_COUNT_RING ||
	       weir_ring_since(shape, wheel, wheel->at - min_t(u64, passed, shape->reach));
}

int weir_saved_floor(struct weir_table *table, u32 index, u64 tick, struct weir_saved *saved)
{
	struct weir_bucket *bucket = weir_bucket(table, index);

	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	weir_floor_ends(table, bucket, tick);
	memcpy(saved->wheel, weir_bucket_floor(table, bucket), table->wheels_size);
	saved->floor = bucket->floor;
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();
	return wheels_turn(table, saved, tick) ?:
	       weir_counts_weight(table, &saved->wheel->wheel, tick) > 0;
}

/* Merge one count into another one; both are turned to the later of their slots. */
void weir_count_merge(const struct weir_count *count, struct weir_wheel *to,
		      struct weir_wheel *from, bool add)
{
	const struct weir_shape *shape = &count->shape;
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

/* Merge the counts into those of a locked way, inside a write section of its seqcount. */
static noinline_for_stack void
way_merge(const struct weir_heritage *of, struct weir_way *way, struct weir_saved *saved,
	  bool add, u64 tick)
{
	const struct weir_count *count = of->next->count;
	union weir_wheel_copy copy;
	unsigned int i;

	for (i = 0; i <= of->next->more; i++, count++) {
		weir_wheel_convert(of, i, &copy.wheel, &saved->wheel->wheel, tick);
		weir_count_merge(count, weir_wheel_of(count, weir_way_wheel(of->next, way)),
				 &copy.wheel, add);
	}
}

/* Merge the counts into the floor of a locked bucket. */
static noinline_for_stack void
floor_merge(const struct weir_heritage *of, struct weir_bucket *bucket, struct weir_floor was,
	    struct weir_saved *saved, u64 tick)
{
	union weir_wheel_copy copy;
	unsigned int i;

	for (i = 0; i <= of->next->more; i++) {
		weir_wheel_convert(of, i, &copy.wheel, &saved->wheel->wheel, tick);
		weir_floor_raise(of, i, bucket, was, &copy.wheel);
	}
}

/*
 * Give a source a way, that starts from the floor, within which it may be. As
 * weir_bucket_place().
 */
static bool way_take(const struct weir_table *table, struct weir_bucket *bucket,
		     struct weir_way *way, struct weir_moved *moved, u64 tick)
{
	bool free = !bucket->tag[weir_bucket_index(table, bucket, way)];
	bool evicted = weir_bucket_place(table, bucket, moved, way, tick);

	if (free)
		counts_copy(table, weir_bucket_floor(table, bucket), weir_way_wheel(table, way),
			    true);
	return evicted;
}

/* What is known of a source that has a way: the more that is known of either. Under both locks. */
static void state_merge(const struct weir_table *table, struct weir_bucket *bucket,
			struct weir_way *way, struct weir_moved *moved)
{
	unsigned int i = weir_bucket_index(table, bucket, way);
	struct weir_state state = weir_state_get(table, bucket, i);

	if (moved->state.until > state.until && (state.until || weir_bucket_blocks(table, bucket)))
		state.until = moved->state.until;
	if (moved->state.until <= state.until)
		moved->state.until = 0;
	if (!moved->state.newcomer) {
		state.newcomer = false;
		state.late &= moved->state.late;
	}
	weir_state_set(table, bucket, i, state);
	if (moved->dropped > (u32)atomic_read(&way->dropped))
		atomic_set(&way->dropped, moved->dropped);
}

/*
 * Merge a source, of whose @moved all but the hash is filled in. When counts are added what else
 * is known of it is left out. Returns WEIR_MERGE_*.
 */
u8 weir_saved_merge(const struct weir_heritage *of, struct weir_saved *saved, bool add, u64 tick)
{
	struct weir_moved *moved = &saved->moved;
	struct weir_table *next = of->next;
	struct weir_bucket *bucket = weir_bucket(next, moved->hash);
	bool there, evicted = false;
	struct weir_way *way;

	if (add) {
		moved->dropped = 0;
		moved->state = (struct weir_state) {
			.newcomer = next->states_off, .since = weir_since(tick),
		};
	}
	moved->weight = weir_counts_weight(of->old, &saved->wheel->wheel, tick);
	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	weir_state_expire(next, bucket, tick);
	way = weir_bucket_search(next, bucket, &moved->source, moved->hash);
	there = way;
	if (!way && bucket->used == next->ways)
		moved->weight = weir_wheels_weight(of, &saved->wheel->wheel, tick);
	if (!way)
		way = weir_bucket_room(next, bucket, moved, add, tick);
	if (way) {
		raw_spin_lock(&way->lock);
		weir_way_write_begin(way);
		if (!there)
			evicted = way_take(next, bucket, way, moved, tick);
		else if (!add)
			state_merge(next, bucket, way, moved);
		way_merge(of, way, saved, add, tick);
		write_seqcount_end(&way->seq);
		raw_spin_unlock(&way->lock);
	} else {
		evicted = moved->weight;
		/* A sum over many sources would leave no room for others: they are joined. */
		floor_merge(of, bucket, WEIR_SOURCE_FLOOR, saved, tick);
	}
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();
	return (evicted ? WEIR_MERGE_EVICTED : 0) |
	       (moved->state.until ? WEIR_MERGE_UNBLOCKED : 0);
}

/* Merge the floor of a bucket of the saved table into those of the same sources. */
void weir_saved_merge_floor(const struct weir_heritage *of, u32 index, struct weir_saved *saved,
			    u64 tick)
{
	u32 step = min(of->old->mask, of->next->mask) + 1;
	struct weir_bucket *bucket;

	for (index &= of->next->mask; index <= of->next->mask; index += step) {
		bucket = weir_bucket(of->next, index);
		local_bh_disable();
		raw_spin_lock(&bucket->lock);
		weir_floor_ends(of->next, bucket, tick);
		floor_merge(of, bucket, saved->floor, saved, tick);
		raw_spin_unlock(&bucket->lock);
		local_bh_enable();
		cond_resched();
	}
}

/* If not, what was counted in a slot would belong to two of the other, and go to the later one. */
static bool same_length(const struct weir_count *a, const struct weir_count *b)
{
	return a->slot_inverse && b->slot_inverse && a->slot_ticks == b->slot_ticks;
}

void weir_slots_follow(struct weir_table_spec *spec, const struct weir_table *old)
{
	const struct weir_count *was;
	struct weir_table layout;
	unsigned int i;

	weir_table_plan(&layout, spec);
	for (i = 0; i <= layout.more; i++) {
		was = &old->count[weir_count_before(&layout.count[i], old)];
		if (same_length(&layout.count[i], was))
			spec->count[i].base = was->base;
	}
}

/* Once there are counts, slots stay where they are, and those of the saved table follow them. */
void weir_slots_align(struct weir_table *next, struct weir_table *saved, bool fresh, u64 tick)
{
	struct weir_count *count, *was;

	fresh &= !next->merged;
	for (count = next->count; count <= &next->count[next->more]; count++) {
		was = &saved->count[weir_count_before(count, saved)];
		if (!same_length(count, was))
			continue;
		if (fresh)
			count->base = was->base;
		else
			was->base = count->base;
	}
	if (fresh)
		weir_table_init(next, tick);
	next->merged = true;
}
