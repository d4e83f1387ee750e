// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet's way: refusal cache -> source -> limits that match -> refuse, all
 * -> charge, in order. The hook stands in PRE_ROUTING in front of reassembly and
 * of the raw tables, so a flood pays before it costs anything else.
 */
#include <linux/bottom_half.h>
#include <linux/jiffies.h>
#include <linux/local_lock.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/percpu.h>

#include "compat.h"
#include "hook.h"
#include "limit.h"
#include "weir.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* What is CPU-local, caches and counters, belongs to one packet at a time. */
struct hook_cpu {
	local_lock_t lock;
};

static DEFINE_PER_CPU(struct hook_cpu, hook_cpu) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/**
 * struct met - a limit that a packet met
 * @limit: its place among the limits
 * @result: what became of the packet there, WEIR_*
 * @receipt: where it was charged
 */
struct met {
	u8 limit;
	u8 result;
	struct weir_receipt receipt;
};

/**
 * struct context - a packet on its way
 * @packet: it
 * @cost: of it
 * @place: of its source among the exemptions
 * @masked: the source as the last limit that was asked counts it
 * @lookup: at the table of that limit
 * @prefix: of it; that of no limit at first
 * @asked: some limit has asked for what lies behind the network header
 */
struct context {
	struct weir_packet packet;
	struct weir_cost cost;
	struct weir_exempt_place place;
	struct weir_source masked;
	struct weir_lookup lookup;
	struct weir_prefix prefix;
	bool asked;
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
	if (unlikely(unparsable))
		u64_stats_inc(&stats->packets[WEIR_SEEN_UNPARSABLE]);
	u64_stats_update_end(&stats->syncp);
}

static void count_fate(struct weir_limit_stats *stats, enum weir_fate fate,
		       struct weir_cost cost)
{
	u64_stats_add(&stats->packets[fate], cost.packets);
	u64_stats_add(&stats->bytes[fate], cost.bytes);
}

static void count_limit(const struct weir_limit *limit, struct weir_cost cost,
			enum weir_fate fate, u8 result)
{
	struct weir_limit_stats *stats = this_cpu_ptr(limit->stats);

	u64_stats_update_begin(&stats->syncp);
	count_fate(stats, fate, cost);
	if (unlikely(result & WEIR_FLOORED))
		count_fate(stats, WEIR_FLOOR_REFUSED, cost);
	if (unlikely(result & WEIR_TOO_LARGE))
		count_fate(stats, WEIR_TOO_LARGE_REFUSED, cost);
	if (unlikely(result & WEIR_EVICTED))
		u64_stats_inc(&stats->evictions);
	u64_stats_update_end(&stats->syncp);
}

/* Is the limit asked about the packet? */
static bool meets(struct context *ctx, const struct weir_limit *limit)
{
	if (limit->match.conds & WEIR_IF_TRANSPORT) {
		ctx->asked = true;
		if (!(ctx->packet.flags & WEIR_PACKET_PARSED))
			weir_packet_parse(&ctx->packet);
	}
	return weir_match_packet(&limit->match, &ctx->packet) &&
	       (likely(!ctx->place.exempts) ||
		!weir_exempt_from(&ctx->place, ctx->packet.in->name, limit->id));
}

/*
 * Is the packet surely refused? Lays out the lookup at the limit's table, for
 * charge().
 */
static u8 ask(struct context *ctx, const struct weir_net *wn,
	      const struct weir_limit *limit)
{
	struct weir_lookup *lookup = &ctx->lookup;

	lookup->cost = limit->bytes ? ctx->cost.bytes : ctx->cost.packets;
	lookup->budget = limit->budget;
	if (unlikely(lookup->cost > lookup->budget))
		return WEIR_REFUSED | WEIR_TOO_LARGE;
	if (ctx->prefix.len4 != limit->prefix.len4 ||
	    ctx->prefix.len6 != limit->prefix.len6) {
		ctx->prefix = limit->prefix;
		ctx->masked = ctx->packet.source;
		weir_source_mask(&ctx->masked, ctx->prefix);
		lookup->hash = weir_source_hash(&ctx->masked, ctx->prefix,
						&wn->key);
	}
	return weir_table_refuse(limit->table, lookup);
}

/* The tick that a charge counted at: later than a clock that was late. */
static u64 charged_at(const struct weir_limit *limit,
		      const struct weir_lookup *lookup)
{
	if (likely(!lookup->receipt.late))
		return lookup->tick;
	return (div_u64(lookup->tick, limit->slot_ticks) +
		lookup->receipt.late) * limit->slot_ticks;
}

/* Charge what ask() has laid out, and tell what is seldom to be told. */
static u8 charge(struct context *ctx, struct weir_net *wn,
		 const struct weir_limit *limit)
{
	u8 result = weir_table_charge(limit->table, &ctx->lookup);

	if (unlikely(result & (WEIR_EVICTED | WEIR_FLOORED)))
		weir_event_pressure(wn, limit, ctx->lookup.tick);
	if (unlikely(result & WEIR_FIRST)) {
		trace_weir_limited(limit, &ctx->packet.source,
				   ctx->lookup.tick);
		weir_event_source(wn, limit, &ctx->packet.source);
	}
	if (likely(result & WEIR_CHARGED))
		trace_weir_charge(limit, &ctx->packet.source,
				  ctx->cost.packets, ctx->cost.bytes,
				  charged_at(limit, &ctx->lookup));
	return result;
}

static void give_back(struct context *ctx, const struct weir_net *wn,
		      const struct weir_config *config, const struct met *met,
		      unsigned int count)
{
	const struct weir_limit *limit;

	for (; count; count--, met++) {
		if (!(met->result & WEIR_CHARGED))
			continue;
		limit = config->limit[met->limit];
		ask(ctx, wn, limit);
		ctx->lookup.receipt = met->receipt;
		if (weir_table_uncharge(limit->table, &ctx->lookup))
			trace_weir_uncharge(limit, &ctx->packet.source,
					    ctx->cost.packets, ctx->cost.bytes,
					    charged_at(limit, &ctx->lookup));
	}
}

/*
 * The source as caches of refusals know it, for a packet that is one and of
 * which no more need be known. False where that is not so.
 */
static __always_inline bool refusal_key(const struct weir_refusals *refusals,
					const struct sk_buff *skb, u8 family,
					struct weir_source *key)
{
	u8 next;

	if (skb_is_gso(skb) || skb_has_extensions((struct sk_buff *)skb))
		return false;
	if (family == NFPROTO_IPV4) {
		weir_source_ipv4(key, ip_hdr(skb)->saddr, 0);
		if (key->zone || !key->word[0])
			return false;
		key->word[0] &= refusals->mask4;
		return true;
	}
	next = ipv6_hdr(skb)->nexthdr;
	if (next != IPPROTO_UDP && next != IPPROTO_TCP)
		return false;
	weir_source_ipv6(key, &ipv6_hdr(skb)->saddr, 0);
	if (key->zone != WEIR_ZONE_IPV6 || !weir_source_known(key))
		return false;
	key->word[0] &= refusals->mask[0];
	key->word[1] &= refusals->mask[1];
	key->word[2] &= refusals->mask[2];
	key->word[3] &= refusals->mask[3];
	return true;
}

/* Count a refusal for its source, in the cache where one will answer next time. */
static void count_refusal(const struct context *ctx,
			  const struct weir_config *config,
			  const struct weir_limit *limit, bool first,
			  const struct met *met)
{
	const struct weir_packet *packet = &ctx->packet;
	struct weir_source key;

	if (met->result & (WEIR_FLOORED | WEIR_TOO_LARGE))
		return;
	if (first && met->limit < config->refusals.limits &&
	    refusal_key(&config->refusals, packet->skb, packet->family, &key))
		weir_refusal_store(&config->refusals, &key,
				   packet->in->ifindex, limit, &ctx->lookup);
	else
		weir_way_dropped(ctx->lookup.way, ctx->cost.packets, false);
}

/* Count for its source what a limit would drop, once no other has dropped it. */
static void count_observed(struct context *ctx, const struct weir_net *wn,
			   const struct weir_limit *limit, bool alone, u8 result)
{
	if (result & (WEIR_FLOORED | WEIR_TOO_LARGE))
		return;
	/* The lookup was at another table. */
	if (!alone)
		ask(ctx, wn, limit);
	if (ctx->lookup.way)
		weir_way_dropped(ctx->lookup.way, ctx->cost.packets, true);
}

/*
 * Ask and charge the limits in their order. Returns how many the packet met,
 * the last of which drops it if *dropped; or -1 to start again.
 */
static int meet_limits(struct context *ctx, struct weir_net *wn,
		       const struct weir_config *config, struct met *met,
		       bool *dropped)
{
	const struct weir_limit *limit;
	int count = 0, i;

	for (i = 0; i < config->count && !*dropped; i++) {
		limit = config->limit[i];
		if (!meets(ctx, limit))
			continue;
		met[count].limit = i;
		met[count].result = ask(ctx, wn, limit);
		if (met[count].result & WEIR_REFUSED && !limit->observe) {
			count_refusal(ctx, config, limit, !count, &met[count]);
			*dropped = true;
		}
		count++;
	}
	if (*dropped)
		return count;
	for (i = 0; i < count; i++) {
		if (met[i].result & WEIR_REFUSED)
			continue;
		limit = config->limit[met[i].limit];
		/* The lookup was at another table. */
		if (count > 1)
			met[i].result = ask(ctx, wn, limit);
		if (!(met[i].result & WEIR_REFUSED))
			met[i].result = charge(ctx, wn, limit);
		met[i].receipt = ctx->lookup.receipt;
		if (likely(met[i].result & WEIR_CHARGED))
			continue;
		if (met[i].result & WEIR_AGAIN) {
			give_back(ctx, wn, config, met, i);
			return -1;
		}
		if (limit->observe)
			continue;
		count_refusal(ctx, config, limit, !i, &met[i]);
		*dropped = true;
		give_back(ctx, wn, config, met, i);
		return i + 1;
	}
	return count;
}

/* The limits of a configuration. Returns the verdict, or -1 to start again. */
static int limits(struct context *ctx, struct weir_net *wn,
		  const struct weir_config *config)
{
	/* What is filled before it is read is not cleared. */
	struct met met[WEIR_LIMITS_MAX] __weir_uninitialized;
	const struct weir_limit *limit = NULL;
	bool dropped = false, unparsable;
	enum weir_fate fate;
	int count, i;

	count = meet_limits(ctx, wn, config, met, &dropped);
	if (unlikely(count < 0))
		return -1;
	for (i = 0; i < count; i++) {
		limit = config->limit[met[i].limit];
		if (!(met[i].result & WEIR_REFUSED))
			fate = dropped ? WEIR_ELSEWHERE : WEIR_ADMITTED;
		else
			fate = limit->observe ? WEIR_WOULD_DROP : WEIR_DROPPED;
		if (fate == WEIR_WOULD_DROP)
			count_observed(ctx, wn, limit, count == 1,
				       met[i].result);
		count_limit(limit, ctx->cost, fate, met[i].result);
	}
	unparsable = ctx->asked && ctx->packet.flags & WEIR_PACKET_CUT;
	if (!dropped) {
		count_seen(wn, count ? WEIR_SEEN_ADMITTED : WEIR_SEEN_UNMATCHED,
			   unparsable);
		return NF_ACCEPT;
	}
	count_seen(wn, WEIR_SEEN_DROPPED, unparsable);
	trace_weir_drop(ctx->packet.skb, limit, &ctx->packet.source,
			ctx->cost.packets, ctx->cost.bytes, ctx->lookup.tick);
	return NF_DROP;
}

/* All that a packet may be asked. */
static noinline unsigned int hook_packet(struct weir_net *wn,
					 struct sk_buff *skb,
					 const struct nf_hook_state *state)
{
	/* Each part is filled before it is read. */
	struct context ctx __weir_uninitialized;
	struct net_device *in = state->in;
	const struct weir_config *config;
	int verdict;

	if (in->flags & IFF_LOOPBACK ||
	    weir_packet_already_seen(skb, in, state->pf))
		return NF_ACCEPT;
	weir_packet_init(&ctx.packet, skb, in, state->pf);
	if (state->pf == NFPROTO_IPV6 && weir_packet_may_be_vital(skb))
		weir_packet_parse(&ctx.packet);
	ctx.cost = weir_packet_cost(skb, state->pf);
	ctx.prefix.len4 = U8_MAX;
	ctx.asked = false;
	ctx.lookup.source = &ctx.masked;
	ctx.lookup.tick = weir_hook_clock();
	do {
		config = weir_config_get(wn);
		if (unlikely(!config))
			return NF_ACCEPT;
		ctx.place.exempts = config->exempts;
		if (config->exempts)
			weir_exempt_place(config->exempts, &ctx.packet.source,
					  in->name, &ctx.place);
		if (config->exempts && ctx.place.all) {
			count_seen(wn, WEIR_SEEN_EXEMPT, false);
			return NF_ACCEPT;
		}
		verdict = limits(&ctx, wn, config);
	} while (unlikely(verdict < 0));
	return verdict;
}

/* Whoever watches drops has them told by hook_packet(). */
static __always_inline bool refused_before(struct weir_net *wn,
					   const struct sk_buff *skb,
					   const struct net_device *in,
					   u8 family)
{
	const struct weir_config *config = weir_config_get(wn);
	struct weir_refusal *entry;
	struct weir_source key;

	if (unlikely(!config) || trace_weir_drop_enabled() ||
	    !refusal_key(&config->refusals, skb, family, &key))
		return false;
	entry = weir_refusal_find(&config->refusals, &key, in->ifindex,
				  weir_hook_clock(), skb->len);
	if (!entry)
		return false;
	/* Pairs with weir_refusals_pending(). */
	WRITE_ONCE(entry->count, entry->count + 1);
	count_limit(entry->limit, (struct weir_cost) { 1, skb->len },
		    WEIR_DROPPED, 0);
	count_seen(wn, WEIR_SEEN_DROPPED, false);
	return true;
}

static __always_inline unsigned int hook(void *priv, struct sk_buff *skb,
					 const struct nf_hook_state *state,
					 u8 family)
{
	unsigned int verdict = NF_DROP;
	/* One that comes back from user space is in process context. */
	bool process = unlikely(!softirq_count());

	/* What is CPU-local, and locks, are kept from packets in softirqs. */
	if (process)
		local_bh_disable();
	weir_lock_nested_bh(&hook_cpu.lock);
	if (!refused_before(priv, skb, state->in, family))
		verdict = hook_packet(priv, skb, state);
	weir_unlock_nested_bh(&hook_cpu.lock);
	if (process)
		local_bh_enable();
	return likely(verdict != NF_DROP) ? verdict : weir_nf_drop(skb);
}

static unsigned int weir_hook_ipv4(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	return hook(priv, skb, state, NFPROTO_IPV4);
}

static unsigned int weir_hook_ipv6(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	return hook(priv, skb, state, NFPROTO_IPV6);
}

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook		= weir_hook_ipv4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP_PRI_RAW_BEFORE_DEFRAG - 1,
	},
	{
		.hook		= weir_hook_ipv6,
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
