// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kfunc weir_xdp_refuses(): an XDP program asks whether the hook would surely refuse a
 * packet, and drops it before it has cost a buffer. The answer is 1 only if the packet
 * would reach the hook as it is now: that takes more than its headers, and is why what
 * stands between driver and hook (see device_is_direct()) makes the answer 0.
 */
#include <linux/bottom_half.h>
#include <linux/bpf.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <net/addrconf.h>
#include <net/dsa.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include <net/xdp.h>

#include "compat.h"
#include "early.h"
#include "hook.h"
#include "limit.h"
#include "packet.h"
#include "weir.h"
#include "xdp.h"
#include "xdp_compat.h"

#define VLAN_DEPTH 2

/* A frame that carries IP. */
struct frame {
	struct net_device *dev;	/* on which the hook sees it: the VLAN's, if it has tags */
	void *header;		/* of IP */
	void *end;		/* of what is linear */
	u8 family;		/* AF_INET or AF_INET6 */
	u32 bytes;		/* of the packet, by its header */
};

/*
 * The state of a namespace whose hook is the first to see packets of a family, NULL if
 * another one may take them before. RCU read lock or BH off.
 */
static struct weir_net *first_hook(const struct net *net, u8 family)
{
	bool ipv4 = family == AF_INET;
	const struct nf_hook_entries *entries;

	entries = rcu_dereference_check(*(ipv4 ? &net->nf.hooks_ipv4[NF_INET_PRE_ROUTING] :
						 &net->nf.hooks_ipv6[NF_INET_PRE_ROUTING]),
					rcu_read_lock_bh_held());
	if (!entries || entries->hooks[0].hook != weir_hook(!ipv4))
		return NULL;
	return entries->hooks[0].priv;
}

/* Read the link layer. Returns false if there is no IP in it, or no device for its tags. */
static inline bool read_link(struct frame *frame, const struct xdp_buff *xdp)
{
	const struct ethhdr *eth = xdp->data;
	const struct vlan_hdr *vlan;
	unsigned int depth;
	__be16 proto;
	u16 id;

	frame->dev = xdp->rxq->dev;
	frame->end = xdp->data_end;
	frame->header = xdp->data + sizeof(*eth);
	if (unlikely(frame->header > frame->end))
		return false;
	proto = eth->h_proto;
	for (depth = 0; unlikely(eth_type_vlan(proto)); depth++) {
		vlan = frame->header;
		frame->header += sizeof(*vlan);
		if (depth == VLAN_DEPTH || frame->header > frame->end)
			return false;
		id = ntohs(vlan->h_vlan_TCI) & VLAN_VID_MASK;
		/* A tag that has only a priority belongs to the device itself. */
		if (id)
			frame->dev = __vlan_find_dev_deep_rcu(frame->dev, proto, id);
		if (!frame->dev)
			return false;
		proto = vlan->h_vlan_encapsulated_proto;
	}
	frame->family = proto == htons(ETH_P_IPV6) ? AF_INET6 : AF_INET;
	return proto == htons(ETH_P_IP) || proto == htons(ETH_P_IPV6);
}

/*
 * Does what a device receives go up the stack as it is? A bridge, bond, team, macvlan,
 * ipvlan, macsec or Open vSwitch has an rx_handler; tc, nft's ingress chains and
 * flowtables filter; a VRF passes packets on as its own.
 */
static bool device_is_direct(const struct net_device *dev)
{
	return (dev->flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP && dev->type == ARPHRD_ETHER &&
	       !rcu_access_pointer(dev->rx_handler) && !weir_dev_filters(dev) &&
	       !netif_is_l3_slave(dev) && !netif_is_l3_master(dev) && !netdev_uses_dsa(dev);
}

/* May the NIC have stripped the tag of one of its VLANs? */
static bool device_hides_tags(struct net_device *dev)
{
	struct net_device *upper;
	struct list_head *iter;

	netdev_for_each_upper_dev_rcu(dev, upper, iter)
		if (is_vlan_dev(upper) &&
		    dev->features & (vlan_dev_vlan_proto(upper) == htons(ETH_P_8021Q) ?
				     NETIF_F_HW_VLAN_CTAG_RX : NETIF_F_HW_VLAN_STAG_RX))
			return true;
	return false;
}

/* Does the frame go up the stack as it is, and not to another host? */
static bool goes_up(const struct frame *frame, const struct xdp_buff *xdp)
{
	const u8 *to = ((const struct ethhdr *)xdp->data)->h_dest;
	struct net_device *dev = frame->dev;
	bool ours = is_multicast_ether_addr(to);

	while (device_is_direct(dev)) {
		ours |= ether_addr_equal(to, dev->dev_addr);
		if (dev == xdp->rxq->dev)
			return ours && !device_hides_tags(dev);
		/* A bond's VLANs are found by its ports. */
		if (!is_vlan_dev(dev))
			return false;
		dev = weir_vlan_lower(dev);
	}
	return false;
}

/* Does the stack accept the header, which is whole? */
static bool read_ipv4(struct frame *frame)
{
	const struct iphdr *ip = frame->header;

	if (frame->header + sizeof(*ip) > frame->end || ip->version != 4 || ip->ihl < 5 ||
	    frame->header + ip->ihl * 4 > frame->end)
		return false;
	frame->bytes = ntohs(ip->tot_len);
	return frame->bytes >= ip->ihl * 4 && !ip_fast_csum(ip, ip->ihl) &&
	       !weir_may_decrypt(dev_net(frame->dev), ip->protocol);
}

/* Hop-by-hop options are read before the hook, which does not see all that have them. */
static bool read_ipv6(struct frame *frame)
{
	const struct inet6_dev *idev = __in6_dev_get(frame->dev);
	const struct ipv6hdr *ip6 = frame->header;

	if (frame->header + sizeof(*ip6) > frame->end || ip6->version != 6 ||
	    ip6->nexthdr == NEXTHDR_HOP || !idev || READ_ONCE(idev->cnf.disable_ipv6))
		return false;
	frame->bytes = sizeof(*ip6) + ntohs(ip6->payload_len);
	return !weir_may_decrypt(dev_net(frame->dev), ip6->nexthdr);
}

/* BH off. */
static noinline bool refuses(struct frame *frame, struct xdp_buff *xdp, struct weir_net *wn,
			     const struct weir_config *config, u64 tick)
{
	struct weir_packet packet __weir_uninitialized;
	unsigned int len;
	bool refused;

	if (!goes_up(frame, xdp) ||
	    !(frame->family == AF_INET ? read_ipv4(frame) : read_ipv6(frame)))
		return false;
	len = frame->end - frame->header;
	if (frame->bytes > len && !xdp_buff_has_frags(xdp))
		return false;
	weir_hook_lock();
	weir_packet_frame(&packet, frame->dev, frame->family, frame->header,
			  min(len, frame->bytes));
	refused = weir_early_refuses(&packet, wn, config, tick, frame->bytes);
	weir_hook_unlock();
	return refused;
}

/**
 * weir_xdp_refuses - Would the hook surely refuse this packet?
 * @ctx: of the XDP program; not changed
 *
 * A packet that is refused is counted as dropped, so the program must drop it. All other
 * packets are left to the hook, which charges them.
 *
 * Return: 1 if the hook would surely refuse the packet, else 0.
 */
__bpf_kfunc int weir_xdp_refuses(struct xdp_md *ctx)
{
	struct xdp_buff *xdp = (struct xdp_buff *)ctx;
	const struct weir_config *config;
	u64 tick = weir_hook_clock();
	struct weir_net *wn;
	struct frame frame __weir_uninitialized;
	bool refused;

	if (likely(!weir_refused_lately(tick)) || !read_link(&frame, xdp))
		return 0;
	wn = first_hook(dev_net(frame.dev), frame.family);
	if (!wn)
		return 0;
	config = weir_config_get(wn);
	if (!config || !config->count)
		return 0;
	rcu_read_lock();
	if (likely(softirq_count())) {
		refused = refuses(&frame, xdp, wn, config, tick);
	} else {
		/* Test runs of 6.1 have BH on. */
		local_bh_disable();
		refused = refuses(&frame, xdp, wn, config, tick);
		local_bh_enable();
	}
	rcu_read_unlock();
	return refused;
}

BTF_KFUNCS_START(kfuncs)
BTF_ID_FLAGS(func, weir_xdp_refuses)
BTF_KFUNCS_END(kfuncs)

static const struct btf_kfunc_id_set kfunc_set = {
	.owner = THIS_MODULE,
	.set = &kfuncs,
};

/* Without BTF in the module or the kernel, XDP programs cannot call it. */
int weir_xdp_init(void)
{
	if (!weir_module_has_btf())
		return 0;
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_XDP, &kfunc_set);
}
