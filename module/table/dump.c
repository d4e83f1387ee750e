// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the state of sources, and forget them.
 */
#include <linux/bottom_half.h>
#include <linux/prefetch.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "table/bucket.h"
#include "table/counts.h"
#include "table/resize.h"
#include "table/state.h"

/* What a source is asked about. */
struct question {
	u64 tick;
	const u64 *budget;	/* of each count */
	const u64 *cost;	/* in packets and bytes; or NULL: what was refused last */
	u64 *slot;		/* as in weir_table_peek(), or NULL */
	bool whether;		/* as in weir_table_walk() */
	u32 at[WEIR_BUDGETS_MAX];	/* slot of @tick, of each count */
};

static struct question question_of(const struct weir_table *table, u64 tick, const u64 *budget)
{
	struct question ask = { .tick = tick, .budget = budget };
	unsigned int i;

	for (i = 0; i <= table->more; i++)
		ask.at[i] = weir_count_slot(&table->count[i], tick);
	return ask;
}

/* The sum of a count, and whether it is full: what a walk asks of each source, made short. */
static void wheel_glance(const struct weir_count *count, const struct weir_wheel *wheel, u32 slot,
			 u64 budget, u64 *sum, u64 *wait)
{
	u64 cost = min(weir_count_wanted(&count->shape, wheel, slot), budget);

	*sum = weir_count_sum(&count->shape, wheel, slot);
	if (count->shape.kind == WEIR_COUNT_RING)
		*wait = cost && weir_ring_over(*sum, cost, budget);
	else
		*wait = cost && weir_count_full(&count->shape, wheel, slot, cost, budget);
}

/* Add the state of a count. */
static void wheel_state(const struct weir_table *table, unsigned int i,
			const struct weir_wheel *wheel, const struct question *ask,
			struct weir_source_state *state)
{
	const struct weir_count *count = &table->count[i];
	u32 slot = ask->at[i], wait = 0;
	u64 budget = ask->budget[i], cost;

	/* A wheel may be ahead of the clock. */
	slot = wheel->at + max_t(s32, slot - wheel->at, 0);
	if (ask->whether) {
		wheel_glance(count, wheel, slot, budget, &state->count[i], &state->waits[i]);
		state->live |= !!state->count[i];
		return;
	}
	if (ask->cost)
		cost = ask->cost[count->bytes];
	else
		cost = min(weir_count_wanted(&count->shape, wheel, slot), budget);
	if (cost && cost <= budget)
		wait = weir_count_wait(&count->shape, wheel, slot, cost, budget);
	state->count[i] = weir_count_sum(&count->shape, wheel, slot);
	state->live |= !!state->count[i];
	state->waits[i] = cost > budget ? WEIR_NEVER :
			  weir_count_left(count, slot, ask->tick, wait);
}

/* Fill in what a ring counted in each slot. */
static noinline_for_stack void ring_slots(const struct weir_count *count,
					  const struct weir_wheel *wheel,
					  const struct question *ask)
{
	const struct weir_shape *shape = &count->shape;
	union weir_wheel_copy copy;
	unsigned int age;

	/* A refusal without the lock may be marking it. */
	data_race(memcpy(&copy, wheel, shape->size));
	weir_count_advance(shape, &copy.wheel, ask->at[0]);
	for (age = 0; age <= shape->reach; age++)
		ask->slot[WEIR_SLOTS_MAX - age] = weir_ring_slot(shape, &copy.wheel, age);
}

/* The longest wait of all counts. */
static void state_wait(const struct weir_table *table, struct weir_source_state *state)
{
	unsigned int i;

	state->wait = 0;
	state->by = 0;
	for (i = 0; i <= table->more; i++)
		if (state->waits[i] > state->wait) {
			state->wait = state->waits[i];
			state->by = i;
		}
}

/* The state of a way's or floor's wheels. */
static void wheels_state(const struct weir_table *table, struct weir_wheel *first,
			 const struct question *ask, struct weir_source_state *state)
{
	unsigned int i;

	state->live = false;
	for (i = 0; i <= table->more; i++)
		wheel_state(table, i, weir_wheel_of(&table->count[i], first), ask, state);
	if (ask->slot && table->count[0].shape.kind == WEIR_COUNT_RING)
		ring_slots(&table->count[0], first, ask);
}

/* Of a locked way. */
static void way_state(const struct weir_table *table, struct weir_bucket *bucket, unsigned int i,
		      const struct question *ask, struct weir_source_state *state)
{
	struct weir_way *way = weir_bucket_way(table, bucket, i);
	u32 dropped = atomic_read(&way->dropped);

	state->dropped = dropped & WEIR_DROPPED_MAX;
	state->observed = dropped & WEIR_DROPPED_OBSERVED;
	state->unknown = way->scope & WEIR_STATE_NEWCOMER;
	wheels_state(table, weir_way_wheel(table, way), ask, state);
	state_wait(table, state);
	state->blocked = way->scope & WEIR_STATE_BLOCKED ?
			 weir_block_left(*weir_bucket_until(table, bucket, i), ask->tick) : 0;
	state->wait = max(state->wait, state->blocked);
}

/*
 * Has a locked bucket no way for a newcomer, because all of its sources stay? Then a total of
 * theirs is @state until the first of them goes: blocks alone never take all ways of sources that
 * are counted. So it is for as long as a floor refuses that ends.
 */
static void bucket_full(const struct weir_table *table, struct weir_bucket *bucket,
			const struct question *ask, struct weir_source_state *state)
{
	u8 ends = weir_floor_ends(table, bucket, ask->tick), stays = bucket->floor.stays;
	u64 least = bucket->used < table->ways ? 0 : WEIR_NEVER, wait;
	struct weir_way *way;
	unsigned int i;

	for (i = 0; i < table->ways && least; i++) {
		way = weir_bucket_way(table, bucket, i);
		/* It may be charged meanwhile, and then did not stay. */
		if (data_race(weir_counts_weight(table, weir_way_wheel(table, way),
						 ask->tick)) != WEIR_STAYS)
			least = min(least, weir_block_left(weir_way_until(table, bucket, way),
							   ask->tick));
	}
	for (i = 0; i <= table->more; i++) {
		wait = least;
		if (ends & BIT(i))
			/* Pairs with floors_end(). */
			wait = max(least, weir_block_left(READ_ONCE(table->floor_end), ask->tick));
		if (!weir_count_stays(&table->count[i]) || !wait)
			continue;
		state->count[i] = ask->budget[i];
		state->waits[i] = ends & ~stays & BIT(i) ? wait : max(state->waits[i], wait);
	}
}

/* The state of a source in a locked bucket, and a locked way, or NULL without one. */
static void source_state(const struct weir_table *table, struct weir_bucket *bucket,
			 struct weir_way *way, const struct question *ask,
			 struct weir_source_state *state)
{
	if (way) {
		way_state(table, bucket, weir_bucket_index(table, bucket, way), ask, state);
		return;
	}
	state->floor = true;
	state->unknown = table->states_off;
	weir_floor_ends(table, bucket, ask->tick);
	wheels_state(table, weir_bucket_floor(table, bucket), ask, state);
	bucket_full(table, bucket, ask, state);
	state_wait(table, state);
}

/*
 * @cost: packets and bytes for which @state shall say how long the source waits, or NULL: for what
 * was refused last, or 1. The current slot is the last of @slot; unused ones in front are 0.
 */
void weir_table_peek(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u64 tick,
		     const u64 *budget, const u64 *cost, struct weir_source_state *state,
		     u64 slot[WEIR_SLOTS_MAX + 1])
{
	struct question ask = question_of(table, tick, budget);
	struct weir_bucket *bucket = weir_bucket(table, hash);
	struct weir_way *way;

	memset(slot, 0, sizeof(*slot) * (WEIR_SLOTS_MAX + 1));
	*state = (struct weir_source_state) { .source = *source };
	ask.cost = cost;
	ask.slot = slot;
	local_bh_disable();
	weir_table_settle(table, hash);
	raw_spin_lock(&bucket->lock);
	way = weir_bucket_search(table, bucket, source, hash);
	if (way) {
		raw_spin_lock(&way->lock);
		source_state(table, bucket, way, &ask, state);
		raw_spin_unlock(&way->lock);
	} else {
		source_state(table, bucket, NULL, &ask, state);
	}
	raw_spin_unlock(&bucket->lock);
	local_bh_enable();
}

/* What a request is told of its source: the wait is until what @lookup would charge fits. */
void weir_source_ask(const struct weir_table *table, const struct weir_lookup *lookup,
		     struct weir_source_state *state)
{
	struct question ask = question_of(table, lookup->tick, lookup->budgets);

	ask.cost = lookup->amount;
	*state = (struct weir_source_state) { };
	source_state(table, weir_bucket(table, lookup->hash), lookup->way, &ask, state);
}

/*
 * Fill up to WEIR_WAYS_MAX states, of idle sources, too, and return how many. Sources
 * that are still in a predecessor are left out. @whether: of waits and refusals only whether there
 * is a wait is told, by 0 or 1, which is faster.
 */
unsigned int weir_table_walk(struct weir_table *table, u32 index, u64 tick,
			     const u64 *budget, const struct weir_own_budget *own, bool whether,
			     struct weir_source_state *state)
{
	struct weir_bucket *bucket = weir_bucket(table, index);
	u64 budgets[WEIR_BUDGETS_MAX];
	struct question ask = question_of(table, tick, budgets);
	struct weir_way *way;
	unsigned int i, n = 0;

	memcpy(budgets, budget, (table->more + 1) * sizeof(*budget));
	ask.whether = whether;
	local_bh_disable();
	for (i = 0; i < table->ways; i++) {
		way = weir_bucket_way(table, bucket, i);
		/* The same of the next bucket: much of a walk is waiting for memory. */
		prefetch((void *)way + table->stride);
		/* Of a source that comes or goes just now either is true. */
		if (!READ_ONCE(bucket->tag[i]))
			continue;
		raw_spin_lock(&way->lock);
		weir_way_source(table, way, &state[n].source);
		if (state[n].source.scope != WEIR_SCOPE_INVALID) {
			state[n].floor = false;
			budgets[0] = (own ? own->of(own, &state[n].source) : 0) ?: *budget;
			way_state(table, bucket, i, &ask, &state[n++]);
		}
		raw_spin_unlock(&way->lock);
	}
	local_bh_enable();
	return n;
}

/* Returns whether there was anything to forget, or a block to end. Who is known stays so. */
bool weir_table_forget(struct weir_table *table,
		       const struct weir_source *source, u32 hash, u64 tick)
{
	struct weir_bucket *bucket = weir_bucket(table, hash);
	struct weir_wheel *wheel;
	struct weir_state state;
	struct weir_way *way;
	bool known = false;
	unsigned int i;

	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	way = weir_bucket_search(table, bucket, source, hash);
	if (way) {
		wheel = weir_way_wheel(table, way);
		raw_spin_lock(&way->lock);
		weir_way_write_begin(way);
		known = weir_counts_init(table, wheel) || atomic_read(&way->dropped) ||
			way->scope & WEIR_STATE_BLOCKED;
		i = weir_bucket_index(table, bucket, way);
		state = weir_state_get(table, bucket, i);
		state.until = 0;
		state.since = weir_since(tick);
		weir_state_set(table, bucket, i, state);
		bucket->seen &= ~BIT_ULL(i);
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

/*
 * Turn the ways of a locked bucket whose sources are known or blocked, or of which a count
 * may be live when another is stale, lest they are freed.
 */
static void bucket_turn(const struct weir_table *table,
			struct weir_bucket *bucket, u64 tick)
{
	struct weir_way *way;
	unsigned int i;

	for (i = 0; i < table->ways; i++) {
		way = weir_bucket_way(table, bucket, i);
		if (!bucket->tag[i] || (!table->more && !(table->states_off ?
		    (way->scope & WEIR_STATE_FLAGS) != WEIR_STATE_NEWCOMER :
		    way->scope & WEIR_STATE_BLOCKED)))
			continue;
		raw_spin_lock(&way->lock);
		weir_way_write_begin(way);
		weir_counts_advance(table, weir_way_wheel(table, way), tick);
		write_seqcount_end(&way->seq);
		raw_spin_unlock(&way->lock);
	}
}

/* Forget the sources of a bucket, and its floor. The caller goes through all buckets. */
void weir_table_clear(struct weir_table *table, u32 index)
{
	struct weir_bucket *bucket = weir_bucket(table, index);

	local_bh_disable();
	raw_spin_lock(&bucket->lock);
	bucket_free(table, bucket, 0, S32_MIN);
	weir_counts_init(table, weir_bucket_floor(table, bucket));
	bucket->floor.ends = 0;
	bucket->floor.stays = 0;
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
		weir_state_expire(table, bucket, tick);
		bucket_turn(table, bucket, tick);
		bucket_free(table, bucket, slot, BIT(30));
		weir_counts_advance(table, weir_bucket_floor(table, bucket), tick);
		raw_spin_unlock(&bucket->lock);
		local_bh_enable();
		cond_resched();
	}
	/* Invalidate batches, whose 32-bit slots alias, too. */
	WRITE_ONCE(table->epoch, table->epoch + 1);
}
