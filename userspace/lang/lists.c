// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of prefixes of a configuration, against each other and the limits that use them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lang/config.h"
#include "lang/place.h"
#include "lang/value.h"

#include "limit/rules.h"	/* behind linux/weir.h, of model.h */

/* By address; of two with the same, the shorter holds the longer, and is first. */
static int compare_prefixes(const struct weir_prefix *a, const struct weir_prefix *b)
{
	int diff = a->family - b->family;

	if (!diff)
		diff = memcmp(a->addr, b->addr, sizeof(a->addr));
	return diff ? diff : a->len - b->len;
}

static int compare(const void *left, const void *right)
{
	const struct weir_member *const *a = left, *const *b = right;

	return compare_prefixes(&(*a)->prefix, &(*b)->prefix);
}

static int compare_places(const void *left, const void *right)
{
	const struct weir_member *a = *(const struct weir_member *const *)left;
	const struct weir_member *b = *(const struct weir_member *const *)right;
	int diff = compare_prefixes(&a->prefix, &b->prefix);

	return diff ? diff : (a->place > b->place) - (a->place < b->place);
}

void weir_members_sort(struct weir_members *members)
{
	unsigned int i, used = 0;

	members->twice_count = 0;
	qsort(members->at, members->count, sizeof(members->at[0]), compare_places);
	for (i = 0; i < members->count; i++) {
		if (used && !compare(&members->at[i], &members->at[used - 1])) {
			if (members->at[i]->budget != members->at[used - 1]->budget &&
			    members->twice_count < WEIR_TWICE_MAX)
				members->twice[members->twice_count++] = (struct weir_twice){
					members->at[used - 1], members->at[i],
				};
			continue;
		}
		members->at[used++] = members->at[i];
	}
	members->count = used;
}

void weir_members_gather(const struct weir_config *config, const char *name,
			 struct weir_members *members)
{
	const struct weir_list *list;
	unsigned int at, i;

	members->count = 0;
	for (at = 0; at < config->list_count; at++) {
		list = &config->lists[at];
		for (i = 0; !strcmp(list->name, name) && i < list->member_count; i++)
			members->at[members->count++] = &list->member[i];
	}
	weir_members_sort(members);
}

const struct weir_member *weir_members_find(const struct weir_members *members,
					    const struct weir_prefix *prefix)
{
	const struct weir_member key = { .prefix = *prefix }, *at = &key, **found;

	found = bsearch(&at, members->at, members->count, sizeof(members->at[0]), compare);
	return found ? *found : NULL;
}

void weir_members_drop_held(struct weir_members *members)
{
	unsigned int i, used = 0;

	for (i = 0; i < members->count; i++)
		if (!used || !weir_prefix_holds(&members->at[used - 1]->prefix,
						&members->at[i]->prefix))
			members->at[used++] = members->at[i];
	members->count = used;
}

void weir_members_sources(struct weir_members *members, const struct weir_config *config,
			  const struct weir_limit *limit)
{
	weir_members_gather(config, limit->match.from_list, members);
	weir_members_drop_held(members);
}

/* The first that is not before @prefix. */
static unsigned int place_of(const struct weir_members *members, const struct weir_prefix *prefix)
{
	unsigned int first = 0, end = members->count, middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (compare_prefixes(&members->at[middle]->prefix, prefix) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

bool weir_members_hold(const struct weir_members *members, const struct weir_prefix *prefix)
{
	unsigned int i = place_of(members, prefix);

	return (i < members->count && weir_prefix_holds(&members->at[i]->prefix, prefix)) ||
	       (i && weir_prefix_holds(&members->at[i - 1]->prefix, prefix));
}

bool weir_members_overlap(const struct weir_members *members, const struct weir_prefix *prefix)
{
	unsigned int i = place_of(members, prefix);

	return weir_members_hold(members, prefix) ||
	       (i < members->count && weir_prefix_holds(prefix, &members->at[i]->prefix));
}

bool weir_lists_have(const struct weir_config *config, const char *name)
{
	unsigned int i;

	for (i = 0; i < config->list_count; i++)
		if (!strcmp(config->lists[i].name, name))
			return true;
	return false;
}

const char *weir_lists_near(const struct weir_config *config, const char *name,
			    char text[WEIR_NEAR_SIZE])
{
	struct weir_word words[WEIR_PREFIX_LISTS_MAX + 1] = { 0 };
	char names[WEIR_NEAR_SIZE - 20] = "";
	unsigned int at, used = 0;

	for (at = 0; at < config->list_count && used < WEIR_PREFIX_LISTS_MAX; at++)
		if (!weir_word_find(words, config->lists[at].name))
			words[used++].name = config->lists[at].name;
	if (weir_nearest(words, name, names, sizeof(names))) {
		snprintf(text, WEIR_NEAR_SIZE, "; did you mean %s?", names);
		return text;
	}
	for (at = 0; at < used; at++)
		if (!weir_append(names, sizeof(names) - 5, ", ", words[at].name)) {
			strcat(names, ", ...");
			break;
		}
	snprintf(text, WEIR_NEAR_SIZE, used ? "; there are: %s" : "; there is none", names);
	return text;
}

/* Does the limit take that budget for a source in the prefix? */
static int check_member(const struct weir_limit *limit, const struct weir_member *member,
			struct weir_err *err)
{
	const uint8_t *per = weir_limit_per(limit);
	unsigned int len = per[member->prefix.family == AF_INET6];
	const struct weir_budget *first = &limit->budgets[0];
	const struct weir_budget_config rules = {
		.amount = member->budget, .window_ms = first->amount.window_ms,
		.mode = first->mode, .unit = first->unit, .slots = first->slots,
	};
	struct weir_error rule;
	char buf[WEIR_TEXT_SIZE];

	if (member->prefix.len > len)
		return weir_err_set(err, "%s is a part of a source of limit '%s', a /%u: put it into the list of another limit",
				    weir_text_prefix(NULL, &member->prefix, buf), limit->name,
				    len);
	if (!member->budget || !weir_budget_rules(&rules, false, per[1], &rule))
		return 0;
	return weir_err_set(err, "%s, by limit '%s': %s",
			    weir_text_member(NULL, member, buf), limit->name, rule.msg);
}

/* The part of the list with the prefix of that number, from 0; or NULL. */
static const struct weir_member *member_at(const struct weir_config *config, const char *name,
					   unsigned int number)
{
	const struct weir_list *list;
	unsigned int i;

	for (i = 0; i < config->list_count; i++) {
		list = &config->lists[i];
		if (strcmp(list->name, name))
			continue;
		if (number < list->member_count)
			return &list->member[number];
		number -= list->member_count;
	}
	return NULL;
}

#define USES	3	/* of lists, by a limit */

int weir_lists_check_limit(const struct weir_config *config, const struct weir_limit *limit,
			   unsigned int *next, const struct weir_field **field,
			   const struct weir_member **member, struct weir_err *err)
{
	const struct {
		const struct weir_set *set;
		uint16_t attr;
		const char *list;
	} uses[USES] = {
		{ &weir_match_fields, WEIR_A_MATCH_FROM_LIST, limit->match.from_list },
		{ &weir_match_fields, WEIR_A_MATCH_TO_LIST, limit->match.to_list },
		{ &weir_limit_fields, WEIR_A_LIMIT_BUDGETS_BY, limit->budgets_by },
	};
	char near[WEIR_NEAR_SIZE];
	unsigned int i;

	*member = NULL;
	while (*next < USES) {
		i = (*next)++;
		if (!*uses[i].list || weir_lists_have(config, uses[i].list))
			continue;
		*field = weir_field_find(uses[i].set, 0, uses[i].attr);
		return weir_err_set(err, "limit add: %s: no list '%s' in this file%s",
				    (*field)->word, uses[i].list,
				    weir_lists_near(config, uses[i].list, near));
	}
	while (*limit->budgets_by &&
	       (*member = member_at(config, limit->budgets_by, *next - USES))) {
		(*next)++;
		if (check_member(limit, *member, err))
			return -EINVAL;
	}
	return 0;
}

const struct weir_member *weir_lists_check(const struct weir_config *config, const char *name,
					   unsigned int number, struct weir_err *err)
{
	static struct weir_members members;
	char buf[WEIR_TEXT_SIZE], place[WEIR_PLACE_SIZE];
	const struct weir_twice *twice = &members.twice[number];

	if (!number)
		weir_members_gather(config, name, &members);
	if (number >= members.twice_count)
		return NULL;
	weir_err_set(err, "%s has another budget in list '%s' on %s",
		     weir_text_prefix(NULL, &twice->again->prefix, buf), name,
		     weir_place_text(config->places, twice->first->line, place));
	return twice->again;
}

/* Put members into a list, the last one of all if there is none of that name. */
static int add_members(struct weir_config *config, const char *name,
		       const struct weir_member *member, unsigned int count, struct weir_err *err)
{
	struct weir_list list = { .member_count = 1 };
	unsigned int i;

	strcpy(list.name, name);
	for (i = 0; i < count; i++) {
		list.member[0] = member[i];
		list.line = member[i].line;
		if (weir_config_add_list(config, &list, err))
			return -EINVAL;
	}
	return 0;
}

/* Take a list out of a configuration; returns its members, from malloc(), or NULL. */
static struct weir_member *take_list(struct weir_config *config, const char *name,
				     unsigned int *count)
{
	struct weir_member *taken = malloc(WEIR_LIST_PREFIXES_MAX * sizeof(*taken));
	unsigned int i, used = 0;
	struct weir_list *list;

	*count = 0;
	for (i = 0; taken && i < config->list_count; i++) {
		list = &config->lists[i];
		if (strcmp(list->name, name)) {
			config->lists[used++] = *list;
			continue;
		}
		memcpy(&taken[*count], list->member, list->member_count * sizeof(*taken));
		*count += list->member_count;
	}
	if (!taken)
		return NULL;
	config->lists_named -= used < config->list_count;
	config->list_count = used;
	config->member_count -= *count;
	return taken;
}

int weir_lists_change(struct weir_config *config, const struct weir_list_change *change,
		      unsigned int verb, struct weir_err *err)
{
	static struct weir_members changed;
	struct weir_member *was;
	unsigned int count, i, used = 0;
	int ret = 0;

	was = take_list(config, change->name, &count);
	if (!was)
		return weir_err_set(err, WEIR_NO_MEMORY);
	for (i = 0; i < change->member_count; i++)
		changed.at[i] = &change->member[i];
	changed.count = i;
	weir_members_sort(&changed);
	for (i = 0; i < count; i++)
		if (!weir_members_find(&changed, &was[i].prefix))
			was[used++] = was[i];
	if (verb != WEIR_ON_SET && (verb != WEIR_ON_DEL || change->member_count))
		ret = add_members(config, change->name, was, used, err);
	free(was);
	if (!ret && verb != WEIR_ON_DEL)
		ret = add_members(config, change->name, change->member, change->member_count, err);
	return ret;
}
