/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration of a namespace: a copy is changed and then published. See the top of
 * edit.c. Process context.
 */
#ifndef WEIR_EDIT_H
#define WEIR_EDIT_H

#include "error.h"
#include "limit/limit.h"

struct weir_net;

/*
 * A copy of the configuration to be changed, edit.c. weir_edit_begin() takes the
 * namespace's mutex; weir_edit_end() publishes all changes or none, and releases it.
 * All may sleep, and return 0 or a negative errno with the error filled, except
 * where memory or a hook cannot be had.
 */
struct weir_edit {
	struct weir_net *wn;			/* locked */
	struct weir_config *old;		/* that it replaces, or NULL */
	bool replace;				/* started empty */
	struct weir_config *made;		/* that was held, to be published; or NULL */
	const void *key;			/* of the hash for new limits, or NULL */
	u32 holder;				/* see struct weir_net; or 0 */
	bool privileged;			/* likewise */
	unsigned int count;			/* of limits */
	struct weir_limit *limit[WEIR_LIMITS_MAX]; /* in order, some from @old */
	struct weir_limit *was[WEIR_LIMITS_MAX]; /* the old one that each is or replaces */
	unsigned int lists;
	struct weir_prefixes *list[WEIR_PREFIX_LISTS_MAX];	/* held */
	u64 listed;			/* BIT_ULL(index) of those that it has added to */
	unsigned int exceptions, blocks;	/* of all these, those that are blocks */
	struct weir_exception exception[];
};

enum weir_edit_end {
	WEIR_EDIT_PUBLISH,
	WEIR_EDIT_CHECK,	/* nothing changes */
	WEIR_EDIT_HOLD,		/* apart from what is in force, until weir_edit_held() */
};

struct weir_edit *weir_edit_begin(struct weir_net *wn, bool replace, unsigned int exceptions);
struct weir_limit *weir_edit_find(const struct weir_edit *edit, const char *name,
				  struct weir_error *error);
int weir_edit_limit_add(struct weir_edit *edit, const struct weir_limit_config *cfg,
			const char *before, struct weir_error *error);
int weir_edit_limit_set(struct weir_edit *edit, const struct weir_limit_config *cfg,
			struct weir_limit *was, const char *before, struct weir_error *error);
int weir_edit_limit_remake(struct weir_edit *edit, unsigned int place,
			   const struct weir_limit_config *cfg, struct weir_error *error);
int weir_edit_limit_rename(struct weir_edit *edit, const char *name, const char *new_name,
			   struct weir_error *error);
int weir_edit_limit_del(struct weir_edit *edit, const char *name, struct weir_error *error);
int weir_edit_exception_add(struct weir_edit *edit, struct weir_exception *exception,
			    const char *limit, enum weir_block how, struct weir_error *error);
bool weir_edit_exempt_wins(const struct weir_edit *edit, const struct weir_exception *added);
void weir_edit_exempt_flush(struct weir_edit *edit, bool blocks);
int weir_edit_exception_del(struct weir_edit *edit, struct weir_exception *exception,
			    const char *limit, struct weir_error *error);

/* lists.c; the first returns NULL if there is none of that name */
struct weir_prefixes *weir_edit_list(const struct weir_edit *edit, const char *name);
int weir_edit_list_add(struct weir_edit *edit, const char *name, bool replace,
		       const struct weir_member *member, unsigned int count,
		       struct weir_error *error);
int weir_edit_list_del(struct weir_edit *edit, const char *name,
		       const struct weir_member *member, unsigned int count,
		       unsigned int *absent, struct weir_error *error);

/* publish.c */
int weir_edit_held(struct weir_edit *edit);
void weir_held_drop(struct weir_net *wn);
void weir_held_release(struct weir_net *wn, u32 portid);
int weir_edit_end(struct weir_edit *edit, int err, enum weir_edit_end how,
		  struct weir_error *error);
/* params.c: make the limit that the module's parameters describe, if they do, as it is loaded. */
int weir_params_limit(void);
int weir_limit_join(struct weir_net *wn, const char *name, u64 ticks);
void weir_config_init(struct weir_net *wn);
void weir_config_stop(struct weir_net *wn);
void weir_config_free(struct weir_net *wn);

#endif /* WEIR_EDIT_H */
