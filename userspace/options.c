// SPDX-License-Identifier: GPL-2.0-or-later
/* The options, in the manner of ip(8); help and completion read the same table. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

enum { OPT_CHECK = 256, OPT_FORCE, OPT_EXIST, OPT_BRIEF };

#define TOOL(member)	.to = offsetof(struct weir_tool, member)

/* Help shows the first name of each. */
const struct weir_option weir_options[] = {
	{ "-json", 'j', NULL, "print JSON", TOOL(out.json) },
	{ "-pretty", 'p', NULL, "indent JSON", TOOL(out.pretty) },
	{ "-stats", 's', NULL, "show counters of limits and exemptions", TOOL(stats) },
	{ "-statistics", 's', NULL, NULL, TOOL(stats) },
	{ "-brief", OPT_BRIEF, NULL, "show each limit and source without details",
	  TOOL(out.brief) },
	{ "-oneline", 'o', NULL, "show each record on one line", TOOL(out.oneline) },
	{ "-netns", 'n', "NAME|PATH|PID", "act in another network namespace",
	  TOOL(netns) },
	{ "-batch", 'b', "FILE", "run one command per line", TOOL(batch) },
	{ "-file", 'f', "FILE", "replace all limits and exemptions",
	  TOOL(config_file) },
	{ "-check", OPT_CHECK, NULL, "print errors and warnings, change nothing",
	  TOOL(check) },
	{ "-force", OPT_FORCE, NULL, "continue a batch after a failure", TOOL(force) },
	{ "-exist", OPT_EXIST, NULL, "succeed if nothing is left to add or delete",
	  TOOL(exist) },
	{ "-timestamp", 't', NULL, "print the time before each event",
	  TOOL(timestamp) },
	{ "-color", 'c', "always|auto|never", "use colour", TOOL(out.color) },
	{ "-colour", 'c', "always|auto|never", NULL, TOOL(out.color) },
	{ "-Version", 'V', NULL, "print the version", TOOL(version) },
	{ "-version", 'V', NULL, NULL, TOOL(version) },
	{ "-help", 'h', NULL, "print this, or the help of a command", TOOL(help) },
	{ 0 }
};

static const struct weir_option *find_letter(int letter)
{
	const struct weir_option *option = weir_options;

	while (option->name && option->letter != letter)
		option++;
	return option->name ? option : NULL;
}

static int choose_color(struct weir_tool *tool, const char *when)
{
	tool->out.color = !when || !strcmp(when, "always") ||
			  (!strcmp(when, "auto") && isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
	if (tool->out.color || !strcmp(when, "auto") || !strcmp(when, "never"))
		return 0;
	return weir_err_set(&tool->err, "invalid colour '%.60s'; expected always, auto or never",
			    when);
}

/* The value is @value, or where there must be one the word behind @at. */
static int take_option(struct weir_tool *tool, const struct weir_option *option,
		       const char *name, const char *value, char ***at)
{
	void *to = (char *)tool + option->to;

	if (option->letter == 'c')
		return choose_color(tool, value);
	if (!option->value) {
		*(bool *)to = true;
		return value ? weir_err_set(&tool->err, "option '%s' takes no value", name) : 0;
	}
	value = value ? value : *++*at;
	if (!value) {
		tool->wants = option->letter;
		return weir_err_set(&tool->err, WEIR_NO_VALUE, name, option->value);
	}
	if (*(const char **)to)
		return weir_err_set(&tool->err, WEIR_TWICE, option->name);
	*(const char **)to = value;
	return 0;
}

static const struct weir_word *option_words(struct weir_word words[WEIR_WORDS_MAX])
{
	const struct weir_option *option;
	size_t used = 0;

	for (option = weir_options; option->name; option++)
		words[used++] = (struct weir_word){ .name = option->name,
						    .is = find_letter(option->letter) };
	words[used].name = NULL;
	return words;
}

/* Letters together, of which the last alone may have a value. */
static bool are_letters(const char *name)
{
	const struct weir_option *option = find_letter(*name);

	return option && (!name[1] || (!option->value && are_letters(name + 1)));
}

/* Options of one word: of a name, which may be abbreviated, or letters. */
static int take_word(struct weir_tool *tool, char ***at)
{
	const char *given = **at + ((**at)[1] == '-'), *value = strchr(given, '=');
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_word *word;
	char name[64], *letter;
	bool letters;
	int ret = 0;

	snprintf(name, sizeof(name), "-%.*s", (int)strcspn(given + 1, "="), given + 1);
	value = value ? value + 1 : NULL;
	letters = are_letters(name + 1);
	word = letters && !name[2] ? NULL :
	       weir_pick(option_words(words), name, false, "option", &tool->err);
	if (word)
		return take_option(tool, word->is, name, value, at);
	if (!letters)
		return -EINVAL;
	for (letter = name + 1; *letter && !ret; letter++)
		ret = take_option(tool, find_letter(*letter), name, letter[1] ? NULL : value, at);
	return ret;
}

int weir_take_options(struct weir_tool *tool, char **argv)
{
	char **at;

	for (at = argv + 1; *at && (*at)[0] == '-' && (*at)[1]; at++) {
		if (!strcmp(*at, "--"))
			return at + 1 - argv;
		if (take_word(tool, &at))
			return -EINVAL;
	}
	return at - argv;
}

bool weir_option_is(char *word)
{
	char value[] = "", *argv[] = { value, word, value, NULL };
	struct weir_tool unused = { 0 };

	return word[0] == '-' && word[1] && weir_take_options(&unused, argv) > 1;
}
