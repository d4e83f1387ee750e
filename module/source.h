/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose packet it is: the family and address of its sender, masked to the
 * prefix that a limit counts.
 */
#ifndef WEIR_SOURCE_H
#define WEIR_SOURCE_H

#include <linux/in6.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/types.h>

#define WEIR_ZONE_IPV6		BIT(0)	/* family */
#define WEIR_ZONE_LINKLOCAL	BIT(1)	/* counted whole and by device */
#define WEIR_ZONE_DEV_SHIFT	2	/* then the device's index, else 0 */

/* The zone of no source: it has a device, and is not link-local. */
#define WEIR_ZONE_NOBODY	((u32)~WEIR_ZONE_LINKLOCAL)

/*
 * A sender, whole or masked. Masked to a prefix length of 0 its words are
 * zeroes: everybody.
 */
struct weir_source {
	/* The address in network order, IPv4 in the first word, zeroes behind */
	__be32 word[4];
	u32 zone;		/* what tells equal addresses apart, WEIR_ZONE_* */
};

/* How much of an address makes a source. */
struct weir_prefix {
	u8 len4;		/* leading bits of an IPv4 address, 0..32 */
	u8 len6;		/* leading bits of an IPv6 address, 0..128 */
};

/**
 * weir_source_ipv4 - the sender of an IPv4 packet
 * @source: filled
 * @addr: its address
 * @ifindex: the device it arrived on, kept for 169.254.0.0/16 only
 */
static __always_inline void weir_source_ipv4(struct weir_source *source,
					     __be32 addr, int ifindex)
{
	*source = (struct weir_source) { .word[0] = addr };
	if (unlikely((addr & htonl(0xffff0000)) == htonl(0xa9fe0000)))
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
static __always_inline void weir_source_ipv6(struct weir_source *source,
					     const struct in6_addr *addr,
					     int ifindex)
{
	/* One by one: what is not stored need not be loaded again. */
	source->word[0] = addr->s6_addr32[0];
	source->word[1] = addr->s6_addr32[1];
	source->word[2] = addr->s6_addr32[2];
	source->word[3] = addr->s6_addr32[3];
	source->zone = WEIR_ZONE_IPV6;
	if (unlikely(addr->s6_addr32[0] == htonl(0xfe800000) &&
		     !addr->s6_addr32[1]))
		source->zone |= WEIR_ZONE_LINKLOCAL |
				(u32)ifindex << WEIR_ZONE_DEV_SHIFT;
}

/* Has the sender an address? 0.0.0.0 and :: are none. */
static inline bool weir_source_known(const struct weir_source *source)
{
	return source->word[0] || source->word[1] || source->word[2] ||
	       source->word[3];
}

/* Are two senders, whole or masked alike, the same? */
static __always_inline bool weir_source_same(const struct weir_source *a,
					     const struct weir_source *b)
{
	/* One by one, as they were just written: wider loads would wait. */
	return a->word[0] == b->word[0] && a->zone == b->zone &&
	       (!(b->zone & WEIR_ZONE_IPV6) ||
		(a->word[1] == b->word[1] && a->word[2] == b->word[2] &&
		 a->word[3] == b->word[3]));
}

void weir_source_cut(struct weir_source *source, struct weir_prefix prefix);

/**
 * weir_source_mask - reduce a sender to what a limit counts
 * @source: whole sender
 * @prefix: prefix lengths of the limit
 *
 * Everybody of both families is one source. Link-local senders stay whole.
 * Where half an IPv6 address makes a source, theirs is the half that differs,
 * the interface identifier.
 */
static inline void weir_source_mask(struct weir_source *source,
				    struct weir_prefix prefix)
{
	/* Most often it is a whole IPv4 address. */
	if (source->zone || prefix.len4 != 32)
		weir_source_cut(source, prefix);
}

/**
 * weir_source_masked - a sender as a limit counts it
 * @source: whole sender
 * @prefix: prefix lengths of the limit
 * @masked: room for it
 *
 * Return: @source, if that is it, or @masked.
 */
static inline const struct weir_source *
weir_source_masked(const struct weir_source *source, struct weir_prefix prefix,
		   struct weir_source *masked)
{
	/* Most often it is a whole IPv4 address. */
	if (likely(!source->zone && prefix.len4 == 32))
		return source;
	*masked = *source;
	weir_source_cut(masked, prefix);
	return masked;
}

u8 weir_source_address(const struct weir_source *source,
		       struct weir_prefix prefix, struct in6_addr *addr,
		       u8 *len);

/* Words of a masked address that differ between sources, 2 or 4. */
static inline unsigned int weir_prefix_words(struct weir_prefix prefix)
{
	return prefix.len6 > 64 ? 4 : 2;
}

/* Index of the device that the source is bound to, or 0. */
static inline int weir_source_ifindex(const struct weir_source *source)
{
	return source->zone >> WEIR_ZONE_DEV_SHIFT;
}

/* A keyed hash of a masked source; most IPv4 sources are one word. */
static inline u32 weir_source_hash(const struct weir_source *source,
				   struct weir_prefix prefix,
				   const hsiphash_key_t *key)
{
	if (!source->zone)
		return hsiphash_1u32((__force u32)source->word[0], key);
	if (weir_prefix_words(prefix) == 2)
		return hsiphash_3u32((__force u32)source->word[0],
				     (__force u32)source->word[1],
				     source->zone, key);
	return hsiphash(source, sizeof(*source), key);
}

#endif /* WEIR_SOURCE_H */
