// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netfilter hook, in PRE_ROUTING before reassembly and the raw tables, so that
 * a flood is dropped before it costs anything else. The CPU's refusal cache answers
 * first, then the limits: verdict.c.
 */
#include <linux/atomic.h>
#include <linux/bottom_half.h>
#include <linux/jiffies.h>
#include <linux/local_lock.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/percpu.h>

#include "clock.h"
#include "compat.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "packet/packet.h"
#include "path/hook.h"
#include "path/refusal.h"
#include "path/trace.h"
#include "path/verdict.h"

DEFINE_PER_CPU(struct weir_hook_cpu, weir_hook_cpu) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

static __always_inline unsigned int hook(void *priv, struct sk_buff *skb,
					 const struct nf_hook_state *state,
					 u8 family)
{
	struct weir_refusal_cache *cache;
	const struct weir_config *config;
	struct weir_refusal *cell;
	struct weir_net *wn = priv;
	u64 tick = weir_clock();
	bool drop = true;

	config = weir_config_get(wn);
	if (unlikely(!config))
		return NF_ACCEPT;
	if (family == NFPROTO_IPV6 && unlikely(state->in != skb->dev) &&
	    state->in && weir_packet_seen_as_nd(skb, state->in))
		return NF_ACCEPT;
	weir_hook_lock();
	cache = this_cpu_ptr(wn->refusals);
	/* A traced drop takes the slow path, which reports it. */
	if (tick < cache->until && weir_skb_single(skb) &&
	    weir_refusal_find(cache, config, skb_network_header(skb), family, skb->dev, tick,
			      &skb->len, &cell) && !trace_weir_drop_enabled()) {
		weir_stats_limit(cell->limit->stats, WEIR_DROPPED, 1, skb->len,
				 weir_refusal_repeat(cell));
		weir_stats_seen(wn->stats, WEIR_SEEN_DROPPED, false);
	} else {
		drop = weir_verdict(skb, family, wn, config, tick) == WEIR_REFUSE;
	}
	weir_hook_unlock();
	return drop ? weir_nf_drop(skb) : NF_ACCEPT;
}

/*
 * nf_queue reinjects in process context: keep softirqs off CPU-local data and
 * locks.
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

unsigned int weir_hook_ipv4(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	if (unlikely(!softirq_count()))
		return hook_reinjected(weir_hook_ipv4, priv, skb, state);
	return hook(priv, skb, state, NFPROTO_IPV4);
}

unsigned int weir_hook_ipv6(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
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

/* Of namespaces with hooks. */
static atomic_t hooked;

unsigned int weir_hook_namespaces(void)
{
	return atomic_read(&hooked);
}

/* Register the hooks of a locked namespace without any; may sleep. */
int weir_hook_register(struct weir_net *wn)
{
	struct nf_hook_ops *ops = wn->ops;
	unsigned int i;
	int err;

	BUILD_BUG_ON(ARRAY_SIZE(hook_ops) != ARRAY_SIZE(wn->ops));
	for (i = 0; i < ARRAY_SIZE(hook_ops); i++) {
		ops[i] = hook_ops[i];
		ops[i].priv = wn;
	}
	err = nf_register_net_hooks(wn->net, ops, ARRAY_SIZE(hook_ops));
	if (!err)
		atomic_inc(&hooked);
	return err;
}

/* Packets may still be in the hooks until a grace period has passed; may sleep. */
void weir_hook_unregister(struct weir_net *wn)
{
	nf_unregister_net_hooks(wn->net, wn->ops, ARRAY_SIZE(wn->ops));
	atomic_dec(&hooked);
}
