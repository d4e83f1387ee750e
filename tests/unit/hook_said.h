/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets in words, and all that follows from the words alone: the bytes, the
 * source, which limits are met, which header cannot be read.
 */
#ifndef HOOK_SAID_H
#define HOOK_SAID_H

#include <linux/in.h>

#include "limit.h"

#include "unit.h"

#define SOURCES 12	/* half of them of each family */
#define OPTIONS_MAX 8	/* headers of IPv6 that are walked */
#define PACKET_MAX 160

/* A packet as it is said, from which its bytes are made. */
struct said {
	unsigned int source, to, proto, port, dev;
	bool ipv6, first, later, syn;	/* the first fragment, a later one */
	bool lies;			/* a later one of IPv6, about its protocol */
	u8 flags;			/* of TCP */
	unsigned int options;		/* headers of IPv6 in front */
	unsigned int missing;		/* bytes of the last header */
	u32 mark;
	unsigned int segments;
};

/* The devices' names, by number. */
extern const char said_dev[2][IFNAMSIZ];

struct said said_random(struct chance *c);
/*
 * Sources 0..: by twos in a prefix, a /24 or a /64; the first of them is like the
 * prefix itself.
 */
struct weir_net_prefix said_address(bool ipv6, unsigned int i);
struct weir_source said_source(const struct said *said);
/* Write the bytes; how many. */
unsigned int said_make(const struct said *said, u8 byte[PACKET_MAX]);
/* Is there a header that cannot be read? */
bool said_cut(const struct said *said);
/* By the words: does a packet meet a limit, an exemption? */
bool said_meets(const struct said *said, const struct weir_match *match);
bool said_exempt(const struct said *said, const struct weir_exempt *exempt);

/* From an address to the prefix that it shares with another. */
void prefix_widen(struct weir_net_prefix *prefix);

#endif /* HOOK_SAID_H */
