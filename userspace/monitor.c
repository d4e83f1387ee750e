// SPDX-License-Identifier: GPL-2.0-or-later
/* weir monitor: one line an event, as they come. */

#include <errno.h>
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

static void begin_line(const struct watch *watch)
{
	weir_out_line();
	if (watch->tool->timestamp)
		weir_show_timestamp();
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

	if (known && limit->change == WEIR_LIMIT_EVENT_REMOVED)
		*known = watch->limits[--watch->count];
	else if (known)
		*known = *limit;
	else if (watch->count < WEIR_LIMITS_MAX)
		watch->limits[watch->count++] = *limit;
}

static void show_present(const struct weir_limit *limit, void *data)
{
	struct watch *watch = data;

	remember(watch, limit);
	begin_line(watch);
	weir_show_limit_notice("present", limit);
	weir_out_line_end();
}

static int show_limits(struct watch *watch)
{
	int ret;

	watch->count = 0;
	do {
		ret = weir_nl_limit_walk(watch->tool->nl, false, show_present,
					 watch);
	} while (!ret && weir_nl_interrupted(watch->tool->nl));
	return ret;
}

static const char *change_name(uint32_t change)
{
	switch (change) {
	case WEIR_LIMIT_EVENT_ADDED:
		return "added";
	case WEIR_LIMIT_EVENT_CHANGED:
		return "changed";
	case WEIR_LIMIT_EVENT_REMOVED:
		return "removed";
	}
	return "unknown";
}

static void show_notice(const struct weir_notice *notice, void *data)
{
	const struct weir_limit *limit;
	struct watch *watch = data;

	if (notice->kind == WEIR_NOTICE_GONE)
		return;
	begin_line(watch);
	switch (notice->kind) {
	case WEIR_NOTICE_LIMIT:
		remember(watch, &notice->limit);
		weir_show_limit_notice(change_name(notice->limit.change),
				       &notice->limit);
		break;
	case WEIR_NOTICE_SOURCE:
		limit = find(watch, notice->source.limit);
		weir_show_source_notice(&notice->source,
					limit ? limit->window_ms : 0);
		break;
	default:
		weir_show_pressure_notice(&notice->limit);
	}
	weir_out_line_end();
}

static void show_lost(const struct watch *watch)
{
	begin_line(watch);
	weir_out_str("event", "lost", "events lost, resync");
	weir_out_line_end();
}

/* Whoever read has gone: end as the next write would. */
static int lose_reader(struct weir_tool *tool)
{
	raise(SIGPIPE);
	weir_err_set(&tool->err, "write error: %s", strerror(EPIPE));
	return WEIR_EXIT_OUTPUT;
}

/* Show events until something fails. */
static int follow(struct watch *watch, struct weir_nl *events)
{
	int ret = show_limits(watch);

	if (ret)
		return weir_tool_settle(watch->tool, ret, 0);
	do {
		if (weir_nl_wait(events, STDOUT_FILENO))
			return lose_reader(watch->tool);
		ret = weir_nl_listen(events, show_notice, watch);
		if (ret == -ENOBUFS) {
			show_lost(watch);
			ret = show_limits(watch);
			if (ret)
				return weir_tool_settle(watch->tool, ret, 0);
		}
		if (weir_out_flush())
			return WEIR_EXIT_OK;	/* said where main ends */
	} while (!ret);
	if (ret == -ESHUTDOWN) {
		weir_err_set(&watch->tool->err, "the kernel module was unloaded");
		return WEIR_EXIT_UNREACHABLE;
	}
	weir_err_set(&watch->tool->err, "%s", weir_nl_error(events));
	return WEIR_EXIT_REFUSED;
}

static int monitor(struct weir_tool *tool, union weir_model *model)
{
	static struct watch watch;
	struct weir_nl *events;
	int status;

	(void)model;
	watch.tool = tool;
	/* subscribed first, so that nothing falls between */
	if (weir_nl_open(&events, NULL, NULL, &tool->err))
		return WEIR_EXIT_UNREACHABLE;
	if (weir_nl_subscribe(events)) {
		weir_err_set(&tool->err, "%s", weir_nl_error(events));
		status = WEIR_EXIT_REFUSED;
	} else {
		status = follow(&watch, events);
	}
	weir_nl_close(events);
	return status;
}

const struct weir_command weir_monitor_commands[] = {
	{ "monitor", "show events as they come: limits, limited sources, pressure",
	  weir_words_none, WEIR_MODEL_NONE, .run = monitor },
	{ 0 }
};
