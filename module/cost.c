// SPDX-License-Identifier: GPL-2.0-only
/*
 * A packet that GRO has put together costs what arrived: its segments, and in
 * bytes the headers that each of them had.
 */
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ipv6.h>

#include "cost.h"

/* Where the header in front of the payload begins. */
static int transport_offset(const struct sk_buff *skb, u8 family)
{
	__be16 frag_off;
	u8 next;
	int offset;

	if (skb->encapsulation)
		return skb_inner_transport_offset(skb);
	if (family == AF_INET)
		return skb_transport_offset(skb);
	next = ipv6_hdr(skb)->nexthdr;
	offset = ipv6_skip_exthdr(skb, skb_network_offset(skb) +
				  sizeof(struct ipv6hdr), &next, &frag_off);
	return offset < 0 ? skb_transport_offset(skb) : offset;
}

/* Bytes in front of the payload of each segment. */
static unsigned int segment_header(const struct sk_buff *skb, u8 family)
{
	int offset = transport_offset(skb, family);
	unsigned int header = offset - skb_network_offset(skb);
	const struct tcphdr *tcp;
	struct tcphdr room;

	if (!(skb_shinfo(skb)->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)))
		return header + sizeof(struct udphdr);
	tcp = skb_header_pointer(skb, offset, sizeof(room), &room);
	return header + (tcp ? tcp->doff * 4 : sizeof(room));
}

/**
 * weir_segments_cost - what a packet costs that GRO has put together
 * @skb: packet in PRE_ROUTING
 * @family: AF_INET or AF_INET6
 */
struct weir_cost weir_segments_cost(const struct sk_buff *skb, u8 family)
{
	struct weir_cost cost = { .bytes = skb->len };
	unsigned int header, segments;

	header = min(segment_header(skb, family), skb->len);
	segments = skb_shinfo(skb)->gso_segs ?:
		   DIV_ROUND_UP(skb->len - header, skb_shinfo(skb)->gso_size);
	cost.packets = max(segments, 1u);
	cost.bytes += (u64)(cost.packets - 1) * header;
	return cost;
}
