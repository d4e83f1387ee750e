// SPDX-License-Identifier: GPL-2.0-or-later
/* weir diff: the commands that change lists of prefixes. */

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "diff.h"

/* All prefixes of a list, in order, each once. */
struct members {
	unsigned int count;
	struct weir_prefix prefix[WEIR_LIST_PARTS_MAX * WEIR_PREFIXES_MAX];
};

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct weir_prefix));
}

static void gather(const struct weir_config *config, const char *name, struct members *members)
{
	const struct weir_list *list = config->lists;
	unsigned int i, used = 0;

	members->count = 0;
	for (; list < config->lists + config->list_count; list++) {
		for (i = 0; !strcmp(list->name, name) && i < list->prefix_count; i++)
			members->prefix[members->count++] = list->prefix[i];
	}
	qsort(members->prefix, members->count, sizeof(members->prefix[0]), compare);
	for (i = 0; i < members->count; i++)
		if (!i || compare(&members->prefix[i], &members->prefix[i - 1]))
			members->prefix[used++] = members->prefix[i];
	members->count = used;
}

static void put_part(struct weir_diff *diff, const char *command, const struct weir_list *part)
{
	weir_diff_begin(diff, command);
	weir_set_show(&weir_list_fields, WEIR_WORDS, &diff->words, part);
	weir_diff_end(diff);
}

/* A command for those that @without lacks, which may be NULL; so many as a line may have. */
static void put_members(struct weir_diff *diff, const char *command, const char *name,
			const struct members *members, const struct members *without)
{
	struct weir_list part = { .prefix_count = 0 };
	unsigned int i;

	snprintf(part.name, sizeof(part.name), "%s", name);
	for (i = 0; i < members->count; i++) {
		if (without && bsearch(&members->prefix[i], without->prefix, without->count,
				       sizeof(without->prefix[0]), compare))
			continue;
		part.prefix[part.prefix_count++] = members->prefix[i];
		if (part.prefix_count < WEIR_PREFIXES_MAX)
			continue;
		put_part(diff, command, &part);
		part.prefix_count = 0;
	}
	if (part.prefix_count)
		put_part(diff, command, &part);
}

/* How many of the one are in the other, too? */
static unsigned int count_common(const struct members *a, const struct members *b)
{
	unsigned int i, count = 0;

	for (i = 0; i < a->count; i++)
		count += !!bsearch(&a->prefix[i], b->prefix, b->count, sizeof(b->prefix[0]),
				   compare);
	return count;
}

static void change(struct weir_diff *diff, const char *name, const struct members *was,
		   const struct members *is)
{
	unsigned int common = count_common(is, was);

	if (common < is->count && common < was->count && is->count <= WEIR_PREFIXES_MAX)
		return put_members(diff, "prefix-list set", name, is, NULL);
	/* a list that becomes empty is gone, which a limit may use */
	if (common)
		put_members(diff, "prefix-list del", name, was, is);
	put_members(diff, "prefix-list add", name, is, was);
	if (!common)
		put_members(diff, "prefix-list del", name, was, is);
}

static bool has(const struct weir_config *config, const char *name)
{
	unsigned int i;

	for (i = 0; i < config->list_count; i++)
		if (!strcmp(config->lists[i].name, name))
			return true;
	return false;
}

/* The first part of a list in a sorted configuration. */
static bool is_first(const struct weir_config *config, unsigned int i)
{
	return !i || strcmp(config->lists[i].name, config->lists[i - 1].name);
}

void weir_diff_lists(struct weir_diff *diff, const struct weir_config *there,
		     const struct weir_config *file)
{
	static struct members was, is;
	unsigned int i;

	for (i = 0; i < file->list_count; i++) {
		if (!is_first(file, i))
			continue;
		gather(there, file->lists[i].name, &was);
		gather(file, file->lists[i].name, &is);
		change(diff, file->lists[i].name, &was, &is);
	}
}

void weir_diff_lists_gone(struct weir_diff *diff, const struct weir_config *there,
			  const struct weir_config *file)
{
	struct weir_list list = { .prefix_count = 0 };
	unsigned int i;

	for (i = 0; i < there->list_count; i++) {
		if (!is_first(there, i) || has(file, there->lists[i].name))
			continue;
		memcpy(list.name, there->lists[i].name, sizeof(list.name));
		put_part(diff, "prefix-list del", &list);
	}
}
