// SPDX-License-Identifier: GPL-2.0-or-later
/* The other hosts of the group: whom this host should hear. */

#include <string.h>

#include "others.h"

static unsigned int find(const struct fleet_others *others, const char *host)
{
	unsigned int i;

	for (i = 0; i < others->count && strcmp(others->of[i].host, host); i++)
		;
	return i;
}

void fleet_others_take(struct fleet_others *others, const struct fleet_host *self,
		       const struct fleet_change *change)
{
	unsigned int i = find(others, change->key);
	struct fleet_host host;
	bool is_other = false;

	if (!change->deleted && strcmp(change->key, self->host))
		is_other = !fleet_host_decode(&host, change->key, change->value, change->size) &&
			   !strcmp(host.group, self->group);
	if (!is_other && i < others->count)
		others->of[i] = others->of[--others->count];
	if (!is_other)
		return;
	if (i == FLEET_OTHERS_MAX)	/* whom it displaces writes again, if still there */
		i = change->revision % FLEET_OTHERS_MAX;
	others->count += i == others->count;
	strcpy(others->of[i].host, host.host);
	others->of[i].created_ns = change->created_ns;
}

unsigned int fleet_others_count(const struct fleet_others *others, int64_t now_ms)
{
	unsigned int i, count = 0;

	for (i = 0; i < others->count; i++)
		count += now_ms - others->of[i].created_ns / 1000000 <= FLEET_SILENT_S * 1000;
	return count;
}
