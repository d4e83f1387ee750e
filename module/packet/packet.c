// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse a packet, once for all limits, and only as far as one of them needs.
 */
#include <linux/icmpv6.h>
#include <linux/if_vlan.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter_bridge.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/dst_metadata.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/mld.h>
#include <net/ndisc.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "packet/packet.h"

/* Most extension headers parsed; RFC 8200 names six, one of them twice. */
#define EXT_DEPTH 8

/* Does the protocol's header begin with two ports? */
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

/* @len bytes at an offset in a packet, perhaps copied to @room; NULL if it ends before. */
static inline const void *header_at(const struct weir_packet *packet, int offset, int len,
				    void *room)
{
	return __skb_header_pointer(packet->skb, offset, len, packet->data, packet->linear, room);
}

static void parse_ports(struct weir_packet *packet, int offset)
{
	const __be16 *ports;
	__be16 room[2];

	if (!weir_proto_has_ports(packet->proto))
		return;
	ports = header_at(packet, offset, sizeof(room), room);
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

	tcp = header_at(packet, offset, sizeof(room), &room);
	if (!tcp) {
		packet->flags |= WEIR_PACKET_CUT;
		return;
	}
	packet->flags |= WEIR_PACKET_TCP;
	if (tcp->syn && !tcp->ack && !tcp->rst && !tcp->fin)
		packet->flags |= WEIR_PACKET_SYN;
}

/*
 * With that hop limit, is the ICMPv6 of a packet neighbour discovery that no router has forwarded
 * (RFC 4861), or multicast listener discovery (RFC 2710, RFC 3810)?
 */
bool weir_packet_vital(const struct weir_packet *packet, u8 hop_limit)
{
	switch (packet->icmp_type) {
	case NDISC_ROUTER_SOLICITATION:
	case NDISC_ROUTER_ADVERTISEMENT:
	case NDISC_NEIGHBOUR_SOLICITATION:
	case NDISC_NEIGHBOUR_ADVERTISEMENT:
	case NDISC_REDIRECT:
		return hop_limit == 255;
	case ICMPV6_MGM_QUERY:
	case ICMPV6_MGM_REPORT:
	case ICMPV6_MGM_REDUCTION:
	case ICMPV6_MLD2_REPORT:
		return hop_limit == 1 && ipv6_addr_type((const void *)packet->source.word) &
					 IPV6_ADDR_LINKLOCAL;
	}
	return false;
}

static noinline void parse_icmp(struct weir_packet *packet, int offset)
{
	const struct ipv6hdr *ip6 = weir_packet_header(packet);
	const u8 *type;
	u8 room;

	type = header_at(packet, offset, sizeof(room), &room);
	if (!type) {
		packet->flags |= WEIR_PACKET_CUT;
		return;
	}
	packet->icmp_type = *type;
	if (packet->family == AF_INET6 && packet->proto == IPPROTO_ICMPV6 &&
	    weir_packet_vital(packet, ip6->hop_limit))
		packet->flags |= WEIR_PACKET_VITAL;
}

/* The offset of the transport header, or -1 if it cannot be found. @whole: it is no fragment. */
static noinline int walk_ipv6(struct weir_packet *packet, bool *whole)
{
	const struct ipv6hdr *ip6 = weir_packet_header(packet);
	int offset = (void *)(ip6 + 1) - packet->data;
	u8 next = ip6->nexthdr;
	unsigned int depth;

	for (depth = 0; ipv6_ext_hdr(next) && next != NEXTHDR_NONE; depth++) {
		const struct ipv6_opt_hdr *ext;
		const struct frag_hdr *frag;
		struct frag_hdr room;
		const void *header;

		if (depth == EXT_DEPTH)
			goto cut;
		header = header_at(packet, offset, next == NEXTHDR_FRAGMENT ?
				   sizeof(room) : sizeof(*ext), &room);
		if (!header)
			goto cut;
		ext = header;
		if (next == NEXTHDR_FRAGMENT) {
			frag = header;
			*whole = false;
			if (frag->frag_off & htons(IP6_OFFSET)) {
				/* Reassembly goes by the first one's protocol. */
				packet->flags |= WEIR_PACKET_LATER |
						 WEIR_PACKET_NO_PROTO;
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
	*whole = false;
	packet->flags |= WEIR_PACKET_CUT | WEIR_PACKET_NO_PROTO;
	return -1;
}

static int walk_ipv4(struct weir_packet *packet)
{
	const struct iphdr *ip = weir_packet_header(packet);

	packet->proto = ip->protocol;
	if (ip->frag_off & htons(IP_OFFSET)) {
		packet->flags |= WEIR_PACKET_LATER;
		return -1;
	}
	return (void *)ip + ip->ihl * 4 - packet->data;
}

/* Parse the headers that follow the network header. */
void weir_packet_parse(struct weir_packet *packet)
{
	bool whole = true;
	int offset;

	if (likely(packet->skb)) {
		packet->data = packet->skb->data;
		packet->linear = skb_headlen(packet->skb);
	}
	offset = packet->family == AF_INET ? walk_ipv4(packet) : walk_ipv6(packet, &whole);
	if (offset >= 0) {
		parse_ports(packet, offset);
		if (packet->proto == IPPROTO_TCP)
			parse_tcp(packet, offset);
		else if (packet->proto == IPPROTO_ICMPV6 || packet->proto == IPPROTO_ICMP)
			parse_icmp(packet, offset);
	}
	if (unlikely(!whole))
		packet->flags &= ~WEIR_PACKET_VITAL;
}

/*
 * In a VRF a bridge's device, or a VLAN of it, passes packets to the hook that
 * br_netfilter has passed before; elsewhere ip_sabotage_in() prevents that. The
 * extension alone proves nothing: packets that leave a bridge of another namespace by
 * a macvlan still have it. So they must have arrived on a port of this bridge.
 */
static bool seen_by_bridge(const struct weir_packet *packet)
{
#if IS_ENABLED(CONFIG_BRIDGE_NETFILTER)
	const struct nf_bridge_info *info = nf_bridge_info_get(packet->skb);
	const struct net_device *in = packet->in, *bridge;
	struct net_device *port;

	if (!info || info->in_prerouting || !netif_is_l3_slave(in))
		return false;
	port = dev_get_by_index_rcu(dev_net(in), nf_bridge_get_physinif(packet->skb));
	bridge = port && netif_is_bridge_port(port) ?
		 netdev_master_upper_dev_get_rcu(port) : NULL;
	return bridge && (bridge == in ||
			  (is_vlan_dev(in) &&
			   dev_get_iflink(in) == bridge->ifindex));
#else
	return false;
#endif
}

/*
 * A packet that IPsec decrypts in transport mode was seen before: it has a route
 * and the address that its state was found by. A packet out of a tunnel is new, but
 * may have the security path of the outer packet. A packet that GRO or a device
 * (packet offload) decrypts has no route: it comes here for the first time. With
 * crypto offload alone the path is also there at the first pass, but no route. No test
 * has such a device: netdevsim does not decrypt what it receives.
 */
static bool seen_by_ipsec(struct weir_packet *packet)
{
#ifdef CONFIG_XFRM
	const struct sec_path *path = skb_sec_path(packet->skb);
	const struct xfrm_state *x;

	if (!path || !path->len || !skb_valid_dst(packet->skb))
		return false;
	x = path->xvec[path->len - 1];
	if (x->props.mode != XFRM_MODE_TRANSPORT ||
	    x->props.family != packet->family ||
	    (packet->family == AF_INET ?
	     x->id.daddr.a4 != ip_hdr(packet->skb)->daddr :
	     !ipv6_addr_equal(&x->id.daddr.in6,
			      &ipv6_hdr(packet->skb)->daddr)))
		return false;
	packet->flags |= WEIR_PACKET_DECRYPTED;
	/* IPv6 was read through AH, as through any extension header. */
	return packet->family == AF_INET6 && x->id.proto == IPPROTO_AH;
#else
	return false;
#endif
}

/* Fill @outer with how a decrypted packet was seen before, as if parsed. */
void weir_packet_encrypted(const struct weir_packet *packet, struct weir_packet *outer)
{
#ifdef CONFIG_XFRM
	const struct sec_path *path = skb_sec_path(packet->skb);
	const struct xfrm_state *x = path->xvec[path->len - 1];

	*outer = *packet;
	outer->flags = 0;
	outer->proto = x->id.proto;
	if (!x->encap)
		return;
	outer->flags |= WEIR_PACKET_PORTS;
	outer->proto = IPPROTO_UDP;
	if (x->encap->encap_type == TCP_ENCAP_ESPINTCP) {
		outer->flags |= WEIR_PACKET_TCP;
		outer->proto = IPPROTO_TCP;
	}
	outer->sport = ntohs(x->encap->encap_sport);
	outer->dport = ntohs(x->encap->encap_dport);
#endif
}

/*
 * Do the extensions show that the packet was charged? Sets WEIR_PACKET_DECRYPTED if it
 * was charged by limits that match it encrypted.
 */
bool weir_packet_seen_extended(struct weir_packet *packet)
{
	return seen_by_bridge(packet) || seen_by_ipsec(packet);
}

/*
 * Did the packet arrive on a device of this VRF? SRv6's End.DT leaves the device of the
 * outer packet in the control block, which is in another VRF or none.
 */
static bool came_by_slave(const struct sk_buff *skb, bool ipv4, const struct net_device *vrf)
{
#ifdef CONFIG_NET_L3_MASTER_DEV
	int iif = ipv4 ? IPCB(skb)->iif : IP6CB(skb)->iif;

	return l3mdev_master_ifindex_by_index(dev_net(vrf), iif) == vrf->ifindex;
#else
	return false;
#endif
}

/*
 * Was neighbour discovery charged before? A VRF that passes it on again keeps the
 * packet's device and does not mark it; @in is the device of the hook's state.
 */
bool weir_packet_seen_as_nd(const struct sk_buff *skb, const struct net_device *in)
{
	return netif_is_l3_master(in) && came_by_slave(skb, false, in);
}

/*
 * Was a packet charged that arrives on a VRF's device? One that the VRF has marked was,
 * unless SRv6 has decapsulated it: End.DX gives it a route, End.DT leaves the device of
 * another VRF. An unmarked packet is new: it comes out of IPsec's tunnel mode, or was
 * sent through the VRF's device by MPLS, or by the host to itself, which passes as on
 * loopback.
 */
bool weir_packet_seen_by_vrf(const struct weir_packet *packet)
{
#ifdef CONFIG_NET_L3_MASTER_DEV
	const struct sk_buff *skb = packet->skb;
	const struct net_device *vrf = packet->in;
	bool ipv4 = packet->family == AF_INET;
	struct net *net = dev_net(vrf);

	if (ipv4 ? ipv4_l3mdev_skb(IPCB(skb)->flags) :
		   ipv6_l3mdev_skb(IP6CB(skb)->flags))
		return !skb_valid_dst(skb) && came_by_slave(skb, ipv4, vrf);
	if (skb->pkt_type != PACKET_LOOPBACK)
		return false;
	if (ipv4)
		return inet_addr_type_dev_table(net, vrf, ip_hdr(skb)->saddr) ==
		       RTN_LOCAL;
	return IS_ENABLED(CONFIG_IPV6) &&
	       ipv6_chk_addr(net, &ipv6_hdr(skb)->saddr, vrf, 0);
#else
	return false;
#endif
}

/* The offset of the last header before the payload. */
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

/* Bytes of headers in each segment. */
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

/* The segments that GRO has merged, and their bytes with the headers that each had. */
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
