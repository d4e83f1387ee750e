/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See what the sources of a limit send, by looking at them again and again. */
#ifndef WEIR_WATCH_H
#define WEIR_WATCH_H

#include "advice/demand.h"
#include "tool/request.h"

/* What was seen, and what was not. */
struct weir_watched {
	uint64_t looks;
	uint64_t ns, missed_ns;		/* watched, and of that what counts had forgotten */
	uint64_t refused;		/* packets, which are added to those that were admitted */
	bool ended;			/* too early; why is the tool's error */
};

/* Can the first budget of the limit be watched? */
bool weir_watch_can(const struct weir_limit *limit);
/*
 * Watch a limit for some time, or until SIGINT, or until it goes or counts in another way, and add
 * what its sources send, whether it was admitted or refused. An enum weir_exit with a sentence.
 */
int weir_watch(struct weir_tool *tool, const struct weir_limit *limit, uint64_t for_ms,
	       struct weir_demand *demand, struct weir_watched *watched);

#endif
