/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Malformed and valid packets, and limits that may match them. */
#ifndef PACKETS_H
#define PACKETS_H

#include <stdint.h>

#include "packet_twin.h"

#include "chance.h"

#define PACKET_MAX 1500

/* Seed for item @n: its numbers do not depend on the items before it. */
static inline void dice_seed(struct chance *dice, uint64_t seed, uint64_t n)
{
	dice->state = seed * 0xd1342543de82ef95ull + n * 0x2545f4914f6cdd1dull;
	chance(dice);
}

static inline bool dice_percent(struct chance *dice, unsigned int percent)
{
	return chance_below(dice, 100) < percent;
}

struct packet {
	int family;		/* by Ethernet type: 4 or 6 */
	uint8_t byte[PACKET_MAX];
	size_t len;
};

void packet_make(struct packet *packet, struct chance *dice);

/* Does the kernel pass a packet to this host's link address to PRE_ROUTING? */
enum received { NOT_RECEIVED, RECEIVED, WHO_KNOWS };
enum received packet_received(const struct packet *packet, size_t *len);

void match_make(struct weir_match *match, struct chance *dice);
void match_print(const struct weir_match *match);

#endif
