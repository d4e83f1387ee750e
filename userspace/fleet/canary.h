/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value of canary.GROUP, which is JSON: a configuration that some hosts try. */
#ifndef FLEET_CANARY_H
#define FLEET_CANARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A canary has to take it in TAKE_MS; the time runs from when the last one has. It is silent if it
 * has not written its status for SILENT_MS. If nobody has decided, it returns to what it had so
 * long after the time as these two take, and the decision.
 */
#define FLEET_CANARY_TAKE_MS	15000
#define FLEET_CANARY_SILENT_MS	10000
#define FLEET_CANARY_GRACE_MS	30000
#define FLEET_CANARY_MS_MIN	1000
#define FLEET_CANARY_MS_MAX	3600000
#define FLEET_CANARY_HOSTS	64

struct fleet_canary {
	uint64_t revision;
	int64_t for_ms;
	char *config;
	size_t size;
	unsigned int count;
	char **hosts;
};

/* The caller frees it; NULL: out of memory. */
char *fleet_canary_encode(const struct fleet_canary *canary, size_t *size);
/* 0, or -EINVAL: it is none. */
int fleet_canary_decode(struct fleet_canary *canary, const char *value, size_t size);
bool fleet_canary_names(const struct fleet_canary *canary, const char *host);
void fleet_canary_free(struct fleet_canary *canary);

/* The monotonic clock, and this host's idea of the time. */
int64_t fleet_now_ms(void);
int64_t fleet_wall_ms(void);
/* Since a time of the server's clock, not negative. */
int64_t fleet_age_ms(int64_t created_ns);

#endif
