/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of a limit: source -> wheel. See the top of table.c.
 *
 * Ticks are the kernel's coarse clock, ever growing, below 2^63. A source
 * given to a table is masked with its prefix; its hash is weir_source_hash()
 * with the same key throughout the life of the table and its successors.
 */
#ifndef WEIR_TABLE_H
#define WEIR_TABLE_H

#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include "source.h"

#define WEIR_SLOTS_MAX 64

/* Most sources that a bucket holds, and weir_table_walk() tells of. */
#define WEIR_WAYS_MAX 48

/* What is constant in a table. */
struct weir_table_spec {
	u64 budget;		/* the largest budget it must hold */
	u32 slot_ticks;		/* length of a slot in clock ticks, at least 1 */
	u32 sources;		/* live sources that find a way but for one in a thousand */
	u8 slots;		/* slots of the window, 1..WEIR_SLOTS_MAX */
	bool lenient;		/* sum @slots counts and not one more */
	bool bytes;		/* count bytes and not packets */
	struct weir_prefix prefix;	/* what makes a source */
};

/* What became of a packet at a limit; 0 before anything did. */
#define WEIR_CHARGED	BIT(0)	/* counted */
#define WEIR_REFUSED	BIT(1)	/* no room; nothing is counted */
#define WEIR_FLOORED	BIT(2)	/* ... in the floor: the source has no way */
#define WEIR_TOO_LARGE	BIT(3)	/* ... in the whole budget */
#define WEIR_FIRST	BIT(4)	/* ... for the first time in a window */
#define WEIR_EVICTED	BIT(5)	/* a live source lost its way to this one */
#define WEIR_AGAIN	BIT(6)	/* a new configuration is out: start again */

struct weir_table;
struct weir_way;

/* What it takes to give a charge back: the low bits of what is compared. */
struct weir_receipt {
	u16 at;			/* slot that counted it */
	u16 epoch;		/* of the table */
};

/* A packet of a source at a table. */
struct weir_lookup {
	const struct weir_source *source;	/* masked */
	u64 tick;		/* now */
	u64 cost;		/* of the packet, in the table's unit */
	u64 budget;		/* of the limit, no more than the counts hold */
	u32 hash;		/* of @source */
	u32 slot;		/* result: of @tick */
	u32 seq;		/* result: version of @way when it refused */
	struct weir_receipt receipt;	/* result: of a charge */
	struct weir_way *way;	/* result: the way of the source, a hint, or NULL */
};

/* How a source stands in a table. */
struct weir_source_state {
	struct weir_source source;	/* masked */
	u64 count;		/* packets or bytes in the window */
	u64 dropped;		/* packets refused since it took its way */
	u64 wait;		/* ticks until what was refused last, or 1, fits; 0 if now */
	bool live;		/* something is counted in the window */
	bool floor;		/* it has no way, and the count is its bucket's floor */
	bool observed;		/* what @dropped counts was observed and not dropped */
};

/**
 * weir_budget_part - a count of one unit as one of another
 * @count: in the old unit; any, for it may exceed a budget that has shrunk
 * @budget: in the new unit, above 0
 * @of: budget in the old unit, above 0
 *
 * Return: the same part of @budget as @count is of @of, rounded up, or U64_MAX.
 */
static inline u64 weir_budget_part(u64 count, u64 budget, u64 of)
{
	u64 rest, part = 0, whole = div64_u64_rem(count, of, &rest);

	if (rest)
		part = mul_u64_u64_div_u64(rest, budget, of) + 1;
	return whole > (U64_MAX - part) / budget ? U64_MAX :
	       whole * budget + part;
}

/* table.c */
u64 weir_table_need(const struct weir_table_spec *spec);
struct weir_table *weir_table_alloc(const struct weir_table_spec *spec,
				    u64 tick);
bool weir_table_tryget(struct weir_table *table);
void weir_table_put(struct weir_table *table);
const struct weir_table_spec *weir_table_spec(const struct weir_table *table);
bool weir_table_holds(const struct weir_table *table, u64 budget);
u64 weir_table_bytes(const struct weir_table *table);
u32 weir_table_ways(const struct weir_table *table);
u32 weir_table_buckets(const struct weir_table *table);

/* charge.c: the packet's way. BH off, RCU read lock. */
u8 weir_table_refuse(struct weir_table *table, struct weir_lookup *lookup);
u8 weir_table_charge(struct weir_table *table, struct weir_lookup *lookup);
bool weir_table_uncharge(struct weir_table *table,
			 const struct weir_lookup *lookup);
void weir_table_dropped(struct weir_table *table,
			const struct weir_lookup *lookup, u32 packets,
			bool observed);

/* move.c */
void weir_table_succeed(struct weir_table *next, struct weir_table *old,
			u64 budget, u64 old_budget, const hsiphash_key_t *key,
			u64 (*clock)(void));
u64 weir_table_drain(struct weir_table *next);

/* peek.c */
void weir_table_peek(struct weir_table *table, const struct weir_source *source,
		     u32 hash, u64 tick, u64 budget,
		     struct weir_source_state *state,
		     u64 slot[WEIR_SLOTS_MAX + 1]);
unsigned int weir_table_walk(struct weir_table *table, u32 bucket, u64 tick,
			     u64 budget, struct weir_source_state *state);
bool weir_table_forget(struct weir_table *table,
		       const struct weir_source *source, u32 hash);
void weir_table_clear(struct weir_table *table, u32 bucket);
void weir_table_age(struct weir_table *table, u64 tick);

#endif /* WEIR_TABLE_H */
