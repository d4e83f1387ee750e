// SPDX-License-Identifier: GPL-2.0-only
/*
 * A condition on ports or flags needs a packet with that header: later fragments
 * fail it, inverted or not. But no packet may escape a limit by an unreadable
 * header: if headers are cut short, or IPv6 nests more than EXT_DEPTH of them,
 * every condition on the headers that follow holds, inverted or not. Likewise a condition on
 * types needs a packet of ICMP, or of ICMPv6.
 */
#include <linux/bitmap.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>

#include "packet/match.h"

static const __be32 *destination(const struct weir_packet *packet)
{
	const struct ipv6hdr *ip6 = weir_packet_header(packet);
	const struct iphdr *ip = weir_packet_header(packet);

	return packet->family == AF_INET ? &ip->daddr : ip6->daddr.s6_addr32;
}

static bool same_dev(const char *a, const char *b)
{
	return !strncmp(a, b, IFNAMSIZ);
}

/* Is there such a condition that does not hold? */
static bool unmet(const struct weir_match *match, u16 cond, bool holds)
{
	return match->conds & cond && holds == !!(match->invert & cond);
}

static bool prefixes_hold(const struct weir_prefix_list *list, u8 family, const __be32 *addr)
{
	unsigned int i;

	for (i = 0; i < list->count; i++)
		if (weir_prefix_has(&list->prefix[i], family, addr))
			return true;
	return false;
}

static bool ports_hold(const struct weir_port_list *list, u16 port)
{
	unsigned int i;

	for (i = 0; i < list->count; i++)
		if (port >= list->range[i].min && port <= list->range[i].max)
			return true;
	return false;
}

/* What comes before the hook may set the mark of a frame. */
static bool mark_unmet(const struct weir_match *match, const struct weir_packet *packet)
{
	return match->conds & WEIR_COND_MARK &&
	       (!packet->skb || unmet(match, WEIR_COND_MARK,
				      (packet->skb->mark & match->mark_mask) == match->mark));
}

static bool ports_unmet(const struct weir_match *match, const struct weir_packet *packet)
{
	if (!(packet->flags & WEIR_PACKET_PORTS))
		return match->conds & (WEIR_COND_SPORT | WEIR_COND_DPORT) &&
		       !(packet->flags & WEIR_PACKET_CUT);
	return unmet(match, WEIR_COND_DPORT, ports_hold(&match->dport, packet->dport)) ||
	       unmet(match, WEIR_COND_SPORT, ports_hold(&match->sport, packet->sport));
}

static bool syn_unmet(const struct weir_match *match, const struct weir_packet *packet)
{
	if (!(packet->flags & WEIR_PACKET_TCP))
		return match->conds & WEIR_COND_SYN &&
		       !(packet->flags & WEIR_PACKET_CUT);
	return unmet(match, WEIR_COND_SYN, packet->flags & WEIR_PACKET_SYN);
}

/* A fragment header may follow headers that nest too deeply. */
static bool frag_unmet(const struct weir_match *match, const struct weir_packet *packet)
{
	u16 frag = packet->flags & (WEIR_PACKET_NO_PROTO | WEIR_PACKET_LATER);

	return frag != WEIR_PACKET_NO_PROTO &&
	       unmet(match, WEIR_COND_FRAG, frag & WEIR_PACKET_LATER);
}

static bool icmp_unmet(const struct weir_match *match, const struct weir_packet *packet,
		       u16 cond, u8 proto, const unsigned long *types)
{
	if (!(match->conds & cond))
		return false;
	if (packet->flags & WEIR_PACKET_NO_PROTO)
		return packet->flags & WEIR_PACKET_LATER;
	if (packet->proto != proto || packet->flags & WEIR_PACKET_LATER)
		return true;
	return !(packet->flags & WEIR_PACKET_CUT) &&
	       unmet(match, cond, test_bit(packet->icmp_type, types));
}

static bool rare_unmet(const struct weir_match *match, const struct weir_packet *packet)
{
	return syn_unmet(match, packet) || frag_unmet(match, packet) ||
	       icmp_unmet(match, packet, WEIR_COND_ICMP_TYPE, IPPROTO_ICMP, match->icmp) ||
	       icmp_unmet(match, packet, WEIR_COND_ICMPV6_TYPE, IPPROTO_ICMPV6, match->icmpv6);
}

static bool transport_unmet(const struct weir_match *match, const struct weir_packet *packet)
{
	return ports_unmet(match, packet) ||
	       (!(packet->flags & WEIR_PACKET_NO_PROTO) &&
		unmet(match, WEIR_COND_PROTO, test_bit(packet->proto, match->proto))) ||
	       (match->conds & WEIR_CONDS_RARE && rare_unmet(match, packet));
}

static noinline bool lists_unmet(const struct weir_match *match, const struct weir_packet *packet)
{
	u8 family = packet->family;

	return unmet(match, WEIR_COND_TO_LIST,
		     weir_prefixes_find(match->to_list, family, destination(packet))) ||
	       unmet(match, WEIR_COND_FROM_LIST,
		     weir_prefixes_find(match->from_list, family, packet->source.word));
}

/* A function of its own, so that the conditions that most packets fail need no stack. */
static noinline bool network_met(const struct weir_match *match, const struct weir_packet *packet)
{
	if (unmet(match, WEIR_COND_FAMILY, packet->family == match->family) ||
	    mark_unmet(match, packet) ||
	    unmet(match, WEIR_COND_TO,
		  prefixes_hold(&match->to, packet->family, destination(packet))) ||
	    unmet(match, WEIR_COND_FROM,
		  prefixes_hold(&match->from, packet->family, packet->source.word)))
		return false;
	if (unlikely(match->conds & (WEIR_COND_FROM_LIST | WEIR_COND_TO_LIST)) &&
	    lists_unmet(match, packet))
		return false;
	return !(match->conds & WEIR_COND_DEV) ||
	       !unmet(match, WEIR_COND_DEV, same_dev(packet->in->name, match->dev));
}

bool weir_match_conds(const struct weir_match *match, const struct weir_packet *packet)
{
	if (match->conds & WEIR_CONDS_TRANSPORT && transport_unmet(match, packet))
		return false;
	return !(match->conds & ~WEIR_CONDS_TRANSPORT) ||
	       network_met(match, packet);
}

/*
 * May a packet with WEIR_PACKET_VITAL or WEIR_PACKET_DECRYPTED match? One that keeps a
 * link alive matches only limits that name its protocol; one that was seen encrypted
 * matches only limits that it did not match then.
 */
bool weir_match_special(const struct weir_match *match, const struct weir_packet *packet)
{
	struct weir_packet outer;

	if (packet->flags & WEIR_PACKET_VITAL &&
	    !(match->conds & ~match->invert & (WEIR_COND_PROTO | WEIR_COND_ICMPV6_TYPE)))
		return false;
	if (!(packet->flags & WEIR_PACKET_DECRYPTED))
		return true;
	if (!(match->conds & WEIR_CONDS_TRANSPORT))
		return false;
	weir_packet_encrypted(packet, &outer);
	return !weir_match_conds(match, &outer);
}

/* Is this the only protocol that a match names? */
bool weir_match_proto(const struct weir_match *match, u8 proto)
{
	return match->conds & ~match->invert & WEIR_COND_PROTO && test_bit(proto, match->proto) &&
	       bitmap_weight(match->proto, WEIR_TYPES) == 1;
}

/* Does a destination of a family match? */
static bool family_met(const struct weir_match *match, u8 family)
{
	u16 named = match->conds & ~match->invert;
	unsigned int i = 0;

	while (i < match->to.count && match->to.prefix[i].family != family)
		i++;
	return !(named & WEIR_COND_TO && i == match->to.count) &&
	       !(named & WEIR_COND_TO_LIST && !weir_prefixes_family(match->to_list, family));
}

/* May the packet match? */
bool weir_match_outline(const struct weir_match *match, struct weir_outline *outline)
{
	const struct weir_packet *packet = &outline->packet;
	u16 known = outline->known;

	if ((known & WEIR_COND_DEV && unmet(match, WEIR_COND_DEV,
					    same_dev(outline->dev, match->dev))) ||
	    (known & WEIR_COND_MARK &&
	     unmet(match, WEIR_COND_MARK, (outline->mark & match->mark_mask) == match->mark)) ||
	    (packet->flags & WEIR_PACKET_VITAL && !weir_match_special(match, packet)) ||
	    !family_met(match, packet->family))
		return false;
	outline->match = *match;
	outline->match.conds &= known & ~(WEIR_COND_DEV | WEIR_COND_MARK);
	return weir_match_conds(&outline->match, packet);
}

/* Adds the families of the prefixes to @families: BIT(0) for IPv4, BIT(1) for IPv6. */
static const char *prefixes_check(const struct weir_prefix_list *list, u8 *families)
{
	const struct weir_net_prefix *prefix = list->prefix;
	unsigned int i, j;
	const char *msg;

	for (i = 0; i < list->count; i++) {
		msg = weir_net_prefix_check(&prefix[i]);
		if (msg)
			return msg;
		*families |= BIT(prefix[i].family == AF_INET6);
		for (j = 0; j < i; j++)
			if (weir_prefix_holds(&prefix[i], &prefix[j]) ||
			    weir_prefix_holds(&prefix[j], &prefix[i]))
				return "prefixes overlap; leave out the one within the other";
	}
	return NULL;
}

static const char *ports_check(const struct weir_port_list *list)
{
	const struct weir_port_range *range = list->range;
	unsigned int i, j;

	for (i = 0; i < list->count; i++) {
		if (range[i].min > range[i].max)
			return "port range ends before it begins; give the lower port first";
		for (j = 0; j < i; j++)
			if (range[i].min <= range[j].max && range[j].min <= range[i].max)
				return "ports overlap; name each port once";
	}
	return NULL;
}

/* All conditions must name the same families, or some prefix could never match. */
static const char *addresses_check(const struct weir_match *match, u16 *cond)
{
	u16 named = match->conds & ~match->invert;
	u8 family = BIT(match->family == AF_INET6), from = 0, to = 0;
	const char *msg;

	*cond = WEIR_COND_FROM;
	msg = prefixes_check(&match->from, &from);
	if (msg)
		return msg;
	if (named & WEIR_COND_FAMILY && named & WEIR_COND_FROM && from != family)
		return "source prefix is not of the given address family";
	*cond = WEIR_COND_TO;
	msg = prefixes_check(&match->to, &to);
	if (msg)
		return msg;
	if (named & WEIR_COND_FAMILY && named & WEIR_COND_TO && to != family)
		return "destination prefix is not of the given address family";
	if (named & WEIR_COND_FROM && named & WEIR_COND_TO && to != from)
		return "source and destination prefix are of different families";
	return NULL;
}

/* The conditions on what follows the network header, against each other. */
static const char *transport_check(const struct weir_match *match, u16 *cond)
{
	u16 named = match->conds & ~match->invert;
	bool ports = named & WEIR_COND_PROTO;
	unsigned int proto;

	for_each_set_bit(proto, match->proto, WEIR_TYPES)
		ports = ports && weir_proto_has_ports(proto);
	*cond = match->conds & WEIR_COND_SPORT ? WEIR_COND_SPORT : WEIR_COND_DPORT;
	if (match->conds & (WEIR_COND_SPORT | WEIR_COND_DPORT) && !ports)
		return "ports require a protocol with ports: tcp, udp, udplite, sctp, dccp";
	*cond = WEIR_COND_SYN;
	if (match->conds & WEIR_COND_SYN && match->conds & WEIR_COND_PROTO &&
	    !weir_match_proto(match, IPPROTO_TCP))
		return "syn is a flag of tcp; name proto tcp or no protocol";
	*cond = WEIR_COND_ICMP_TYPE;
	if (match->conds & WEIR_COND_ICMP_TYPE && match->conds & WEIR_COND_PROTO &&
	    !weir_match_proto(match, IPPROTO_ICMP))
		return "icmp-type is of icmp; name proto icmp or no protocol";
	*cond = WEIR_COND_ICMPV6_TYPE;
	if (match->conds & WEIR_COND_ICMPV6_TYPE && match->conds & WEIR_COND_PROTO &&
	    !weir_match_proto(match, IPPROTO_ICMPV6))
		return "icmpv6-type is of icmpv6; name proto icmpv6 or no protocol";
	if (hweight16(match->conds & WEIR_CONDS_RARE & ~WEIR_COND_FRAG) > 1)
		return "syn, icmp-type and icmpv6-type exclude each other; make a limit of each";
	*cond = WEIR_COND_FRAG;
	if (named & WEIR_COND_FRAG &&
	    match->conds & WEIR_CONDS_TRANSPORT & ~(WEIR_COND_PROTO | WEIR_COND_FRAG))
		return "later fragments have no ports, flags or types; leave these or frag out";
	return NULL;
}

/*
 * Check a match as requested, and set what is derived from its conditions. Returns NULL,
 * or an error message with @cond set to the condition at fault.
 */
const char *weir_match_check(struct weir_match *match, u16 *cond)
{
	u16 named = match->conds & ~match->invert;
	const char *msg;

	*cond = WEIR_COND_FAMILY;
	if (match->conds & WEIR_COND_FAMILY && match->family != AF_INET &&
	    match->family != AF_INET6)
		return "no such address family; 2 is IPv4, 10 is IPv6";
	*cond = WEIR_COND_DEV;
	if (match->conds & WEIR_COND_DEV && !dev_valid_name(match->dev))
		return "not a name that a device can have; no space, / or :, and not . or ..";
	msg = addresses_check(match, cond);
	if (msg)
		return msg;
	msg = transport_check(match, cond);
	if (msg)
		return msg;
	*cond = WEIR_COND_SPORT;
	msg = ports_check(&match->sport);
	if (msg)
		return msg;
	*cond = WEIR_COND_DPORT;
	msg = ports_check(&match->dport);
	if (msg)
		return msg;
	*cond = WEIR_COND_MARK;
	if (match->conds & WEIR_COND_MARK && match->mark & ~match->mark_mask)
		return "mark has bits outside its mask; clear them or widen the mask";
	match->one_dport = named & WEIR_COND_DPORT && match->dport.count == 1;
	return NULL;
}
