// SPDX-License-Identifier: GPL-2.0-or-later
/* A configuration that some hosts try. */

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "canary.h"
#include "lang/value.h"

char *fleet_canary_encode(const struct fleet_canary *canary, size_t *size)
{
	json_t *hosts = json_array(), *json;
	unsigned int i;
	char *text;

	for (i = 0; i < canary->count; i++)
		json_array_append_new(hosts, json_string(canary->hosts[i]));
	json = json_pack("{s:o, s:I, s:s%}", "hosts", hosts, "for_ms", (json_int_t)canary->for_ms,
			 "config", canary->config, canary->size);
	text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	*size = text ? strlen(text) : 0;
	json_decref(json);
	return text;
}

static int read_hosts(struct fleet_canary *canary, const json_t *hosts)
{
	const char *name;
	json_t *host;
	size_t i;

	if (json_array_size(hosts) > FLEET_CANARY_HOSTS)
		return -EINVAL;
	canary->hosts = calloc(json_array_size(hosts) + 1, sizeof(*canary->hosts));
	json_array_foreach(hosts, i, host) {
		name = json_string_value(host);
		if (!canary->hosts || !name)
			return -EINVAL;
		canary->hosts[canary->count] = strdup(name);
		if (!canary->hosts[canary->count])
			return -EINVAL;
		canary->count++;
	}
	return 0;
}

int fleet_canary_decode(struct fleet_canary *canary, const char *value, size_t size)
{
	json_t *json = json_loadb(value, size, JSON_REJECT_DUPLICATES, NULL);
	const char *config = json_string_value(json_object_get(json, "config"));
	int ret = -EINVAL;

	memset(canary, 0, sizeof(*canary));
	canary->for_ms = json_integer_value(json_object_get(json, "for_ms"));
	if (config && canary->for_ms >= FLEET_CANARY_MS_MIN &&
	    canary->for_ms <= FLEET_CANARY_MS_MAX) {
		canary->config = strdup(config);
		canary->size = strlen(config);
		ret = canary->config ? read_hosts(canary, json_object_get(json, "hosts")) : -EINVAL;
	}
	json_decref(json);
	if (ret)
		fleet_canary_free(canary);
	return ret;
}

bool fleet_canary_names(const struct fleet_canary *canary, const char *host)
{
	unsigned int i;

	for (i = 0; i < canary->count; i++)
		if (!strcmp(canary->hosts[i], host))
			return true;
	return false;
}

void fleet_canary_free(struct fleet_canary *canary)
{
	unsigned int i;

	for (i = 0; i < canary->count; i++)
		free(canary->hosts[i]);
	free(canary->hosts);
	free(canary->config);
	memset(canary, 0, sizeof(*canary));
}

int64_t fleet_now_ms(void)
{
	return weir_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t fleet_wall_ms(void)
{
	return weir_clock_ns(CLOCK_REALTIME) / 1000000;
}

int64_t fleet_age_ms(int64_t created_ns)
{
	int64_t age = fleet_wall_ms() - created_ns / 1000000;

	return age > 0 ? age : 0;
}
