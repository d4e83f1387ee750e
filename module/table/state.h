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

/* Entries of a set; without newcomers all sources are like such. */
struct weir_known {
	u64 newcomers;
	u64 late;		/* became known while newcomers had no room */
	u64 others;
};

u32 weir_block_until(u64 tick);
struct weir_known weir_state_known(const struct weir_table *table, struct weir_set *set, u64 may);
struct weir_state weir_state_get(const struct weir_table *table, struct weir_set *set,
				 unsigned int i);
void weir_state_set(const struct weir_table *table, struct weir_set *set, unsigned int i,
		    struct weir_state state);
void weir_state_block(const struct weir_table *table, struct weir_set *set,
		      struct weir_entry *entry, u32 until, u64 tick);
void weir_state_expire(const struct weir_table *table, struct weir_set *set, u64 tick);
u16 weir_state_blocked(const struct weir_table *table, struct weir_set *set,
		       struct weir_lookup *lookup, u32 seq);
void weir_state_unblock(const struct weir_table *table, struct weir_set *set, u64 tick);
u16 weir_state_admitted(const struct weir_table *table, struct weir_set *set,
			struct weir_entry *entry, u64 tick, const struct weir_permit *permit);
void weir_state_doubt(const struct weir_table *table, struct weir_set *set,
		      struct weir_entry *entry);

/* When the block of an entry's source ends, 0 without one; written under both locks. */
static inline u32 *weir_set_until(const struct weir_table *table,
				  struct weir_set *set, unsigned int i)
{
	return (u32 *)((void *)set + table->until_off) + i;
}

static inline u32 weir_entry_until(const struct weir_table *table, struct weir_set *set,
				   const struct weir_entry *entry)
{
	/* Pairs with weir_state_set(). */
	return READ_ONCE(*weir_set_until(table, set, weir_set_index(table, set, entry)));
}

/* May another source of a set be blocked? */
static inline bool weir_set_blocks(const struct weir_table *table, const struct weir_set *set)
{
	/* A hint without the set's lock. */
	return hweight64(READ_ONCE(set->blocked)) < table->quota;
}

#endif /* WEIR_STATE_H */
