// SPDX-License-Identifier: GPL-2.0-or-later
/* weir diff: the commands that change lists of prefixes. */

#include <string.h>

#include "config.h"
#include "diff.h"

static bool has_same(const struct weir_members *members, const struct weir_member *member)
{
	const struct weir_member *found = weir_members_find(members, &member->prefix);

	return found && found->budget == member->budget;
}

static void put_part(struct weir_diff *diff, const char *command, const struct weir_list *part)
{
	weir_diff_begin(diff, command);
	weir_set_show(&weir_list_fields, WEIR_WORDS, &diff->words, part);
	weir_diff_end(diff);
}

/* Add one to the command, and print that if it is full. */
static void put_member(struct weir_diff *diff, const char *command, struct weir_list *part,
		       const struct weir_member *member)
{
	part->member[part->member_count++] = *member;
	if (part->member_count < WEIR_PREFIXES_MAX)
		return;
	put_part(diff, command, part);
	part->member_count = 0;
}

static void put_rest(struct weir_diff *diff, const char *command, const struct weir_list *part)
{
	if (part->member_count)
		put_part(diff, command, part);
}

static struct weir_list part_of(const char *name)
{
	struct weir_list part = { .member_count = 0 };

	snprintf(part.name, sizeof(part.name), "%s", name);
	return part;
}

/* Commands for what @without does not have, with the same budget; or for all. */
static void put_new(struct weir_diff *diff, const char *command, const char *name,
		    const struct weir_members *members, const struct weir_members *without)
{
	struct weir_list part = part_of(name);
	unsigned int i;

	for (i = 0; i < members->count; i++)
		if (!without || !has_same(without, members->at[i]))
			put_member(diff, command, &part, members->at[i]);
	put_rest(diff, command, &part);
}

/* Commands that remove the prefixes that are not in @is. */
static void put_gone(struct weir_diff *diff, const char *name, const struct weir_members *was,
		     const struct weir_members *is)
{
	struct weir_list part = part_of(name);
	struct weir_member gone;
	unsigned int i;

	for (i = 0; i < was->count; i++) {
		gone = (struct weir_member){ .prefix = was->at[i]->prefix };
		if (!weir_members_find(is, &was->at[i]->prefix))
			put_member(diff, "prefix-list del", &part, &gone);
	}
	put_rest(diff, "prefix-list del", &part);
}

/* How many of the one are in the other, too? */
static unsigned int count_common(const struct weir_members *a, const struct weir_members *b)
{
	unsigned int i, count = 0;

	for (i = 0; i < a->count; i++)
		count += has_same(b, a->at[i]);
	return count;
}

static void change(struct weir_diff *diff, const char *name, const struct weir_members *was,
		   const struct weir_members *is)
{
	unsigned int common = count_common(is, was);

	if (common < is->count && common < was->count && is->count <= WEIR_PREFIXES_MAX)
		return put_new(diff, "prefix-list set", name, is, NULL);
	/* a list that becomes empty is gone, which a limit may use */
	if (common)
		put_gone(diff, name, was, is);
	put_new(diff, "prefix-list add", name, is, was);
	if (!common)
		put_gone(diff, name, was, is);
}

/* The first part of a list in a sorted configuration. */
static bool is_first(const struct weir_config *config, unsigned int i)
{
	return !i || strcmp(config->lists[i].name, config->lists[i - 1].name);
}

/*
 * Is there a limit for all but those of the list? They have limits of their own, and so they leave
 * the list before those go, and join it behind them: in between more limits meet them, not none.
 */
static bool leaves_out(const struct weir_config *config, const char *name)
{
	const struct weir_limit *limit = config->limits;

	for (; limit < config->limits + config->limit_count; limit++)
		if (limit->match.has & limit->match.invert & WEIR_COND_FROM_LIST &&
		    !strcmp(limit->match.from_list, name))
			return true;
	return false;
}

/* Lists that such a limit has, in both configurations, are changed in two steps. */
static bool in_steps(const struct weir_config *there, const struct weir_config *file,
		     const char *name)
{
	return weir_lists_have(there, name) && weir_lists_have(file, name) &&
	       (leaves_out(there, name) || leaves_out(file, name));
}

static struct weir_members was, is;

/* The next list of the file, from its part @i on; NULL: there is none. */
static const char *next_list(const struct weir_config *there, const struct weir_config *file,
			     unsigned int *i, bool steps)
{
	const char *name;

	for (; *i < file->list_count; (*i)++) {
		name = file->lists[*i].name;
		if (!is_first(file, *i) || in_steps(there, file, name) != steps)
			continue;
		weir_members_gather(there, name, &was);
		weir_members_gather(file, name, &is);
		(*i)++;
		return name;
	}
	return NULL;
}

void weir_diff_lists_leave(struct weir_diff *diff, const struct weir_config *there,
			   const struct weir_config *file)
{
	unsigned int i = 0;
	const char *name;

	while ((name = next_list(there, file, &i, true)))
		if (count_common(&is, &was))
			put_gone(diff, name, &was, &is);
}

void weir_diff_lists_join(struct weir_diff *diff, const struct weir_config *there,
			  const struct weir_config *file)
{
	unsigned int i = 0;
	const char *name;

	while ((name = next_list(there, file, &i, true))) {
		put_new(diff, "prefix-list add", name, &is, &was);
		if (!count_common(&is, &was))
			put_gone(diff, name, &was, &is);
	}
}

void weir_diff_lists(struct weir_diff *diff, const struct weir_config *there,
		     const struct weir_config *file)
{
	unsigned int i = 0;
	const char *name;

	while ((name = next_list(there, file, &i, false)))
		change(diff, name, &was, &is);
}

void weir_diff_lists_gone(struct weir_diff *diff, const struct weir_config *there,
			  const struct weir_config *file)
{
	struct weir_list list = { .member_count = 0 };
	unsigned int i;

	for (i = 0; i < there->list_count; i++) {
		if (!is_first(there, i) || weir_lists_have(file, there->lists[i].name))
			continue;
		memcpy(list.name, there->lists[i].name, sizeof(list.name));
		put_part(diff, "prefix-list del", &list);
	}
}
