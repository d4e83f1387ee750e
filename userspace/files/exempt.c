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

const char *weir_exempt_words(const struct weir_exempt *exempt, char text[WEIR_EXEMPT_SIZE])
{
	char buf[WEIR_TEXT_SIZE];

	snprintf(text, WEIR_EXEMPT_SIZE, "%s%s%s%s%s",
		 weir_text_prefix(NULL, &exempt->prefix, buf), *exempt->dev ? " dev " : "",
		 exempt->dev, *exempt->limit ? " limit " : "", exempt->limit);
	return text;
}

/*
 * An exemption, or a block, of the same prefix, of another device or limit, or else of one that
 * holds it; or NULL.
 */
static const struct weir_exempt *find_other(const struct weir_config *config,
					    const struct weir_exempt *wanted)
{
	const struct weir_exempt *at, *found = NULL;
	unsigned int i;

	for (i = 0; i < config->exempt_count; i++) {
		at = &config->exempts[i];
		if (at->block == wanted->block && weir_config_compare(at, wanted) &&
		    weir_prefix_holds(&at->prefix, &wanted->prefix) &&
		    (!found || at->prefix.len > found->prefix.len))
			found = at;
	}
	return found;
}

int weir_exempt_del(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	const struct weir_exempt *wanted = &model->exempt, *other;
	int status = weir_run_plain(tool, command, model);
	const char *object = wanted->block ? "block" : "exempt";
	struct weir_config *there;
	char words[WEIR_EXEMPT_SIZE], buf[WEIR_TEXT_SIZE];

	/* With -exist it is not known whether it was there. */
	if (status != WEIR_EXIT_REFUSED && (status || !tool->exist))
		return status;
	there = weir_there(tool, true);
	other = there ? find_other(there, wanted) : NULL;
	if (!other || (*wanted->limit && !weir_config_find(there, wanted->limit)))
		return status;
	weir_exempt_words(other, words);
	if (status)
		weir_err_set(&tool->err, "PREFIX %s: %s as %s; 'weir %s del %s' ends that",
			     weir_text_prefix(NULL, &wanted->prefix, buf),
			     wanted->block ? "blocked" : "exempt", words, object, words);
	else
		weir_note(tool, "note", "still %s as %s; 'weir %s del %s' ends that",
			  wanted->block ? "blocked" : "exempt", words, object, words);
	return status;
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

void weir_note_ends(struct weir_tool *tool, const struct weir_config *config,
		    const struct weir_config *there)
{
	const struct weir_exempt *is, *end = config->exempts + config->exempt_count;
	const struct weir_exempt *was, *first = NULL, *first_was = NULL;
	char words[WEIR_EXEMPT_SIZE], buf[WEIR_TEXT_SIZE], others[32] = "";
	unsigned int more = 0, begun = 0;

	for (is = config->exempts; is < end; is++) {
		was = weir_exempt_find(there, is);
		begun += !was && is->for_ms && !is->until;
		if (!was || !was->for_ms || is->until ||
		    was->for_ms + WEIR_NEARLY_MS >= is->for_ms)
			continue;
		more += !!first;
		first_was = first ? first_was : was;
		first = first ? first : is;
	}
	if (begun)
		weir_note(tool, "note", "exemptions and blocks begin now, and again if the file is applied once they have ended (%u); 'until' in place of 'for' ends them for good",
			  begun);
	if (more)
		snprintf(others, sizeof(others), ", as do others (%u)", more);
	tool->line = first ? first->line : 0;
	if (first)
		weir_note(tool, "note", "the %s of %s keeps its end, in %s%s; to prolong it, delete it first",
			  first->block ? "block" : "exemption", weir_exempt_words(first, words),
			  weir_text_time(first_was->for_ms * 1000000, buf), others);
	tool->line = 0;
}

/* Is there a limit that may not drop packets from a blocked prefix? */
static bool any_spares(const struct weir_config *config)
{
	const uint64_t some = WEIR_COND_FAMILY | WEIR_COND_FROM | WEIR_COND_DEV;
	unsigned int i;

	for (i = 0; config && i < config->limit_count; i++)
		if (config->limits[i].action == WEIR_ACTION_OBSERVE ||
		    config->limits[i].match.has & some)
			return true;
	return false;
}

/* May a limit match packets from a blocked prefix? */
static bool may_match(const struct weir_limit *limit, const struct weir_exempt *block)
{
	bool other = strcmp(limit->match.dev, block->dev);

	if (*block->dev && limit->match.has & WEIR_COND_DEV &&
	    other != !!(limit->match.invert & WEIR_COND_DEV))
		return false;
	return weir_takes_from(limit, &block->prefix);
}

void weir_warn_unblocked(struct weir_tool *tool, const struct weir_exempt *block)
{
	const struct weir_config *config = tool->config;
	const uint64_t by_source = WEIR_COND_FAMILY | WEIR_COND_FROM | WEIR_COND_FROM_LIST |
				   WEIR_COND_DEV;
	const struct weir_limit *limit, *observes = NULL, *narrow = NULL;
	char text[200];

	/* There may be many blocks, but most often each limit applies to all. */
	if (!config && (!tool->spare_asked || tool->limits_spare))
		config = weir_there(tool, false);
	if (!tool->config && !tool->spare_asked) {
		tool->limits_spare = any_spares(config);
		tool->spare_asked = true;
	}
	for (limit = config ? config->limits : NULL;
	     config && limit < config->limits + config->limit_count; limit++) {
		if ((*block->limit && strcmp(block->limit, limit->name)) ||
		    !may_match(limit, block))
			continue;
		if (limit->action == WEIR_ACTION_OBSERVE)
			observes = observes ? observes : limit;
		else if (!*block->limit && limit->match.has & ~by_source)
			narrow = narrow ? narrow : limit;
		else
			return;
	}
	if (narrow)
		snprintf(text, sizeof(text), "of the packets from there, only those that match a limit, as '%s', are dropped; to drop all: weir limit add NAME blocks 1",
			 narrow->name);
	else if (observes)
		snprintf(text, sizeof(text), "nothing is blocked: limit '%s' observes, and none drops packets from there",
			 observes->name);
	else
		snprintf(text, sizeof(text), "nothing is blocked: %s%s%s matches packets from there",
			 *block->limit ? "limit '" : "no limit", block->limit,
			 *block->limit ? "' never" : "");
	/* A batch that is checked may have a limit in a line before. */
	if (config && !(tool->check && tool->batch))
		weir_note_of(tool, narrow ? "note" : "warning", NULL, text);
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
	config = every && !tool->config ? weir_there(tool, false) : tool->config;
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
	else
		weir_warn_unblocked(tool, exempt);
}
