// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a limit drops packets of a source: lines below its state. */

#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "show.h"
#include "value.h"

#define INDENT	"    "
#define SECOND	1000000000ull	/* in ns */
#define MS	1000000ull

const char *weir_text_source_budget(const struct weir_source *source, unsigned int i,
				    char buf[WEIR_TEXT_SIZE])
{
	const struct weir_limit *limit = source->asked.limit;
	const struct weir_source_budget *is = &source->budgets[i];
	struct weir_amount own = { .count = is->budget };
	char amount[WEIR_TEXT_SIZE];

	if (limit && i < limit->budget_count)
		own.window_ms = limit->budgets[i].amount.window_ms;
	/* Of a bucket it is the burst that a packet must not exceed. */
	if (limit && i < limit->budget_count && (limit->budgets[i].amount.count == is->budget ||
						 (!i && *limit->budgets_by)))
		weir_text_budget(NULL, &own, amount);
	else
		weir_text_amount(is->budget, 20, amount);
	snprintf(buf, WEIR_TEXT_SIZE, "%.*s%s", WEIR_TEXT_SIZE - 8, amount,
		 is->unit == WEIR_UNIT_BYTES ? " bytes" : "");
	return buf;
}

bool weir_source_never_fits(const struct weir_source *source)
{
	unsigned int i;

	for (i = 0; i < source->budget_count; i++) {
		if (source->budgets[i].unit == WEIR_UNIT_BYTES &&
		    source->asked.len > source->budgets[i].budget)
			return true;
	}
	return false;
}

/* Does a packet of the length that was given fit? */
static void show_fits(struct weir_out *out, const struct weir_source *source)
{
	const struct weir_source_budget *is;
	char buf[WEIR_TEXT_SIZE];
	unsigned int i;

	for (i = 0; i < source->budget_count; i++) {
		is = &source->budgets[i];
		if (is->unit != WEIR_UNIT_BYTES || source->asked.len <= is->left)
			continue;
		weir_out_text(out, INDENT "a packet of %" PRIu64 " bytes ", source->asked.len);
		if (source->asked.len > is->budget)
			weir_out_text(out, "never fits: it is larger than the whole budget %s\n",
				      weir_text_source_budget(source, i, buf));
		else
			weir_out_text(out, "does not fit now: %" PRIu64 " of the budget %s are left\n",
				      is->left, weir_text_source_budget(source, i, buf));
	}
}

/* Whole seconds, rounded up. */
static const char *seconds_text(uint64_t ns, char buf[WEIR_TEXT_SIZE])
{
	return weir_text_time((ns + SECOND - 1) / SECOND * SECOND, buf);
}

/* The middle of the time in which the drop was, to the nearest second. */
static const char *middle_text(const struct weir_drop *drop, char buf[WEIR_TEXT_SIZE])
{
	uint64_t middle = drop->before_ns + (drop->within_ns - drop->before_ns) / 2;

	return weir_text_time((middle + SECOND / 2) / SECOND * SECOND, buf);
}

/*
 * Why the last packet was dropped. The budget may have been changed since, which is not known
 * unless such a packet would fit now: what is said of it is said in the present tense.
 */
const char *weir_text_source_reason(const struct weir_source *source,
				    char text[2 * WEIR_TEXT_SIZE])
{
	const struct weir_drop *drop = &source->drop;
	unsigned int i = (drop->budget ? drop->budget - 1 : 0) % WEIR_BUDGETS_MAX;
	const struct weir_source_budget *is = &source->budgets[i];
	char budget[WEIR_TEXT_SIZE];
	bool larger;

	weir_text_source_budget(source, i, budget);
	switch (drop->reason) {
	case WEIR_DROP_REASON_BUDGET:
		snprintf(text, 2 * WEIR_TEXT_SIZE, !is->budget ?
			 "over a budget that the limit had" : is->left ? "over %s budget, %s" :
			 "over %s budget %s", source->prefix.family ? "its" : "the", budget);
		break;
	case WEIR_DROP_REASON_BLOCK:
		strcpy(text, "blocked");
		break;
	case WEIR_DROP_REASON_FLOOR:
		strcpy(text, "no place in the table, and no room under the floor");
		break;
	case WEIR_DROP_REASON_SIZE:
		larger = drop->cost > is->budget;
		snprintf(text, 2 * WEIR_TEXT_SIZE,
			 "its size of %" PRIu64 " %s %s larger than the whole budget%s%s%s",
			 drop->cost, weir_unit_names[is->unit == WEIR_UNIT_BYTES],
			 larger ? "is" : "was", larger ? " " : ", which is ", budget,
			 larger ? "" : " now");
		break;
	case WEIR_DROP_REASON_NEWCOMERS:
		strcpy(text, "not known yet, and the newcomers' budget was used up");
		break;
	default:
		strcpy(text, "for a reason that this weir does not know");
	}
	return text;
}

/* When the last packet was dropped, as far as that is known, and why. */
static void show_drop(struct weir_out *out, const struct weir_source *source)
{
	bool observe = source->action == WEIR_ACTION_OBSERVE;
	char from[WEIR_TEXT_SIZE], to[WEIR_TEXT_SIZE], reason[2 * WEIR_TEXT_SIZE];
	const struct weir_drop *drop = &source->drop;

	if (!(source->has & WEIR_HAS(SOURCE_LAST_DROP)))
		return;
	weir_out_text(out, INDENT "%s dropped ", observe ? "would last have been" : "last");
	seconds_text(drop->within_ns, to);
	if (drop->before_ns < SECOND)
		weir_out_text(out, "within the last %s", to);
	else if (drop->within_ns - drop->before_ns < 2 * SECOND)
		weir_out_text(out, "about %s ago", middle_text(drop, from));
	else
		weir_out_text(out, "between %s and %s ago",
			      weir_text_time(drop->before_ns / SECOND * SECOND, from), to);
	weir_out_text(out, ": %s\n", weir_text_source_reason(source, reason));
}

/* Drops are counted for the source, of which the address is one of several. */
static void show_shared(struct weir_out *out, const struct weir_source *source)
{
	const struct weir_prefix *asked = &source->asked.prefix;
	bool address = asked->family && asked->len == (asked->family == AF_INET ? 32 : 128);
	bool refused = source->dropped || source->would_drop ||
		       source->has & WEIR_HAS(SOURCE_LAST_DROP);
	char buf[WEIR_TEXT_SIZE];

	if (!address || source->prefix.len == asked->len || !refused)
		return;
	if (source->drop.own) {
		weir_out_text(out, INDENT "packets of this address were among those %s\n",
			      source->would_drop ? "refused" : "dropped");
		return;
	}
	weir_out_text(out, INDENT "the budget is shared by all ");
	weir_out_text(out, source->prefix.family ? "addresses of %s" : "sources",
		      weir_text_prefix(NULL, &source->prefix, buf));
	weir_out_text(out, "; whether packets of this one were %s is not known\n",
		      source->would_drop ? "refused" : "dropped");
}

/* From where the source has another first budget than the limit says. */
static void show_budget_by(struct weir_out *out, const struct weir_source *source)
{
	char buf[WEIR_TEXT_SIZE];

	if (source->asked.by.family)
		weir_out_text(out, INDENT "its budget is that of %s in the list '%s'\n",
			      weir_text_prefix(NULL, &source->asked.by, buf),
			      source->asked.limit->budgets_by);
}

void weir_show_reasons(struct weir_out *out, const struct weir_source *source)
{
	show_budget_by(out, source);
	show_drop(out, source);
	show_fits(out, source);
	show_shared(out, source);
}

void weir_show_dropped(struct weir_out *out, const void *model)
{
	const struct weir_source *source = model;
	char age[WEIR_TEXT_SIZE], reason[2 * WEIR_TEXT_SIZE];

	weir_out_begin(out, NULL, '{');
	weir_out_text(out, "%s ago ", weir_text_time(source->drop.within_ns / MS * MS, age));
	weir_set_show(&weir_source_fields, WEIR_WORDS, out, source);
	if (out->json)
		weir_field_show(&weir_source_fields,
				weir_field_find(&weir_source_fields, 0, WEIR_A_SOURCE_LAST_DROP),
				out, source);
	weir_out_text(out, ": %s\n", weir_text_source_reason(source, reason));
	weir_out_end(out, '}');
}
