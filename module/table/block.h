/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocked sources. See the top of block.c.
 */
#ifndef WEIR_BLOCK_H
#define WEIR_BLOCK_H

#include "table/layout.h"

/* An end is in WEIR_SINCE_TICKS: see weir_block_until(). */
#define WEIR_FOR_EVER U32_MAX

/* Ticks from @tick on for which a block lasts, or WEIR_NEVER; 0 if it has ended. */
static inline u64 weir_block_left(u32 until, u64 tick)
{
	u64 end = (u64)until * WEIR_SINCE_TICKS;

	return until == WEIR_FOR_EVER ? WEIR_NEVER : end > tick ? end - tick : 0;
}

u32 weir_block_until(u64 tick);
void weir_way_block(const struct weir_table *table, struct weir_bucket *bucket,
		    unsigned int i, u32 until);
void weir_way_reblock(const struct weir_table *table, struct weir_bucket *bucket,
		      struct weir_way *way, u32 until, u64 tick);
void weir_bucket_expire(const struct weir_table *table, struct weir_bucket *bucket, u64 tick);
u16 weir_way_blocked(const struct weir_table *table, struct weir_bucket *bucket,
		     struct weir_lookup *lookup, u32 seq, bool wanted);

/* When the block of a way's source ends, 0 without one; written under both locks. */
static inline u32 *weir_bucket_until(const struct weir_table *table,
				     struct weir_bucket *bucket, unsigned int i)
{
	return (u32 *)((void *)bucket + table->until_off) + i;
}

static inline u32 weir_way_until(const struct weir_table *table, struct weir_bucket *bucket,
				 const struct weir_way *way)
{
	/* Pairs with weir_way_block(). */
	return READ_ONCE(*weir_bucket_until(table, bucket, weir_bucket_index(table, bucket, way)));
}

/* May another source of a bucket be blocked? Newcomers are left half of the ways. */
static inline bool weir_bucket_blocks(const struct weir_table *table,
				      const struct weir_bucket *bucket)
{
	/* A hint without the bucket's lock. */
	return hweight64(READ_ONCE(bucket->blocked)) < table->ways / 2;
}

#endif /* WEIR_BLOCK_H */
