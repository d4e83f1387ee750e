/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words into models, by the rows of the table. */
#ifndef WEIR_PARSE_H
#define WEIR_PARSE_H

#include "field.h"

/* Read all words; @verb is the command. -EINVAL: the words' err says why. */
int weir_parse(struct weir_args *args, const struct weir_set *set, unsigned int verb, void *model);
/* Read an element of many as far as its words go. */
int weir_parse_part(struct weir_args *args, const struct weir_set *set, void *model);

#endif
