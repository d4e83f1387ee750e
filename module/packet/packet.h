/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The properties of a packet, in PRE_ROUTING, that limits look at.
 */
#ifndef WEIR_PACKET_H
#define WEIR_PACKET_H

#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "packet/source.h"

struct weir_cost {
	u32 packets;
	u64 bytes;		/* from the network header on */
};

#define WEIR_PACKET_LATER	BIT(0)	/* a fragment that is not the first */
#define WEIR_PACKET_PORTS	BIT(1)	/* sport and dport are valid */
#define WEIR_PACKET_TCP		BIT(2)	/* carries a TCP header */
#define WEIR_PACKET_SYN		BIT(3)	/* ... with SYN, without ACK, RST and FIN */
#define WEIR_PACKET_CUT		BIT(4)	/* headers cut short or nested too deeply */
#define WEIR_PACKET_NO_PROTO	BIT(5)	/* ... before the protocol was known */
#define WEIR_PACKET_VITAL	BIT(6)	/* keeps the link alive */
#define WEIR_PACKET_DECRYPTED	BIT(7)	/* was seen encrypted, in IPsec's transport mode */

/* A packet that a device has just received and that has no buffer yet. */
struct weir_frame {
	struct net_device *dev;	/* on which the hook will see it */
	void *header;		/* of IP, whole */
	u32 len;		/* bytes from @header on that are linear, at most @bytes */
	u32 bytes;		/* of the packet, by its header */
	u8 family;		/* AF_INET or AF_INET6 */
};

struct weir_packet {
	const struct sk_buff *skb;	/* NULL if it is a frame */
	const void *data;	/* linear part: of a frame from IP on, of an skb when parsed */
	u32 linear;		/* bytes of it */
	const struct net_device *in;
	struct weir_source source;	/* whole address */
	u8 family;		/* AF_INET or AF_INET6 */
	u8 proto;
	u8 flags;		/* WEIR_PACKET_* */
	u8 icmp_type;		/* of ICMP and ICMPv6, unless it is cut */
	u16 sport;
	u16 dport;
};

/* The header of IP, as a struct iphdr or ipv6hdr. */
static inline const void *weir_packet_header(const struct weir_packet *packet)
{
	return likely(packet->skb) ? skb_network_header(packet->skb) : packet->data;
}

/*
 * The whole address of the sender; on link-local ones see weir_source_ipv4(). @header: of
 * IP; @ifindex: of the input device.
 */
static inline void weir_header_source(const void *header, u8 family, int ifindex,
				      struct weir_source *source)
{
	if (family == AF_INET)
		weir_source_ipv4(source, ((const struct iphdr *)header)->saddr, ifindex);
	else
		weir_source_ipv6(source, &((const struct ipv6hdr *)header)->saddr, ifindex);
}

/*
 * Do source and device tell a packet from others, for limits that look at no more? No, if its
 * header or its source may make it one that keeps the link alive.
 */
static inline bool weir_header_plain(const void *header, u8 family)
{
	const struct ipv6hdr *ip6 = header;

	return family == AF_INET ? ((const struct iphdr *)header)->protocol != IPPROTO_IGMP :
	       ip6->nexthdr == IPPROTO_UDP || ip6->nexthdr == IPPROTO_TCP;
}

static inline bool weir_source_plain(const struct weir_source *source)
{
	return weir_source_known(source) && !(source->scope & WEIR_SCOPE_LINKLOCAL);
}

/* With that hop limit, may a packet of IPv6 keep the link alive? Routers do not forward these. */
static inline bool weir_hop_vital(const struct ipv6hdr *ip6)
{
	return ip6->hop_limit == 255 || ip6->hop_limit == 1;
}

/*
 * Does the header of IP show that the packet keeps the link alive? It has no source address, or is
 * IGMP (RFC 3376) to a group, with a TTL that routers do not forward. A fragment never does: it
 * would cost memory of reassembly without a limit. In IPv6 weir_packet_parse() finds these.
 */
static inline bool weir_header_vital(const void *header, u8 family,
				     const struct weir_source *source)
{
	const struct iphdr *ip = header;

	if (likely(weir_source_known(source)) &&
	    (family == AF_INET6 || likely(ip->protocol != IPPROTO_IGMP) || ip->ttl != 1 ||
	     !ipv4_is_multicast(ip->daddr)))
		return false;
	return family == AF_INET6 ? weir_hop_vital(header) :
	       !(ip->frag_off & htons(IP_OFFSET | IP_MF));
}

/* Is it a packet as it came from the device, and costs what its length says? */
static inline bool weir_skb_single(const struct sk_buff *skb)
{
	return !skb_is_gso(skb) && !skb_has_extensions((struct sk_buff *)skb);
}

/* All three. */
static inline bool weir_packet_plain(const struct weir_packet *packet)
{
	return (!packet->skb || weir_skb_single(packet->skb)) &&
	       weir_source_plain(&packet->source) &&
	       weir_header_plain(weir_packet_header(packet), packet->family);
}

/* The device is the skb's: with SRv6 some kernels pass none to the hook. */
static inline void weir_packet_init(struct weir_packet *packet,
				    const struct sk_buff *skb, u8 family)
{
	const void *header = skb_network_header(skb);

	packet->skb = skb;
	packet->in = skb->dev;
	packet->family = family;
	packet->flags = 0;
	weir_header_source(header, family, skb->dev->ifindex, &packet->source);
	if (weir_header_vital(header, family, &packet->source))
		packet->flags = WEIR_PACKET_VITAL;
}

static inline void weir_packet_init_frame(struct weir_packet *packet,
					  const struct weir_frame *frame)
{
	packet->skb = NULL;
	packet->data = frame->header;
	packet->linear = frame->len;
	packet->in = frame->dev;
	packet->family = frame->family;
	packet->flags = 0;
	weir_header_source(frame->header, frame->family, frame->dev->ifindex, &packet->source);
	if (weir_header_vital(frame->header, frame->family, &packet->source))
		packet->flags = WEIR_PACKET_VITAL;
}

struct weir_cost weir_segments_cost(const struct sk_buff *skb, u8 family);

static inline struct weir_cost weir_packet_cost(const struct sk_buff *skb, u8 family)
{
	if (unlikely(skb_is_gso(skb)))
		return weir_segments_cost(skb, family);
	return (struct weir_cost) { .packets = 1, .bytes = skb->len };
}

bool weir_packet_seen_extended(struct weir_packet *packet);
void weir_packet_encrypted(const struct weir_packet *packet, struct weir_packet *outer);
bool weir_packet_seen_by_vrf(const struct weir_packet *packet);
bool weir_packet_seen_as_nd(const struct sk_buff *skb, const struct net_device *in);
bool weir_packet_vital(const struct weir_packet *packet, u8 hop_limit);
bool weir_proto_has_ports(u8 proto);

/* May ICMPv6 keep the link alive? See parse_icmp(). */
static inline bool weir_packet_may_be_vital(const struct weir_packet *packet)
{
	const struct ipv6hdr *ip6;

	if (packet->family != AF_INET6)
		return false;
	ip6 = weir_packet_header(packet);
	return weir_hop_vital(ip6) &&
	       (ip6->nexthdr == NEXTHDR_ICMP || ipv6_ext_hdr(ip6->nexthdr));
}

void weir_packet_parse(struct weir_packet *packet);

/* Was the packet charged in this namespace before? */
static inline bool weir_packet_already_seen(struct weir_packet *packet)
{
	struct sk_buff *skb = (struct sk_buff *)packet->skb;

	return (unlikely(netif_is_l3_master(packet->in)) &&
		weir_packet_seen_by_vrf(packet)) ||
	       (unlikely(skb_has_extensions(skb)) &&
		weir_packet_seen_extended(packet));
}

#endif /* WEIR_PACKET_H */
