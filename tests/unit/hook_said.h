/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptions of packets, and what follows from them: the bytes, the source, and by
 * packet_twin.h which limits match and whether a header is unreadable.
 */
#ifndef HOOK_SAID_H
#define HOOK_SAID_H

#include <linux/in.h>

#include "limit/limit.h"
#include "unit.h"

#define SOURCES 12	/* half of them per family */
#define OPTIONS_MAX 8	/* IPv6 extension headers that are walked */
#define PACKET_MAX 160

/* A packet's description, from which its bytes are made. */
struct said {
	unsigned int source, to, proto, port, dev;
	bool ipv6, first, later;	/* the first fragment, a later one */
	bool lies;			/* a later IPv6 fragment with a false protocol */
	u8 flags;			/* TCP flags */
	unsigned int options;		/* IPv6 extension headers */
	unsigned int missing;		/* bytes cut off the last header */
	u32 mark;
	unsigned int segments;
};

/* Device names by number. */
extern const char said_dev[2][IFNAMSIZ];

struct said said_random(struct chance *c);
/*
 * Address of source i. Two sources share a prefix, a /24 or a /64; the first one's
 * address equals the prefix.
 */
struct weir_net_prefix said_address(bool ipv6, unsigned int i);
struct weir_source said_source(const struct said *said);
/* Write the bytes; returns their number. */
unsigned int said_make(const struct said *said, u8 byte[PACKET_MAX]);
/* Is there a header that cannot be read? */
bool said_cut(const struct said *said);
/* Does the description match a limit's conditions, or an exemption? */
bool said_meets(const struct said *said, const struct weir_match *match);
bool said_exempt(const struct said *said, const struct weir_exception *exempt);

/* Widen an address to the prefix it shares with another source. */
void prefix_widen(struct weir_net_prefix *prefix);

#endif /* HOOK_SAID_H */
