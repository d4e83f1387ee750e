/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A way to the family, and what comes back. */
#ifndef ANSWER_H
#define ANSWER_H

#include <stddef.h>

#include "table.h"

struct channel {
	int fd;
	uint16_t family;
};

struct answer {
	bool ended;
	int error;
	char msg[128];		/* of the extended ACK */
	uint32_t offset;	/* of the attribute at fault, or 0 */
	unsigned int parts;	/* messages before the last one */
	const char *wrong;	/* that cannot be an answer at all */
};

int channel_open(struct channel *channel);
void channel_close(struct channel *channel);
int channel_ask(struct channel *channel, const void *message, size_t len,
		uint32_t seq, const struct set *set, struct answer *answer);
int channel_abandon(struct channel *channel, const void *message, size_t len);
int channel_config(struct channel *channel, uint64_t *hash);

#endif
