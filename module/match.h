/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which packets a limit is asked about.
 */
#ifndef WEIR_MATCH_H
#define WEIR_MATCH_H

#include <linux/if.h>
#include <linux/limits.h>
#include <linux/types.h>

#include "packet.h"
#include "source.h"

/* Conditions, as they are numbered on the wire. */
#define WEIR_IF_FAMILY	BIT(0)
#define WEIR_IF_DEV	BIT(1)
#define WEIR_IF_FROM	BIT(2)
#define WEIR_IF_TO	BIT(3)
#define WEIR_IF_PROTO	BIT(4)
#define WEIR_IF_SPORT	BIT(5)
#define WEIR_IF_DPORT	BIT(6)
#define WEIR_IF_SYN	BIT(7)
#define WEIR_IF_FRAG	BIT(8)
#define WEIR_IF_MARK	BIT(9)

/* Those that need the transport header, or the way to it. */
#define WEIR_IF_TRANSPORT (WEIR_IF_PROTO | WEIR_IF_SPORT | WEIR_IF_DPORT | \
			   WEIR_IF_SYN | WEIR_IF_FRAG)

/* A prefix of one family; IPv4 in the first word. */
struct weir_net_prefix {
	__be32 word[4];
	u8 family;
	u8 len;
};

struct weir_port_range {
	u16 min;
	u16 max;
};

/**
 * struct weir_match - conditions that must all hold
 * @conds: which there are, WEIR_IF_*
 * @invert: of those, which must not hold
 * @dev: padded with zeroes
 */
struct weir_match {
	u16 conds;
	u16 invert;
	u8 family;
	u8 proto;
	char dev[IFNAMSIZ] __aligned(8);
	struct weir_net_prefix from;
	struct weir_net_prefix to;
	struct weir_port_range sport;
	struct weir_port_range dport;
	u32 mark;
	u32 mark_mask;
};

/**
 * union weir_ends - the first words of both addresses of a packet
 * @all: to be compared at once
 */
union weir_ends {
	u64 all;
	struct {
		__be32 from;
		__be32 to;
	};
};

/**
 * struct weir_gate - what a packet must have to meet a match, at a glance
 * @care: bits of the facts that must be those of @want
 * @mask: bits of the addresses that must be those of @ends
 *
 * Necessary and not sufficient: who passes the gate is compared as a whole.
 */
struct weir_gate {
	union weir_facts want;
	union weir_facts care;
	union weir_ends ends;
	union weir_ends mask;
};

/**
 * struct weir_gate_view - a packet as gates see it
 * @facts: its
 * @sure: those of which that are not open for want of a header to read
 */
struct weir_gate_view {
	u64 facts;
	u64 sure;
	union weir_ends ends;
};

void weir_gate_build(struct weir_gate *gate, const struct weir_match *match);

bool weir_match_conds(const struct weir_match *match,
		      const struct weir_packet *packet);
bool weir_match_source(const struct weir_match *match,
		       const struct weir_source *source, const char *dev);
bool weir_net_prefix_has(const struct weir_net_prefix *prefix,
			 const struct weir_source *source);
const char *weir_net_prefix_check(const struct weir_net_prefix *prefix);
const char *weir_match_check(const struct weir_match *match, u16 *cond);

/**
 * weir_match_packet - is a limit asked about a packet?
 * @match: of the limit
 * @packet: parsed packet
 *
 * What keeps a link alive is met by matches that name its protocol only.
 *
 * Context: any.
 */
static inline bool weir_match_packet(const struct weir_match *match,
				     const struct weir_packet *packet)
{
	if (unlikely(packet->facts.flags & WEIR_PACKET_VITAL) &&
	    !(match->conds & ~match->invert & WEIR_IF_PROTO))
		return false;
	return !match->conds || weir_match_conds(match, packet);
}

/**
 * weir_gate_view - see a packet as gates do
 * @packet: parsed packet
 *
 * Where headers are cut short or too deep, conditions on what lies behind hold,
 * and gates say nothing of it.
 */
static inline struct weir_gate_view
weir_gate_view(const struct weir_packet *packet)
{
	const union weir_facts family = { .family = U8_MAX };
	const u16 unsure = WEIR_PACKET_CUT | WEIR_PACKET_NO_PROTO;
	struct weir_gate_view view = {
		.facts = packet->facts.all,
		.sure = packet->facts.flags & unsure ? family.all : U64_MAX,
		.ends.from = packet->source.word[0],
	};

	if (packet->facts.family == AF_INET)
		view.ends.to = ip_hdr(packet->skb)->daddr;
	else
		view.ends.to = ipv6_hdr(packet->skb)->daddr.s6_addr32[0];
	return view;
}

/* Does a gate keep a packet out? */
static __always_inline bool weir_gate_shut(const struct weir_gate *gate,
					   const struct weir_gate_view *view)
{
	return (view->facts ^ gate->want.all) & gate->care.all & view->sure ||
	       (view->ends.all ^ gate->ends.all) & gate->mask.all;
}

#endif /* WEIR_MATCH_H */
