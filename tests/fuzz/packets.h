/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Malformed and valid packets, and limits that may match them. */
#ifndef PACKETS_H
#define PACKETS_H

#include "dice.h"
#include "packet_twin.h"

#define PACKET_MAX 1500

struct packet {
	int family;		/* by Ethernet type: 4 or 6 */
	uint8_t byte[PACKET_MAX];
	size_t len;
};

void packet_make(struct packet *packet, struct dice *dice);

/* Does the kernel pass a packet to PRE_ROUTING? */
enum received { NOT_RECEIVED, RECEIVED, WHO_KNOWS };
enum received packet_received(const struct packet *packet, size_t *len);

void match_make(struct weir_match *match, struct dice *dice);
void match_print(const struct weir_match *match);

#endif
