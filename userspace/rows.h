/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a row's value is read where more than one object has such a word. */
#ifndef WEIR_ROWS_H
#define WEIR_ROWS_H

#include "value.h"
#include "word.h"

static inline void *weir_row_at(const struct weir_word *word, void *model)
{
	return (char *)model + word->offset;
}

int weir_row_name(const struct weir_word *word, struct weir_args *args,
		  const char *value, void *model);
int weir_row_dev(const struct weir_word *word, struct weir_args *args,
		 const char *value, void *model);
int weir_row_prefix(const struct weir_word *word, struct weir_args *args,
		    const char *value, void *model);
int weir_row_address(const struct weir_word *word, struct weir_args *args,
		     const char *value, void *model);
int weir_row_choose(const char *const *names, const char *text,
		    struct weir_args *args, uint32_t *number);

#endif
