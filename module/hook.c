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
 * @late: the time of a bucket that was ahead, or 0
 * @place: among the exemptions
 * @masked: the sender as the last limit that was asked counts it
 * @prefix: what it was masked with
 * @hash: of it
 * @has_mask: @masked and @prefix are filled
 * @hashed: @hash is, too
 * @glance: at the source in the table of the last limit that was asked
 * @met: limits that the packet met
 * @which: index of each in their order
 * @fate: of each
 */
struct passage {
	struct weir_packet packet;
	struct weir_cost cost;
	u64 tick;
	u64 late;
	struct weir_exempt_place place;
	struct weir_source masked;
	struct weir_prefix prefix;
	u32 hash;
	bool has_mask;
	bool hashed;
	struct weir_glance glance;
	unsigned int met;
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

static void count_seen(struct weir_net *wn, enum weir_outcome outcome,
		       bool unparsable)
{
	struct weir_net_stats *stats = this_cpu_ptr(wn->stats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(&stats->packets[outcome]);
	if (unparsable)
		u64_stats_inc(&stats->packets[WEIR_SEEN_UNPARSABLE]);
	u64_stats_update_end(&stats->syncp);
}

static void count_fate(const struct weir_limit *limit, struct weir_cost cost,
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

/* The sender as a limit counts it; limits of one prefix share the work. */
static __always_inline void passage_mask(struct passage *passage,
					 const struct weir_limit *limit)
{
	if (passage->has_mask && passage->prefix.len4 == limit->prefix.len4 &&
	    passage->prefix.len6 == limit->prefix.len6)
		return;
	passage->prefix = limit->prefix;
	passage->has_mask = true;
	passage->hashed = false;
	passage->masked = passage->packet.source;
	weir_source_mask(&passage->masked, limit->prefix);
}

static __always_inline u32 passage_hash(struct passage *passage, const struct weir_net *wn)
{
	if (!passage->hashed) {
		passage->hash = weir_source_hash(&passage->masked,
						 passage->prefix, &wn->key);
		passage->hashed = true;
	}
	return passage->hash;
}

static u8 result_why(unsigned int result)
{
	return NO_ROOM | (result & WEIR_FLOORED ? FLOORED : 0);
}

/* Is a limit asked about the packet? */
static bool limit_meets(const struct passage *passage,
			const struct weir_limit *limit)
{
	return weir_match_packet(&limit->match, &passage->packet) &&
	       (likely(!passage->place.exempts) ||
		!weir_exempt_from(&passage->place, passage->packet.in->name,
				  limit->id));
}

/* Does a limit surely refuse? Asked before anything is charged. */
static u8 limit_ask(struct passage *passage, struct weir_net *wn,
		    const struct weir_limit *limit)
{
	unsigned int result;

	if ((limit->bytes ? passage->cost.bytes : passage->cost.packets) >
	    limit->budget)
		return NO_ROOM | TOO_LARGE;
	passage_mask(passage, limit);
	if (weir_table_recall(limit->table, &passage->masked, passage->tick,
			      passage->cost, limit->budget))
		return NO_ROOM;
	result = weir_table_refuse(limit->table, &passage->masked,
				   passage_hash(passage, wn), passage->tick,
				   passage->cost, limit->budget,
				   &passage->glance);
	if (!result)
		return 0;
	if (unlikely(result & WEIR_FLOORED))
		weir_event_pressure(wn, limit, passage->tick);
	return result_why(result);
}

/* Charge a limit. Returns WEIR_REFUSED, WEIR_AGAIN or neither. */
static unsigned int limit_charge(struct passage *passage, struct weir_net *wn,
				 const struct weir_limit *limit, u8 *fate)
{
	u64 tick = passage->tick;
	unsigned int result;

	passage_mask(passage, limit);
	result = weir_table_charge(limit->table, &passage->masked,
				   passage_hash(passage, wn), &tick, passage->cost,
				   limit->budget, &passage->glance);
	if (result & WEIR_AGAIN)
		return result;
	if (unlikely(result & WEIR_EVICTED))
		weir_limit_count_evictions(limit, 1);
	if (unlikely(result & (WEIR_EVICTED | WEIR_FLOORED)))
		weir_event_pressure(wn, limit, passage->tick);
	if (unlikely(tick != passage->tick) && !(result & WEIR_REFUSED)) {
		/* The clock was late. Start again by the bucket's time, so that
		 * all limits count at one time and can give back at it.
		 */
		weir_table_uncharge(limit->table, &passage->masked,
				    passage_hash(passage, wn), tick,
				    passage->cost);
		passage->late = tick;
		return WEIR_AGAIN;
	}
	if (!(result & WEIR_REFUSED)) {
		*fate |= CHARGED;
		trace_weir_charge(limit, &passage->packet.source,
				  passage->cost.packets, passage->cost.bytes,
				  tick);
		return 0;
	}
	if (result & WEIR_FIRST) {
		trace_weir_limited(limit, &passage->packet.source, tick);
		weir_event_source(wn, limit, &passage->packet.source);
	}
	*fate |= result_why(result);
	return result;
}

/* Give back what the first of the limits that it met were charged. */
static void passage_give_back(struct passage *passage, struct weir_net *wn,
			      const struct weir_config *config,
			      unsigned int count)
{
	const struct weir_limit *limit;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!(passage->fate[i] & CHARGED))
			continue;
		limit = config->limit[passage->which[i]];
		passage_mask(passage, limit);
		weir_table_uncharge(limit->table, &passage->masked,
				    passage_hash(passage, wn), passage->tick,
				    passage->cost);
		trace_weir_uncharge(limit, &passage->packet.source,
				    passage->cost.packets,
				    passage->cost.bytes, passage->tick);
		passage->fate[i] &= ~CHARGED;
	}
}

/* Count what became of a packet at the first of the limits that it met. */
static __always_inline void passage_count(struct passage *passage,
					  const struct weir_config *config,
					  unsigned int count,
					  enum weir_fate fate)
{
	unsigned int i;
	u8 had;

	for (i = 0; i < count; i++) {
		had = passage->fate[i];
		count_fate(config->limit[passage->which[i]], passage->cost,
			   had & NO_ROOM ? WEIR_WOULD_DROP : fate, had);
	}
}

/*
 * Ask the limits in their order. Returns the place among those met of the one
 * that drops the packet, their number if none does, or -1 to start again: a
 * new configuration is out, or time is later than it seemed.
 */
static int passage_ask(struct passage *passage, struct weir_net *wn,
		       const struct weir_config *config)
{
	const struct weir_limit *limit;
	unsigned int i, met = 0, result;
	u8 fate;

	passage->met = 0;
	for (i = 0; i < config->count; i++) {
		limit = config->limit[i];
		if (!limit_meets(passage, limit))
			continue;
		fate = limit_ask(passage, wn, limit);
		passage->which[met] = i;
		passage->fate[met] = fate;
		passage->met = ++met;
		if (fate & NO_ROOM && !limit->observe)
			return met - 1;
	}
	for (i = 0; i < met; i++) {
		if (passage->fate[i] & NO_ROOM)
			continue;
		limit = config->limit[passage->which[i]];
		result = limit_charge(passage, wn, limit, &passage->fate[i]);
		if (likely(!result) ||
		    (result & WEIR_REFUSED && limit->observe))
			continue;
		passage_give_back(passage, wn, config, i);
		return result & WEIR_AGAIN ? -1 : i;
	}
	return met;
}

static unsigned int passage_drop(struct passage *passage, struct weir_net *wn,
				 const struct weir_config *config,
				 unsigned int dropper, struct sk_buff *skb)
{
	const struct weir_limit *limit = config->limit[passage->which[dropper]];

	passage_count(passage, config, dropper, WEIR_ELSEWHERE);
	count_fate(limit, passage->cost, WEIR_DROPPED, passage->fate[dropper]);
	count_seen(wn, WEIR_SEEN_DROPPED,
		   passage->packet.flags & WEIR_PACKET_CUT);
	trace_weir_drop(skb, limit, &passage->packet.source,
			passage->cost.packets, passage->cost.bytes,
			passage->tick);
	return weir_nf_drop(skb);
}

static unsigned int weir_hook(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	/* Each part is filled before it is read. */
	struct passage passage __weir_uninitialized;
	struct net_device *in = state->in;
	const struct weir_config *config;
	struct weir_net *wn = priv;
	int dropper;

	if (in->flags & IFF_LOOPBACK || weir_packet_charged(skb, in, state->pf))
		return NF_ACCEPT;

	weir_packet_init(&passage.packet, skb, in, state->pf);
	passage.cost = weir_packet_cost(skb, state->pf);
	passage.tick = weir_hook_clock();
	passage.late = 0;
	passage.has_mask = false;
	passage.glance.table = NULL;
again:
	config = weir_config_get(wn);
	if (unlikely(!config))
		return NF_ACCEPT;
	passage.place.exempts = config->exempts;
	if (config->exempts) {
		weir_exempt_place(config->exempts, &passage.packet.source,
				  in->name, &passage.place);
		if (passage.place.all) {
			count_seen(wn, WEIR_SEEN_EXEMPT, false);
			return NF_ACCEPT;
		}
	}
	weir_packet_parse(&passage.packet, config->conds & WEIR_IF_TRANSPORT);

	dropper = passage_ask(&passage, wn, config);
	if (unlikely(dropper < 0)) {
		passage.tick = max(passage.tick, passage.late);
		goto again;
	}
	if (dropper < passage.met)
		return passage_drop(&passage, wn, config, dropper, skb);
	passage_count(&passage, config, passage.met, WEIR_ADMITTED);
	count_seen(wn, passage.met ? WEIR_SEEN_ADMITTED : WEIR_SEEN_UNMATCHED,
		   passage.packet.flags & WEIR_PACKET_CUT);
	return NF_ACCEPT;
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
