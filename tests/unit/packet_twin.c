// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_twin.h"

enum { HOP = 0, ROUTING = 43, FRAGMENT = 44, AUTH = 51, NONE = 59, DEST = 60 };
enum { ICMP4 = 1, IGMP = 2, ICMP6 = 58, TCP = 6, UDP = 17, DCCP = 33, SCTP = 132, UDPLITE = 136 };

static bool extension(unsigned int proto)
{
	return proto == HOP || proto == ROUTING || proto == FRAGMENT ||
	       proto == AUTH || proto == DEST;
}

static bool has_ports(unsigned int proto)
{
	return proto == TCP || proto == UDP || proto == DCCP || proto == SCTP || proto == UDPLITE;
}

/* The type; and neighbour discovery and MLD, which routers do not forward. */
static void read_icmp(struct twin_packet *packet, size_t at)
{
	unsigned int hops = packet->byte[7], type;
	bool linklocal = packet->byte[8] == 0xfe && packet->byte[9] >> 6 == 2;

	if (at >= packet->len) {
		packet->cut = true;
		return;
	}
	type = packet->byte[at];
	packet->type = type;
	packet->type_known = true;
	if (packet->family == AF_INET || packet->proto == ICMP4)
		return;
	if (type >= 133 && type <= 137 && hops == 255)
		packet->vital = true;
	if (((type >= 130 && type <= 132) || type == 143) && hops == 1 && linklocal)
		packet->vital = true;
}

static void read_transport(struct twin_packet *packet, size_t at)
{
	const u8 *byte = packet->byte + at;
	size_t left = at < packet->len ? packet->len - at : 0;

	if (packet->proto == ICMP4 || packet->proto == ICMP6)
		read_icmp(packet, at);
	if (has_ports(packet->proto)) {
		packet->ports_known = left >= 4;
		packet->cut |= left < 4;
		if (packet->ports_known) {
			packet->sport = byte[0] << 8 | byte[1];
			packet->dport = byte[2] << 8 | byte[3];
		}
	}
	if (packet->proto == TCP) {
		packet->flags_known = left >= 20;
		packet->cut |= left < 20;
		/* SYN without FIN, RST and ACK */
		packet->syn = left >= 20 && (byte[13] & 0x17) == 2;
	}
}

static void read_ipv4(struct twin_packet *packet)
{
	const u8 *byte = packet->byte;

	packet->vital = !byte[12] && !byte[13] && !byte[14] && !byte[15];
	packet->vital |= byte[9] == IGMP && byte[8] == 1 && byte[16] >> 4 == 14;
	packet->vital &= !(byte[6] & 0x3f) && !byte[7];
	packet->proto = byte[9];
	packet->proto_known = true;
	packet->later_known = true;
	packet->later = (byte[6] & 0x1f) || byte[7];
	if (!packet->later)
		read_transport(packet, 4 * (byte[0] & 15));
}

static void read_ipv6(struct twin_packet *packet)
{
	const u8 *byte = packet->byte;
	unsigned int next = byte[6], was, depth = 0;
	static const u8 none[16];
	bool whole = true;
	size_t at = 40;

	while (extension(next)) {
		was = next;
		if (++depth > 8 || at + (was == FRAGMENT ? 8 : 2) > packet->len) {
			packet->cut = true;
			return;
		}
		whole &= was != FRAGMENT;
		next = byte[at];
		if (was == FRAGMENT && (byte[at + 2] || byte[at + 3] & 0xf8)) {
			packet->later = true;
			packet->later_known = true;
			return;
		}
		if (was == FRAGMENT)
			at += 8;
		else if (was == AUTH)
			at += 4 * (byte[at + 1] + 2);
		else
			at += 8 * (byte[at + 1] + 1);
	}
	packet->proto = next;
	packet->proto_known = true;
	packet->later_known = true;
	packet->vital = !memcmp(byte + 8, none, 16) && (byte[7] == 255 || byte[7] == 1);
	read_transport(packet, at);
	packet->vital &= whole;
}

/* Parse the headers; the packet's first fields are set, the others are zero. */
void twin_read(struct twin_packet *packet)
{
	if (packet->family == AF_INET)
		read_ipv4(packet);
	else
		read_ipv6(packet);
}

static bool within(const struct twin_packet *packet, const struct weir_prefix_list *list, size_t at)
{
	const struct weir_net_prefix *prefix = list->prefix;
	const u8 *address = packet->byte + at;
	unsigned int bit;

	for (; prefix < list->prefix + list->count; prefix++) {
		if (prefix->family != packet->family)
			continue;
		for (bit = 0; bit < prefix->len; bit++)
			if ((address[bit / 8] ^ ((const u8 *)prefix->word)[bit / 8]) & (0x80 >> bit % 8))
				break;
		if (bit == prefix->len)
			return true;
	}
	return false;
}

static bool among(const struct weir_port_list *list, unsigned int port)
{
	unsigned int i;

	for (i = 0; i < list->count; i++)
		if (port >= list->range[i].min && port <= list->range[i].max)
			return true;
	return false;
}

static bool listed(const unsigned long *types, unsigned int type)
{
	return types[type / BITS_PER_LONG] >> type % BITS_PER_LONG & 1;
}

/* Does a condition match, ignoring inversion? */
static bool holds(const struct twin_packet *packet, const struct weir_match *match,
		  unsigned int cond)
{
	bool ipv4 = packet->family == AF_INET;

	switch (cond) {
	case WEIR_COND_FAMILY: return packet->family == match->family;
	case WEIR_COND_DEV: return !strcmp(packet->dev, match->dev);
	case WEIR_COND_FROM: return within(packet, &match->from, ipv4 ? 12 : 8);
	case WEIR_COND_TO: return within(packet, &match->to, ipv4 ? 16 : 24);
	case WEIR_COND_PROTO: return listed(match->proto, packet->proto);
	case WEIR_COND_ICMP_TYPE: return listed(match->icmp, packet->type);
	case WEIR_COND_ICMPV6_TYPE: return listed(match->icmpv6, packet->type);
	case WEIR_COND_SPORT: return among(&match->sport, packet->sport);
	case WEIR_COND_DPORT: return among(&match->dport, packet->dport);
	case WEIR_COND_SYN: return packet->syn;
	case WEIR_COND_FRAG: return packet->later;
	default: return (packet->mark & match->mark_mask) == match->mark;
	}
}

/* Are the fields that a condition needs known? */
static bool known(const struct twin_packet *packet, unsigned int cond)
{
	switch (cond) {
	case WEIR_COND_PROTO: return packet->proto_known;
	case WEIR_COND_SPORT:
	case WEIR_COND_DPORT: return packet->ports_known;
	case WEIR_COND_SYN: return packet->flags_known;
	case WEIR_COND_FRAG: return packet->later_known;
	case WEIR_COND_ICMP_TYPE: return packet->type_known && packet->proto == ICMP4;
	case WEIR_COND_ICMPV6_TYPE: return packet->type_known && packet->proto == ICMP6;
	default: return true;
	}
}

/* Does a packet match a limit's conditions, after twin_read()? */
bool twin_meets(const struct twin_packet *packet, const struct weir_match *match)
{
	unsigned int cond;
	bool unreadable;

	if (packet->vital && !(match->conds & ~match->invert & (WEIR_COND_PROTO | WEIR_COND_ICMPV6_TYPE)))
		return false;
	for (cond = 1; cond <= WEIR_COND_ICMPV6_TYPE; cond <<= 1) {
		if (!(match->conds & cond))
			continue;
		if (known(packet, cond)) {
			if (holds(packet, match, cond) == !!(match->invert & cond))
				return false;
			continue;
		}
		/* An unreadable field matches; a field that the packet lacks does not. */
		unreadable = packet->cut || cond == WEIR_COND_PROTO;
		/* Of another protocol it is not unreadable. */
		if (packet->proto_known && ((cond == WEIR_COND_ICMP_TYPE && packet->proto != ICMP4) ||
					    (cond == WEIR_COND_ICMPV6_TYPE && packet->proto != ICMP6)))
			unreadable = false;
		if (!unreadable)
			return false;
	}
	return true;
}
