// SPDX-License-Identifier: GPL-2.0-only
/*
 * A condition on ports or flags holds for packets that carry the header, so
 * later fragments fail it, inverted or not. Nobody may escape a limit by a
 * header that cannot be read: where headers are cut short, or IPv6 nests more
 * than EXT_DEPTH of them, every condition on what lies behind holds, inverted
 * or not.
 */
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>

#include "match.h"

/* Is an address, in network order, within a prefix? */
static bool prefix_holds(const struct weir_net_prefix *prefix, u8 family,
			 const __be32 *addr)
{
	if (prefix->family != family)
		return false;
	if (family == AF_INET)
		return !((*addr ^ prefix->word[0]) &
			 htonl(~0ull << (32 - prefix->len)));
	return ipv6_prefix_equal((const struct in6_addr *)addr,
				 (const struct in6_addr *)prefix->word,
				 prefix->len);
}

static u8 source_family(const struct weir_source *source)
{
	return source->scope & WEIR_SCOPE_IPV6 ? AF_INET6 : AF_INET;
}

/**
 * weir_net_prefix_has - is an address within a prefix?
 * @prefix: prefix
 * @source: whole source
 */
bool weir_net_prefix_has(const struct weir_net_prefix *prefix,
			 const struct weir_source *source)
{
	return prefix_holds(prefix, source_family(source), source->word);
}

static bool destination_in(const struct weir_net_prefix *prefix,
			   const struct weir_packet *packet)
{
	return prefix_holds(prefix, packet->family, packet->family == AF_INET ?
			    &ip_hdr(packet->skb)->daddr :
			    ipv6_hdr(packet->skb)->daddr.s6_addr32);
}

static bool same_dev(const char *a, const char *b)
{
	return !strncmp(a, b, IFNAMSIZ);
}

/* There is such a condition, and it does not hold. */
static bool unmet(const struct weir_match *match, u16 cond, bool holds)
{
	return match->conds & cond && holds == !!(match->invert & cond);
}

static bool port_in(const struct weir_port_range *range, u16 port)
{
	return port >= range->min && port <= range->max;
}

static bool ports_unmet(const struct weir_match *match,
			const struct weir_packet *packet)
{
	if (!(packet->flags & WEIR_PACKET_PORTS))
		return match->conds & (WEIR_IF_SPORT | WEIR_IF_DPORT) &&
		       !(packet->flags & WEIR_PACKET_CUT);
	return unmet(match, WEIR_IF_DPORT,
		     port_in(&match->dport, packet->dport)) ||
	       unmet(match, WEIR_IF_SPORT,
		     port_in(&match->sport, packet->sport));
}

static bool syn_unmet(const struct weir_match *match,
		      const struct weir_packet *packet)
{
	if (!(packet->flags & WEIR_PACKET_TCP))
		return match->conds & WEIR_IF_SYN &&
		       !(packet->flags & WEIR_PACKET_CUT);
	return unmet(match, WEIR_IF_SYN, packet->flags & WEIR_PACKET_SYN);
}

/* Behind headers that nest too deep may be that of a fragment. */
static bool frag_unmet(const struct weir_match *match,
		       const struct weir_packet *packet)
{
	u16 frag = packet->flags & (WEIR_PACKET_NO_PROTO | WEIR_PACKET_LATER);

	return frag != WEIR_PACKET_NO_PROTO &&
	       unmet(match, WEIR_IF_FRAG, frag & WEIR_PACKET_LATER);
}

static bool transport_unmet(const struct weir_match *match,
			    const struct weir_packet *packet)
{
	return ports_unmet(match, packet) ||
	       (!(packet->flags & WEIR_PACKET_NO_PROTO) &&
		unmet(match, WEIR_IF_PROTO, packet->proto == match->proto)) ||
	       syn_unmet(match, packet) || frag_unmet(match, packet);
}

/* Apart, so that what most packets fail needs no stack. */
static noinline bool network_met(const struct weir_match *match,
				 const struct weir_packet *packet)
{
	u16 conds = match->conds;

	if (unmet(match, WEIR_IF_FAMILY, packet->family == match->family) ||
	    unmet(match, WEIR_IF_MARK,
		  (packet->skb->mark & match->mark_mask) == match->mark))
		return false;
	if (conds & WEIR_IF_TO &&
	    unmet(match, WEIR_IF_TO, destination_in(&match->to, packet)))
		return false;
	if (conds & WEIR_IF_FROM &&
	    unmet(match, WEIR_IF_FROM,
		  weir_net_prefix_has(&match->from, &packet->source)))
		return false;
	return !(conds & WEIR_IF_DEV) ||
	       !unmet(match, WEIR_IF_DEV,
		      same_dev(packet->in->name, match->dev));
}

/**
 * weir_match_conds - do the conditions of a match hold?
 * @match: of a limit
 * @packet: packet, parsed if there is one of WEIR_IF_TRANSPORT
 *
 * Context: any.
 */
bool weir_match_conds(const struct weir_match *match,
		      const struct weir_packet *packet)
{
	if (match->conds & WEIR_IF_TRANSPORT && transport_unmet(match, packet))
		return false;
	return !(match->conds & ~WEIR_IF_TRANSPORT) ||
	       network_met(match, packet);
}

/**
 * weir_match_source - would some packet of a source meet a limit?
 * @match: of the limit
 * @source: whole source
 * @dev: device that it sends through, or "" for any
 */
bool weir_match_source(const struct weir_match *match,
		       const struct weir_source *source, const char *dev)
{
	u16 conds = match->conds & (WEIR_IF_FAMILY | WEIR_IF_FROM), failed = 0;
	u8 family = source_family(source);

	if (family != match->family)
		failed |= WEIR_IF_FAMILY;
	if (!weir_net_prefix_has(&match->from, source))
		failed |= WEIR_IF_FROM;
	if (*dev) {
		conds |= match->conds & WEIR_IF_DEV;
		if (!same_dev(dev, match->dev))
			failed |= WEIR_IF_DEV;
	}
	/* A destination of the other family is never its packets'. */
	if (match->conds & ~match->invert & WEIR_IF_TO &&
	    match->to.family != family)
		return false;
	return !((failed ^ match->invert) & conds);
}

/**
 * weir_net_prefix_check - is a prefix one?
 * @prefix: as it was asked for
 *
 * Return: NULL, or what is wrong with it.
 */
const char *weir_net_prefix_check(const struct weir_net_prefix *prefix)
{
	unsigned int i, bits;

	if (prefix->family != AF_INET && prefix->family != AF_INET6)
		return "an address has 4 bytes (IPv4) or 16 (IPv6)";
	if (prefix->len > (prefix->family == AF_INET ? 32 : 128))
		return "prefix is longer than the address; IPv4 has 32 bits, IPv6 128";
	if (prefix->family == AF_INET6 && prefix->len >= 96 && !prefix->word[0] &&
	    !prefix->word[1] && prefix->word[2] == htonl(0xffff))
		return "no packet has an IPv4-mapped address; send the IPv4 address, 4 bytes";
	for (i = 0; i < 4; i++) {
		bits = min(prefix->len - min_t(unsigned int, prefix->len, 32 * i), 32u);
		if (bits < 32 && ntohl(prefix->word[i]) & (U32_MAX >> bits))
			return "prefix has host bits set; clear them or lengthen it";
	}
	return NULL;
}

/**
 * weir_match_check - can a match ever make sense?
 * @match: as it was asked for
 * @cond: set to the condition at fault
 *
 * Return: NULL, or what is wrong with it.
 */
const char *weir_match_check(const struct weir_match *match, u16 *cond)
{
	u16 named = match->conds & ~match->invert;
	const char *msg = NULL;

	*cond = WEIR_IF_FAMILY;
	if (match->conds & WEIR_IF_FAMILY && match->family != AF_INET &&
	    match->family != AF_INET6)
		return "no such address family; 2 is IPv4, 10 is IPv6";
	*cond = WEIR_IF_DEV;
	if (match->conds & WEIR_IF_DEV && !dev_valid_name(match->dev))
		return "not a name that a device can have; no space, / or :, and not . or ..";
	*cond = WEIR_IF_FROM;
	if (match->conds & WEIR_IF_FROM)
		msg = weir_net_prefix_check(&match->from);
	if (msg)
		return msg;
	if (named & WEIR_IF_FAMILY && named & WEIR_IF_FROM &&
	    match->from.family != match->family)
		return "source prefix is not of the address family that is named";
	*cond = WEIR_IF_TO;
	if (match->conds & WEIR_IF_TO)
		msg = weir_net_prefix_check(&match->to);
	if (msg)
		return msg;
	if (named & WEIR_IF_FAMILY && named & WEIR_IF_TO &&
	    match->to.family != match->family)
		return "destination prefix is not of the address family that is named";
	if (named & WEIR_IF_FROM && named & WEIR_IF_TO &&
	    match->to.family != match->from.family)
		return "source and destination prefix are of different families";
	*cond = match->conds & WEIR_IF_SPORT ? WEIR_IF_SPORT : WEIR_IF_DPORT;
	if (match->conds & (WEIR_IF_SPORT | WEIR_IF_DPORT) &&
	    !(named & WEIR_IF_PROTO && weir_proto_has_ports(match->proto)))
		return "ports need a protocol that has them: tcp, udp, udplite, sctp, dccp";
	if (match->conds & WEIR_IF_SPORT && match->sport.min > match->sport.max)
		return "port range ends before it begins; give the lower port first";
	*cond = WEIR_IF_DPORT;
	if (match->conds & WEIR_IF_DPORT && match->dport.min > match->dport.max)
		return "port range ends before it begins; give the lower port first";
	*cond = WEIR_IF_SYN;
	if (match->conds & WEIR_IF_SYN && match->conds & WEIR_IF_PROTO &&
	    (match->invert & WEIR_IF_PROTO || match->proto != IPPROTO_TCP))
		return "syn is a flag of tcp; name proto tcp or no protocol";
	*cond = WEIR_IF_FRAG;
	if (named & WEIR_IF_FRAG &&
	    match->conds & (WEIR_IF_SPORT | WEIR_IF_DPORT | WEIR_IF_SYN))
		return "later fragments carry no ports and no flags; leave these or frag out";
	*cond = WEIR_IF_MARK;
	if (match->conds & WEIR_IF_MARK && match->mark & ~match->mark_mask)
		return "mark has bits outside of its mask; clear them or widen the mask";
	return NULL;
}
