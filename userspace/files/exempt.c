// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What there is already of exemptions and blocks: of a prefix that weir exempt del and weir block
 * del do not find, and of those of a file; and what is to be said of a block.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "files/files.h"

/* Conditions that say from where. */
#define BY_SOURCE	((uint64_t)(WEIR_COND_FAMILY | WEIR_COND_FROM | WEIR_COND_FROM_LIST | \
				    WEIR_COND_DEV))

const char *weir_exempt_words(const struct weir_exempt *exempt, char text[WEIR_EXEMPT_SIZE])
{
	char buf[WEIR_TEXT_SIZE];

	snprintf(text, WEIR_EXEMPT_SIZE, "%s%s%s%s%s",
		 weir_text_prefix(NULL, &exempt->prefix, buf), *exempt->dev ? " dev " : "",
		 exempt->dev, *exempt->limit ? " limit " : "", exempt->limit);
	return text;
}

static bool is_at(const char *is, const char *wanted)
{
	return !*is || !*wanted || !strcmp(is, wanted);
}

const struct weir_exempt *weir_exempt_holding(const struct weir_config *config,
					      const struct weir_exempt *wanted, bool other)
{
	const struct weir_exempt *at, *found = NULL;

	for (at = config->exempts; at < config->exempts + config->exempt_count; at++)
		if (at->block == wanted->block && weir_prefix_holds(&at->prefix, &wanted->prefix) &&
		    (other ? weir_config_compare(at, wanted) :
			     is_at(at->dev, wanted->dev) && is_at(at->limit, wanted->limit)) &&
		    (!found || at->prefix.len > found->prefix.len))
			found = at;
	return found;
}

/* Does it apply to sources of the prefix, if it names a limit? */
static bool is_met(const struct weir_config *there, const struct weir_exempt *at,
		   const struct weir_prefix *prefix)
{
	static struct weir_members sources;
	const struct weir_limit *limit = weir_config_find(there, at->limit);

	if (limit)
		weir_members_sources(&sources, there, limit);
	return !limit || weir_takes_source(limit, &sources, prefix);
}

int weir_exempt_tell(struct weir_tool *tool, const struct weir_exempt *wanted, bool other,
		     const char *word, int status)
{
	const char *object = wanted->block ? "block" : "exempt";
	char words[WEIR_EXEMPT_SIZE], text[3 * WEIR_EXEMPT_SIZE], prefix[WEIR_TEXT_SIZE];
	struct weir_config *there = weir_there(tool, WEIR_GET_ALL);
	const struct weir_exempt *at;
	bool told = false;

	weir_text_prefix(NULL, &wanted->prefix, prefix);
	if (!there || (*wanted->limit && !weir_config_find(there, wanted->limit)))
		return status;
	for (; (at = weir_exempt_holding(there, wanted, other));
	     there->exempts[at - there->exempts].block = !wanted->block) {
		if (!is_met(there, at, &wanted->prefix))
			continue;
		weir_exempt_words(at, words);
		if (!other && !at->prefix.len && *at->limit)
			snprintf(text, sizeof(text), "blocked as %s; 'weir exempt add %s limit %s' lets it pass",
				 words, prefix, at->limit);
		else
			snprintf(text, sizeof(text), "%s%s as %s; 'weir %s del %s' ends that",
				 object, wanted->block ? "ed" : "", words, object, words);
		if (status && !told)
			weir_err_set(&tool->err, "%s %s: %s", word, prefix, text);
		else
			weir_note(tool, "note", "%s is still %s", prefix, text);
		told = true;
	}
	return status;
}

int weir_exempt_del(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	int status = weir_run_plain(tool, command, model);
	struct weir_limit limit = { 0 };

	strcpy(limit.name, model->exempt.limit);
	if (!status && model->exempt.block && !model->exempt.prefix.len && *limit.name)
		weir_note_listed(tool, &limit);
	/* With -exist it is not known whether it was there. */
	return status == WEIR_EXIT_REFUSED || (!status && tool->exist) ?
	       weir_exempt_tell(tool, &model->exempt, true, "PREFIX", status) : status;
}

static int compare_exempts(const void *left, const void *right)
{
	return weir_config_compare(left, right);
}

const struct weir_exempt *weir_exempt_find(const struct weir_config *there,
					   const struct weir_exempt *exempt)
{
	return !there->exempt_count ? NULL :
	       bsearch(exempt, there->exempts, there->exempt_count, sizeof(*exempt),
		       compare_exempts);
}

void weir_note_penalty(struct weir_tool *tool, const struct weir_limit *limit,
		       const struct weir_limit *was)
{
	if (was->stats.blocked_now && limit->penalty_ms != was->penalty_ms)
		weir_note_of(tool, "note", limit->name, ": who is blocked stays so for as long as before; 'source release' ends that");
}

/* Ends that differ from those in force: the first, and how many. */
struct ends {
	const struct weir_exempt *is, *was;
	unsigned int count;
};

static void note_end(struct weir_tool *tool, const struct ends *ends, bool sooner)
{
	char words[WEIR_EXEMPT_SIZE], is[WEIR_TEXT_SIZE], was[WEIR_TEXT_SIZE], others[32] = "";
	const char *object = ends->is && ends->is->block ? "block" : "exemption";

	if (!ends->is)
		return;
	if (ends->count > 1)
		snprintf(others, sizeof(others), ", as do others (%u)", ends->count - 1);
	weir_exempt_words(ends->is, words);
	weir_text_time(ends->is->for_ms * 1000000, is);
	weir_text_time(ends->was->for_ms * 1000000, was);
	tool->line = ends->is->line;
	if (sooner)
		weir_note(tool, "note", "the %s of %s ends in %s%s%s%s", object, words, is,
			  ends->was->for_ms ? " instead of in " : ", and had no end",
			  ends->was->for_ms ? was : "", others);
	else
		weir_note(tool, "note", "the %s of %s keeps its end, in %s%s; to prolong it, delete it first",
			  object, words, was, others);
	tool->line = 0;
}

void weir_note_ends(struct weir_tool *tool, const struct weir_config *config,
		    const struct weir_config *there)
{
	const struct weir_exempt *is, *end = config->exempts + config->exempt_count, *was;
	struct ends keep = { 0 }, sooner = { 0 }, *to;
	unsigned int begun = 0;

	for (is = config->exempts; is < end; is++) {
		was = weir_exempt_find(there, is);
		begun += (!was || !was->for_ms) && is->for_ms && !is->until;
		if (!was || !is->for_ms)
			continue;
		to = !was->for_ms || was->for_ms > is->for_ms + WEIR_NEARLY_MS ? &sooner :
		     !is->until && was->for_ms + WEIR_NEARLY_MS < is->for_ms ? &keep : NULL;
		if (to && !to->count++)
			*to = (struct ends){ is, was, 1 };
	}
	if (begun)
		weir_note(tool, "note", "exemptions and blocks begin now, and again if the file is applied once they have ended (%u); 'until' in place of 'for' ends them for good",
			  begun);
	note_end(tool, &keep, false);
	note_end(tool, &sooner, true);
}

/* What becomes of packets from a blocked prefix: all are dropped, or those that a limit matches. */
struct reach {
	bool all;
	const struct weir_limit *narrow, *observes;	/* the first; or NULL */
};

static void add_limit(struct reach *reach, const struct weir_limit *limit,
		      const struct weir_members *sources, const struct weir_exempt *block)
{
	bool other = strcmp(limit->match.dev, block->dev), named = *block->limit;
	enum weir_taken taken;

	if (reach->all || (named && strcmp(block->limit, limit->name)) ||
	    (*block->dev && limit->match.has & WEIR_COND_DEV &&
	     other != !!(limit->match.invert & WEIR_COND_DEV)))
		return;
	taken = weir_takes_source(limit, sources, &block->prefix);
	if (!taken)
		return;
	if (limit->action == WEIR_ACTION_OBSERVE)
		reach->observes = reach->observes ? reach->observes : limit;
	else if (named || (taken == WEIR_TAKES_ALL && !(limit->match.has & ~BY_SOURCE)))
		reach->all = true;
	else
		reach->narrow = reach->narrow ? reach->narrow : limit;
}

static void say_reach(struct weir_tool *tool, const struct reach *reach,
		      const struct weir_exempt *block)
{
	char text[200];

	if (reach->all)
		return;
	if (reach->narrow)
		snprintf(text, sizeof(text), "of the packets from there, only those that match a limit, as '%s', are dropped; to drop all: weir limit add NAME blocks 1",
			 reach->narrow->name);
	else if (reach->observes)
		snprintf(text, sizeof(text), "nothing is blocked: limit '%s' observes, and none drops packets from there",
			 reach->observes->name);
	else
		snprintf(text, sizeof(text), "nothing is blocked: %s%s%s matches packets from there",
			 *block->limit ? "limit '" : "no limit", block->limit,
			 *block->limit ? "' never" : "");
	weir_note_of(tool, reach->narrow ? "note" : "warning", NULL, text);
}

void weir_warn_unblocked(struct weir_tool *tool, const struct weir_config *config,
			 const struct weir_exempt *exempts, unsigned int count)
{
	static struct weir_members sources;
	struct reach *reach = calloc(count + 1, sizeof(*reach));
	const struct weir_limit *limit = config->limits;
	unsigned int line = tool->line, i;

	for (; reach && limit < config->limits + config->limit_count; limit++) {
		weir_members_sources(&sources, config, limit);
		for (i = 0; i < count; i++)
			if (exempts[i].block)
				add_limit(&reach[i], limit, &sources, &exempts[i]);
	}
	for (i = 0; reach && i < count; i++) {
		tool->line = exempts[i].line ? exempts[i].line : line;
		if (exempts[i].block)
			say_reach(tool, &reach[i], &exempts[i]);
	}
	tool->line = line;
	free(reach);
}

/* Is there a limit that observes, or has one of @some conditions? */
static bool any_spares(const struct weir_config *config, uint64_t some, bool observes)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++)
		if ((observes && config->limits[i].action == WEIR_ACTION_OBSERVE) ||
		    config->limits[i].match.has & some)
			return true;
	return false;
}

void weir_warn_unblocked_now(struct weir_tool *tool, const struct weir_exempt *block)
{
	const struct weir_config *there = NULL;
	const uint64_t many = WEIR_COND_FROM_LIST;

	/* There may be many blocks, but most often each limit applies to all. */
	if (!tool->spare_asked || tool->limits_spare)
		there = weir_there(tool, 0);
	if (there && !tool->spare_asked) {
		tool->limits_spare = any_spares(there, BY_SOURCE, true);
		tool->spare_asked = true;
	}
	/* A batch would read many for each line; if it is checked, one before may add a limit. */
	if (there && any_spares(there, many, false))
		there = tool->batch ? NULL : weir_there(tool, WEIR_GET_ALL);
	if (there && !(tool->check && tool->batch))
		weir_warn_unblocked(tool, there, block, 1);
}

void weir_note_block(struct weir_tool *tool, const void *model)
{
	const struct weir_exempt *exempt = model;
	const struct weir_config *config;
	const struct weir_limit *limit;
	char buf[WEIR_TEXT_SIZE];
	bool every = !exempt->prefix.len && !*exempt->dev;
	const uint64_t some = WEIR_COND_FROM | WEIR_COND_FROM_LIST;

	weir_note_dev(tool, exempt->dev);
	weir_note_end(tool, exempt);
	weir_note_nat64(tool, &exempt->prefix);
	weir_note_group(tool, &exempt->prefix);
	config = every && !tool->config ? weir_there(tool, 0) : tool->config;
	limit = every && config ? weir_config_find(config, exempt->limit) : NULL;
	/* All of some are meant. */
	if (every && !(limit && limit->match.has & ~limit->match.invert & some))
		weir_note(tool, "warning", "%s is every %s source: all packets that match %s are dropped, but of exempt sources",
			  weir_text_prefix(NULL, &exempt->prefix, buf),
			  exempt->prefix.family == AF_INET ? "IPv4" : "IPv6",
			  *exempt->limit ? "the limit" : "a limit");
	if (weir_without_limits(tool))
		weir_note_of(tool, "note", NULL,
			     "nothing is blocked yet: there is no limit whose packets could be dropped");
	else if (!tool->config)
		weir_warn_unblocked_now(tool, exempt);
}
