// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir restore: go on with a saved state. The file is read twice: before anything is changed, to
 * check all of it, and to give the module its messages.
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "state/state.h"
#include "state/state_file.h"
#include "state/state_message.h"

#define NS_PER_MS	1000000LL

struct restoring {
	struct weir_saved_reader reader;
	struct weir_saved saved;
	struct weir_restored told;
	struct weir_config there;	/* what is in force */
	struct weir_saved_head now;
	bool again;			/* it was saved a moment ago, */
	bool early;			/* and its XDP programs, too, are to be attached */
};

/* What passed since it was saved: across a reboot by the clock on the wall, if that went on. */
static uint64_t age_of(const struct weir_saved_head *was, const struct weir_saved_head *now)
{
	bool same = *now->boot_id && !strcmp(was->boot_id, now->boot_id);
	uint64_t then = same ? was->boot_ns : was->wall_ns;
	uint64_t here = same ? now->boot_ns : now->wall_ns;

	return here > then ? here - then : 0;
}

/* Read all of it: the configuration is kept, and what is in the messages is counted. */
static int verify(struct weir_tool *tool, struct restoring *restoring)
{
	struct weir_saved_reader *reader = &restoring->reader;
	struct weir_saved_message message;
	int ret;

	while ((ret = weir_saved_next(reader, &tool->err)) > 0) {
		if (reader->type == WEIR_SAVED_CONFIG) {
			restoring->saved.text = reader->data;
			restoring->saved.size = reader->length;
			reader->data = NULL;
			reader->room = 0;
		}
		/* the rest is checked as it is given to the module */
		if (reader->type == WEIR_SAVED_CONFIG && restoring->again)
			return 0;
		if (reader->type != WEIR_SAVED_MESSAGE)
			continue;
		if (!weir_saved_message(reader->data, reader->length, &message))
			return weir_err_set(&tool->err,
					    "%.200s: no message of the module at offset %" PRIu64,
					    reader->path, reader->offset);
		restoring->told.sources += message.sources;
	}
	return ret;
}

static int prepare(struct weir_tool *tool, struct weir_config *config, void *data)
{
	struct restoring *restoring = data;
	struct weir_restored *told = &restoring->told;
	unsigned int i;

	if (restoring->again && !restoring->early)
		config->early_count = 0;
	told->limits = config->limit_count;
	for (i = 0; i < config->exempt_count; i++)
		told->blocked_prefixes += config->exempts[i].block;
	told->exempts = config->exempt_count - told->blocked_prefixes;
	if (tool->check)
		return WEIR_EXIT_OK;
	config->hold = true;
	memcpy(config->hash_key, restoring->reader.head.hash_key, sizeof(config->hash_key));
	return WEIR_EXIT_OK;
}

/* Shorten a block that ends. */
static int shorten(const struct weir_saved_source *source, void *by_ns)
{
	uint64_t left = UINT64_MAX;

	if (source->blocked_ns)
		memcpy(&left, source->blocked_ns, sizeof(left));
	if (left == UINT64_MAX)
		return 0;
	left -= MIN(left, *(uint64_t *)by_ns);
	memcpy(source->blocked_ns, &left, sizeof(left));
	return 0;
}

/* The time of a message by the module's clock, which began anew if there was a reboot. */
static void convert(const struct restoring *restoring, struct weir_saved_message *message)
{
	const struct weir_saved_head *was = &restoring->reader.head, *now = &restoring->now;
	uint64_t age = age_of(was, now), time, after, clock;

	if (*now->boot_id && !strcmp(was->boot_id, now->boot_id))
		return;
	memcpy(&time, message->clock_ns, sizeof(time));
	after = time > was->clock_ns ? time - was->clock_ns : 0;
	age -= MIN(age, after);
	/* the clock was rounded down to a tick, and may have begun later */
	clock = now->clock_ns + now->tick_ns;
	time = clock - MIN(age, clock);
	memcpy(message->clock_ns, &time, sizeof(time));
	age -= clock - time;
	if (age)
		weir_saved_sources(message, shorten, &age);
}

static int merge_message(struct weir_tool *tool, struct restoring *restoring)
{
	struct weir_restored *told = &restoring->told;
	struct weir_saved_message message;
	struct weir_merged merged = { 0 };
	struct weir_request request = {
		.cmd = WEIR_CMD_SOURCE_MERGE, .reply_set = &weir_merged_fields, .into = &merged,
		.once = true,
	};
	int status;

	if (!weir_saved_message(restoring->reader.data, restoring->reader.length, &message)) {
		weir_err_set(&tool->err, "%.200s: changed while it was read",
			     restoring->reader.path);
		return WEIR_EXIT_REFUSED;
	}
	convert(restoring, &message);
	request.attrs = message.attrs;
	request.attrs_len = message.attrs_len;
	weir_nl_ask(&tool->nl, &request);
	status = weir_tool_settle(tool, &request, 0);
	if (status) {
		weir_err_set(&tool->err, "the sources of limit '%.40s': %.300s", message.limit,
			     tool->nl.err.text);
		return status;
	}
	told->merged += merged.merged;
	told->evicted += merged.evicted;
	told->blocks_lost += merged.blocks_lost;
	told->skipped += merged.skipped;
	return WEIR_EXIT_OK;
}

static int merge_all(struct weir_tool *tool, struct restoring *restoring)
{
	struct weir_saved_reader *reader = &restoring->reader;
	struct weir_saved_head before;
	int status, ret;

	weir_saved_clocks(&before);
	status = weir_saved_now(tool, &restoring->now);
	if (status)
		return status;
	/* an age may be too short, but not too long */
	restoring->now.wall_ns = before.wall_ns;
	if (weir_saved_rewind(reader, &tool->err))
		return WEIR_EXIT_REFUSED;
	while ((ret = weir_saved_next(reader, &tool->err)) > 0) {
		status = reader->type == WEIR_SAVED_MESSAGE ? merge_message(tool, restoring) :
			 WEIR_EXIT_OK;
		if (status)
			return status;
	}
	return ret ? WEIR_EXIT_REFUSED : WEIR_EXIT_OK;
}

/* Reach the module and look at what is in force. */
static int look_around(struct weir_tool *tool, struct restoring *restoring)
{
	int status;

	tool->loads = true;
	status = weir_tool_reach(tool);
	return status ? status : weir_get_config(tool, &restoring->there, WEIR_GET_ALL);
}

/* May what is in force be replaced? */
static int check_way(struct weir_tool *tool, struct restoring *restoring)
{
	int status = look_around(tool, restoring);

	if (status || tool->force || weir_config_is_empty(&restoring->there))
		return status;
	weir_err_set(&tool->err, "limits, exemptions or lists are in force; -force replaces them and their counts");
	return WEIR_EXIT_REFUSED;
}

/* Fill the limits, which the module holds for the socket, and put them in force. */
static int fill(struct weir_tool *tool, struct weir_config *config, void *data)
{
	struct weir_request publish = { .cmd = WEIR_CMD_CONFIG_PUBLISH, .once = true };
	struct restoring *restoring = data;
	int status;

	/* others may have changed something until it was held */
	status = tool->force ? WEIR_EXIT_OK : check_way(tool, restoring);
	if (!status)
		status = merge_all(tool, restoring);
	if (!status) {
		weir_nl_ask(&tool->nl, &publish);
		status = weir_tool_settle(tool, &publish, 0);
	}
	if (status)
		weir_nl_close(&tool->nl);
	return status;
}

/* Say what did not find its place. */
static void warn(struct weir_tool *tool, const struct weir_restored *told)
{
	char text[256] = "", part[128];

	snprintf(part, sizeof(part), "%" PRIu64 " live sources found no place, or lost it to others",
		 told->evicted);
	if (told->evicted)
		weir_append(text, sizeof(text), "; ", part);
	snprintf(part, sizeof(part), "%" PRIu64 " blocks had no room", told->blocks_lost);
	if (told->blocks_lost)
		weir_append(text, sizeof(text), "; ", part);
	snprintf(part, sizeof(part), "%" PRIu64 " link-local sources were left out, as their device does not exist",
		 told->skipped);
	if (told->skipped)
		weir_append(text, sizeof(text), "; ", part);
	if (*text)
		weir_note(tool, "warning", "restore: %s", text);
}

static void show(struct weir_tool *tool, const struct weir_restored *told)
{
	struct weir_out *out = &tool->out;

	if (!tool->check && !out->json)
		return;
	weir_out_begin(out, NULL, '[');
	weir_show_item(out, &weir_restored_fields, WEIR_RESULT | (tool->check ? 0 : WEIR_EVENT),
		       told);
	weir_out_end(out, ']');
}

static int restore(struct weir_tool *tool, struct restoring *restoring)
{
	const char *path = restoring->reader.path;
	struct weir_restored *told = &restoring->told;
	struct weir_saved_head now;
	int status;

	if (verify(tool, restoring))
		return WEIR_EXIT_WORDS;
	status = tool->check ? WEIR_EXIT_OK : check_way(tool, restoring);
	if (status)
		return status;
	weir_saved_clocks(&now);
	told->age_ns = age_of(&restoring->reader.head, &now);
	told->saved = restoring->reader.head.wall_ns / WEIR_NS_PER_S;
	tool->ahead_ms = (int64_t)(now.wall_ns - restoring->reader.head.wall_ns - told->age_ns) /
			 NS_PER_MS;
	restoring->saved.file = path;
	restoring->saved.before = prepare;
	restoring->saved.after = fill;
	restoring->saved.data = restoring;
	restoring->saved.again = restoring->again;
	status = weir_apply_saved(tool, &restoring->saved);
	tool->ahead_ms = 0;
	restoring->saved.text = NULL;
	if (status) {
		weir_err_set(&tool->err, "the state in %.200s was not restored", path);
		return status;
	}
	warn(tool, told);
	return WEIR_EXIT_OK;
}

static struct restoring restoring;

/* Restore the state in a file; restoring.told: what it had, and what became of that. */
static int restore_file(struct weir_tool *tool, const char *path, bool again)
{
	int status = WEIR_EXIT_WORDS;

	memset(&restoring.told, 0, sizeof(restoring.told));
	restoring.saved = (struct weir_saved){ 0 };
	restoring.again = again;
	if (!weir_saved_open(&restoring.reader, path, &tool->err))
		status = restore(tool, &restoring);
	weir_saved_close(&restoring.reader);
	free(restoring.saved.text);
	weir_config_clear(&restoring.there);
	return status;
}

int weir_restore(struct weir_tool *tool, const struct weir_command *command,
		 union weir_model *model)
{
	int status = restore_file(tool, model->path.file, false);

	if (!status)
		show(tool, &restoring.told);
	return status;
}

int weir_restore_again(struct weir_tool *tool, const char *path, bool early)
{
	restoring.early = early;
	return restore_file(tool, path, true);
}

int weir_restore_check(struct weir_tool *tool, const char *path)
{
	bool check = tool->check;
	int status;

	tool->check = true;
	status = restore_file(tool, path, true);
	tool->check = check;
	return status;
}

void weir_resume(struct weir_tool *tool, const char *path)
{
	char aside[PATH_MAX];
	bool moved, idle;
	int status;

	if (access(path, F_OK) && errno == ENOENT)
		return;
	idle = !look_around(tool, &restoring) && weir_config_is_empty(&restoring.there);
	weir_config_clear(&restoring.there);
	if (!idle)
		return;
	status = restore_file(tool, path, false);
	tool->resumed = !status;
	if (!status || status == WEIR_EXIT_UNREACHABLE)
		return;
	snprintf(aside, sizeof(aside), "%s.bad", path);
	moved = !rename(path, aside);
	weir_note(tool, "warning", "%.300s: all counts begin anew%s%.300s", tool->err.text,
		  moved ? "; the file is kept as " : "", moved ? aside : "");
}
