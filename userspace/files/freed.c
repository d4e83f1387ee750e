// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is blocked, and gets through once another configuration is in force. */

#include <stdlib.h>
#include <string.h>

#include "files/files.h"

/* Exemptions from all limits, and from the one that is looked at. */
struct spared {
	struct weir_members all, own;
	struct weir_member room[WEIR_EXEMPTS_MAX];
	unsigned int used;	/* by @all, while it was gathered */
};

/* What there was, and what there was not. */
static struct spared before, added;

/* The prefixes of the list by which a limit matches, before and after. */
static struct weir_members sources[2];

struct freed {
	const struct weir_config *was;
	const struct weir_limit *old, *limit;
	unsigned int dropped;		/* that were; of them get through: */
	unsigned int sources, prefixes;
	struct weir_prefix first;
};

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
		/* one of a device is no reason why a source was not dropped elsewhere */
		if (!is_of(at, limit, false) ||
		    (without ? !!weir_exempt_find(without, at) : *at->dev))
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
	return weir_members_overlap(&added.all, prefix) || weir_members_overlap(&added.own, prefix);
}

static enum weir_taken drops_of(const struct weir_limit *limit, const struct weir_members *from,
				const struct weir_prefix *prefix)
{
	return limit->action == WEIR_ACTION_OBSERVE ? WEIR_TAKES_NONE :
	       weir_takes_source(limit, from, prefix);
}

static bool is_freed(struct freed *freed, const struct weir_prefix *prefix)
{
	enum weir_taken was = drops_of(freed->old, &sources[0], prefix);
	bool is = was && !weir_members_hold(&before.all, prefix) &&
		  !weir_members_hold(&before.own, prefix);

	freed->dropped += is;
	is = is && (is_exempted(prefix) || drops_of(freed->limit, &sources[1], prefix) < was);
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
	unsigned int prefixes = now->block_count;
	const char *name = freed->old->name;
	struct weir_err err = tool->err;
	char buf[WEIR_TEXT_SIZE];

	weir_members_sources(&sources[0], freed->was, freed->old);
	weir_members_sources(&sources[1], now, freed->limit);
	gather_exempt(&before, freed->was, NULL, name);
	strcpy(query.limit, name);
	if (count)
		weir_nl_ask(&tool->nl, &request);
	tool->err = err;
	for (at = now->exempts; at < end && prefixes; at++)
		if (is_of(at, name, true) || is_of(at, "", true))
			take_prefix(freed, at);
	if (freed->sources || freed->prefixes)
		weir_note(tool, "warning", "limit '%s' no longer drops all packets of blocked sources (%u) and prefixes (%u), such as %s",
			  name, freed->sources, freed->prefixes,
			  weir_text_prefix(NULL, &freed->first, buf));
	if (freed->dropped > freed->sources + freed->prefixes &&
	    !weir_limit_covers(freed->limit, freed->old))
		weir_note(tool, "note", "limit '%s' drops only those packets of blocked sources and prefixes that match its new conditions",
			  name);
}

/* Warn of prefixes that are blocked under all limits, and were by one that goes. */
static void warn_left(struct weir_tool *tool, struct freed *freed, const struct weir_config *now)
{
	bool *dropped = calloc(now->exempt_count + 1, sizeof(*dropped));
	const struct weir_exempt *at = now->exempts;
	const struct weir_limit *limit = now->limits;
	bool all = !now->block_count;
	char buf[WEIR_TEXT_SIZE];
	unsigned int i;

	weir_members_sources(&sources[0], freed->was, freed->old);
	for (; dropped && !all && limit < now->limits + now->limit_count; limit++) {
		if (!weir_limit_covers(limit, freed->old))
			continue;
		weir_members_sources(&sources[1], now, limit);
		for (i = 0, all = true; i < now->exempt_count; i++) {
			dropped[i] |= drops_of(limit, &sources[1], &at[i].prefix) >=
				      drops_of(freed->old, &sources[0], &at[i].prefix);
			all &= dropped[i] || !is_of(&at[i], "", true);
		}
	}
	for (i = 0; dropped && i < now->exempt_count; i++)
		if (is_of(&at[i], "", true) && !dropped[i] &&
		    weir_exempt_find(freed->was, &at[i]) &&
		    drops_of(freed->old, &sources[0], &at[i].prefix) && !freed->prefixes++)
			freed->first = at[i].prefix;
	if (freed->prefixes)
		weir_note(tool, "warning", "limit '%s' goes, and no other one drops its packets of prefixes that are blocked under all (%u), such as %s",
			  freed->old->name, freed->prefixes,
			  weir_text_prefix(NULL, &freed->first, buf));
	free(dropped);
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
	gather_exempt(&added, now, was, "");
	for (old = was->limits; old < was->limits + was->limit_count; old++) {
		freed = (struct freed){
			.was = was, .old = old, .limit = weir_limit_heir(old, now),
		};
		count = old->stats.blocked_now + now->block_count;
		tool->line = freed.limit && freed.limit->line ? freed.limit->line : line;
		if (!freed.limit)
			warn_left(tool, &freed, now);
		if (!freed.limit || !count)
			continue;
		gather_exempt(&added, now, was, old->name);
		if (!(added.all.count + added.own.count) && is_same(old, freed.limit))
			continue;
		warn_limit(tool, &freed, now);
	}
	tool->line = line;
}
