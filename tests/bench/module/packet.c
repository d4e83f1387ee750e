// SPDX-License-Identifier: GPL-2.0-or-later
/* The packet of a run, and its input device. */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/net_namespace.h>

#include "bench.h"

static void put_udp(struct bench *bench, struct udphdr *udp)
{
	udp->source = htons(1024);
	udp->dest = htons(bench->dport);
	udp->len = htons(sizeof(*udp) + 18);
	udp->check = 0;
}

static void put_ipv4(struct bench *bench)
{
	struct iphdr *ip = skb_put_zero(bench->skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = htons(sizeof(*ip) + sizeof(struct udphdr) + 18);
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = bench->from.ip;
	ip->daddr = bench->to.ip;
	bench->saddr = &ip->saddr;
	bench->base = ntohl(bench->from.ip);
}

static void put_ipv6(struct bench *bench)
{
	struct ipv6hdr *ip = skb_put_zero(bench->skb, sizeof(*ip));

	ip->version = 6;
	ip->payload_len = htons(sizeof(struct udphdr) + 18);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = 64;
	ip->saddr = bench->from.in6;
	ip->daddr = bench->to.in6;
	/* Sources differ in the network half of the address. */
	bench->saddr = &ip->saddr;
	bench->base = be64_to_cpu(*(__be64 *)&bench->from.in6);
}

static int skb_make(struct bench *bench)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);

	if (!skb)
		return -ENOMEM;
	bench->skb = skb;
	skb_reserve(skb, 64 + ETH_HLEN);
	skb_set_mac_header(skb, -ETH_HLEN);
	skb_reset_network_header(skb);
	if (bench->pf == NFPROTO_IPV4)
		put_ipv4(bench);
	else
		put_ipv6(bench);
	skb_set_transport_header(skb, skb->len);
	put_udp(bench, skb_put(skb, sizeof(struct udphdr)));
	skb_put_zero(skb, 18);
	skb->protocol = htons(bench->pf == NFPROTO_IPV4 ? ETH_P_IP : ETH_P_IPV6);
	memset(skb_mac_header(skb), 0, ETH_HLEN); /* the device's address is 0, too */
	eth_hdr(skb)->h_proto = skb->protocol;
	skb->dev = bench->dev;
	return 0;
}

/* The packets' input device; it is not registered. */
static int device_make(struct bench *bench)
{
	struct net_device *dev = alloc_netdev(0, "bench0", NET_NAME_USER, ether_setup);

	if (!dev)
		return -ENOMEM;
	dev_net_set(dev, bench->net);
	dev->ifindex = 1000;
	dev->flags |= IFF_UP;
	bench->dev = dev;
	return 0;
}

/* Context: process. Return: 0 or an error; packet_free() is needed in both cases. */
int packet_make(struct bench *bench)
{
	int error = device_make(bench);

	return error ?: skb_make(bench);
}

void packet_free(struct bench *bench)
{
	kfree_skb(bench->skb);
	if (bench->dev)
		free_netdev(bench->dev);
}
