// SPDX-License-Identifier: GPL-2.0-or-later
/* weir limit: add, set, show and rezone. */

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <string.h>

#include "config.h"
#include "tool.h"
#include "value.h"

static void show_one(struct weir_tool *tool, const struct weir_limit *limit)
{
	weir_out_begin(&tool->out, NULL, '[');
	weir_show_limit(&tool->out, limit);
	weir_out_end(&tool->out, ']');
}

/*
 * -exist: adding a limit that exists succeeds if it is the same; one that differs is
 * left unchanged and reported.
 */
static int add_existing(struct weir_tool *tool, const struct weir_limit *limit)
{
	static struct weir_config config;
	char differs[WEIR_DIFFERS_SIZE];
	struct weir_limit there = { 0 }, *here, *next;
	struct weir_request get;
	int status;

	weir_get_limit(tool, limit->name, &there, &get);
	status = weir_tool_settle(tool, &get, 0);
	if (!status && *limit->before)
		status = weir_get_config(tool, &config, false);
	if (status)
		return status;
	here = weir_config_find(&config, limit->name);
	next = weir_config_find(&config, limit->before);
	if (!weir_limit_differs(limit, &there, differs) && *limit->before &&
	    (!next || here > next))
		snprintf(differs, sizeof(differs), "before");
	if (!*differs) {
		if (!tool->check)
			show_one(tool, &there);
		return WEIR_EXIT_OK;
	}
	weir_err_set(&tool->err, "limit '%s' exists and differs in %s; nothing was changed (use 'limit set')",
		     limit->name, differs);
	return WEIR_EXIT_REFUSED;
}

/* Send a limit's words, and read what it is with them. */
static int change(struct weir_tool *tool, struct weir_request *request, struct weir_limit *made)
{
	int status;

	*made = (struct weir_limit){ 0 };
	request->flags = NLM_F_ECHO;
	request->into = made;
	weir_nl_ask(&tool->nl, request);
	status = weir_tool_settle(tool, request, 0);
	/* the echo has no counters */
	if (!status && tool->stats && !tool->check)
		weir_get_limit(tool, made->name, made, request);
	return status;
}

/* Fetches a limit with its counters; false: it cannot be had. */
static bool get_counted(struct weir_tool *tool, const char *name, struct weir_limit *limit)
{
	bool stats = tool->stats;
	struct weir_request get;

	tool->stats = true;
	*limit = (struct weir_limit){ 0 };
	weir_get_limit(tool, name, limit, &get);
	tool->stats = stats;
	return !get.ret;
}

/* Say how many blocks a forced change has ended. */
static void warn_lost(struct weir_tool *tool, const char *name, uint64_t before)
{
	struct weir_limit is;

	if (get_counted(tool, name, &is) && is.stats.blocks_lost > before)
		weir_note(tool, "warning", "limit '%s' had no room for %" PRIu64 " blocks, which ended",
			  name, is.stats.blocks_lost - before);
}

/* Add or set a limit and show the result. */
int weir_limit_change(struct weir_tool *tool, const struct weir_command *command,
		      union weir_model *model)
{
	struct weir_request request = weir_request_of(command, model);
	bool forced = tool->force && !tool->check;
	struct weir_limit made, was = { 0 };
	int status;

	model->limit.check = tool->check;
	model->limit.force = tool->force;
	if (forced)
		get_counted(tool, model->limit.name, &was);
	status = change(tool, &request, &made);
	if (!status && forced)
		warn_lost(tool, model->limit.name, was.stats.blocks_lost);
	/* of a check, what a new limit would be; nobody but root may ask */
	if (!status && (!tool->check || made.has & WEIR_HAS(LIMIT_MEMORY)))
		show_one(tool, &made);
	if (!status && !tool->check)
		command->note(tool, model);
	if (status && tool->exist && request.ret == command->allowed)
		return add_existing(tool, &model->limit);
	return status;
}

/* Look up a limit's zone, and drop it if it is as it was. */
static int find_zone(struct weir_tool *tool, struct weir_limit *limit, time_t now)
{
	struct weir_zone zone;

	if (!(limit->has & WEIR_HAS(LIMIT_ZONE)))
		return WEIR_EXIT_OK;
	if (weir_zone_find(limit->zone.name, now, &zone, &tool->err)) {
		weir_err_set(&tool->err, "limit '%s': %.400s", limit->name, tool->err.text);
		return WEIR_EXIT_REFUSED;
	}
	if (!memcmp(&zone, &limit->zone, sizeof(zone)))
		limit->has &= ~WEIR_HAS(LIMIT_ZONE);
	limit->zone = zone;
	return WEIR_EXIT_OK;
}

/* Set the zone anew of a limit as it is by now: others may have changed it, or be rid of it. */
static int set_zone(struct weir_tool *tool, const struct weir_command *command,
		    const char *name, time_t now)
{
	struct weir_limit words = { .check = tool->check }, there = { 0 }, made;
	struct weir_request get, request = {
		.cmd = command->cmd, .set = &weir_limit_fields, .verb = WEIR_ON_SET,
		.model = &words, .reply_set = command->reply_set,
	};
	int status;

	weir_get_limit(tool, name, &there, &get);
	if (get.ret == -ENOENT)
		return WEIR_EXIT_OK;
	status = weir_tool_settle(tool, &get, 0) ?: find_zone(tool, &there, now);
	words.has = there.has & WEIR_HAS(LIMIT_ZONE);
	if (status || !words.has)
		return status;
	words.zone = there.zone;
	strcpy(words.name, name);
	tool->limit = name;
	status = change(tool, &request, &made);
	if (!status)
		command->show(&tool->out, &made);
	return status;
}

/* All names are looked up before any is sent: an unknown one changes nothing. */
int weir_limit_rezone(struct weir_tool *tool, const struct weir_command *command,
		      union weir_model *model)
{
	static struct weir_config config;
	int status = weir_get_config(tool, &config, false);
	time_t now = time(NULL);
	unsigned int i;

	for (i = 0; !status && i < config.limit_count; i++)
		status = find_zone(tool, &config.limits[i], now);
	weir_out_begin(&tool->out, NULL, '[');
	for (i = 0; !status && i < config.limit_count; i++)
		if (config.limits[i].has & WEIR_HAS(LIMIT_ZONE))
			status = set_zone(tool, command, config.limits[i].name, now);
	weir_out_end(&tool->out, ']');
	return status;
}

void weir_warn_add(struct weir_tool *tool, const void *model)
{
	weir_note_ssh(tool, model, false);
}

/* Fill in what "set" leaves unchanged; false: unknown. */
static bool merge(struct weir_tool *tool, struct weir_limit *limit)
{
	struct weir_limit was = { 0 };
	struct weir_request get;

	if (!tool->reached || weir_get_limit(tool, limit->name, &was, &get))
		return false;
	if (!limit->match.any) {
		limit->match.invert |= was.match.invert & ~limit->match.has;
		weir_set_fill(&weir_match_fields, &limit->match, &was.match);
	}
	weir_set_fill(&weir_limit_fields, limit, &was);
	return true;
}

/* Say which budgets go, if those given replace all. */
static void note_budgets(struct weir_tool *tool, const struct weir_limit *limit)
{
	const struct weir_budget *old, *new;
	struct weir_limit was = { 0 };
	char buf[WEIR_TEXT_SIZE];
	struct weir_request get;
	unsigned int i, j;
	bool one;

	if (!limit->budget_count || !tool->reached ||
	    weir_get_limit(tool, limit->name, &was, &get) ||
	    (limit->budget_count < was.budget_count && !limit->only))
		return;
	one = was.budget_count == 1 && limit->budget_count == 1;
	for (i = 0; i < was.budget_count; i++) {
		old = &was.budgets[i];
		for (j = 0; j < limit->budget_count; j++) {
			new = &limit->budgets[j];
			if (new->amount.window_ms == old->amount.window_ms &&
			    (one || !(new->has & WEIR_HAS(BUDGET_UNIT)) || new->unit == old->unit))
				break;
		}
		if (j == limit->budget_count)
			weir_note(tool, "note", "limit '%s' loses its budget %s %s%s", limit->name,
				  weir_text_budget(NULL, &old->amount, buf),
				  weir_unit_names[old->unit],
				  one ? "; to keep it, give both" : "");
	}
}

/* The configuration, if it has what names limits; false: it has not, or cannot be had. */
static bool get_named(struct weir_tool *tool, struct weir_config *there)
{
	struct weir_stats stats;
	struct weir_request request = {
		.cmd = WEIR_CMD_STATS_GET, .reply_set = &weir_stats_fields, .into = &stats,
	};

	/* Reading all of them takes long where there are many, and most often there is none. */
	return !weir_nl_ask(&tool->nl, &request) && stats.exempts + stats.blocked_prefixes &&
	       !weir_get_config(tool, there, true);
}

/* How many prefixes are blocked under the limit, or under all. */
static unsigned int count_blocks(const struct weir_config *config, const char *limit)
{
	unsigned int i, count = 0;

	for (i = 0; i < config->exempt_count; i++)
		count += config->exempts[i].block && !strcmp(config->exempts[i].limit, limit);
	return count;
}

/* A limit that observes blocks nobody. */
static void warn_observe(struct weir_tool *tool, const struct weir_limit *limit)
{
	static struct weir_config there;
	unsigned int prefixes = 0;
	struct weir_limit was;

	if (limit->action != WEIR_ACTION_OBSERVE || !tool->reached ||
	    !get_counted(tool, limit->name, &was) || was.action == WEIR_ACTION_OBSERVE)
		return;
	if (get_named(tool, &there))
		prefixes = count_blocks(&there, limit->name) + count_blocks(&there, "");
	if (was.stats.blocked_now || prefixes)
		weir_note(tool, "warning",
			  "a limit that observes blocks nobody: blocked sources (%u) and prefixes (%u) get through '%s'",
			  (unsigned int)was.stats.blocked_now, prefixes, limit->name);
}

void weir_warn_set(struct weir_tool *tool, const void *model)
{
	struct weir_limit limit = *(const struct weir_limit *)model;

	note_budgets(tool, &limit);
	warn_observe(tool, &limit);
	if (merge(tool, &limit) || limit.match.any)
		weir_note_ssh(tool, &limit, true);
}

void weir_warn_blocked(struct weir_tool *tool, const struct weir_limit *limit)
{
	char sentence[80];

	if (!limit->stats.blocked_now)
		return;
	snprintf(sentence, sizeof(sentence), " has blocked %" PRIu64 " source%s, which this releases",
		 limit->stats.blocked_now, limit->stats.blocked_now == 1 ? "" : "s");
	weir_note_of(tool, "warning", limit->name, sentence);
}

/* The limit that a command names, or all. */
static void warn_each(struct weir_tool *tool, const char *name)
{
	static struct weir_config there;
	const struct weir_limit *limit;
	bool stats = tool->stats;
	struct weir_limit one;

	if (tool->reached && name && get_counted(tool, name, &one))
		weir_warn_blocked(tool, &one);
	if (!tool->reached || name)
		return;
	tool->stats = true;
	if (!weir_get_config(tool, &there, false))
		for (limit = there.limits; limit < there.limits + there.limit_count; limit++)
			weir_warn_blocked(tool, limit);
	tool->stats = stats;
}

/* Say how many exemptions and blocked prefixes name a limit that goes. */
static void warn_named(struct weir_tool *tool, const char *name)
{
	static struct weir_config there;
	unsigned int i, exempts = 0, blocks;

	if (!tool->reached || !get_named(tool, &there))
		return;
	blocks = count_blocks(&there, name);
	for (i = 0; i < there.exempt_count; i++)
		exempts += !there.exempts[i].block && !strcmp(there.exempts[i].limit, name);
	if (exempts || blocks)
		weir_note(tool, "warning", "deleting limit '%s' also deletes its exemptions (%u) and blocked prefixes (%u)",
			  name, exempts, blocks);
	if (there.limit_count == 1 && count_blocks(&there, ""))
		weir_note(tool, "warning", "no limit will be left, so prefixes that are blocked under all limits (%u) get through",
			  count_blocks(&there, ""));
}

void weir_warn_limit_del(struct weir_tool *tool, const void *model)
{
	const char *name = ((const struct weir_limit *)model)->name;

	warn_each(tool, name);
	warn_named(tool, name);
}

void weir_warn_limit_flush(struct weir_tool *tool, const void *model)
{
	warn_each(tool, NULL);
}

void weir_warn_forget(struct weir_tool *tool, const void *model)
{
	const struct weir_query *query = model;

	if (!query->prefix.family)
		warn_each(tool, *query->limit ? query->limit : NULL);
}
