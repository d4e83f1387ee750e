/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets as nobody should send them, and matches that they may meet. */
#ifndef PACKETS_H
#define PACKETS_H

#include "dice.h"
#include "twin.h"

#define PACKET_MAX 1500

struct packet {
	int family;		/* of its Ethernet type: 4 or 6 */
	uint8_t byte[PACKET_MAX];
	size_t len;
};

void packet_make(struct packet *packet, struct dice *dice);

/* Does the kernel hand a packet to PRE_ROUTING? */
enum received { NOT_RECEIVED, RECEIVED, WHO_KNOWS };
enum received packet_received(const struct packet *packet, size_t *len);

void rule_make(struct twin_rule *rule, struct dice *dice);
void rule_print(const struct twin_rule *rule);

#endif
