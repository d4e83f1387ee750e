/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ask a limit, charge it, undo that: for packets, for frames that have no buffer yet, and for
 * requests of programs. Batches of CPUs, newcomers' budgets, penalties, events and traces are
 * part of this, and nobody else's. Counters and the refusal cache are the caller's.
 *
 * A limit that is charged alone needs no receipt. If others may still refuse, each is charged
 * with one, and weir_limit_undo() takes it.
 *
 * Context: BH off, RCU read lock, and between weir_hook_lock() and weir_hook_unlock(). The limit
 * is one of the present configuration, of @wn.
 */
#ifndef WEIR_CHARGE_H
#define WEIR_CHARGE_H

#include "compat.h"
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/result.h"
#include "packet/packet.h"
#include "path/events.h"
#include "path/trace.h"
#include "table/shared.h"

/* What a source asks of limits, one after the other. */
struct weir_request {
	const struct weir_source *source;	/* whole address */
	struct weir_cost cost;
	/* Set by ask and charge */
	struct weir_prefix prefix;	/* of the limit asked last; invalid at first */
	struct weir_source masked;	/* @source, masked to it */
	struct weir_lookup lookup;	/* in its table; the tick is given, and kept */
};

/* What undoes a charge. */
struct weir_charged {
	struct weir_receipt source;
	struct weir_receipt newcomers;	/* if it was charged as a newcomer */
	struct weir_result result;	/* of the charge */
};

/* Begin a request of packets of a whole address, which stays the caller's; @tick: weir_clock(). */
static inline void weir_request_init(struct weir_request *request,
				     const struct weir_source *source, struct weir_cost cost,
				     u64 tick)
{
	request->source = source;
	request->cost = cost;
	request->prefix.len4 = U8_MAX;
	request->lookup.tick = tick;
}

/* Mask the source as a limit does, and hash it. */
static inline void weir_request_mask(struct weir_request *request, const struct weir_limit *limit)
{
	struct weir_lookup *lookup = &request->lookup;

	lookup->source = weir_source_masked(request->source, limit->cfg.prefix, &request->masked);
	lookup->hash = weir_source_hash(lookup->source, limit->cfg.prefix, &limit->key);
}

/* Prepare the lookup in the table of one of several limits. Returns as weir_limit_cost(). */
static inline u16 weir_request_prepare(struct weir_request *request,
				       const struct weir_limit *limit)
{
	u16 flags = weir_limit_cost(limit, &request->lookup, request->source,
				    request->cost.packets, request->cost.bytes);

	if (request->prefix.len4 != limit->cfg.prefix.len4 ||
	    request->prefix.len6 != limit->cfg.prefix.len6) {
		request->prefix = limit->cfg.prefix;
		weir_request_mask(request, limit);
	}
	return flags;
}

/* Penalties, events and traces of a result, but for pressure. */
void weir_limit_report(struct weir_net *wn, const struct weir_limit *limit,
		       struct weir_request *request, u16 flags);

/*
 * Refuse the source if it is blocked under a limit that only blocks: else WEIR_CHARGED. @masks: it
 * is not masked yet.
 */
u16 weir_limit_ask_block(const struct weir_limit *limit, struct weir_request *request, bool masks);

/*
 * Charge the source, or refuse it: WEIR_ADMIT, WEIR_REFUSE or WEIR_RESTART. With @receipt NULL
 * the request is that of this limit alone.
 */
static __always_inline struct weir_result
weir_limit_charge(struct weir_net *wn, const struct weir_limit *limit,
		  struct weir_request *request, struct weir_charged *receipt)
{
	struct weir_lookup *lookup = &request->lookup;
	u16 flags;

	if (receipt) {
		flags = weir_request_prepare(request, limit);
	} else {
		flags = weir_limit_cost(limit, lookup, request->source, request->cost.packets,
					request->cost.bytes);
		if (likely(!flags))
			weir_request_mask(request, limit);
	}
	if (likely(!flags))
		flags = weir_batch_wanted(limit->table, lookup->source) ?
			weir_batch_charge(limit->table, lookup) :
			weir_table_charge(limit->table, lookup);
	/* The common case first, so that the compiler specialises the callers for it. */
	if (unlikely(flags != WEIR_CHARGED) || trace_weir_charge_enabled()) {
		if (flags == WEIR_NEWCOMER)
			flags = weir_newcomers_charge(&limit->newcomers, limit->table, lookup,
						      request->cost.packets);
		else if (flags == WEIR_UNCHARGED)
			flags = weir_limit_ask_block(limit, request, !receipt);
		if (flags & (WEIR_EVICTED | WEIR_FLOORED))
			weir_event_pressure(wn, limit, lookup->tick);
		if (flags & WEIR_FIRST || unlikely(limit->penalty_ticks) ||
		    trace_weir_charge_enabled())
			weir_limit_report(wn, limit, request, flags);
	}
	if (receipt) {
		receipt->result.flags = flags;
		receipt->source = lookup->receipt;
		receipt->newcomers = lookup->newcomer;
	}
	return (struct weir_result) { flags };
}

/*
 * Refuse the source without a charge, if that is certain: WEIR_REFUSE or WEIR_UNSURE. @early: of
 * a frame, which the hook will see, perhaps on another CPU.
 */
static inline struct weir_result
weir_limit_ask(struct weir_net *wn, const struct weir_limit *limit,
	       struct weir_request *request, const bool early)
{
	bool steered = early && weir_packets_steered();
	u16 flags = weir_request_prepare(request, limit);
	struct weir_lookup *lookup = &request->lookup;
	struct weir_table *table = limit->table;

	if (unlikely(flags & ~WEIR_UNCHARGED))
		return (struct weir_result) { flags };
	/* The source may still be in the predecessor, and only the hook moves it. */
	if (early && unlikely(rcu_access_pointer(table->old)))
		return (struct weir_result) { };
	/*
	 * The unspent batch may be the room that is missing: see weir_batch_charge(). It is
	 * another CPU's if that runs the hook.
	 */
	if (weir_batch_wanted(table, lookup->source) &&
	    (steered || weir_batch_left(table, lookup->source)))
		return (struct weir_result) { };
	flags = weir_table_refuse(table, lookup);
	/* The newcomers' budget has batches, too. */
	if (!flags && limit->newcomers.budget && !steered)
		flags = weir_newcomers_refuse(&limit->newcomers, limit->table, lookup);
	if (flags && unlikely(limit->penalty_ticks))
		weir_limit_report(wn, limit, request, flags);
	return (struct weir_result) { flags };
}

void weir_limit_undo(const struct weir_limit *limit, struct weir_request *request,
		     const struct weir_charged *receipt);
struct weir_result weir_limit_take(struct weir_net *wn, const struct weir_limit *limit,
				   struct weir_request *request, struct weir_take *take);

#endif /* WEIR_CHARGE_H */
