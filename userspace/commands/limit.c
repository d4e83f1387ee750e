// SPDX-License-Identifier: GPL-2.0-or-later
/* weir limit: add, set, show and rezone. */

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "commands/commands.h"

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

	weir_get_limit(tool, limit->name, tool->stats, &there, &get);
	status = weir_tool_settle(tool, &get, 0);
	if (!status && *limit->before)
		status = weir_get_config(tool, &config, 0);
	if (status)
		return status;
	here = weir_config_find(&config, limit->name);
	next = weir_config_find(&config, limit->before);
	if (!weir_limit_differs(limit, &there, differs) && *limit->before &&
	    (!next || here > next))
		snprintf(differs, sizeof(differs), "before");
	tool->spared = !*differs;
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
	unsigned int i;
	int status;

	*made = (struct weir_limit){ 0 };
	request->flags = NLM_F_ECHO;
	request->into = made;
	weir_nl_ask(&tool->nl, request);
	status = weir_tool_settle(tool, request, 0);
	/* the echo has no counters, and the period of a calendar before the change */
	if (!status && (tool->stats || made->has & WEIR_HAS(LIMIT_ZONE)) && !tool->check)
		weir_get_limit(tool, made->name, tool->stats, made, request);
	for (i = 0; i < made->budget_count && tool->check; i++)
		made->budgets[i].renews = 0;
	return status;
}

/* Say what becomes of the budgets of its list. */
static void note_listed(struct weir_tool *tool, const struct weir_limit *limit,
			const struct weir_limit *was)
{
	const struct weir_config *there;

	there = tool->quiet || !*was->budgets_by ? NULL : weir_there(tool, WEIR_GET_ALL);
	if (!there)
		return;
	weir_note_scale(tool, there, limit, was);
	weir_note_unlisted(tool, there, limit, was);
}

/* The module says that there is no such list, but not which ones there are. */
static void say_lists(struct weir_tool *tool, const struct weir_field *field,
		      const struct weir_limit *limit)
{
	const char *name = field->type == &weir_type_lookup ? limit->budgets_by :
			   weir_field_at(field, &limit->match);
	const struct weir_config *there = weir_there(tool, WEIR_GET_ALL);
	char near[WEIR_NEAR_SIZE];

	if (there)
		weir_err_set(&tool->err, "%s: no list '%s' in force%s", field->word, name,
			     weir_lists_near(there, name, near));
}

/* Fill in what "set" leaves unchanged. */
static void merge(struct weir_limit *limit, const struct weir_limit *was)
{
	if (!limit->match.any) {
		limit->match.invert |= was->match.invert & ~limit->match.has;
		weir_set_fill(&weir_match_fields, &limit->match, &was->match);
	}
	weir_set_fill(&weir_limit_fields, limit, was);
}

/* The module does not say which prefix of the list is at fault. */
static void say_member(struct weir_tool *tool, struct weir_limit limit,
		       const struct weir_limit *was)
{
	const struct weir_config *there = weir_there(tool, WEIR_GET_ALL);
	const struct weir_member *member;
	const struct weir_field *field;
	unsigned int next = 0;

	merge(&limit, was);
	if (there)
		weir_lists_check_limit(there, &limit, &next, &field, &member, &tool->err);
}

/* A budget that is none of the limit's may be meant as another one, or instead of all. */
static void say_budgets(struct weir_tool *tool, const struct weir_limit *limit,
			const struct weir_limit *was)
{
	char all[256] = "", one[WEIR_TEXT_SIZE];
	const struct weir_budget *new = limit->budgets, *is;
	unsigned int i, count = was->budget_count;

	if (limit->budget_count != 1 || limit->only || count < 2 || count == WEIR_BUDGETS_MAX ||
	    !(new->has & WEIR_HAS(BUDGET_BUDGET)))
		return;
	for (i = 0; i <= count; i++) {
		is = i < count ? &was->budgets[i] : new;
		if (i < count && is->amount.window_ms == new->amount.window_ms)
			return;
		weir_text_budget(NULL, &is->amount, one);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), " budget %.40s%s", one,
			 is->unit ? " bytes" : "");
	}
	weir_err_set(&tool->err, "limit '%s' has no budget of that window; to add it: limit set %s%s; to have it alone: limit set %s budget %.40s only",
		     limit->name, limit->name, all, limit->name, one);
}

/* Add or set a limit and show the result. */
int weir_limit_change(struct weir_tool *tool, const struct weir_command *command,
		      union weir_model *model)
{
	struct weir_request request = weir_request_of(command, model);
	bool set = command->verb == WEIR_ON_SET, there;
	struct weir_limit made, was = { 0 };
	struct weir_request get;
	int status;

	model->limit.check = tool->check;
	there = set && !weir_get_limit(tool, model->limit.name, true, &was, &get);
	status = change(tool, &request, &made);
	if (!status && there)
		note_listed(tool, &made, &was);
	if (request.ret == -ENOENT && request.fault && (request.fault->type == &weir_type_list ||
							request.fault->type == &weir_type_lookup))
		say_lists(tool, request.fault, &model->limit);
	else if (request.ret && request.fault && request.fault->type == &weir_type_lookup)
		say_member(tool, model->limit, &was);
	if (request.ret == -EINVAL && there)
		say_budgets(tool, &model->limit, &was);
	/* of a check, what a new limit would be; nobody but root may ask */
	if (!status && (!tool->check || made.has & WEIR_HAS(LIMIT_MEMORY)))
		show_one(tool, &made);
	if (status && tool->exist && request.ret == command->allowed)
		return add_existing(tool, &model->limit);
	model->limit.blocks_only = made.blocks_only;
	if (!status && !tool->check)
		command->note(tool, model);
	if (!status && !tool->check && (*model->limit.budgets_by || *model->limit.match.from_list))
		weir_note_listed(tool, &model->limit);
	return status;
}

int weir_limit_rename(struct weir_tool *tool, const struct weir_command *command,
		      union weir_model *model)
{
	const struct weir_limit *limit = &model->limit;
	int status = weir_run_plain(tool, command, model);

	/* A file goes by names. */
	if (!status)
		weir_note(tool, "note", "rename it in the file that is applied later, too: one with a limit '%s' makes it anew, and deletes '%s'",
			  limit->name, limit->new_name);
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

	weir_get_limit(tool, name, false, &there, &get);
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
	int status = weir_get_config(tool, &config, 0);
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

/* The configuration, if it has what names limits; NULL: it has not, or cannot be had. */
static struct weir_config *get_named(struct weir_tool *tool)
{
	struct weir_stats stats;

	/* Reading all of them takes long where there are many, and most often there is none. */
	return !weir_get_stats(tool, &stats) && stats.exempts + stats.blocked_prefixes ?
	       weir_there(tool, WEIR_GET_ALL) : NULL;
}

/* How many prefixes are blocked under all limits. */
static unsigned int count_blocks(const struct weir_config *config)
{
	unsigned int i, count = 0;

	for (i = 0; i < config->exempt_count; i++)
		count += config->exempts[i].block && !*config->exempts[i].limit;
	return count;
}

/* Blocked sources of a prefix, which is one of an address, or has them whole. */
struct blocked {
	struct weir_config *there;	/* blocked_now counts for each limit */
	struct weir_query query;
};

static int count_blocked(const void *model, void *data)
{
	const struct weir_source *source = model;
	const struct blocked *blocked = data;
	const struct weir_prefix *prefix = &blocked->query.prefix;
	struct weir_limit *limit = weir_config_find(blocked->there, source->limit);

	if (limit && (prefix->len == (prefix->family == AF_INET ? 32 : 128) ||
		      weir_prefix_holds(prefix, &source->prefix)))
		limit->stats.blocked_now++;
	return 0;
}

static void ask_blocked(struct weir_tool *tool, struct blocked *blocked)
{
	struct weir_request request = weir_request_sources(&blocked->query, count_blocked, blocked);
	struct weir_limit *limit = blocked->there->limits;
	struct weir_err err = tool->err;
	uint64_t all = 0;

	for (; limit < blocked->there->limits + blocked->there->limit_count; limit++) {
		all += limit->stats.blocked_now;
		limit->stats.blocked_now = 0;
	}
	if (all)
		weir_nl_ask(&tool->nl, &request);
	tool->err = err;
}

/* Say how many blocked sources are released, of one limit, or with "" of all. */
static void warn_released(struct weir_tool *tool, const struct weir_config *there, const char *name)
{
	const struct weir_limit *limit = there->limits;
	char sentence[80];
	uint64_t count;

	for (; limit < there->limits + there->limit_count; limit++) {
		count = limit->stats.blocked_now;
		if (!count || (*name && strcmp(limit->name, name)))
			continue;
		snprintf(sentence, sizeof(sentence), " has blocked %" PRIu64 " source%s, which this releases",
			 count, count == 1 ? "" : "s");
		weir_note_of(tool, "warning", limit->name, sentence);
	}
}

/* Does a prefix, or a range of ports, include another? */
static bool includes(const struct weir_field *field, const void *value, const void *other)
{
	const uint16_t *is = value, *of = other;

	return field->type == &weir_type_prefixes ? weir_prefix_holds(value, other) :
						    is[0] <= of[0] && is[1] >= of[1];
}

/* Name the conditions that go, as others are given after 'match'. */
static void note_dropped(struct weir_tool *tool, const struct weir_limit *limit,
			 const struct weir_match *had)
{
	const uint64_t gone = limit->match.any ? had->has & ~limit->match.has : 0;
	const struct weir_field *field = weir_match_fields.fields;
	char text[WEIR_TEXT_SIZE] = "", one[80];

	for (; field->type; field++) {
		if (!(field->bit & gone))
			continue;
		snprintf(one, sizeof(one), "'%s%s'", field->bit & had->invert ? "not " : "",
			 field->word);
		weir_append(text, sizeof(text), ", ", one);
	}
	if (*text)
		weir_note(tool, "note", "limit '%s' loses %s; to keep that, give all", limit->name,
			  text);
}

/* Name the prefixes and ports of conditions that are lost: those that are given replace them. */
static void note_replaced(struct weir_tool *tool, const struct weir_limit *limit,
			  const struct weir_limit *was)
{
	const struct weir_match *is = &limit->match, *had = &was->match;
	const uint64_t both = is->has & had->has & ~(is->invert ^ had->invert);
	const struct weir_field *field = weir_match_fields.fields;
	const char *new, *old, *end;
	char buf[WEIR_TEXT_SIZE];
	unsigned int i;

	for (; field->type; field++) {
		if (!(field->bit & both) || (field->type != &weir_type_prefixes &&
					     field->type != &weir_type_portlist))
			continue;
		end = (char *)weir_field_at(field, is) + weir_field_given(field, is) * field->size;
		for (i = 0; i < weir_field_given(field, had); i++) {
			old = (char *)weir_field_at(field, had) + i * field->size;
			for (new = weir_field_at(field, is); new < end; new += field->size)
				if (includes(field, new, old))
					break;
			if (new == end)
				weir_note(tool, "note", "limit '%s' loses '%s%s %s'; to keep it, give all",
					  limit->name, field->bit & had->invert ? "not " : "",
					  field->word, field->type->text(field, old, buf));
		}
	}
}

/* Warn of who is blocked, and gets through once the limit is as it is with the @words. */
static void warn_freed(struct weir_tool *tool, const struct weir_limit *words,
		       const struct weir_limit *limit)
{
	static struct weir_config now;
	struct weir_config *was;
	struct weir_limit *at;

	if (!words->match.has && !words->match.any && words->action != WEIR_ACTION_OBSERVE)
		return;
	was = weir_there(tool, WEIR_GET_ALL | WEIR_GET_STATS);
	if (!was)
		return;
	weir_config_sort(was);
	now = *was;
	at = weir_config_find(&now, limit->name);
	if (at)
		*at = *limit;
	weir_warn_freed(tool, was, &now);
}

void weir_warn_set(struct weir_tool *tool, const void *model)
{
	struct weir_limit limit = *(const struct weir_limit *)model, was = { 0 };
	struct weir_request get;
	bool there = tool->reached && !weir_get_limit(tool, limit.name, true, &was, &get);

	weir_note_budgets(tool, &limit);
	if (there) {
		if (limit.penalty_ms && was.renew && !limit.renew)
			weir_note_of(tool, "note", limit.name, ": refused packets no longer prolong its blocks; to keep that, add 'renew'");
		if (limit.sources > was.sources && was.stats.sources_wanted)
			weir_note(tool, "note", "limit '%s' still refuses sources that it could not tell apart, for a window; 'weir source forget all limit %s' ends that, with all counts",
				  limit.name, limit.name);
		note_dropped(tool, &limit, &was.match);
		note_replaced(tool, &limit, &was);
		merge(&limit, &was);
		weir_note_known(tool, &limit, &was);
		weir_note_penalty(tool, &limit, &was);
		weir_note_zone(tool, &limit, &was);
		warn_freed(tool, model, &limit);
	}
}

static bool is_selective(const struct weir_limit *limit)
{
	return limit->match.has & ~limit->match.invert & (WEIR_COND_FROM | WEIR_COND_FROM_LIST);
}

/* Warn of a limit that blocks all whom it matches, as of a list, and not these any more. */
static void warn_spared(struct weir_tool *tool, const struct weir_config *there,
			const struct weir_exempt *exempt)
{
	static struct weir_members sources;
	const struct weir_limit *limit;
	const struct weir_exempt *at;
	char buf[WEIR_TEXT_SIZE];

	for (at = there->exempts; at < there->exempts + there->exempt_count; at++) {
		limit = at->block && !at->prefix.len ? weir_config_find(there, at->limit) : NULL;
		if (!limit || !is_selective(limit) || limit->action == WEIR_ACTION_OBSERVE ||
		    at->prefix.family != exempt->prefix.family ||
		    (*exempt->limit && strcmp(exempt->limit, at->limit)))
			continue;
		weir_members_sources(&sources, there, limit);
		if (weir_takes_source(limit, &sources, &exempt->prefix))
			weir_note(tool, "warning", "limit '%s' blocks sources of %s, which the exemption comes before",
				  limit->name, weir_text_prefix(NULL, &exempt->prefix, buf));
	}
}

void weir_warn_exempt(struct weir_tool *tool, const void *model)
{
	struct weir_config *was = tool->batch ? NULL : weir_there(tool, WEIR_GET_STATS);
	static struct weir_config now;
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; was && i < was->limit_count; i++)
		count += was->limits[i].stats.blocked_now + is_selective(&was->limits[i]);
	/* Reading all of it takes long where there is much, and most often nobody is blocked. */
	was = count ? weir_there(tool, WEIR_GET_ALL | WEIR_GET_STATS) : NULL;
	if (!was)
		return;
	weir_config_sort(was);
	warn_spared(tool, was, model);
	now = *was;
	if (weir_exempt_find(was, model) || weir_config_add_exempt(&now, model, &tool->err))
		return;
	/* It is in the room behind those that there are. */
	was->exempts = now.exempts;
	was->exempt_room = now.exempt_room;
	now.block_count = 0;	/* the module says that of prefixes */
	weir_warn_freed(tool, was, &now);
}

/* What goes with a limit, or with "" all: counts, and who is known or blocked. */
static void warn_gone(struct weir_tool *tool, const char *name)
{
	const struct weir_config *there = weir_there(tool, WEIR_GET_STATS);
	const struct weir_limit *limit = there ? there->limits : NULL;
	uint64_t sources = 0, known = 0;
	char buf[WEIR_TEXT_SIZE];

	for (; there && limit < there->limits + there->limit_count; limit++) {
		if (*name && strcmp(limit->name, name))
			continue;
		sources += limit->stats.sources_now;
		known += limit->stats.known_now;
	}
	if (sources)
		weir_note(tool, "note", "the counts of %" PRIu64 " source%s go%s", sources,
			  sources == 1 ? "" : "s", weir_forgotten_text(known, ", and ", buf));
	else if (known)
		weir_note(tool, "note", "%s", weir_forgotten_text(known, "", buf));
	if (there)
		warn_released(tool, there, name);
}

/* Say how many exemptions and blocked prefixes name a limit that goes, or with NULL, any limit. */
static void warn_named(struct weir_tool *tool, const char *name)
{
	struct weir_config *there = tool->reached ? get_named(tool) : NULL;
	static struct weir_config kept;
	const struct weir_exempt *at;
	unsigned int exempts = 0, blocks = 0;
	struct weir_limit *limit;

	if (!there || !there->limit_count || (name && !weir_config_find(there, name)))
		return;
	for (at = there->exempts; at < there->exempts + there->exempt_count; at++) {
		if (!*at->limit || (name && strcmp(at->limit, name)))
			continue;
		exempts += !at->block;
		blocks += at->block;
	}
	if (exempts || blocks)
		weir_note(tool, "warning", "deleting %s%s%s also deletes %s exemptions (%u) and blocked prefixes (%u)",
			  name ? "limit '" : "all limits", name ? name : "", name ? "'" : "",
			  name ? "its" : "their", exempts, blocks);
	if (name) {
		weir_config_sort(there);
		kept = *there;
		limit = weir_config_find(&kept, name);
		memmove(limit, limit + 1, (char *)&kept.limits[kept.limit_count--] -
					  (char *)(limit + 1));
		weir_warn_freed(tool, there, &kept);
	} else if (count_blocks(there)) {
		weir_note(tool, "warning", "no limit will be left, so prefixes that are blocked under all limits (%u) get through",
			  count_blocks(there));
	}
}

void weir_warn_limit_del(struct weir_tool *tool, const void *model)
{
	const char *name = ((const struct weir_limit *)model)->name;

	warn_gone(tool, name);
	warn_named(tool, name);
}

void weir_warn_limit_flush(struct weir_tool *tool, const void *model)
{
	warn_gone(tool, "");
	warn_named(tool, NULL);
}

/* How many prefixes are exempt, or blocked, no longer. */
static void note_ended(struct weir_tool *tool, bool block, const char *what)
{
	const struct weir_config *there = tool->quiet ? NULL : weir_there(tool, WEIR_GET_ALL);
	unsigned int blocks = there ? there->block_count : 0;
	unsigned int count = block || !there ? blocks : there->exempt_count - blocks;

	if (count)
		weir_note(tool, "note", "%s: %u", what, count);
}

void weir_warn_exempt_flush(struct weir_tool *tool, const void *model)
{
	note_ended(tool, false, "exemptions that go");
}

void weir_warn_block_flush(struct weir_tool *tool, const void *model)
{
	note_ended(tool, true, "blocks of prefixes that end");
}

void weir_warn_forget(struct weir_tool *tool, const void *model)
{
	struct blocked blocked = { .there = weir_there(tool, WEIR_GET_STATS) };

	if (!blocked.there)
		return;
	blocked.query = *(const struct weir_query *)model;
	blocked.query.blocked = true;
	if (blocked.query.prefix.family)
		ask_blocked(tool, &blocked);
	warn_released(tool, blocked.there, blocked.query.limit);
}
