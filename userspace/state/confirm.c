// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir -confirm TIME ...: a change that is taken back unless weir confirm comes in time. What was
 * in force is saved and the deadline is running before the change is made, so whenever the tool is
 * killed, either nothing has changed, or the deadline takes it back.
 */

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "state/pending.h"

#define NS_PER_MS	1000000ULL

#define NOTHING	"no change waits to be confirmed; one whose time is over has been taken back"

/* How often to look whether another process has finished. */
#define PAUSE_NS	10000000

/* Of the change that this process makes. */
static struct weir_brake brake = { .lock = -1 };

static const char *left_text(const struct weir_pending *change, char buf[WEIR_TEXT_SIZE])
{
	uint64_t seconds = (change->left_ns + 999 * NS_PER_MS) / (1000 * NS_PER_MS);

	return weir_text_time((seconds ? seconds : 1) * 1000 * NS_PER_MS, buf);
}

static int nothing_pending(struct weir_tool *tool)
{
	weir_err_set(&tool->err, NOTHING);
	return WEIR_EXIT_REFUSED;
}

/* The files of a change that another process has made; an enum weir_exit with a sentence. */
static int find(struct weir_tool *tool, struct weir_brake *found)
{
	int ret = weir_brake_open(tool, found, false);

	return !ret ? WEIR_EXIT_OK : ret == -ENOENT ? nothing_pending(tool) : WEIR_EXIT_REFUSED;
}

/* Is there a change? For those who may not know, there is none. */
static bool look(struct weir_brake *found)
{
	weir_brake_name(found);
	return weir_brake_read(found) > 0;
}

/* Likewise, but -errno with a sentence if that cannot be known: what was saved must not be lost. */
static int is_pending(struct weir_tool *tool, struct weir_brake *found)
{
	int ret = weir_brake_read(found);

	if (ret < 0)
		weir_err_set(&tool->err, "%.200s: " WEIR_CANNOT_READ, found->record,
			     strerror(-ret));
	return ret;
}

/* Nothing is pending from here on; an enum weir_exit with a sentence if it still is. */
static int drop(struct weir_tool *tool, const struct weir_brake *done)
{
	/* first: from here on a deadline that comes finds nothing to do */
	if (unlink(done->record) && errno != ENOENT) {
		weir_err_set(&tool->err, "cannot remove %s: %s", done->record, strerror(errno));
		return WEIR_EXIT_REFUSED;
	}
	weir_deadline_stop(done);
	unlink(done->state);
	return WEIR_EXIT_OK;
}

static void describe(struct weir_pending *change, const struct weir_tool *tool, char **words,
		     int count)
{
	char *at;
	int i;

	change->deadline_ns = weir_clock_ns(CLOCK_MONOTONIC) + tool->confirm_ms * NS_PER_MS;
	change->until = weir_clock_ns(CLOCK_REALTIME) / WEIR_NS_PER_S + tool->confirm_ms / 1000;
	change->tool = getpid();
	if (tool->config_file && strcmp(tool->config_file, "-") &&
	    !realpath(tool->config_file, change->file))
		*change->file = '\0';
	for (i = 0; i < count; i++)
		weir_append(change->command, sizeof(change->command), " ", words[i]);
	for (at = change->command; *at; at++)
		if (*at == '\n')
			*at = ' ';
}

/* Become who may finish a change. A tool that hangs while it makes one is not waited for. */
static void take_over(struct weir_brake *found)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	pid_t pid;

	while (!weir_brake_lock(found, WEIR_BRAKE_CHANGE, false)) {
		pid = weir_brake_holder(found, WEIR_BRAKE_CHANGE);
		if (weir_brake_read(found) > 0 && !found->change.left_ns && pid > 0 &&
		    pid == found->change.tool)
			kill(pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
}

static int undo(struct weir_tool *tool)
{
	bool quiet = tool->quiet;
	struct weir_brake found;
	int status, ret;

	weir_brake_name(&found);
	status = find(tool, &found);
	if (status)
		return tool->exist && weir_brake_read(&found) == 0 ? WEIR_EXIT_OK : status;
	/* A tool that has not written its record yet is waited for, or ended: it holds the lock. */
	take_over(&found);
	ret = is_pending(tool, &found);
	if (!ret)
		unlink(found.state);
	if (ret <= 0) {
		weir_brake_close(&found);
		return ret ? WEIR_EXIT_REFUSED : tool->exist ? WEIR_EXIT_OK : nothing_pending(tool);
	}
	tool->force = true;
	tool->quiet = true;
	status = weir_restore_again(tool, found.state, true);
	if (!status)
		status = drop(tool, &found);
	weir_brake_close(&found);
	tool->quiet = quiet;
	if (status) {
		weir_err_set(&tool->err, "%.300s; 'weir confirm revert' tries again",
			     tool->err.text);
		return status;
	}
	weir_note(tool, "note", "taken back: %s", found.change.command);
	weir_note(tool, "note", "counts and blocks are as they were; the counters that -s shows begin at 0");
	weir_mark_note(tool, found.change.file);
	return status;
}

static int check_saved(struct weir_tool *tool)
{
	struct weir_err err;

	if (!weir_restore_check(tool, brake.state))
		return WEIR_EXIT_OK;
	err = tool->err;
	weir_err_set(&tool->err, "this could not be taken back: %.400s", err.text);
	return WEIR_EXIT_REFUSED;
}

/* What has to be there before the change is made, in this order. */
static int prepare(struct weir_tool *tool)
{
	struct weir_err err;
	int status;

	/* of one that was killed before it changed anything */
	weir_deadline_stop(&brake);
	status = weir_save_state(tool, brake.state);
	if (!status)
		status = check_saved(tool);
	if (!status)
		status = weir_deadline_start(tool, &brake, undo);
	if (!status)
		status = weir_brake_write(tool, &brake);
	err = tool->err;
	if (status)
		drop(tool, &brake);
	tool->err = err;
	return status == WEIR_EXIT_OUTPUT ? WEIR_EXIT_REFUSED : status;
}

int weir_confirm_begin(struct weir_tool *tool, char **words, int count)
{
	char time[WEIR_TEXT_SIZE];
	int status, ret;

	tool->loads = true;
	status = weir_tool_reach(tool);
	if (status)
		return status;
	if (weir_brake_open(tool, &brake, true))
		return WEIR_EXIT_REFUSED;
	if (!weir_brake_lock(&brake, WEIR_BRAKE_CHANGE, false)) {
		weir_err_set(&tool->err, "another change with -confirm is being made, confirmed or taken back");
		return WEIR_EXIT_REFUSED;
	}
	ret = is_pending(tool, &brake);
	if (ret < 0)
		return WEIR_EXIT_REFUSED;
	if (ret) {
		weir_err_set(&tool->err, "'%.200s' waits to be confirmed, and is taken back in %s: first use 'weir confirm', or 'weir confirm revert'",
			     brake.change.command, left_text(&brake.change, time));
		return WEIR_EXIT_REFUSED;
	}
	describe(&brake.change, tool, words, count);
	return prepare(tool);
}

int weir_confirm_end(struct weir_tool *tool, int status, bool partly)
{
	bool unchanged = !partly && (status == WEIR_EXIT_WORDS || status == WEIR_EXIT_REFUSED ||
				     (tool->spared && !tool->answers));
	uint64_t now = weir_clock_ns(CLOCK_MONOTONIC);
	struct weir_err err = tool->err;
	char time[WEIR_TEXT_SIZE];

	tool->file = NULL;
	tool->line = 0;
	unchanged = unchanged && !drop(tool, &brake);
	tool->err = err;
	if (!unchanged) {
		brake.change.left_ns = brake.change.deadline_ns > now ?
				       brake.change.deadline_ns - now : 0;
		weir_note(tool, "note", "this is taken back in %s, unless 'weir%s%.200s confirm' comes before",
			  left_text(&brake.change, time), tool->netns ? " -n " : "",
			  tool->netns ? tool->netns : "");
	}
	weir_brake_close(&brake);
	return status;
}

static int keep(struct weir_tool *tool)
{
	struct weir_brake found;
	int status = find(tool, &found), ret;

	if (status)
		return status;
	weir_brake_lock(&found, WEIR_BRAKE_CHANGE, true);
	ret = is_pending(tool, &found);
	if (ret <= 0) {
		status = ret ? WEIR_EXIT_REFUSED : nothing_pending(tool);
	} else {
		status = drop(tool, &found);
		if (!status)
			weir_mark_clear(tool, found.change.file);
	}
	weir_brake_close(&found);
	return status;
}

int weir_confirm(struct weir_tool *tool, const struct weir_command *command,
		 union weir_model *model)
{
	struct weir_brake found;

	if (tool->confirm) {
		weir_err_set(&tool->err, "a change cannot confirm itself; confirm it afterwards");
		return WEIR_EXIT_REFUSED;
	}
	if (tool->check)
		return look(&found) ? WEIR_EXIT_OK : nothing_pending(tool);
	return command->verb == WEIR_ON_DEL ? undo(tool) : keep(tool);
}

int weir_confirm_show(struct weir_tool *tool, const struct weir_command *command,
		      union weir_model *model)
{
	struct weir_out *out = &tool->out;
	struct weir_brake found;

	weir_out_begin(out, NULL, '[');
	if (look(&found))
		weir_show_item(out, &weir_pending_fields, WEIR_RESULT, &found.change);
	else if (!out->json)
		weir_note(tool, "note", NOTHING);
	weir_out_end(out, ']');
	return WEIR_EXIT_OK;
}

void weir_note_pending(struct weir_tool *tool, const void *model)
{
	char time[WEIR_TEXT_SIZE];
	struct weir_brake found;

	if (look(&found))
		weir_note(tool, "note", "'%.200s' waits for 'weir confirm', and is taken back in %s",
			  found.change.command, left_text(&found.change, time));
}

void weir_warn_pending(struct weir_tool *tool, bool drops)
{
	char time[WEIR_TEXT_SIZE];
	struct weir_brake found;

	if (tool->confirm)
		return;
	if (!tool->check && look(&found))
		weir_note(tool, "warning", "unless 'weir confirm' comes before, this is taken back in %s, with '%.200s'",
			  left_text(&found.change, time), found.change.command);
	else if (drops && getenv("SSH_TTY"))
		weir_note(tool, "note", "over ssh, 'weir -confirm 60s ...' takes a change back unless you confirm it");
}
