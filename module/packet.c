// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is known of a packet: found out once for all limits, and no more than
 * some limit wants to know.
 */
#include <linux/icmpv6.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/mld.h>
#include <net/ndisc.h>
#include <net/xfrm.h>

#include "packet.h"

/* Extension headers that are walked; RFC 8200 names six, one of them twice. */
#define EXT_DEPTH 8

/**
 * weir_proto_has_ports - does a protocol begin with two ports?
 * @proto: IPPROTO_*
 */
bool weir_proto_has_ports(u8 proto)
{
	switch (proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		return true;
	}
	return false;
}

static void parse_ports(struct weir_packet *packet, int offset)
{
	const __be16 *ports;
	__be16 room[2];

	if (!weir_proto_has_ports(packet->proto))
		return;
	ports = skb_header_pointer(packet->skb, offset, sizeof(room), room);
	if (!ports) {
		packet->flags |= WEIR_PACKET_CUT;
		return;
	}
	packet->sport = ntohs(ports[0]);
	packet->dport = ntohs(ports[1]);
	packet->flags |= WEIR_PACKET_PORTS;
}

static noinline void parse_tcp(struct weir_packet *packet, int offset)
{
	const struct tcphdr *tcp;
	struct tcphdr room;

	tcp = skb_header_pointer(packet->skb, offset, sizeof(room), &room);
	if (!tcp) {
		packet->flags |= WEIR_PACKET_CUT;
		return;
	}
	packet->flags |= WEIR_PACKET_TCP;
	if (tcp->syn && !tcp->ack && !tcp->rst && !tcp->fin)
		packet->flags |= WEIR_PACKET_SYN;
}

/*
 * Neighbour discovery that routers do not pass on (RFC 4861), and multicast
 * listener discovery (RFC 2710, RFC 3810).
 */
static noinline void parse_icmpv6(struct weir_packet *packet, int offset)
{
	const struct ipv6hdr *ip6 = ipv6_hdr(packet->skb);
	const u8 *type;
	u8 room;

	type = skb_header_pointer(packet->skb, offset, sizeof(room), &room);
	if (!type) {
		packet->flags |= WEIR_PACKET_CUT;
		return;
	}
	switch (*type) {
	case NDISC_ROUTER_SOLICITATION:
	case NDISC_ROUTER_ADVERTISEMENT:
	case NDISC_NEIGHBOUR_SOLICITATION:
	case NDISC_NEIGHBOUR_ADVERTISEMENT:
	case NDISC_REDIRECT:
		if (ip6->hop_limit == 255)
			packet->flags |= WEIR_PACKET_VITAL;
		break;
	case ICMPV6_MGM_QUERY:
	case ICMPV6_MGM_REPORT:
	case ICMPV6_MGM_REDUCTION:
	case ICMPV6_MLD2_REPORT:
		if (ip6->hop_limit == 1 &&
		    ipv6_addr_type(&ip6->saddr) & IPV6_ADDR_LINKLOCAL)
			packet->flags |= WEIR_PACKET_VITAL;
		break;
	}
}

/* The transport header's offset, or -1 where it cannot be had. */
static noinline int walk_ipv6(struct weir_packet *packet)
{
	int offset = skb_network_offset(packet->skb) + sizeof(struct ipv6hdr);
	u8 next = ipv6_hdr(packet->skb)->nexthdr;
	unsigned int depth;

	for (depth = 0; ipv6_ext_hdr(next) && next != NEXTHDR_NONE; depth++) {
		const struct ipv6_opt_hdr *ext;
		const struct frag_hdr *frag;
		struct frag_hdr room;
		const void *header;

		if (depth == EXT_DEPTH)
			goto cut;
		header = skb_header_pointer(packet->skb, offset,
					    next == NEXTHDR_FRAGMENT ?
					    sizeof(room) : sizeof(*ext), &room);
		if (!header)
			goto cut;
		ext = header;
		if (next == NEXTHDR_FRAGMENT) {
			frag = header;
			if (frag->frag_off & htons(IP6_OFFSET)) {
				packet->flags |= WEIR_PACKET_LATER;
				packet->proto = ext->nexthdr;
				if (ipv6_ext_hdr(ext->nexthdr) &&
				    ext->nexthdr != NEXTHDR_NONE)
					packet->flags |= WEIR_PACKET_NO_PROTO;
				return -1;
			}
			offset += sizeof(*frag);
		} else if (next == NEXTHDR_AUTH) {
			offset += ipv6_authlen(ext);
		} else {
			offset += ipv6_optlen(ext);
		}
		next = ext->nexthdr;
	}
	packet->proto = next;
	return offset;
cut:
	packet->flags |= WEIR_PACKET_CUT | WEIR_PACKET_NO_PROTO;
	return -1;
}

static int walk_ipv4(struct weir_packet *packet)
{
	const struct iphdr *ip = ip_hdr(packet->skb);

	packet->proto = ip->protocol;
	if (ip->frag_off & htons(IP_OFFSET)) {
		packet->flags |= WEIR_PACKET_LATER;
		return -1;
	}
	return skb_network_offset(packet->skb) + ip->ihl * 4;
}

/**
 * weir_packet_parse - find out what lies behind the network header
 * @packet: initialised packet
 */
void weir_packet_parse(struct weir_packet *packet)
{
	int offset = packet->family == AF_INET ? walk_ipv4(packet) :
						 walk_ipv6(packet);

	packet->flags |= WEIR_PACKET_PARSED;
	if (offset < 0)
		return;
	if (packet->family == AF_INET6 && packet->proto == IPPROTO_ICMPV6)
		parse_icmpv6(packet, offset);
	parse_ports(packet, offset);
	if (packet->proto == IPPROTO_TCP)
		parse_tcp(packet, offset);
}

/**
 * weir_packet_decrypted - is it what IPsec found in a packet that was charged?
 * @skb: packet in PRE_ROUTING
 * @family: AF_INET or AF_INET6
 *
 * That is so in transport mode. GRO decrypts in front of the hook, and hides
 * its mark from xfrm_offload(): what it alone has decrypted is here for the
 * first time.
 */
bool weir_packet_decrypted(const struct sk_buff *skb, u8 family)
{
#ifdef CONFIG_XFRM
	const struct sec_path *path = skb_sec_path(skb);
	const struct xfrm_offload *offload;
	u8 proto;

	if (path && path->len &&
	    path->xvec[path->len - 1]->props.mode == XFRM_MODE_TRANSPORT &&
	    !(path->len == 1 && path->ovec[0].flags & XFRM_GRO)) {
		offload = xfrm_offload((struct sk_buff *)skb);
		if (!offload)
			return true;
		/* A device has decrypted it, and the header still stands. */
		proto = family == AF_INET ? ip_hdr(skb)->protocol :
						 ipv6_hdr(skb)->nexthdr;
		return !(offload->flags & CRYPTO_DONE) ||
		       (proto != IPPROTO_ESP && proto != IPPROTO_AH &&
			proto != IPPROTO_UDP);
	}
#endif
	return false;
}

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
 *
 * What arrived: its segments, and in bytes the headers that each of them had.
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
