/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of a limit: source -> count. See the top of alloc.c.
 *
 * Ticks are the kernel's coarse clock: monotonic, below 2^63; @tick is now. Sources are
 * masked with the table's prefix. Hashes are weir_source_hash() with one key for the
 * lifetime of the table and its successors. Budgets are the limit's.
 */
#ifndef WEIR_TABLE_H
#define WEIR_TABLE_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include "count/calendar.h"
#include "packet/source.h"

struct weir_prefixes;

#define WEIR_SLOTS_MAX 64

/* Counts of a source, which are charged together. */
#define WEIR_BUDGETS_MAX 4

/* A wait that no time ends. */
#define WEIR_NEVER U64_MAX

/* Most sources in a set, and so in an answer of weir_table_walk(). */
#define WEIR_ENTRIES_MAX 48

/* What a meter is to count, and how. */
struct weir_meter_spec {
	u64 budget;		/* the largest budget it must hold */
	u64 rate;		/* budget by which a leaky bucket drains in a window; 0: none */
	u32 slot_ticks;		/* length of a slot in clock ticks; 0 if it never ends */
	u32 slots;		/* of the window, 1..WEIR_SLOTS_MAX; if it leaks, WEIR_PARTS_MAX */
	u32 base;		/* where slots begin; see weir_meter_slot() */
	u32 rounded;		/* ticks by which the slots are longer than the window asked for */
	u32 calendar_ms;	/* WEIR_*_MS if slots are a calendar's periods, else 0 */
	bool log;		/* of the slots in which packets came */
	bool lenient;		/* sum @slots slots instead of @slots + 1 */
	bool bytes;		/* count bytes, otherwise packets */
};

/* The constants of a table. */
struct weir_table_spec {
	struct weir_meter_spec meter[WEIR_BUDGETS_MAX];	/* up to the first without a budget */
	u32 sources;		/* live sources of which fewer than 1 in 1000 find no entry */
	bool newcomers;		/* distinguish known sources from newcomers */
	bool strangers;		/* who comes from a table that does not is one */
	bool blocks;		/* all of a set's entries may be blocked, not half of them */
	struct weir_prefix prefix;	/* that sources are masked with */
};

/* Result of a packet at a limit; 0 if there is none yet. */
#define WEIR_CHARGED	BIT(0)	/* admitted and counted */
#define WEIR_REFUSED	BIT(1)	/* no room; not counted */
#define WEIR_FLOORED	BIT(2)	/* ... under the floor: the source has no entry */
#define WEIR_TOO_LARGE	BIT(3)	/* ... in the whole budget */
#define WEIR_FIRST	BIT(4)	/* ... for the first time in a window */
#define WEIR_EVICTED	BIT(5)	/* charged, and a live source was evicted */
#define WEIR_AGAIN	BIT(6)	/* the configuration was replaced: start again */
#define WEIR_NEWCOMER	BIT(7)	/* of a source that is not known; alone: it needs a permit */
#define WEIR_SECOND	BIT(8)	/* ... which it got for its second try */
#define WEIR_MET	BIT(9)	/* charged, and its source is known from now on */
#define WEIR_BLOCKED	BIT(10)	/* refused because the source is blocked */
/* BIT(11) is WEIR_EARLY, limit/result.h */
#define WEIR_UNCHARGED	BIT(12)	/* there is no budget: nothing is to be charged */
#define WEIR_BY_BUDGET	BIT(13)	/* refused by one of several budgets, whose index follows */
#define WEIR_BUDGET_SHIFT 14
#define WEIR_BUDGET_MASK (WEIR_BY_BUDGET | (WEIR_BUDGETS_MAX - 1) << WEIR_BUDGET_SHIFT)

/* Refusals that no entry counts. */
#define WEIR_NO_ENTRY	(WEIR_FLOORED | WEIR_TOO_LARGE | WEIR_NEWCOMER | WEIR_UNCHARGED)

struct weir_table;
struct weir_entry;

/* Proof of a charge, to give it back; low bits of what is compared. */
struct weir_receipt {
	u16 at[WEIR_BUDGETS_MAX];	/* slot that was charged, of each meter */
	u16 epoch;		/* of the table */
};

/* Leave to charge a source that the table does not know yet. */
struct weir_permit {
	u64 known_ticks;	/* since it took its entry, until it is known */
	bool late;		/* the newcomers' budget is used up */
};

/* A packet of a source at a table. */
struct weir_lookup {
	const struct weir_source *source;	/* masked */
	u64 tick;		/* now */
	u64 amount[2];		/* packets and bytes; 0 is neither charged nor refused */
	const u64 *budgets;	/* of each meter, at most weir_table_holds(); @own is not copied */
	u32 slot[WEIR_BUDGETS_MAX];	/* result: of @tick, of each meter */
	u32 hash;		/* of @source */
	u32 version;		/* result: of the set, before a search that found no entry */
	u32 seq;		/* result: seqcount of @entry when it refused */
	struct weir_receipt receipt;	/* result: of a charge */
	struct weir_receipt newcomer;	/* likewise, of the newcomers' budget */
	struct weir_entry *entry;	/* result: the source's entry, as a hint, or NULL */
	u64 own[WEIR_BUDGETS_MAX];	/* where the first one is another: by a list, or doubled */
};

/* A charge by request, and what became of it. */
struct weir_take {
	u64 cost;		/* at most each budget in its unit; result: what was charged */
	u64 due;		/* to reserve: above which sum it is due later, the budget; or 0 */
	u64 wait;		/* result: ticks until what was charged is due, or it would fit */
	bool drain;		/* take less if there is less */
	struct weir_permit permit;
};

/* The state of a source in a table. */
struct weir_source_state {
	struct weir_source source;	/* masked */
	u64 count[WEIR_BUDGETS_MAX];	/* packets or bytes in the window, of each budget */
	u64 waits[WEIR_BUDGETS_MAX];	/* as @wait, which is the longest, that of @by */
	u64 dropped;		/* packets refused since it took its entry */
	u64 wait;		/* ticks until what was refused last, or 1, fits, or WEIR_NEVER */
	u64 blocked;		/* ticks until its block ends, or WEIR_NEVER; 0 without one */
	u8 by;			/* index of a budget */
	bool live;		/* a count is not 0 */
	bool floor;		/* it has no entry; the count is its set's floor */
	bool observed;		/* @dropped was only observed */
	bool unknown;		/* the table distinguishes newcomers, and it is one */
};

/*
 * Convert a count, which may exceed a budget that has shrunk, between units: rounded up,
 * at most U64_MAX. Both budgets are above 0.
 */
static inline u64 weir_budget_part(u64 count, u64 budget, u64 of)
{
	u64 rest, part = 0, whole = div64_u64_rem(count, of, &rest);

	if (rest)
		part = mul_u64_u64_div_u64(rest, budget, of) + 1;
	return whole > div64_u64(U64_MAX - part, budget) ? U64_MAX :
	       whole * budget + part;
}

/* At most U64_MAX, 584 years. */
static inline u64 weir_ticks_ns(u64 ticks)
{
	return ticks > U64_MAX / NSEC_PER_SEC * HZ ? U64_MAX :
	       mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, HZ);
}

/* alloc.c */
void weir_table_plan(struct weir_table *table, const struct weir_table_spec *spec);
u64 weir_table_need(const struct weir_table_spec *spec);
struct weir_table *weir_table_alloc(const struct weir_table_spec *spec, u64 tick);
void weir_table_init(const struct weir_table *table, u64 tick);
void weir_table_account(struct weir_table *table, atomic64_t *held);
void weir_table_free(struct weir_table *table);
void weir_table_anchor(struct weir_table *table, const struct weir_zone *zone);
time64_t weir_table_renews(const struct weir_table *table, unsigned int i);
bool weir_memory_holds(u64 bytes);
bool weir_table_holds(const struct weir_table *table, unsigned int i, u64 budget);
u64 weir_table_bytes(const struct weir_table *table);
u32 weir_table_entries(const struct weir_table *table);
u32 weir_table_blocks_most(const struct weir_table *table);
u32 weir_table_source_bytes(const struct weir_table *table);
u32 weir_table_sets(const struct weir_table *table);

/* lookup.c: packets. BH off, RCU read lock. */
u16 weir_table_refuse(struct weir_table *table, struct weir_lookup *lookup);
u16 weir_table_charge(struct weir_table *table, struct weir_lookup *lookup);
bool weir_table_moved(const struct weir_table *table, const struct weir_lookup *lookup);
bool weir_table_unknown(const struct weir_table *table, const struct weir_lookup *lookup);
u16 weir_table_admit(struct weir_table *table, struct weir_lookup *lookup,
		     const struct weir_permit *permit);
bool weir_table_uncharge(struct weir_table *table, const struct weir_lookup *lookup);
void weir_table_dropped(struct weir_table *table, const struct weir_lookup *lookup, u32 packets,
			bool observed);
void weir_table_unmeet(struct weir_table *table, const struct weir_lookup *lookup);
u64 weir_budgets_until(const struct weir_table *table, const struct weir_lookup *lookup,
		       unsigned int i);

/* How to block a source that is blocked already, or has no entry. */
enum weir_block {
	WEIR_BLOCK_ADD,		/* -EEXIST; take an entry */
	WEIR_BLOCK_REPLACE,	/* until the new end; take an entry */
	WEIR_BLOCK_EXTEND,	/* until the later end, -EEXIST if it is that; take an entry */
	WEIR_BLOCK_PUNISH,	/* -EEXIST; -ENOENT */
	WEIR_BLOCK_PROLONG,	/* until the later end; -ENOENT */
};

/* impose.c: with BH off, in an RCU read-side section, but for the last. */
bool weir_table_blocks(const struct weir_table *table, const struct weir_lookup *lookup);
int weir_table_block(struct weir_table *table, struct weir_lookup *lookup, u64 end,
		     enum weir_block how);
bool weir_table_release(struct weir_table *table, const struct weir_source *source,
			u32 hash, u64 tick);

/* resize.c */
void weir_table_succeed(struct weir_table *next, struct weir_table *old,
			const u64 *room, const u64 *old_room, const hsiphash_key_t *key);
u64 weir_table_drain(struct weir_table *next);
u64 weir_table_unblocked(const struct weir_table *next);

/* request.c: BH off, RCU read lock. */
u16 weir_table_take(struct weir_table *table, struct weir_lookup *lookup, struct weir_take *take);

/*
 * dump.c: not in hard interrupts. The first is called under the locks of the set and of
 * lookup->entry, the second under rcu_read_lock(), the others while the table cannot be freed. The
 * last three have one caller at a time, and a table without a predecessor. @budget: of the limit,
 * one for each meter; @own, or NULL, knows sources that have another first one.
 */
void weir_source_ask(const struct weir_table *table, const struct weir_lookup *lookup,
		     struct weir_source_state *state);
void weir_table_peek(struct weir_table *table, const struct weir_source *source,
		     u32 hash, u64 tick, const u64 *budget, const u64 *cost,
		     struct weir_source_state *state, u64 slot[WEIR_SLOTS_MAX + 1]);
unsigned int weir_table_walk(struct weir_table *table, u32 set, u64 tick,
			     const u64 *budget, const struct weir_prefixes *by, bool whether,
			     struct weir_source_state *state);
bool weir_table_forget(struct weir_table *table,
		       const struct weir_source *source, u32 hash, u64 tick);
void weir_table_clear(struct weir_table *table, u32 set);
void weir_table_age(struct weir_table *table, u64 tick);

#endif /* WEIR_TABLE_H */
