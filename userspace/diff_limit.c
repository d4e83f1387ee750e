// SPDX-License-Identifier: GPL-2.0-or-later
/* weir diff: the words of limit set that turn a limit into another. */

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "diff.h"
#include "value.h"

#define CONDITIONS_OF_LISTS	((uint64_t)(WEIR_COND_FROM_LIST | WEIR_COND_TO_LIST))

static const struct weir_field *row(const struct weir_set *set, uint16_t attr)
{
	return weir_field_find(set, WEIR_ON_SET, attr);
}

/* The value as it is written, or the default. */
static const char *text_of(const struct weir_field *field, const void *model,
			   char buf[WEIR_TEXT_SIZE])
{
	if (weir_field_given(field, model))
		return field->type->flag ? field->word : weir_field_text(field, model, buf);
	return field->usual ? field->usual : "";
}

static bool differs(const struct weir_field *field, const void *a, const void *b)
{
	char left[WEIR_TEXT_SIZE], right[WEIR_TEXT_SIZE];

	return strcmp(text_of(field, a, left), text_of(field, b, right));
}

static void put_word(struct weir_out *out, const struct weir_field *field, const void *model)
{
	char buf[WEIR_TEXT_SIZE];

	if (!(field->flags & WEIR_BARE) && !field->type->flag)
		weir_out_put(out, WEIR_COLOR_NONE, field->word);
	weir_out_put(out, WEIR_COLOR_NONE, text_of(field, model, buf));
}

static bool has_slots(const struct weir_budget *is)
{
	return is->mode <= WEIR_MODE_LENIENT && is->amount.window_ms;
}

static int compare_types(const void *a, const void *b)
{
	return *(const uint8_t *)a - *(const uint8_t *)b;
}

/* The module has protocols and types in the order of their numbers, each once. */
static void sort_types(uint8_t *type, unsigned int *count)
{
	unsigned int i, used = 0;

	qsort(type, *count, 1, compare_types);
	for (i = 0; i < *count; i++)
		if (!i || type[i] != type[i - 1])
			type[used++] = type[i];
	*count = used;
}

/* The budgets and the number of sources of a limit that has all but its name. */
static int ask(struct weir_tool *tool, const struct weir_limit *limit,
	       const struct weir_config *there, struct weir_limit *made)
{
	struct weir_limit words = {
		.has = limit->has & (WEIR_HAS(LIMIT_PREFIX4) | WEIR_HAS(LIMIT_BUDGET) |
				     WEIR_HAS(LIMIT_MATCH) | WEIR_HAS(LIMIT_SOURCES) |
				     WEIR_HAS(LIMIT_SHARING)),
		.per = { limit->per[0], limit->per[1] }, .match = limit->match,
		.sharing = limit->sharing,
		.budget_count = limit->budget_count, .sources = WEIR_SOURCES_MIN, .check = true,
	};
	struct weir_request request = {
		.cmd = WEIR_CMD_LIMIT_ADD, .flags = NLM_F_ECHO, .set = &weir_limit_fields,
		.verb = WEIR_ON_ADD, .model = &words, .reply_set = &weir_limit_fields,
		.into = made,
	};
	const struct weir_limit *other;
	unsigned int i = 0;

	memcpy(words.budgets, limit->budgets, sizeof(words.budgets));
	/* lists may not be there yet, and do not matter */
	words.match.has &= ~CONDITIONS_OF_LISTS;
	words.match.invert &= ~CONDITIONS_OF_LISTS;
	if (!(words.has & WEIR_HAS(LIMIT_SOURCES)))
		words.sources = 0;
	do {
		snprintf(words.name, sizeof(words.name), "diff%u", i++);
		for (other = there->limits; other < there->limits + there->limit_count; other++)
			if (!strcmp(other->name, words.name))
				break;
	} while (other < there->limits + there->limit_count);
	return weir_nl_ask(&tool->nl, &request);
}

/* Are there words of which the module chooses the values? */
static bool is_partial(const struct weir_limit *limit)
{
	const struct weir_budget *is = limit->budgets;

	for (; is < limit->budgets + limit->budget_count; is++) {
		if (has_slots(is) && !(is->has & WEIR_HAS(BUDGET_SLOTS)))
			return true;
	}
	return !(limit->has & (WEIR_HAS(LIMIT_SOURCES) | WEIR_HAS(LIMIT_BLOCKS_ONLY)));
}

int weir_diff_complete(struct weir_tool *tool, struct weir_limit *limit,
		       const struct weir_config *there)
{
	struct weir_match *match = &limit->match;
	static struct weir_limit made;
	struct weir_budget *is;
	unsigned int i;

	sort_types(match->proto, &match->proto_count);
	sort_types(match->icmp, &match->icmp_count);
	sort_types(match->icmpv6, &match->icmpv6_count);
	for (is = limit->budgets; is < limit->budgets + limit->budget_count; is++) {
		if (is->mode == WEIR_MODE_BUCKET && !(is->has & WEIR_HAS(BUDGET_BURST)))
			is->burst = is->amount.count;
		if (is->mode == WEIR_MODE_BUCKET)
			is->has |= WEIR_HAS(BUDGET_BURST);
	}
	if (!is_partial(limit) || !tool->reached)
		return WEIR_EXIT_OK;
	if (ask(tool, limit, there, &made)) {
		if (there->limit_count == WEIR_LIMITS_MAX)
			weir_err_set(&tool->err, "limit '%s': give slots and sources: among %d limits the module cannot be asked what it would choose",
				     limit->name, WEIR_LIMITS_MAX);
		else
			weir_err_set(&tool->err, "limit '%s': %.400s", limit->name,
				     tool->nl.err.text);
		return WEIR_EXIT_REFUSED;
	}
	if (!(limit->has & WEIR_HAS(LIMIT_SOURCES)))
		limit->sources = made.sources;
	limit->has |= WEIR_HAS(LIMIT_SOURCES);
	for (i = 0; i < limit->budget_count; i++) {
		is = &limit->budgets[i];
		if (!has_slots(is))
			continue;
		is->slots = made.budgets[i].slots;
		is->has |= WEIR_HAS(BUDGET_SLOTS);
	}
	return WEIR_EXIT_OK;
}

static bool has_calendar(const struct weir_limit *limit)
{
	unsigned int i;

	for (i = 0; i < limit->budget_count; i++)
		if (limit->budgets[i].mode == WEIR_MODE_CALENDAR)
			return true;
	return false;
}

bool weir_diff_sets(const struct weir_limit *limit, const struct weir_limit *there)
{
	return !limit->blocks_only == !there->blocks_only &&
	       !differs(weir_field_find(&weir_limit_fields, WEIR_ON_ADD, WEIR_A_LIMIT_PREFIX4),
			limit, there) && !weir_limit_restarts(limit, there);
}

/* The only budget of that window; or NULL. */
static const struct weir_budget *find_budget(const struct weir_limit *there, uint32_t window_ms)
{
	const struct weir_budget *is = there->budgets, *found = NULL;

	for (; is < there->budgets + there->budget_count; is++) {
		if (is->amount.window_ms != window_ms)
			continue;
		if (found)
			return NULL;
		found = is;
	}
	return found;
}

static bool budget_differs(const struct weir_budget *is, const struct weir_budget *was)
{
	return differs(row(&weir_budget_fields, WEIR_A_BUDGET_BUDGET), is, was) ||
	       differs(row(&weir_budget_fields, WEIR_A_BUDGET_UNIT), is, was) ||
	       differs(row(&weir_budget_fields, WEIR_A_BUDGET_MODE), is, was) ||
	       (has_slots(is) && is->slots != was->slots) || is->alone != was->alone ||
	       (is->mode == WEIR_MODE_BUCKET && is->burst != was->burst);
}

/* A budget takes over from @was what is not given; NULL: from another one, so all is given. */
static void put_budget(struct weir_out *out, const struct weir_budget *is,
		       const struct weir_budget *was)
{
	const struct weir_field *unit = row(&weir_budget_fields, WEIR_A_BUDGET_UNIT);
	const struct weir_field *mode = row(&weir_budget_fields, WEIR_A_BUDGET_MODE);
	bool counts_alike = was && !differs(mode, is, was);

	put_word(out, row(&weir_budget_fields, WEIR_A_BUDGET_BUDGET), is);
	if (!was || differs(unit, is, was))
		put_word(out, unit, is);
	if (has_slots(is) && (!counts_alike || is->slots != was->slots ||
			      is->amount.window_ms != was->amount.window_ms))
		put_word(out, row(&weir_budget_fields, WEIR_A_BUDGET_SLOTS), is);
	if (!counts_alike)
		put_word(out, mode, is);
	if (is->mode == WEIR_MODE_BUCKET && (!counts_alike || is->burst != was->burst ||
					     is->amount.count != was->amount.count))
		put_word(out, row(&weir_budget_fields, WEIR_A_BUDGET_BURST), is);
	if (is->alone != (was ? was->alone : 0))
		put_word(out, row(&weir_budget_fields, WEIR_A_BUDGET_ALONE), is);
}

/* Budgets of the same windows and units, of which each names its own, can be changed one by one. */
static bool are_named(const struct weir_limit *limit, const struct weir_limit *there)
{
	unsigned int i;

	if (limit->budget_count != there->budget_count)
		return false;
	for (i = 0; i < limit->budget_count; i++)
		if (find_budget(there, limit->budgets[i].amount.window_ms) != &there->budgets[i] ||
		    limit->budgets[i].unit != there->budgets[i].unit)
			return false;
	return true;
}

static bool put_budgets(struct weir_out *out, const struct weir_limit *limit,
			const struct weir_limit *there)
{
	unsigned int count = limit->budget_count, i;
	bool named = are_named(limit, there), any = count != there->budget_count;
	const struct weir_budget *is = limit->budgets, *was;

	for (i = 0; i < count && !any; i++)
		any = budget_differs(&is[i], &there->budgets[i]);
	if (!any)
		return false;
	if (count < there->budget_count)
		weir_out_put(out, WEIR_COLOR_NONE, "only");
	for (i = 0; i < count; i++) {
		was = find_budget(there, is[i].amount.window_ms);
		if (count == 1 && there->budget_count == 1)
			was = there->budgets;
		else if (was && was->unit != is[i].unit)
			was = NULL;
		if (!named || budget_differs(&is[i], &there->budgets[i]))
			put_budget(out, &is[i], was);
	}
	return true;
}

static void put_condition(struct weir_out *out, const struct weir_field *field,
			  const struct weir_match *match)
{
	if (match->invert & field->bit)
		weir_out_put(out, WEIR_COLOR_NONE, "not");
	put_word(out, field, match);
}

/* To remove a condition, all others follow the word match. */
static bool put_match(struct weir_out *out, const struct weir_match *match,
		      const struct weir_match *there)
{
	bool removed = there->has & ~match->has, changed, any = removed;
	const struct weir_field *field;

	if (removed)
		weir_out_put(out, WEIR_COLOR_NONE, match->has ? "match" : "match any");
	for (field = weir_match_fields.fields; field->type; field++) {
		if (!(field->flags & WEIR_NOT) || !(match->has & field->bit))
			continue;
		changed = !(there->has & field->bit) || differs(field, match, there) ||
			  (match->invert ^ there->invert) & field->bit;
		if (removed || changed)
			put_condition(out, field, match);
		any |= changed;
	}
	return any;
}

/* Print a word and those that go with it if one differs; @with: NULL-terminated. */
static bool put_group(struct weir_out *out, const uint16_t *attrs, const struct weir_limit *limit,
		      const struct weir_limit *there)
{
	const struct weir_field *first = row(&weir_limit_fields, *attrs), *field;
	const uint16_t *attr;
	bool any = false;

	for (attr = attrs; *attr; attr++)
		any |= differs(row(&weir_limit_fields, *attr), limit, there);
	if (!any)
		return false;
	put_word(out, first, limit);
	for (attr = attrs + 1; *attr && weir_field_given(first, limit); attr++) {
		field = row(&weir_limit_fields, *attr);
		if (!field->type->flag || weir_field_given(field, limit))
			put_word(out, field, limit);
	}
	return true;
}

bool weir_diff_words(struct weir_out *out, const struct weir_limit *limit,
		     const struct weir_limit *there)
{
	static const uint16_t newcomers[] = { WEIR_A_LIMIT_NEWCOMERS, WEIR_A_LIMIT_FLOOD,
					      WEIR_A_LIMIT_KNOWN_MS, 0 };
	static const uint16_t penalty[] = { WEIR_A_LIMIT_PENALTY_MS, WEIR_A_LIMIT_RENEW, 0 };
	static const uint16_t sources[] = { WEIR_A_LIMIT_SOURCES, 0 };
	static const uint16_t blocks[] = { WEIR_A_LIMIT_BLOCKS_ONLY, 0 };
	static const uint16_t action[] = { WEIR_A_LIMIT_ACTION, 0 };
	static const uint16_t lookup[] = { WEIR_A_LIMIT_BUDGETS_BY, 0 };
	static const uint16_t log[] = { WEIR_A_LIMIT_LOG, 0 };
	static const uint16_t sharing[] = { WEIR_A_LIMIT_SHARING, 0 };
	const struct weir_field *zone = row(&weir_limit_fields, WEIR_A_LIMIT_ZONE);
	const struct weir_field *comment = row(&weir_limit_fields, WEIR_A_LIMIT_COMMENT);
	bool any = put_budgets(out, limit, there);

	/* without a calendar, a zone means nothing, and goes by itself */
	if ((*limit->zone.name || has_calendar(limit)) && differs(zone, limit, there)) {
		put_word(out, zone, limit);
		any = true;
	}
	any |= put_group(out, lookup, limit, there);
	any |= put_group(out, sharing, limit, there);
	any |= put_match(out, &limit->match, &there->match);
	any |= put_group(out, sources, limit, there);
	any |= put_group(out, blocks, limit, there);
	any |= put_group(out, newcomers, limit, there);
	any |= put_group(out, penalty, limit, there);
	any |= put_group(out, action, limit, there);
	any |= put_group(out, log, limit, there);
	if (strcmp(limit->comment, there->comment)) {
		weir_field_show(&weir_limit_fields, comment, out, limit);
		any = true;
	}
	return any;
}
