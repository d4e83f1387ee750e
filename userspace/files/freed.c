// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is blocked, and gets through once another configuration is in force. */

#include <string.h>

#include "files/files.h"

/* Exemptions from all limits, and from the one that is looked at. */
struct spared {
	struct weir_members all, own;
	struct weir_member room[WEIR_EXEMPTS_MAX];
	unsigned int used;	/* by @all, while it was gathered */
};

/* What there was, and what there was not. */
static struct spared before, new;

/* The prefixes of the list by which a limit matches, before and after. */
static struct weir_members sources[2];

struct freed {
	const struct weir_config *was;
	const struct weir_limit *old, *limit;
	unsigned int sources, prefixes;
	struct weir_prefix first;
};

static void gather_sources(struct weir_members *members, const struct weir_config *config,
			   const struct weir_limit *limit)
{
	weir_members_gather(config, limit->match.from_list, members);
	weir_members_drop_held(members);
}

/* Is it an exemption, or else a block, from a limit, or with "" from all? */
static bool is_of(const struct weir_exempt *at, const char *limit, bool block)
{
	return at->block == block && !strcmp(at->limit, limit);
}

/* Those from a limit, or with "" first from all, that @without does not have. */
static void gather_exempt(struct spared *to, const struct weir_config *config,
			  const struct weir_config *without, const char *limit)
{
	const struct weir_exempt *at, *end = config->exempts + config->exempt_count;
	struct weir_members *members = *limit ? &to->own : &to->all;
	struct weir_member *member = to->room + (*limit ? to->used : 0);

	members->count = 0;
	for (at = config->exempts; at < end; at++) {
		if (!is_of(at, limit, false) || *at->dev ||
		    (without && weir_exempt_find(without, at)))
			continue;
		member->prefix = at->prefix;
		members->at[members->count++] = member++;
	}
	if (!*limit)
		to->used = members->count;
	weir_members_sort(members);
	weir_members_drop_held(members);
}

static bool is_exempted(const struct weir_prefix *prefix)
{
	return weir_members_overlap(&new.all, prefix) || weir_members_overlap(&new.own, prefix);
}

static bool is_dropped(const struct weir_limit *limit, const struct weir_members *from,
		       const struct weir_prefix *prefix)
{
	return limit->action != WEIR_ACTION_OBSERVE && weir_takes_source(limit, from, prefix);
}

static bool is_freed(struct freed *freed, const struct weir_prefix *prefix)
{
	bool is = is_dropped(freed->old, &sources[0], prefix) &&
		  (is_exempted(prefix) || !is_dropped(freed->limit, &sources[1], prefix)) &&
		  !weir_members_hold(&before.all, prefix) &&
		  !weir_members_hold(&before.own, prefix);

	if (is && !freed->sources && !freed->prefixes)
		freed->first = *prefix;
	return is;
}

static int take_source(const void *model, void *data)
{
	struct freed *freed = data;

	freed->sources += is_freed(freed, &((const struct weir_source *)model)->prefix);
	return 0;
}

/* Of a block that there was not, only what is exempt matters. */
static void take_prefix(struct freed *freed, const struct weir_exempt *at)
{
	freed->prefixes += weir_exempt_find(freed->was, at) ? is_freed(freed, &at->prefix) :
			   *at->limit && is_exempted(&at->prefix);
}

static void warn_limit(struct weir_tool *tool, struct freed *freed, const struct weir_config *now)
{
	const struct weir_exempt *at, *end = now->exempts + now->exempt_count;
	struct weir_query query = { .blocked = true };
	struct weir_request request = weir_request_sources(&query, take_source, freed);
	uint64_t count = freed->old->stats.blocked_now;
	const char *name = freed->old->name;
	struct weir_err err = tool->err;
	char buf[WEIR_TEXT_SIZE];

	gather_sources(&sources[0], freed->was, freed->old);
	gather_sources(&sources[1], now, freed->limit);
	gather_exempt(&before, freed->was, NULL, name);
	strcpy(query.limit, name);
	if (count)
		weir_nl_ask(&tool->nl, &request);
	tool->err = err;
	for (at = now->exempts; at < end; at++)
		if (is_of(at, name, true) || is_of(at, "", true))
			take_prefix(freed, at);
	if (freed->sources || freed->prefixes)
		weir_note(tool, "warning", "limit '%s' drops no more from who is blocked: sources (%u) and prefixes (%u) get through, as %s",
			  name, freed->sources, freed->prefixes,
			  weir_text_prefix(NULL, &freed->first, buf));
	if (count > freed->sources && !weir_limit_covers(freed->limit, freed->old))
		weir_note(tool, "note", "limit '%s' drops only those packets of its blocked sources that match its new conditions",
			  name);
}

/* Does it match the same sources, and drop from them, whatever is exempt? */
static bool is_same(const struct weir_limit *a, const struct weir_limit *b)
{
	const char *from = b->match.from_list;	/* which may have changed */

	return !*from && a->action == b->action && !memcmp(&a->match, &b->match, sizeof(a->match));
}

void weir_warn_freed(struct weir_tool *tool, const struct weir_config *was,
		     struct weir_config *now)
{
	unsigned int line = tool->line;
	const struct weir_limit *old;
	struct freed freed;
	uint64_t count;

	gather_exempt(&before, was, NULL, "");
	gather_exempt(&new, now, was, "");
	for (old = was->limits; old < was->limits + was->limit_count; old++) {
		freed = (struct freed){
			.was = was, .old = old, .limit = weir_limit_heir(old, now),
		};
		count = old->stats.blocked_now + now->block_count;
		if (!freed.limit || !count)
			continue;
		gather_exempt(&new, now, was, old->name);
		if (!(new.all.count + new.own.count) && is_same(old, freed.limit))
			continue;
		tool->line = freed.limit->line ? freed.limit->line : line;
		warn_limit(tool, &freed, now);
	}
	tool->line = line;
}
