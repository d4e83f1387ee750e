/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of each object, and what they make of a model. */
#ifndef WEIR_PARSE_H
#define WEIR_PARSE_H

#include "model.h"
#include "word.h"

extern const struct weir_word weir_words_limit_add[], weir_words_limit_set[],
	weir_words_limit_name[], weir_words_limit_show[],
	weir_words_source_show[], weir_words_source_get[],
	weir_words_source_charge[], weir_words_source_forget[],
	weir_words_exempt[], weir_words_exempt_get[], weir_words_none[];

int weir_parse_limit(struct weir_args *args, const struct weir_word *words,
		     struct weir_limit *limit);
int weir_parse_query(struct weir_args *args, const struct weir_word *words,
		     struct weir_query *query);
int weir_parse_exempt(struct weir_args *args, const struct weir_word *words,
		      struct weir_exempt *exempt);

/* The named values, for parsing, showing and completing alike. */
extern const char *const weir_actions[], *const weir_modes[],
	*const weir_charge_modes[], *const weir_ranks[], *const weir_units[];

#endif
