// SPDX-License-Identifier: GPL-2.0-only
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/socket.h>

#include "source.h"

/**
 * weir_source_ipv4 - the sender of an IPv4 packet
 * @source: filled
 * @addr: its address
 * @ifindex: the device it arrived on, kept for 169.254.0.0/16 only
 */
void weir_source_ipv4(struct weir_source *source, __be32 addr, int ifindex)
{
	*source = (struct weir_source) { .word[0] = addr };
	if ((addr & htonl(0xffff0000)) == htonl(0xa9fe0000))
		source->zone = WEIR_ZONE_LINKLOCAL |
			       (u32)ifindex << WEIR_ZONE_DEV_SHIFT;
}

/**
 * weir_source_ipv6 - the sender of an IPv6 packet
 * @source: filled
 * @addr: its address
 * @ifindex: the device it arrived on, kept for fe80::/64 only
 *
 * Link-local addresses have 54 zero bits behind fe80::/10 (RFC 4291, 2.5.6);
 * others of that range are counted as any address is.
 */
void weir_source_ipv6(struct weir_source *source, const struct in6_addr *addr,
		      int ifindex)
{
	memcpy(source->word, addr, sizeof(source->word));
	source->zone = WEIR_ZONE_IPV6;
	if (addr->s6_addr32[0] == htonl(0xfe800000) && !addr->s6_addr32[1])
		source->zone |= WEIR_ZONE_LINKLOCAL |
				(u32)ifindex << WEIR_ZONE_DEV_SHIFT;
}

/**
 * weir_source_skb - the sender of a packet
 * @source: filled
 * @skb: packet with its network header in the linear part
 * @family: AF_INET or AF_INET6
 * @ifindex: the device it arrived on
 *
 * Return: whether the sender has an address; 0.0.0.0 and :: are none.
 */
bool weir_source_skb(struct weir_source *source, const struct sk_buff *skb,
		     u8 family, int ifindex)
{
	if (family == AF_INET) {
		weir_source_ipv4(source, ip_hdr(skb)->saddr, ifindex);
		return source->word[0];
	}
	weir_source_ipv6(source, &ipv6_hdr(skb)->saddr, ifindex);
	return source->word[0] || source->word[1] ||
	       source->word[2] || source->word[3];
}

static __be32 word_mask(unsigned int len, unsigned int word)
{
	unsigned int bits = min(len - min(len, 32 * word), 32u);

	return bits ? htonl(~0U << (32 - bits)) : 0;
}

/**
 * weir_source_mask - reduce a sender to what a limit counts
 * @source: whole sender
 * @prefix: prefix lengths of the limit
 *
 * Everybody of both families is one source. Link-local senders stay whole.
 * Where half an IPv6 address makes a source,
 * theirs is the half that differs, the interface identifier.
 */
void weir_source_mask(struct weir_source *source, struct weir_prefix prefix)
{
	bool ipv6 = source->zone & WEIR_ZONE_IPV6;
	unsigned int len = ipv6 ? prefix.len6 : prefix.len4;
	unsigned int i;

	if (!len) {
		*source = (struct weir_source) { };
		if (ipv6 && prefix.len4)
			source->zone = WEIR_ZONE_IPV6;
		return;
	}
	if (source->zone & WEIR_ZONE_LINKLOCAL) {
		if (ipv6 && weir_prefix_words(prefix) == 2) {
			source->word[0] = source->word[2];
			source->word[1] = source->word[3];
			source->word[2] = 0;
			source->word[3] = 0;
		}
		return;
	}
	for (i = 0; i < (ipv6 ? 4 : 1); i++)
		source->word[i] &= word_mask(len, i);
}

/**
 * weir_source_address - the address of a masked source
 * @source: masked source
 * @prefix: what it was masked with
 * @addr: filled, IPv4 in the first word
 * @len: filled with the bits that are counted
 *
 * Return: AF_INET, AF_INET6, or AF_UNSPEC for everybody.
 */
u8 weir_source_address(const struct weir_source *source,
		       struct weir_prefix prefix, struct in6_addr *addr,
		       u8 *len)
{
	bool whole = source->zone & WEIR_ZONE_LINKLOCAL;

	memcpy(addr, source->word, sizeof(*addr));
	if (source->zone & WEIR_ZONE_IPV6) {
		*len = whole ? 128 : prefix.len6;
		if (whole && weir_prefix_words(prefix) == 2) {
			addr->s6_addr32[2] = source->word[0];
			addr->s6_addr32[3] = source->word[1];
			addr->s6_addr32[0] = htonl(0xfe800000);
			addr->s6_addr32[1] = 0;
		}
		return AF_INET6;
	}
	*len = whole ? 32 : prefix.len4;
	return *len ? AF_INET : AF_UNSPEC;
}
