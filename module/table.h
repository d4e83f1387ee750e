/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of a limit: source -> wheel. See the top of table.c.
 */
#ifndef WEIR_TABLE_H
#define WEIR_TABLE_H

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include "source.h"

#define WEIR_SLOTS_MAX 64

/**
 * struct weir_table_spec - what is constant in a table
 * @budget: the largest budget it must hold
 * @slot_ticks: length of a slot in clock ticks, at least 1
 * @sources: live sources that find a way but for one in a thousand
 * @slots: slots of the window, 1..WEIR_SLOTS_MAX
 * @lenient: sum @slots counts and not one more; newcomers start empty
 * @bytes: count bytes and not packets
 * @prefix: what makes a source
 */
struct weir_table_spec {
	u64 budget;
	u32 slot_ticks;
	u32 sources;
	u8 slots;
	bool lenient;
	bool bytes;
	struct weir_prefix prefix;
};

/* What a packet costs in either unit. */
struct weir_cost {
	u32 packets;
	u64 bytes;
};

/* What became of a charge; flags beside WEIR_REFUSED and WEIR_AGAIN. */
#define WEIR_REFUSED	BIT(0)	/* no room; nothing is counted */
#define WEIR_FLOORED	BIT(1)	/* ... in the floor: the source has no way */
#define WEIR_FIRST	BIT(2)	/* ... for the first time in a window */
#define WEIR_EVICTED	BIT(3)	/* a live source lost its way to this one */
#define WEIR_AGAIN	BIT(4)	/* a new configuration is out: read it */

/* What a recall can say, beside WEIR_REFUSED. */
#define WEIR_KNOWN	BIT(5)	/* the source's place in the table */
#define WEIR_ROOMY	BIT(6)	/* ... and that it had room */

/**
 * struct weir_source_state - how a source stands in a table
 * @source: masked
 * @count: packets or bytes in the window
 * @dropped: packets refused since it took its way
 * @wait: ticks until one more is let through, 0 if now
 * @live: something is counted in the window
 * @floor: it has no way, and the count is its bucket's floor
 */
struct weir_source_state {
	struct weir_source source;
	u64 count;
	u64 dropped;
	u64 wait;
	bool live;
	bool floor;
};

struct weir_table;
struct weir_way;

struct weir_recent;

/**
 * struct weir_visit - a packet of a source, at a table
 * @tick: now; after a charge the time that it was counted at
 * @packets: that it has, and a refusal adds to the drops of the source
 * @hash: of the source, once it is known
 * @recalled: @recent is the source's
 * @recent: where this CPU remembers the source, or NULL if it shall not
 * @table: that was looked at, or NULL where nothing is known of the next three
 * @number: that of the sequence of the source's bucket
 * @way: of the source when @number was @seq, or NULL
 * @seq: even
 * @sum: in the wheel, or in the floor of a source without a way
 */
struct weir_visit {
	u64 tick;
	u32 packets;
	u32 hash;
	bool recalled;
	struct weir_recent *recent;
	const struct weir_table *table;
	const unsigned int *number;
	struct weir_way *way;
	unsigned int seq;
	u64 sum;
};

/*
 * Ticks are the kernel's coarse clock, ever growing, below 2^63. A source
 * given to a table is masked with its prefix; its hash is weir_source_hash()
 * with the same key throughout the life of the table and its successors.
 */

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

u64 weir_table_need(const struct weir_table_spec *spec);
struct weir_table *weir_table_alloc(const struct weir_table_spec *spec);
bool weir_table_tryget(struct weir_table *table);
void weir_table_put(struct weir_table *table);

const struct weir_table_spec *weir_table_spec(const struct weir_table *table);
bool weir_table_holds(const struct weir_table *table, u64 budget);
u64 weir_table_bytes(const struct weir_table *table);
u32 weir_table_ways(const struct weir_table *table);
u32 weir_table_buckets(const struct weir_table *table);

unsigned int weir_table_refuse(struct weir_table *table,
			       const struct weir_source *source, u64 cost,
			       u64 budget, struct weir_visit *visit);
unsigned int weir_table_charge(struct weir_table *table,
			       const struct weir_source *source,
			       struct weir_cost cost, u64 budget,
			       struct weir_visit *visit);
void weir_table_uncharge(struct weir_table *table,
			 const struct weir_source *source, u32 hash,
			 u64 tick, struct weir_cost cost);
void weir_table_unrefuse(struct weir_table *table,
			 const struct weir_source *source, u32 hash,
			 u32 packets);

void weir_table_peek(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u64 tick,
		     u64 budget, struct weir_source_state *state,
		     u64 slot[WEIR_SLOTS_MAX + 1]);
bool weir_table_forget(struct weir_table *table,
		       const struct weir_source *source, u32 hash);
void weir_table_clear(struct weir_table *table, u32 bucket);
unsigned int weir_table_walk(struct weir_table *table, u32 bucket, u64 tick,
			     u64 budget, struct weir_source_state *state);

/* Most states that weir_table_walk() fills. */
#define WEIR_WAYS_MAX 48

/* Successors; see the top of move.c. */
u64 weir_table_move(struct weir_table *old, struct weir_table *next,
		    u64 old_budget, u64 next_budget,
		    const hsiphash_key_t *key, u64 (*clock)(void));
void weir_table_live(struct weir_table *next);
void weir_table_settle(struct weir_table *old, struct weir_table *next);

#endif /* WEIR_TABLE_H */
