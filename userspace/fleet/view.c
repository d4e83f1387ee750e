// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the statuses of hosts. */

#include <stdlib.h>
#include <string.h>

#include "canary.h"
#include "view.h"

#define READ_MS	5000

static int add(struct fleet_view *view, kvEntry *entry, const char *group)
{
	struct fleet_seen *more;

	if (kvEntry_Operation(entry) != kvOp_Put)
		return 0;
	more = realloc(view->seen, (view->count + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	view->seen = more;
	more += view->count;
	if (kvEntry_ValueLen(entry) <= 0 ||
	    fleet_host_decode(&more->host, kvEntry_Key(entry), kvEntry_Value(entry),
			      kvEntry_ValueLen(entry))) {
		view->malformed++;
		return 0;
	}
	more->created_ns = kvEntry_Created(entry);
	view->count += !group || !strcmp(group, more->host.group);
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct fleet_seen *a = left, *b = right;

	return strcmp(a->host.group, b->host.group) ?: strcmp(a->host.host, b->host.host);
}

int fleet_view_read(struct fleet_view *view, struct fleet_bus *bus, const char *group,
		    struct weir_err *err)
{
	struct fleet_bucket bucket;
	kvWatcher *watcher = NULL;
	natsStatus status;
	kvEntry *entry;
	int ret = fleet_bucket_open(&bucket, bus, FLEET_STATUSES, NULL, err);

	if (ret)
		return ret;
	memset(view, 0, sizeof(*view));
	status = kvStore_WatchAll(&watcher, bucket.store, NULL);
	while (!status && !ret) {
		entry = NULL;
		status = kvWatcher_Next(&entry, watcher, READ_MS);
		if (!entry)	/* the end of what was there at first */
			break;
		ret = add(view, entry, group);
		kvEntry_Destroy(entry);
	}
	kvWatcher_Destroy(watcher);
	fleet_bucket_close(&bucket);
	if (view->count)
		qsort(view->seen, view->count, sizeof(*view->seen), compare);
	if (!status && !ret)
		return 0;
	fleet_view_free(view);
	return fleet_bus_error(bus, status ? status : NATS_NO_MEMORY, "status", err);
}

const struct fleet_seen *fleet_view_find(const struct fleet_view *view, const char *host)
{
	unsigned int i;

	for (i = 0; i < view->count; i++)
		if (!strcmp(view->seen[i].host.host, host))
			return &view->seen[i];
	return NULL;
}

bool fleet_is_silent(const struct fleet_seen *seen)
{
	return fleet_age_ms(seen->created_ns) > FLEET_SILENT_S * 1000;
}

void fleet_view_free(struct fleet_view *view)
{
	free(view->seen);
	memset(view, 0, sizeof(*view));
}
