// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edit a copy of the configuration: each change is checked here, and none is seen
 * before weir_edit_end() publishes them all. See the top of publish.c.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "config/check.h"
#include "config/edit.h"
#include "config/keep.h"
#include "config/make.h"
#include "error.h"
#include "limit/limit.h"
#include "limit/net.h"

/*
 * Copy the configuration, or with @replace start with an empty one; at most @exempts
 * will be added. Returns NULL without memory.
 */
struct weir_edit *weir_edit_begin(struct weir_net *wn, bool replace, unsigned int exempts)
{
	struct weir_config *old;
	struct weir_edit *edit;
	unsigned int i, n;

	mutex_lock(&wn->lock);
	old = rcu_dereference_protected(wn->config, lockdep_is_held(&wn->lock));
	n = old && !replace ? weir_exempts_count(old->exempts) : 0;
	/* Users of a namespace of their own could fill the log with warnings. */
	edit = kvzalloc(struct_size(edit, exempt, n + exempts), GFP_KERNEL | __GFP_NOWARN);
	if (!edit) {
		mutex_unlock(&wn->lock);
		return NULL;
	}
	edit->wn = wn;
	edit->old = old;
	edit->replace = replace;
	for (i = 0; old && !replace && i < old->count; i++) {
		edit->limit[i] = old->limit[i];
		edit->was[i] = old->limit[i];
	}
	edit->count = i;
	for (i = 0; i < n; i++) {
		edit->exempt[i] = *weir_exempts_at(old->exempts, i);
		edit->exempt[i].comment = edit->exempt[i].stats->comment;
	}
	edit->exempts = n;
	return edit;
}

/* The index of a limit, or the count if there is none of that name. */
static unsigned int edit_place(const struct weir_edit *edit, const char *name)
{
	unsigned int i;

	for (i = 0; i < edit->count; i++)
		if (!strcmp(edit->limit[i]->name, name))
			break;
	return i;
}

static void edit_remove(struct weir_edit *edit, unsigned int place)
{
	unsigned int behind = --edit->count - place;

	memmove(&edit->limit[place], &edit->limit[place + 1], behind * sizeof(edit->limit[0]));
	memmove(&edit->was[place], &edit->was[place + 1], behind * sizeof(edit->was[0]));
}

static void edit_insert(struct weir_edit *edit, unsigned int place,
			struct weir_limit *limit, struct weir_limit *was)
{
	unsigned int behind = edit->count++ - place;

	memmove(&edit->limit[place + 1], &edit->limit[place], behind * sizeof(edit->limit[0]));
	memmove(&edit->was[place + 1], &edit->was[place], behind * sizeof(edit->was[0]));
	edit->limit[place] = limit;
	edit->was[place] = was;
}

const struct weir_limit *weir_edit_find(const struct weir_edit *edit, const char *name,
					struct weir_error *error)
{
	unsigned int place = edit_place(edit, name);

	if (place < edit->count)
		return edit->limit[place];
	weir_refuse(error, -ENOENT, WEIR_A_LIMIT_NAME,
		    "no limit of that name; limit show lists them");
	return NULL;
}

/* May a limit of that name be added? */
static int edit_admit(const struct weir_edit *edit, unsigned int place, struct weir_error *error)
{
	if (place < edit->count)
		return weir_refuse(error, -EEXIST, WEIR_A_LIMIT_NAME, edit->replace ?
				   "the name is given twice; give each limit its own" :
				   "a limit of that name exists; use set to change it");
	if (edit->count == WEIR_LIMITS_MAX)
		return weir_refuse(error, -ENOSPC, 0, "a namespace has at most 256 limits");
	return 0;
}

/*
 * Add a limit, or replace one by a changed copy. It is placed before the limit
 * @before; with NULL it stays where it is, or a new one is the last.
 */
int weir_edit_limit(struct weir_edit *edit, struct weir_limit *limit, const char *before,
		    struct weir_error *error)
{
	unsigned int from = edit_place(edit, limit->name), place = from;
	struct weir_limit *was = NULL, *made;
	bool same;
	int err;

	if (limit->id)
		was = edit->limit[from];
	else if (edit->replace)
		was = weir_limit_find(edit->old, limit->name);
	same = was && limit->prefix.len4 == was->prefix.len4 &&
	       limit->prefix.len6 == was->prefix.len6;
	if (limit->id && !same)
		return weir_refuse(error, -EINVAL, limit->prefix.len4 != was->prefix.len4 ?
				   WEIR_A_LIMIT_PREFIX4 : WEIR_A_LIMIT_PREFIX6,
				   "the prefix of a limit cannot change; add another limit");
	err = limit->id ? 0 : edit_admit(edit, from, error);
	if (!err)
		err = weir_limit_check(limit, error);
	if (err)
		return err;
	if (before)
		place = edit_place(edit, before);
	if (before && place == edit->count)
		return weir_refuse(error, -ENOENT, WEIR_A_LIMIT_BEFORE,
				   "no limit of that name to place it before; limit show lists them");
	was = same ? was : NULL;
	made = weir_limit_make(edit->wn, limit, was, error);
	if (IS_ERR(made))
		return PTR_ERR(made);
	if (was && made->table != was->table && !edit->force)
		err = weir_limit_keeps(made, was, edit->wn, error);
	if (err) {
		weir_limit_free(made, was);
		return err;
	}
	if (edit->replace && was && !memcmp(made, was, sizeof(*made))) {
		kfree(made);
		made = was;
	}
	if (from < edit->count) {
		edit_remove(edit, from);
		place -= place > from;
	}
	edit_insert(edit, place, made, was);
	return 0;
}

/* Give a limit another name; all else is that of the old one. */
int weir_edit_limit_rename(struct weir_edit *edit, const char *name, const char *new_name,
			   struct weir_error *error)
{
	unsigned int place = edit_place(edit, name);
	const struct weir_limit *was = weir_edit_find(edit, name, error);
	struct weir_limit *made;

	if (!was)
		return -ENOENT;
	if (edit_place(edit, new_name) < edit->count)
		return weir_refuse(error, -EEXIST, WEIR_A_LIMIT_NEW_NAME,
				   "a limit of that name exists; choose another");
	if (weir_name_check(new_name, WEIR_A_LIMIT_NEW_NAME, error))
		return -EINVAL;
	made = weir_limit_make(edit->wn, was, was, error);
	if (IS_ERR(made))
		return PTR_ERR(made);
	strscpy_pad(made->name, new_name, sizeof(made->name));
	edit->limit[place] = made;
	return 0;
}

int weir_edit_limit_del(struct weir_edit *edit, const char *name, struct weir_error *error)
{
	if (!weir_edit_find(edit, name, error))
		return -ENOENT;
	edit_remove(edit, edit_place(edit, name));
	return 0;
}

/* Has every limit with blocks an heir? May sleep. */
int weir_edit_keeps(const struct weir_edit *edit, struct weir_error *error)
{
	unsigned int i, j;
	u64 blocks;
	int err;

	for (i = 0; edit->old && i < edit->old->count; i++) {
		for (j = 0; j < edit->count && edit->was[j] != edit->old->limit[i]; j++)
			;
		if (j < edit->count)
			continue;
		err = weir_limit_blocks(edit->old->limit[i], edit->wn, &blocks);
		if (err)
			return err;
		error->value += blocks;
	}
	return !error->value ? 0 :
	       weir_refuse(error, -EBUSY, 0,
			   "blocks would end with limits that are left out or renamed; force it");
}

/* Look up the limit that an exemption names. */
static int exempt_resolve(const struct weir_edit *edit, struct weir_exempt *exempt,
			  const char *limit, struct weir_error *error)
{
	unsigned int place = edit_place(edit, limit);

	if (*limit && place == edit->count)
		return weir_refuse(error, -ENOENT, WEIR_A_EXEMPT_LIMIT,
				   "no limit of that name to exempt from; limit show lists them");
	exempt->limit = *limit ? edit->limit[place]->id : 0;
	return 0;
}

/* weir_edit_end() refuses duplicates within the edit. */
int weir_edit_exempt_add(struct weir_edit *edit, struct weir_exempt *exempt,
			 const char *limit, struct weir_error *error)
{
	int err = exempt_resolve(edit, exempt, limit, error), at = -1;

	if (!err && edit->old)
		at = weir_exempts_find(edit->old->exempts, exempt);
	if (at >= 0 && !edit->replace)
		err = weir_refuse(error, -EEXIST, WEIR_A_EXEMPT_ADDRESS,
				  "already exempt; nothing was added");
	if (!err && edit->exempts == WEIR_EXEMPTS_MAX)
		err = weir_refuse(error, -ENOSPC, 0, "a namespace has at most 8192 exemptions");
	if (at >= 0)
		exempt->stats = weir_exempts_at(edit->old->exempts, at)->stats;
	if (!err)
		edit->exempt[edit->exempts++] = *exempt;
	return err;
}

/* Only in an edit that has changed no other exemption. */
int weir_edit_exempt_del(struct weir_edit *edit, struct weir_exempt *exempt,
			 const char *limit, struct weir_error *error)
{
	int err = exempt_resolve(edit, exempt, limit, error), at = -1;

	if (!err && edit->old)
		at = weir_exempts_find(edit->old->exempts, exempt);
	if (!err && at < 0)
		err = weir_refuse(error, -ENOENT, WEIR_A_EXEMPT_ADDRESS,
				  "no such exemption; exempt show lists them");
	if (!err)
		memmove(&edit->exempt[at], &edit->exempt[at + 1],
			(--edit->exempts - at) * sizeof(edit->exempt[0]));
	return err;
}
