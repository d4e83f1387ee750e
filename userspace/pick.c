// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding a word's row; where there is none, what it may have been meant for. */

#include <ctype.h>
#include <string.h>

#include "word.h"

/* Longer words are not compared letter by letter. */
#define NEAR_MAX	24

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
static void list_names(const void *rows, size_t stride, const char *begin,
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
			break;
		used += sprintf(list + used, "%s%s", sep, name);
		sep = ", ";
	}
}

/* Slips between a word and a name; -1: more than one in three letters. */
static unsigned int slips(const char *token, const char *name)
{
	unsigned int far = distance(token, name), longer = strlen(token);

	if (strlen(name) > longer)
		longer = strlen(name);
	return far == 1 || 3 * far <= longer ? far : -1U;
}

/**
 * weir_nearest - the name that a word may have been meant for
 * @rows: rows that begin with a pointer to their name; NULL ends them
 * @stride: size of a row
 * @token: what was written
 *
 * Return: the name, the first of those that are as near, or NULL where none is.
 */
const char *weir_nearest(const void *rows, size_t stride, const char *token)
{
	const char *best = NULL, *name;
	unsigned int least = -1U, far;
	size_t i;

	for (i = 0; (name = row_name(rows, stride, i)); i++) {
		far = slips(token, name);
		if (far < least) {
			least = far;
			best = name;
		}
	}
	return best;
}

/* The nearest names in quotes, as far as they fit; whether there are any. */
static bool list_nearest(const void *rows, size_t stride, const char *token,
			 char *list, size_t size)
{
	const char *best = weir_nearest(rows, stride, token), *name, *sep = "";
	size_t i, used = 0;

	for (i = 0; best && (name = row_name(rows, stride, i)); i++) {
		if (slips(token, name) != slips(token, best))
			continue;
		if (used + strlen(name) + 7 >= size)
			break;
		used += sprintf(list + used, "%s'%s'", sep, name);
		sep = " or ";
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
	const void *row = NULL;
	char list[256];

	if (!row_name(rows, stride, 0))
		return weir_err_set(err, "'%.60s' is a word too many", token);
	if (weir_match(rows, stride, token, false, same, &row) == 1)
		return weir_err_set(err, "'%.60s' is short for '%s'; words of a file are written out",
				    token, row_name(row, stride, 0));
	if (list_nearest(rows, stride, token, list, sizeof(list)))
		return weir_err_set(err, "unknown word '%.60s'; the nearest is %s",
				    token, list);
	list_names(rows, stride, "", same, list, sizeof(list));
	return weir_err_set(err, "unknown word '%.60s'; known are %s", token,
			    list);
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
