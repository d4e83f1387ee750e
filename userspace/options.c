// SPDX-License-Identifier: GPL-2.0-or-later
/* The options, in the manner of ip(8); help and completion read the same table. */

#include <getopt.h>
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

#define OPTIONS	(sizeof(weir_options) / sizeof(weir_options[0]))

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

static int take_option(struct weir_tool *tool, const struct weir_option *option, const char *value)
{
	void *to = (char *)tool + option->to;

	if (option->letter == 'c')
		return choose_color(tool, value);
	if (!option->value) {
		*(bool *)to = true;
		return 0;
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

/* With one dash, and without a value. */
static void plain_name(const char *word, char plain[64])
{
	word += word[1] == '-';
	snprintf(plain, 64, "-%.*s", (int)strcspn(word + 1, "="), word + 1);
}

/* What getopt takes for ambiguous though both names are of one option; or a slip. */
static int take_unclear(struct weir_tool *tool, const char *given)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_option *option;
	const struct weir_word *word;
	char plain[64];

	plain_name(given, plain);
	word = weir_pick(option_words(words), plain, false, "option", &tool->err);
	if (!word)
		return -EINVAL;
	option = word->is;
	given = strchr(given, '=');
	if (given && !option->value)
		return weir_err_set(&tool->err, "option '%s' takes no value", plain);
	return take_option(tool, option, given ? given + 1 : NULL);
}

/* A letter's value is a word of its own: "-bogus" is a slip, not -b ogus. */
static bool is_attached(const char *word, int at)
{
	return optarg && at < 0 && optarg > word && optarg <= word + strlen(word);
}

static int missing_value(struct weir_tool *tool, const char *word)
{
	tool->wants = optopt;
	return weir_err_set(&tool->err, WEIR_NO_VALUE, word,
			    find_letter(optopt)->value);
}

int weir_take_options(struct weir_tool *tool, int argc, char **argv)
{
	struct option long_options[2 * OPTIONS] = { 0 }, *next = long_options;
	char letters[3 * OPTIONS + 3] = "+:", *end = letters + 2, names[OPTIONS][2];
	const struct weir_option *option;
	int letter, at, word, ret = 0;

	for (option = weir_options; option->name; option++) {
		letter = option->letter;
		*next++ = (struct option){ option->name + 1, !option->value ? no_argument :
			letter == 'c' ? optional_argument : required_argument, NULL, letter };
		if (letter > 255 || find_letter(letter) != option)
			continue;
		end += sprintf(end, "%c%s", letter, !option->value ? "" : letter == 'c' ? "::" : ":");
		sprintf(names[option - weir_options], "%c", letter);
		*next = next[-1];	/* as in -c=never */
		next++->name = names[option - weir_options];
	}
	opterr = 0;
	optind = 0;
	for (letter = 0; !ret;) {
		at = -1;
		word = optind ? optind : 1;
		letter = getopt_long_only(argc, argv, letters, long_options, &at);
		if (letter < 0)
			return optind;
		if (letter == ':')
			ret = missing_value(tool, argv[word]);
		else if (letter == '?' || is_attached(argv[word], at))
			ret = take_unclear(tool, argv[word]);
		else
			ret = take_option(tool, find_letter(letter), optarg);
	}
	return ret;
}

bool weir_option_is(char *word)
{
	char value[] = "", *argv[] = { value, word, value, NULL };
	struct weir_tool unused = { 0 };

	return word[0] == '-' && word[1] && weir_take_options(&unused, 3, argv) > 1;
}
