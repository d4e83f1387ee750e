/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A second implementation of the header rules in Documentation/design.rst: which
 * limits a packet matches, parsed from its bytes in the simplest way.
 */
#ifndef TWIN_H
#define TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TWIN_DEV_SIZE 16

struct twin_prefix {
	int family;		/* 4 or 6 */
	uint8_t address[16];
	unsigned int len;
};

/* Conditions, with the bits of the specification. */
enum {
	TWIN_FAMILY = 1, TWIN_DEV = 2, TWIN_FROM = 4, TWIN_TO = 8,
	TWIN_PROTO = 16, TWIN_SPORT = 32, TWIN_DPORT = 64, TWIN_SYN = 128,
	TWIN_FRAG = 256, TWIN_MARK = 512,
};

struct twin_rule {
	unsigned int conds, invert;
	int family;		/* 4 or 6 */
	char dev[TWIN_DEV_SIZE];
	struct twin_prefix from, to;
	unsigned int proto;
	unsigned int sport_min, sport_max, dport_min, dport_max;
	uint32_t mark, mask;
};

/* A packet from its network header on, as the hook gets it. */
struct twin_packet {
	int family;		/* 4 or 6 */
	const uint8_t *byte;
	size_t len;
	const char *dev;
	uint32_t mark;

	/* Set by twin_read() */
	bool cut;		/* headers cut short or too deep */
	bool proto_known, later_known;
	bool later;		/* fragment */
	bool ports_known, flags_known;
	unsigned int proto, sport, dport;
	bool syn, vital;
};

void twin_read(struct twin_packet *packet);
bool twin_meets(const struct twin_packet *packet, const struct twin_rule *rule);

#endif
