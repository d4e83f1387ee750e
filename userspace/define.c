// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * define NAME = VALUE and define NAME = { VALUE, ... } in a configuration file. $NAME is the
 * value in the lines below: as a word, between commas, or behind a =.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "define.h"

#define NAME_REST	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

static size_t name_length(const char *text)
{
	return isalpha((unsigned char)*text) || *text == '_' ? strspn(text, NAME_REST) : 0;
}

static const struct weir_define *find(const struct weir_defines *defines, const char *name,
				      size_t len)
{
	const struct weir_define *at;

	for (at = defines->list; at < defines->list + defines->count; at++) {
		if (strlen(at->name) == len && !strncmp(at->name, name, len))
			return at;
	}
	return NULL;
}

static int unknown(const struct weir_defines *defines, const char *name, struct weir_err *err)
{
	static struct weir_word words[WEIR_DEFINES_MAX + 1];
	char list[256] = "";
	unsigned int i;

	if (defines->open && !strcmp(defines->list[defines->count].name, name))
		return weir_err_set(err, "'$%.60s' is used in its own definition", name);
	for (i = 0; i < defines->count; i++)
		words[i].name = defines->list[i].name;
	words[i].name = NULL;
	if (weir_nearest(words, name, list, sizeof(list)))
		return weir_err_set(err, "'$%.60s': no such name is defined above; did you mean %s?",
				    name, list);
	return weir_err_set(err, "'$%.60s': no such name is defined above; put a word that begins with $ in quotes",
			    name);
}

/* Append text to a value, which is a string. */
static int append(char **value, const char *text, size_t len, struct weir_err *err)
{
	size_t used = *value ? strlen(*value) : 0;
	char *more;

	if (used + len > WEIR_DEFINE_BYTES)
		return weir_err_set(err, "a value of more than %d bytes", WEIR_DEFINE_BYTES);
	more = realloc(*value, used + len + 1);
	if (!more)
		return weir_err_set(err, WEIR_NO_MEMORY);
	memcpy(more + used, text, len);
	more[used + len] = '\0';
	*value = more;
	return 0;
}

/* Append what a word between commas is: a name's value, also behind a = in it, or itself. */
static int append_value(const struct weir_defines *defines, char **value, const char *text,
			size_t len, struct weir_err *err)
{
	const struct weir_define *define;
	const char *budget = memmem(text, len, "=$", 2);
	char name[WEIR_NAME_SIZE];
	size_t used;

	if (*text != '$' && !budget)
		return append(value, text, len, err);
	if (budget) {
		used = budget + 1 - text;
		if (append(value, text, used, err))
			return -EINVAL;
		text += used;
		len -= used;
	}
	used = name_length(text + 1);
	if (!used || used + 1 != len || used >= sizeof(name))
		return weir_err_set(err, "'%.*s': expected $ and a name that is defined; put a word that begins with $ in quotes",
				    (int)MIN(len, 60), text);
	snprintf(name, sizeof(name), "%.*s", (int)used, text + 1);
	define = find(defines, name, used);
	if (!define)
		return unknown(defines, name, err);
	return append(value, define->value, strlen(define->value), err);
}

/* Is there a $ at the beginning, or behind a comma or a =? */
static bool has_name(const char *word)
{
	return *word == '$' || strstr(word, ",$") || strstr(word, "=$");
}

/* The value of a word, with commas as there are. */
static int expand(const struct weir_defines *defines, const char *word, char **value,
		  struct weir_err *err)
{
	size_t len = strcspn(word, ",");

	while (!append_value(defines, value, word, len, err)) {
		word += len;
		if (!*word)
			return 0;
		if (append(value, word++, 1, err))
			break;
		len = strcspn(word, ",");
	}
	return -EINVAL;
}

/* Is it a word in quotes, which is what it is? Not, if it is the rest of a word. */
static bool is_quoted(const struct weir_lines *lines, int i, const char *word)
{
	return word == lines->words[i] && strchr("\"'", lines->source[lines->at[i]]);
}

static void free_made(struct weir_defines *defines)
{
	while (defines->made_count)
		free(defines->made[--defines->made_count]);
}

int weir_defines_expand(struct weir_defines *defines, struct weir_lines *lines,
			struct weir_err *err)
{
	char **made;
	int i;

	free_made(defines);
	for (i = 0; i < lines->count; i++) {
		if (!has_name(lines->words[i]) || is_quoted(lines, i, lines->words[i]))
			continue;
		if (!i) {
			weir_err_set(err, "'%.60s' cannot begin a line: it stands for a value",
				     lines->words[i]);
			return 1;
		}
		made = &defines->made[defines->made_count++];
		*made = NULL;
		if (expand(defines, lines->words[i], made, err))
			return i + 1;
		lines->words[i] = *made;
	}
	return 0;
}

/* Take the values of a set, as far as a word has them. */
static int take_values(struct weir_defines *defines, const char *word, bool quoted,
		       struct weir_err *err)
{
	char **value = &defines->list[defines->count].value;
	size_t len;

	for (; *word || quoted; word += len) {
		len = quoted ? strlen(word) : strcspn(word, ",}");
		if (!defines->open)
			return weir_err_set(err, WEIR_UNEXPECTED ": the values end at '}'", word);
		if (!len && !quoted) {
			defines->open = *word == ',';
			if (*word++ == ',' && !defines->behind)
				return weir_err_set(err, "a value is missing before ','");
			defines->behind = false;
			continue;
		}
		if (defines->behind)
			return weir_err_set(err, "separate the values by ','");
		if ((*value && append(value, ",", 1, err)) ||
		    (quoted ? append(value, word, len, err) :
			      append_value(defines, value, word, len, err)))
			return -EINVAL;
		defines->behind = true;
		if (quoted)
			break;
	}
	return 0;
}

/* Take the words of a set from one on; returns its number, from 1, if it is at fault. */
static int take_set(struct weir_defines *defines, const struct weir_lines *lines, int i,
		    const char *word, struct weir_err *err)
{
	struct weir_define *define = &defines->list[defines->count];

	for (; i < lines->count; word = ++i < lines->count ? lines->words[i] : NULL) {
		if (take_values(defines, word, is_quoted(lines, i, word), err))
			return i + 1;
	}
	if (defines->open)
		return 0;
	if (!define->value) {
		weir_err_set(err, "the values of '%s' are missing", define->name);
		return lines->count;
	}
	defines->count++;
	return 0;
}

/* Begin a definition: its name must be new. */
static int begin(struct weir_defines *defines, const char *word, size_t len, unsigned int line,
		 struct weir_err *err)
{
	struct weir_define *define = &defines->list[defines->count];
	const struct weir_define *other = find(defines, word, len);
	char place[WEIR_PLACE_SIZE];

	if (!len || name_length(word) != len || len >= sizeof(define->name))
		return weir_err_set(err, "'%.*s': a name has up to %d letters, digits and _-., and begins with a letter or _",
				    (int)MIN(len, 60), word, WEIR_NAME_MAX);
	if (other)
		return weir_err_set(err, "'%s' was already defined on %s", other->name,
				    weir_place_text(defines->places, other->line, place));
	if (defines->count == WEIR_DEFINES_MAX)
		return weir_err_set(err, "more than %d definitions", WEIR_DEFINES_MAX);
	*define = (struct weir_define){ .line = line };
	snprintf(define->name, sizeof(define->name), "%.*s", (int)len, word);
	return 0;
}

/* Take "define NAME = VALUE"; blanks around = may be missing. */
static int take_define(struct weir_defines *defines, const struct weir_lines *lines,
		       struct weir_err *err)
{
	const char *word = lines->count > 1 ? lines->words[1] : "";
	struct weir_define *define = &defines->list[defines->count];
	size_t len = strcspn(word, "=");
	int i = 1, ret;

	if (begin(defines, word, len, lines->line, err))
		return lines->count > 1 ? 2 : 1;
	word += len;
	if (!*word)
		word = ++i < lines->count ? lines->words[i] : "";
	if (*word != '=') {
		weir_err_set(err, "expected '=' and a value: define %s = VALUE", define->name);
		return MIN(i + 1, lines->count);
	}
	if (!*++word)
		word = ++i < lines->count ? lines->words[i] : NULL;
	if (!word) {
		weir_err_set(err, "the value of '%s' is missing", define->name);
		return lines->count;
	}
	defines->open = true;
	defines->behind = false;
	if (*word == '{' && !is_quoted(lines, i, word))
		return take_set(defines, lines, i, word + 1, err);
	ret = is_quoted(lines, i, word) ?
	      append(&define->value, word, strlen(word), err) :
	      expand(defines, word, &define->value, err);
	defines->open = false;
	if (ret)
		return i + 1;
	if (i + 1 < lines->count) {
		weir_err_set(err, WEIR_UNEXPECTED ": put a value of several words in quotes, or values in { A, B }",
			     lines->words[i + 1]);
		return i + 2;
	}
	defines->count++;
	return 0;
}

static void free_value(struct weir_define *define)
{
	free(define->value);
	define->value = NULL;
}

bool weir_defines_take(struct weir_defines *defines, const struct weir_lines *lines, int *fault,
		       struct weir_err *err)
{
	struct weir_define *define = &defines->list[defines->count];
	const char *last = lines->words[lines->count - 1];

	*fault = 0;
	if (!defines->open && strcmp(lines->words[0], "define"))
		return false;
	if (!defines->open)
		*fault = take_define(defines, lines, err);
	else if (!defines->bad)
		*fault = take_set(defines, lines, 0, lines->words[0], err);
	if (*fault) {
		weir_err_set(err, "define: %.400s", err->text);
		defines->bad = true;
	}
	/* the other lines of an invalid set are no lines of their own */
	if (defines->bad && (!defines->open || last[strlen(last) - !!*last] == '}')) {
		defines->open = false;
		defines->bad = false;
		free_value(define);
	}
	return true;
}

bool weir_defines_end(const struct weir_defines *defines, struct weir_err *err)
{
	const struct weir_define *define = &defines->list[defines->count];

	if (defines->open)
		weir_err_set(err, "define: the values of '%s' do not end with '}'", define->name);
	return defines->open;
}

void weir_defines_free(struct weir_defines *defines)
{
	free_made(defines);
	free_value(&defines->list[defines->count]);
	while (defines->count)
		free_value(&defines->list[--defines->count]);
	defines->open = false;
	defines->bad = false;
}
