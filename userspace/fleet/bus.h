/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection to NATS. */
#ifndef FLEET_BUS_H
#define FLEET_BUS_H

#include <nats/nats.h>

#include "err.h"
#include "prefix.h"

#define FLEET_WAIT_MS	3000	/* for an answer of the server */

struct fleet_settings;

struct fleet_bus {
	natsOptions *options;
	natsConnection *connection;
	jsCtx *js;
};

/* Called, from another thread, when the connection is of no use any more. */
typedef void fleet_lost(void *data);

/* Connect; 0, or -ECONNREFUSED with a sentence. There are no second attempts: see agent.c. */
int fleet_bus_open(struct fleet_bus *bus, const struct fleet_settings *settings,
		   fleet_lost *lost, void *data, struct weir_err *err);
void fleet_bus_close(struct fleet_bus *bus);

#define FLEET_SERVERS	64

/* Addresses of all servers that the connection knows; names that have none now are left out. */
struct fleet_servers {
	unsigned int count;
	struct weir_prefix address[FLEET_SERVERS];
};

void fleet_bus_servers(struct fleet_bus *bus, struct fleet_servers *servers);

/* A sentence for why the connection is lost. */
void fleet_bus_why(struct fleet_bus *bus, struct weir_err *err);
/* A sentence for what NATS said of an attempt. Returns -EIO. */
int fleet_bus_error(struct fleet_bus *bus, natsStatus status, const char *what,
		    struct weir_err *err);

#endif
