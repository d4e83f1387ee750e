/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet as the hook gets it: a linear part, and perhaps another one that is not. */
#ifndef SHIM_SKBUFF_H
#define SHIM_SKBUFF_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#define SKB_GSO_TCPV4	BIT(0)
#define SKB_GSO_TCPV6	BIT(4)

#define IS_ENABLED(CONFIG_option)	0

/* Looks at what lies behind the network header */
extern unsigned int shim_looks;

struct skb_shared_info {
	unsigned short gso_size, gso_segs;
	unsigned int gso_type;
};

struct net_device;

struct sk_buff {
	struct net_device *dev;
	void *network;		/* data, too */
	unsigned char *rest;	/* what is not linear */
	unsigned int len, data_len;	/* all, and the rest */
	int transport, inner_transport;	/* from network on */
	bool encapsulation;
	u32 mark;
	struct skb_shared_info shinfo;
};

#define skb_shinfo(skb)			(&(skb)->shinfo)
#define skb_network_offset(skb)		((void)(skb), 0)
#define skb_transport_offset(skb)	((skb)->transport)
#define skb_inner_transport_offset(skb)	((skb)->inner_transport)
#define skb_is_gso(skb)			((skb)->shinfo.gso_size)
#define skb_has_extensions(skb)		((void)(skb), false)

static inline struct iphdr *ip_hdr(const struct sk_buff *skb)
{
	return skb->network;
}

static inline struct ipv6hdr *ipv6_hdr(const struct sk_buff *skb)
{
	return skb->network;
}

static inline void *skb_header_pointer(const struct sk_buff *skb, int offset,
				       int len, void *room)
{
	int linear = skb->len - skb->data_len, i;

	shim_looks++;
	if (offset < 0 || (int)skb->len - offset < len)
		return NULL;
	if (linear - offset >= len)
		return skb->network + offset;
	for (i = 0; i < len; i++)
		((u8 *)room)[i] = offset + i < linear ? ((u8 *)skb->network)[offset + i] :
							skb->rest[offset + i - linear];
	return room;
}

#endif
