// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ask a limit, charge it, undo that. See the top of charge.h, which has the common case.
 *
 * Penalties: a source that exceeds a limit that has one is blocked. The first refusal in a window
 * does it. Later ones do it if that found no penalty yet or no room, and prolong a block where the
 * limit says so; the refusal cache, which answers for a second, keeps most of them from here.
 */
#define CREATE_TRACE_POINTS
#include "path/charge.h"
#include "limit/stats.h"
#include "path/events.h"

/* The tick that was charged: the count's slot may be ahead of this CPU's clock. */
static u64 charged_at(const struct weir_limit *limit, const struct weir_lookup *lookup)
{
	u64 slot = weir_table_slot(limit->table, lookup->tick);
	u16 late = lookup->receipt.at[0] - slot;

	/* A calendar's slots do not tick. */
	return !late || limit->table->spec.meter[0].calendar_ms ? lookup->tick :
	       weir_meter_begins(limit->table->meter, slot + late);
}

/* The limit has a penalty and refused the source, which has an entry: block it, if it is time. */
static noinline void punish(struct weir_net *wn, const struct weir_limit *limit,
			    struct weir_request *request, struct weir_result result)
{
	bool prolong = weir_result_reason(result) == WEIR_REASON_BLOCK;
	bool first = result.flags & WEIR_FIRST;
	struct weir_lookup *lookup = &request->lookup;
	int err;

	if (prolong ? !limit->cfg.renew : !first && !weir_table_blocks(limit->table, lookup))
		return;
	err = weir_table_block(limit->table, lookup, lookup->tick + limit->penalty_ticks,
			       prolong ? WEIR_BLOCK_PROLONG : WEIR_BLOCK_PUNISH);
	if (err == -ENOSPC && first) {
		weir_limit_count(limit, WEIR_COUNTER_OF(blocks_lost), 1);
		weir_event_pressure(wn, limit, lookup->tick);
	}
	if (err || prolong)
		return;
	weir_limit_count(limit, WEIR_COUNTER_OF(penalties), 1);
	trace_weir_blocked(limit, result, request->source, lookup->tick);
	/* The first refusal is an event anyway. */
	if (!first)
		weir_event_source(wn, limit, request->source);
}

u16 weir_limit_ask_block(const struct weir_limit *limit, struct weir_request *request, bool masks)
{
	u16 flags;

	if (masks)
		weir_request_mask(request, limit);
	flags = weir_table_refuse(limit->table, &request->lookup);
	return flags ?: weir_table_moved(limit->table, &request->lookup) ? WEIR_AGAIN :
	       WEIR_CHARGED;
}

void weir_limit_report(struct weir_net *wn, const struct weir_limit *limit,
		       struct weir_request *request, u16 flags)
{
	const struct weir_result result = { flags };
	struct weir_lookup *lookup = &request->lookup;

	if (trace_weir_charge_enabled() && flags & WEIR_CHARGED && limit->cfg.budgets)
		trace_weir_charge(limit, request->source, request->cost.packets,
				  request->cost.bytes, charged_at(limit, lookup));
	if (!weir_result_refuses(result))
		return;
	if (flags & WEIR_FIRST && flags & WEIR_NEWCOMER) {
		weir_event_newcomers(wn, limit);
		return;
	}
	if (flags & WEIR_FIRST)
		trace_weir_limited(limit, result, request->source, lookup->tick);
	/* A source without an entry may be innocent: the floor is what others sent. */
	if (limit->penalty_ticks && !limit->cfg.observe && weir_result_has_entry(result))
		punish(wn, limit, request, result);
	if (flags & WEIR_FIRST)
		weir_event_source(wn, limit, request->source);
}

/*
 * Give back what weir_limit_charge() has charged with the receipt, if anything, and it has not left
 * its window. Others may have been charged with the request since. Context: as the charge.
 */
void weir_limit_undo(const struct weir_limit *limit, struct weir_request *request,
		     const struct weir_charged *receipt)
{
	struct weir_lookup *lookup = &request->lookup;

	if (weir_result_verdict(receipt->result) != WEIR_ADMIT)
		return;
	if (receipt->result.flags & WEIR_NEWCOMER)
		weir_newcomers_uncharge(&limit->newcomers, request->cost.packets,
					receipt->result.flags, &receipt->newcomers);
	if (weir_request_prepare(request, limit))
		return;
	lookup->receipt = receipt->source;
	if (weir_table_uncharge(limit->table, lookup))
		trace_weir_uncharge(limit, request->source, request->cost.packets,
				    request->cost.bytes, charged_at(limit, lookup));
	if (receipt->result.flags & WEIR_MET)
		weir_table_unmeet(limit->table, lookup);
}

/*
 * As weir_limit_charge(), for a program, which may take less than it asks for, or reserve. It
 * names the source, so no source is limited by that, nor is it a stranger: the newcomers' budget
 * is not asked.
 */
struct weir_result weir_limit_take(struct weir_net *wn, const struct weir_limit *limit,
				   struct weir_request *request, struct weir_take *take)
{
	struct weir_lookup *lookup = &request->lookup;
	u16 flags;

	take->permit = (struct weir_permit) { .known_ticks = limit->newcomers.known_ticks };
	weir_request_prepare(request, limit);
	lookup->budgets = weir_limit_room(limit, request->source, lookup->own);
	if (take->due) {
		lookup->own[0] = 2 * take->due;
		lookup->budgets = lookup->own;
	}
	weir_batch_return(limit->table, lookup);
	flags = weir_table_take(limit->table, lookup, take);
	if (flags & WEIR_EVICTED) {
		weir_limit_count(limit, WEIR_COUNTER_OF(evictions), 1);
		weir_event_pressure(wn, limit, lookup->tick);
	}
	return (struct weir_result) { flags };
}
