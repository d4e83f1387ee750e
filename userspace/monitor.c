// SPDX-License-Identifier: GPL-2.0-or-later
/* weir monitor: one line an event, as they come. */

#include <errno.h>
#include <linux/netlink.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

struct watch {
	struct weir_tool *tool;
	/* windows of the limits, which events of sources do not tell */
	struct weir_limit limits[WEIR_LIMITS_MAX];
	unsigned int count;
};

static void begin_line(struct watch *watch)
{
	weir_out_line(&watch->tool->out);
	if (watch->tool->timestamp)
		weir_show_timestamp(&watch->tool->out);
}

static struct weir_limit *find(struct watch *watch, const char *name)
{
	unsigned int i;

	for (i = 0; i < watch->count; i++) {
		if (!strcmp(watch->limits[i].name, name))
			return &watch->limits[i];
	}
	return NULL;
}

static void remember(struct watch *watch, const struct weir_limit *limit)
{
	struct weir_limit *known = find(watch, limit->name);

	if (known && limit->has & WEIR_HAS(LIMIT_EVENT) && limit->event == WEIR_LIMIT_EVENT_REMOVED)
		*known = watch->limits[--watch->count];
	else if (known)
		*known = *limit;
	else if (watch->count < WEIR_LIMITS_MAX)
		watch->limits[watch->count++] = *limit;
}

static int show_present(const void *model, void *data)
{
	struct watch *watch = data;

	remember(watch, model);
	begin_line(watch);
	weir_show_limit_event(&watch->tool->out, "present", model);
	weir_out_line_end(&watch->tool->out);
	return watch->tool->out.error ? -ECANCELED : 0;
}

/* Show the limits that there are; an enum weir_exit. */
static int show_limits(struct watch *watch)
{
	struct weir_request request = {
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP,
		.told = &weir_limit_fields, .reply = show_present, .data = watch,
	};

	do {
		watch->count = 0;
		weir_nl_ask(&watch->tool->nl, &request);
	} while (!request.ret && request.interrupted);
	return weir_tool_settle(watch->tool, &request, 0);
}

static void show_event(uint8_t cmd, const void *model, void *data)
{
	const struct weir_limit *limit = model;
	const struct weir_source *source = model;
	struct watch *watch = data;
	struct weir_out *out = &watch->tool->out;

	begin_line(watch);
	switch (cmd) {
	case WEIR_CMD_LIMIT_NTF:
		remember(watch, limit);
		weir_show_limit_event(out, limit->event <= WEIR_LIMIT_EVENT_REMOVED ?
				      weir_limit_event_names[limit->event] :
				      "unknown", limit);
		break;
	case WEIR_CMD_SOURCE_NTF:
		limit = find(watch, source->limit);
		weir_show_source_event(out, source, limit ? limit->budget.window_ms : 0);
		break;
	default:
		weir_show_pressure_event(out, model);
	}
	weir_out_line_end(out);
}

static void show_lost(struct watch *watch)
{
	struct weir_out *out = &watch->tool->out;

	begin_line(watch);
	weir_out_str(out, "event", "lost");
	weir_out_word(out, WEIR_COLOR_NONE, "events lost, resync");
	weir_out_line_end(out);
}

/* Whoever read has gone: end as the next write would. */
static int lose_reader(struct weir_tool *tool)
{
	raise(SIGPIPE);
	weir_err_set(&tool->err, WEIR_CANNOT_WRITE, strerror(EPIPE));
	return WEIR_EXIT_OUTPUT;
}

/* Show events until something fails. */
static int follow(struct watch *watch, int fd)
{
	int status = show_limits(watch), ret;

	while (!status && !watch->tool->out.error) {
		ret = weir_nl_listen(&watch->tool->nl, fd, fileno(watch->tool->out.to),
				     show_event, watch);
		switch (ret) {
		case 0:
			break;
		case -ENOBUFS:
			show_lost(watch);
			status = show_limits(watch);
			break;
		case -EPIPE:
			return lose_reader(watch->tool);
		case -ESHUTDOWN:
			weir_err_set(&watch->tool->err, "the kernel module was unloaded");
			return WEIR_EXIT_UNREACHABLE;
		default:
			watch->tool->err = watch->tool->nl.err;
			return WEIR_EXIT_UNREACHABLE;
		}
	}
	return status;		/* of the output main says it */
}

int weir_monitor(struct weir_tool *tool, const struct weir_command *command,
		 union weir_model *model)
{
	static struct watch watch;
	int fd, status;

	watch.tool = tool;
	/* subscribed first, so that nothing falls between */
	fd = weir_nl_subscribe(&tool->nl);
	if (fd < 0) {
		tool->err = tool->nl.err;
		return fd == -EPERM ? WEIR_EXIT_REFUSED : WEIR_EXIT_UNREACHABLE;
	}
	status = follow(&watch, fd);
	close(fd);
	return status;
}
