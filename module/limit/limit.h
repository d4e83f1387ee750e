/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The limits of a namespace as packets see them: an ordered set that never changes once it
 * is published.
 */
#ifndef WEIR_LIMIT_H
#define WEIR_LIMIT_H

#include <linux/rcupdate.h>

#include "limit/config.h"
#include "limit/newcomers.h"
#include "packet/exception.h"
#include "packet/source.h"
#include "table/table.h"

struct weir_pressure;
struct weir_stats;

/*
 * Constant once published. The limit that replaces one takes over its id, its counters and, if it
 * can be kept, its table. What is no different for packets they read in @cfg.
 */
struct weir_limit {
	/* The most that each count may be, budget or burst; of the first see weir_limit_room() */
	u64 room[WEIR_BUDGETS_MAX];
	u64 fits[2];		/* packets and bytes that surely fit all budgets, or 0 */
	struct weir_table *table;
	struct weir_stats __percpu *stats;
	const struct weir_prefixes *budget_by; /* the list of its only budget, or NULL */
	bool plain;		/* it drops, and logs none of that */
	u32 id;			/* never used again in a namespace; 0 until it is made */
	hsiphash_key_t key;	/* of the hash of sources; one for all of a configuration */
	u32 span_ticks;		/* window and a slot: how long a charged source is live */
	u64 penalty_ticks;	/* for which a source that exceeds is blocked; 0: not at all */
	u64 largest[2];		/* packets and bytes that fit all budgets of all sources */
	struct weir_limit_config cfg;
	struct weir_pressure *pressure;	/* what the table was too small for */
	struct weir_newcomers newcomers;
	/* What a table is asked for, with the largest room since its history began */
	struct weir_meter_spec meter[WEIR_BUDGETS_MAX];
	bool alone;		/* the amounts for that are in force */
	u64 joined_until;	/* not alone until then; written and read under the mutex */
};

struct weir_refusal_mask {
	__be32 ipv4;
	__be32 ipv6[4];
};

/* What the cells of a configuration stand for. */
struct weir_refusals {
	unsigned int limits;	/* first ones of equal prefix that look at source and device only */
	struct weir_refusal_mask index;	/* bits of an address in that prefix */
	struct weir_refusal_mask key;	/* bits that @limits or exemptions distinguish */
};

/* Parts of a configuration that change apart. */
enum weir_part {
	WEIR_LIMITS,
	WEIR_EXCEPTIONS,
	WEIR_LISTS,
	WEIR_PARTS
};

/* The limits and exemptions of a namespace. */
struct weir_config {
	struct weir_exceptions *exceptions;	/* or NULL */
	u16 count;
	u16 conds;		/* all that any limit has, WEIR_COND_* */
	u16 generation;		/* not 0, nor that of any of 2^16 changes; weir_refusals_renew() */
	u32 changes[WEIR_PARTS];	/* how many there were, for dumps */
	struct weir_refusals refusals;
	struct weir_prefixes **list;	/* or NULL */
	u16 lists;
	struct weir_limit *limit[] __counted_by(count); /* in order */
};

/*
 * The room of a source, of which the whole address is given, or as the limit masks it: the
 * limit's, or that with the budget of the list by which the limit goes, in @own.
 */
const u64 *weir_limit_room(const struct weir_limit *limit, const struct weir_source *whole,
			   u64 own[WEIR_BUDGETS_MAX]);
const u64 *weir_limit_room_masked(const struct weir_limit *limit, const struct weir_source *source,
				  u64 own[WEIR_BUDGETS_MAX]);
u64 weir_limit_largest(const struct weir_limit *limit, const u64 *room, bool bytes);
unsigned int weir_limit_walk(const struct weir_limit *limit, u32 set, u64 tick, bool whether,
			     struct weir_source_state *state);
u16 weir_limit_cost_ipv4(const struct weir_limit *limit, struct weir_lookup *lookup,
			 const struct weir_source *whole);
u16 weir_limit_cost_ipv6(const struct weir_limit *limit, struct weir_lookup *lookup,
			 const struct weir_source *whole);

/*
 * Fill in what a packet of a whole address costs in a lookup. Returns 0, or
 * WEIR_REFUSED | WEIR_TOO_LARGE if the packet exceeds a whole budget, or WEIR_UNCHARGED.
 */
static inline u16 weir_limit_cost(const struct weir_limit *limit, struct weir_lookup *lookup,
				  const struct weir_source *whole, u32 packets, u64 bytes)
{
	lookup->amount[false] = packets;
	lookup->amount[true] = bytes;
	lookup->budgets = limit->room;
	if (likely(packets <= limit->fits[false] && bytes <= limit->fits[true]))
		return 0;
	return unlikely(whole->scope & WEIR_SCOPE_IPV6) ?
	       weir_limit_cost_ipv6(limit, lookup, whole) :
	       weir_limit_cost_ipv4(limit, lookup, whole);
}

/* Under rcu_read_lock() or the namespace's mutex; NULL where there is none. */
struct weir_limit *weir_limit_find(const struct weir_config *config, const char *name);
struct weir_limit *weir_limit_by_id(const struct weir_config *config, u32 id);

#endif /* WEIR_LIMIT_H */
