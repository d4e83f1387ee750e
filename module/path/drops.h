/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last drop of an address by a limit. See the top of drops.c.
 */
#ifndef WEIR_DROPS_H
#define WEIR_DROPS_H

#include <linux/types.h>

#include "limit/result.h"
#include "packet/packet.h"
#include "packet/source.h"

struct weir_limit;
struct weir_net;

/* What is known of the last packet that a limit dropped. */
struct weir_last_drop {
	u64 within;		/* at most so many ticks ago, above 0 */
	u64 before;		/* at least so many ticks ago */
	u64 cost;		/* packets or bytes, if it exceeded a whole budget */
	struct weir_result result;
	bool own;		/* it was of the address, else of another one of its source */
};

/* Of the packet path: BH off. @source: whole address. */
void weir_drop_note(struct weir_net *wn, const struct weir_limit *limit,
		    const struct weir_source *source, const struct weir_cost *cost,
		    struct weir_result result, u64 tick);
void weir_drop_note_block(struct weir_net *wn, const struct weir_limit *limit,
			  const struct weir_source *source, u64 tick);

/* Context: process, RCU read lock. */
bool weir_drop_find(const struct weir_net *wn, const struct weir_limit *limit,
		    const struct weir_source *source, u64 tick, struct weir_last_drop *last);

/* Allocated while there are hooks. Context: process, namespace locked. */
int weir_drops_alloc(struct weir_net *wn);
void weir_drops_free(struct weir_net *wn);

#endif /* WEIR_DROPS_H */
