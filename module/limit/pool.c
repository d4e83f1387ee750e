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

static struct weir_count *pool_count(struct weir_pool *pool)
{
	return (struct weir_count *)pool->count;
}

/* Charge the packets, and a batch of what is then left of the budget. */
static u16 pool_take(struct weir_pool *pool, struct weir_pool_batch *batch, u64 tick,
		     u32 packets, u32 budget)
{
	u64 slot = weir_meter_slot(&pool->meter, tick), sum;
	const struct weir_shape *shape = &pool->meter.shape;
	struct weir_count *count = pool_count(pool);
	bool marked;

	lockdep_assert_held(&pool->lock);
	weir_count_advance(shape, count, slot);
	if (batch->left && batch->epoch == pool->epoch)
		weir_count_undo(shape, count, batch->slot, batch->left);
	batch->left = 0;
	if (weir_count_full(shape, count, count->at, packets, budget)) {
		marked = weir_count_marked(shape, count, count->at);
		weir_count_mark(shape, count, count->at, packets);
		if (packets == 1)
			/* Pairs with weir_pool_full(). */
			WRITE_ONCE(pool->full, weir_meter_begins(&pool->meter, slot + 1));
		return marked ? WEIR_REFUSED : WEIR_REFUSED | WEIR_FIRST;
	}
	sum = weir_count_sum(shape, count, count->at) + packets;
	*batch = (struct weir_pool_batch) {
		/* If this clock is late, the count's slot ends later. */
		.end = weir_meter_begins(&pool->meter, slot + 1),
		.slot = count->at,
		.left = min_t(u32, div_u64(budget - sum, 4 * num_online_cpus()), BATCH_PACKETS),
		.budget = budget,
		.epoch = pool->epoch,
	};
	weir_count_add(shape, count, packets + batch->left);
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
	struct weir_count *count;
	u16 age;

	raw_spin_lock(&pool->lock);
	count = pool_count(pool);
	age = count->at - receipt->at[0];
	if (receipt->epoch == (u16)pool->epoch) {
		weir_count_undo(&pool->meter.shape, count, count->at - age, packets);
		/* Pairs with weir_pool_full(). */
		WRITE_ONCE(pool->full, 0);
	}
	raw_spin_unlock(&pool->lock);
}

/* Begin a window. */
static void pool_begin(struct weir_pool *pool, u32 slots, u32 slot_ticks)
{
	struct weir_meter *meter = &pool->meter;

	meter->shape = weir_ring_shape(WEIR_POOL_SLOTS, false, sizeof(u32));
	meter->shape.reach = slots;
	meter->shape.marks = slots;
	meter->slot_ticks = slot_ticks;
	weir_meter_divide(meter, slot_ticks);
	weir_count_init(&meter->shape, pool_count(pool), weir_meter_slot(meter, weir_clock()));
}

/*
 * Set a window, whose newest slot gets what the old one has, and end batches: they may be of a
 * budget that was smaller, and their slots alias if they are not ended within 2^31.
 */
void weir_pool_set(struct weir_pool *pool, u32 slots, u32 slot_ticks)
{
	struct weir_shape *shape = &pool->meter.shape;
	struct weir_count *count;
	u64 sum, wanted = 0;

	local_bh_disable();
	raw_spin_lock(&pool->lock);
	count = pool_count(pool);
	/* Pairs with weir_pool_charge() and weir_pool_full(). */
	WRITE_ONCE(pool->epoch, pool->epoch + 1);
	WRITE_ONCE(pool->full, 0);
	/* A late clock must not count in slots before what has been counted. */
	weir_count_advance(shape, count, weir_meter_slot(&pool->meter, weir_clock()));
	if (shape->reach != slots || pool->meter.slot_ticks != slot_ticks) {
		sum = weir_count_sum(shape, count, count->at);
		if (weir_count_marked(shape, count, count->at))
			wanted = weir_count_wanted(shape, count, count->at);
		pool_begin(pool, slots, slot_ticks);
		weir_count_add(shape, count, sum);
		if (wanted)
			weir_count_mark(shape, count, count->at, wanted);
	}
	raw_spin_unlock(&pool->lock);
	local_bh_enable();
}

/* Merge a count of as many cells, and with slots as long that begin at the same ticks. */
void weir_pool_merge(struct weir_pool *pool, struct weir_count *from, bool add)
{
	local_bh_disable();
	raw_spin_lock(&pool->lock);
	weir_count_merge(&pool->meter, pool_count(pool), from, add);
	raw_spin_unlock(&pool->lock);
	local_bh_enable();
}

/* Exact at rest. */
void weir_pool_peek(struct weir_pool *pool, u64 tick, u32 budget, struct weir_pool_state *state)
{
	struct weir_count *count = (struct weir_count *)state->count;
	const struct weir_meter *meter = &state->meter;
	struct weir_pool_batch batch;
	u32 slots, epoch;
	u64 slot, cost;
	int cpu;

	local_bh_disable();
	raw_spin_lock(&pool->lock);
	slot = weir_meter_slot(&pool->meter, tick);
	weir_count_advance(&pool->meter.shape, pool_count(pool), slot);
	state->meter = pool->meter;
	memcpy(count, pool->count, sizeof(state->count));
	epoch = pool->epoch;
	raw_spin_unlock(&pool->lock);
	local_bh_enable();
	cost = min_t(u64, weir_count_wanted(&meter->shape, count, count->at), budget);
	slots = weir_count_wait(&meter->shape, count, count->at, cost, budget);
	slot += (s32)(count->at - (u32)slot) + slots;
	state->wait = slots ? weir_meter_begins(meter, slot) - tick : 0;
	for_each_possible_cpu(cpu) {
		/* Its CPU may change it meanwhile. */
		batch = data_race(*per_cpu_ptr(pool->batches, cpu));
		if (batch.epoch == epoch)
			weir_count_undo(&meter->shape, count, batch.slot, batch.left);
	}
	state->packets = weir_count_sum(&meter->shape, count, count->at);
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
