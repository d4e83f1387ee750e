/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words are rows of a table: the same row parses a word, tells it in help and
 * completes it.
 */
#ifndef WEIR_WORD_H
#define WEIR_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct weir_args {
	char **words;
	int count;
	int at;			/* the word that is read next */
	bool exact;		/* in files: no abbreviations */
	bool negate;		/* "not" stands before the word at hand */
	struct weir_err *err;
};

enum weir_word_flag {
	WEIR_WORD_NOT		= 1 << 0,	/* "not" may stand before it */
	WEIR_WORD_NEEDED	= 1 << 1,
	WEIR_WORD_FIRST		= 1 << 2,	/* a value that stands first, alone */
	WEIR_WORD_BARE		= 1 << 3,	/* an address that stands alone */
};

struct weir_word {
	const char *name;	/* first in every row: weir_pick() */
	const char *value;	/* what follows, as help names it; or NULL */
	const char *help;	/* NULL: in no help of its own */
	int (*parse)(const struct weir_word *word, struct weir_args *args,
		     const char *value, void *model);
	unsigned int flags;
	unsigned int group;	/* words of one group exclude each other; or 0 */
	uint32_t number;	/* what it means to parse */
	size_t offset;		/* where in the model it goes */
	uint64_t min, max;
};

const char *weir_args_peek(const struct weir_args *args);
const char *weir_args_next(struct weir_args *args);

typedef bool weir_same(const void *row, const void *other);

size_t weir_match(const void *rows, size_t stride, const char *token,
		  bool exact, weir_same *same, const void **row);
const void *weir_pick(const void *rows, size_t stride, const char *token,
		      bool exact, weir_same *same, struct weir_err *err);
const char *weir_nearest(const void *rows, size_t stride, const char *token);
int weir_words_parse(const struct weir_word *words, struct weir_args *args,
		     void *model);
int weir_split(char *line, char **words, int max);

#endif
