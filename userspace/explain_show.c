// SPDX-License-Identifier: GPL-2.0-or-later
/* What weir explain shows: a line for each limit, and what becomes of the packet. */

#include <inttypes.h>
#include <string.h>
#include <sys/param.h>

#include "show.h"
#include "value.h"

static const char *for_text(uint64_t ns, char buf[WEIR_TEXT_SIZE])
{
	char time[WEIR_TEXT_SIZE];

	snprintf(buf, WEIR_TEXT_SIZE, " for %.64s", weir_text_time(ns, time));
	return ns ? buf : "";
}

static void show_prefix(struct weir_out *out, const char *what, const struct weir_exempt *prefix)
{
	weir_out_text(out, "%s", what);
	weir_set_show(&weir_exempt_fields, WEIR_WORDS, out, prefix);
}

/* The budget that has no room for the packet, though it has some. */
static const struct weir_source_budget *lacking(const struct weir_judged *judged)
{
	const struct weir_source *source = &judged->source;
	const struct weir_source_budget *is;

	is = &source->budgets[judged->budget ? judged->budget - 1 : 0];
	return is->unit == WEIR_UNIT_BYTES && is->left ? is : NULL;
}

static void show_refusal(struct weir_out *out, const struct weir_judged *judged)
{
	const struct weir_source *source = &judged->source;
	char budget[WEIR_TEXT_SIZE], buf[WEIR_TEXT_SIZE];

	weir_text_source_budget(source, judged->budget ? judged->budget - 1 : 0, budget);
	switch (judged->reason) {
	case WEIR_REASON_PREFIX:
		return show_prefix(out, "blocked by ", &judged->block);
	case WEIR_REASON_BUDGET:
		if (lacking(judged))
			weir_out_text(out, "%" PRIu64 " bytes do not fit: %" PRIu64 " of %s are left",
				      source->asked.len, lacking(judged)->left, budget);
		else
			weir_out_text(out, "over %s budget %s",
				      source->prefix.family ? "its" : "the", budget);
		break;
	case WEIR_REASON_BLOCK:
		weir_out_text(out, "blocked%s", judged->next_ns ? "" : " for ever");
		break;
	case WEIR_REASON_FLOOR:
		weir_out_text(out, "no place in the table, and no room under the floor");
		break;
	case WEIR_REASON_SIZE:
		weir_out_text(out, "its size of %" PRIu64 " bytes is larger than the whole budget %s",
			      source->asked.len, budget);
		break;
	default:
		weir_out_text(out, "not known yet, and the newcomers' budget %s is used up",
			      weir_text_newcomers(NULL, &judged->is->newcomers, buf));
	}
	weir_out_text(out, "%s", for_text(judged->next_ns, buf));
}

/* What is left of each budget; without a state, the budgets. */
static void show_room(struct weir_out *out, const struct weir_judged *judged)
{
	const struct weir_source *source = &judged->source;
	char buf[WEIR_TEXT_SIZE];
	unsigned int i;

	if (judged->is->blocks_only)
		weir_out_text(out, "only blocks");
	if (source->budget_count)
		weir_out_text(out, "would admit: ");
	for (i = 0; i < source->budget_count; i++)
		weir_out_text(out, "%s%" PRIu64 " of %s", i ? ", " : "", source->budgets[i].left,
			      weir_text_source_budget(source, i, buf));
	if (source->budget_count)
		weir_out_text(out, " left");
	for (i = 0; !source->budget_count && i < judged->configured_count; i++)
		weir_set_show(&weir_budget_fields, WEIR_WORDS, out, &judged->configured[i]);
}

/* Who shares the budget, and what else it takes. */
static void show_rest(struct weir_out *out, const struct weir_judged *judged)
{
	const struct weir_source *source = &judged->source;
	const struct weir_limit *is = judged->is;
	char buf[WEIR_TEXT_SIZE];

	if (!source->prefix.family)
		weir_out_text(out, ", shared by all sources");
	else if (source->prefix.len != source->asked.prefix.len)
		weir_out_text(out, ", shared by %s", weir_text_prefix(NULL, &source->prefix, buf));
	if (source->asked.by.family)
		weir_out_text(out, ", the budget of %s in the list '%s'",
			      weir_text_prefix(NULL, &source->asked.by, buf), is->budgets_by);
	if (source->unknown && judged->says == WEIR_SAYS_ADMIT && !is->learning_ns)
		weir_out_text(out, "; not known yet: also in the newcomers' budget %s",
			      weir_text_newcomers(NULL, &is->newcomers, buf));
	if (is->penalty_ms && judged->reason == WEIR_REASON_BUDGET)
		weir_out_text(out, "; penalty %s", weir_text_time(is->penalty_ms * 1000000, buf));
	if (is->action == WEIR_ACTION_OBSERVE)
		weir_out_text(out, "; action observe");
	if (is->action == WEIR_ACTION_OBSERVE && judged->has & WEIR_JUDGED_BLOCK)
		show_prefix(out, ", so not blocked by ", &judged->block);
}

static void show_judged(struct weir_out *out, const struct weir_judged *judged)
{
	bool exempt = judged->has & WEIR_JUDGED_EXEMPT;

	if (judged->met == WEIR_MET_NO) {
		weir_out_text(out, "not met: %s", judged->unmet_words);
		return;
	}
	if (judged->met == WEIR_MET_MAYBE)
		weir_out_text(out, "may be met: %s not given; ", judged->open_words);
	if (judged->says == WEIR_SAYS_EXEMPT)
		return show_prefix(out, "exempt by ", &judged->exempt);
	if (judged->says == WEIR_SAYS_REFUSE) {
		weir_out_put(out, WEIR_COLOR_BAD, "would refuse:");
		weir_out_text(out, " ");
		show_refusal(out, judged);
	} else {
		show_room(out, judged);
	}
	show_rest(out, judged);
	if (exempt)
		show_prefix(out, "; or exempt by ", &judged->exempt);
}

/* A line for each limit: its number if it may be met, its name, and what it says. */
static void show_limits(struct weir_out *out, const struct weir_explained *is)
{
	const struct weir_judged *at, *end = is->limits + is->limit_count;
	int longest = 0;

	for (at = is->limits; at < end; at++)
		longest = MAX(longest, (int)strlen(at->limit));
	for (at = is->limits; at < end; at++) {
		if (!at->met && out->brief)
			continue;
		if (at->met)
			weir_out_text(out, "%" PRIu32 " ", at->position);
		else
			weir_out_text(out, "- ");
		weir_out_put(out, WEIR_COLOR_NAME, at->limit);
		weir_out_text(out, "%*s", longest - (int)strlen(at->limit) + 2, "");
		show_judged(out, at);
		weir_out_text(out, "\n");
	}
}

static void show_verdict(struct weir_out *out, const struct weir_explained *is)
{
	if (is->verdict == WEIR_DROPPED)
		weir_out_word(out, WEIR_COLOR_BAD, "dropped by limit %s", is->dropped_by);
	else if (is->verdict == WEIR_DEPENDS)
		weir_out_text(out, "depends on %s: limit %s would drop it", is->by->open_words,
			      is->dropped_by);
	else if (is->loopback)
		weir_out_text(out, "passes: nothing is limited on the loopback device");
	else if (is->most)
		weir_out_text(out, "passes if it has at most %" PRIu64 " bytes", is->most);
	else
		weir_out_text(out, "passes");
	weir_out_text(out, "\n");
}

static void show_refusal_of(struct weir_out *out, const struct weir_refusal *is)
{
	uint64_t count = is->packets + is->bytes;

	weir_out_text(out, "%s", is->limit);
	if (is->budget)
		weir_out_text(out, " budget %" PRIu32, is->budget);
	if (!count)
		weir_out_text(out, ", now");
	else
		weir_out_text(out, " after %s%" PRIu64 " %s%s", is->newcomer ? "at most " : "",
			      count, is->packets ? "packet" : "byte", count == 1 ? "" : "s");
	if (is->newcomer)
		weir_out_text(out, ", the newcomers' budget");
}

/* What depends on words that were not given comes first: it refuses earlier. */
static void show_flood(struct weir_out *out, const struct weir_explained *is)
{
	const struct weir_refusal *at, *end = is->refusals + is->refusal_count;
	const char *by = "first refused by ";

	weir_out_text(out, "if it floods: ");
	for (at = is->refusals; at < end; at++) {
		if (!*at->open_words)
			continue;
		weir_out_text(out, "depends on %s: %s", at->open_words, by);
		show_refusal_of(out, at);
		weir_out_text(out, "; else ");
	}
	for (at = is->refusals; at < end && !*at->open_words; at++) {
		weir_out_text(out, "%s", by);
		show_refusal_of(out, at);
		by = ", or by ";
	}
	if (at == is->refusals)
		weir_out_text(out, "no limit refuses it");
	weir_out_text(out, "\n");
}

static void show_text(struct weir_out *out, const struct weir_explained *is)
{
	if (is->has & WEIR_JUDGED_EXEMPT)
		show_prefix(out, "exempt: by ", &is->exempt);
	else
		weir_out_text(out, "exempt: no");
	weir_out_text(out, "\n");
	if (!(is->has & WEIR_JUDGED_EXEMPT))
		show_limits(out, is);
	show_verdict(out, is);
	if (is->has & WEIR_JUDGED_EXEMPT || is->loopback)
		return;
	show_flood(out, is);
	if (*is->early_why)
		weir_out_text(out, "early: %s, %s\n", is->early ? "yes" : "no", is->early_why);
}

void weir_show_explained(struct weir_out *out, const void *model)
{
	const struct weir_explained *is = model;

	weir_out_begin(out, NULL, '{');
	if (out->json)
		weir_set_show(&weir_explained_fields, WEIR_WORDS, out, is);
	else
		show_text(out, is);
	if (!is->limit_count) {	/* the others are never an empty list */
		weir_out_begin(out, "limits", '[');
		weir_out_end(out, ']');
	}
	weir_out_end(out, '}');
}
