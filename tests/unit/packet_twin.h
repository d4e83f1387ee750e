/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A second implementation of the header rules in Documentation/design.rst: which
 * limits a packet matches, parsed from its bytes in the simplest way.
 */
#ifndef PACKET_TWIN_H
#define PACKET_TWIN_H

#include "packet/match.h"

/* A packet from its network header on, as the hook gets it. */
struct twin_packet {
	int family;
	const u8 *byte;
	size_t len;
	const char *dev;
	u32 mark;

	/* Set by twin_read() */
	bool cut;		/* headers cut short or too deep */
	bool proto_known, later_known;
	bool later;		/* fragment */
	bool ports_known, flags_known, type_known;
	unsigned int proto, sport, dport, type;
	bool syn, vital;
};

void twin_read(struct twin_packet *packet);
bool twin_meets(const struct twin_packet *packet, const struct weir_match *match);

#endif
