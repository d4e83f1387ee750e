// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is blocked, and gets through once another configuration is in force. */

#include <string.h>

#include "files/files.h"

/* From whom a limit drops packets, once a source is blocked. */
struct scope {
	const struct weir_limit *limit;
	struct weir_members sources, exempt;
	struct weir_member room[WEIR_EXEMPTS_MAX];
};

static struct scope before, after;

struct freed {
	unsigned int sources, prefixes;
	struct weir_prefix first;
};

/* Is it an exemption, or else a block, from the limit? */
static bool is_of(const struct weir_exempt *at, const struct weir_limit *limit, bool block)
{
	return at->block == block && (!*at->limit || !strcmp(at->limit, limit->name));
}

static void fill(struct scope *scope, const struct weir_config *config,
		 const struct weir_limit *limit)
{
	struct weir_member *member = scope->room;
	const struct weir_exempt *at;

	scope->limit = limit;
	weir_members_gather(config, limit->match.from_list, &scope->sources);
	weir_members_drop_held(&scope->sources);
	scope->exempt.count = 0;
	for (at = config->exempts; at < config->exempts + config->exempt_count; at++) {
		if (!is_of(at, limit, false) || *at->dev)
			continue;
		*member = (struct weir_member){ .prefix = at->prefix };
		scope->exempt.at[scope->exempt.count++] = member++;
	}
	weir_members_sort(&scope->exempt);
	weir_members_drop_held(&scope->exempt);
}

static bool drops(const struct scope *scope, const struct weir_prefix *prefix)
{
	return scope->limit->action != WEIR_ACTION_OBSERVE &&
	       weir_takes_source(scope->limit, &scope->sources, prefix) &&
	       !weir_members_hold(&scope->exempt, prefix);
}

static bool is_freed(struct freed *freed, const struct weir_prefix *prefix)
{
	bool is = drops(&before, prefix) && !drops(&after, prefix);

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

/* Both configurations are sorted. */
static void warn_limit(struct weir_tool *tool, const struct weir_config *was,
		       const struct weir_limit *old, const struct weir_config *now,
		       const struct weir_limit *limit)
{
	struct weir_query query = { .blocked = true };
	struct freed freed = { 0 };
	struct weir_request request = weir_request_sources(&query, take_source, &freed);
	struct weir_err err = tool->err;
	uint64_t sources = old->stats.blocked_now, prefixes = now->block_count;
	const struct weir_exempt *at;
	char buf[WEIR_TEXT_SIZE];

	if (!sources && !prefixes)
		return;
	fill(&before, was, old);
	fill(&after, now, limit);
	strcpy(query.limit, old->name);
	if (sources)
		weir_nl_ask(&tool->nl, &request);
	tool->err = err;
	for (at = now->exempts; at < now->exempts + now->exempt_count; at++)
		if (is_of(at, old, true) && (*at->limit || weir_exempt_find(was, at)))
			freed.prefixes += is_freed(&freed, &at->prefix);
	if (freed.sources || freed.prefixes)
		weir_note(tool, "warning", "limit '%s' drops no more from who is blocked: sources (%u) and prefixes (%u) get through, as %s",
			  old->name, freed.sources, freed.prefixes,
			  weir_text_prefix(NULL, &freed.first, buf));
	if (sources > freed.sources && !weir_limit_covers(limit, old))
		weir_note(tool, "note", "limit '%s' drops only those packets of its blocked sources that match its new conditions",
			  old->name);
}

/* Does it match the same sources, and drop from them, whatever is exempt? */
static bool is_same(const struct weir_limit *a, const struct weir_limit *b)
{
	const char *sources = b->match.from_list;	/* which may have changed */

	return !*sources && a->action == b->action &&
	       !memcmp(&a->match, &b->match, sizeof(a->match));
}

/* Are there exemptions that there were not? */
static bool any_new(const struct weir_config *was, const struct weir_config *now)
{
	unsigned int i = 0;

	while (i < now->exempt_count && weir_exempt_find(was, &now->exempts[i]))
		i++;
	return i < now->exempt_count;
}

void weir_warn_freed(struct weir_tool *tool, const struct weir_config *was,
		     struct weir_config *now)
{
	bool fewer = any_new(was, now);
	const struct weir_limit *old;
	unsigned int line = tool->line;
	struct weir_limit *limit;

	for (old = was->limits; old < was->limits + was->limit_count; old++) {
		limit = weir_config_find(now, old->name);
		/* There may be many limits, and many exemptions to compare. */
		if (!limit || (!fewer && is_same(old, limit)))
			continue;
		tool->line = limit->line ? limit->line : line;
		warn_limit(tool, was, old, now, limit);
	}
	tool->line = line;
}
