// SPDX-License-Identifier: GPL-2.0-or-later
/* Read captured frames down to the ports, as module/packet/packet.c does with packets. */

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "advice/frame.h"

/* Link types of libpcap, and those that files have for them. */
enum {
	LINK_NULL = 0, LINK_ETHERNET = 1, LINK_RAW = 12, LINK_RAW_FILE = 101, LINK_LOOP = 108,
	LINK_SLL = 113, LINK_IPV4 = 228, LINK_IPV6 = 229, LINK_SLL2 = 276,
};

enum { TYPE_IPV4 = 0x0800, TYPE_VLAN = 0x8100, TYPE_IPV6 = 0x86dd, TYPE_QINQ = 0x88a8 };

#define TAGS_MAX	2
#define HEADERS_MAX	8	/* extension headers, as in the module */
#define IPV4_HEADER	20
#define IPV6_HEADER	40
#define TCP_FLAGS	13
#define TCP_SYN_ONLY(flags)	(((flags) & 0x17) == 0x02)

struct bytes {
	const uint8_t *at;
	uint32_t len;		/* that were captured */
};

static unsigned int get16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static bool skip(struct bytes *of, uint32_t count)
{
	if (count > of->len)
		return false;
	of->at += count;
	of->len -= count;
	return true;
}

bool weir_frame_known(int link)
{
	switch (link) {
	case LINK_NULL:
	case LINK_ETHERNET:
	case LINK_RAW:
	case LINK_RAW_FILE:
	case LINK_LOOP:
	case LINK_SLL:
	case LINK_IPV4:
	case LINK_IPV6:
	case LINK_SLL2:
		return true;
	}
	return false;
}

/* Skip the header of the link whose ethertype is in it, @at so far, and tags of VLANs. */
static bool skip_typed(struct bytes *of, uint32_t header, uint32_t type_at)
{
	unsigned int type, tags;

	if (of->len < header)
		return false;
	type = get16(of->at + type_at);
	skip(of, header);
	for (tags = 0; tags < TAGS_MAX && (type == TYPE_VLAN || type == TYPE_QINQ); tags++) {
		if (of->len < 4)
			return false;
		type = get16(of->at + 2);
		skip(of, 4);
	}
	return type == TYPE_IPV4 || type == TYPE_IPV6;
}

/* Skip to the IP header; false if there is none. */
static bool skip_link(int link, struct bytes *of)
{
	switch (link) {
	case LINK_ETHERNET:
		return skip_typed(of, 14, 12);
	case LINK_SLL:
		return skip_typed(of, 16, 14);
	case LINK_SLL2:
		return skip_typed(of, 20, 0);
	case LINK_NULL:
	case LINK_LOOP:
		return skip(of, 4);
	}
	return true;
}

/* What is behind the IP headers of a packet that is no later fragment. */
static void read_transport(struct bytes of, uint8_t proto, struct weir_match *packet)
{
	packet->proto[0] = proto;
	packet->has |= WEIR_COND_PROTO;
	switch (proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		if (of.len < 4)
			return;
		packet->sport[0][0] = get16(of.at);
		packet->dport[0][0] = get16(of.at + 2);
		packet->sport[0][1] = packet->sport[0][0];
		packet->dport[0][1] = packet->dport[0][0];
		packet->has |= WEIR_COND_SPORT | WEIR_COND_DPORT;
		if (proto == IPPROTO_TCP && of.len <= TCP_FLAGS)
			return;
		if (proto == IPPROTO_TCP && TCP_SYN_ONLY(of.at[TCP_FLAGS]))
			packet->flags |= WEIR_COND_SYN;
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		if (!of.len)
			return;
		*(proto == IPPROTO_ICMP ? packet->icmp : packet->icmpv6) = of.at[0];
		packet->has |= proto == IPPROTO_ICMP ? WEIR_COND_ICMP_TYPE :
						       WEIR_COND_ICMPV6_TYPE;
		break;
	}
	packet->has |= WEIR_COND_SYN;
}

static void set_address(struct weir_prefix *to, uint8_t family, const uint8_t *at)
{
	to->family = family;
	to->len = family == AF_INET ? 32 : 128;
	memset(to->addr, 0, sizeof(to->addr));
	memcpy(to->addr, at, to->len / 8);
}

static void set_addresses(struct weir_match *packet, uint8_t family, const uint8_t *from)
{
	packet->family = family;
	set_address(&packet->from[0], family, from);
	set_address(&packet->to[0], family, from + packet->from[0].len / 8);
	packet->has = WEIR_COND_FAMILY | WEIR_COND_FROM | WEIR_COND_TO | WEIR_COND_FRAG;
	packet->flags = 0;
}

static uint32_t read_ipv4(struct bytes of, uint32_t size, struct weir_match *packet)
{
	uint32_t header, len;
	uint8_t proto;

	if (of.len < IPV4_HEADER)
		return 0;
	header = (of.at[0] & 15) * 4;
	len = get16(of.at + 2);
	proto = of.at[9];
	if (header < IPV4_HEADER)
		return 0;
	set_addresses(packet, AF_INET, of.at + 12);
	if (get16(of.at + 6) & 0x1fff) {
		packet->flags |= WEIR_COND_FRAG;
		packet->proto[0] = proto;
		packet->has |= WEIR_COND_PROTO | WEIR_COND_SYN;
	} else if (skip(&of, header)) {
		read_transport(of, proto, packet);
	}
	/* Segments that the device is to cut have none. */
	return len ? len : size;
}

static bool is_extension(uint8_t header)
{
	return header == IPPROTO_HOPOPTS || header == IPPROTO_ROUTING ||
	       header == IPPROTO_DSTOPTS || header == IPPROTO_FRAGMENT || header == IPPROTO_AH;
}

static uint32_t read_ipv6(struct bytes of, uint32_t size, struct weir_match *packet)
{
	uint32_t len, header;
	unsigned int i;
	uint8_t next;

	if (of.len < IPV6_HEADER)
		return 0;
	len = get16(of.at + 4);
	len = len ? len + IPV6_HEADER : size;
	next = of.at[6];
	set_addresses(packet, AF_INET6, of.at + 8);
	skip(&of, IPV6_HEADER);
	for (i = 0; i < HEADERS_MAX && is_extension(next); i++) {
		if (of.len < 8)
			return len;
		if (next == IPPROTO_FRAGMENT && get16(of.at + 2) & 0xfff8) {
			packet->flags |= WEIR_COND_FRAG;
			packet->has |= WEIR_COND_SYN;
			return len;
		}
		header = next == IPPROTO_FRAGMENT ? 8 :
			 next == IPPROTO_AH ? (of.at[1] + 2) * 4u : (of.at[1] + 1) * 8u;
		next = of.at[0];
		if (!skip(&of, header))
			return len;
	}
	if (!is_extension(next))
		read_transport(of, next, packet);
	return len;
}

uint32_t weir_frame_read(int link, const uint8_t *frame, uint32_t len, uint32_t size,
			 struct weir_match *packet)
{
	struct bytes of = { frame, len };
	uint32_t link_len;

	if (!skip_link(link, &of) || !of.len)
		return 0;
	link_len = len - of.len;
	size = size > link_len ? size - link_len : 0;
	if (of.at[0] >> 4 == 4)
		return read_ipv4(of, size, packet);
	return of.at[0] >> 4 == 6 ? read_ipv6(of, size, packet) : 0;
}
