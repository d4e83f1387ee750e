// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a limit drops packets of a source: lines below its state. */

#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "show.h"
#include "value.h"

#define INDENT	"    "
#define SECOND	1000000000ull	/* in ns */

/* A budget of the source, as words of its limit. */
static const char *budget_text(const struct weir_source *source, unsigned int i,
			       char buf[WEIR_TEXT_SIZE])
{
	const struct weir_limit *limit = source->asked.limit;
	const struct weir_source_budget *is = &source->budgets[i];
	char amount[WEIR_TEXT_SIZE];

	/* Of a bucket it is the burst that a packet must not exceed. */
	if (limit && i < limit->budget_count && limit->budgets[i].amount.count == is->budget)
		weir_text_budget(NULL, &limit->budgets[i].amount, amount);
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
				      budget_text(source, i, buf));
		else
			weir_out_text(out, "does not fit now: %" PRIu64 " of the budget %s are left\n",
				      is->left, budget_text(source, i, buf));
	}
}

/* Whole seconds, rounded up. */
static const char *seconds_text(uint64_t ns, char buf[WEIR_TEXT_SIZE])
{
	return weir_text_time((ns + SECOND - 1) / SECOND * SECOND, buf);
}

/*
 * Why the last packet was dropped. The budget may have been changed since: where it would
 * not refuse such a packet now, what is said of it is said to be of now.
 */
static const char *reason_text(const struct weir_source *source, char text[2 * WEIR_TEXT_SIZE])
{
	const struct weir_drop *drop = &source->drop;
	unsigned int i = (drop->budget ? drop->budget - 1 : 0) % WEIR_BUDGETS_MAX;
	const struct weir_source_budget *is = &source->budgets[i];
	char budget[WEIR_TEXT_SIZE];
	bool fits;

	budget_text(source, i, budget);
	switch (drop->reason) {
	case WEIR_DROP_REASON_BUDGET:
		snprintf(text, 2 * WEIR_TEXT_SIZE, is->left ? "over %s budget, which is %s now" :
			 "over %s budget %s", source->prefix.family ? "its" : "the", budget);
		break;
	case WEIR_DROP_REASON_BLOCK:
		strcpy(text, "blocked");
		break;
	case WEIR_DROP_REASON_FLOOR:
		strcpy(text, "no place in the table, and no room under the floor");
		break;
	case WEIR_DROP_REASON_SIZE:
		fits = drop->cost <= is->budget;
		snprintf(text, 2 * WEIR_TEXT_SIZE,
			 "its size of %" PRIu64 " %s %s larger than the whole budget%s%s%s",
			 drop->cost, weir_unit_names[is->unit == WEIR_UNIT_BYTES],
			 fits ? "was" : "is", fits ? ", which is " : " ", budget,
			 fits ? " now" : "");
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
		weir_out_text(out, "about %s ago", to);
	else
		weir_out_text(out, "between %s and %s ago",
			      weir_text_time(drop->before_ns / SECOND * SECOND, from), to);
	weir_out_text(out, ": %s\n", reason_text(source, reason));
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

void weir_show_reasons(struct weir_out *out, const struct weir_source *source)
{
	show_drop(out, source);
	show_fits(out, source);
	show_shared(out, source);
}
