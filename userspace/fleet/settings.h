/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the server is, who this host is, and what proves it. */
#ifndef FLEET_SETTINGS_H
#define FLEET_SETTINGS_H

#include <stdbool.h>

#include "err.h"

#define FLEET_SETTINGS		"/etc/weir-fleet.conf"
#define FLEET_URL		"nats://127.0.0.1:4222"
#define FLEET_STATE		"/var/lib/weir-fleet"
#define FLEET_NAME_SIZE		65	/* of a group */
#define FLEET_REPLICAS_MOST	5	/* that NATS has */
#define FLEET_HOST_SIZE		254

/* What names of hosts, groups and limits have in common. */
#define FLEET_LETTERS	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

struct fleet_settings {
	const char *file;
	const char *server, *group, *host, *state;
	const char *share;			/* or NULL: none */
	const char *replicas;			/* or NULL: as it is, 1 at first */
	const char *nkey, *seed, *creds;	/* or NULL */
	const char *ca, *cert, *key;		/* or NULL */
	unsigned long keepers;			/* replicas as a number; 0 without */
	bool json, pretty, version, help;
	char *text;				/* of the file, which the values point into */
	char name[FLEET_HOST_SIZE];		/* of the host, if none is given */
};

/* A row of the table: an option, and if it is a setting a line of the file, too. */
struct fleet_option {
	const char *name, *value, *help;	/* without a value it is a flag */
	unsigned int to;			/* its place in struct fleet_settings */
	bool setting;
};

extern const struct fleet_option fleet_options[];

/* Take the options; returns the index of the first other word, or -EINVAL. */
int fleet_settings_take(struct fleet_settings *settings, int argc, char **argv,
			struct weir_err *err);
/* Read the file for what was not given, and check all; 0, or -EINVAL. */
int fleet_settings_read(struct fleet_settings *settings, struct weir_err *err);
void fleet_settings_free(struct fleet_settings *settings);

/* Is it a name of a group: letters, digits, - and _? */
bool fleet_is_group(const char *name);
/* Is it a name of a host: such names with dots between them? */
bool fleet_is_host(const char *name);

#endif
