/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The limits of a namespace as packets see them: an ordered set that never changes once it
 * is published.
 */
#ifndef WEIR_LIMIT_H
#define WEIR_LIMIT_H

#include <linux/rcupdate.h>

#include "limit/newcomers.h"
#include "packet/exempt.h"
#include "packet/match.h"
#include "packet/source.h"
#include "table/table.h"
#include "uapi/linux/weir.h"

struct weir_pressure;
struct weir_stats;

#define WEIR_NAME_SIZE (WEIR_NAME_MAX + 1)

/* A budget of a limit. */
struct weir_budget {
	u64 amount;		/* packets or bytes a window */
	u64 burst;		/* of a bucket, as asked for; 0: the budget */
	u64 most;		/* the largest room since its history began, in this unit */
	u32 slots;		/* of the window */
	u32 slot_ticks;		/* length of a slot; 0 if it never ends */
	u32 window_ms;		/* as asked for; 0: the total */
	u32 mode;		/* WEIR_MODE_* */
};

/*
 * Constant once published. A changed copy of a limit takes over its id, its
 * counters and, if it can be kept, its table.
 */
struct weir_limit {
	u64 room[WEIR_BUDGETS_MAX];	/* the most that each count may be: budget, or burst */
	u64 largest[2];		/* packets and bytes of the largest packet that fits all budgets */
	struct weir_table *table;
	struct weir_stats __percpu *stats;
	struct weir_prefix prefix;
	u8 budgets;		/* how many */
	u8 bytes;		/* which of them count bytes, else packets: BIT(index) */
	bool observe;		/* drop nothing */
	u8 slots_given;		/* for which of them: BIT(index) */
	u32 id;			/* even, never used again in a namespace; 0 until it is made */
	u32 span_ticks;		/* window and a slot: how long a charged source is live */
	u32 sources;		/* as asked for */
	struct weir_pressure *pressure;	/* what the table was too small for */
	struct weir_budget budget[WEIR_BUDGETS_MAX];
	u64 penalty_ms;		/* for which a source that exceeds is blocked; 0: not at all */
	u64 penalty_ticks;
	bool renew;		/* refusals prolong it */
	char name[WEIR_NAME_SIZE];	/* padded with zeroes */
	struct weir_newcomers newcomers;
	struct weir_zone zone;	/* of calendars */
	char zone_name[WEIR_ZONE_MAX + 1];	/* as asked for; "": UTC; padded */
	struct weir_match match;
	char comment[WEIR_COMMENT_MAX + 1];	/* or ""; padded */
};

struct weir_refusal_mask {
	__be32 ipv4;
	__be32 ipv6[4];
};

/* What the entries of a configuration stand for. */
struct weir_refusals {
	unsigned int limits;	/* first ones of equal prefix that look at source and device only */
	struct weir_refusal_mask index;	/* bits of an address in that prefix */
	struct weir_refusal_mask key;	/* bits that @limits or exemptions distinguish */
};

/* The limits and exemptions of a namespace. */
struct weir_config {
	struct weir_exempts *exempts;	/* or NULL */
	u16 count;
	u16 conds;		/* all that any limit has, WEIR_IF_* */
	u16 generation;		/* not that of any for 2^16 changes; not 0 */
	bool blocks;		/* prefixes are blocked */
	bool odd;		/* ... or there are no limits: see limits() in verdict.c */
	struct weir_refusals refusals;
	struct weir_prefixes **list;	/* or NULL */
	u16 lists;
	struct weir_limit *limit[] __counted_by(count); /* in order */
};

u16 weir_limit_too_large(const struct weir_limit *limit, const struct weir_lookup *lookup);

/*
 * Fill in what a packet costs in a lookup. Returns 0, or WEIR_REFUSED | WEIR_TOO_LARGE if
 * the packet exceeds a whole budget.
 */
static inline u16 weir_limit_cost(const struct weir_limit *limit, struct weir_lookup *lookup,
				  u32 packets, u64 bytes)
{
	if (unlikely(limit->budgets != 1)) {
		lookup->budgets = limit->room;
		lookup->amount[false] = packets;
		lookup->amount[true] = bytes;
		return packets > limit->largest[false] || bytes > limit->largest[true] ?
		       weir_limit_too_large(limit, lookup) : 0;
	}
	lookup->cost = limit->bytes ? bytes : packets;
	lookup->budget = limit->room[0];
	return unlikely(lookup->cost > lookup->budget) ? WEIR_REFUSED | WEIR_TOO_LARGE : 0;
}

/* Under rcu_read_lock() or the namespace's mutex; NULL where there is none. */
struct weir_limit *weir_limit_find(const struct weir_config *config, const char *name);
struct weir_limit *weir_limit_by_id(const struct weir_config *config, u32 id);

#endif /* WEIR_LIMIT_H */
