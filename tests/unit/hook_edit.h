/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration changes, one call each. */
#ifndef HOOK_EDIT_H
#define HOOK_EDIT_H

#include "clock.h"
#include "config/check.h"
#include "config/edit.h"
#include "config/make.h"
#include "limit/limit.h"
#include "limit/net.h"

/* An exemption and the name of its limit. */
struct said_exempt {
	struct weir_exception exempt;
	char limit[WEIR_NAME_SIZE];
};

/* A limit with a small table, and a window of a second */
static inline struct weir_limit_config edit_words(const char *name, u64 budget)
{
	struct weir_limit_config words;

	weir_limit_init(&words, name);
	words.budget[0].amount = budget;
	words.budget[0].window_ms = 1000;
	words.sources = 64;
	return words;
}

static inline int edit_add(struct weir_net *wn, const struct weir_limit_config *config,
			   const char *before, struct weir_error *error)
{
	struct weir_edit *edit = weir_edit_begin(wn, false, 0);

	if (!edit)
		return -ENOMEM;
	return weir_edit_end(edit, weir_edit_limit_add(edit, config, before, error),
			     WEIR_EDIT_PUBLISH, error);
}

static inline int edit_set(struct weir_net *wn, const struct weir_limit_config *config,
			   struct weir_error *error)
{
	struct weir_edit *edit = weir_edit_begin(wn, false, 0);
	struct weir_limit *was;
	int err = -ENOENT;

	if (!edit)
		return -ENOMEM;
	was = weir_edit_find(edit, config->name, error);
	if (was)
		err = weir_edit_limit_set(edit, config, was, NULL, error);
	return weir_edit_end(edit, err, WEIR_EDIT_PUBLISH, error);
}

static inline int edit_del(struct weir_net *wn, const char *name, struct weir_error *error)
{
	struct weir_edit *edit = weir_edit_begin(wn, false, 0);

	return !edit ? -ENOMEM : weir_edit_end(edit, weir_edit_limit_del(edit, name, error),
					       WEIR_EDIT_PUBLISH, error);
}

static inline int edit_flush(struct weir_net *wn, bool limits)
{
	struct weir_edit *edit = weir_edit_begin(wn, false, 0);
	struct weir_error error = { };

	if (!edit)
		return -ENOMEM;
	if (limits)
		edit->count = 0;
	else
		edit->exceptions = 0;
	return weir_edit_end(edit, 0, WEIR_EDIT_PUBLISH, &error);
}

static inline int edit_exempt(struct weir_net *wn, const struct said_exempt *said, bool add,
			      struct weir_error *error)
{
	struct weir_edit *edit = weir_edit_begin(wn, false, add);
	struct weir_exception exempt = said->exempt;

	if (!edit)
		return -ENOMEM;
	exempt.comment = "";
	return weir_edit_end(edit, add ?
			     weir_edit_exception_add(edit, &exempt, said->limit, WEIR_BLOCK_ADD, error) :
			     weir_edit_exception_del(edit, &exempt, said->limit, error),
			     WEIR_EDIT_PUBLISH, error);
}

#endif /* HOOK_EDIT_H */
