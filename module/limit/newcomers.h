/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The budget of a limit for packets of sources that it does not know. See the top of
 * newcomers.c.
 */
#ifndef WEIR_NEWCOMERS_H
#define WEIR_NEWCOMERS_H

#include <linux/types.h>

#include "table/table.h"

/* Pools: of first tries and of second tries. */
#define WEIR_NEWCOMERS_POOLS	2

struct weir_net;
struct weir_pool;
struct weir_tries;

/* A part of struct weir_limit. */
struct weir_newcomers {
	u32 budget;		/* packets a window; 0 if newcomers are not distinguished */
	u32 known_ticks;	/* admitted later than this, a source is known */
	u32 slot_ticks;		/* length of a slot */
	u32 span_ticks;		/* window and a slot */
	u32 flood;		/* expected, in packets a second */
	u8 slots;		/* of the window */
	bool learns;		/* who is known, at first */
	struct weir_pool *pool;	/* or NULL */
	struct weir_tries *tries;	/* who was refused lately, or NULL */
};

/* Bytes of the memory of who was refused. */
u64 weir_newcomers_bytes(const struct weir_newcomers *newcomers);
/* Allocates memory and budgets, or takes those of @old, or NULL; may sleep. -ENOMEM */
int weir_newcomers_make(struct weir_net *wn, struct weir_newcomers *newcomers,
			const struct weir_newcomers *old);
/* End batches, which may be old, and count in the window of a limit. */
void weir_newcomers_set(const struct weir_newcomers *newcomers);
/* @heir is of the limit that has replaced theirs, a grace period ago. */
void weir_newcomers_replaced(const struct weir_newcomers *newcomers,
			     const struct weir_newcomers *heir);
/* Frees what @heir, which may be NULL, has not taken. */
void weir_newcomers_free(const struct weir_newcomers *newcomers, const struct weir_newcomers *heir);

/* Begin to learn, because nobody is known: at first, and when all are forgotten. */
void weir_newcomers_learn(const struct weir_newcomers *newcomers);
/* The ticks for which it still learns; end that at a tick, if it is earlier. */
u64 weir_newcomers_learning(const struct weir_newcomers *newcomers);
void weir_newcomers_learnt(const struct weir_newcomers *newcomers, u64 tick);

/* Packets: BH off, RCU read lock. */
u16 weir_newcomers_refuse(const struct weir_newcomers *newcomers, const struct weir_table *table,
			  const struct weir_lookup *lookup);
u16 weir_newcomers_charge(const struct weir_newcomers *newcomers, struct weir_table *table,
			  struct weir_lookup *lookup, u32 packets);
void weir_newcomers_uncharge(const struct weir_newcomers *newcomers, u32 packets, u16 result,
			     const struct weir_receipt *receipt);

/* How the two budgets stand now; RCU read lock. */
struct weir_newcomers_state {
	u64 count;	/* packets in the window, of both */
	u64 wait;	/* ticks until a first try has room, 0 if now */
};

void weir_newcomers_peek(const struct weir_newcomers *newcomers, u64 tick,
			 struct weir_newcomers_state *state);

#endif /* WEIR_NEWCOMERS_H */
