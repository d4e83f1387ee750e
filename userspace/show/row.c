// SPDX-License-Identifier: GPL-2.0-or-later
/* A source as a row of a table. */

#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "lang/value.h"
#include "show/row.h"

#define SECOND_NS	1000000000ull
/* Columns */
#define NAME		23
#define LIMIT		15

/* Up to whole seconds: more would flicker. */
static const char *time_text(uint64_t ns, char *buf)
{
	return weir_text_time(ns > SECOND_NS ? (ns + SECOND_NS - 1) / SECOND_NS * SECOND_NS : ns,
			      buf);
}

const char *weir_row_state(const struct weir_source *source, char text[WEIR_TEXT_SIZE])
{
	bool observed = source->action == WEIR_ACTION_OBSERVE;
	bool exempt = source->has & WEIR_HAS(SOURCE_EXEMPT) && !source->exempt.block;
	char buf[WEIR_TEXT_SIZE];

	*text = '\0';
	if (exempt)
		strcpy(text, "exempt");
	else if (source->blocked && !source->blocked_ns)
		strcpy(text, "blocked");
	else if (source->blocked)
		snprintf(text, WEIR_TEXT_SIZE, "block %.700s", time_text(source->blocked_ns, buf));
	else if (source->limited && !source->next_ns)
		strcpy(text, observed ? "observed" : "limited");
	else if (source->limited)
		snprintf(text, WEIR_TEXT_SIZE, "%s %.700s", observed ? "over" : "limit",
			 time_text(source->next_ns, buf));
	else if (source->idle)
		strcpy(text, "idle");
	else if (source->unknown)
		strcpy(text, "not known");
	return text;
}

/* The budget that limits a source, or else that of which it has used the largest part. */
static unsigned int fullest(const struct weir_source *source)
{
	const struct weir_source_budget *is = source->budgets;
	unsigned int i, most = 0;

	if (source->limited_by && source->limited_by <= source->budget_count)
		return source->limited_by - 1;
	for (i = 1; i < source->budget_count; i++)
		if ((double)is[i].count * is[most].budget > (double)is[most].count * is[i].budget)
			most = i;
	return most;
}

void weir_show_head(struct weir_out *out)
{
	weir_out_text(out, "%-*s %-*s %15s %8s  %s\n", NAME, "SOURCE", LIMIT, "LIMIT", "COUNT", "DROPPED",
		      "STATE");
}

void weir_show_row(struct weir_out *out, const struct weir_source *source)
{
	const struct weir_source_budget *is = &source->budgets[fullest(source)];
	char name[WEIR_TEXT_SIZE], text[WEIR_TEXT_SIZE], budget[WEIR_TEXT_SIZE], number[16] = "";
	bool bad = source->blocked || (source->limited && source->action != WEIR_ACTION_OBSERVE);

	weir_text_prefix(NULL, &source->prefix, text);
	snprintf(name, sizeof(name), "%.400s%s%.60s", source->prefix.family ? text : "all",
		 *source->dev ? " dev " : "", source->dev);
	/* A long name takes room of the limit's. */
	weir_out_text(out, "%-*s %-*s", NAME, name, MAX(LIMIT + NAME - (int)MAX(strlen(name), NAME), 0),
		      source->limit);
	*text = '\0';
	if (source->budget_count > 1)
		snprintf(number, sizeof(number), "%u:", fullest(source) + 1);
	if (source->budget_count)
		snprintf(text, sizeof(text), "%s%.300s/%.300s", number,
			 weir_text_amount(is->count, 3, name), weir_text_amount(is->budget, 3, budget));
	weir_out_text(out, " %15s %8s", text,
		      weir_text_amount(source->dropped + source->would_drop, 3, name));
	weir_row_state(source, text);
	if (*text)
		weir_out_text(out, "  ");
	if (*text)
		weir_out_word(out, bad ? WEIR_COLOR_BAD : WEIR_COLOR_NONE, "%s", text);
	weir_out_text(out, "\n");
}
