// SPDX-License-Identifier: GPL-2.0-or-later
/* Notes on lists of prefixes: who is limited by nothing, and which budgets are for nobody. */

#include <net/ethernet.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>

#include "files/files.h"

#define BY_SOURCE	((uint64_t)(WEIR_COND_FAMILY | WEIR_COND_FROM | WEIR_COND_FROM_LIST))

static struct weir_members budgets, sources, others;

/* Some of the prefixes, counted; a few are named. */
#define NAMED	3
struct some {
	unsigned int count;
	char names[NAMED * WEIR_TEXT_SIZE];
};

static void add_some(struct some *some, const struct weir_member *member)
{
	char buf[WEIR_TEXT_SIZE];

	some->count++;
	if (some->count <= NAMED)
		weir_append(some->names, sizeof(some->names), ", ",
			    weir_text_prefix(NULL, &member->prefix, buf));
	else if (some->count == NAMED + 1)
		weir_append(some->names, sizeof(some->names), ", ", "...");
}

static const char *plural(const struct some *some)
{
	return some->count == 1 ? "" : "es";
}

static bool is_from(const struct weir_limit *limit)
{
	return limit->match.has & ~limit->match.invert & WEIR_COND_FROM_LIST;
}

static bool is_not_from(const struct weir_limit *limit)
{
	return limit->match.has & limit->match.invert & WEIR_COND_FROM_LIST;
}

/* Do both have the same values, in whatever order? */
static bool is_equal(const struct weir_field *field, const struct weir_match *is,
		     const struct weir_match *of)
{
	unsigned int count = field->many ? weir_field_given(field, is) : 0, i, j;
	const char *left = weir_field_at(field, is), *right = weir_field_at(field, of);
	char text[WEIR_TEXT_SIZE], other[WEIR_TEXT_SIZE];

	if (!field->many)
		return !strcmp(weir_field_text(field, is, text), weir_field_text(field, of, other));
	for (i = 0, j = 0; i < count && j < count; i++)
		for (j = 0; j < count && memcmp(left + i * field->size, right + j * field->size,
						field->size); j++)
			;
	return count == weir_field_given(field, of) && (!count || j < count);
}

bool weir_limit_covers(const struct weir_limit *limit, const struct weir_limit *other)
{
	const struct weir_match *is = &limit->match, *of = &other->match;
	const struct weir_field *field = weir_match_fields.fields;

	for (; field->type; field++) {
		if (!(is->has & field->bit & ~BY_SOURCE))
			continue;
		if (!(of->has & field->bit) || (is->invert ^ of->invert) & field->bit ||
		    !is_equal(field, is, of))
			return false;
	}
	return true;
}

enum weir_taken weir_takes_from(const struct weir_limit *limit, const struct weir_prefix *prefix)
{
	const struct weir_match *match = &limit->match;
	enum weir_taken taken = WEIR_TAKES_NONE;
	bool other = match->family != prefix->family;
	unsigned int i;

	if (match->has & WEIR_COND_FAMILY && other != !!(match->invert & WEIR_COND_FAMILY))
		return WEIR_TAKES_NONE;
	if (!(match->has & WEIR_COND_FROM))
		return WEIR_TAKES_ALL;
	for (i = 0; i < match->from_count && taken != WEIR_TAKES_ALL; i++)
		if (weir_prefix_holds(&match->from[i], prefix))
			taken = WEIR_TAKES_ALL;
		else if (weir_prefixes_overlap(&match->from[i], prefix))
			taken = WEIR_TAKES_PART;
	return match->invert & WEIR_COND_FROM ? WEIR_TAKES_ALL - taken : taken;
}

enum weir_taken weir_takes_source(const struct weir_limit *limit, const struct weir_members *list,
				  const struct weir_prefix *prefix)
{
	enum weir_taken from = weir_takes_from(limit, prefix), listed;

	if (!from || !(limit->match.has & WEIR_COND_FROM_LIST))
		return from;
	listed = weir_members_hold(list, prefix) ? WEIR_TAKES_ALL :
		 weir_members_overlap(list, prefix) ? WEIR_TAKES_PART : WEIR_TAKES_NONE;
	listed = is_from(limit) ? listed : WEIR_TAKES_ALL - listed;
	return MIN(from, listed);
}

/* Set @met of those in @budgets of which the limit matches sources. */
static void meet(const struct weir_config *config, const struct weir_limit *limit, bool *met)
{
	unsigned int i;

	if (limit->match.has & WEIR_COND_FROM_LIST)
		weir_members_sources(&sources, config, limit);
	for (i = 0; i < budgets.count; i++)
		met[i] |= weir_takes_source(limit, &sources, &budgets.at[i]->prefix);
}

/*
 * A limit for all but a list is most often for those who have no limit of their own. If others of
 * the list have, who has none may have been forgotten.
 */
static void warn_forgotten(struct weir_tool *tool, const struct weir_config *config,
			   const struct weir_limit *limit)
{
	static bool met[WEIR_LIST_PREFIXES_MAX];
	const struct weir_limit *other = config->limits;
	char text[WEIR_SENTENCE_SIZE];
	struct some some = { 0 };
	unsigned int i, limited = 0;

	if (limit->blocks_only)
		return;
	weir_members_gather(config, limit->match.from_list, &budgets);
	memset(met, 0, sizeof(met));
	for (; other < config->limits + config->limit_count; other++)
		if (!other->blocks_only && strcmp(other->name, limit->name) &&
		    weir_limit_covers(other, limit) &&
		    (other->action == WEIR_ACTION_DROP || limit->action != WEIR_ACTION_DROP))
			meet(config, other, met);
	for (i = 0; i < budgets.count; i++) {
		limited += met[i];
		if (!met[i] && weir_takes_from(limit, &budgets.at[i]->prefix))
			add_some(&some, budgets.at[i]);
	}
	if (!some.count || !limited)
		return;
	snprintf(text, sizeof(text), " leaves out list '%s', of which no other limit matches %u prefix%s, so that nothing limits %s: %.120s",
		 limit->match.from_list, some.count, plural(&some),
		 some.count == 1 ? "it" : "them", some.names);
	weir_note_of(tool, "warning", limit->name, text);
}

/* What a limit admits of sources in the prefix, per second, by its first budget. */
static double rate_in(const struct weir_limit *limit, const struct weir_member *member)
{
	const struct weir_amount *amount = &limit->budgets[0].amount;
	bool own = member->budget && !strcmp(limit->budgets_by, limit->match.from_list);

	return (double)(own ? member->budget : amount->count) * 1000 / amount->window_ms;
}

/* Does the limit for others admit less than the one of these sources, so that it decides? */
static bool is_tighter(const struct weir_limit *limit, const struct weir_limit *other,
		       const struct weir_member *member)
{
	const struct weir_budget *is = &limit->budgets[0], *own = &other->budgets[0];

	return is->unit == own->unit && is->amount.window_ms && own->amount.window_ms &&
	       (double)is->amount.count * 1000 / is->amount.window_ms < rate_in(other, member);
}

/*
 * Who has a limit of his own, but is not among those in @sources, whom the limit leaves out. For
 * all of a list that may be meant, but not if the limit admits less than their own.
 */
static void warn_both(struct weir_tool *tool, const struct weir_config *config,
		      const struct weir_limit *limit, const struct weir_limit *other)
{
	char text[WEIR_SENTENCE_SIZE];
	struct some some = { 0 };
	bool tighter = false;
	unsigned int i;

	if (!is_from(other) || !weir_limit_covers(other, limit) ||
	    !weir_limit_covers(limit, other))
		return;
	weir_members_gather(config, other->match.from_list, &budgets);
	for (i = 0; i < budgets.count; i++) {
		if (!weir_takes_from(limit, &budgets.at[i]->prefix) ||
		    !weir_takes_from(other, &budgets.at[i]->prefix) ||
		    weir_members_overlap(&sources, &budgets.at[i]->prefix))
			continue;
		add_some(&some, budgets.at[i]);
		tighter |= is_tighter(limit, other, budgets.at[i]);
	}
	if (!some.count || (some.count == budgets.count && !tighter))
		return;
	snprintf(text, sizeof(text), " is for all but list '%s', which lacks %u prefix%s of list '%s', so it applies to them beside limit '%s': %.120s",
		 limit->match.from_list, some.count, plural(&some),
		 other->match.from_list, other->name, some.names);
	weir_note_of(tool, "warning", limit->name, text);
}

/* Without per each address of IPv4 and each /64 is a source, which some do not expect. */
static void note_shared(struct weir_tool *tool, const struct weir_limit *limit)
{
	const uint8_t *per = weir_limit_per(limit);
	char text[WEIR_SENTENCE_SIZE];
	struct some some = { 0 };
	unsigned int i;

	if (per == limit->per && per[0] == 32 && per[1] == 64)
		return;		/* it was asked for, or said when the limit was made */
	for (i = 0; i < budgets.count; i++)
		if (budgets.at[i]->budget && weir_takes_from(limit, &budgets.at[i]->prefix) &&
		    budgets.at[i]->prefix.len < per[budgets.at[i]->prefix.family == AF_INET6])
			add_some(&some, budgets.at[i]);
	if (!some.count)
		return;
	snprintf(text, sizeof(text), ": %u prefix%s of '%s' hold%s several of its sources, of which each has the whole budget: %.120s",
		 some.count, plural(&some), limit->budgets_by, some.count == 1 ? "s" : "",
		 some.names);
	weir_note_of(tool, "note", limit->name, text);
}

/* A list that was made for packets gives bytes as few. */
static void note_small(struct weir_tool *tool, const struct weir_limit *limit)
{
	char text[WEIR_SENTENCE_SIZE];
	struct some some = { 0 };
	unsigned int i;

	for (i = 0; i < budgets.count && limit->budgets[0].unit == WEIR_UNIT_BYTES; i++)
		if (budgets.at[i]->budget && budgets.at[i]->budget < ETHERMTU)
			add_some(&some, budgets.at[i]);
	if (!some.count)
		return;
	snprintf(text, sizeof(text), " reads the budgets of list '%s' as bytes, of which %u prefix%s less than a full packet: %.120s",
		 limit->budgets_by, some.count, some.count == 1 ? " has" : "es have", some.names);
	weir_note_of(tool, "note", limit->name, text);
}

/* Prefixes that have a budget, of which the limit matches nobody. */
static void note_outside(struct weir_tool *tool, const struct weir_limit *limit)
{
	char text[WEIR_SENTENCE_SIZE];
	unsigned int i, given = 0;
	struct some some = { 0 };

	for (i = 0; i < budgets.count; i++) {
		if (!budgets.at[i]->budget)
			continue;
		given++;
		if (!weir_takes_from(limit, &budgets.at[i]->prefix) ||
		    (is_from(limit) && !weir_members_overlap(&sources, &budgets.at[i]->prefix)))
			add_some(&some, budgets.at[i]);
	}
	if (!given) {
		snprintf(text, sizeof(text), ": no prefix of its list '%s' has a budget, so each source has that of the limit",
			 limit->budgets_by);
		weir_note_of(tool, "note", limit->name, text);
	}
	if (!some.count)
		return;
	snprintf(text, sizeof(text), " does not match packets from %u prefix%s of '%s' with a budget: %.120s",
		 some.count, plural(&some), limit->budgets_by, some.names);
	weir_note_of(tool, "note", limit->name, text);
}

/* Name the families of its list that a limit which only blocks does not block, but for prefixes. */
static void note_unblocked(struct weir_tool *tool, const struct weir_config *config,
			   const struct weir_limit *limit)
{
	bool blocked[2] = { 0 }, listed[2] = { 0 }, some = false;
	const struct weir_exempt *at = config->exempts;
	unsigned int i;

	for (; at < config->exempts + config->exempt_count; at++) {
		if (!at->block || strcmp(at->limit, limit->name))
			continue;
		some |= at->prefix.len;
		blocked[at->prefix.family == AF_INET6] |= !at->prefix.len;
	}
	weir_members_gather(config, limit->match.from_list, &sources);
	for (i = 0; i < sources.count; i++)
		listed[sources.at[i]->prefix.family == AF_INET6] = true;
	for (i = 0; i < 2; i++)
		if (listed[i] && !blocked[i] && (blocked[!i] || !some))
			weir_note(tool, "note", "limit '%s' blocks no IPv%u source of its list by itself: 'block add %s limit %s' blocks all",
				  limit->name, 4 + 2 * i, i ? "::/0" : "0.0.0.0/0", limit->name);
}

void weir_note_lists(struct weir_tool *tool, const struct weir_config *config,
		     const struct weir_limit *limit)
{
	const struct weir_limit *other = config->limits;

	if (limit->blocks_only && is_from(limit))
		note_unblocked(tool, config, limit);
	if (is_not_from(limit)) {
		warn_forgotten(tool, config, limit);
		weir_members_sources(&sources, config, limit);
		for (; other < config->limits + config->limit_count; other++)
			warn_both(tool, config, limit, other);
	}
	if (!*limit->budgets_by)
		return;
	weir_members_gather(config, limit->budgets_by, &budgets);
	if (is_from(limit))
		weir_members_sources(&sources, config, limit);
	note_outside(tool, limit);
	note_shared(tool, limit);
	note_small(tool, limit);
}

void weir_note_listed(struct weir_tool *tool, const struct weir_limit *words)
{
	struct weir_config *there = tool->quiet ? NULL : weir_there(tool, WEIR_GET_ALL);
	const struct weir_limit *limit, *other;
	struct weir_limit made;

	limit = there ? weir_config_find(there, words->name) : NULL;
	if (!limit)
		return;
	made = *limit;
	/* the module tells per also of a limit that was given none */
	if (!(words->has & WEIR_HAS(LIMIT_PREFIX4)) &&
	    !memcmp(made.per, weir_limit_per(words), sizeof(made.per)))
		made.has &= ~WEIR_HAS(LIMIT_PREFIX4);
	weir_note_lists(tool, there, &made);
	for (other = there->limits; other < there->limits + there->limit_count; other++) {
		if (!is_not_from(other))
			continue;
		weir_members_sources(&sources, there, other);
		warn_both(tool, there, other, limit);
	}
}

/* Does a limit use the list, or its budgets? */
static bool is_used(const struct weir_config *config, const char *name, bool for_budgets)
{
	const struct weir_limit *limit = config->limits;

	for (; limit < config->limits + config->limit_count; limit++)
		if (!strcmp(limit->budgets_by, name) ||
		    (!for_budgets && (!strcmp(limit->match.from_list, name) ||
				      !strcmp(limit->match.to_list, name))))
			return true;
	return false;
}

void weir_note_unused(struct weir_tool *tool, const struct weir_config *config)
{
	const struct weir_list *list;
	unsigned int at, i, given;

	for (at = 0; at < config->list_count; at++) {
		list = &config->lists[at];
		if (at && !strcmp(list[-1].name, list->name))
			continue;
		weir_members_gather(config, list->name, &budgets);
		for (i = given = 0; i < budgets.count; i++)
			given += !!budgets.at[i]->budget;
		tool->line = list->line;
		if (!is_used(config, list->name, false))
			weir_note(tool, "note", "no limit uses list '%s'", list->name);
		else if (given && !is_used(config, list->name, true))
			weir_note(tool, "note", "no limit has budgets by list '%s'", list->name);
	}
}

/* The first limit for all packets from that list, or not from it, as @like is; or else @like. */
static const struct weir_limit *find_user(const struct weir_config *config,
					  const struct weir_limit *like)
{
	const struct weir_limit *limit = config->limits;

	while (limit != like && (limit->match.has & BY_SOURCE & ~WEIR_COND_FROM_LIST ||
				 strcmp(limit->match.from_list, like->match.from_list) ||
				 is_from(limit) != is_from(like)))
		limit++;
	return limit;
}

/* Do those in @sources hold all of the prefix, if need be by its halves? */
static bool hold_all(const struct weir_prefix *prefix)
{
	struct weir_prefix half = *prefix;

	if (!weir_members_overlap(&sources, prefix) || weir_members_hold(&sources, prefix))
		return weir_members_overlap(&sources, prefix);
	half.len++;
	if (!hold_all(&half))
		return false;
	half.addr[prefix->len / 8] |= 0x80 >> prefix->len % 8;
	return hold_all(&half);
}

/* Prefixes that left its list, so that the limit does not match them now, or does. */
static void note_left(struct weir_tool *tool, const struct weir_config *was,
		      const struct weir_config *now, const struct weir_limit *limit)
{
	bool first = find_user(now, limit) == limit;
	struct some some = { 0 };
	unsigned int i;

	weir_members_gather(was, limit->match.from_list, &budgets);
	weir_members_sources(&sources, now, limit);
	for (i = 0; first && i < budgets.count; i++)
		if (weir_takes_from(limit, &budgets.at[i]->prefix) &&
		    (is_from(limit) ? !weir_members_overlap(&sources, &budgets.at[i]->prefix) :
				      !hold_all(&budgets.at[i]->prefix)))
			add_some(&some, budgets.at[i]);
	if (some.count)
		weir_note(tool, "note", "limit '%s' %s packets from %u prefix%s then, which the list has no more: %s",
			  limit->name, is_from(limit) ? "does not match" : "counts", some.count,
			  plural(&some), some.names);
}

/* Has the longest prefix that holds this one a budget? */
static bool has_budget(const struct weir_members *members, const struct weir_prefix *prefix)
{
	const struct weir_member *member = NULL;
	struct weir_prefix at = *prefix;
	int len;

	for (len = prefix->len; !member && len >= 0; len--) {
		weir_prefix_cut(&at, len);
		member = weir_members_find(members, &at);
	}
	return member && member->budget;
}

/* Prefixes that the limit goes on to match, but without a budget of their own. */
static void note_budgets_lost(struct weir_tool *tool, const struct weir_config *was,
			      const struct weir_config *now, const struct weir_limit *limit,
			      const struct weir_limit *old)
{
	const struct weir_prefix *prefix;
	struct some some = { 0 };
	unsigned int i;

	weir_members_gather(was, old->budgets_by, &budgets);
	weir_members_gather(now, limit->budgets_by, &others);
	if (is_from(limit))
		weir_members_sources(&sources, now, limit);
	for (i = 0; i < budgets.count; i++) {
		prefix = &budgets.at[i]->prefix;
		if (budgets.at[i]->budget && weir_takes_from(limit, prefix) &&
		    (!is_from(limit) || weir_members_overlap(&sources, prefix)) &&
		    !has_budget(&others, prefix))
			add_some(&some, budgets.at[i]);
	}
	if (some.count)
		weir_note(tool, "note", "%u prefix%s under limit '%s': %s", some.count,
			  some.count == 1 ? " loses its budget" : "es lose their budgets",
			  limit->name, some.names);
}

void weir_note_unlisted(struct weir_tool *tool, const struct weir_config *config,
			const struct weir_limit *limit, const struct weir_limit *was)
{
	note_budgets_lost(tool, config, config, limit, was);
}

void weir_note_lost(struct weir_tool *tool, struct weir_config *was, const struct weir_config *now)
{
	const struct weir_limit *limit = now->limits, *old;
	unsigned int line = tool->line;

	for (; limit < now->limits + now->limit_count; limit++) {
		old = weir_config_find(was, limit->name);
		tool->line = limit->line ? limit->line : line;
		if (old && *limit->match.from_list && is_from(limit) == is_from(old) &&
		    !strcmp(old->match.from_list, limit->match.from_list))
			note_left(tool, was, now, limit);
		if (old && *old->budgets_by)
			note_budgets_lost(tool, was, now, limit, old);
	}
	tool->line = line;
}

void weir_note_list(struct weir_tool *tool, const struct weir_config *was,
		    const struct weir_config *now, const char *name)
{
	unsigned int i, added = 0, removed = 0, changed = 0;
	const struct weir_member *old;

	weir_members_gather(was, name, &others);
	weir_members_gather(now, name, &budgets);
	for (i = 0; i < budgets.count; i++) {
		old = weir_members_find(&others, &budgets.at[i]->prefix);
		added += !old;
		changed += old && old->budget != budgets.at[i]->budget;
	}
	for (i = 0; i < others.count; i++)
		removed += !weir_members_find(&budgets, &others.at[i]->prefix);
	weir_note(tool, "note", "list '%s' would have %u prefix%s: %u added, %u removed, %u with another budget",
		  name, budgets.count, budgets.count == 1 ? "" : "es", added, removed, changed);
}
