/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, found by name: Kbuild looks for the names in
 * the headers and defines WEIR_HAS_*.
 */
#ifndef WEIR_COMPAT_H
#define WEIR_COMPAT_H

#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/hrtimer.h>
#include <linux/if_vlan.h>
#include <linux/local_lock.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#ifdef WEIR_HAS_rps_needed
#include <net/rps.h>
#endif

/* A verdict that drops, with a reason that dropwatch and perf report. */
static inline unsigned int weir_nf_drop(struct sk_buff *skb)
{
#ifdef WEIR_HAS_NF_DROP_REASON
	return NF_DROP_REASON(skb, SKB_DROP_REASON_NETFILTER_DROP, 0);
#else
	return NF_DROP;
#endif
}

/*
 * With BH off a CPU has one packet at a time, except with PREEMPT_RT on kernels that
 * have this lock. Without PREEMPT_RT only lockdep sees it.
 */
#ifdef local_lock_nested_bh
#define weir_lock_nested_bh(lock)	local_lock_nested_bh(lock)
#define weir_unlock_nested_bh(lock)	local_unlock_nested_bh(lock)
#else
#define weir_lock_nested_bh(lock)	((void)(lock))
#define weir_unlock_nested_bh(lock)	((void)(lock))
#endif

/* A timer that is not started yet. */
static inline void weir_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *),
				      clockid_t clock, enum hrtimer_mode mode)
{
#ifdef WEIR_HAS_hrtimer_setup
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/* Does a receive queue of this machine pass packets on to other CPUs? */
static inline bool weir_packets_steered(void)
{
#ifdef CONFIG_RPS
	return static_branch_unlikely(&rps_needed);
#else
	return false;
#endif
}

/* Filled before it is read: kernels that clear the stack need not clear it. */
#if __has_attribute(__uninitialized__)
#define __weir_uninitialized __attribute__((__uninitialized__))
#else
#define __weir_uninitialized
#endif

/* Does tc or netfilter see, and perhaps take or change, what the device receives? */
static inline bool weir_dev_filters(const struct net_device *dev)
{
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(dev->nf_hooks_ingress))
		return true;
#endif
#if defined(WEIR_HAS_tcx_ingress) && defined(CONFIG_NET_XGRESS)
	return rcu_access_pointer(dev->tcx_ingress);
#elif !defined(WEIR_HAS_tcx_ingress) && defined(CONFIG_NET_CLS_ACT)
	return rcu_access_pointer(dev->miniq_ingress);
#else
	return false;
#endif
}

/* The device below a VLAN's. */
static inline struct net_device *weir_vlan_lower(struct net_device *dev)
{
#if IS_ENABLED(CONFIG_VLAN_8021Q)
	return vlan_dev_priv(dev)->real_dev;
#else
	return dev;
#endif
}

/*
 * May GRO decrypt a packet, so that the hook does not see it as it is? @proto is that of
 * IPv4, or the first one of IPv6.
 */
static inline bool weir_may_decrypt(const struct net *net, u8 proto)
{
#ifdef CONFIG_XFRM
	return READ_ONCE(net->xfrm.state_num) &&
	       (proto == IPPROTO_ESP || proto == IPPROTO_UDP || ipv6_ext_hdr(proto));
#else
	return false;
#endif
}

/* For functions that BPF programs call, and sets of them */
#ifndef __bpf_kfunc
#define __bpf_kfunc noinline
#endif
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START(name)	BTF_SET8_START(name)
#define BTF_KFUNCS_END(name)	BTF_SET8_END(name)
#endif

/* Has the module BTF? It is built without where its kernel's is missing. */
static inline bool weir_module_has_btf(void)
{
#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
	return THIS_MODULE->btf_data_size;
#else
	return false;
#endif
}

#endif /* WEIR_COMPAT_H */
