/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lists of prefixes in a configuration that is edited. See the top of lists.c.
 */
#ifndef WEIR_LISTS_H
#define WEIR_LISTS_H

#include "config/edit.h"
#include "error.h"
#include "packet/prefixes.h"

/* NULL if there is none of that name. */
struct weir_prefixes *weir_edit_list(const struct weir_edit *edit, const char *name);
int weir_edit_list_add(struct weir_edit *edit, const char *name, bool replace,
		       const struct weir_member *member, unsigned int count,
		       struct weir_error *error);
int weir_edit_list_del(struct weir_edit *edit, const char *name,
		       const struct weir_member *member, unsigned int count,
		       unsigned int *absent, struct weir_error *error);

#endif /* WEIR_LISTS_H */
