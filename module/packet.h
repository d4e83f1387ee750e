/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What limits want to know of a packet.
 */
#ifndef WEIR_PACKET_H
#define WEIR_PACKET_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "source.h"

/* What is known of a packet beyond its addresses. */
#define WEIR_PACKET_LATER	BIT(0)	/* a fragment that is not the first */
#define WEIR_PACKET_PORTS	BIT(1)	/* sport and dport are its */
#define WEIR_PACKET_TCP		BIT(2)	/* carries a TCP header */
#define WEIR_PACKET_SYN		BIT(3)	/* ... that asks for a connection */
#define WEIR_PACKET_CUT		BIT(4)	/* headers cut short or too deep */
#define WEIR_PACKET_NO_PROTO	BIT(5)	/* ... before the protocol was known */
#define WEIR_PACKET_VITAL	BIT(6)	/* keeps the link alive */

/**
 * struct weir_packet - a packet on its way through the limits
 * @source: its whole sender
 */
struct weir_packet {
	const struct sk_buff *skb;
	const struct net_device *in;
	struct weir_source source;
	u8 family;
	u8 proto;
	u16 flags;
	u16 sport;
	u16 dport;
};

void weir_packet_init(struct weir_packet *packet, const struct sk_buff *skb,
		      const struct net_device *in, u8 family);
void weir_packet_parse(struct weir_packet *packet, bool transport);
bool weir_packet_decrypted(const struct sk_buff *skb, u8 family);
bool weir_proto_has_ports(u8 proto);

/**
 * weir_packet_charged - was a packet charged in this namespace before?
 * @skb: packet in PRE_ROUTING
 * @in: device that it arrived on
 * @family: AF_INET or AF_INET6
 *
 * A VRF hands its packets to the hook again with the master as their device,
 * and IPsec in transport mode hands over what it has decrypted.
 */
static inline bool weir_packet_charged(const struct sk_buff *skb,
				       const struct net_device *in, u8 family)
{
	return netif_is_l3_master(in) ||
	       (unlikely(skb_has_extensions((struct sk_buff *)skb)) &&
		weir_packet_decrypted(skb, family));
}

#endif /* WEIR_PACKET_H */
