/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which budget: the limits of a namespace, an ordered set that never changes
 * once it is published. See the top of limit.c.
 */
#ifndef WEIR_LIMIT_H
#define WEIR_LIMIT_H

#include <linux/rcupdate.h>

#include "limit/stats.h"
#include "packet/exempt.h"
#include "packet/match.h"
#include "config/newcomers.h"
#include "path/refusal.h"
#include "packet/source.h"
#include "table/table.h"
#include "uapi/linux/weir.h"

struct weir_net;

#define WEIR_NAME_SIZE (WEIR_NAME_MAX + 1)

/* Why a change was refused, or a warning if it was carried out. */
struct weir_error {
	const char *msg; /* constant, below 80 bytes: what is wrong, what would be right */
	u16 attr;	 /* WEIR_A_LIMIT_* or WEIR_A_EXEMPT_* at fault, or 0 */
	u8 budget;	 /* index of the budget that it is of */
	u64 value;	 /* a number that @msg mentions, or 0 */
};

static inline int weir_refuse(struct weir_error *error, int err, u16 attr, const char *msg)
{
	error->msg = msg;
	error->attr = attr;
	return err;
}

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
	bool plain;		/* one budget, and not a log: as in struct weir_table */
	bool observe;		/* drop nothing */
	u8 slots_given;		/* for which of them: BIT(index) */
	u32 id;			/* never used again in a namespace; 0 until it is made */
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

/* The limits and exemptions of a namespace. */
struct weir_config {
	struct weir_exempts *exempts;	/* or NULL */
	u16 count;
	u16 conds;		/* all that any limit has, WEIR_IF_* */
	u16 generation;		/* not that of any for 2^16 changes; not 0 */
	struct weir_refusals refusals;
	struct weir_limit *limit[] __counted_by(count); /* in order */
};

/*
 * A limit: limit.c. The caller initialises a configuration, fills it and checks it.
 * A limit made from it has table and counters, those of @was if they can be kept.
 */
void weir_limit_init(struct weir_limit *limit, const char *name);
struct weir_limit *weir_limit_make(struct weir_net *wn, struct weir_limit *limit,
				   const struct weir_limit *was, struct weir_error *error);
void weir_limit_free(struct weir_limit *limit, const struct weir_limit *heir);
u16 weir_limit_too_large(const struct weir_limit *limit, const struct weir_lookup *lookup);

/* check.c */
int weir_limit_check(struct weir_limit *limit, struct weir_error *error);
bool weir_limit_has_calendar(const struct weir_limit *limit);
u64 weir_limit_most(const struct weir_limit *limit, unsigned int i);
u64 weir_limit_log_most(const struct weir_limit *limit);
unsigned int weir_slots_fit(u32 window_ms, unsigned int slots, u32 *slot_ticks);

/*
 * Fill in what a packet costs in a lookup. Returns 0, or WEIR_REFUSED | WEIR_TOO_LARGE if
 * the packet exceeds a whole budget.
 */
static inline u16 weir_limit_cost(const struct weir_limit *limit, struct weir_lookup *lookup,
				  u32 packets, u64 bytes)
{
	if (unlikely(!limit->plain)) {
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

/*
 * penalty.c: a limit, perhaps with a penalty, refused a packet of @source, a whole address,
 * whose way is that of @lookup; of refusals it sees the first. BH off, RCU read lock.
 */
void weir_penalty(struct weir_net *wn, const struct weir_limit *limit,
		  struct weir_lookup *lookup, const struct weir_source *source, u16 result);

/*
 * A copy of the configuration to be changed, edit.c. weir_edit_begin() takes the
 * namespace's mutex; weir_edit_end() publishes all changes or none, and releases it.
 * All may sleep, and return 0 or a negative errno with the error filled, except
 * where memory or a hook cannot be had.
 */
struct weir_edit {
	struct weir_net *wn;			/* locked */
	struct weir_config *old;		/* published, or NULL */
	bool replace;				/* started empty */
	bool check;				/* not to be published */
	bool again;				/* published unchanged: dumps go on */
	unsigned int count;			/* of limits */
	struct weir_limit *limit[WEIR_LIMITS_MAX]; /* in order, some from @old */
	struct weir_limit *was[WEIR_LIMITS_MAX]; /* the old one that each is or replaces */
	unsigned int exempts;
	struct weir_exempt exempt[];
};

struct weir_edit *weir_edit_begin(struct weir_net *wn, bool replace, unsigned int exempts);
int weir_edit_end(struct weir_edit *edit, int err, struct weir_error *error);
const struct weir_limit *weir_edit_find(const struct weir_edit *edit, const char *name,
					struct weir_error *error);
int weir_edit_limit(struct weir_edit *edit, struct weir_limit *limit, const char *before,
		    struct weir_error *error);
int weir_edit_limit_del(struct weir_edit *edit, const char *name, struct weir_error *error);
int weir_edit_exempt_add(struct weir_edit *edit, struct weir_exempt *exempt,
			 const char *limit, struct weir_error *error);
int weir_edit_exempt_del(struct weir_edit *edit, struct weir_exempt *exempt,
			 const char *limit, struct weir_error *error);
void weir_config_init(struct weir_net *wn);
void weir_config_free(struct weir_net *wn);

/* Under rcu_read_lock() or the namespace's mutex; NULL where there is none. */
struct weir_limit *weir_limit_find(const struct weir_config *config, const char *name);
struct weir_limit *weir_limit_by_id(const struct weir_config *config, u32 id);

#endif /* WEIR_LIMIT_H */
