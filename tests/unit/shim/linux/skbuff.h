/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_SKBUFF_H
#define SHIM_SKBUFF_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

struct sk_buff {
	void *network;
};

static inline struct iphdr *ip_hdr(const struct sk_buff *skb)
{
	return skb->network;
}

static inline struct ipv6hdr *ipv6_hdr(const struct sk_buff *skb)
{
	return skb->network;
}

#endif
