/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of a command line, and finding the row that one names. */
#ifndef WEIR_WORD_H
#define WEIR_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define WEIR_WORDS_MAX	64	/* that one command may have */

/* A word that may be written, and what it means; the name NULL ends a list. */
struct weir_word {
	const char *name;
	const void *is;			/* its row; those of one row are aliases */
	uint32_t number;		/* the value that it is, of an enumeration */
	const void *in;			/* the row that the row is nested in; or NULL */
};

struct weir_field;

/* Takes what may come next where the words end: words, or a field's value. */
typedef void weir_offer(const struct weir_word *words, const struct weir_field *value, void *data);

struct weir_args {
	char **words;
	int count;
	int at;			/* the word that is read next */
	int fault;		/* the word that a sentence is about; or -1 */
	bool exact;		/* in files: no abbreviations */
	struct weir_err *err;
	weir_offer *offer;	/* or NULL */
	void *data;		/* the offer's */
};

/* The next word, or NULL; next takes it. */
const char *weir_args_peek(const struct weir_args *args);
const char *weir_args_next(struct weir_args *args);

/* Offer one of both, where it is asked. */
void weir_args_offer(const struct weir_args *args, const struct weir_word *words,
		     const struct weir_field *value);
/* Have the sentence be about a word: -EINVAL. */
int weir_args_blame(struct weir_args *args, const char *word);

/* The word of exactly that name; or NULL. */
const struct weir_word *weir_word_find(const struct weir_word *words, const char *name);
/* The word that a token names; NULL with a sentence. @what: "word", "option". */
const struct weir_word *weir_pick(const struct weir_word *words, const char *token, bool exact,
				  const char *what, struct weir_err *err);
/* As weir_pick(), of names: the number of one, or -EINVAL. */
int weir_pick_name(const char *const *names, const char *token, bool exact, struct weir_err *err);
/* -EINVAL, with a sentence that names what may be meant. */
int weir_unknown(const struct weir_word *words, const char *token,
		 const char *what, struct weir_err *err);
/* As weir_pick(), of the next of the words; where there is none it is offered. */
const struct weir_word *weir_args_pick(struct weir_args *args, const struct weir_word *words);
/* The names nearest to a token, as "'a' or 'b'"; whether there are any. */
bool weir_nearest(const struct weir_word *words, const char *token, char *list, size_t size);
/* Append a word, with a separator unless it is the first; false: there is no room for it. */
bool weir_append(char *list, size_t size, const char *separator, const char *word);
/* The names of an enumeration as words; returns them. */
const struct weir_word *weir_words_of(const char *const *names,
				      struct weir_word words[WEIR_WORDS_MAX]);
#define WEIR_BLANKS	" \t\r\n"
/* Length of the word that @text begins with, as it is written: with its quotes. */
size_t weir_word_length(const char *text);
/*
 * Cut a line into words, without their quotes; # begins a comment. -E2BIG: more than
 * @max; -EINVAL: the quotes of words[0] do not end at the end of the word.
 */
int weir_split(char *line, char **words, int max);

#endif
