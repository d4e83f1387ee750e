// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding a word's row, and reading words by their rows. */

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "word.h"

/* Longer words are not compared letter by letter. */
#define NEAR_MAX	24

/**
 * weir_args_peek - the next word, which stays the next
 * @args: the words
 *
 * Return: the word, or NULL behind the last.
 */
const char *weir_args_peek(const struct weir_args *args)
{
	return args->at < args->count ? args->words[args->at] : NULL;
}

/**
 * weir_args_next - take the next word
 * @args: the words
 *
 * Return: the word, or NULL behind the last.
 */
const char *weir_args_next(struct weir_args *args)
{
	return args->at < args->count ? args->words[args->at++] : NULL;
}

/* Letters to change, add, drop or swap with a neighbour (Damerau 1964). */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int rows[3][NEAR_MAX + 1], i, j;
	unsigned int *prev2 = rows[0], *prev = rows[1], *now = rows[2], *swap;
	unsigned int la = strlen(a), lb = strlen(b);

	if (la > NEAR_MAX || lb > NEAR_MAX)
		return la > lb ? la : lb;
	for (j = 0; j <= lb; j++)
		prev[j] = j;
	for (i = 1; i <= la; i++) {
		now[0] = i;
		for (j = 1; j <= lb; j++) {
			char ca = tolower((unsigned char)a[i - 1]);
			unsigned int best = prev[j - 1] + (ca != b[j - 1]);

			if (prev[j] + 1 < best)
				best = prev[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && prev2[j - 2] + 1 < best)
				best = prev2[j - 2] + 1;
			now[j] = best;
		}
		swap = prev2;
		prev2 = prev;
		prev = now;
		now = swap;
	}
	return prev[lb];
}

static const char *row_name(const void *rows, size_t stride, size_t i)
{
	return *(const char *const *)((const char *)rows + i * stride);
}

/* Whether the row at @i means what one in front of it does. */
static bool is_alias(const void *rows, size_t stride, size_t i,
		     weir_same *same)
{
	const char *row = rows;
	size_t j;

	for (j = 0; same && j < i; j++) {
		if (same(row + j * stride, row + i * stride))
			return true;
	}
	return false;
}

/* The names that begin with @begin, aliases left out, as far as they fit. */
static bool list_names(const void *rows, size_t stride, const char *begin,
		       weir_same *same, char *list, size_t size)
{
	const char *name, *sep = "";
	size_t i, used = 0;

	*list = '\0';
	for (i = 0; (name = row_name(rows, stride, i)); i++) {
		if (strncmp(name, begin, strlen(begin)) ||
		    is_alias(rows, stride, i, same))
			continue;
		if (used + strlen(name) + 2 >= size)
			return false;
		used += sprintf(list + used, "%s%s", sep, name);
		sep = ", ";
	}
	return true;
}

/**
 * weir_nearest - the name that a word may have been meant for
 * @rows: rows that begin with a pointer to their name; NULL ends them
 * @stride: size of a row
 * @token: what was written
 *
 * Return: the name, or NULL where none is near: one slip in three letters.
 */
const char *weir_nearest(const void *rows, size_t stride, const char *token)
{
	const char *best = NULL, *name;
	size_t least = -1, longer, far, i;

	for (i = 0; (name = row_name(rows, stride, i)); i++) {
		far = distance(token, name);
		longer = strlen(token) > strlen(name) ? strlen(token) : strlen(name);
		if (far < least && (far == 1 || 3 * far <= longer)) {
			least = far;
			best = name;
		}
	}
	return best;
}

/**
 * weir_match - find the rows that a word names
 * @rows: rows that begin with a pointer to their name; NULL ends them
 * @stride: size of a row
 * @token: what was written
 * @exact: whether an abbreviation will not do
 * @same: whether two rows mean the same; NULL: none do
 * @row: takes the first
 *
 * Return: how many; one where the word is a whole name.
 */
size_t weir_match(const void *rows, size_t stride, const char *token,
		  bool exact, weir_same *same, const void **row)
{
	size_t len = strlen(token), matches = 0, i;
	const char *name, *at;

	for (i = 0; (name = row_name(rows, stride, i)); i++) {
		at = (const char *)rows + i * stride;
		if (!strcmp(name, token)) {
			*row = at;
			return 1;
		}
		if (exact || !len || strncmp(name, token, len) ||
		    (matches && same && same(*row, at)))
			continue;
		if (!matches++)
			*row = at;
	}
	return matches;
}

/* A sentence for a word that names no row. */
static int unknown(const void *rows, size_t stride, const char *token,
		   weir_same *same, struct weir_err *err)
{
	const char *near = weir_nearest(rows, stride, token);
	char list[64];

	if (!row_name(rows, stride, 0))
		return weir_err_set(err, "'%.60s' is a word too many", token);
	if (near)
		return weir_err_set(err, "unknown word '%.60s'; the nearest is '%s'",
				    token, near);
	if (list_names(rows, stride, "", same, list, sizeof(list)))
		return weir_err_set(err, "unknown word '%.60s'; known are %s",
				    token, list);
	return weir_err_set(err, "unknown word '%.60s'; help in its place tells those known",
			    token);
}

/**
 * weir_pick - find the row that a word names
 * @rows: rows that begin with a pointer to their name; NULL ends them
 * @stride: size of a row
 * @token: what was written
 * @exact: whether an abbreviation will not do
 * @same: whether two rows mean the same; NULL: none do
 * @err: takes the sentence where there is none: the nearest known word, or
 *	all that it is short for
 *
 * Return: the row, or NULL.
 */
const void *weir_pick(const void *rows, size_t stride, const char *token,
		      bool exact, weir_same *same, struct weir_err *err)
{
	const void *row = NULL;
	char list[256];

	switch (weir_match(rows, stride, token, exact, same, &row)) {
	case 1:
		return row;
	case 0:
		unknown(rows, stride, token, same, err);
		return NULL;
	}
	list_names(rows, stride, token, same, list, sizeof(list));
	weir_err_set(err, "'%.60s' is short for more than one word: %s", token,
		     list);
	return NULL;
}

/* Put the word that it is about before the sentence. */
static int blame(const struct weir_word *word, struct weir_err *err)
{
	struct weir_err inner = *err;

	if (word->flags & WEIR_WORD_FIRST)
		return -EINVAL;
	return weir_err_set(err, "%s: %s", word->name, inner.text);
}

static int parse_one(const struct weir_word *word, struct weir_args *args,
		     const char *value, void *model)
{
	if (word->parse(word, args, value, model))
		return blame(word, args->err);
	return 0;
}

static bool looks_like_address(const char *token)
{
	return isdigit((unsigned char)*token) || strchr(token, ':');
}

/* The row of a value that stands without its word, if @token is one. */
static const struct weir_word *find_bare(const struct weir_word *words,
					 const char *token)
{
	for (; words->name; words++) {
		if (words->flags & WEIR_WORD_BARE && looks_like_address(token))
			return words;
	}
	return NULL;
}

/* The rows behind those that stand alone. */
static const struct weir_word *keywords(const struct weir_word *words)
{
	while (words->flags & (WEIR_WORD_FIRST | WEIR_WORD_BARE))
		words++;
	return words;
}

static int check_twice(const struct weir_word *words, uint64_t seen,
		       const struct weir_word *word, struct weir_err *err)
{
	const struct weir_word *other;

	if (seen & 1ULL << (word - words))
		return weir_err_set(err, "%s: given twice", word->name);
	for (other = words; other->name; other++) {
		if (word->group && other->group == word->group &&
		    seen & 1ULL << (other - words))
			return weir_err_set(err, "%s and %s exclude each other",
					    other->name, word->name);
	}
	return 0;
}

static int check_needed(const struct weir_word *words, uint64_t seen,
			struct weir_err *err)
{
	const struct weir_word *word;

	for (word = words; word->name; word++) {
		if (!(word->flags & WEIR_WORD_NEEDED) ||
		    seen & 1ULL << (word - words))
			continue;
		if (word->flags & WEIR_WORD_FIRST)
			return weir_err_set(err, "%s missing", word->value);
		return weir_err_set(err, "%s missing: %s %s", word->name,
				    word->name, word->value ? word->value : "");
	}
	return 0;
}

/* Read one word with its value. */
static int parse_next(const struct weir_word *words, struct weir_args *args,
		      uint64_t *seen, void *model)
{
	const char *token = weir_args_next(args), *value = NULL;
	const struct weir_word *word = find_bare(words, token);

	args->negate = !strcmp(token, "not");
	if (args->negate) {
		token = weir_args_next(args);
		if (!token)
			return weir_err_set(args->err, "not: which condition?");
	}
	if (word) {
		value = token;
	} else {
		word = weir_pick(keywords(words), sizeof(*words), token,
				 args->exact, NULL, args->err);
		if (!word)
			return -EINVAL;
		if (args->negate && !(word->flags & WEIR_WORD_NOT))
			return weir_err_set(args->err, "not: '%.60s' is not a condition",
					    word->name);
	}
	if (check_twice(words, *seen, word, args->err))
		return -EINVAL;
	*seen |= 1ULL << (word - words);
	if (word->value && !value) {
		value = weir_args_next(args);
		if (!value)
			return weir_err_set(args->err, "%s: value missing (%s)",
					    word->name, word->value);
	}
	return parse_one(word, args, value, model);
}

/* Who forgot the name has given a word for it: say so. */
static int blame_first(const struct weir_word *words, const char *first,
		       struct weir_err *err)
{
	struct weir_err inner = *err;

	for (words = keywords(words); first && words->name; words++) {
		if (!strcmp(words->name, first))
			weir_err_set(err, "%s (and '%.60s' was taken for the name)",
				     inner.text, first);
	}
	return -EINVAL;
}

/**
 * weir_words_parse - read all words into a model
 * @words: the rows, at most 64, those that stand alone first; a row without
 *	a name ends them
 * @args: the words; all are taken
 * @model: what the rows write into
 *
 * Return: 0, or -EINVAL with the sentence in the words' err.
 */
int weir_words_parse(const struct weir_word *words, struct weir_args *args,
		     void *model)
{
	const char *first = NULL;
	uint64_t seen = 0;

	if (words->flags & WEIR_WORD_FIRST && weir_args_peek(args)) {
		first = weir_args_next(args);
		if (parse_one(words, args, first, model))
			return -EINVAL;
		seen = 1;
	}
	while (weir_args_peek(args)) {
		if (parse_next(words, args, &seen, model))
			return blame_first(words, first, args->err);
	}
	return check_needed(words, seen, args->err);
}

/**
 * weir_split - cut a line into words
 * @line: the line; blanks in it are overwritten
 * @words: takes the words, with room for @max
 * @max: how many there may be
 *
 * A word that begins with # ends the line.
 *
 * Return: how many words; -E2BIG where there are more than @max.
 */
int weir_split(char *line, char **words, int max)
{
	static const char blanks[] = " \t\r\n";
	char *save, *word;
	int count = 0;

	for (word = strtok_r(line, blanks, &save); word && *word != '#';
	     word = strtok_r(NULL, blanks, &save)) {
		if (count == max)
			return -E2BIG;
		words[count++] = word;
	}
	return count;
}
