// SPDX-License-Identifier: GPL-2.0-or-later
/* weir source: get, charge and block. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <time.h>

#include "config.h"
#include "tool.h"
#include "value.h"

#define NOTHING_LEFT	"not charged: nothing is left"
#define SECOND		1000000000ull	/* in ns */

static bool is_address(const struct weir_prefix *prefix)
{
	return prefix->len == (prefix->family == AF_INET ? 32 : 128);
}

/*
 * A prefix is a source's only under a limit that makes its sources of that length, and all is
 * that of one that makes a single source, of which any address is. With @wider, a prefix may have
 * several sources, or none in particular, which sets it.
 */
static int check_length(struct weir_tool *tool, struct weir_query *query, bool *wider)
{
	bool all = !query->prefix.family;
	struct weir_limit limit = { 0 };
	struct weir_request request;
	char buf[WEIR_TEXT_SIZE];
	uint8_t len;

	if (wider)
		*wider = !all && !is_address(&query->prefix) && !*query->limit;
	if (is_address(&query->prefix) || (wider && *wider) ||
	    weir_get_limit(tool, query->limit, &limit, &request) == -ENOENT)
		return WEIR_EXIT_OK;	/* the request itself reports it better */
	len = limit.per[query->prefix.family == AF_INET6];
	if (wider)
		*wider = !request.ret && !all && query->prefix.len < len;
	if (request.ret || (wider && *wider) ||
	    (len == query->prefix.len && !(all && limit.per[1]))) {
		if (all && !request.ret)
			query->prefix = (struct weir_prefix){ .family = AF_INET, .len = 32 };
		return weir_tool_settle(tool, &request, 0);
	}
	weir_err_set(&tool->err, "ADDR %s: limit '%s' counts each /%u as a source",
		     weir_text_prefix(NULL, &query->prefix, buf), query->limit, len);
	return WEIR_EXIT_WORDS;
}

struct getting {
	struct weir_tool *tool;
	const struct weir_command *command;
	const struct weir_query *query;
	struct weir_prefix asked;	/* by the user: all has an address in the query */
	struct weir_config *limits;
};

/* Leave out the limits that the packet does not match, or that have other sources. */
static int show_state(const void *model, void *data)
{
	const struct getting *getting = data;
	const struct weir_prefix *asked = &getting->query->prefix;
	struct weir_source source = *(const struct weir_source *)model;
	struct weir_limit *limit = weir_config_find(getting->limits, source.limit);

	if ((limit && !weir_config_meets(getting->limits, &getting->query->packet,
					 &limit->match)) ||
	    (!is_address(asked) && source.prefix.len != asked->len))
		return 0;
	source.asked = (struct weir_asked){ getting->asked, getting->query->len, limit };
	getting->command->show(&getting->tool->out, &source);
	getting->tool->answers++;
	return ferror(getting->tool->out.to) ? -ECANCELED : 0;
}

/*
 * Find the exemption, or with @block the blocked prefix, that holds what is asked: the longest
 * prefix, on the device that is asked for, and under its limit, or any if none is named.
 */
static const struct weir_exempt *find_prefix(const struct weir_config *config,
					     const struct weir_query *query, bool block)
{
	const struct weir_exempt *at, *found = NULL;
	unsigned int i;

	for (i = 0; i < config->exempt_count; i++) {
		at = &config->exempts[i];
		if (at->block == block && weir_prefix_holds(&at->prefix, &query->prefix) &&
		    (!*at->dev || !strcmp(at->dev, query->dev)) &&
		    (!*at->limit || !*query->limit || !strcmp(at->limit, query->limit)) &&
		    (!found || at->prefix.len > found->prefix.len))
			found = at;
	}
	return found;
}

/* No limit answered for a source: say why. */
static int get_none(struct weir_tool *tool, struct weir_config *config, struct weir_query *query)
{
	char words[WEIR_EXEMPT_SIZE], buf[WEIR_TEXT_SIZE], exempt[WEIR_EXEMPT_SIZE + 32] = "";
	int status = weir_get_config(tool, config, true);
	const struct weir_exempt *by;

	if (!status && *query->limit)
		status = check_length(tool, query, NULL);
	if (status)
		return status;
	weir_text_prefix(NULL, &query->prefix, buf);
	by = find_prefix(config, query, false) ?: find_prefix(config, query, true);
	if (by)
		snprintf(exempt, sizeof(exempt), "; it is %s by %s",
			 by->block ? "blocked" : "exempt", weir_exempt_words(by, words));
	if (is_address(&query->prefix))
		weir_err_set(&tool->err, "ADDR %s: no limit applies to %s%s", buf,
			     query->packet.has ? "such packets of it" : "it", exempt);
	else
		weir_err_set(&tool->err, "ADDR %s: no limit counts a /%u as a source%s; name an address of it, or see 'source show %s'",
			     buf, query->prefix.len, exempt, buf);
	return WEIR_EXIT_REFUSED;
}

int weir_source_get(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	static struct weir_config config;
	struct weir_request request = weir_request_of(command, model);
	struct getting getting = {
		tool, command, &model->query, model->query.prefix, &config,
	};
	int status = weir_get_config(tool, &config, model->query.packet.has & WEIR_COND_TO);

	if (!status && !model->query.prefix.family)
		status = check_length(tool, &model->query, NULL);
	if (!status) {
		request.reply = show_state;
		request.data = &getting;
		status = weir_tool_list(tool, &request, command->allowed);
		if (!status && !tool->answers)
			status = get_none(tool, &config, &model->query);
	}
	weir_config_clear(&config);
	return status;
}

/* What a source is blocked by after a release, or instead of what was to be released. */
static int tell_prefix(struct weir_tool *tool, const struct weir_query *query, int status)
{
	static struct weir_config config;
	const struct weir_exempt *by;
	char words[WEIR_EXEMPT_SIZE], buf[WEIR_TEXT_SIZE];
	struct weir_err said = tool->err;

	if ((status && status != WEIR_EXIT_REFUSED) || weir_get_config(tool, &config, true) ||
	    (*query->limit && !weir_config_find(&config, query->limit))) {
		tool->err = said;
		return status;
	}
	by = find_prefix(&config, query, true);
	if (!by)
		return status;
	weir_exempt_words(by, words);
	weir_text_prefix(NULL, &query->prefix, buf);
	if (status)
		weir_err_set(&tool->err, "ADDR %s: blocked as %s; 'weir block del %s' ends that",
			     buf, words, words);
	else
		weir_note(tool, "note", "%s is still blocked as %s; 'weir block del %s' ends that",
			  buf, words, words);
	return status;
}

/* Block a source, or a prefix as a whole, or end that. */
int weir_source_release(struct weir_tool *tool, const struct weir_command *command,
			union weir_model *model)
{
	struct weir_query *query = &model->query;
	union weir_model prefix = { .exempt = {
		.prefix = query->prefix, .for_ms = query->for_ms, .block = true,
		.replace = query->replace,
	} };
	bool add = command->verb == WEIR_ON_ADD, wider;
	int status = check_length(tool, query, &wider);
	struct weir_request request;

	if (status)
		return status;
	if (!wider) {
		status = weir_run_show(tool, command, model);
		return add ? status : tell_prefix(tool, query, status);
	}
	strcpy(prefix.exempt.dev, query->dev);
	strcpy(prefix.exempt.limit, query->limit);
	request = (struct weir_request){
		.cmd = add ? WEIR_CMD_EXEMPT_ADD : WEIR_CMD_EXEMPT_DEL, .set = &weir_block_fields,
		.verb = command->verb, .model = &prefix,
	};
	weir_nl_ask(&tool->nl, &request);
	status = weir_tool_settle(tool, &request, add ? 0 : -ENOENT);
	if (!status && add)
		weir_note_block(tool, &prefix);
	return add ? status : tell_prefix(tool, query, status);
}

/* An explicit cost must be in the limit's unit. */
static int check_unit(struct weir_tool *tool, const struct weir_query *query)
{
	struct weir_request request;
	struct weir_limit limit = { 0 };

	if (!query->packets && !query->bytes)
		return WEIR_EXIT_OK;
	if (weir_get_limit(tool, query->limit, &limit, &request) == -ENOENT)
		return WEIR_EXIT_OK;	/* the charge itself reports it better */
	if (request.ret || !query->bytes == !limit.budgets[0].unit)
		return weir_tool_settle(tool, &request, 0);
	weir_err_set(&tool->err, "limit '%s' counts %s; use '%s N'",
		     query->limit, weir_unit_names[!query->bytes], weir_unit_names[!query->bytes]);
	return WEIR_EXIT_WORDS;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec until = { ns / SECOND, ns % SECOND };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/*
 * Charge, and while there is no room sleep for as long as the kernel answered: others may
 * have charged the source meanwhile. Shows what was granted.
 */
static int charge_wait(struct weir_tool *tool, const struct weir_command *command,
		       const union weir_model *model)
{
	uint64_t end = tool->timeout ? now_ns() + tool->timeout_ms * 1000000 : UINT64_MAX, now;
	const struct weir_source *source = &tool->answer.source;
	struct weir_request request;

	fflush(tool->out.to);
	for (;;) {
		request = weir_request_of(command, model);
		request.into = &tool->answer;
		weir_nl_ask(&tool->nl, &request);
		now = now_ns();
		if (request.ret || source->taken || now >= end ||
		    !(source->has & WEIR_HAS(SOURCE_WAIT_NS)))
			break;
		sleep_until(now + MIN(source->wait_ns, end - now));
	}
	weir_out_begin(&tool->out, NULL, '[');
	if (!request.ret)
		command->show(&tool->out, &tool->answer);
	weir_out_end(&tool->out, ']');
	return weir_tool_settle(tool, &request, 0);
}

/* Why nothing was charged, and what would help. */
static void blame(struct weir_tool *tool, const struct weir_query *query)
{
	uint64_t cost = query->packets + query->bytes ?: 1;
	bool reserve = query->mode == WEIR_CHARGE_MODE_RESERVE;
	const struct weir_source *source = &tool->answer.source;
	const struct weir_source_budget *first = source->budgets;
	char in[WEIR_TEXT_SIZE + 4] = "", buf[WEIR_TEXT_SIZE];

	if (source->has & WEIR_HAS(SOURCE_WAIT_NS))
		snprintf(in, sizeof(in), " in %s", weir_text_time(source->wait_ns, buf));
	if (cost > first->budget && (reserve || query->wait))
		weir_err_set(&tool->err, "not charged: %" PRIu64 " is never granted; %" PRIu64 " is all that fits",
			     cost, first->budget);
	else if (source->blocked)
		weir_err_set(&tool->err, "not charged: the source is blocked");
	else if (query->wait)
		weir_err_set(&tool->err, "not charged: %s is over; there will be room%s at the earliest",
			     tool->timeout, in);
	else if (reserve)
		weir_err_set(&tool->err, "not charged: a burst of %" PRIu64 " is reserved at most; there will be room%s",
			     first->budget, in);
	else if (first->left)
		weir_err_set(&tool->err, "not charged: %" PRIu64 " exceeds the remaining %" PRIu64 "; 'mode drain' takes what is left",
			     cost, first->left);
	else
		weir_err_set(&tool->err, NOTHING_LEFT "%s%s",
			     *in ? "; there will be room" : "", in);
}

int weir_source_charge(struct weir_tool *tool, const struct weir_command *command,
		       union weir_model *model)
{
	const struct weir_source *source = &tool->answer.source;
	int status = check_length(tool, &model->query, NULL) ?: check_unit(tool, &model->query);

	if (!status)
		status = model->query.wait ? charge_wait(tool, command, model) :
			 weir_run_show(tool, command, model);
	if (status || source->taken)
		return status;
	if (model->query.mode == WEIR_CHARGE_MODE_DRAIN) {
		weir_note(tool, "note", NOTHING_LEFT);
		return status;
	}
	blame(tool, &model->query);
	return WEIR_EXIT_REFUSED;
}

/* -exist: the new end replaces that of a block that there is. */
int weir_source_block(struct weir_tool *tool, const struct weir_command *command,
		      union weir_model *model)
{
	model->query.replace = tool->exist;
	return weir_source_release(tool, command, model);
}
