/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The source of a packet: family and address of its sender, masked to the prefix
 * that a limit counts.
 */
#ifndef WEIR_SOURCE_H
#define WEIR_SOURCE_H

#include <linux/in6.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/types.h>

#define WEIR_SCOPE_IPV6		BIT(0)	/* family */
#define WEIR_SCOPE_LINKLOCAL	BIT(1)	/* never masked, counted by device */
#define WEIR_SCOPE_DEV_SHIFT	4	/* index of that device, else 0 */

/* Bits that are no part of a scope, but a table's. */
#define WEIR_SCOPE_FREE		(BIT(2) | BIT(3))

/* The scope of no source: with a device, but not link-local. */
#define WEIR_SCOPE_INVALID	((u32)~(WEIR_SCOPE_LINKLOCAL | WEIR_SCOPE_FREE))

/*
 * An address, whole or masked. Masked to a prefix length of 0 its words are 0: all
 * addresses.
 */
struct weir_source {
	/* The address in network order, IPv4 in the first word, zeroes behind */
	__be32 word[4];
	u32 scope;		/* distinguishes equal addresses, WEIR_SCOPE_* */
};

/* How many bits of an address make a source. */
struct weir_prefix {
	u8 len4;		/* leading bits of an IPv4 address, 0..32 */
	u8 len6;		/* leading bits of an IPv6 address, 0..128 */
};

/* @ifindex, of the input device, is kept for 169.254.0.0/16 only. */
static inline void weir_source_ipv4(struct weir_source *source, __be32 addr, int ifindex)
{
	/* Word by word, so that the compiler keeps them in registers. */
	source->word[0] = addr;
	source->word[1] = 0;
	source->word[2] = 0;
	source->word[3] = 0;
	source->scope = 0;
	if (unlikely((addr & htonl(0xffff0000)) == htonl(0xa9fe0000)))
		source->scope = WEIR_SCOPE_LINKLOCAL |
			       (u32)ifindex << WEIR_SCOPE_DEV_SHIFT;
}

/*
 * @ifindex is kept for fe80::/64 only: link-local addresses have 54 zero bits behind
 * fe80::/10 (RFC 4291, 2.5.6); others of that range are counted as any address is.
 */
static inline void weir_source_ipv6(struct weir_source *source, const struct in6_addr *addr,
				    int ifindex)
{
	source->word[0] = addr->s6_addr32[0];
	source->word[1] = addr->s6_addr32[1];
	source->word[2] = addr->s6_addr32[2];
	source->word[3] = addr->s6_addr32[3];
	source->scope = WEIR_SCOPE_IPV6;
	if (unlikely(addr->s6_addr32[0] == htonl(0xfe800000) &&
		     !addr->s6_addr32[1]))
		source->scope |= WEIR_SCOPE_LINKLOCAL |
				(u32)ifindex << WEIR_SCOPE_DEV_SHIFT;
}

/* Is the address neither 0.0.0.0 nor ::? */
static inline bool weir_source_known(const struct weir_source *source)
{
	return source->word[0] || source->word[1] || source->word[2] ||
	       source->word[3];
}

/* Are two sources with the same mask equal? */
static inline bool weir_source_same(const struct weir_source *a, const struct weir_source *b)
{
	/* Word by word, as they were stored: wider loads would not be forwarded. */
	return a->word[0] == b->word[0] && a->scope == b->scope &&
	       (!(b->scope & WEIR_SCOPE_IPV6) ||
		(a->word[1] == b->word[1] && a->word[2] == b->word[2] &&
		 a->word[3] == b->word[3]));
}

void weir_source_mask(struct weir_source *source, struct weir_prefix prefix);

/* As weir_source_mask(), but returns @source itself if nothing changes, else @masked. */
static inline const struct weir_source *
weir_source_masked(const struct weir_source *source, struct weir_prefix prefix,
		   struct weir_source *masked)
{
	/* Most often it is a whole IPv4 address. */
	if (likely(!source->scope && prefix.len4 == 32))
		return source;
	*masked = *source;
	weir_source_mask(masked, prefix);
	return masked;
}

u8 weir_source_address(const struct weir_source *source,
		       struct weir_prefix prefix, struct in6_addr *addr,
		       u8 *len);

/* Words that distinguish masked addresses, 2 or 4. */
static inline unsigned int weir_prefix_words(struct weir_prefix prefix)
{
	return prefix.len6 > 64 ? 4 : 2;
}

/* Index of the device that the source is bound to, or 0. */
static inline int weir_source_ifindex(const struct weir_source *source)
{
	return source->scope >> WEIR_SCOPE_DEV_SHIFT;
}

/* A keyed hash of a masked source; most IPv4 sources are one word. */
static inline u32 weir_source_hash(const struct weir_source *source, struct weir_prefix prefix,
				   const hsiphash_key_t *key)
{
	if (!source->scope)
		return hsiphash_1u32((__force u32)source->word[0], key);
	if (weir_prefix_words(prefix) == 2)
		return hsiphash_3u32((__force u32)source->word[0], (__force u32)source->word[1],
				     source->scope, key);
	return hsiphash(source, sizeof(*source), key);
}

#endif /* WEIR_SOURCE_H */
