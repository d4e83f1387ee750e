// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet's way: refusal cache -> source -> limits that match -> refuse, all
 * -> charge, in order. The hook stands in PRE_ROUTING in front of reassembly and
 * of the raw tables, so a flood pays before it costs anything else.
 */
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/local_lock.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/percpu.h>

#include "batch.h"
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

/* A limit that a packet met. */
struct met {
	u8 limit;		/* its place among the limits */
	u8 result;		/* what became of the packet there, WEIR_* */
	struct weir_receipt receipt;	/* where it was charged */
};

/* A packet on its way. */
struct context {
	struct weir_packet packet;
	struct weir_cost cost;
	struct weir_exempt_place place;	/* of its source among the exemptions */
	struct weir_source masked;	/* source as the limit in @lookup counts it */
	struct weir_lookup lookup;	/* at the table of the last limit asked */
	struct weir_prefix prefix;	/* of that limit; of none at first */
	struct weir_refusal *entry;	/* for refusals of the source, or NULL */
	struct weir_source key;		/* of @entry */
};

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
static __always_inline bool meets(struct context *ctx,
				  const struct weir_limit *limit)
{
	if (limit->match.conds & WEIR_IF_TRANSPORT &&
	    !(ctx->packet.flags & WEIR_PACKET_PARSED))
		weir_packet_parse(&ctx->packet);
	return weir_match_packet(&limit->match, &ctx->packet) &&
	       (likely(!ctx->place.exempts) ||
		!weir_exempt_from(&ctx->place, ctx->packet.in->name, limit->id));
}

/*
 * Lay out the lookup at the limit's table. Returns WEIR_REFUSED | WEIR_TOO_LARGE
 * if there is nothing to look up, or 0.
 */
static inline u8 prepare(struct context *ctx, const struct weir_net *wn,
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
		lookup->source = weir_source_masked(&ctx->packet.source,
						    ctx->prefix, &ctx->masked);
		lookup->hash = weir_source_hash(lookup->source, ctx->prefix,
						&wn->key);
	}
	return 0;
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

/* Is the packet surely refused? Asked before any limit is charged. */
static u8 refuse(struct context *ctx, const struct weir_limit *limit)
{
	/* What is left may be the room that is missing: see weir_batch_charge(). */
	if (weir_batch_wanted(limit->table, ctx->lookup.source) &&
	    weir_batch_left(limit->table, ctx->lookup.source))
		return 0;
	return weir_table_refuse(limit->table, &ctx->lookup);
}

/* What is seldom to be told of a charge. */
static noinline void tell(const struct context *ctx, struct weir_net *wn,
			  const struct weir_limit *limit, u8 result)
{
	if (result & (WEIR_EVICTED | WEIR_FLOORED))
		weir_event_pressure(wn, limit, ctx->lookup.tick);
	if (result & WEIR_FIRST) {
		trace_weir_limited(limit, &ctx->packet.source,
				   ctx->lookup.tick);
		weir_event_source(wn, limit, &ctx->packet.source);
	}
}

/* Charge what prepare() has laid out. */
static inline u8 charge(struct context *ctx, struct weir_net *wn,
			const struct weir_limit *limit)
{
	u8 result = weir_batch_wanted(limit->table, ctx->lookup.source) ?
		    weir_batch_charge(limit->table, &ctx->lookup) :
		    weir_table_charge(limit->table, &ctx->lookup);

	if (result & WEIR_CHARGED && trace_weir_charge_enabled())
		trace_weir_charge(limit, &ctx->packet.source,
				  ctx->cost.packets, ctx->cost.bytes,
				  charged_at(limit, &ctx->lookup));
	/* Most often: the compiler makes that case its own. */
	if (likely(result == WEIR_CHARGED))
		return WEIR_CHARGED;
	if (result & (WEIR_EVICTED | WEIR_FLOORED | WEIR_FIRST))
		tell(ctx, wn, limit, result);
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
		prepare(ctx, wn, limit);
		ctx->lookup.receipt = met->receipt;
		if (weir_table_uncharge(limit->table, &ctx->lookup))
			trace_weir_uncharge(limit, &ctx->packet.source,
					    ctx->cost.packets, ctx->cost.bytes,
					    charged_at(limit, &ctx->lookup));
	}
}

/*
 * Where this CPU keeps refusals of the source, as caches of refusals know it.
 * NULL where more has to be known of a packet before it may be refused, or where
 * that costs otherwise.
 */
static __always_inline struct weir_refusal *
refusal_entry(struct context *ctx, const struct weir_config *config, u8 family)
{
	const struct weir_packet *packet = &ctx->packet;
	const struct sk_buff *skb = packet->skb;
	struct weir_source *key = &ctx->key;
	u8 next;

	if (skb_is_gso(skb) || skb_has_extensions((struct sk_buff *)skb) ||
	    packet->flags & WEIR_PACKET_VITAL ||
	    packet->source.zone & WEIR_ZONE_LINKLOCAL)
		return NULL;
	if (family == NFPROTO_IPV4) {
		*key = (struct weir_source) {
			.word[0] = packet->source.word[0] &
				   config->refusals.mask4,
		};
	} else {
		next = ipv6_hdr(skb)->nexthdr;
		if (next != IPPROTO_UDP && next != IPPROTO_TCP)
			return NULL;
		key->zone = packet->source.zone;
		key->word[0] = packet->source.word[0] & config->refusals.mask[0];
		key->word[1] = packet->source.word[1] & config->refusals.mask[1];
		key->word[2] = packet->source.word[2] & config->refusals.mask[2];
		key->word[3] = packet->source.word[3] & config->refusals.mask[3];
	}
	return weir_refusal_entry(&config->refusals, key);
}

/*
 * Count a refusal for its source, in the cache where one will answer next time:
 * @first is the place of the limit, if that was the first that the packet met.
 */
static noinline void count_refusal(struct context *ctx,
				   const struct weir_config *config,
				   const struct weir_limit *limit, u8 result,
				   unsigned int first)
{
	struct weir_refusal *entry = ctx->entry;

	if (unlikely(result & (WEIR_FLOORED | WEIR_TOO_LARGE)))
		return;
	if (!limit->observe && first < config->refusals.limits) {
		if (!entry)
			entry = refusal_entry(ctx, config, ctx->packet.family);
		if (entry && (ctx->lookup.tick >= entry->until ||
			      weir_source_same(&entry->key, &ctx->key))) {
			weir_refusal_store(&config->refusals, entry, &ctx->key,
					   ctx->packet.in->ifindex, limit,
					   &ctx->lookup);
			return;
		}
	}
	weir_way_dropped(ctx->lookup.way, ctx->cost.packets, limit->observe);
}

/* The next limit from one on that is asked about the packet, or their number. */
static noinline unsigned int next_met(struct context *ctx,
				      const struct weir_config *config,
				      unsigned int i)
{
	while (i < config->count && !meets(ctx, config->limit[i]))
		i++;
	return i;
}

/* Count the packet at a limit. @dropped: by that or another one. */
static inline void count_met(const struct context *ctx,
			     const struct weir_limit *limit, u8 result,
			     bool dropped)
{
	enum weir_fate fate = dropped ? WEIR_ELSEWHERE : WEIR_ADMITTED;

	if (result & WEIR_REFUSED)
		fate = limit->observe ? WEIR_WOULD_DROP : WEIR_DROPPED;
	count_limit(limit, ctx->cost, fate, result);
}

/*
 * Charge the limits that were met and have not refused, in their order. Returns
 * the one that drops the packet, @count if none does, or -1 to start again.
 */
static int charge_all(struct context *ctx, struct weir_net *wn,
		      const struct weir_config *config, struct met *met,
		      int count)
{
	const struct weir_limit *limit;
	int i;

	for (i = 0; i < count; i++) {
		if (met[i].result)
			continue;
		limit = config->limit[met[i].limit];
		prepare(ctx, wn, limit);
		met[i].result = charge(ctx, wn, limit);
		met[i].receipt = ctx->lookup.receipt;
		if (likely(met[i].result & WEIR_CHARGED))
			continue;
		if (!(met[i].result & WEIR_AGAIN)) {
			if (limit->observe)
				continue;
			count_refusal(ctx, config, limit, met[i].result,
				      !i ? met[i].limit : WEIR_LIMITS_MAX);
		}
		give_back(ctx, wn, config, met, i);
		return met[i].result & WEIR_AGAIN ? -1 : i;
	}
	return count;
}

/*
 * A packet that several limits meet, two of which are known: all are asked
 * before one is charged. Returns the limit that drops it, NULL if none does, or
 * ERR_PTR(-EAGAIN) to start again.
 */
static noinline const struct weir_limit *
meet_all(struct context *ctx, struct weir_net *wn,
	 const struct weir_config *config, unsigned int first,
	 unsigned int second)
{
	/* What is filled before it is read is not cleared. */
	struct met met[WEIR_LIMITS_MAX] __weir_uninitialized;
	const struct weir_limit *limit;
	int count = 0, dropper = -1, i;
	unsigned int at = first;

	do {
		limit = config->limit[at];
		met[count].limit = at;
		met[count].result = prepare(ctx, wn, limit) ?:
				    refuse(ctx, limit);
		if (met[count].result && !limit->observe) {
			count_refusal(ctx, config, limit, met[count].result,
				      !count ? at : WEIR_LIMITS_MAX);
			dropper = count;
		}
		at = count++ ? next_met(ctx, config, at + 1) : second;
	} while (dropper < 0 && at < config->count);
	if (dropper < 0)
		dropper = charge_all(ctx, wn, config, met, count);
	if (unlikely(dropper < 0))
		return ERR_PTR(-EAGAIN);
	for (i = 0; i < count && i <= dropper; i++) {
		limit = config->limit[met[i].limit];
		count_met(ctx, limit, met[i].result, dropper < count);
		/* One that observes has refused once no other has before it. */
		if (limit->observe && met[i].result & WEIR_REFUSED &&
		    !(met[i].result & (WEIR_FLOORED | WEIR_TOO_LARGE)) &&
		    !prepare(ctx, wn, limit))
			weir_table_dropped(limit->table, &ctx->lookup,
					   ctx->cost.packets, true);
	}
	return dropper < count ? limit : NULL;
}

/* As meet_all(), of one limit: to refuse and to charge are one. */
static inline const struct weir_limit *
meet_one(struct context *ctx, struct weir_net *wn,
	 const struct weir_config *config, unsigned int at)
{
	const struct weir_limit *limit = config->limit[at];
	u8 result = prepare(ctx, wn, limit);
	bool refused;

	if (likely(!result))
		result = charge(ctx, wn, limit);
	if (unlikely(result & WEIR_AGAIN))
		return ERR_PTR(-EAGAIN);
	refused = result & WEIR_REFUSED;
	if (refused)
		count_refusal(ctx, config, limit, result, at);
	count_met(ctx, limit, result, false);
	return refused && !limit->observe ? limit : NULL;
}

/* The limits of a configuration. Returns the verdict, or -1 to start again. */
static inline int limits(struct context *ctx, struct weir_net *wn,
			 const struct weir_config *config)
{
	const struct weir_limit *dropper = NULL;
	unsigned int first = 0, second;
	enum weir_outcome outcome;

	if (unlikely(!config->count) || !meets(ctx, config->limit[0]))
		first = next_met(ctx, config, 1);
	outcome = WEIR_SEEN_UNMATCHED;
	if (first < config->count) {
		second = first + 1;
		if (second < config->count)
			second = next_met(ctx, config, second);
		dropper = likely(second == config->count) ?
			  meet_one(ctx, wn, config, first) :
			  meet_all(ctx, wn, config, first, second);
		if (IS_ERR(dropper))
			return -1;
		outcome = dropper ? WEIR_SEEN_DROPPED : WEIR_SEEN_ADMITTED;
	}
	count_seen(wn, outcome, ctx->packet.flags & WEIR_PACKET_CUT);
	if (!dropper)
		return NF_ACCEPT;
	if (trace_weir_drop_enabled())
		trace_weir_drop(ctx->packet.skb, dropper, &ctx->packet.source,
				ctx->cost.packets, ctx->cost.bytes,
				ctx->lookup.tick);
	return NF_DROP;
}

/* What refused the source a moment ago; whoever watches drops has them told. */
static __always_inline bool refused_before(struct context *ctx,
					   struct weir_net *wn,
					   const struct weir_config *config)
{
	const struct sk_buff *skb = ctx->packet.skb;
	struct weir_refusal *entry = ctx->entry;

	if (!weir_refusal_holds(entry, &ctx->key, ctx->packet.in->ifindex,
				ctx->lookup.tick, skb->len) ||
	    trace_weir_drop_enabled())
		return false;
	/* Pairs with weir_refusals_pending(). */
	WRITE_ONCE(entry->count, entry->count + 1);
	count_limit(entry->limit, (struct weir_cost) { 1, skb->len },
		    WEIR_DROPPED, 0);
	count_seen(wn, WEIR_SEEN_DROPPED, false);
	return true;
}

/* All that a packet may be asked that no cache refuses. */
static noinline unsigned int hook_packet(struct context *ctx,
					 struct weir_net *wn,
					 const struct weir_config *config,
					 struct sk_buff *skb, u8 family)
{
	const struct net_device *in = ctx->packet.in;
	int verdict;

	if (in->flags & IFF_LOOPBACK ||
	    weir_packet_already_seen(skb, in, family))
		return NF_ACCEPT;
	if (family == NFPROTO_IPV6 && weir_packet_may_be_vital(skb)) {
		weir_packet_parse(&ctx->packet);
		/* The rest counts where a limit asks for it. */
		ctx->packet.flags &= WEIR_PACKET_VITAL;
	}
	ctx->cost = weir_packet_cost(skb, family);
	do {
		ctx->prefix.len4 = U8_MAX;
		ctx->place.exempts = config->exempts;
		if (config->exempts) {
			weir_exempt_place(config->exempts, &ctx->packet.source,
					  in->name, &ctx->place);
			if (ctx->place.all) {
				count_seen(wn, WEIR_SEEN_EXEMPT, false);
				return NF_ACCEPT;
			}
		}
		verdict = limits(ctx, wn, config);
		if (likely(verdict >= 0))
			return verdict;
		/* The entry belongs to the configuration of before. */
		ctx->entry = NULL;
		config = weir_config_get(wn);
	} while (config);
	return NF_ACCEPT;
}

static __always_inline unsigned int hook(void *priv, struct sk_buff *skb,
					 const struct nf_hook_state *state,
					 u8 family)
{
	/* Each part is filled before it is read. */
	struct context ctx __weir_uninitialized;
	const struct weir_config *config;
	unsigned int verdict = NF_DROP;
	struct weir_net *wn = priv;

	config = weir_config_get(wn);
	if (unlikely(!config))
		return NF_ACCEPT;
	weir_packet_init(&ctx.packet, skb, state->in, family);
	ctx.lookup.tick = weir_hook_clock();
	ctx.entry = NULL;
	weir_lock_nested_bh(&hook_cpu.lock);
	if (weir_refusals_alive(&config->refusals, ctx.lookup.tick))
		ctx.entry = refusal_entry(&ctx, config, family);
	if (!ctx.entry || !refused_before(&ctx, wn, config))
		verdict = hook_packet(&ctx, wn, config, skb, family);
	weir_unlock_nested_bh(&hook_cpu.lock);
	return verdict == NF_ACCEPT ? NF_ACCEPT : weir_nf_drop(skb);
}

/*
 * A packet that comes back from user space is in process context. What is
 * CPU-local, and locks, are kept from packets in softirqs.
 */
static noinline unsigned int hook_reinjected(nf_hookfn *again, void *priv,
					     struct sk_buff *skb,
					     const struct nf_hook_state *state)
{
	unsigned int verdict;

	local_bh_disable();
	verdict = again(priv, skb, state);
	local_bh_enable();
	return verdict;
}

static unsigned int weir_hook_ipv4(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	if (unlikely(!softirq_count()))
		return hook_reinjected(weir_hook_ipv4, priv, skb, state);
	return hook(priv, skb, state, NFPROTO_IPV4);
}

static unsigned int weir_hook_ipv6(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	if (unlikely(!softirq_count()))
		return hook_reinjected(weir_hook_ipv6, priv, skb, state);
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
