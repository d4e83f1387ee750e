// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir -batch: one command per line. Consecutive commands "add" or "del" of exemptions or
 * blocked prefixes are sent in one request, as the kernel copies all of them and waits for a
 * grace period in each request that changes one.
 */

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "commands/commands.h"

struct batch {
	struct weir_tool *tool;
	FILE *input;
	const struct weir_command *command;	/* of the lines gathered */
	char what[16];		/* its words */
	unsigned int most;	/* lines in the next request */
	size_t length;		/* of the line that has been read in part */
	bool exist, force;	/* of all lines */
	int status;		/* of the first failure; or WEIR_EXIT_OK */
};

/* Too large for the stack: what the lines gathered say, and what is sent of it. */
static struct weir_config gathered, sent;

static bool stopped(const struct batch *batch)
{
	return batch->status && !batch->force;
}

static void keep_status(struct batch *batch, int status)
{
	if (!batch->status)
		batch->status = status;
	batch->tool->changed |= status != WEIR_EXIT_WORDS && status != WEIR_EXIT_REFUSED;
}

/* The request of exemptions: one as its command makes it, several at once. */
static struct weir_request request_of(const struct batch *batch, struct weir_exempt *exempt,
				      unsigned int count)
{
	bool add = batch->command->verb == WEIR_ON_ADD;

	if (count == 1)
		return weir_request_of(batch->command, exempt);
	sent.exempts = exempt;
	sent.exempt_count = count;
	sent.add = add;
	sent.del = !add;
	return (struct weir_request){
		.cmd = WEIR_CMD_CONFIG_REPLACE, .set = &weir_config_fields,
		.verb = batch->command->verb, .model = &sent,
	};
}

/*
 * Send at most batch->most lines in one request, and return how many are done. If several
 * were refused, or are too large to be sent, nothing has changed, and the next request has
 * half of them, so that a line that fails is found, and reported by itself. After it the
 * requests grow again, while they succeed: most lines may fail, as when all exist.
 */
static unsigned int send_part(struct batch *batch, struct weir_exempt *exempt, unsigned int count)
{
	const struct weir_exempt *end = exempt + count;
	struct weir_tool *tool = batch->tool;
	struct weir_request request;
	int status;

	request = request_of(batch, exempt, count);
	tool->line = exempt->line;
	weir_nl_ask(&tool->nl, &request);
	if (count > 1 && (request.refused || request.ret == -EMSGSIZE)) {
		batch->most = count / 2;
		return 0;
	}
	batch->most = request.ret ? 1 : 2 * count;
	if (request.place && request.place <= count)
		tool->line = exempt[request.place - 1].line;
	status = weir_tool_settle(tool, &request, batch->command->allowed);
	keep_status(batch, status);
	if (status)
		weir_complain(tool, request.refused ? batch->what : NULL);
	for (; !status && batch->command->note && exempt < end; exempt++) {
		tool->line = exempt->line;
		batch->command->note(tool, exempt);
	}
	return count;
}

static void flush(struct batch *batch)
{
	unsigned int done = 0, count = gathered.exempt_count;

	batch->most = count;
	gathered.exempt_count = 0;
	gathered.block_count = 0;
	while (done < count && !stopped(batch))
		done += send_part(batch, gathered.exempts + done, MIN(batch->most, count - done));
}

/* Is it a command of which many can be sent at once? */
static bool joins(const struct weir_lines *lines)
{
	return lines->count >= 3 && weir_word_among("exempt block", lines->words[0]) &&
	       weir_word_among("add del delete", lines->words[1]);
}

/* Take a line that can be sent with others. */
static bool gather(struct batch *batch, struct weir_lines *lines)
{
	struct weir_tool *tool = batch->tool;
	struct weir_args args = { .words = lines->words, .count = lines->count,
				  .exact = true, .err = &tool->err };
	struct weir_reading reading;

	tool->loads = true;
	if (tool->check || !joins(lines) || weir_read(&args, &reading) || weir_tool_reach(tool))
		return false;
	if (gathered.exempt_count == WEIR_EXEMPTS_MAX ||
	    (gathered.exempt_count && reading.command != batch->command))
		flush(batch);
	if (stopped(batch))
		return true;
	reading.model.exempt.line = lines->line;
	reading.model.exempt.replace = tool->exist && reading.command->verb == WEIR_ON_ADD;
	reading.model.exempt.force = tool->force;
	tool->line = lines->line;
	if (weir_config_add_exempt(&gathered, &reading.model.exempt, &tool->err))
		return false;
	batch->command = reading.command;
	snprintf(batch->what, sizeof(batch->what), "%s %s", reading.object->name,
		 reading.command->name);
	return true;
}

/* Before reading may wait for a writer, send what has been gathered. */
static ssize_t read_input(void *data, char *room, size_t size)
{
	struct batch *batch = data;
	struct pollfd fd = { .fd = fileno(batch->input), .events = POLLIN };
	const char *end;
	ssize_t len;

	if (poll(&fd, 1, 0) <= 0)
		flush(batch);
	len = stopped(batch) ? 0 : read(fd.fd, room, size);
	end = len > 0 ? memrchr(room, '\n', len) : NULL;
	batch->length = end ? (size_t)(room + len - end) : batch->length + MAX(len, 0);
	/* a line that is too long is not read to its end, which may never come */
	if (batch->length <= 2 * WEIR_LINE_BYTES)
		return len;
	errno = EFBIG;
	return -1;
}

static void run_line(struct batch *batch, struct weir_lines *lines, int ret,
		     const struct weir_err *err)
{
	struct weir_tool *tool = batch->tool;
	int status = WEIR_EXIT_WORDS;

	tool->line = lines->line;
	tool->limits_asked = false;
	tool->spare_asked = false;
	if (ret > 0) {
		status = weir_run_words(tool, lines->words, lines->count, lines);
	} else {
		tool->err = *err;
		weir_lines_point(lines, 0, tool);
		weir_complain(tool, NULL);
	}
	keep_status(batch, status);
}

/* Options before a command are for its line alone. Lines with and without -exist are not joined. */
static void take_options(struct batch *batch, struct weir_lines *lines)
{
	bool exist = batch->exist, force = batch->force;

	for (; lines->count > 1; lines->count--) {
		if (!strcmp(lines->words[0], "-exist"))
			exist = true;
		else if (!strcmp(lines->words[0], "-force"))
			force = true;
		else
			break;
		memmove(lines->words, lines->words + 1, lines->count * sizeof(*lines->words));
		memmove(lines->at, lines->at + 1, lines->count * sizeof(*lines->at));
	}
	if (batch->tool->exist != exist)
		flush(batch);
	batch->tool->exist = exist;
	batch->tool->force = force;
}

int weir_run_batch(struct weir_tool *tool, const char *path)
{
	struct weir_lines lines = { 0 };
	struct batch batch = { .tool = tool, .exist = tool->exist, .force = tool->force };
	struct weir_err err = { .text = WEIR_NO_MEMORY };
	int ret;

	tool->file = path;
	batch.input = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (!batch.input)
		weir_err_set(&err, "cannot open: %s", strerror(errno));
	else
		lines.file = fopencookie(&batch, "r",
					 (cookie_io_functions_t){ .read = read_input });
	lines.failed = !lines.file;
	do {
		ret = lines.failed ? -EINVAL : weir_lines_next(&lines, &err);
		if (ret > 0)
			take_options(&batch, &lines);
		if (ret > 0 && gather(&batch, &lines))
			continue;
		flush(&batch);
		if (ret && !stopped(&batch))
			run_line(&batch, &lines, ret, &err);
	} while (ret && !lines.failed && !stopped(&batch));
	tool->exist = batch.exist;
	tool->force = batch.force;
	weir_lines_close(&lines);
	if (batch.input && batch.input != stdin)
		fclose(batch.input);
	weir_notes_end(tool);
	return batch.status;
}
