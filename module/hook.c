// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet's way: which limits it meets, whether each has room, and the
 * verdict. The hook stands in PRE_ROUTING in front of reassembly and of the
 * raw tables, so a flood pays before it costs anything else.
 */
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/skbuff.h>

#include "compat.h"
#include "cost.h"
#include "hook.h"
#include "limit.h"
#include "recent.h"
#include "table.h"
#include "weir.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* What became of a packet at a limit, while the others are asked. */
#define NO_ROOM		BIT(0)	/* it refuses */
#define FLOORED		BIT(1)	/* ... for its bucket's floor */
#define TOO_LARGE	BIT(2)	/* ... for a budget smaller than it */
#define CHARGED		BIT(3)

/**
 * struct passage - one packet's way through the limits
 * @packet: the packet
 * @cost: what it costs
 * @tick: now
 * @place: among the exemptions
 * @source: the sender as the last limit that was asked counts it
 * @masked: it, where it is not whole
 * @hashed: @visit has its hash
 * @visit: to the table of the last limit that was asked
 */
struct passage {
	struct weir_packet packet;
	struct weir_cost cost;
	u64 tick;
	struct weir_exempt_place place;
	const struct weir_source *source;
	struct weir_source masked;
	bool hashed;
	struct weir_visit visit;
};

/**
 * struct meetings - the limits that a packet met
 * @count: of them
 * @which: index of each in their order
 * @fate: of the packet at each
 */
struct meetings {
	unsigned int count;
	u8 which[WEIR_LIMITS_MAX];
	u8 fate[WEIR_LIMITS_MAX];
};

/**
 * weir_hook_clock - the coarse clock
 *
 * Return: ticks, the same on all CPUs and never less than before.
 */
u64 weir_hook_clock(void)
{
	return get_jiffies_64();
}

static __always_inline void count_seen(struct weir_net *wn,
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

static __always_inline void count_fate(const struct weir_limit *limit,
				       struct weir_cost cost,
				       enum weir_fate fate, u8 why)
{
	struct weir_limit_stats *stats = this_cpu_ptr(limit->stats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->packets[fate], cost.packets);
	u64_stats_add(&stats->bytes[fate], cost.bytes);
	if (unlikely(why & FLOORED)) {
		u64_stats_add(&stats->packets[WEIR_FLOOR_REFUSED], cost.packets);
		u64_stats_add(&stats->bytes[WEIR_FLOOR_REFUSED], cost.bytes);
	}
	if (unlikely(why & TOO_LARGE)) {
		u64_stats_add(&stats->packets[WEIR_TOO_LARGE], cost.packets);
		u64_stats_add(&stats->bytes[WEIR_TOO_LARGE], cost.bytes);
	}
	u64_stats_update_end(&stats->syncp);
}

/* The sender as a limit counts it. */
static __always_inline void passage_source(struct passage *passage,
					   const struct weir_limit *limit)
{
	passage->source = weir_source_masked(&passage->packet.source,
					     limit->prefix, &passage->masked);
	passage->hashed = false;
}

/* ... where limits of one prefix share the work; @last is the one before. */
static void passage_source_again(struct passage *passage,
				 const struct weir_limit *limit,
				 const struct weir_limit *last)
{
	if (!last || last->prefix.len4 != limit->prefix.len4 ||
	    last->prefix.len6 != limit->prefix.len6)
		passage_source(passage, limit);
}

static __always_inline void passage_hash(struct passage *passage,
					 const struct weir_net *wn,
					 const struct weir_limit *limit)
{
	if (passage->hashed)
		return;
	passage->visit.hash = weir_source_hash(passage->source, limit->prefix,
					       &wn->key);
	passage->hashed = true;
}

static u8 result_why(unsigned int result)
{
	return NO_ROOM | (result & WEIR_FLOORED ? FLOORED : 0);
}

/* Is a limit asked about the packet? */
static __always_inline bool limit_meets(const struct passage *passage,
					const struct weir_limit *limit)
{
	return weir_match_packet(&limit->match, &passage->packet) &&
	       (likely(!passage->place.exempts) ||
		!weir_exempt_from(&passage->place, passage->packet.in->name,
				  limit->id));
}

/* Does a limit surely refuse? Asked before anything is charged. */
static __always_inline u8 limit_ask(struct passage *passage,
				    struct weir_net *wn,
				    const struct weir_limit *limit)
{
	unsigned int result;
	u64 cost;

	cost = limit->bytes ? passage->cost.bytes : passage->cost.packets;
	if (unlikely(cost > limit->budget))
		return NO_ROOM | TOO_LARGE;
	passage->visit.tick = passage->tick;
	result = weir_table_recall(limit->table, passage->source, cost,
				   limit->budget, &passage->visit);
	if (likely(result & WEIR_REFUSED))
		return NO_ROOM;
	passage->hashed |= result & WEIR_KNOWN;
	if (result & WEIR_ROOMY)
		return 0;
	passage_hash(passage, wn, limit);
	result = weir_table_refuse(limit->table, passage->source, cost,
				   limit->budget, &passage->visit);
	if (!result)
		return 0;
	if (unlikely(result & WEIR_FLOORED))
		weir_event_pressure(wn, limit, passage->tick);
	return result_why(result);
}

/*
 * What is seldom to be said of a charge. The clock was late if that counted at
 * another time: it is given back and all starts again by the bucket's time, so
 * that all limits count at one time and can give back at it.
 */
static noinline unsigned int limit_charged(struct passage *passage,
					   struct weir_net *wn,
					   const struct weir_limit *limit,
					   unsigned int result, u8 *fate)
{
	if (result & WEIR_AGAIN)
		return result;
	if (result & WEIR_EVICTED)
		weir_limit_count_evictions(limit, 1);
	if (result & (WEIR_EVICTED | WEIR_FLOORED))
		weir_event_pressure(wn, limit, passage->tick);
	if (!(result & WEIR_REFUSED)) {
		if (passage->visit.tick == passage->tick)
			return 0;
		weir_table_uncharge(limit->table, passage->source,
				    passage->visit.hash, passage->visit.tick,
				    passage->cost);
		return WEIR_AGAIN;
	}
	if (result & WEIR_FIRST) {
		trace_weir_limited(limit, &passage->packet.source,
				   passage->visit.tick);
		weir_event_source(wn, limit, &passage->packet.source);
	}
	*fate |= result_why(result);
	return result;
}

/* Charge a limit. Returns WEIR_REFUSED, WEIR_AGAIN or neither. */
static __always_inline unsigned int limit_charge(struct passage *passage,
						 struct weir_net *wn,
						 const struct weir_limit *limit,
						 u8 *fate)
{
	unsigned int result;

	result = weir_table_charge(limit->table, passage->source, passage->cost,
				   limit->budget, &passage->visit);
	if (unlikely(result || passage->visit.tick != passage->tick)) {
		result = limit_charged(passage, wn, limit, result, fate);
		if (result)
			return result;
	}
	*fate |= CHARGED;
	trace_weir_charge(limit, &passage->packet.source,
			  passage->cost.packets, passage->cost.bytes,
			  passage->tick);
	return 0;
}

/* Give back what the first of the limits that it met were charged. */
static void passage_give_back(struct passage *passage, struct weir_net *wn,
			      const struct weir_config *config,
			      struct meetings *met, unsigned int count)
{
	const struct weir_limit *limit;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!(met->fate[i] & CHARGED))
			continue;
		limit = config->limit[met->which[i]];
		passage_source(passage, limit);
		passage_hash(passage, wn, limit);
		weir_table_uncharge(limit->table, passage->source,
				    passage->visit.hash, passage->tick,
				    passage->cost);
		trace_weir_uncharge(limit, &passage->packet.source,
				    passage->cost.packets,
				    passage->cost.bytes, passage->tick);
		met->fate[i] &= ~CHARGED;
	}
}

/*
 * Ask the limits in their order. Returns the place among those met of the one
 * that drops the packet, their number if none does, or -1 to start again: a
 * new configuration is out, or time is later than it seemed.
 */
static int passage_ask(struct passage *passage, struct weir_net *wn,
		       const struct weir_config *config, struct meetings *met)
{
	const struct weir_limit *limit, *last = NULL;
	struct weir_gate_view view;
	unsigned int i, result;
	u64 late;
	u8 fate;

	view = weir_gate_view(&passage->packet);
	met->count = 0;
	for (i = 0; i < config->count; i++) {
		if (weir_gate_shut(&config->gate[i], &view))
			continue;
		limit = config->limit[i];
		if (!limit_meets(passage, limit))
			continue;
		passage_source_again(passage, limit, last);
		last = limit;
		fate = limit_ask(passage, wn, limit);
		met->which[met->count] = i;
		met->fate[met->count++] = fate;
		if (fate & NO_ROOM && !limit->observe)
			return met->count - 1;
	}
	for (i = 0; i < met->count; i++) {
		if (met->fate[i] & NO_ROOM)
			continue;
		limit = config->limit[met->which[i]];
		if (met->count > 1) {
			/* The visit was to another table. */
			passage_source_again(passage, limit, last);
			last = limit;
			passage_hash(passage, wn, limit);
			passage->visit.tick = passage->tick;
			passage->visit.recalled = false;
			passage->visit.recent = NULL;
			passage->visit.table = NULL;
		}
		result = limit_charge(passage, wn, limit, &met->fate[i]);
		if (likely(!result) ||
		    (result & WEIR_REFUSED && limit->observe))
			continue;
		late = max(passage->tick, passage->visit.tick);
		passage_give_back(passage, wn, config, met, i);
		if (!(result & WEIR_AGAIN))
			return i;
		passage->tick = late;
		return -1;
	}
	return met->count;
}

static __always_inline unsigned int
passage_drop(struct passage *passage, struct weir_net *wn,
	     const struct weir_limit *limit, u8 fate, struct sk_buff *skb)
{
	count_fate(limit, passage->cost, WEIR_DROPPED, fate);
	count_seen(wn, WEIR_SEEN_DROPPED,
		   passage->packet.facts.flags & WEIR_PACKET_CUT);
	trace_weir_drop(skb, limit, &passage->packet.source,
			passage->cost.packets, passage->cost.bytes,
			passage->tick);
	return weir_nf_drop(skb);
}

static __always_inline unsigned int
passage_accept(const struct passage *passage, struct weir_net *wn,
	       enum weir_outcome outcome)
{
	count_seen(wn, outcome, passage->packet.facts.flags & WEIR_PACKET_CUT);
	return NF_ACCEPT;
}

/*
 * Several limits: all are asked before one is charged. Returns the verdict, or
 * -1 to start again.
 */
static noinline int passage_limits(struct passage *passage,
				   struct weir_net *wn,
				   const struct weir_config *config,
				   struct sk_buff *skb)
{
	/* What is filled before it is read is not cleared. */
	struct meetings met __weir_uninitialized;
	int i, dropper = passage_ask(passage, wn, config, &met);
	const struct weir_limit *limit;
	bool drops;

	if (unlikely(dropper < 0))
		return -1;
	drops = dropper < met.count;
	for (i = 0; i < dropper; i++)
		count_fate(config->limit[met.which[i]], passage->cost,
			   met.fate[i] & NO_ROOM ? WEIR_WOULD_DROP :
			   drops ? WEIR_ELSEWHERE : WEIR_ADMITTED, met.fate[i]);
	if (drops) {
		limit = config->limit[met.which[dropper]];
		return passage_drop(passage, wn, limit, met.fate[dropper], skb);
	}
	return passage_accept(passage, wn, met.count ? WEIR_SEEN_ADMITTED :
			      WEIR_SEEN_UNMATCHED);
}

/* One limit alone, as passage_limits(): there is nothing to give back. */
static __always_inline int passage_limit(struct passage *passage,
					 struct weir_net *wn,
					 const struct weir_limit *limit,
					 struct sk_buff *skb)
{
	u8 fate;

	if (!limit_meets(passage, limit))
		return passage_accept(passage, wn, WEIR_SEEN_UNMATCHED);
	passage_source(passage, limit);
	fate = limit_ask(passage, wn, limit);
	if (!(fate & NO_ROOM) &&
	    unlikely(limit_charge(passage, wn, limit, &fate) & WEIR_AGAIN)) {
		passage->tick = max(passage->tick, passage->visit.tick);
		return -1;
	}
	if (fate & NO_ROOM && !limit->observe)
		return passage_drop(passage, wn, limit, fate, skb);
	count_fate(limit, passage->cost,
		   fate & NO_ROOM ? WEIR_WOULD_DROP : WEIR_ADMITTED, fate);
	return passage_accept(passage, wn, WEIR_SEEN_ADMITTED);
}

static unsigned int weir_hook(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	/* Each part is filled before it is read. */
	struct passage passage __weir_uninitialized;
	struct net_device *in = state->in;
	const struct weir_config *config;
	struct weir_net *wn = priv;
	int verdict;

	if (in->flags & IFF_LOOPBACK || weir_packet_charged(skb, in, state->pf))
		return NF_ACCEPT;

	weir_packet_init(&passage.packet, skb, in, state->pf);
	passage.cost = weir_packet_cost(skb, state->pf);
	passage.tick = weir_hook_clock();
	do {
		config = weir_config_get(wn);
		if (unlikely(!config))
			return NF_ACCEPT;
		passage.place.exempts = config->exempts;
		if (config->exempts) {
			weir_exempt_place(config->exempts,
					  &passage.packet.source, in->name,
					  &passage.place);
			if (passage.place.all) {
				count_seen(wn, WEIR_SEEN_EXEMPT, false);
				return NF_ACCEPT;
			}
		}
		weir_packet_parse(&passage.packet,
				  config->conds & WEIR_IF_TRANSPORT);
		if (likely(config->count == 1))
			verdict = passage_limit(&passage, wn, config->limit[0],
						skb);
		else
			verdict = passage_limits(&passage, wn, config, skb);
	} while (unlikely(verdict < 0));
	return verdict;
}

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook		= weir_hook,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP_PRI_RAW_BEFORE_DEFRAG - 1,
	},
	{
		.hook		= weir_hook,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP6_PRI_RAW_BEFORE_DEFRAG - 1,
	},
};

/**
 * weir_hook_register - let packets of a namespace pass the hook
 * @wn: namespace, locked, without hooks
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int weir_hook_register(struct weir_net *wn)
{
	struct nf_hook_ops *ops = wn->ops;
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(hook_ops) != ARRAY_SIZE(wn->ops));
	for (i = 0; i < ARRAY_SIZE(hook_ops); i++) {
		ops[i] = hook_ops[i];
		ops[i].priv = wn;
	}
	return nf_register_net_hooks(wn->net, ops, ARRAY_SIZE(hook_ops));
}

/**
 * weir_hook_unregister - let them pass by
 * @wn: namespace with hooks
 *
 * Packets may still be in the hook until a grace period has passed.
 *
 * Context: process, may sleep.
 */
void weir_hook_unregister(struct weir_net *wn)
{
	nf_unregister_net_hooks(wn->net, wn->ops, ARRAY_SIZE(wn->ops));
}
