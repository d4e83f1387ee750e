/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decision on a packet before the stack: refused, or not sure. See the top of early.c.
 * Context: BH off, with the CPU's data to itself. The configuration has limits.
 */
#ifndef WEIR_EARLY_H
#define WEIR_EARLY_H

#include "compat.h"
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "packet/packet.h"
#include "path/refusal.h"
#include "path/trace.h"

bool weir_early_ask(struct weir_frame frame, struct weir_net *wn,
		    const struct weir_config *config, u64 tick);

/* The entry of the cache that repeats a refusal, or NULL. A traced drop takes the slow path. */
static inline const struct weir_refusal *
weir_early_cached(const struct weir_frame *frame, const struct weir_net *wn,
		  const struct weir_config *config, u64 tick)
{
	struct weir_refusal_cache *cache = this_cpu_ptr(wn->refusals);
	struct weir_source source __weir_uninitialized;
	struct weir_refusal *entry;

	if (tick >= cache->until)
		return NULL;
	weir_header_source(frame->header, frame->family, frame->dev->ifindex, &source);
	if (!weir_header_plain(frame->header, frame->family, &source))
		return NULL;
	entry = weir_refusal_entry(cache, &config->refusals, &source);
	weir_refusal_mask(&config->refusals, &source);
	if (!weir_refusal_holds(entry, config->generation, &source, frame->dev->ifindex,
				tick, frame->bytes) ||
	    frame->bytes > entry->limit->largest[true] || trace_weir_early_enabled() ||
	    /* The other CPU may have a batch. */
	    (weir_packets_steered() && entry->limit->table->batches))
		return NULL;
	/* Pairs with weir_refusals_pending(). */
	WRITE_ONCE(entry->count, entry->count + 1);
	return entry;
}

/* Would the hook surely refuse the packet? If so it is counted as dropped. */
static inline bool weir_early_refuses(const struct weir_frame *frame, struct weir_net *wn,
				      const struct weir_config *config, u64 tick)
{
	const struct weir_refusal *entry = weir_early_cached(frame, wn, config, tick);

	if (!entry)
		return weir_early_ask(*frame, wn, config, tick);
	weir_count_early(entry->limit->stats, frame->bytes, entry->result);
	weir_count_seen(wn->stats, WEIR_SEEN_DROPPED, false);
	return true;
}

#endif /* WEIR_EARLY_H */
