// SPDX-License-Identifier: GPL-2.0-only
/*
 * Penalties: who exceeds a limit that has one is blocked. The first refusal in a window does it.
 * Later ones do it if that found no penalty yet or no room, and prolong a block where the limit
 * says so; the refusal cache, which answers for a second, keeps most of them from here.
 */
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "path/events.h"
#include "path/penalty.h"
#include "path/trace.h"

void weir_penalty(struct weir_net *wn, const struct weir_limit *limit,
		  struct weir_lookup *lookup, const struct weir_source *source, u16 result)
{
	enum weir_block how = result & WEIR_BLOCKED ? WEIR_BLOCK_PROLONG : WEIR_BLOCK_PUNISH;
	int err;

	/* A source without a way may be innocent: the floor is what others sent. */
	if (!limit->penalty_ticks || limit->observe || result & WEIR_NO_WAY)
		return;
	if (how == WEIR_BLOCK_PROLONG ? !limit->renew : !(result & WEIR_FIRST) &&
	    !weir_table_blocks(limit->table, lookup))
		return;
	err = weir_table_block(limit->table, lookup, lookup->tick + limit->penalty_ticks, how);
	if (err == -ENOSPC && result & WEIR_FIRST) {
		weir_limit_count_blocks(limit, 0, 1);
		weir_event_pressure(wn, limit, lookup->tick);
	}
	if (err || how == WEIR_BLOCK_PROLONG)
		return;
	weir_limit_count_blocks(limit, 1, 0);
	trace_weir_blocked(limit, result, source, lookup->tick);
	/* The first refusal is an event anyway. */
	if (!(result & WEIR_FIRST))
		weir_event_source(wn, limit, source);
}
