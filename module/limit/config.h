/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A limit as it was asked for. This alone is compared, saved and shown; limit.h has what is
 * made of it.
 */
#ifndef WEIR_LIMIT_CONFIG_H
#define WEIR_LIMIT_CONFIG_H

#include "count/calendar.h"
#include "packet/match.h"
#include "packet/source.h"
#include "table/table.h"
#include "uapi/linux/weir.h"

#include "limit/rules.h"	/* behind linux/weir.h */

#define WEIR_NAME_SIZE (WEIR_NAME_MAX + 1)

#define WEIR_KNOWN_MS_DEFAULT	10000

struct weir_newcomers_config {
	u32 budget;		/* packets a window; 0 if newcomers are not distinguished */
	u32 window_ms;
	u32 flood;		/* expected, in packets a second */
	u32 known_ms;		/* admitted later than this, a source is known; 0: do not learn */
};

/* Compared as bytes. Packets read what comes first. */
struct weir_limit_config {
	struct weir_prefix prefix;
	u8 budgets;		/* how many; 0: it only blocks, and the first counts nobody */
	bool observe;		/* drop nothing */
	bool renew;		/* refusals prolong the penalty */
	bool shared;		/* by several hosts */
	u16 log;		/* group of nflog for what is dropped; 0: none */
	struct weir_match match;
	struct weir_prefixes *budgets_by;	/* or NULL; a limit that is made holds it */
	struct weir_zone zone;	/* of calendars */
	u64 penalty_ms;		/* for which a source that exceeds is blocked; 0: not at all */
	struct weir_newcomers_config newcomers;
	u32 sources;
	u32 blocks;		/* that it is made for, if it only blocks; else 0 */
	char name[WEIR_NAME_SIZE];	/* padded with zeroes, as the next two */
	char zone_name[WEIR_ZONE_MAX + 1];	/* "": UTC */
	char comment[WEIR_COMMENT_MAX + 1];	/* or "" */
	struct weir_budget_config budget[WEIR_BUDGETS_MAX];	/* last: see limit_stays() */
};

#endif /* WEIR_LIMIT_CONFIG_H */
