/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The packets that a limit applies to.
 */
#ifndef WEIR_MATCH_H
#define WEIR_MATCH_H

#include <linux/bitmap.h>
#include <linux/if.h>
#include <linux/limits.h>
#include <linux/types.h>

#include "packet/packet.h"
#include "packet/prefixes.h"
#include "packet/source.h"
#include "uapi/linux/weir.h"

/* Conditions for which weir_packet_parse() is needed. */
#define WEIR_CONDS_TRANSPORT (WEIR_COND_PROTO | WEIR_COND_SPORT | WEIR_COND_DPORT | \
			      WEIR_CONDS_RARE)

/* Those of them that few limits have. */
#define WEIR_CONDS_RARE	(WEIR_COND_SYN | WEIR_COND_FRAG | WEIR_COND_ICMP_TYPE | \
			 WEIR_COND_ICMPV6_TYPE)

/* Conditions that look only at source and device. */
#define WEIR_CONDS_SENDER (WEIR_COND_FAMILY | WEIR_COND_DEV | WEIR_COND_FROM | \
			   WEIR_COND_FROM_LIST)

struct weir_port_range {
	u16 min;
	u16 max;
};

/* What a condition lists, one of which must hold; unused ones are zero. */
struct weir_prefix_list {
	u32 count;
	struct weir_net_prefix prefix[WEIR_PREFIXES_MAX];
};

struct weir_port_list {
	u32 count;
	struct weir_port_range range[WEIR_PORTS_MAX];
};

/* Of protocols, or of types of ICMP. */
#define WEIR_TYPES	256
#define WEIR_TYPES_LONGS	BITS_TO_LONGS(WEIR_TYPES)

/* Conditions that must all hold. */
struct weir_match {
	u16 conds;		/* conditions present, WEIR_COND_* */
	u16 invert;		/* those that must not hold */
	u8 family;
	bool one_dport;		/* dport is one range, not inverted; derived */
	u32 mark;
	u32 mark_mask;
	char dev[IFNAMSIZ] __aligned(8);	/* padded with zeroes */
	unsigned long proto[WEIR_TYPES_LONGS];	/* bits of the numbers that are listed */
	unsigned long icmp[WEIR_TYPES_LONGS];
	unsigned long icmpv6[WEIR_TYPES_LONGS];
	struct weir_port_list dport;
	struct weir_port_list sport;
	struct weir_prefix_list from;
	struct weir_prefix_list to;
	struct weir_prefixes *from_list;	/* or NULL; a limit that is made holds them */
	struct weir_prefixes *to_list;
};

/* A packet that a request describes; what is not given may be anything. */
struct weir_outline {
	struct weir_packet packet;	/* a frame of @header, parsed, without a device */
	char dev[IFNAMSIZ] __aligned(8);	/* that it arrives on, padded; or "" */
	u16 known, vital;	/* WEIR_COND_* that are decided, and that tell if it is vital */
	u32 mark;
	union {
		struct iphdr ip;
		struct ipv6hdr ip6;
	} header;		/* only the destination */
	struct weir_match match;	/* as it was described; then used by weir_match_outline() */
};

bool weir_match_conds(const struct weir_match *match, const struct weir_packet *packet);
bool weir_match_special(const struct weir_match *match, const struct weir_packet *packet);
bool weir_match_proto(const struct weir_match *match, u8 proto);
bool weir_match_outline(const struct weir_match *match, struct weir_outline *outline);
const char *weir_match_check(struct weir_match *match, u16 *cond);

/* Is the port outside the only range? This rules out most limits of a host. */
static inline bool weir_match_other_port(const struct weir_match *match,
					 const struct weir_packet *packet)
{
	const struct weir_port_range *range = match->dport.range;

	return match->one_dport && packet->flags & WEIR_PACKET_PORTS &&
	       (u16)(packet->dport - range->min) > (u16)(range->max - range->min);
}

/* Does a packet match? It is parsed if there are conditions of WEIR_CONDS_TRANSPORT. */
static inline bool weir_match_packet(const struct weir_match *match,
				     const struct weir_packet *packet)
{
	if (weir_match_other_port(match, packet))
		return false;
	if (unlikely(packet->flags & (WEIR_PACKET_VITAL | WEIR_PACKET_DECRYPTED)) &&
	    !weir_match_special(match, packet))
		return false;
	return !match->conds || weir_match_conds(match, packet);
}

#endif /* WEIR_MATCH_H */
