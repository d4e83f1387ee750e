// SPDX-License-Identifier: GPL-2.0-or-later
/* Does a packet of which some properties are known match a limit? */

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <string.h>

#include "lang/field.h"
#include "lang/value.h"

/* Of RFC 3810 */
#define MLD2_LISTENER_REPORT	143

static bool holds(const struct weir_field *field, const void *cond, const struct weir_match *packet)
{
	const void *is = weir_field_at(field, packet);

	if (field->type == &weir_type_flag)
		return packet->flags & ~packet->invert & field->bit;
	if (field->type == &weir_type_mark)
		return !((((const uint32_t *)cond)[0] ^ packet->mark[0]) &
			 ((const uint32_t *)cond)[1]);
	if (field->type->overlap)
		return field->type->overlap(cond, is);
	return !memcmp(cond, is, field->size);
}

static bool any_holds(const struct weir_field *field, const struct weir_match *match,
		      const struct weir_match *packet)
{
	unsigned int count = weir_field_given(field, match), i;
	const char *cond = weir_field_at(field, match);

	for (i = 0; i < count; i++) {
		if (holds(field, cond + i * field->size, packet))
			return true;
	}
	return false;
}

/* Is any of the prefixes of the family? */
static bool any_of_family(const struct weir_prefix *prefix, unsigned int count, uint8_t family)
{
	while (count--)
		if (prefix[count].family == family)
			return true;
	return false;
}

/* Neighbour discovery, or the discovery of multicast listeners of the link. */
static bool is_vital_type(uint8_t type, const struct in6_addr *from)
{
	if (type >= ND_ROUTER_SOLICIT && type <= ND_REDIRECT)
		return true;
	return IN6_IS_ADDR_LINKLOCAL(from) &&
	       ((type >= MLD_LISTENER_QUERY && type <= MLD_LISTENER_REDUCTION) ||
		type == MLD2_LISTENER_REPORT);
}

/* Does it keep the link alive? Its hop limit is taken to be what the protocol asks for. */
static bool is_vital(const struct weir_match *packet)
{
	static const uint8_t unspecified[16];
	struct in6_addr from;

	if (!(packet->has & WEIR_COND_FROM))
		return false;
	if (!memcmp(packet->from[0].addr, unspecified, sizeof(unspecified)))
		return true;
	memcpy(&from, packet->from[0].addr, sizeof(from));
	if (packet->has & WEIR_COND_PROTO && packet->proto[0] == IPPROTO_IGMP)
		return packet->from[0].family == AF_INET && packet->has & WEIR_COND_TO &&
		       packet->to[0].addr[0] >> 4 == 14;
	return packet->from[0].family == AF_INET6 && packet->has & WEIR_COND_ICMPV6_TYPE &&
	       is_vital_type(packet->icmpv6[0], &from);
}

/* The conditions that say what they are of, of which the packet is not; inverted or not. */
static uint64_t of_others(const struct weir_match *packet, const struct weir_match *match)
{
	uint64_t others = 0;

	if (is_vital(packet) &&
	    !(match->has & ~match->invert & (WEIR_COND_PROTO | WEIR_COND_ICMPV6_TYPE)))
		others |= WEIR_COND_NAMED;
	if (!(packet->has & WEIR_COND_PROTO))
		return others;
	if (packet->proto[0] != IPPROTO_TCP)
		others |= match->has & WEIR_COND_SYN;
	if (packet->proto[0] != IPPROTO_ICMP)
		others |= match->has & WEIR_COND_ICMP_TYPE;
	if (packet->proto[0] != IPPROTO_ICMPV6)
		others |= match->has & WEIR_COND_ICMPV6_TYPE;
	return others;
}

uint64_t weir_packet_unmet(const struct weir_match *packet, const struct weir_match *match,
			   uint64_t *open)
{
	uint64_t unmet = of_others(packet, match), bit;
	const struct weir_field *field;
	bool holds;

	*open = 0;
	for (field = weir_match_fields.fields; field->type; field++) {
		bit = match->has & field->bit;
		holds = false;
		if (!bit || field->type == &weir_type_list)
			continue;
		if (packet->has & bit)
			holds = any_holds(field, match, packet);
		else if (bit != WEIR_COND_TO || !(packet->has & WEIR_COND_FAMILY) ||
			 any_of_family(match->to, match->to_count, packet->family))
			*open |= bit;
		if (!(*open & bit) && holds == !!(match->invert & bit))
			unmet |= bit;
	}
	*open &= ~unmet;
	return unmet;
}
