/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One packet's way through the limits: the steps that a lone limit and several
 * have in common. For hook.c and passage.c alone.
 */
#ifndef WEIR_PASSAGE_H
#define WEIR_PASSAGE_H

#include <linux/skbuff.h>

#include "compat.h"
#include "cost.h"
#include "limit.h"
#include "recent.h"
#include "table.h"
#include "trace.h"
#include "weir.h"

/* What became of a packet at a limit, while the others are asked. */
#define WEIR_MET_NO_ROOM	BIT(0)	/* it refuses */
#define WEIR_MET_FLOORED	BIT(1)	/* ... for its bucket's floor */
#define WEIR_MET_TOO_LARGE	BIT(2)	/* ... for a budget smaller than it */
#define WEIR_MET_CHARGED	BIT(3)

/**
 * struct weir_passage - one packet's way through the limits
 * @packet: the packet
 * @cost: what it costs
 * @tick: now
 * @place: among the exemptions
 * @source: the sender as the last limit that was asked counts it
 * @masked: it, where it is not whole
 * @hashed: @visit has its hash
 * @visit: to the table of the last limit that was asked
 */
struct weir_passage {
	struct weir_packet packet;
	struct weir_cost cost;
	u64 tick;
	struct weir_exempt_place place;
	const struct weir_source *source;
	struct weir_source masked;
	bool hashed;
	struct weir_visit visit;
};

unsigned int weir_passage_charged(struct weir_passage *passage,
				  struct weir_net *wn,
				  const struct weir_limit *limit,
				  unsigned int result, u8 *fate);
int weir_passage_limits(struct weir_passage *passage, struct weir_net *wn,
			const struct weir_config *config, struct sk_buff *skb);

/**
 * weir_passage_seen - count a packet of the namespace
 * @wn: namespace
 * @outcome: what became of it
 * @unparsable: it was cut short
 *
 * Context: softirq.
 */
static __always_inline void weir_passage_seen(struct weir_net *wn,
					      enum weir_outcome outcome,
					      bool unparsable)
{
	struct weir_net_stats *stats = this_cpu_ptr(wn->stats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(&stats->packets[outcome]);
	if (unlikely(unparsable))
		u64_stats_inc(&stats->packets[WEIR_SEEN_UNPARSABLE]);
	u64_stats_update_end(&stats->syncp);
}

/**
 * weir_passage_count - count a packet of a limit
 * @limit: limit
 * @cost: of the packet
 * @fate: what became of it
 * @why: WEIR_MET_*
 *
 * Context: softirq.
 */
static __always_inline void weir_passage_count(const struct weir_limit *limit,
					       struct weir_cost cost,
					       enum weir_fate fate, u8 why)
{
	struct weir_limit_stats *stats = this_cpu_ptr(limit->stats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->packets[fate], cost.packets);
	u64_stats_add(&stats->bytes[fate], cost.bytes);
	if (unlikely(why & WEIR_MET_FLOORED)) {
		u64_stats_add(&stats->packets[WEIR_FLOOR_REFUSED], cost.packets);
		u64_stats_add(&stats->bytes[WEIR_FLOOR_REFUSED], cost.bytes);
	}
	if (unlikely(why & WEIR_MET_TOO_LARGE)) {
		u64_stats_add(&stats->packets[WEIR_TOO_LARGE], cost.packets);
		u64_stats_add(&stats->bytes[WEIR_TOO_LARGE], cost.bytes);
	}
	u64_stats_update_end(&stats->syncp);
}

/**
 * weir_passage_source - the sender as a limit counts it
 * @passage: packet
 * @limit: limit
 */
static __always_inline void
weir_passage_source(struct weir_passage *passage,
		    const struct weir_limit *limit)
{
	passage->source = weir_source_masked(&passage->packet.source,
					     limit->prefix, &passage->masked);
	passage->hashed = false;
}

/**
 * weir_passage_hash - its hash, once
 * @passage: packet whose source is as @limit counts it
 * @wn: namespace
 * @limit: limit
 */
static __always_inline void weir_passage_hash(struct weir_passage *passage,
					      const struct weir_net *wn,
					      const struct weir_limit *limit)
{
	if (passage->hashed)
		return;
	passage->visit.hash = weir_source_hash(passage->source, limit->prefix,
					       &wn->key);
	passage->hashed = true;
}

/**
 * weir_passage_meets - is a limit asked about the packet?
 * @passage: packet
 * @limit: limit
 *
 * Return: whether it matches and is not exempt from this limit.
 */
static __always_inline bool
weir_passage_meets(const struct weir_passage *passage,
		   const struct weir_limit *limit)
{
	return weir_match_packet(&limit->match, &passage->packet) &&
	       (likely(!passage->place.exempts) ||
		!weir_exempt_from(&passage->place, passage->packet.in->name,
				  limit->id));
}

/**
 * weir_passage_why - a table's refusal in other words
 * @result: what weir_table_refuse() or weir_table_charge() returned
 *
 * Return: WEIR_MET_*.
 */
static inline u8 weir_passage_why(unsigned int result)
{
	return WEIR_MET_NO_ROOM |
	       (result & WEIR_FLOORED ? WEIR_MET_FLOORED : 0);
}

/**
 * weir_passage_ask - does a limit surely refuse?
 * @passage: packet whose source is as @limit counts it
 * @wn: namespace
 * @limit: limit that it meets
 *
 * Asked before anything is charged.
 *
 * Context: softirq, rcu_read_lock.
 * Return: WEIR_MET_*, 0 if it may have room.
 */
static __always_inline u8 weir_passage_ask(struct weir_passage *passage,
					   struct weir_net *wn,
					   const struct weir_limit *limit)
{
	unsigned int result;
	u64 cost;

	cost = limit->bytes ? passage->cost.bytes : passage->cost.packets;
	if (unlikely(cost > limit->budget))
		return WEIR_MET_NO_ROOM | WEIR_MET_TOO_LARGE;
	passage->visit.tick = passage->tick;
	result = weir_table_recall(limit->table, passage->source, cost,
				   limit->budget, &passage->visit);
	if (likely(result & WEIR_REFUSED))
		return WEIR_MET_NO_ROOM;
	passage->hashed |= result & WEIR_KNOWN;
	if (result & WEIR_ROOMY)
		return 0;
	weir_passage_hash(passage, wn, limit);
	result = weir_table_refuse(limit->table, passage->source, cost,
				   limit->budget, &passage->visit);
	if (!result)
		return 0;
	if (unlikely(result & WEIR_FLOORED))
		weir_event_pressure(wn, limit, passage->visit.hash,
				    passage->tick);
	return weir_passage_why(result);
}

/**
 * weir_passage_charge - charge a limit
 * @passage: packet whose visit is to the table of @limit
 * @wn: namespace
 * @limit: limit that may have room
 * @fate: what became of it here
 *
 * Context: softirq, rcu_read_lock.
 * Return: WEIR_REFUSED, WEIR_AGAIN or neither.
 */
static __always_inline unsigned int
weir_passage_charge(struct weir_passage *passage, struct weir_net *wn,
		    const struct weir_limit *limit, u8 *fate)
{
	unsigned int result;

	result = weir_table_charge(limit->table, passage->source, passage->cost,
				   limit->budget, &passage->visit);
	if (unlikely(result || passage->visit.tick != passage->tick)) {
		result = weir_passage_charged(passage, wn, limit, result, fate);
		if (result)
			return result;
	}
	*fate |= WEIR_MET_CHARGED;
	trace_weir_charge(limit, &passage->packet.source,
			  passage->cost.packets, passage->cost.bytes,
			  passage->tick);
	return 0;
}

/**
 * weir_passage_drop - the end of a packet that a limit drops
 * @passage: packet
 * @wn: namespace
 * @limit: limit
 * @fate: what became of it there
 * @skb: the packet
 *
 * Context: softirq.
 * Return: verdict.
 */
static __always_inline unsigned int
weir_passage_drop(struct weir_passage *passage, struct weir_net *wn,
		  const struct weir_limit *limit, u8 fate, struct sk_buff *skb)
{
	weir_passage_count(limit, passage->cost, WEIR_DROPPED, fate);
	weir_passage_seen(wn, WEIR_SEEN_DROPPED,
			  passage->packet.facts.flags & WEIR_PACKET_CUT);
	trace_weir_drop(skb, limit, &passage->packet.source,
			passage->cost.packets, passage->cost.bytes,
			passage->tick);
	return weir_nf_drop(skb);
}

/**
 * weir_passage_accept - the end of a packet that goes on
 * @passage: packet
 * @wn: namespace
 * @outcome: as what it is counted
 *
 * Context: softirq.
 * Return: verdict.
 */
static __always_inline unsigned int
weir_passage_accept(const struct weir_passage *passage, struct weir_net *wn,
		    enum weir_outcome outcome)
{
	weir_passage_seen(wn, outcome,
			  passage->packet.facts.flags & WEIR_PACKET_CUT);
	return NF_ACCEPT;
}

#endif /* WEIR_PASSAGE_H */
