/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host says of itself: its status, which is JSON. */
#ifndef FLEET_HOST_H
#define FLEET_HOST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "lang/out.h"
#include "settings.h"

#define FLEET_BEAT_S	30	/* a host writes its status so often, */
#define FLEET_SILENT_S	90	/* and is silent if it has not for so long */

#define FLEET_VERSION_SIZE	32
#define FLEET_ERROR_SIZE	512

/* What became of a revision. */
struct fleet_verdict {
	uint64_t revision;		/* 0: there is none */
	bool accepted;
	char error[FLEET_ERROR_SIZE];	/* of one that was not */
};

/* Counters of all limits of the host. */
struct fleet_counts {
	uint64_t matched;		/* packets */
	uint64_t dropped_known;		/* of sources that are no newcomers */
	uint64_t evictions;
	uint64_t sources_wanted;	/* the largest; 0: no pressure */
	uint64_t limits;
};

/* Blocks that the hosts of the group share. */
struct fleet_block_counts {
	uint64_t now;		/* in the table, releases included */
	uint64_t applied;	/* blocks and releases of others */
	uint64_t told;		/* to others */
	uint64_t refused;	/* by weir, as of a limit that is not here */
	uint64_t exempt;	/* blocks of sources that are exempt here, or servers */
	uint64_t malformed;	/* values that are no blocks */
	uint64_t left_out;	/* there was no room */
};

/* Counts of shared limits; from @announced on of sources or messages so far. */
struct fleet_share_counts {
	uint64_t limits;	/* that are shared now */
	uint64_t alone;		/* that should be, but no other host is heard */
	uint64_t peers;		/* that were heard of late */
	uint64_t interval_ms;	/* the shortest from one announcement to the next */
	uint64_t announced;	/* sources, once in each message */
	uint64_t heard;
	uint64_t left_out;	/* of a message, for the next one */
	uint64_t capped;	/* beyond what a peer may say, or there was no room */
	uint64_t malformed;	/* messages */
	uint64_t repeated;	/* or more of them than is usual */
	uint64_t lost;		/* on their way, or there was no room */
	uint64_t late_ms;	/* the most that an announcement was late since the last status; */
	uint64_t recent_left_out, recent_capped, recent_lost;	/* new since then */
};

struct fleet_host {
	char host[FLEET_HOST_SIZE], group[FLEET_NAME_SIZE];
	char module[FLEET_VERSION_SIZE], tool[FLEET_VERSION_SIZE];	/* "": not there */
	struct fleet_verdict config;
	struct fleet_verdict canary;
	uint64_t exempt_limited;	/* limited sources that the configuration before exempts */
	struct fleet_counts counts;
	struct fleet_block_counts blocks;
	struct fleet_share_counts shares;
};

/* Ask the module and the tool of this host. What cannot be had is left 0. */
void fleet_host_measure(struct fleet_host *host);
/* Prefixes that are exempt now, as the tool prints them; NULL: unknown. */
json_t *fleet_exempts(void);
/* How many of the limited sources, of a thousand, are within such a prefix. */
uint64_t fleet_exempt_limited(const json_t *exempts);

/* Write its members, within an object. */
void fleet_host_show(struct weir_out *out, const struct fleet_host *host);
/* The caller frees it; NULL: out of memory. */
char *fleet_host_encode(const struct fleet_host *host, size_t *size);
/* Read a value from somebody else; 0, or -EINVAL: it is none, or of another host. */
int fleet_host_decode(struct fleet_host *host, const char *name, const char *value, size_t size);

#endif
