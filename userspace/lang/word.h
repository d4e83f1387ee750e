/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a command line and their lookup. */
#ifndef WEIR_WORD_H
#define WEIR_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define WEIR_WORDS_MAX	64	/* per command */

/* A known word; a list ends with a NULL name. */
struct weir_word {
	const char *name;
	const void *is;			/* its row; words with the same row are aliases */
	uint32_t number;		/* its value, in an enumeration */
	const void *in;			/* the row of the enclosing nest; or NULL */
};

struct weir_field;

/* Completion: called at the end of the words with what may follow, words or a value. */
typedef void weir_offer(const struct weir_word *words, const struct weir_field *value, void *data);

struct weir_args {
	char **words;
	int count;
	int at;			/* index of the next word */
	int fault;		/* index of the word at fault; or -1 */
	bool exact;		/* no abbreviations: in files */
	int64_t ahead_ms;	/* as in struct weir_tool */
	struct weir_err *err;
	weir_offer *offer;	/* or NULL */
	void *data;		/* for offer */
};

/* The next word, or NULL; weir_args_next() consumes it. */
const char *weir_args_peek(const struct weir_args *args);
const char *weir_args_next(struct weir_args *args);

/* Call offer, if set, with words or a value. */
void weir_args_offer(const struct weir_args *args, const struct weir_word *words,
		     const struct weir_field *value);
/* Set fault to the last occurrence of a word; returns -EINVAL. */
int weir_args_blame(struct weir_args *args, const char *word);
/* Likewise, to the last one that is followed by @after words @opener. */
int weir_args_blame_in(struct weir_args *args, const char *word, const char *opener,
		       unsigned int after);

/* Whether a word is one of those in a list, which blanks separate. */
bool weir_word_among(const char *words, const char *word);
/* Exact lookup; or NULL. */
const struct weir_word *weir_word_find(const struct weir_word *words, const char *name);
/* Look up a word or its abbreviation; NULL with a sentence. @what: "word", "option". */
const struct weir_word *weir_pick(const struct weir_word *words, const char *token, bool exact,
				  const char *what, struct weir_err *err);
/* As weir_pick(), for an array of names: the index, or -EINVAL. */
int weir_pick_name(const char *const *names, const char *token, bool exact, struct weir_err *err);
/* As weir_pick(), for the next word; at the end of the words, offers the candidates. */
const struct weir_word *weir_args_pick(struct weir_args *args, const struct weir_word *words);
/* List the names closest to a token, as "'a' or 'b'"; false: none is close. */
bool weir_nearest(const struct weir_word *words, const char *token, char *list, size_t size);
/* Append a word, after a separator unless it is the first; false: no room. */
bool weir_append(char *list, size_t size, const char *separator, const char *word);
#define WEIR_BLANKS	" \t\r\n"
/* Length of the word at the start of @text, quotes included. */
size_t weir_word_length(const char *text);
/*
 * Cut a line into unquoted words; # begins a comment, which words[count] is then, if there is
 * room. -E2BIG: more than @max; -EINVAL: words[0] has no closing quote at its end.
 */
int weir_split(char *line, char **words, int max);

#endif
