// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir save -state: write the configuration and what the module dumps of its sources, message by
 * message, so that a million take no more memory than one.
 */

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state/pending.h"
#include "state/state_file.h"
#include "state/state_message.h"

/* Attempts to dump what changes during the dump: not sources, but the limits themselves. */
#define TRIES		5

struct saving {
	struct weir_tool *tool;
	struct weir_saved_writer writer;
	struct weir_saved_head head;
	FILE *to;
	char *text;		/* of the configuration, until it was written */
	size_t size;
	struct weir_config config, after;
};

/* What precedes the messages, the first of which has the key of the hash. */
static void put_beginning(struct saving *saving)
{
	if (!saving->text)
		return;
	weir_saved_begin(&saving->writer, saving->to);
	weir_saved_put(&saving->writer, WEIR_SAVED_HEAD, &saving->head, sizeof(saving->head));
	weir_saved_put(&saving->writer, WEIR_SAVED_CONFIG, saving->text, saving->size);
	free(saving->text);
	saving->text = NULL;
}

static int take_message(const struct nlmsghdr *msg, void *data)
{
	struct saving *saving = data;
	struct weir_saved_message message;

	if (!weir_saved_message((void *)msg, msg->nlmsg_len, &message)) {
		weir_err_set(&saving->tool->nl.err, "the module sent a message without a limit or its time");
		return -EBADMSG;
	}
	if (saving->text && message.hash_key)
		memcpy(saving->head.hash_key, message.hash_key, WEIR_HASH_KEY_SIZE);
	put_beginning(saving);
	weir_saved_put(&saving->writer, WEIR_SAVED_MESSAGE, msg, msg->nlmsg_len);
	return saving->writer.error ? -ECANCELED : 0;
}

static bool same_limits(const struct weir_config *a, const struct weir_config *b)
{
	char text[WEIR_DIFFERS_SIZE];
	unsigned int i;

	for (i = 0; a->limit_count == b->limit_count && i < a->limit_count; i++) {
		if (strcmp(a->limits[i].name, b->limits[i].name) ||
		    weir_limit_differs(&a->limits[i], &b->limits[i], text))
			return false;
	}
	return a->limit_count == b->limit_count;
}

/* Dump all once; *stable: nothing changed meanwhile. */
static int dump(struct saving *saving, bool *stable)
{
	struct weir_request request = {
		.cmd = WEIR_CMD_STATE_GET, .flags = NLM_F_DUMP, .raw = take_message, .data = saving,
	};
	struct weir_tool *tool = saving->tool;
	int status;

	status = weir_get_config(tool, &saving->config, WEIR_GET_ALL);
	if (!status)
		status = weir_saved_now(tool, &saving->head);
	if (!status)
		status = weir_config_text(tool, &saving->config, &saving->text, &saving->size);
	if (status)
		return status;
	weir_nl_ask(&tool->nl, &request);
	*stable = !request.interrupted;
	request.interrupted = false;
	status = weir_tool_settle(tool, &request, 0);
	if (status || saving->writer.error)
		return status;
	put_beginning(saving);
	weir_saved_end(&saving->writer);
	status = weir_get_config(tool, &saving->after, 0);
	*stable = *stable && !status && same_limits(&saving->config, &saving->after);
	return status;
}

/* Begin again: false if what was written cannot be taken back. */
static bool start_over(FILE *to)
{
	if (fflush(to) || ftruncate(fileno(to), 0))
		return false;
	rewind(to);
	return true;
}

static int put_state(struct weir_out *out, void *data)
{
	struct saving *saving = data;
	int tries, status;
	bool stable = false;

	saving->to = out->to;
	for (tries = 0; tries < TRIES; tries++) {
		if (tries && !start_over(out->to))
			break;
		status = dump(saving, &stable);
		free(saving->text);
		saving->text = NULL;
		out->error = -saving->writer.error;
		if (status || stable || out->error)
			return status;
	}
	weir_err_set(&saving->tool->err, WEIR_KEEPS_CHANGING);
	return WEIR_EXIT_INTERRUPTED;
}

int weir_save_state(struct weir_tool *tool, const char *path)
{
	struct saving *saving = calloc(1, sizeof(*saving));
	int status;

	if (!saving) {
		weir_err_set(&tool->err, WEIR_NO_MEMORY);
		return WEIR_EXIT_OUTPUT;
	}
	saving->tool = tool;
	status = weir_replace_file(tool, path, 0600, put_state, saving);
	weir_config_clear(&saving->config);
	weir_config_clear(&saving->after);
	free(saving);
	return status;
}

static int put_copy(struct weir_out *out, void *data)
{
	FILE *from = fopen(data, "re");
	char part[4096];
	size_t length;

	if (!from)
		return WEIR_EXIT_INTERRUPTED;
	while ((length = fread(part, 1, sizeof(part), from)))
		fwrite(part, 1, length, out->to);
	out->error = ferror(from) ? -EIO : 0;
	fclose(from);
	return WEIR_EXIT_OK;
}

int weir_save(struct weir_tool *tool, const struct weir_command *command, union weir_model *model)
{
	const char *path = model->path.state, *before = path ? weir_state_before(tool) : NULL;
	int status = WEIR_EXIT_INTERRUPTED;

	/* a reboot takes back what was not confirmed */
	if (before)
		status = weir_replace_file(tool, path, 0600, put_copy, (void *)before);
	/* by now it may have been */
	if (status != WEIR_EXIT_INTERRUPTED)
		return status;
	return path ? weir_save_state(tool, path) : weir_save_config(tool, model->path.file);
}
