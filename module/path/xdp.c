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

#include "clock.h"
#include "compat.h"
#include "path/frame.h"
#include "path/hook.h"

#define VLAN_DEPTH 2

/*
 * The state of a namespace whose hook is the first to see packets of a family, NULL if
 * another one may take them before. RCU read lock or BH off.
 */
static struct weir_net *first_hook(const struct net *net, bool ipv4)
{
	const struct nf_hook_entries *entries;

	entries = rcu_dereference_check(*(ipv4 ? &net->nf.hooks_ipv4[NF_INET_PRE_ROUTING] :
						 &net->nf.hooks_ipv6[NF_INET_PRE_ROUTING]),
					rcu_read_lock_bh_held());
	if (!entries || entries->hooks[0].hook != (ipv4 ? weir_hook_ipv4 : weir_hook_ipv6))
		return NULL;
	return entries->hooks[0].priv;
}

/*
 * Is it worth while to ask about a packet of the protocol? Its address, or so much of
 * IPv6's, is in what is the header of IPv4.
 */
static inline bool refused_lately(__be16 proto, const void *header, const void *end, u64 tick)
{
	const struct ipv6hdr *ip6 = header;
	const struct iphdr *ip = header;

	if (unlikely(header + sizeof(*ip) > end))
		return false;
	if (likely(proto == htons(ETH_P_IP)))
		return weir_refused_lately(ip->saddr, 0, tick);
	return proto == htons(ETH_P_IPV6) &&
	       weir_refused_lately(ip6->saddr.s6_addr32[0], ip6->saddr.s6_addr32[1], tick);
}

/*
 * Does what a device receives go up the stack as it is? A bridge, bond, team, macvlan,
 * ipvlan, macsec or Open vSwitch has an rx_handler; tc, nft's ingress chains and
 * flowtables filter; a VRF passes packets on as its own.
 */
static inline bool device_is_direct(const struct net_device *dev)
{
	return (dev->flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP && dev->type == ARPHRD_ETHER &&
	       !rcu_access_pointer(dev->rx_handler) && !weir_dev_filters(dev) &&
	       !netif_is_l3_slave(dev) && !netif_is_l3_master(dev) && !netdev_uses_dsa(dev);
}

/* May the NIC have stripped the tag of one of the device's VLANs? */
static noinline bool device_hides_tags(struct net_device *dev)
{
	struct net_device *upper;
	struct list_head *iter;
	bool hides = false;

	rcu_read_lock();
	netdev_for_each_upper_dev_rcu(dev, upper, iter)
		hides |= is_vlan_dev(upper) &&
			 dev->features & (vlan_dev_vlan_proto(upper) == htons(ETH_P_8021Q) ?
					  NETIF_F_HW_VLAN_CTAG_RX : NETIF_F_HW_VLAN_STAG_RX);
	rcu_read_unlock();
	return hides;
}

/* Does the frame go up the stack by @dev as it is, and not to another host? */
static inline bool goes_up(struct net_device *dev, const struct xdp_buff *xdp)
{
	const u8 *to = ((const struct ethhdr *)xdp->data)->h_dest;
	bool ours = is_multicast_ether_addr(to);

	while (device_is_direct(dev)) {
		ours |= ether_addr_equal(to, dev->dev_addr);
		if (dev == xdp->rxq->dev)
			return ours && (list_empty(&dev->adj_list.upper) ||
					!device_hides_tags(dev));
		/* A bond's VLANs are found by its ports. */
		if (!is_vlan_dev(dev))
			return false;
		dev = weir_vlan_lower(dev);
	}
	return false;
}

/* Does the stack accept the header? At least 20 bytes are there. */
static inline bool read_ipv4(struct weir_frame *frame, const void *end)
{
	const struct iphdr *ip = frame->header;
	unsigned int len = ip->ihl * 4;

	/* As a rule it has no options. */
	if (unlikely(*(u8 *)ip != 0x45) &&
	    (ip->version != 4 || ip->ihl < 5 || frame->header + len > end))
		return false;
	frame->family = AF_INET;
	frame->bytes = ntohs(ip->tot_len);
	return frame->bytes >= len && !ip_fast_csum(ip, ip->ihl) &&
	       !weir_may_decrypt(dev_net(frame->dev), ip->protocol);
}

/* Hop-by-hop options are read before the hook, which does not see all that have them. */
static inline bool read_ipv6(struct weir_frame *frame, const void *end)
{
	const struct inet6_dev *idev = rcu_dereference_check(frame->dev->ip6_ptr,
							     rcu_read_lock_bh_held());
	const struct ipv6hdr *ip6 = frame->header;

	if (frame->header + sizeof(*ip6) > end || ip6->version != 6 ||
	    ip6->nexthdr == NEXTHDR_HOP || !idev || READ_ONCE(idev->cnf.disable_ipv6))
		return false;
	frame->family = AF_INET6;
	frame->bytes = sizeof(*ip6) + ntohs(ip6->payload_len);
	return !weir_may_decrypt(dev_net(frame->dev), ip6->nexthdr);
}

/*
 * Would the hook see the packet of the protocol as it is, on @dev, and surely refuse it?
 * The frame stays in registers, and is passed by value.
 */
static noinline bool refuses(struct xdp_buff *xdp, struct net_device *dev, void *header,
			     __be16 proto, u64 tick)
{
	struct weir_frame frame __weir_uninitialized;
	bool ipv4 = proto == htons(ETH_P_IP), refused;
	const struct weir_config *config;
	struct weir_net *wn;

	if (unlikely(!softirq_count())) {
		/* Test runs of 6.1 have BH on. */
		local_bh_disable();
		refused = refuses(xdp, dev, header, proto, tick);
		local_bh_enable();
		return refused;
	}
	wn = first_hook(dev_net(dev), ipv4);
	config = wn ? weir_config_get(wn) : NULL;
	if (!config || !config->count || !goes_up(dev, xdp))
		return false;
	frame.dev = dev;
	frame.header = header;
	if (!(ipv4 ? read_ipv4(&frame, xdp->data_end) : read_ipv6(&frame, xdp->data_end)))
		return false;
	frame.len = min_t(size_t, xdp->data_end - header, frame.bytes);
	/* The rest may be in further buffers. */
	if (frame.len < frame.bytes &&
	    xdp_get_buff_len(xdp) - (header - xdp->data) < frame.bytes)
		return false;
	weir_hook_lock();
	refused = weir_frame_refused(&frame, wn, config, tick);
	weir_hook_unlock();
	return refused;
}

/* As weir_xdp_refuses(), with VLAN tags. */
static noinline bool refuses_tagged(struct xdp_buff *xdp, u64 tick)
{
	struct vlan_ethhdr *eth = xdp->data;
	__be16 proto = eth->h_vlan_proto, tag;
	struct net_device *dev = xdp->rxq->dev;
	void *header = &eth->h_vlan_TCI;
	const struct vlan_hdr *vlan;
	unsigned int depth;
	bool refused;
	u16 id;

	rcu_read_lock();
	for (depth = 0; dev && eth_type_vlan(proto); depth++) {
		vlan = header;
		header += sizeof(*vlan);
		tag = proto;
		proto = 0;
		if (depth == VLAN_DEPTH || header > xdp->data_end)
			break;
		id = ntohs(vlan->h_vlan_TCI) & VLAN_VID_MASK;
		/* A tag that has only a priority belongs to the device itself. */
		if (id)
			dev = __vlan_find_dev_deep_rcu(dev, tag, id);
		proto = vlan->h_vlan_encapsulated_proto;
	}
	refused = dev && refused_lately(proto, header, xdp->data_end, tick) &&
		  refuses(xdp, dev, header, proto, tick);
	rcu_read_unlock();
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
	struct ethhdr *eth = xdp->data;
	u64 tick = weir_clock();
	void *header = eth + 1;

	if (unlikely(header > xdp->data_end))
		return 0;
	if (unlikely(eth_type_vlan(eth->h_proto)))
		return refuses_tagged(xdp, tick);
	return unlikely(refused_lately(eth->h_proto, header, xdp->data_end, tick)) &&
	       refuses(xdp, xdp->rxq->dev, header, eth->h_proto, tick);
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
