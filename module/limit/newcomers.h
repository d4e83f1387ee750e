/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The budget of a limit for packets of sources that it does not know.
 */
#ifndef WEIR_LIMIT_NEWCOMERS_H
#define WEIR_LIMIT_NEWCOMERS_H

#include <linux/types.h>

/* Pools: of first tries and of second tries. */
#define WEIR_NEWCOMERS_POOLS	2

struct weir_pool;
struct weir_tries;

/* A part of struct weir_limit. */
struct weir_newcomers {
	u32 budget;		/* packets a window; 0 if newcomers are not distinguished */
	u32 known_ticks;	/* admitted later than this, a source is known */
	u32 slot_ticks;		/* length of a slot */
	u32 span_ticks;		/* window and a slot */
	u8 slots;		/* of the window */
	struct weir_pool *pool;	/* or NULL */
	struct weir_tries *tries;	/* who was refused lately, or NULL */
};

#endif /* WEIR_LIMIT_NEWCOMERS_H */
