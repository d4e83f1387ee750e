// SPDX-License-Identifier: GPL-2.0-or-later
/* weir-fleet log, show and rollback: earlier configurations of a group. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bucket.h"
#include "fleet.h"
#include "push.h"

struct history {
	struct fleet_bus bus;
	struct fleet_bucket bucket;
	kvEntryList list;	/* oldest first */
};

static void close_history(struct history *history)
{
	kvEntryList_Destroy(&history->list);
	fleet_bucket_close(&history->bucket);
	fleet_bus_close(&history->bus);
}

static int open_history(struct fleet *fleet, struct history *history)
{
	char key[FLEET_NAME_SIZE + 8];
	const char *group = fleet_group(fleet);
	natsStatus status;
	int ret;

	memset(history, 0, sizeof(*history));
	if (!group)
		return WEIR_EXIT_WORDS;
	snprintf(key, sizeof(key), "config.%s", group);
	if (fleet_bus_open(&history->bus, &fleet->settings, NULL, NULL, &fleet->err))
		return WEIR_EXIT_UNREACHABLE;
	ret = fleet_bucket_open(&history->bucket, &history->bus, FLEET_CONFIGS, NULL,
				&fleet->err);
	if (!ret) {
		status = kvStore_History(&history->list, history->bucket.store, key, NULL);
		if (!status && history->list.Count)
			return WEIR_EXIT_OK;
		ret = -ENOENT;
		if (!status || status == NATS_NOT_FOUND)
			weir_err_set(&fleet->err, "nothing was pushed to group '%s'", group);
		else
			ret = fleet_bus_error(&history->bus, status, key, &fleet->err);
	}
	close_history(history);
	return ret == -ENOENT ? WEIR_EXIT_REFUSED : WEIR_EXIT_UNREACHABLE;
}

/* The revision that is meant, or if none is @back from the newest; NULL with a sentence. */
static kvEntry *find(struct fleet *fleet, struct history *history, int back)
{
	uint64_t wanted = fleet->revision;
	int i, count = history->list.Count;

	if (!wanted && back < count)
		return history->list.Entries[count - 1 - back];
	for (i = 0; wanted && i < count; i++)
		if (kvEntry_Revision(history->list.Entries[i]) == wanted)
			return history->list.Entries[i];
	if (wanted)
		weir_err_set(&fleet->err, "there is no revision %" PRIu64 " of this group; 'weir-fleet log' lists them",
			     wanted);
	else
		weir_err_set(&fleet->err, "there is no earlier revision");
	return NULL;
}

static void show_entry(struct fleet *fleet, struct history *history, kvEntry *entry)
{
	struct weir_out *out = &fleet->out;
	char author[256];

	fleet_bucket_author(&history->bucket, kvEntry_Revision(entry), author, sizeof(author));
	weir_out_begin(out, NULL, '{');
	weir_out_u64(out, "revision", kvEntry_Revision(entry));
	weir_out_word(out, WEIR_COLOR_NAME, "%8" PRIu64, kvEntry_Revision(entry));
	fleet_show_time(out, "when", kvEntry_Created(entry));
	weir_out_u64(out, "bytes", kvEntry_ValueLen(entry));
	weir_out_str(out, "author", author);
	weir_out_word(out, WEIR_COLOR_NONE, "%8d bytes  %s", kvEntry_ValueLen(entry), author);
	weir_out_text(out, "\n");
	weir_out_end(out, '}');
}

int fleet_log(struct fleet *fleet)
{
	struct history history;
	int status = open_history(fleet, &history), i;

	if (status)
		return status;
	weir_out_begin(&fleet->out, NULL, '[');
	for (i = history.list.Count - 1; i >= 0; i--)
		show_entry(fleet, &history, history.list.Entries[i]);
	weir_out_end(&fleet->out, ']');
	close_history(&history);
	return WEIR_EXIT_OK;
}

int fleet_show(struct fleet *fleet)
{
	struct history history;
	int status = open_history(fleet, &history);
	kvEntry *entry;

	if (status)
		return status;
	entry = find(fleet, &history, 0);
	if (entry)
		fwrite(kvEntry_Value(entry), 1, kvEntry_ValueLen(entry), fleet->out.to);
	close_history(&history);
	return entry ? WEIR_EXIT_OK : WEIR_EXIT_REFUSED;
}

int fleet_rollback(struct fleet *fleet)
{
	struct history history;
	int status = open_history(fleet, &history);
	kvEntry *entry, *newest;
	char from[64];

	if (status)
		return status;
	entry = find(fleet, &history, 1);
	newest = history.list.Entries[history.list.Count - 1];
	if (entry) {
		snprintf(from, sizeof(from), "rollback to %" PRIu64, kvEntry_Revision(entry));
		status = fleet_push_config(fleet, &history.bucket, kvEntry_Value(entry),
					   kvEntry_ValueLen(entry), kvEntry_Revision(newest), from);
	}
	close_history(&history);
	return entry ? status : WEIR_EXIT_REFUSED;
}
