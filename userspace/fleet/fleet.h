/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of weir-fleet, and its commands. */
#ifndef FLEET_FLEET_H
#define FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "lang/out.h"
#include "settings.h"

struct fleet {
	struct fleet_settings settings;
	struct weir_out out;
	struct weir_err err;
	/* words of a command */
	const char *file;	/* of push */
	const char *group;	/* or NULL: that of the settings, or all */
	uint64_t canary;	/* hosts; 0: none */
	uint64_t for_ms;
	double drops;		/* percent; negative: not given */
	uint64_t revision;	/* 0: not given */
};

/* A command returns an enum weir_exit, with a sentence in err unless it is 0. */
typedef int fleet_run(struct fleet *fleet);

/* agent.c, push.c, log.c, status.c */
fleet_run fleet_agent, fleet_push, fleet_rollback, fleet_log, fleet_show, fleet_status;

/* Print a line on stderr. */
void fleet_say(const char *fmt, ...) WEIR_PRINTF(1);
/* How often there was no room for something, and when last; 0: that is over. */
struct fleet_room {
	uint64_t missed;
	int64_t missed_ms;
};

/* Say when it begins to be missed, and when it was not for a minute; true: it begins. */
bool fleet_room(struct fleet_room *room, uint64_t missed, const char *what, const char *of);
/* Show a time of the server's clock. */
void fleet_show_time(struct weir_out *out, const char *key, int64_t ns);
/* The group that is meant, or NULL with a sentence. */
const char *fleet_group(struct fleet *fleet);

#endif
