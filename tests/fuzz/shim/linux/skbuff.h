/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet as the kernel has it: a linear part, and another one that is not.
 * Each is memory of its own and of its exact size.
 */
#ifndef SHIM_SKBUFF_H
#define SHIM_SKBUFF_H

#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <stdint.h>
#include <string.h>

#define htons(x) __cpu_to_be16(x)
#define ntohs(x) __be16_to_cpu(x)
#define __aligned(x) __attribute__((aligned(x)))

#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define SKB_GSO_TCPV4	BIT(0)
#define SKB_GSO_TCPV6	BIT(4)

struct skb_shared_info {
	unsigned short gso_size, gso_segs;
	unsigned int gso_type;
};

#define IS_ENABLED(CONFIG_option)	0

struct net_device;

struct sk_buff {
	struct net_device *dev;
	unsigned int len, data_len;	/* data_len is not linear */
	unsigned char *data, *rest;
	int network, transport, inner_transport;	/* from data on */
	bool encapsulation;
	__u32 mark;
	struct skb_shared_info shinfo;
};

#define skb_shinfo(skb) ((struct skb_shared_info *)&(skb)->shinfo)

static inline struct iphdr *ip_hdr(const struct sk_buff *skb)
{
	return (struct iphdr *)(skb->data + skb->network);
}

static inline struct ipv6hdr *ipv6_hdr(const struct sk_buff *skb)
{
	return (struct ipv6hdr *)(skb->data + skb->network);
}

static inline int skb_network_offset(const struct sk_buff *skb)
{
	return skb->network;
}

static inline int skb_transport_offset(const struct sk_buff *skb)
{
	return skb->transport;
}

static inline int skb_inner_transport_offset(const struct sk_buff *skb)
{
	return skb->inner_transport;
}

static inline bool skb_is_gso(const struct sk_buff *skb)
{
	return skb->shinfo.gso_size;
}

static inline bool skb_has_extensions(struct sk_buff *skb)
{
	(void)skb;
	return false;
}

static inline void *skb_header_pointer(const struct sk_buff *skb, int offset,
				       int len, void *room)
{
	int linear = skb->len - skb->data_len, i;

	if (linear - offset >= len)
		return skb->data + offset;
	if (offset < 0 || (int)skb->len - offset < len)
		return NULL;
	for (i = 0; i < len; i++)
		((unsigned char *)room)[i] = offset + i < linear ?
			skb->data[offset + i] : skb->rest[offset + i - linear];
	return room;
}

#endif
