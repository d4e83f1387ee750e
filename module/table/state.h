/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a table knows of a source beside its counts: is it a newcomer, is it blocked. See the top
 * of state.c.
 */
#ifndef WEIR_STATE_H
#define WEIR_STATE_H

#include "table/layout.h"

/* An end is in WEIR_SINCE_TICKS: see weir_block_until(). */
#define WEIR_FOR_EVER U32_MAX

static inline u16 weir_since(u64 tick)
{
	return div_u64(tick, WEIR_SINCE_TICKS);
}

/* Ticks from @tick on for which a block lasts, or WEIR_NEVER; 0 if it has ended. */
static inline u64 weir_block_left(u32 until, u64 tick)
{
	u64 end = (u64)until * WEIR_SINCE_TICKS;

	return until == WEIR_FOR_EVER ? WEIR_NEVER : end > tick ? end - tick : 0;
}

u32 weir_block_until(u64 tick);
struct weir_state weir_state_get(const struct weir_table *table, struct weir_bucket *bucket,
				 unsigned int i);
void weir_state_set(const struct weir_table *table, struct weir_bucket *bucket, unsigned int i,
		    struct weir_state state);
void weir_state_block(const struct weir_table *table, struct weir_bucket *bucket,
		      struct weir_way *way, u32 until, u64 tick);
void weir_state_expire(const struct weir_table *table, struct weir_bucket *bucket, u64 tick);
u16 weir_state_blocked(const struct weir_table *table, struct weir_bucket *bucket,
		       struct weir_lookup *lookup, u32 seq);
void weir_state_unblock(const struct weir_table *table, struct weir_bucket *bucket, u64 tick);
u16 weir_state_admitted(const struct weir_table *table, struct weir_bucket *bucket,
			struct weir_way *way, u64 tick, const struct weir_permit *permit);
void weir_state_doubt(const struct weir_table *table, struct weir_bucket *bucket,
		      struct weir_way *way);

/* When the block of a way's source ends, 0 without one; written under both locks. */
static inline u32 *weir_bucket_until(const struct weir_table *table,
				     struct weir_bucket *bucket, unsigned int i)
{
	return (u32 *)((void *)bucket + table->until_off) + i;
}

static inline u32 weir_way_until(const struct weir_table *table, struct weir_bucket *bucket,
				 const struct weir_way *way)
{
	/* Pairs with weir_state_set(). */
	return READ_ONCE(*weir_bucket_until(table, bucket, weir_bucket_index(table, bucket, way)));
}

/* May another source of a bucket be blocked? */
static inline bool weir_bucket_blocks(const struct weir_table *table,
				      const struct weir_bucket *bucket)
{
	/* A hint without the bucket's lock. */
	return hweight64(READ_ONCE(bucket->blocked)) < table->quota;
}

#endif /* WEIR_STATE_H */
