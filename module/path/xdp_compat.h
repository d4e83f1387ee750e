/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels that only xdp.c meets; found as those of compat.h.
 */
#ifndef WEIR_XDP_COMPAT_H
#define WEIR_XDP_COMPAT_H

#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

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

#endif /* WEIR_XDP_COMPAT_H */
