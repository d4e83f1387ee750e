/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last drop of an address by a limit, and the latest ones. See the top of drops.c.
 */
#ifndef WEIR_DROPS_H
#define WEIR_DROPS_H

#include <linux/atomic.h>
#include <linux/hash.h>

#include "limit/limit.h"
#include "limit/net.h"
#include "limit/result.h"
#include "packet/packet.h"
#include "packet/source.h"
#include "path/charge.h"
#include "path/refusal.h"

#define WEIR_DROPS_SHIFT	11
#define WEIR_DROPS		BIT(WEIR_DROPS_SHIFT)

/* Written by the CPU that makes @seq odd; any other one leaves it alone meanwhile. */
struct weir_drop {
	atomic_t seq;
	u32 limit;		/* id, or 0 without a drop */
	struct weir_source source;	/* whole address */
	struct weir_result result;
	struct weir_cost cost;
	u64 tick;
};

/* What is known of the last packet that a limit dropped. */
struct weir_last_drop {
	u64 within;		/* at most so many ticks ago, above 0 */
	u64 before;		/* at least so many ticks ago */
	u64 cost;		/* packets or bytes, if it exceeded a whole budget */
	struct weir_result result;
	bool own;		/* it was of the address, else of another one of its source */
};

static inline struct weir_drop *weir_drop_cell(const struct weir_net *wn,
					       const struct weir_limit *limit,
					       const struct weir_source *source)
{
	__be32 mix = source->word[0] ^ source->word[1];

	return wn->drops + hash_32((__force u32)mix ^ limit->id, WEIR_DROPS_SHIFT);
}

void weir_drop_write(struct weir_drop *drop, const struct weir_limit *limit,
		     const struct weir_source *source, const struct weir_request *request,
		     struct weir_result result);

/*
 * Note that a limit dropped a packet of a whole address, unless its cell is recent. Of the
 * packet path: BH off.
 */
static inline void weir_drop_note(struct weir_net *wn, const struct weir_limit *limit,
				  const struct weir_source *source,
				  const struct weir_request *request, struct weir_result result)
{
	struct weir_drop *drop = weir_drop_cell(wn, limit, source);

	/* Pairs with weir_drop_write(). */
	if ((u32)request->lookup.tick - (u32)READ_ONCE(drop->tick) > WEIR_NOTE_TICKS)
		weir_drop_write(drop, limit, source, request, result);
}

/* Context: process, RCU read lock. */
bool weir_drop_find(const struct weir_net *wn, const struct weir_limit *limit,
		    const struct weir_source *source, u64 tick, struct weir_last_drop *last);

/*
 * Copy a drop, one of WEIR_DROPS in no order. Returns false if there is none. Context: process,
 * RCU read lock, while there are limits.
 */
bool weir_drop_read(const struct weir_net *wn, unsigned int index, struct weir_drop *copy);

/* When, why and of what size a drop of that limit was. */
void weir_drop_tell(const struct weir_limit *limit, const struct weir_drop *drop, u64 tick,
		    struct weir_last_drop *last);

/* Allocated while there are hooks. Context: process, namespace locked. */
int weir_drops_alloc(struct weir_net *wn);
void weir_drops_free(struct weir_net *wn);

#endif /* WEIR_DROPS_H */
