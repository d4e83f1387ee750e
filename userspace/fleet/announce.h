/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host tells of a limit that others share: how much it admitted of each source since its
 * last message. All numbers are big-endian, or groups of 7 bits, the lowest first, each but the
 * last with bit 7 set, in as few bytes as possible:
 *
 *	1 byte	version		8 bytes	run: drawn when the host begins anew
 *	4 bytes	number of the message in the run, from 1
 *	2 bytes	milliseconds to the next message
 *	2 bytes	milliseconds since the counts were read
 *	1 byte	budgets of the limit
 *	1 byte	length of the host's name, and the name
 *
 * and for each source: a byte of its kind (0: all sources, 4, 6), a byte of its prefix' length, the
 * bytes that the prefix covers, and a group for each budget.
 */
#ifndef FLEET_ANNOUNCE_H
#define FLEET_ANNOUNCE_H

#include "model.h"
#include "settings.h"

#define FLEET_ANNOUNCE_VERSION	1
#define FLEET_ANNOUNCE_SIZE	61440	/* the largest message */
#define FLEET_ADMITTED_MAX	(1ULL << 57)	/* as in the module */
#define FLEET_INTERVAL_MIN_MS	10
#define FLEET_INTERVAL_MAX_MS	1000

struct fleet_head {
	char host[FLEET_HOST_SIZE];
	uint64_t run;
	uint32_t number;
	uint16_t interval_ms, age_ms;
	uint8_t budgets;
};

struct fleet_record {
	struct weir_prefix source;
	uint64_t admitted[WEIR_BUDGETS_MAX];
};

struct fleet_writer {
	uint8_t data[FLEET_ANNOUNCE_SIZE];
	size_t size;
	uint8_t budgets;
};

/* Begin a message. */
void fleet_announce_begin(struct fleet_writer *writer, const struct fleet_head *head);
/* Add a source; false: there is no room. */
bool fleet_announce_put(struct fleet_writer *writer, const struct fleet_record *record);

struct fleet_reader {
	struct fleet_head head;
	const uint8_t *at, *end;
};

/* Read what somebody else has sent, of which all is checked here; 0, or -EINVAL. */
int fleet_announce_read(struct fleet_reader *reader, const void *data, size_t size);
/* The next source; false: there are no more. */
bool fleet_announce_next(struct fleet_reader *reader, struct fleet_record *record);

#endif
