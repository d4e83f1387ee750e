// SPDX-License-Identifier: GPL-2.0-or-later
/* weir top: ask the kernel for what a screen shows, and run what the user asks for. */

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "top/top.h"

static int take_limit(const void *model, void *data)
{
	struct weir_config *limits = data;

	if (limits->limit_count < WEIR_LIMITS_MAX)
		limits->limits[limits->limit_count++] = *(const struct weir_limit *)model;
	return 0;
}

static int take_source(const void *model, void *data)
{
	struct weir_top_data *to = data;

	if (to->count < WEIR_TOP_SOURCES)
		to->sources[to->count++] = *(const struct weir_source *)model;
	return 0;
}

/* Of some that are there already, keep those that come first. */
static int take_best(const void *model, void *data)
{
	struct weir_top_data *to = data;

	if (to->count < WEIR_TOP_SOURCES)
		return take_source(model, data);
	if (weir_top_rate(to, model) > weir_top_rate(to, &to->sources[to->count - 1])) {
		to->sources[to->count - 1] = *(const struct weir_source *)model;
		weir_top_sort(to, WEIR_BY_RATE);
	}
	return 0;
}

static int ask_sources(struct weir_tool *tool, struct weir_query *query,
		       int (*take)(const void *, void *), struct weir_top_data *data)
{
	struct weir_request request = weir_request_sources(query, take, data);

	return weir_nl_ask(&tool->nl, &request);
}

/*
 * The kernel chooses by drops or counts among all sources. By rates it does for each limit, where
 * rates are in the order of counts.
 */
static int ask_top(struct weir_tool *tool, const struct weir_top *asked, struct weir_top_data *data)
{
	struct weir_query query = {
		.prefix = asked->prefix, .top = WEIR_TOP_SOURCES,
		.rank = asked->by == WEIR_BY_DROPPED ? WEIR_RANK_DROPPED : WEIR_RANK_COUNT,
		.idle = asked->by == WEIR_BY_DROPPED,
	};
	unsigned int i;
	int ret = 0;

	strcpy(query.limit, asked->limit);
	if (asked->by != WEIR_BY_RATE || *asked->limit) {
		ret = ask_sources(tool, &query, take_source, data);
		weir_top_sort(data, asked->by);
		return ret;
	}
	for (i = 0; i < data->limits.limit_count; i++) {
		strcpy(query.limit, data->limits.limits[i].name);
		ret = ask_sources(tool, &query, take_best, data);
		weir_top_sort(data, WEIR_BY_RATE);
		if (ret && ret != -ENOENT)	/* it went in between */
			return ret;
	}
	return 0;
}

/* Only a question about one source is answered with its slots. */
static void ask_slots(struct weir_tool *tool, struct weir_source *source)
{
	struct weir_source is = { 0 };
	struct weir_query query = { .prefix = source->prefix };
	struct weir_request request = {
		.cmd = WEIR_CMD_SOURCE_GET, .flags = NLM_F_DUMP, .set = &weir_query_fields,
		.verb = WEIR_ON_GET, .model = &query, .reply_set = &weir_source_fields, .into = &is,
	};

	strcpy(query.limit, source->limit);
	strcpy(query.dev, source->dev);
	if (!weir_nl_ask(&tool->nl, &request) && is.budget_count)
		source->budgets[0] = is.budgets[0];
}

int weir_top_ask(struct weir_tool *tool, const struct weir_top *asked, struct weir_top_data *data)
{
	struct weir_limit want = { .want_stats = true };
	struct weir_request limits = {
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP, .set = &weir_limit_fields,
		.verb = WEIR_ON_SHOW, .model = &want, .reply_set = &weir_limit_fields,
		.reply = take_limit, .data = &data->limits,
	};
	struct weir_request stats = {
		.cmd = WEIR_CMD_STATS_GET, .reply_set = &weir_stats_fields, .into = &data->stats,
	};
	int ret;

	memset(data->filled, 0, sizeof(data->filled));
	data->limits.limit_count = 0;
	data->count = 0;
	data->ns = weir_clock_ns(CLOCK_MONOTONIC);
	ret = weir_nl_ask(&tool->nl, &stats) ?: weir_nl_ask(&tool->nl, &limits) ?:
	      ask_top(tool, asked, data);
	if (!ret)
		return WEIR_EXIT_OK;
	/* without the module, its messages are answered in the same way as without the limit */
	tool->err = tool->nl.err;
	if (ret != -ENOENT)
		return ret == -EPERM ? WEIR_EXIT_REFUSED : WEIR_EXIT_UNREACHABLE;
	weir_nl_close(&tool->nl);
	if (weir_nl_open(&tool->nl)) {
		weir_err_set(&tool->err, WEIR_UNLOADED);
		return WEIR_EXIT_UNREACHABLE;
	}
	weir_err_set(&tool->err, "there is no limit '%s'", asked->limit);
	return WEIR_EXIT_REFUSED;
}

void weir_top_fill(struct weir_tool *tool, struct weir_top_data *data, struct weir_top_view *view,
		   const struct weir_cells *cells)
{
	unsigned int count = weir_top_visible(data, view, cells), i;

	for (i = view->first; i < view->first + count; i++) {
		if (!data->filled[i])
			ask_slots(tool, &data->sources[i]);
		data->filled[i] = true;
	}
}

int weir_top_say(struct weir_tool *tool, char **words, int count, char **text)
{
	struct weir_args args = { .words = words, .count = count, .err = &tool->err };
	struct weir_out out = tool->out;
	struct weir_reading reading;
	int status = WEIR_EXIT_WORDS;
	bool quiet = tool->quiet;
	size_t size = 0;

	*text = NULL;
	tool->quiet = true;	/* a note would be written over the screen */
	tool->out = (struct weir_out){ .to = open_memstream(text, &size), .width = out.width };
	if (!tool->out.to) {
		weir_err_set(&tool->err, WEIR_NO_MEMORY);
	} else {
		if (!tool->read(&args, &reading))
			status = reading.command->run(tool, reading.command, &reading.model);
		weir_out_flush(&tool->out);
		fclose(tool->out.to);
	}
	tool->out = out;
	tool->quiet = quiet;
	return status;
}
