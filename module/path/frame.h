/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict on a frame that has no buffer yet. See the top of verdict.c. Context: BH off,
 * with the CPU's data to itself. The configuration has limits.
 */
#ifndef WEIR_FRAME_H
#define WEIR_FRAME_H

#include "limit/net.h"
#include "limit/stats.h"
#include "path/refusal.h"
#include "path/trace.h"
#include "path/verdict.h"

/* Find the cell of the cache that repeats a refusal. A traced drop takes the slow path. */
static inline bool weir_frame_refusal(const struct weir_frame *frame, const struct weir_net *wn,
				      const struct weir_config *config, u64 tick,
				      struct weir_refusal **cell)
{
	struct weir_refusal_cache *cache = this_cpu_ptr(wn->refusals);

	if (tick >= cache->until)
		return false;
	return weir_refusal_find(cache, config, frame->header, frame->family, frame->dev, tick,
				 &frame->bytes, cell) &&
	       !trace_weir_early_enabled() &&
	       /* The other CPU may have a batch. */
	       !(weir_packets_steered() && (*cell)->limit->table->batches);
}

/* Would the hook surely refuse the packet? If so it is counted as dropped. */
static inline bool weir_frame_refused(const struct weir_frame *frame, struct weir_net *wn,
				      const struct weir_config *config, u64 tick)
{
	struct weir_refusal *cell;
	struct weir_result result;

	if (!weir_frame_refusal(frame, wn, config, tick, &cell))
		return weir_verdict_frame(*frame, wn, config, tick) == WEIR_REFUSE;
	result = weir_refusal_repeat(cell);
	/* No other flags, so that the compiler knows. */
	result.flags = WEIR_EARLY | WEIR_REFUSED | (result.flags & WEIR_BUDGET_MASK);
	weir_stats_limit(cell->limit->stats, WEIR_DROPPED, 1, frame->bytes, result);
	weir_stats_seen(wn->stats, WEIR_SEEN_DROPPED, false);
	return true;
}

#endif /* WEIR_FRAME_H */
