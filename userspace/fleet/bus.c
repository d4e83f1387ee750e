// SPDX-License-Identifier: GPL-2.0-or-later
/* A connection to NATS. */

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bus.h"
#include "settings.h"

#define PING_MS		2000
#define PINGS		2	/* without an answer, and the connection is lost */
#define SERVERS		16

/* Without "(conn.c:2088): ", which the library puts before it. */
static const char *last_error(natsStatus status)
{
	natsStatus of = NATS_OK;
	const char *last = nats_GetLastError(&of), *text;

	if (of != status)	/* it is of an earlier call */
		last = NULL;
	text = last && *last == '(' ? strstr(last, "): ") : NULL;
	return text ? text + 3 : last && *last ? last : natsStatus_GetText(status);
}

/* What the server has reported, such as a missing permission, says more than a timeout. */
int fleet_bus_error(struct fleet_bus *bus, natsStatus status, const char *what,
		    struct weir_err *err)
{
	const char *text = NULL;

	if (status == NATS_TIMEOUT && bus->connection)
		natsConnection_GetLastError(bus->connection, &text);
	weir_err_set(err, "%s: %.300s", what, text && *text ? text : last_error(status));
	return -EIO;
}

/* Whom to tell of the connection that is in use. */
static struct {
	pthread_mutex_t lock;
	natsConnection *connection;
	fleet_lost *lost;
	void *data;
} using = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void use(natsConnection *connection, fleet_lost *lost, void *data)
{
	pthread_mutex_lock(&using.lock);
	using.connection = connection;
	using.lost = lost;
	using.data = data;
	if (lost && natsConnection_IsClosed(connection))
		lost(data);
	pthread_mutex_unlock(&using.lock);
}

/* The library also reports, later, what was closed on purpose. */
static void closed(natsConnection *connection, void *closure)
{
	pthread_mutex_lock(&using.lock);
	if (connection == using.connection && using.lost)
		using.lost(using.data);
	pthread_mutex_unlock(&using.lock);
}

/* Missed heartbeats, messages that were not taken in time, what is not permitted. */
static void failed(natsConnection *connection, natsSubscription *subscription, natsStatus status,
		   void *closure)
{
	closed(connection, NULL);
}

static natsStatus set_servers(natsOptions *options, const char *list)
{
	const char *servers[SERVERS];
	char *copy = strdup(list), *rest = copy, *one;
	natsStatus status;
	int count = 0;

	while (copy && count < SERVERS && (one = strsep(&rest, ",")))
		servers[count++] = one;
	status = copy ? natsOptions_SetServers(options, servers, count) : NATS_NO_MEMORY;
	free(copy);
	return status;
}

/* Returns what could not be set, or NULL. */
static const char *set_security(natsOptions *options, const struct fleet_settings *settings,
				natsStatus *status)
{
	*status = NATS_OK;
	if (settings->nkey)
		*status = natsOptions_SetNKeyFromSeed(options, settings->nkey, settings->seed);
	if (*status)
		return settings->seed;
	if (settings->creds)
		*status = natsOptions_SetUserCredentialsFromFiles(options, settings->creds, NULL);
	if (*status)
		return settings->creds;
	/* Else the library goes on in the clear with a server that offers no TLS. */
	if (settings->ca || strstr(settings->server, "tls://"))
		*status = natsOptions_SetSecure(options, true);
	if (!*status && settings->ca)
		*status = natsOptions_LoadCATrustedCertificates(options, settings->ca);
	if (*status)
		return settings->ca ?: settings->server;
	if (settings->cert)
		*status = natsOptions_LoadCertificatesChain(options, settings->cert, settings->key);
	return *status ? settings->cert : NULL;
}

/*
 * The library does not reconnect: who loses the connection begins anew, so that there is one way
 * to begin.
 */
static natsStatus set_options(natsOptions *options, const struct fleet_settings *settings)
{
	natsStatus status = set_servers(options, settings->server);
	char inbox[FLEET_HOST_SIZE + 8];

	if (!status)
		status = natsOptions_SetAllowReconnect(options, false);
	if (!status)
		status = natsOptions_SetTimeout(options, FLEET_WAIT_MS);
	if (!status)
		status = natsOptions_SetPingInterval(options, PING_MS);
	if (!status)
		status = natsOptions_SetMaxPingsOut(options, PINGS);
	if (!status)
		status = natsOptions_SetName(options, settings->host);
	/* so that a server can let each host read its own answers alone */
	snprintf(inbox, sizeof(inbox), "_INBOX.%s", settings->host);
	if (!status && fleet_is_host(settings->host))
		status = natsOptions_SetCustomInboxPrefix(options, inbox);
	if (!status)
		status = natsOptions_SetClosedCB(options, closed, NULL);
	if (!status)
		status = natsOptions_SetErrorHandler(options, failed, NULL);
	return status;
}

int fleet_bus_open(struct fleet_bus *bus, const struct fleet_settings *settings,
		   fleet_lost *lost, void *data, struct weir_err *err)
{
	natsStatus status;
	const char *what;

	memset(bus, 0, sizeof(*bus));
	status = natsOptions_Create(&bus->options);
	if (!status)
		status = set_options(bus->options, settings);
	what = status ? NULL : set_security(bus->options, settings, &status);
	if (!status)
		status = natsConnection_Connect(&bus->connection, bus->options);
	if (!status)
		status = natsConnection_JetStream(&bus->js, bus->connection, NULL);
	if (!status) {
		use(bus->connection, lost, data);
		return 0;
	}
	fleet_bus_error(bus, status, what ? what : settings->server, err);
	fleet_bus_close(bus);
	return -ECONNREFUSED;
}

void fleet_bus_close(struct fleet_bus *bus)
{
	use(NULL, NULL, NULL);
	jsCtx_Destroy(bus->js);
	natsConnection_Destroy(bus->connection);
	natsOptions_Destroy(bus->options);
	memset(bus, 0, sizeof(*bus));
}

static void add_addresses(struct fleet_servers *servers, const char *name)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL, *one;
	char text[NI_MAXHOST];

	if (getaddrinfo(name, NULL, &hints, &list))
		return;
	for (one = list; one && servers->count < FLEET_SERVERS; one = one->ai_next)
		if (!getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof(text), NULL, 0,
				 NI_NUMERICHOST))
			servers->count += fleet_prefix_read(&servers->address[servers->count],
							    text);
	freeaddrinfo(list);
}

/* The host of "tls://192.0.2.1:4222" or "nats://[2001:db8::1]:4222", within @url. */
static const char *host_of(char *url)
{
	char *host = strstr(url, "://"), *at;

	host = host ? host + 3 : url;
	at = strrchr(host, '@');
	host = at ? at + 1 : host;
	if (*host == '[')
		host[strcspn(host, "]")] = '\0';
	else
		host[strcspn(host, ":/")] = '\0';
	return host + (*host == '[');
}

void fleet_bus_servers(struct fleet_bus *bus, struct fleet_servers *servers)
{
	char **urls = NULL;
	int count = 0, i;

	servers->count = 0;
	if (natsConnection_GetServers(bus->connection, &urls, &count))
		return;
	for (i = 0; i < count; i++) {
		add_addresses(servers, host_of(urls[i]));
		free(urls[i]);
	}
	free(urls);
}

void fleet_bus_why(struct fleet_bus *bus, struct weir_err *err)
{
	const char *text = NULL;

	natsConnection_GetLastError(bus->connection, &text);
	weir_err_set(err, "the connection to NATS is lost: %.300s",
		     text && *text ? text : "the server is gone, or a bucket");
}
