// SPDX-License-Identifier: GPL-2.0-or-later
/* weir monitor: print events, one per line. */

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "commands/commands.h"

/* Newly limited sources that text output shows per second. */
#define LIMITED_MOST	10

/* How often to look for a module that is replaced, and how many times. */
#define RELOAD_NS	50000000
#define RELOAD_TRIES	1200

struct watch {
	struct weir_tool *tool;
	const struct weir_wanted *wanted;
	time_t second;			/* the counts below are of this second: */
	unsigned int limited, more;	/* shown; not shown */
	bool busy;			/* sources became limited since the last query */
	time_t asked;			/* second of the last query of events_lost, */
	uint64_t lost;			/* and its result */
	struct weir_config config;	/* for the windows, which source events lack */
};

static void begin_line(struct watch *watch)
{
	weir_out_line(&watch->tool->out);
	if (watch->tool->timestamp)
		weir_show_timestamp(&watch->tool->out);
}

static void remember(struct watch *watch, const struct weir_limit *limit)
{
	struct weir_config *config = &watch->config;
	struct weir_limit *known = weir_config_find(config, limit->name);

	if (known && limit->event == WEIR_LIMIT_EVENT_REMOVED) {
		*known = config->limits[--config->limit_count];
	} else if (known && limit->event == WEIR_LIMIT_EVENT_RENAMED) {
		strcpy(known->name, limit->new_name);
	} else if (known) {
		*known = *limit;
	} else if (limit->event != WEIR_LIMIT_EVENT_REMOVED &&
		   limit->event != WEIR_LIMIT_EVENT_RENAMED &&
		   config->limit_count < WEIR_LIMITS_MAX) {
		config->limits[config->limit_count++] = *limit;
	}
}

/* After a second with a flood, print how many sources were not shown. */
static void show_more(struct watch *watch)
{
	time_t second = weir_clock_ns(CLOCK_MONOTONIC) / WEIR_NS_PER_S;

	if (second == watch->second)
		return;
	if (watch->more) {
		begin_line(watch);
		weir_out_word(&watch->tool->out, WEIR_COLOR_BAD, "limited or blocked %u more sources",
			      watch->more);
		weir_out_line_end(&watch->tool->out);
	}
	watch->second = second;
	watch->limited = 0;
	watch->more = 0;
}

static uint64_t events_lost(struct watch *watch)
{
	struct weir_stats stats = { .events_lost = watch->lost };

	weir_get_stats(watch->tool, &stats);
	return stats.events_lost;
}

/* In a flood the kernel may drop events: report how many. */
static void show_overrun(struct watch *watch)
{
	uint64_t before = watch->lost;

	if (!watch->busy || watch->second == watch->asked)
		return;
	watch->asked = watch->second;
	watch->busy = watch->limited;
	watch->lost = events_lost(watch);
	if (watch->lost <= before)
		return;
	begin_line(watch);
	weir_out_str(&watch->tool->out, "event", "lost");
	weir_out_u64(&watch->tool->out, "events_lost", watch->lost - before);
	weir_out_word(&watch->tool->out, WEIR_COLOR_NONE, "%" PRIu64 " events lost",
		      watch->lost - before);
	weir_out_line_end(&watch->tool->out);
}

/* Whether to count the event instead of showing it. */
static bool is_flood(struct watch *watch, const struct weir_source *source)
{
	if (!weir_event_limits(source))
		return false;
	show_more(watch);
	watch->busy = true;
	if (watch->limited == LIMITED_MOST && !watch->tool->out.json) {
		watch->more++;
		return true;
	}
	watch->limited++;
	return false;
}

static const char *limit_of(uint8_t cmd, const union weir_model *model)
{
	return cmd == WEIR_CMD_LIMIT_NTF ? model->limit.name :
	       cmd == WEIR_CMD_EXEMPT_NTF ? model->exempt.limit :
	       cmd == WEIR_CMD_SOURCE_NTF ? model->source.limit :
	       cmd == WEIR_CMD_NEWCOMERS_NTF ? model->newcomers.limit : model->pressure.limit;
}

/* The budget that limits a source; NULL: unknown. */
static const struct weir_budget *budget_of(const struct weir_limit *limit,
					   const struct weir_source *source)
{
	unsigned int budget = source->limited_by ? source->limited_by - 1 : 0;

	return limit && budget < limit->budget_count ? &limit->budgets[budget] : NULL;
}

static void show_event(uint8_t cmd, const union weir_model *model, void *data)
{
	const char *name = limit_of(cmd, model);
	const struct weir_limit *limit;
	struct watch *watch = data;

	if (cmd == WEIR_CMD_LIMIT_NTF)
		remember(watch, &model->limit);
	limit = weir_config_find(&watch->config, name);
	if ((watch->wanted->has && !(watch->wanted->has & 1ULL << cmd)) ||
	    (*watch->wanted->limit && *name && strcmp(watch->wanted->limit, name)) ||
	    (cmd == WEIR_CMD_SOURCE_NTF && is_flood(watch, &model->source)))
		return;
	begin_line(watch);
	weir_show_event(&watch->tool->out, cmd, model,
			cmd == WEIR_CMD_SOURCE_NTF ? budget_of(limit, &model->source) : NULL);
	weir_out_line_end(&watch->tool->out);
}

/* Show the current limits; returns an enum weir_exit. */
static int show_limits(struct watch *watch)
{
	struct weir_config *config = &watch->config;
	unsigned int i;
	int status;

	do
		status = weir_get_config(watch->tool, config, 0);
	while (status == WEIR_EXIT_INTERRUPTED);
	for (i = 0; !status && !watch->tool->out.error && i < config->limit_count; i++)
		show_event(WEIR_CMD_LIMIT_NTF, (const union weir_model *)&config->limits[i], watch);
	return status;
}

/* The reader closed the pipe: die of SIGPIPE, as at the next write. */
static int lose_reader(struct weir_tool *tool)
{
	raise(SIGPIPE);
	weir_err_set(&tool->err, WEIR_CANNOT_WRITE, strerror(EPIPE));
	return WEIR_EXIT_OUTPUT;
}

static int follow(struct watch *watch, int fd)
{
	int status = show_limits(watch), ret;

	watch->lost = events_lost(watch);
	while (!status && !watch->tool->out.error) {
		ret = weir_nl_listen(&watch->tool->nl, fd, fileno(watch->tool->out.to),
				     watch->busy ? 100 : -1, show_event, watch);
		show_more(watch);
		show_overrun(watch);
		switch (ret) {
		case 0:
			break;
		case -ENOBUFS:
			begin_line(watch);
			weir_out_str(&watch->tool->out, "event", "lost");
			weir_out_word(&watch->tool->out, WEIR_COLOR_NONE, "events lost, resync");
			weir_out_line_end(&watch->tool->out);
			status = show_limits(watch);
			break;
		case -EPIPE:
			return lose_reader(watch->tool);
		case -ESHUTDOWN:
			weir_err_set(&watch->tool->err, WEIR_UNLOADED);
			return WEIR_EXIT_UNREACHABLE;
		default:
			watch->tool->err = watch->tool->nl.err;
			return WEIR_EXIT_UNREACHABLE;
		}
	}
	return status;		/* main reports output errors */
}

/* While weir upgrade runs, the module comes back. */
static bool comes_back(struct weir_tool *tool)
{
	const struct timespec pause = { .tv_nsec = RELOAD_NS };
	unsigned int tries;

	for (tries = 0; tries < RELOAD_TRIES && !access(WEIR_UPGRADE_DIR, F_OK); tries++) {
		nanosleep(&pause, NULL);
		weir_nl_close(&tool->nl);
		if (!weir_nl_open(&tool->nl))
			return true;
	}
	return false;
}

/* Until the controller or the reader has something to say; meanwhile, devices come. */
static void await_controller(struct weir_tool *tool, int fd, int links)
{
	struct pollfd fds[] = { { .fd = links, .events = POLLIN }, { .fd = fd, .events = POLLIN },
				{ .fd = fileno(tool->out.to) } };
	char buf[1 << 14];

	while (poll(fds, 3, -1) > 0 && fds[0].revents && !fds[1].revents && !fds[2].revents) {
		while (recv(links, buf, sizeof(buf), 0) > 0 || errno == ENOBUFS)
			;
		weir_early_see(tool);
	}
}

/*
 * Only what the controller of generic netlink announces: nobody listens to events, so the module
 * makes none.
 */
static int await_unload(struct weir_tool *tool, int fd)
{
	int links = tool->fallback ? weir_early_subscribe() : -1, ret;

	if (tool->fallback)
		weir_early_see(tool);

	do {
		/* it may have gone before, or while announcements were lost */
		weir_nl_close(&tool->nl);
		ret = weir_nl_open(&tool->nl);
		while (!ret) {
			await_controller(tool, fd, links);
			ret = weir_nl_listen(&tool->nl, fd, fileno(tool->out.to), -1, NULL, NULL);
		}
	} while (ret == -ENOBUFS || (ret == -ESHUTDOWN && comes_back(tool)));
	if (ret == -ESHUTDOWN || ret == -ENOENT)
		return WEIR_EXIT_OK;
	if (ret == -EPIPE)
		return lose_reader(tool);
	tool->err = tool->nl.err;
	return WEIR_EXIT_UNREACHABLE;
}

/* A line, which ends a record: flushed, it comes whole. */
static ssize_t log_line(void *cookie, const char *line, size_t length)
{
	(void)cookie;
	syslog(LOG_NOTICE, "%.*s", (int)(length - (length && line[length - 1] == '\n')), line);
	return length;
}

/* Send what is printed to syslog; an enum weir_exit with a sentence. */
static int begin_log(struct weir_tool *tool)
{
	static char room[1 << 16];	/* more than the longest line */
	FILE *log = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = log_line });

	if (!log) {
		weir_err_set(&tool->err, WEIR_NO_MEMORY);
		return WEIR_EXIT_OUTPUT;
	}
	setvbuf(log, room, _IOFBF, sizeof(room));
	openlog("weir", LOG_PID, LOG_DAEMON);
	tool->out.to = log;
	return WEIR_EXIT_OK;
}

int weir_monitor(struct weir_tool *tool, const struct weir_command *command,
		 union weir_model *model)
{
	static struct watch watch;
	int fd, status;

	watch.tool = tool;
	watch.wanted = &model->wanted;
	if (tool->fallback && !model->wanted.module) {
		weir_err_set(&tool->err, "'-fallback' requires 'monitor module'");
		return WEIR_EXIT_WORDS;
	}
	if (model->wanted.log && begin_log(tool))
		return WEIR_EXIT_OUTPUT;
	/* subscribe before the dump, to miss no event */
	fd = weir_nl_subscribe(&tool->nl, !model->wanted.module);
	if (fd < 0) {
		tool->err = tool->nl.err;
		return fd == -EPERM ? WEIR_EXIT_REFUSED : WEIR_EXIT_UNREACHABLE;
	}
	status = model->wanted.module ? await_unload(tool, fd) : follow(&watch, fd);
	close(fd);
	return status;
}
