// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nobody searches for a pool, evicts, shows or forgets it, so it is no entry of a table: one
 * ring, and the batches that CPUs charge in advance, as those of table/shared.c. Another window
 * changes it in place, so that packets of the old configuration and of the new one charge the
 * same count.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/slab.h>

#include "clock.h"
#include "count/count.h"
#include "limit/pool.h"
#include "table/saved.h"

#define BATCH_PACKETS 64

static struct weir_wheel *pool_wheel(struct weir_pool *pool)
{
	return (struct weir_wheel *)pool->wheel;
}

/* Charge the packets, and a batch of what is then left of the budget. */
static u16 pool_take(struct weir_pool *pool, struct weir_pool_batch *batch, u64 tick,
		     u32 packets, u32 budget)
{
	u64 slot = weir_count_slot(&pool->count, tick), sum;
	const struct weir_shape *shape = &pool->count.shape;
	struct weir_wheel *wheel = pool_wheel(pool);
	bool marked;

	lockdep_assert_held(&pool->lock);
	weir_count_advance(shape, wheel, slot);
	if (batch->left && batch->epoch == pool->epoch)
		weir_count_undo(shape, wheel, batch->slot, batch->left);
	batch->left = 0;
	if (weir_count_full(shape, wheel, wheel->at, packets, budget)) {
		marked = weir_count_marked(shape, wheel, wheel->at);
		weir_count_mark(shape, wheel, wheel->at, packets);
		if (packets == 1)
			/* Pairs with weir_pool_full(). */
			WRITE_ONCE(pool->full, weir_count_begins(&pool->count, slot + 1));
		return marked ? WEIR_REFUSED : WEIR_REFUSED | WEIR_FIRST;
	}
	sum = weir_count_sum(shape, wheel, wheel->at) + packets;
	*batch = (struct weir_pool_batch) {
		/* If this clock is late, the wheel's slot ends later. */
		.end = weir_count_begins(&pool->count, slot + 1),
		.slot = wheel->at,
		.left = min_t(u32, div_u64(budget - sum, 4 * num_online_cpus()), BATCH_PACKETS),
		.budget = budget,
		.epoch = pool->epoch,
	};
	weir_count_add(shape, wheel, packets + batch->left);
	return WEIR_CHARGED;
}

/* Returns WEIR_CHARGED with a receipt, or WEIR_REFUSED, perhaps with WEIR_FIRST. */
u16 weir_pool_charge(struct weir_pool *pool, u64 tick, u32 packets, u32 budget,
		     struct weir_receipt *receipt)
{
	struct weir_pool_batch *batch = this_cpu_ptr(pool->batches);
	u16 result = WEIR_CHARGED;

	/* The budget may have become smaller. Pairs with weir_pool_set(). */
	if (likely(batch->left >= packets && tick < batch->end && batch->budget <= budget &&
		   batch->epoch == READ_ONCE(pool->epoch))) {
		batch->left -= packets;
	} else {
		raw_spin_lock(&pool->lock);
		result = pool_take(pool, batch, tick, packets, budget);
		raw_spin_unlock(&pool->lock);
	}
	receipt->at[0] = batch->slot;
	receipt->epoch = batch->epoch;
	return result;
}

/* Give back a charge that still counts. */
void weir_pool_undo(struct weir_pool *pool, u32 packets, const struct weir_receipt *receipt)
{
	struct weir_wheel *wheel;
	u16 age;

	raw_spin_lock(&pool->lock);
	wheel = pool_wheel(pool);
	age = wheel->at - receipt->at[0];
	if (receipt->epoch == (u16)pool->epoch) {
		weir_count_undo(&pool->count.shape, wheel, wheel->at - age, packets);
		/* Pairs with weir_pool_full(). */
		WRITE_ONCE(pool->full, 0);
	}
	raw_spin_unlock(&pool->lock);
}

/* Begin a window. */
static void pool_begin(struct weir_pool *pool, u32 slots, u32 slot_ticks)
{
	struct weir_count *count = &pool->count;

	count->shape = weir_ring_shape(WEIR_POOL_SLOTS, false, sizeof(u32));
	count->shape.reach = slots;
	count->shape.marks = slots;
	count->slot_ticks = slot_ticks;
	weir_count_divide(count, slot_ticks);
	weir_count_init(&count->shape, pool_wheel(pool), weir_count_slot(count, weir_clock()));
}

/*
 * Set a window, whose newest slot gets what the old one has, and end batches: they may be of a
 * budget that was smaller, and their slots alias if they are not ended within 2^31.
 */
void weir_pool_set(struct weir_pool *pool, u32 slots, u32 slot_ticks)
{
	struct weir_shape *shape = &pool->count.shape;
	struct weir_wheel *wheel;
	u64 sum, wanted = 0;

	local_bh_disable();
	raw_spin_lock(&pool->lock);
	wheel = pool_wheel(pool);
	/* Pairs with weir_pool_charge() and weir_pool_full(). */
	WRITE_ONCE(pool->epoch, pool->epoch + 1);
	WRITE_ONCE(pool->full, 0);
	/* A late clock must not count in slots before what has been counted. */
	weir_count_advance(shape, wheel, weir_count_slot(&pool->count, weir_clock()));
	if (shape->reach != slots || pool->count.slot_ticks != slot_ticks) {
		sum = weir_count_sum(shape, wheel, wheel->at);
		if (weir_count_marked(shape, wheel, wheel->at))
			wanted = weir_count_wanted(shape, wheel, wheel->at);
		pool_begin(pool, slots, slot_ticks);
		weir_count_add(shape, wheel, sum);
		if (wanted)
			weir_count_mark(shape, wheel, wheel->at, wanted);
	}
	raw_spin_unlock(&pool->lock);
	local_bh_enable();
}

/* Merge a wheel of as many entries, and with slots as long that begin at the same ticks. */
void weir_pool_merge(struct weir_pool *pool, struct weir_wheel *from, bool add)
{
	local_bh_disable();
	raw_spin_lock(&pool->lock);
	weir_count_merge(&pool->count, pool_wheel(pool), from, add);
	raw_spin_unlock(&pool->lock);
	local_bh_enable();
}

/* Exact at rest. */
void weir_pool_peek(struct weir_pool *pool, u64 tick, u32 budget, struct weir_pool_state *state)
{
	struct weir_wheel *wheel = (struct weir_wheel *)state->wheel;
	const struct weir_count *count = &state->count;
	struct weir_pool_batch batch;
	u32 slots, epoch;
	u64 slot, cost;
	int cpu;

	local_bh_disable();
	raw_spin_lock(&pool->lock);
	slot = weir_count_slot(&pool->count, tick);
	weir_count_advance(&pool->count.shape, pool_wheel(pool), slot);
	state->count = pool->count;
	memcpy(wheel, pool->wheel, sizeof(state->wheel));
	epoch = pool->epoch;
	raw_spin_unlock(&pool->lock);
	local_bh_enable();
	cost = min_t(u64, weir_count_wanted(&count->shape, wheel, wheel->at), budget);
	slots = weir_count_wait(&count->shape, wheel, wheel->at, cost, budget);
	slot += (s32)(wheel->at - (u32)slot) + slots;
	state->wait = slots ? weir_count_begins(count, slot) - tick : 0;
	for_each_possible_cpu(cpu) {
		/* Its CPU may change it meanwhile. */
		batch = data_race(*per_cpu_ptr(pool->batches, cpu));
		if (batch.epoch == epoch)
			weir_count_undo(&count->shape, wheel, batch.slot, batch.left);
	}
	state->packets = weir_count_sum(&count->shape, wheel, wheel->at);
}

/* May sleep. */
struct weir_pool *weir_pools_alloc(unsigned int count, u32 slots, u32 slot_ticks)
{
	struct weir_pool *pools = kcalloc(count, sizeof(*pools), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	for (i = 0; pools && i < count; i++) {
		raw_spin_lock_init(&pools[i].lock);
		pool_begin(&pools[i], slots, slot_ticks);
		pools[i].batches = alloc_percpu_gfp(struct weir_pool_batch, GFP_KERNEL_ACCOUNT);
		if (!pools[i].batches) {
			weir_pools_free(pools, count);
			return NULL;
		}
	}
	return pools;
}

void weir_pools_free(struct weir_pool *pools, unsigned int count)
{
	unsigned int i;

	for (i = 0; pools && i < count; i++)
		free_percpu(pools[i].batches);
	kfree(pools);
}
