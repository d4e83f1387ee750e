/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A budget of packets that all CPUs share, and that is no source's. See the top of pool.c.
 */
#ifndef WEIR_POOL_H
#define WEIR_POOL_H

#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "count/window.h"
#include "table/table.h"

/* Slots of a window at most. */
#define WEIR_POOL_SLOTS	WEIR_SLOTS_USUAL

/* A ring of four bytes, as large for any window: so one of another window can be joined. */
#define WEIR_POOL_COUNT	(1 + (WEIR_POOL_SLOTS + 3) / 2)

/* What a CPU has charged in advance. */
struct weir_pool_batch {
	u64 end;		/* tick at which the slot that was charged ends */
	u32 slot;
	u32 left;		/* not yet spent */
	u32 budget;		/* when it was charged */
	u32 epoch;		/* likewise, of the pool */
};

struct weir_pool {
	struct weir_pool_batch __percpu *batches;	/* CPU-local */
	raw_spinlock_t lock;	/* protects the rest */
	u32 epoch;		/* of the batches and receipts that hold */
	u64 full;		/* until this tick no packet has room; 0 if one may have */
	struct weir_meter meter;
	u64 count[WEIR_POOL_COUNT];
};

/* How a pool stands. */
struct weir_pool_state {
	u64 packets;		/* in the window */
	u64 wait;		/* ticks until what was refused last, or one, has room */
	/* Copies, turned to the tick or to a later slot, without what CPUs have not spent */
	struct weir_meter meter;
	u64 count[WEIR_POOL_COUNT];
};

/* Packets: BH off, with the CPU's batch to itself. */
u16 weir_pool_charge(struct weir_pool *pool, u64 tick, u32 packets, u32 budget,
		     struct weir_receipt *receipt);
void weir_pool_undo(struct weir_pool *pool, u32 packets, const struct weir_receipt *receipt);

/* Is it certain that the pool has no room? */
static inline bool weir_pool_full(const struct weir_pool *pool, u64 tick)
{
	/* Pairs with weir_pool_charge(); this CPU's batch may have what is missing. */
	return tick < READ_ONCE(pool->full) && !this_cpu_ptr(pool->batches)->left;
}

/* Process context. */
struct weir_pool *weir_pools_alloc(unsigned int count, u32 slots, u32 slot_ticks);
void weir_pools_free(struct weir_pool *pools, unsigned int count);
void weir_pool_set(struct weir_pool *pool, u32 slots, u32 slot_ticks);
void weir_pool_merge(struct weir_pool *pool, struct weir_count *from, bool add);
void weir_pool_peek(struct weir_pool *pool, u64 tick, u32 budget, struct weir_pool_state *state);

#endif /* WEIR_POOL_H */
