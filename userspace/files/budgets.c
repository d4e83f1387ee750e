// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What becomes of the counts if a limit gets other budgets: those that go, and those that go on.
 * And which sources are known then.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files/files.h"

/* Of an amount, a window and a unit. */
#define WORDS_SIZE	64

/* A total never ends. */
static bool is_longer(const struct weir_budget *a, const struct weir_budget *b)
{
	return b->amount.window_ms &&
	       (!a->amount.window_ms || a->amount.window_ms > b->amount.window_ms);
}

/* The budget of the limit as it was with the window of @new, if need be in any unit; or NULL. */
static const struct weir_budget *find_same(const struct weir_limit *was,
					   const struct weir_budget *new)
{
	const struct weir_budget *at = was->budgets, *any = NULL;

	for (; at < was->budgets + was->budget_count; at++) {
		if (at->amount.window_ms != new->amount.window_ms)
			continue;
		if (at->unit == new->unit)
			return at;
		any = at;
	}
	return any;
}

/* Whose count the module starts a new budget from, if that is no shorter; or NULL. */
static const struct weir_budget *find_start(const struct weir_limit *was,
					    const struct weir_budget *new)
{
	const struct weir_budget *at = was->budgets, *found = NULL;

	for (; at < was->budgets + was->budget_count; at++) {
		if (is_longer(new, at))
			continue;
		if (!found || (at->unit != found->unit ? at->unit == new->unit :
			       is_longer(found, at)))
			found = at;
	}
	return found;
}

static const char *words_of(const struct weir_budget *budget, char words[WORDS_SIZE])
{
	char buf[WEIR_TEXT_SIZE];

	snprintf(words, WORDS_SIZE, "%.40s %s",
		 weir_text_budget(NULL, &budget->amount, buf), weir_unit_names[budget->unit]);
	return words;
}

/* A source that has more in the longer window than the new budget admits is refused at first. */
static void note_start(struct weir_tool *tool, const char *limit, const struct weir_budget *new,
		       const struct weir_budget *from)
{
	char words[WORDS_SIZE], before[WORDS_SIZE], time[WEIR_TEXT_SIZE], text[WEIR_SENTENCE_SIZE];

	if (from->unit == new->unit && from->amount.count <= new->amount.count)
		return;
	snprintf(text, sizeof(text),
		 ": its new budget %s starts from the count of %s, and may refuse sources for %.30s and a slot; in another limit it would start from 0",
		 words_of(new, words), words_of(from, before),
		 weir_text_time(new->amount.window_ms * 1000000ull, time));
	weir_note_of(tool, "note", limit, text);
}

static const char *scale_of(const struct weir_budget *budget, char words[WORDS_SIZE])
{
	char buf[WEIR_TEXT_SIZE];

	snprintf(words, WORDS_SIZE, "%s per %.40s", weir_unit_names[budget->unit],
		 budget->amount.window_ms ?
		 weir_text_time(budget->amount.window_ms * 1000000ull, buf) : "total");
	return words;
}

void weir_note_scale(struct weir_tool *tool, const struct weir_config *config,
		     const struct weir_limit *limit, const struct weir_limit *was)
{
	const struct weir_budget *new = &limit->budgets[0], *old = &was->budgets[0];
	char words[WORDS_SIZE], before[WORDS_SIZE];
	const struct weir_list *list;
	unsigned int i, count = 0;

	if (!*limit->budgets_by || strcmp(limit->budgets_by, was->budgets_by) ||
	    (new->amount.window_ms == old->amount.window_ms && new->unit == old->unit))
		return;
	for (list = config->lists; list < config->lists + config->list_count; list++)
		for (i = 0; !strcmp(list->name, limit->budgets_by) && i < list->member_count; i++)
			count += !!list->member[i].budget;
	if (count)
		weir_note(tool, "note", "limit '%s': the budgets of list '%s' (%u) are then %s instead of %s",
			  limit->name, limit->budgets_by, count, scale_of(new, words),
			  scale_of(old, before));
}

/* Give budgets without a unit that which they get: of their window, or else of their place. */
static void fill_units(struct weir_limit *limit, const struct weir_limit *was)
{
	const struct weir_budget *same;
	struct weir_budget *is;
	unsigned int i;

	for (i = 0; i < limit->budget_count; i++) {
		is = &limit->budgets[i];
		if (is->has & WEIR_HAS(BUDGET_UNIT))
			continue;
		same = find_same(was, is);
		is->unit = same ? same->unit : i < was->budget_count ? was->budgets[i].unit : 0;
	}
}

static void note_losses(struct weir_tool *tool, const struct weir_limit *limit,
			const struct weir_limit *was)
{
	const struct weir_budget *old = was->budgets, *same;
	bool one = was->budget_count == 1 && limit->budget_count == 1 && !limit->only;
	char words[WORDS_SIZE];

	for (; old < was->budgets + was->budget_count; old++) {
		same = find_same(limit, old);
		if (!same || same->unit != old->unit)
			weir_note(tool, "note", "limit '%s' loses its budget %s%s", limit->name,
				  words_of(old, words), one ? "; to keep it, give both" : "");
	}
}

void weir_note_changed(struct weir_tool *tool, const struct weir_limit *limit,
		       const struct weir_limit *was)
{
	bool listed = *limit->budgets_by || *was->budgets_by;
	const struct weir_budget *new = limit->budgets, *from;

	note_losses(tool, limit, was);
	for (; new < limit->budgets + limit->budget_count; new++) {
		from = find_start(was, new);
		/* a warning of the kernel says that it starts from 0 */
		if (listed && new == limit->budgets && from && from->unit != new->unit)
			continue;
		if (from && is_longer(from, new))
			note_start(tool, limit->name, new, from);
	}
}

void weir_note_budgets(struct weir_tool *tool, const struct weir_limit *limit)
{
	struct weir_limit was = { 0 }, new = *limit;
	struct weir_request get;

	/* The words of a budget may change the first one, without its amount. */
	if (!new.budget_count || !(new.budgets[0].has & WEIR_HAS(BUDGET_BUDGET)) ||
	    !tool->reached || weir_get_limit(tool, new.name, false, &was, &get) ||
	    (new.budget_count < was.budget_count && !new.only))
		return;
	fill_units(&new, &was);
	if (!(new.has & WEIR_HAS(LIMIT_BUDGETS_BY)))
		memcpy(new.budgets_by, was.budgets_by, sizeof(new.budgets_by));
	weir_note_changed(tool, &new, &was);
}

void weir_note_zone(struct weir_tool *tool, const struct weir_limit *limit,
		    const struct weir_limit *was)
{
	if (*limit->zone.name && strcmp(limit->zone.name, was->zone.name) && was->stats.sources_now)
		weir_note(tool, "note", "limit '%s' keeps its counts until the period ends in zone %s; 'source forget all limit %s' resets them",
			  limit->name, limit->zone.name, limit->name);
}

static bool knows_none(const struct weir_limit *limit)
{
	return limit->has & WEIR_HAS(LIMIT_KNOWN_MS) && !limit->known_ms;
}

const struct weir_limit *weir_limit_heir(const struct weir_limit *limit,
					 struct weir_config *config)
{
	const struct weir_limit *heir = weir_config_find(config, limit->name);

	return heir && !memcmp(weir_limit_per(heir), limit->per, sizeof(limit->per)) ? heir : NULL;
}

void weir_note_known(struct weir_tool *tool, const struct weir_limit *limit,
		     const struct weir_limit *was)
{
	const struct weir_limit_stats *stats = &was->stats;
	bool none = knows_none(limit);

	if (!was->newcomers.count && limit->newcomers.count && !none)
		weir_note(tool, "note",
			  "limit '%s' does not learn: it knows the sources that are in its table (%u that count now, and idle ones), also those of a flood; 'known none' knows nobody, 'weir source forget all limit %s' learns",
			  limit->name, (unsigned int)stats->sources_now, limit->name);
	if (!was->newcomers.count || !stats->known_now)
		return;
	if (!limit->newcomers.count)
		weir_note(tool, "note", "limit '%s' forgets which sources are known (%" PRIu64 ")",
			  limit->name, stats->known_now);
	else if (none && !knows_none(was))
		weir_note(tool, "note", "limit '%s' keeps the %" PRIu64 " sources that it knows; if they belong to a flood: weir source forget all limit %s",
			  limit->name, stats->known_now, limit->name);
}

const char *weir_forgotten_text(uint64_t known, const char *before, char buf[WEIR_TEXT_SIZE])
{
	*buf = '\0';
	if (known)
		snprintf(buf, WEIR_TEXT_SIZE, "%s%" PRIu64 " known source%s forgotten", before,
			 known, known == 1 ? " is" : "s are");
	return buf;
}
