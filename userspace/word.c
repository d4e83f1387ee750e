// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading words by their rows. */

#include <ctype.h>
#include <string.h>

#include "word.h"

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

/* Whether @value, as help names it, lists @token. */
static bool lists(const char *value, const char *token)
{
	size_t len = strlen(token), part;

	for (; value; value = value[part] ? value + part + 1 : NULL) {
		part = strcspn(value, "|");
		if (part == len && !memcmp(value, token, len))
			return true;
	}
	return false;
}

/* Who has forgotten a word has given its value: say so. */
static int blame_value(const struct weir_word *words, const char *token,
		       struct weir_err *err)
{
	for (words = keywords(words); words->name; words++) {
		if (islower((unsigned char)*token) &&
		    lists(words->value, token))
			return weir_err_set(err, "'%.60s' is a value; say %s %s",
					    token, words->name, token);
	}
	return -EINVAL;
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
		if (!strcmp(token, "not"))
			return weir_err_set(args->err, "not: given twice");
	}
	if (word) {
		value = token;
	} else {
		word = weir_pick(keywords(words), sizeof(*words), token,
				 args->exact, NULL, args->err);
		if (!word)
			return blame_value(words, token, args->err);
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
