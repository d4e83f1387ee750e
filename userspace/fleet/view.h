/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all hosts say of themselves. */
#ifndef FLEET_VIEW_H
#define FLEET_VIEW_H

#include "bucket.h"
#include "host.h"

struct fleet_seen {
	struct fleet_host host;
	int64_t created_ns;	/* of its status, by the server's clock */
};

struct fleet_view {
	struct fleet_seen *seen;	/* sorted by group and host */
	unsigned int count;
	unsigned int malformed;		/* statuses that are none */
};

/*
 * Read all statuses of a group, or with NULL of all; 0, -ENOENT if no bucket is there, or -EIO;
 * with a sentence.
 */
int fleet_view_read(struct fleet_view *view, struct fleet_bus *bus, const char *group,
		    struct weir_err *err);
const struct fleet_seen *fleet_view_find(const struct fleet_view *view, const char *host);
/* Has it not written its status for too long? */
bool fleet_is_silent(const struct fleet_seen *seen);
void fleet_view_free(struct fleet_view *view);

#endif
