/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole configuration: its limits in their order and its exemptions. */
#ifndef WEIR_CONFIG_H
#define WEIR_CONFIG_H

#include "field.h"

/* Room for all words of a limit. */
#define WEIR_DIFFERS_SIZE	160

/* The limit of a name; or NULL. */
struct weir_limit *weir_config_find(struct weir_config *config, const char *name);
/* Add a limit, at the end or where before says; -ENOENT: which is not there. */
int weir_config_add_limit(struct weir_config *config,
			  const struct weir_limit *limit, struct weir_err *err);
int weir_config_add_exempt(struct weir_config *config, const struct weir_exempt *exempt,
			   struct weir_err *err);
/* Bring the exemptions into the order that they are saved in. */
void weir_config_sort(struct weir_config *config);
/* Whether an exemption fits the rest of a sorted configuration; -ENOENT: its limit is not there. */
int weir_config_check(struct weir_config *config, const struct weir_exempt *exempt,
		      struct weir_err *err);
/* Name the words by which a limit would differ from one that exists. */
bool weir_limit_differs(const struct weir_limit *words, const struct weir_limit *there,
			char text[WEIR_DIFFERS_SIZE]);
/* Which exemption comes first; 0: they are the same. */
int weir_exempt_compare(const void *left, const void *right);

#endif
