// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir metrics: the counters in the text format of Prometheus. Base units only; counters end in
 * _total; sources are labels only on request, and then a bounded number.
 */

#include <inttypes.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"

/* A request of HTTP ends within so many lines. */
#define HTTP_LINES	256
/* Attempts to list limits, or sources, of which some come or go meanwhile. */
#define TRIES	8

/* What is printed: read first, so that an error prints nothing. */
struct metrics {
	bool up;
	struct weir_stats stats;
	struct weir_config config;	/* limits, with their counters */
	unsigned int top, source_count;
	struct weir_source sources[WEIR_METRICS_TOP];
	time_t saved;			/* or 0: no state that is known */
};

static const char *netns;	/* the word of -netns, a label of all series; or NULL */

/* A metric of each limit: a number at @offset of it. */
struct row {
	const char *name, *type, *help, *label;	/* label: further ones, or "" */
	size_t offset, size;
	uint64_t has;			/* shown if the counters have it; 0: always */
};

#define LIMIT(member)	offsetof(struct weir_limit, member), \
			sizeof(((struct weir_limit *)0)->member)
#define STAT(member)	LIMIT(stats.member)
#define PACKETS(member)	STAT(member.packets), 0
#define BYTES(member)	STAT(member.bytes), 0

/* Rows of one metric are neighbours. */
static const struct row limit_rows[] = {
	{ "weir_limit_packets_total", "counter",
	  "Packets that matched the limit, by what became of them.",
	  ",verdict=\"admitted\"", PACKETS(admitted) },
	{ "weir_limit_packets_total", NULL, NULL, ",verdict=\"dropped\"", PACKETS(dropped) },
	{ "weir_limit_packets_total", NULL, NULL, ",verdict=\"would_drop\"",
	  PACKETS(would_drop) },
	{ "weir_limit_packets_total", NULL, NULL, ",verdict=\"dropped_elsewhere\"",
	  PACKETS(elsewhere) },
	{ "weir_limit_bytes_total", "counter",
	  "Bytes that matched the limit, by what became of them.",
	  ",verdict=\"admitted\"", BYTES(admitted) },
	{ "weir_limit_bytes_total", NULL, NULL, ",verdict=\"dropped\"", BYTES(dropped) },
	{ "weir_limit_bytes_total", NULL, NULL, ",verdict=\"would_drop\"", BYTES(would_drop) },
	{ "weir_limit_bytes_total", NULL, NULL, ",verdict=\"dropped_elsewhere\"",
	  BYTES(elsewhere) },
	{ "weir_limit_early_dropped_packets_total", "counter",
	  "Packets that an XDP program dropped; they are among the dropped ones.", "",
	  PACKETS(early) },
	{ "weir_limit_prefix_dropped_packets_total", "counter",
	  "Of the dropped packets those whose prefix is blocked.", "", PACKETS(dropped_by_prefix) },
	{ "weir_limit_floor_refused_packets_total", "counter",
	  "Packets that were refused because the table is too small.", "",
	  PACKETS(floor_refused) },
	{ "weir_limit_too_large_packets_total", "counter",
	  "Packets that were refused because they are larger than a budget.", "",
	  PACKETS(too_large) },
	{ "weir_limit_newcomers_admitted_packets_total", "counter",
	  "Admitted packets of sources that were not known.", "", STAT(newcomers.packets),
	  WEIR_HAS(LIMIT_STATS_NEWCOMERS) },
	{ "weir_limit_newcomers_refused_packets_total", "counter",
	  "Packets of sources that were not known, refused by the budget of newcomers.", "",
	  STAT(newcomers_refused.packets), WEIR_HAS(LIMIT_STATS_NEWCOMERS_REFUSED) },
	{ "weir_limit_evictions_total", "counter",
	  "Active sources that lost their places in the table.", "", STAT(evictions), 0 },
	{ "weir_limit_penalties_total", "counter", "Blocks of sources that exceeded a budget.", "",
	  STAT(penalties), 0 },
	{ "weir_limit_blocks_lost_total", "counter", "Blocks that found no place in the table.", "",
	  STAT(blocks_lost), 0 },
	{ "weir_limit_sources", "gauge", "Sources that sent within the last window.", "",
	  STAT(sources_now), WEIR_HAS(LIMIT_STATS_SOURCES_NOW) },
	{ "weir_limit_sources_limited", "gauge", "Limited sources that are not blocked.", "",
	  STAT(limited_now), 0 },
	{ "weir_limit_sources_blocked", "gauge", "Blocked sources.", "", STAT(blocked_now), 0 },
	{ "weir_limit_sources_known", "gauge", "Known sources, also idle ones.", "",
	  STAT(known_now), WEIR_HAS(LIMIT_STATS_KNOWN_NOW) },
	{ "weir_limit_newcomers_window_packets", "gauge", "Packets of newcomers in their window.",
	  "", STAT(newcomers_now), WEIR_HAS(LIMIT_STATS_NEWCOMERS_NOW) },
	{ "weir_limit_sources_wanted", "gauge",
	  "Sources to enlarge the table for, an estimate; 0: it has not been too small.", "",
	  STAT(sources_wanted), 0 },
	{ "weir_limit_table_places", "gauge", "Places in the table of sources.", "",
	  LIMIT(entries), 0 },
	{ "weir_limit_blocks", "gauge", "Blocked sources that the limit has room for.", "",
	  LIMIT(blocks), 0 },
	{ "weir_limit_memory_bytes", "gauge", "Memory of the limit, in bytes.", "",
	  LIMIT(memory), 0 },
	{ "weir_limit_newcomers_budget_packets", "gauge",
	  "The newcomers' budget, in packets in a window; 0: none.", "",
	  LIMIT(newcomers.count), 0 },
	{ "weir_limit_observes", "gauge", "1 if the limit only counts what it would drop.", "",
	  LIMIT(action), 0 },
	{ "weir_limit_alone", "gauge",
	  "1 if the hosts that share the limit are not heard, and it has amounts for that.", "",
	  LIMIT(alone), 0 },
	{ 0 }
};

static void head(struct weir_out *out, const char *name, const char *type, const char *help)
{
	fprintf(out->to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* No more digits than it takes to read the same value again. */
static void put_number(struct weir_out *out, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	fprintf(out->to, "%s\n", text);
}

/* A device, or a network namespace, may have nearly any name. */
static void put_escaped(FILE *to, const char *name)
{
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			fprintf(to, "\\%c", *name);
		else if (*name < ' ' || *name > '~')
			fprintf(to, "\\\\x%02x", (unsigned char)*name);
		else
			fputc(*name, to);
	}
}

/* A series up to its value or, with @labels, up to those after netns. */
static void put_name(struct weir_out *out, const char *name, bool labels)
{
	fprintf(out->to, "%s%s", name, netns || labels ? "{" : " ");
	if (!netns)
		return;
	fputs("netns=\"", out->to);
	put_escaped(out->to, netns);
	fputs(labels ? "\"," : "\"} ", out->to);
}

static void single(struct weir_out *out, const char *name, const char *type, const char *help,
		   double value)
{
	head(out, name, type, help);
	put_name(out, name, false);
	put_number(out, value);
}

/* Names of limits need no escape: they consist of letters, digits and the like. */
static void put_limits(struct weir_out *out, const struct weir_config *config)
{
	const struct weir_limit *limit, *end = config->limits + config->limit_count;
	const struct row *row;
	bool begun = false;

	for (row = limit_rows; row->name; row++) {
		begun = begun && !row->help;
		for (limit = config->limits; limit < end; limit++) {
			if (row->has && !(limit->stats.has & row->has))
				continue;
			if (!begun && row->help)
				head(out, row->name, row->type, row->help);
			begun = true;
			put_name(out, row->name, true);
			fprintf(out->to, "limit=\"%s\"%s} %" PRIu64 "\n",
				limit->name, row->label,
				weir_uint_get((const char *)limit + row->offset, row->size));
		}
	}
}

enum { BUDGET_COUNT, BUDGET_WINDOW, BUDGET_PACKETS, BUDGET_BYTES, BUDGET_METRICS };

static void put_budget(struct weir_out *out, const char *name, unsigned int what,
		       const struct weir_limit *limit, unsigned int i)
{
	const struct weir_budget *budget = &limit->budgets[i];

	put_name(out, name, true);
	fprintf(out->to, "limit=\"%s\",budget=\"%u\",unit=\"%s\"} ", limit->name, i + 1,
		budget->unit ? "bytes" : "packets");
	if (what == BUDGET_WINDOW && !budget->amount.window_ms)
		fputs("+Inf\n", out->to);
	else if (what == BUDGET_WINDOW)
		put_number(out, budget->amount.window_ms / 1000.0);
	else
		fprintf(out->to, "%" PRIu64 "\n", what == BUDGET_COUNT ? budget->amount.count :
			what == BUDGET_PACKETS ? budget->refused.packets : budget->refused.bytes);
}

static void put_budgets(struct weir_out *out, const struct weir_config *config)
{
	static const char *const heads[BUDGET_METRICS][3] = {
		{ "weir_limit_budget", "gauge",
		  "Packets or bytes that a source may send in a window, but for budgets-by." },
		{ "weir_limit_budget_window_seconds", "gauge",
		  "The window of a budget, in seconds; +Inf: it never ends." },
		{ "weir_limit_budget_refused_packets_total", "counter",
		  "Packets that a budget refused, of a limit with several." },
		{ "weir_limit_budget_refused_bytes_total", "counter",
		  "Bytes of packets that a budget refused, of a limit with several." },
	};
	const struct weir_limit *limit, *end = config->limits + config->limit_count;
	unsigned int what, i;

	for (what = 0; config->limit_count && what < BUDGET_METRICS; what++) {
		head(out, heads[what][0], heads[what][1], heads[what][2]);
		for (limit = config->limits; limit < end; limit++)
			for (i = 0; i < limit->budget_count; i++)
				/* The kernel counts by budget only where there are several. */
				if (what < BUDGET_PACKETS || limit->budget_count > 1)
					put_budget(out, heads[what][0], what, limit, i);
	}
}

static void put_verdict(struct weir_out *out, const char *verdict, uint64_t packets)
{
	put_name(out, "weir_packets_total", true);
	fprintf(out->to, "verdict=\"%s\"} %" PRIu64 "\n", verdict, packets);
}

static void put_totals(struct weir_out *out, const struct weir_stats *stats)
{
	head(out, "weir_packets_total", "counter",
	     "Packets that reached the hook or were dropped early, by what became of them.");
	put_verdict(out, "admitted", stats->admitted);
	put_verdict(out, "dropped", stats->dropped);
	put_verdict(out, "exempt", stats->exempt);
	put_verdict(out, "unmatched", stats->unmatched);
	single(out, "weir_unparsable_packets_total", "counter",
	       "Packets with headers truncated or nested too deeply for a condition.",
	       stats->unparsable);
	single(out, "weir_events_lost_total", "counter",
	       "Events that were not sent for lack of room.", stats->events_lost);
	single(out, "weir_memory_bytes", "gauge", "Memory of tables and lists, in bytes.",
	       stats->memory);
	single(out, "weir_limits", "gauge", "Limits.", stats->limits);
	single(out, "weir_exemptions", "gauge", "Exemptions.", stats->exempts);
	single(out, "weir_blocked_prefixes", "gauge", "Prefixes that are blocked.",
	       stats->blocked_prefixes);
	single(out, "weir_prefix_dropped_packets_total", "counter",
	       "Dropped packets whose prefix is blocked.", stats->dropped_by_prefix);
	single(out, "weir_generation", "gauge", "Another number after each change of the configuration.",
	       stats->generation);
	single(out, "weir_tick_seconds", "gauge", "The clock tick, in seconds.",
	       stats->tick_ns / 1e9);
}

static void put_sources(struct weir_out *out, const struct metrics *metrics)
{
	const struct weir_source *source = metrics->sources, *end = source + metrics->source_count;
	char address[WEIR_TEXT_SIZE];

	if (!metrics->top)
		return;
	single(out, "weir_source_top", "gauge", "Sources with series of their own, at most.",
	       metrics->top);
	if (source < end)
		head(out, "weir_source_dropped_packets_total", "counter",
		     "Packets of one of the heaviest sources that were, or would be, dropped.");
	for (; source < end; source++) {
		put_name(out, "weir_source_dropped_packets_total", true);
		fprintf(out->to, "limit=\"%s\",source=\"%s%s", source->limit,
			source->prefix.family ?
			weir_text_prefix(NULL, &source->prefix, address) : "all",
			*source->dev ? "%" : "");
		put_escaped(out->to, source->dev);
		fprintf(out->to, "\"} %" PRIu64 "\n", source->dropped + source->would_drop);
	}
}

static int put_metrics(struct weir_out *out, void *data)
{
	const struct metrics *metrics = data;

	single(out, "weir_up", "gauge", "1 if the kernel module is loaded.", metrics->up);
	head(out, "weir_info", "gauge", "The version of the tool.");
	put_name(out, "weir_info", true);
	fprintf(out->to, "version=\"%s\"} 1\n", WEIR_VERSION);
	if (!metrics->up)
		return WEIR_EXIT_OK;
	put_totals(out, &metrics->stats);
	if (metrics->saved)
		single(out, "weir_state_saved_timestamp_seconds", "gauge",
		       "When the state was saved, in seconds since 1970.", metrics->saved);
	put_limits(out, &metrics->config);
	put_budgets(out, &metrics->config);
	put_sources(out, metrics);
	return WEIR_EXIT_OK;
}

/* A source of a limit that is told, too. */
static int take_source(const void *model, void *data)
{
	const struct weir_source *source = model;
	struct metrics *metrics = data;

	if (source->dropped + source->would_drop && metrics->source_count < WEIR_METRICS_TOP &&
	    weir_config_find(&metrics->config, source->limit))
		metrics->sources[metrics->source_count++] = *source;
	return 0;
}

/* The heaviest sources of all limits together: the kernel ranks them. */
static int read_sources(struct weir_tool *tool, struct metrics *metrics)
{
	struct weir_query query = {
		.top = metrics->top, .rank = WEIR_RANK_DROPPED, .idle = true,
	};
	struct weir_request request = weir_request_sources(&query, take_source, metrics);
	unsigned int tries = 0;

	do {
		metrics->source_count = 0;
		weir_nl_ask(&tool->nl, &request);
	} while (request.interrupted && ++tries < TRIES);
	/* The kernel has chosen them before it told the first. */
	request.interrupted = false;
	return weir_tool_settle(tool, &request, 0);
}

/* What an earlier attempt has told is there already. */
static int take_limit(const void *model, void *data)
{
	struct metrics *metrics = data;
	struct weir_err unused;

	weir_config_add_limit(&metrics->config, model, &unused);
	return 0;
}

/*
 * Limits may come and go meanwhile. A list that is interrupted may lack some, so all that any
 * attempt has told are asked for one by one, and those left out that went.
 */
static int read_limits(struct weir_tool *tool, struct metrics *metrics)
{
	struct weir_request get, list = {
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP, .reply_set = &weir_limit_fields,
		.reply = take_limit, .data = metrics,
	};
	struct weir_config *config = &metrics->config;
	unsigned int tries = 0, used = 0, i;
	struct weir_limit limit;

	weir_config_clear(config);
	do
		weir_nl_ask(&tool->nl, &list);
	while (list.interrupted && ++tries < TRIES);
	list.interrupted = false;
	for (i = 0; !list.ret && i < config->limit_count; i++) {
		limit = (struct weir_limit){ 0 };
		if (!weir_get_limit(tool, config->limits[i].name, true, &limit, &get)) {
			limit.blocks += limit.blocks_only;	/* one of them is 0 */
			config->limits[used++] = limit;
		} else if (get.ret != -ENOENT) {
			list = get;
		}
	}
	config->limit_count = used;
	return weir_tool_settle(tool, &list, 0);
}

static int read_all(struct weir_tool *tool, struct metrics *metrics)
{
	int status = weir_get_stats(tool, &metrics->stats) ?: read_limits(tool, metrics);

	metrics->stats.limits = metrics->config.limit_count;
	return status ?: metrics->top ? read_sources(tool, metrics) : WEIR_EXIT_OK;
}

/* Read a request of HTTP up to its empty line, and put the head of the answer. */
static int answer_http(struct weir_tool *tool)
{
	unsigned int lines = 0;
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		if (!lines && strncmp(line, "GET ", 4)) {
			fputs("HTTP/1.0 405 Method Not Allowed\r\nAllow: GET\r\n\r\n",
			      tool->out.to);
			weir_err_set(&tool->err, "this is no GET of HTTP");
			return WEIR_EXIT_REFUSED;
		}
		if (*line == '\r' || *line == '\n')
			break;
		if (++lines == HTTP_LINES)
			break;
	}
	if (!lines) {
		weir_err_set(&tool->err, "there was no request of HTTP");
		return WEIR_EXIT_REFUSED;
	}
	return WEIR_EXIT_OK;
}

int weir_metrics(struct weir_tool *tool, const struct weir_command *command,
		 union weir_model *model)
{
	static struct metrics metrics;
	struct weir_metering ask = model->metering;
	struct stat state;
	int status = ask.http ? answer_http(tool) : WEIR_EXIT_OK;

	if (status)
		return status;
	memset(&metrics, 0, offsetof(struct metrics, config));
	metrics.up = tool->reached;
	metrics.top = ask.top;
	metrics.saved = ask.state && !stat(ask.state, &state) ? state.st_mtime : 0;
	netns = tool->netns;
	metrics.source_count = 0;
	tool->stats = true;
	if (tool->reached)
		status = read_all(tool, &metrics);
	if (status && ask.http)
		fputs("HTTP/1.0 500 Internal Server Error\r\n\r\n", tool->out.to);
	if (status)
		return status;
	if (ask.file && strcmp(ask.file, "-"))
		return weir_replace_file(tool, ask.file, 0, put_metrics, &metrics);
	if (ask.http)
		fputs("HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
		      "Connection: close\r\n\r\n", tool->out.to);
	return put_metrics(&tool->out, &metrics);
}
