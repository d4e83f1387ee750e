// SPDX-License-Identifier: GPL-2.0-or-later
/* weir monitor: one line an event, as they come. */

#include <errno.h>
#include <linux/netlink.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

/* In a second, as text, so many sources are told to have become limited. */
#define LIMITED_MOST	10

struct watch {
	struct weir_tool *tool;
	const struct weir_wanted *wanted;
	time_t second;			/* in which that many were told: */
	unsigned int limited, more;	/* and so many more were not */
	/* windows of the limits, which source events do not contain */
	struct weir_limit limits[WEIR_LIMITS_MAX];
	unsigned int count;
};

static void begin_line(struct watch *watch)
{
	weir_out_line(&watch->tool->out);
	if (watch->tool->timestamp)
		weir_show_timestamp(&watch->tool->out);
}

static bool wants(const struct watch *watch, bool kind, const char *limit)
{
	const struct weir_wanted *wanted = watch->wanted;

	if (!kind && (wanted->limits || wanted->exempts || wanted->sources || wanted->pressure))
		return false;
	return !*wanted->limit || !*limit || !strcmp(wanted->limit, limit);
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
	if (!wants(watch, watch->wanted->limits, ((const struct weir_limit *)model)->name))
		return 0;
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

/* A flood does not fill the screen: once its second is over, how many more there were. */
static void show_more(struct watch *watch)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == watch->second)
		return;
	if (watch->more) {
		begin_line(watch);
		weir_out_word(&watch->tool->out, WEIR_COLOR_BAD, "limited %u more sources",
			      watch->more);
		weir_out_line_end(&watch->tool->out);
	}
	watch->second = now.tv_sec;
	watch->limited = 0;
	watch->more = 0;
}

static const char *change_name(uint32_t event)
{
	return event <= WEIR_LIMIT_EVENT_RESET ? weir_limit_event_names[event] : "unknown";
}

static void show_limit(struct watch *watch, const struct weir_limit *limit)
{
	remember(watch, limit);
	if (!wants(watch, watch->wanted->limits, limit->name))
		return;
	begin_line(watch);
	weir_show_limit_event(&watch->tool->out, change_name(limit->event), limit);
	weir_out_line_end(&watch->tool->out);
}

static void show_exempt(struct watch *watch, const struct weir_exempt *exempt)
{
	if (!wants(watch, watch->wanted->exempts, exempt->limit))
		return;
	begin_line(watch);
	weir_show_exempt_event(&watch->tool->out, change_name(exempt->event), exempt);
	weir_out_line_end(&watch->tool->out);
}

static void show_source(struct watch *watch, const struct weir_source *source)
{
	const struct weir_limit *limit = find(watch, source->limit);

	if (!wants(watch, watch->wanted->sources, source->limit))
		return;
	if (source->event == WEIR_SOURCE_EVENT_LIMITED && !watch->tool->out.json) {
		show_more(watch);
		if (watch->limited == LIMITED_MOST) {
			watch->more++;
			return;
		}
		watch->limited++;
	}
	begin_line(watch);
	weir_show_source_event(&watch->tool->out, source, limit ? limit->budget.window_ms : 0);
	weir_out_line_end(&watch->tool->out);
}

static void show_pressure(struct watch *watch, const struct weir_pressure *pressure)
{
	if (!wants(watch, watch->wanted->pressure, pressure->limit))
		return;
	begin_line(watch);
	weir_show_pressure_event(&watch->tool->out, pressure);
	weir_out_line_end(&watch->tool->out);
}

static void show_event(uint8_t cmd, const void *model, void *data)
{
	switch (cmd) {
	case WEIR_CMD_LIMIT_NTF:
		return show_limit(data, model);
	case WEIR_CMD_EXEMPT_NTF:
		return show_exempt(data, model);
	case WEIR_CMD_SOURCE_NTF:
		return show_source(data, model);
	default:
		return show_pressure(data, model);
	}
}

static void show_lost(struct watch *watch)
{
	struct weir_out *out = &watch->tool->out;

	begin_line(watch);
	weir_out_str(out, "event", "lost");
	weir_out_word(out, WEIR_COLOR_NONE, "events lost, resync");
	weir_out_line_end(out);
}

/* The reader has closed the pipe: exit as the next write would. */
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
				     watch->more ? 100 : -1, show_event, watch);
		show_more(watch);
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
	return status;		/* main reports output errors */
}

int weir_monitor(struct weir_tool *tool, const struct weir_command *command,
		 union weir_model *model)
{
	static struct watch watch;
	int fd, status;

	watch.tool = tool;
	watch.wanted = &model->wanted;
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
