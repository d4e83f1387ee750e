/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The budget of a limit for packets of sources that it does not know.
 */
#ifndef WEIR_LIMIT_NEWCOMERS_H
#define WEIR_LIMIT_NEWCOMERS_H

#include <linux/types.h>

#define WEIR_KNOWN_MS_DEFAULT	10000

struct weir_table;
struct weir_tries;
struct weir_way;

/* A part of struct weir_limit. The first four are as asked for. */
struct weir_newcomers {
	u32 budget;		/* packets a window; 0 if newcomers are not distinguished */
	u32 window_ms;
	u32 flood;		/* expected, in packets a second */
	u32 known_ms;		/* admitted later than this, a source is known; 0: do not learn */
	u32 known_ticks;
	u32 slot_ticks;		/* length of a slot */
	u32 span_ticks;		/* window and a slot */
	u8 slots;		/* of the window */
	u32 hash[2];		/* of the two sources in @table */
	struct weir_table *table;	/* first tries and second tries, or NULL */
	struct weir_way *way;	/* of first tries, as a rule */
	struct weir_tries *tries;	/* who was refused lately, or NULL */
};

#endif /* WEIR_LIMIT_NEWCOMERS_H */
