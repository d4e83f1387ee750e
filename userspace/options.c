// SPDX-License-Identifier: GPL-2.0-or-later
/* The options, in the manner of ip(8): one table parses, helps and completes. */

#include <string.h>

#include "tool.h"

/* Help shows the first name of each. */
const struct weir_option weir_options[] = {
	{ "json", 'j', NULL, false },
	{ "pretty", 'p', NULL, false },
	{ "stats", 's', NULL, false },
	{ "statistics", 's', NULL, false },
	{ "netns", 'n', "NAME|PATH|PID", false },
	{ "batch", 'b', "FILE", false },
	{ "file", 'f', "FILE", false },
	{ "check", WEIR_OPT_CHECK, NULL, false },
	{ "force", WEIR_OPT_FORCE, NULL, false },
	{ "exist", WEIR_OPT_EXIST, NULL, false },
	{ "timestamp", 't', NULL, false },
	{ "color", 'c', "always|auto|never", true },
	{ "colour", 'c', "always|auto|never", true },
	{ "Version", 'V', NULL, false },
	{ "version", 'V', NULL, false },
	{ "help", 'h', NULL, false },
	{ 0 }
};

static bool same_option(const void *row, const void *other)
{
	const struct weir_option *a = row, *b = other;

	return a->id == b->id;
}

static const struct weir_option *find_letter(char letter)
{
	const struct weir_option *option;

	for (option = weir_options; option->name; option++) {
		if (option->id == letter)
			return option;
	}
	return NULL;
}

/* Whether @name is some letters, all of options without a value, as in -jp. */
static bool is_cluster(const char *name)
{
	const struct weir_option *option;
	const char *at;

	for (at = name; *at; at++) {
		option = find_letter(*at);
		if (!option || (option->value && !option->may))
			return false;
	}
	return at != name;
}

/* What follows the dashes of a word that may be an option, or NULL. */
static const char *behind_dashes(const char *word)
{
	if (word[0] != '-')
		return NULL;
	word += word[1] == '-' ? 2 : 1;
	return *word ? word : NULL;
}

/* The option that the first @len bytes of @name name, NULL if not one does. */
static const struct weir_option *find_option(const char *name, size_t len)
{
	const void *row = NULL;
	char text[32];

	if (len >= sizeof(text))
		return NULL;
	memcpy(text, name, len);
	text[len] = '\0';
	if (len == 1 && find_letter(*text))
		return find_letter(*text);
	return weir_match(weir_options, sizeof(*weir_options), text, false,
			  same_option, &row) == 1 ? row : NULL;
}

static int say_unknown(const char *word, struct weir_err *err)
{
	const char *name = behind_dashes(word);
	const struct weir_option *option = find_letter(*name);
	const char *near = weir_nearest(weir_options, sizeof(*weir_options),
					name);

	if (near)
		return weir_err_set(err, "unknown option '%.60s'; the nearest is '-%s'",
				    word, near);
	if (option && option->value && !option->may)
		return weir_err_set(err, "unknown option '%.60s'; the value of an option is a word of its own: -%s %s",
				    word, option->name, option->value);
	return weir_err_set(err, "unknown option '%.60s'; weir -help tells those known",
			    word);
}

/* The value of the option: behind its =, or the next word. */
static int take_value(struct weir_args *args, struct weir_given *given,
		      const char *word, const char *equals)
{
	given->value = equals;
	if (equals && !given->option->value)
		return weir_err_set(args->err, "option '%.60s': -%s takes no value",
				    word, given->option->name);
	if (equals || !given->option->value || given->option->may)
		return 1;
	given->value = weir_args_next(args);
	if (given->value)
		return 1;
	return weir_err_set(args->err, "option %s: value missing (%s)", word,
			    given->option->value);
}

/**
 * weir_option_take - take the next option
 * @args: the words; options are in front
 * @given: zeroed before the first; takes the option and its value
 *
 * Return: 1, 0 behind the last option, or -EINVAL with the sentence in the
 *	words' err.
 */
int weir_option_take(struct weir_args *args, struct weir_given *given)
{
	const char *word = weir_args_peek(args), *name, *equals;
	size_t len;

	given->value = NULL;
	if (given->letters && *given->letters) {
		given->option = find_letter(*given->letters++);
		return 1;
	}
	if (word && !strcmp(word, "--"))
		weir_args_next(args);
	name = word ? behind_dashes(word) : NULL;
	if (!name)
		return 0;
	weir_args_next(args);
	len = strcspn(name, "=");
	equals = name[len] ? name + len + 1 : NULL;
	given->option = find_option(name, len);
	if (given->option)
		return take_value(args, given, word, equals);
	if (word[1] == '-' || !is_cluster(name))
		return say_unknown(word, args->err);
	given->letters = name + 1;
	given->option = find_letter(*name);
	return 1;
}

/**
 * weir_option_is - whether a word is an option, which has no place behind a
 *	command
 * @word: the word
 *
 * Return: whether it is.
 */
bool weir_option_is(const char *word)
{
	const char *name = behind_dashes(word);

	return name && (find_option(name, strcspn(name, "=")) ||
			is_cluster(name));
}
