// SPDX-License-Identifier: GPL-2.0-only
/*
 * A list exists while it has prefixes. Limits refer to a list itself and not to its name, so
 * that packets need not look it up: a changed list is another one, and with it the limits
 * that use it are replaced by copies, which keep tables and counters.
 */
#include <linux/err.h>
#include <linux/string.h>

#include "config/check.h"
#include "config/edit.h"

static unsigned int list_place(const struct weir_edit *edit, const char *name)
{
	unsigned int i;

	for (i = 0; i < edit->lists; i++)
		if (!strcmp(edit->list[i]->name, name))
			break;
	return i;
}

struct weir_prefixes *weir_edit_list(const struct weir_edit *edit, const char *name)
{
	unsigned int place = list_place(edit, name);

	return place < edit->lists ? edit->list[place] : NULL;
}

static bool limit_uses(const struct weir_limit *limit, const struct weir_prefixes *list)
{
	return limit->cfg.match.from_list == list || limit->cfg.match.to_list == list ||
	       limit->cfg.budgets_by == list;
}

/* Replace the limits that use @old by copies that use @list. */
static int limits_exchange(struct weir_edit *edit, const struct weir_prefixes *old,
			   struct weir_prefixes *list, struct weir_error *error)
{
	struct weir_limit_config cfg;
	unsigned int i;
	int err = 0;

	for (i = 0; i < edit->count && !err; i++) {
		if (!limit_uses(edit->limit[i], old))
			continue;
		/* The padding, too. */
		memcpy(&cfg, &edit->limit[i]->cfg, sizeof(cfg));
		if (cfg.match.from_list == old)
			cfg.match.from_list = list;
		if (cfg.match.to_list == old)
			cfg.match.to_list = list;
		if (cfg.budgets_by == old)
			cfg.budgets_by = list;
		err = weir_edit_limit_remake(edit, i, &cfg, error);
	}
	/* Errors of limits have no attribute here. */
	error->attr = error->member ? WEIR_A_PREFIX_LIST_PREFIX : 0;
	error->budget = 0;
	return err;
}

/* Place a list, which the edit holds from now on, instead of the one at @place or as the last. */
static int list_place_at(struct weir_edit *edit, unsigned int place, struct weir_prefixes *list,
			 struct weir_error *error)
{
	struct weir_prefixes *old = NULL;
	int err = 0;

	if (place < edit->lists)
		old = edit->list[place];
	else
		edit->lists++;
	edit->list[place] = list;
	if (old && old != list)
		err = limits_exchange(edit, old, list, error);
	weir_prefixes_put(old);
	return err;
}

/*
 * Add prefixes to a list, or make a new one; with @replace it has no others. In a
 * configuration of many objects a list is added to once.
 */
int weir_edit_list_add(struct weir_edit *edit, const char *name, bool replace,
		       const struct weir_member *member, unsigned int count,
		       struct weir_error *error)
{
	unsigned int place = list_place(edit, name), i, all = 0;
	struct weir_prefixes *was = place < edit->lists ? edit->list[place] : NULL, *list, *same;

	if (weir_name_check(name, WEIR_A_PREFIX_LIST_NAME, error))
		return -EINVAL;
	if (!strcmp(name, "none"))
		return weir_refuse(error, -EINVAL, WEIR_A_PREFIX_LIST_NAME,
				   "'none' means no list; choose another name");
	if (place == WEIR_PREFIX_LISTS_MAX)
		return weir_refuse(error, -ENOSPC, WEIR_A_PREFIX_LIST_NAME,
				   "a namespace has at most 64 lists");
	if (edit->listed & BIT_ULL(place))
		return weir_refuse(error, -EINVAL, WEIR_A_PREFIX_LIST_NAME,
				   "the parts of a list follow each other; put them together");
	edit->listed |= BIT_ULL(place);
	list = weir_prefixes_add(name, replace ? NULL : was, member, count);
	if (!list)
		return -ENOMEM;
	for (i = 0; i < edit->lists; i++)
		all += i == place ? 0 : edit->list[i]->count;
	if (all + list->count > WEIR_LIST_PREFIXES_MAX) {
		weir_prefixes_put(list);
		return weir_refuse(error, -ENOSPC, WEIR_A_PREFIX_LIST_PREFIX,
				   "the lists of a namespace have at most 65536 prefixes");
	}
	i = weir_prefixes_other(list, member, count);
	if (i < count) {
		weir_prefixes_put(list);
		error->member = &member[i];
		return weir_refuse(error, -EINVAL, WEIR_A_PREFIX_LIST_PREFIX,
				   "the prefix is given twice, with two budgets; give it one");
	}
	/* Limits whose lists are equal to the old ones have not changed. */
	for (i = 0; edit->old && i < edit->old->lists; i++) {
		same = edit->old->list[i];
		if (!weir_prefixes_same(same, list))
			continue;
		weir_prefixes_put(list);
		list = weir_prefixes_get(same);
	}
	return list_place_at(edit, place, list, error);
}

/* Is a list used that is to be removed? */
static bool list_used(const struct weir_edit *edit, const struct weir_prefixes *list)
{
	unsigned int i;

	for (i = 0; i < edit->count; i++)
		if (limit_uses(edit->limit[i], list))
			return true;
	return false;
}

/*
 * Remove prefixes from a list; without any, or if none is left, remove the list. -ENOENT with
 * the index of a prefix in @absent, if the list does not have it, or else without the list.
 */
int weir_edit_list_del(struct weir_edit *edit, const char *name,
		       const struct weir_member *member, unsigned int count,
		       unsigned int *absent, struct weir_error *error)
{
	unsigned int place = list_place(edit, name);
	struct weir_prefixes *was, *list = NULL;

	if (place == edit->lists)
		return weir_refuse(error, -ENOENT, WEIR_A_PREFIX_LIST_NAME, "no list of that name");
	was = edit->list[place];
	if (count)
		list = weir_prefixes_del(was, member, count, absent);
	if (IS_ERR(list))
		return PTR_ERR(list) != -ENOENT ? PTR_ERR(list) :
		       weir_refuse(error, -ENOENT, WEIR_A_PREFIX_LIST_PREFIX,
				   "the list does not have the prefix; nothing was removed");
	if (list)
		return list_place_at(edit, place, list, error);
	if (list_used(edit, was))
		return weir_refuse(error, -EBUSY, WEIR_A_PREFIX_LIST_NAME,
				   "a limit uses the list; change or delete the limit first");
	edit->lists--;
	memmove(&edit->list[place], &edit->list[place + 1],
		(edit->lists - place) * sizeof(edit->list[0]));
	weir_prefixes_put(was);
	return 0;
}
