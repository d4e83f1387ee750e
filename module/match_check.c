// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether conditions make sense, each by itself and together.
 */
#include <linux/in.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/socket.h>

#include "match.h"

/**
 * weir_net_prefix_check - is a prefix valid?
 * @prefix: as requested
 *
 * Return: NULL or an error message.
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

	*cond = WEIR_IF_FROM;
	msg = prefixes_check(&match->from, &from);
	if (msg)
		return msg;
	if (named & WEIR_IF_FAMILY && named & WEIR_IF_FROM && from != family)
		return "source prefix is not of the given address family";
	*cond = WEIR_IF_TO;
	msg = prefixes_check(&match->to, &to);
	if (msg)
		return msg;
	if (named & WEIR_IF_FAMILY && named & WEIR_IF_TO && to != family)
		return "destination prefix is not of the given address family";
	if (named & WEIR_IF_FROM && named & WEIR_IF_TO && to != from)
		return "source and destination prefix are of different families";
	return NULL;
}

/**
 * weir_match_check - is a match valid?
 * @match: as requested; what is derived from its conditions is set
 * @cond: set to the condition at fault
 *
 * Return: NULL or an error message.
 */
const char *weir_match_check(struct weir_match *match, u16 *cond)
{
	u16 named = match->conds & ~match->invert;
	const char *msg;

	*cond = WEIR_IF_FAMILY;
	if (match->conds & WEIR_IF_FAMILY && match->family != AF_INET &&
	    match->family != AF_INET6)
		return "no such address family; 2 is IPv4, 10 is IPv6";
	*cond = WEIR_IF_DEV;
	if (match->conds & WEIR_IF_DEV && !dev_valid_name(match->dev))
		return "not a name that a device can have; no space, / or :, and not . or ..";
	msg = addresses_check(match, cond);
	if (msg)
		return msg;
	*cond = match->conds & WEIR_IF_SPORT ? WEIR_IF_SPORT : WEIR_IF_DPORT;
	if (match->conds & (WEIR_IF_SPORT | WEIR_IF_DPORT) &&
	    !(named & WEIR_IF_PROTO && weir_proto_has_ports(match->proto)))
		return "ports require a protocol with ports: tcp, udp, udplite, sctp, dccp";
	*cond = WEIR_IF_SPORT;
	msg = ports_check(&match->sport);
	if (msg)
		return msg;
	*cond = WEIR_IF_DPORT;
	msg = ports_check(&match->dport);
	if (msg)
		return msg;
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
		return "mark has bits outside its mask; clear them or widen the mask";
	match->one_dport = named & WEIR_IF_DPORT && match->dport.count == 1;
	return NULL;
}
