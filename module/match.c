// SPDX-License-Identifier: GPL-2.0-only
/*
 * A condition on ports or flags needs a packet with that header: later fragments
 * fail it, inverted or not. But no packet may escape a limit by an unreadable
 * header: if headers are cut short, or IPv6 nests more than EXT_DEPTH of them,
 * every condition on the headers that follow holds, inverted or not.
 */
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>

#include "match.h"

/* Is an address, in network order, within a prefix? */
static __always_inline bool prefix_holds(const struct weir_net_prefix *prefix, u8 family,
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

/* Is the inner prefix within the outer one? */
bool weir_prefix_holds(const struct weir_net_prefix *outer, const struct weir_net_prefix *inner)
{
	return outer->len <= inner->len && prefix_holds(outer, inner->family, inner->word);
}

static const __be32 *destination(const struct weir_packet *packet)
{
	return packet->family == AF_INET ? &ip_hdr(packet->skb)->daddr :
					   ipv6_hdr(packet->skb)->daddr.s6_addr32;
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
		if (prefix_holds(&list->prefix[i], family, addr))
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

static bool ports_unmet(const struct weir_match *match,
			const struct weir_packet *packet)
{
	if (!(packet->flags & WEIR_PACKET_PORTS))
		return match->conds & (WEIR_IF_SPORT | WEIR_IF_DPORT) &&
		       !(packet->flags & WEIR_PACKET_CUT);
	return unmet(match, WEIR_IF_DPORT,
		     ports_hold(&match->dport, packet->dport)) ||
	       unmet(match, WEIR_IF_SPORT,
		     ports_hold(&match->sport, packet->sport));
}

static bool syn_unmet(const struct weir_match *match,
		      const struct weir_packet *packet)
{
	if (!(packet->flags & WEIR_PACKET_TCP))
		return match->conds & WEIR_IF_SYN &&
		       !(packet->flags & WEIR_PACKET_CUT);
	return unmet(match, WEIR_IF_SYN, packet->flags & WEIR_PACKET_SYN);
}

/* A fragment header may follow headers that nest too deeply. */
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

/* A function of its own, so that the conditions that most packets fail need no stack. */
static noinline bool network_met(const struct weir_match *match,
				 const struct weir_packet *packet)
{
	if (unmet(match, WEIR_IF_FAMILY, packet->family == match->family) ||
	    unmet(match, WEIR_IF_MARK,
		  (packet->skb->mark & match->mark_mask) == match->mark) ||
	    unmet(match, WEIR_IF_TO,
		  prefixes_hold(&match->to, packet->family, destination(packet))) ||
	    unmet(match, WEIR_IF_FROM,
		  prefixes_hold(&match->from, packet->family, packet->source.word)))
		return false;
	return !(match->conds & WEIR_IF_DEV) ||
	       !unmet(match, WEIR_IF_DEV, same_dev(packet->in->name, match->dev));
}

/**
 * weir_match_conds - do the conditions of a match hold?
 * @match: of a limit
 * @packet: packet, parsed if any is of WEIR_IF_TRANSPORT
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
 * weir_match_special - may a limit be asked about a packet that is special?
 * @match: of the limit
 * @packet: with WEIR_PACKET_VITAL or WEIR_PACKET_DECRYPTED
 *
 * A packet that keeps a link alive matches only limits that name its protocol; one
 * that was seen encrypted those that it did not match then.
 */
bool weir_match_special(const struct weir_match *match,
			const struct weir_packet *packet)
{
	struct weir_packet outer;

	if (packet->flags & WEIR_PACKET_VITAL &&
	    !(match->conds & ~match->invert & WEIR_IF_PROTO))
		return false;
	if (!(packet->flags & WEIR_PACKET_DECRYPTED))
		return true;
	if (!(match->conds & WEIR_IF_TRANSPORT))
		return false;
	weir_packet_encrypted(packet, &outer);
	return !weir_match_conds(match, &outer);
}

/**
 * weir_match_source - can a packet of a source match?
 * @match: of the limit
 * @source: whole address
 * @dev: input device, or "" for any
 */
bool weir_match_source(const struct weir_match *match,
		       const struct weir_source *source, const char *dev)
{
	u16 conds = match->conds & (WEIR_IF_FAMILY | WEIR_IF_FROM), failed = 0;
	u8 family = source_family(source);
	unsigned int i = 0;

	if (family != match->family)
		failed |= WEIR_IF_FAMILY;
	if (!prefixes_hold(&match->from, family, source->word))
		failed |= WEIR_IF_FROM;
	if (*dev) {
		conds |= match->conds & WEIR_IF_DEV;
		if (!same_dev(dev, match->dev))
			failed |= WEIR_IF_DEV;
	}
	/* Its packets have no destination of the other family. */
	while (i < match->to.count && match->to.prefix[i].family != family)
		i++;
	if (match->conds & ~match->invert & WEIR_IF_TO && i == match->to.count)
		return false;
	return !((failed ^ match->invert) & conds);
}
