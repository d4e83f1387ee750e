/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Permits for newcomers' packets. See the top of permit.c.
 */
#ifndef WEIR_PERMIT_H
#define WEIR_PERMIT_H

#include "limit/limit.h"

/* Sources that were refused lately; a cell has a fingerprint in 24 bits, a time in 8. */
#define WEIR_CELLS	7

struct weir_row {
	u32 next;		/* cell to overwrite */
	u32 cell[WEIR_CELLS];
};

/* How a limit stands to newcomers. */
struct weir_tries {
	struct weir_row *row;
	u32 mask;		/* rows less one */
	u64 key[2];		/* of the fingerprints, odd */

	u64 used_up;		/* tick until which a late refusal is remembered; any CPU */

	u64 learn;		/* until this tick; process context writes it */
	atomic64_t *held;	/* as that of struct weir_table */
};

/* Packets: BH off, RCU read lock. */
u16 weir_permit_refuse(const struct weir_limit *limit, const struct weir_lookup *lookup);
u16 weir_permit_charge(const struct weir_limit *limit, struct weir_lookup *lookup,
		       u32 packets);
void weir_permit_uncharge(const struct weir_newcomers *newcomers, u32 packets, u16 result,
			  const struct weir_receipt *receipt);

/* How the two budgets stand now; RCU read lock. */
struct weir_newcomers_state {
	u64 count;	/* packets in the window, of both */
	u64 wait;	/* ticks until a first try has room, 0 if now */
};

void weir_newcomers_peek(const struct weir_newcomers *newcomers, u64 tick,
			 struct weir_newcomers_state *state);

#endif /* WEIR_PERMIT_H */
