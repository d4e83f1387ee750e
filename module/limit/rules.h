/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A budget as it is asked for, and the rules on the words of a limit that need no clock, as one
 * text for the module, which enforces them, and the tool, which knows them without the module.
 * Each function returns 0, or a negative errno with the sentence and the attribute of the first
 * rule that is broken: WEIR_A_BUDGET_* of a budget, WEIR_A_LIMIT_* of the rest. linux/weir.h
 * comes first.
 */
#ifndef WEIR_RULES_H
#define WEIR_RULES_H

#include <linux/errno.h>
#include <linux/types.h>

#include "error.h"

/* The budgets that a burst may have, as a power of two. */
#define WEIR_RULE_BURST_SHIFT	12
/* Packets of a log; with prefixes of IPv6 longer than 64 its entries are fewer. */
#define WEIR_RULE_EXACT_MAX	56
#define WEIR_RULE_EXACT_LONG_MAX	54

/* Without padding: limits are compared as bytes. */
struct weir_budget_config {
	__u64 amount;		/* packets or bytes a window */
	__u64 burst;		/* of a bucket; 0: the amount */
	__u64 alone;		/* in place of the amount while the limit is alone; 0: that */
	__u32 window_ms;	/* 0: the total */
	__u32 mode;		/* WEIR_MODE_* */
	__u32 unit;		/* WEIR_UNIT_* */
	__u32 slots;		/* 0: as they fit; last: see limit_stays() */
};

/* What the rules read of a limit; its conditions and zone the tool has in structs of its own. */
struct weir_limit_rules {
	const struct weir_budget_config *budget;
	__u64 penalty_ms;
	__u32 known_ms;		/* 0: not given, or none */
	__u8 budgets;		/* how many */
	__u8 renew;
	__u8 newcomers;		/* has such a budget */
	__u8 zone;		/* given */
	__u8 budgets_by;	/* given */
	__u8 shared;
	__u8 blocks;		/* it only blocks */
	__u8 len4, len6;
};

static inline int weir_bucket_rules(const struct weir_budget_config *is, struct weir_error *error)
{
	__u64 room = is->burst ? is->burst : is->amount;

	if (!is->window_ms)
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_WINDOW_MS,
				   "a bucket drains by its budget in a window; a total has none");
	if (is->slots)
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_SLOTS,
				   "a bucket has no slots; leave slots out");
	if (room > (is->unit ? WEIR_BURST_MAX : WEIR_PACKETS_MAX))
		return weir_refuse(error, -ERANGE,
				   is->burst ? WEIR_A_BUDGET_BURST : WEIR_A_BUDGET_BUDGET,
				   "a bucket holds at most 4294967295 packets or 2^46 bytes");
	if ((room - 1) >> WEIR_RULE_BURST_SHIFT >= is->amount)
		return weir_refuse(error, -ERANGE, WEIR_A_BUDGET_BURST,
				   "a burst is at most 4096 times the budget; try a smaller one");
	return 0;
}

static inline int weir_exact_rules(const struct weir_budget_config *is, __u8 len6,
				   struct weir_error *error)
{
	if (!is->window_ms)
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_WINDOW_MS,
				   "exact counts in a window; a total has none");
	if (is->slots)
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_SLOTS,
				   "exact has no slots; leave slots out");
	if (is->unit)
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_UNIT,
				   "exact keeps the time of each packet, and so counts packets");
	if (is->amount > (len6 > 64 ? WEIR_RULE_EXACT_LONG_MAX : WEIR_RULE_EXACT_MAX))
		return weir_refuse(error, -ERANGE, WEIR_A_BUDGET_BUDGET,
				   "exact counts at most 56 packets, 54 if IPv6 prefixes exceed 64; use strict");
	return 0;
}

static inline int weir_calendar_has(__u32 window_ms)
{
	return window_ms == 60000 || window_ms == 3600000 || window_ms == 86400000 ||
	       window_ms == 604800000 || window_ms == 2592000000u;
}

/* @shared: is the limit; @len6: its prefix length. */
static inline int weir_budget_rules(const struct weir_budget_config *is, bool shared, __u8 len6,
				    struct weir_error *error)
{
	if (!is->unit && is->amount > WEIR_PACKETS_MAX)
		return weir_refuse(error, -ERANGE, WEIR_A_BUDGET_BUDGET,
				   "a budget of packets is at most 4294967295 a window");
	if (is->window_ms && is->window_ms < WEIR_WINDOW_MS_MIN)
		return weir_refuse(error, -ERANGE, WEIR_A_BUDGET_WINDOW_MS,
				   "a window has at least 10 ms; 0 is the total, without a window");
	if (is->burst && is->mode != WEIR_MODE_BUCKET)
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_BURST,
				   "a burst is what a bucket holds; say bucket, too, or no burst");
	if (is->alone && !shared)
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_ALONE,
				   "hosts that share a limit can be alone; say shared, too, or no alone");
	if (is->alone > is->amount)
		return weir_refuse(error, -ERANGE, WEIR_A_BUDGET_ALONE,
				   "a host alone has at most the budget; give a smaller amount, or none");
	if (is->mode == WEIR_MODE_BUCKET)
		return weir_bucket_rules(is, error);
	if (is->mode == WEIR_MODE_EXACT)
		return weir_exact_rules(is, len6, error);
	if (is->mode == WEIR_MODE_CALENDAR && !weir_calendar_has(is->window_ms))
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_WINDOW_MS,
				   "a calendar has minutes, hours, days, weeks (7d) and months (30d)");
	if (is->slots > 1 && (is->mode == WEIR_MODE_FIXED || is->mode == WEIR_MODE_CALENDAR ||
			      !is->window_ms))
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_SLOTS,
				   "a fixed or calendar window or a total is a single slot; leave slots out");
	return 0;
}

/* Does any budget count in that way? */
static inline bool weir_budgets_have(const struct weir_budget_config *budget, unsigned int count,
				     __u32 mode)
{
	while (count--)
		if (budget[count].mode == mode)
			return true;
	return false;
}

static inline int weir_limit_rules(const struct weir_limit_rules *is, struct weir_error *error)
{
	int one = !is->len4 || !is->len6;

	if (is->blocks && one)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_BLOCKS_ONLY,
				   "a prefix length of 0 makes one source of all; blocks need their own");
	if (is->blocks && (is->newcomers || is->penalty_ms || is->budgets_by || is->shared))
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_BLOCKS_ONLY,
				   "no newcomers, penalty, budgets-by or shared where nobody is counted");
	if (is->zone && !weir_budgets_have(is->budget, is->budgets, WEIR_MODE_CALENDAR))
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_ZONE,
				   "a time zone is that of a calendar; say calendar, too, or no zone");
	if (is->renew && !is->penalty_ms)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_RENEW,
				   "refusals renew a penalty; renew requires one, longer than 0");
	if (is->penalty_ms && is->penalty_ms < WEIR_BLOCK_MS_MIN)
		return weir_refuse(error, -ERANGE, WEIR_A_LIMIT_PENALTY_MS,
				   "a penalty lasts a second at least; 0 is none");
	if (is->known_ms && is->known_ms < WEIR_KNOWN_MS_MIN)
		return weir_refuse(error, -ERANGE, WEIR_A_LIMIT_KNOWN_MS,
				   "a source is known after a second at least; with 0 none is learnt");
	if (is->penalty_ms && one)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_PENALTY_MS,
				   "a prefix length of 0 makes one source of all; a penalty needs their own");
	if (is->budgets_by && one)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_BUDGETS_BY,
				   "a prefix length of 0 makes one source of all; budgets-by needs their own");
	if (is->budgets_by && weir_budgets_have(is->budget, !!is->budgets, WEIR_MODE_BUCKET))
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_BUDGETS_BY,
				   "a bucket drains alike for all sources; budgets-by needs another kind");
	if (is->budgets_by && is->budgets && is->budget[0].alone)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_BUDGETS_BY,
				   "a list has no amounts for a host alone; leave out that of the first budget");
	if (is->shared && (weir_budgets_have(is->budget, is->budgets, WEIR_MODE_BUCKET) ||
			   weir_budgets_have(is->budget, is->budgets, WEIR_MODE_EXACT) ||
			   weir_budgets_have(is->budget, is->budgets, WEIR_MODE_CALENDAR)))
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_SHARING,
				   "bucket, exact and calendar cannot be shared; use strict, lenient or fixed");
	if (is->newcomers && one)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_NEWCOMERS,
				   "a prefix length of 0 makes one source of all; newcomers need their own");
	return 0;
}

#endif /* WEIR_RULES_H */
