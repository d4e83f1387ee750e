// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet's way: which limits it meets, whether each has room, and the
 * verdict. The hook stands in PRE_ROUTING in front of reassembly and of the
 * raw tables, so a flood pays before it costs anything else.
 */
#include <linux/bottom_half.h>
#include <linux/jiffies.h>
#include <linux/local_lock.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/percpu.h>

#include "hook.h"
#include "passage.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* What is a CPU's own, notes of sources and counters, belongs to one packet. */
struct hook_cpu {
	local_lock_t lock;
};

static DEFINE_PER_CPU(struct hook_cpu, hook_cpu) = {
	.lock = INIT_LOCAL_LOCK(lock),
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

/* One limit alone, as weir_passage_limits(): there is nothing to give back. */
static __always_inline int passage_limit(struct weir_passage *passage,
					 struct weir_net *wn,
					 const struct weir_limit *limit,
					 struct sk_buff *skb)
{
	enum weir_fate end = WEIR_ADMITTED;
	unsigned int result;
	u8 fate;

	if (!weir_passage_meets(passage, limit))
		return weir_passage_accept(passage, wn, WEIR_SEEN_UNMATCHED);
	weir_passage_source(passage, limit);
	fate = weir_passage_ask(passage, wn, limit);
	if (!(fate & WEIR_MET_NO_ROOM)) {
		result = weir_passage_charge(passage, wn, limit, &fate);
		if (unlikely(result & WEIR_AGAIN)) {
			passage->tick = max(passage->tick, passage->visit.tick);
			return -1;
		}
	}
	if (fate & WEIR_MET_NO_ROOM) {
		if (!limit->observe)
			return weir_passage_drop(passage, wn, limit, fate, skb);
		end = WEIR_WOULD_DROP;
	}
	weir_passage_count(limit, passage->cost, end, fate);
	return weir_passage_accept(passage, wn, WEIR_SEEN_ADMITTED);
}

/* All that a packet may be asked. */
static noinline unsigned int
weir_hook_passage(void *priv, struct sk_buff *skb,
		  const struct nf_hook_state *state)
{
	/* Each part is filled before it is read. */
	struct weir_passage passage __weir_uninitialized;
	struct net_device *in = state->in;
	const struct weir_config *config;
	struct weir_net *wn = priv;
	int verdict;

	if (in->flags & IFF_LOOPBACK || weir_packet_charged(skb, in, state->pf))
		return NF_ACCEPT;

	weir_packet_init(&passage.packet, skb, in, state->pf);
	passage.cost = weir_packet_cost(skb, state->pf);
	passage.visit.packets = passage.cost.packets;
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
				weir_passage_seen(wn, WEIR_SEEN_EXEMPT, false);
				return NF_ACCEPT;
			}
		}
		weir_packet_parse(&passage.packet,
				  config->conds & WEIR_IF_TRANSPORT);
		if (likely(config->count == 1))
			verdict = passage_limit(&passage, wn, config->limit[0],
						skb);
		else
			verdict = weir_passage_limits(&passage, wn, config,
						      skb);
	} while (unlikely(verdict < 0));
	return verdict;
}

/* A packet comes back from user space in the context of who said its verdict. */
static noinline unsigned int hook_reinjected(void *priv, struct sk_buff *skb,
					     const struct nf_hook_state *state)
{
	unsigned int verdict;

	local_bh_disable();
	weir_lock_nested_bh(&hook_cpu.lock);
	verdict = weir_hook_passage(priv, skb, state);
	weir_unlock_nested_bh(&hook_cpu.lock);
	local_bh_enable();
	return verdict;
}

/* The sender as a plain limit counts it, if no more need be known of a packet. */
static __always_inline bool plain_source(struct weir_source *source,
					 const struct weir_config *config,
					 const struct sk_buff *skb, u8 family)
{
	u8 next;

	if (family == NFPROTO_IPV4) {
		weir_source_ipv4(source, ip_hdr(skb)->saddr, 0);
		if (source->zone || !weir_source_known(source))
			return false;
		source->word[0] &= config->mask4;
		return true;
	}
	next = ipv6_hdr(skb)->nexthdr;
	if (next != IPPROTO_UDP && next != IPPROTO_TCP)
		return false;
	weir_source_ipv6(source, &ipv6_hdr(skb)->saddr, 0);
	if (source->zone != WEIR_ZONE_IPV6 || !weir_source_known(source))
		return false;
	source->word[1] &= config->mask6;
	source->word[2] = 0;
	source->word[3] = 0;
	return true;
}

/*
 * Does this CPU remember that the source has no room? Whoever watches drops has
 * them told by weir_hook_passage().
 */
static __always_inline bool plain_refuses(const struct weir_limit *limit,
					  const struct weir_config *config,
					  const struct sk_buff *skb,
					  const struct net_device *in,
					  u8 family)
{
	struct weir_visit visit = {
		.tick = weir_hook_clock(),
		.packets = 1,
	};
	struct weir_source source;

	return weir_table_refuses(limit->table, visit.tick) &&
	       !(in->flags & IFF_LOOPBACK) && !netif_is_l3_master(in) &&
	       !skb_has_extensions((struct sk_buff *)skb) &&
	       !skb_is_gso(skb) && !trace_weir_drop_enabled() &&
	       plain_source(&source, config, skb, family) &&
	       weir_table_recall(limit->table, &source, 1, limit->budget,
				 &visit) & WEIR_REFUSED;
}

/*
 * Most of a flood ends here: where the first limit is plain, what this CPU
 * remembers is asked before anything is laid on the stack. If it refuses no
 * other is asked.
 */
static __always_inline unsigned int hook_front(void *priv, struct sk_buff *skb,
					       const struct nf_hook_state *state,
					       u8 family)
{
	const struct weir_config *config;
	const struct weir_limit *plain;
	struct weir_net *wn = priv;

	config = weir_config_get(wn);
	if (unlikely(!config))
		return NF_ACCEPT;
	plain = family == NFPROTO_IPV4 ? config->plain4 : config->plain6;
	if (!plain || !plain_refuses(plain, config, skb, state->in, family))
		return weir_hook_passage(priv, skb, state);
	weir_passage_count(plain, (struct weir_cost) { 1, skb->len },
			   WEIR_DROPPED, 0);
	weir_passage_seen(wn, WEIR_SEEN_DROPPED, false);
	return weir_nf_drop(skb);
}

static __always_inline unsigned int hook(void *priv, struct sk_buff *skb,
					 const struct nf_hook_state *state,
					 u8 family)
{
	unsigned int verdict;

	/* What is CPU-local, and locks, are kept from packets in softirqs. */
	if (unlikely(!softirq_count()))
		return hook_reinjected(priv, skb, state);

	weir_lock_nested_bh(&hook_cpu.lock);
	verdict = hook_front(priv, skb, state, family);
	weir_unlock_nested_bh(&hook_cpu.lock);
	return verdict;
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
