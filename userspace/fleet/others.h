/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other hosts of the group, by their statuses. */
#ifndef FLEET_OTHERS_H
#define FLEET_OTHERS_H

#include "feed.h"
#include "host.h"

#define FLEET_OTHERS_MAX	1024

struct fleet_others {
	unsigned int count;
	struct {
		char host[FLEET_HOST_SIZE];
		int64_t created_ns;	/* of its last status, by the server's clock */
	} of[FLEET_OTHERS_MAX];
};

/* Take a change of a host's status; that of @self, and those of other groups, do not matter. */
void fleet_others_take(struct fleet_others *others, const struct fleet_host *self,
		       const struct fleet_change *change);
/* Those that are not silent. */
unsigned int fleet_others_count(const struct fleet_others *others, int64_t now_ms);

#endif
