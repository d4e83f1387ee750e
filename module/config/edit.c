// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration of a namespace: an ordered array of limits and an index of
 * exemptions, published through one RCU pointer and constant from then on. Every
 * change edits a copy of both, is checked here, allocates all that it needs, and only
 * then publishes (publish.c); until then it can be abandoned without a trace. The old and the new
 * array share the limits that do not change.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "clock.h"
#include "config/check.h"
#include "config/edit.h"
#include "config/loss.h"
#include "config/make.h"
#include "limit/net.h"

/*
 * Copy the configuration, or with @replace start with an empty one; at most @exceptions
 * will be added. Returns NULL without memory.
 */
struct weir_edit *weir_edit_begin(struct weir_net *wn, bool replace, unsigned int exceptions)
{
	struct weir_config *old;
	struct weir_edit *edit;
	unsigned int i, n;

	mutex_lock(&wn->lock);
	old = rcu_dereference_protected(wn->config, lockdep_is_held(&wn->lock));
	n = old && !replace ? weir_exceptions_count(old->exceptions) : 0;
	/* Users of a namespace of their own could fill the log with warnings. */
	edit = kvzalloc(struct_size(edit, exception, n + exceptions), GFP_KERNEL | __GFP_NOWARN);
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
	for (i = 0; old && !replace && i < old->lists; i++)
		edit->list[i] = weir_prefixes_get(old->list[i]);
	edit->lists = i;
	for (i = 0; i < n; i++) {
		edit->exception[i] = *weir_exceptions_at(old->exceptions, i);
		edit->exception[i].comment = edit->exception[i].stats->comment;
	}
	edit->exceptions = n;
	edit->blocks = n ? weir_exceptions_blocks(old->exceptions) : 0;
	return edit;
}

/* The index of a limit, or the count if there is none of that name. */
static unsigned int edit_place(const struct weir_edit *edit, const char *name)
{
	unsigned int i;

	for (i = 0; i < edit->count; i++)
		if (!strcmp(edit->limit[i]->cfg.name, name))
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

struct weir_limit *weir_edit_find(const struct weir_edit *edit, const char *name,
				  struct weir_error *error)
{
	unsigned int place = edit_place(edit, name);

	if (place < edit->count)
		return edit->limit[place];
	weir_refuse(error, -ENOENT, WEIR_A_LIMIT_NAME, "no limit of that name");
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

/* The place of the limit @before; without it @place stays. */
static int edit_before(const struct weir_edit *edit, const char *before, unsigned int *place,
		       struct weir_error *error)
{
	if (before)
		*place = edit_place(edit, before);
	if (before && *place == edit->count)
		return weir_refuse(error, -ENOENT, WEIR_A_LIMIT_BEFORE,
				   "no limit of that name to place it before");
	return 0;
}

/* Make a limit that replaces @was, or none, with a warning of what that loses. */
static struct weir_limit *limit_make(const struct weir_edit *edit,
				     const struct weir_limit_config *cfg,
				     const struct weir_limit *was, struct weir_error *error)
{
	struct weir_limit *made = weir_limit_make(edit->wn, cfg, was, error);
	int err;

	if (IS_ERR(made) || !was)
		return made;
	err = weir_limit_loss(made, was, edit->wn, error);
	if (!err)
		return made;
	weir_limit_free(made, was);
	return ERR_PTR(err);
}

/*
 * Add a limit before another one, or with NULL as the last. In place of a whole configuration it
 * replaces one of its name and prefix, or is that, if nothing differs.
 */
int weir_edit_limit_add(struct weir_edit *edit, const struct weir_limit_config *cfg,
			const char *before, struct weir_error *error)
{
	struct weir_limit *was = edit->replace ? weir_limit_find(edit->old, cfg->name) : NULL;
	unsigned int place = edit->count;
	struct weir_limit *made;
	int err;

	err = edit_admit(edit, edit_place(edit, cfg->name), error) ?:
	      edit_before(edit, before, &place, error);
	if (err)
		return err;
	if (was && memcmp(&cfg->prefix, &was->cfg.prefix, sizeof(cfg->prefix)))
		was = NULL;
	made = limit_make(edit, cfg, was, error);
	if (IS_ERR(made))
		return PTR_ERR(made);
	if (edit->key)
		memcpy(&made->key, edit->key, sizeof(made->key));
	if (was && !memcmp(&made->cfg, &was->cfg, sizeof(made->cfg))) {
		weir_limit_drop(made);
		made = was;
	}
	edit_insert(edit, place, made, was);
	return 0;
}

/* Replace @was, one of the edit, by a limit of its name; without @before it stays where it is. */
int weir_edit_limit_set(struct weir_edit *edit, const struct weir_limit_config *cfg,
			struct weir_limit *was, const char *before, struct weir_error *error)
{
	unsigned int from = edit_place(edit, cfg->name), place = from;
	struct weir_limit *made;
	int err;

	if (memcmp(&cfg->prefix, &was->cfg.prefix, sizeof(cfg->prefix)))
		return weir_refuse(error, -EINVAL, cfg->prefix.len4 != was->cfg.prefix.len4 ?
				   WEIR_A_LIMIT_PREFIX4 : WEIR_A_LIMIT_PREFIX6,
				   "the prefix of a limit cannot change; add another limit");
	err = edit_before(edit, before, &place, error);
	if (err)
		return err;
	made = limit_make(edit, cfg, was, error);
	if (IS_ERR(made))
		return PTR_ERR(made);
	edit_remove(edit, from);
	edit_insert(edit, place - (place > from), made, was);
	return 0;
}

/* Replace the limit at @place by one of the same name and prefix. */
int weir_edit_limit_remake(struct weir_edit *edit, unsigned int place,
			   const struct weir_limit_config *cfg, struct weir_error *error)
{
	struct weir_limit *was = edit->was[place], *made;

	made = weir_limit_make(edit->wn, cfg, was, error);
	if (IS_ERR(made))
		return PTR_ERR(made);
	if (edit->limit[place] != was)
		weir_limit_free(edit->limit[place], was);
	edit->limit[place] = made;
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
	made = weir_limit_make(edit->wn, &was->cfg, was, error);
	if (IS_ERR(made))
		return PTR_ERR(made);
	strscpy_pad(made->cfg.name, new_name, sizeof(made->cfg.name));
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

/* Look up the limit that an exemption names. */
static int exempt_resolve(const struct weir_edit *edit, struct weir_exception *exception,
			  const char *limit, struct weir_error *error)
{
	unsigned int place = edit_place(edit, limit);

	if (*limit && place == edit->count)
		return weir_refuse(error, -ENOENT, WEIR_A_EXEMPT_LIMIT,
				   exception->block ? "no limit of that name to block under" :
				   "no limit of that name to exempt from");
	exception->limit = *limit ? edit->limit[place]->id : 0;
	return 0;
}

/*
 * Are sources of a prefix exempt that is blocked, or the other way round? A block of all that a
 * limit matches may be meant for others.
 */
bool weir_edit_exempt_wins(const struct weir_edit *edit, const struct weir_exception *added)
{
	const struct weir_exception *exception = edit->exception;

	for (; exception < edit->exception + edit->exceptions; exception++)
		if (exception->block != added->block &&
		    !(exception->limit && exception->block && !exception->prefix.len) &&
		    !(added->limit && added->block && !added->prefix.len) &&
		    (!exception->limit || !added->limit || exception->limit == added->limit) &&
		    (!*exception->dev || !*added->dev || !strcmp(exception->dev, added->dev)) &&
		    (weir_prefix_holds(&exception->prefix, &added->prefix) ||
		     weir_prefix_holds(&added->prefix, &exception->prefix)))
			return true;
	return false;
}

/* All exemptions, or all blocks. */
void weir_edit_exempt_flush(struct weir_edit *edit, bool blocks)
{
	unsigned int i, n = 0;

	for (i = 0; i < edit->exceptions; i++)
		if (edit->exception[i].block != blocks)
			edit->exception[n++] = edit->exception[i];
	edit->exceptions = n;
}

/* The place of the one that is in force; or -1. */
static int exempt_find(const struct weir_edit *edit, const struct weir_exception *exception,
		       const char *limit)
{
	struct weir_exception key = *exception;
	const struct weir_limit *was;

	if (!edit->old)
		return -1;
	/* A limit of that name may be made anew, with another id. */
	if (edit->replace && *limit) {
		was = weir_limit_find(edit->old, limit);
		if (!was)
			return -1;
		key.limit = was->id;
	}
	return weir_exceptions_find(edit->old->exceptions, &key);
}

/* weir_edit_end() refuses duplicates within the edit. @how: one that exists, in an edit of it. */
int weir_edit_exception_add(struct weir_edit *edit, struct weir_exception *exception,
			    const char *limit, enum weir_block how, struct weir_error *error)
{
	bool block = exception->block, there;
	int err = exempt_resolve(edit, exception, limit, error), at = -1;
	const struct weir_exception *was = NULL;

	if (!err)
		at = exempt_find(edit, exception, limit);
	if (at >= 0)
		was = weir_exceptions_at(edit->old->exceptions, at);
	there = at >= 0 && !edit->replace;
	if (there && how == WEIR_BLOCK_ADD)
		err = weir_refuse(error, -EEXIST, WEIR_A_EXEMPT_ADDRESS, block ?
				  "already blocked; replace it to prolong it" :
				  "already exempt; replace it to prolong it");
	if (!err && !there &&
	    (block ? edit->blocks : edit->exceptions - edit->blocks) == WEIR_EXEMPTS_MAX)
		err = weir_refuse(error, -ENOSPC, 0, block ?
				  "a namespace has at most 65536 blocked prefixes" :
				  "a namespace has at most 65536 exemptions");
	if (err)
		return err;
	if (was)
		exception->stats = was->stats;
	/* The end of one that is given again stays if it is nearer: a file prolongs nothing. */
	if (was && edit->replace && how == WEIR_BLOCK_ADD && was->end > weir_clock())
		exception->end = min(exception->end, was->end);
	/* The old ones are the first of the edit, in their order. For ever is the latest end. */
	if (there && !*exception->comment)
		exception->comment = edit->exception[at].comment;
	if (there && how == WEIR_BLOCK_EXTEND && edit->exception[at].end - 1 > exception->end - 1) {
		/* One end that is given twice as a time from now on differs a little. */
		if (edit->exception[at].end - exception->end > HZ)
			weir_refuse(error, 0, WEIR_A_EXEMPT_FOR_MS,
				    "it has a later end, which stays unless this one is forced");
		exception->end = edit->exception[at].end;
	}
	edit->blocks += block && !there;
	edit->exception[there ? at : edit->exceptions++] = *exception;
	return 0;
}

/* It stays in the edit, without family, until config_exempts() leaves it out. */
int weir_edit_exception_del(struct weir_edit *edit, struct weir_exception *exception,
			    const char *limit, struct weir_error *error)
{
	int err = exempt_resolve(edit, exception, limit, error), at = -1;

	if (!err && edit->old)
		at = weir_exceptions_find(edit->old->exceptions, exception);
	if (!err && (at < 0 || !edit->exception[at].prefix.family))
		err = weir_refuse(error, -ENOENT, WEIR_A_EXEMPT_ADDRESS,
				  exception->block ?
				  "the prefix is not blocked; release a source by its address" :
				  "no such exemption");
	if (!err)
		edit->exception[at].prefix.family = 0;
	return err;
}
