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

/**
 * weir_net_prefix_has - is an address within a prefix?
 * @prefix: prefix
 * @source: whole source
 */
bool weir_net_prefix_has(const struct weir_net_prefix *prefix,
			 const struct weir_source *source)
{
	bool ipv6 = source->zone & WEIR_ZONE_IPV6;

	if (prefix->family != (ipv6 ? AF_INET6 : AF_INET))
		return false;
	return ipv6_prefix_equal((const struct in6_addr *)source->word,
				 (const struct in6_addr *)prefix->word,
				 prefix->len);
}

static bool prefix_has_destination(const struct weir_net_prefix *prefix,
				   const struct weir_packet *packet)
{
	struct weir_source to;

	if (packet->family == AF_INET)
		weir_source_ipv4(&to, ip_hdr(packet->skb)->daddr, 0);
	else
		weir_source_ipv6(&to, &ipv6_hdr(packet->skb)->daddr, 0);
	return weir_net_prefix_has(prefix, &to);
}

static bool same_dev(const char *a, const char *b)
{
	return !strncmp(a, b, IFNAMSIZ);
}

static bool port_in(const struct weir_port_range *range, u16 port)
{
	return port >= range->min && port <= range->max;
}

/* One condition, before it is inverted; or true where the header cannot be
 * read, and false where there is none, inverted or not.
 */
static bool transport_holds(const struct weir_match *match,
			    const struct weir_packet *packet)
{
	u16 conds = match->conds, failed = 0;

	/* Behind headers that nest too deep may be that of a fragment. */
	if ((packet->flags & (WEIR_PACKET_NO_PROTO | WEIR_PACKET_LATER)) ==
	    WEIR_PACKET_NO_PROTO)
		conds &= ~WEIR_IF_FRAG;
	else if (conds & WEIR_IF_FRAG && !(packet->flags & WEIR_PACKET_LATER))
		failed |= WEIR_IF_FRAG;
	if (packet->flags & WEIR_PACKET_NO_PROTO)
		conds &= ~WEIR_IF_PROTO;
	else if (conds & WEIR_IF_PROTO && packet->proto != match->proto)
		failed |= WEIR_IF_PROTO;

	if (packet->flags & WEIR_PACKET_PORTS) {
		if (conds & WEIR_IF_SPORT && !port_in(&match->sport, packet->sport))
			failed |= WEIR_IF_SPORT;
		if (conds & WEIR_IF_DPORT && !port_in(&match->dport, packet->dport))
			failed |= WEIR_IF_DPORT;
	} else if (packet->flags & WEIR_PACKET_CUT) {
		conds &= ~(WEIR_IF_SPORT | WEIR_IF_DPORT);
	} else if (conds & (WEIR_IF_SPORT | WEIR_IF_DPORT)) {
		return false;
	}

	if (packet->flags & WEIR_PACKET_TCP) {
		if (conds & WEIR_IF_SYN && !(packet->flags & WEIR_PACKET_SYN))
			failed |= WEIR_IF_SYN;
	} else if (packet->flags & WEIR_PACKET_CUT) {
		conds &= ~WEIR_IF_SYN;
	} else if (conds & WEIR_IF_SYN) {
		return false;
	}
	return !((failed ^ match->invert) & conds & WEIR_IF_TRANSPORT);
}

/**
 * weir_match_conds - do the conditions of a match hold?
 * @match: of a limit
 * @packet: parsed packet
 *
 * Context: any.
 */
bool weir_match_conds(const struct weir_match *match,
		      const struct weir_packet *packet)
{
	u16 conds = match->conds, failed = 0;

	if (conds & WEIR_IF_FAMILY && packet->family != match->family)
		failed |= WEIR_IF_FAMILY;
	if (conds & WEIR_IF_DEV && !same_dev(packet->in->name, match->dev))
		failed |= WEIR_IF_DEV;
	if (conds & WEIR_IF_FROM &&
	    !weir_net_prefix_has(&match->from, &packet->source))
		failed |= WEIR_IF_FROM;
	if (conds & WEIR_IF_TO && !prefix_has_destination(&match->to, packet))
		failed |= WEIR_IF_TO;
	if (conds & WEIR_IF_MARK &&
	    (packet->skb->mark & match->mark_mask) != match->mark)
		failed |= WEIR_IF_MARK;
	if ((failed ^ match->invert) & conds & ~WEIR_IF_TRANSPORT)
		return false;
	return !(conds & WEIR_IF_TRANSPORT) || transport_holds(match, packet);
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
	u8 family = source->zone & WEIR_ZONE_IPV6 ? AF_INET6 : AF_INET;

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
