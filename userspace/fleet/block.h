/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A block on the wire: a key of the bucket of the group, and its value. It comes from other hosts:
 * what is read is checked.
 */
#ifndef FLEET_BLOCK_H
#define FLEET_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings.h"

#define FLEET_LIMIT_SIZE	32	/* of a limit's name */
#define FLEET_SOURCE_SIZE	64	/* of a source as the tool prints it */
#define FLEET_KEY_SIZE		256
#define FLEET_BLOCK_SIZE	512	/* of a value */
#define FLEET_BLOCK_VERSION	1
#define FLEET_BLOCK_MS_MAX	(3650LL * 24 * 3600 * 1000)
#define FLEET_EVER		INT64_MAX

struct fleet_block {
	char limit[FLEET_LIMIT_SIZE];
	char source[FLEET_SOURCE_SIZE];	/* an address, a prefix or "all" */
	char by[FLEET_HOST_SIZE];	/* the host that says so */
	bool released;			/* ahead of its end */
	int64_t for_ms;			/* from when the server received it; or FLEET_EVER */
};

/* 0, or -EINVAL: it has no key, as a link-local source with a device. */
int fleet_block_key(const struct fleet_block *block, char key[FLEET_KEY_SIZE]);
/* Its length. */
size_t fleet_block_encode(const struct fleet_block *block, char value[FLEET_BLOCK_SIZE]);
/* 0, or -EINVAL. */
int fleet_block_decode(struct fleet_block *block, const char *key, const char *value, size_t size);
/*
 * Append a name to a key of @size bytes, or to a subject: letters, digits, "-", "_" and @also stand
 * for themselves. False: there is no room.
 */
bool fleet_escape(char *key, size_t size, const char *text, const char *also);

#endif
