// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose budget it is, what does not fit, and who shares it: lines below a source's state. */

#include <inttypes.h>
#include <sys/socket.h>

#include "lang/value.h"
#include "show/reasons.h"

#define INDENT	"    "

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

/* Drops are counted for the source, of which the address is one of several. */
static void show_shared(struct weir_out *out, const struct weir_source *source)
{
	const struct weir_prefix *asked = &source->asked.prefix;
	bool address = asked->family && asked->len == (asked->family == AF_INET ? 32 : 128);
	char buf[WEIR_TEXT_SIZE];

	if (!address || source->prefix.len == asked->len ||
	    !(source->dropped || source->would_drop))
		return;
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

/* The refusals of newcomers have no source of theirs, as most have no place. */
static void show_newcomer(struct weir_out *out, const struct weir_source *source)
{
	if (source->unknown)
		weir_out_text(out, INDENT "what the newcomers' budget refuses is not counted as dropped here\n");
}

void weir_show_reasons(struct weir_out *out, const struct weir_source *source)
{
	show_budget_by(out, source);
	show_fits(out, source);
	show_shared(out, source);
	show_newcomer(out, source);
}
