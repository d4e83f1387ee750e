// SPDX-License-Identifier: GPL-2.0-or-later
/* The options, in the style of ip(8); one table for parsing, help and completion. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"

enum { OPT_CHECK = 256, OPT_FORCE, OPT_EXIST, OPT_BRIEF, OPT_TIMEOUT, OPT_SCHEMA, OPT_FALLBACK,
	OPT_RESUME, OPT_CONFIRM };

#define TOOL(member)	.to = offsetof(struct weir_tool, member)

/* Help shows the first of synonyms. */
const struct weir_option weir_options[] = {
	{ "-json", 'j', NULL, "print JSON", TOOL(out.json) },
	{ "-pretty", 'p', NULL, "indent JSON", TOOL(out.pretty) },
	{ "-stats", 's', NULL, "show counters as well", TOOL(stats) },
	{ "-statistics", 's', NULL, NULL, TOOL(stats) },
	{ "-brief", OPT_BRIEF, NULL, "show limits and sources without details",
	  TOOL(out.brief) },
	{ "-oneline", 'o', NULL, "show each record on one line", TOOL(out.oneline) },
	{ "-netns", 'n', "NAME|PATH|PID", "act in another network namespace",
	  TOOL(netns) },
	{ "-batch", 'b', "FILE", "run the commands in FILE, one per line; -: stdin", TOOL(batch) },
	{ "-file", 'f', "FILE", "make FILE the configuration; what it lacks goes",
	  TOOL(config_file) },
	{ "-fallback", OPT_FALLBACK, "FILE",
	  "keep what was applied, for a bad file at boot", TOOL(fallback) },
	{ "-resume", OPT_RESUME, "FILE",
	  "restore this state before a file is applied", TOOL(resume) },
	{ "-check", OPT_CHECK, NULL, "check, print errors and warnings, change nothing",
	  TOOL(check) },
	{ "-confirm", OPT_CONFIRM, "TIME", "take a change back unless it is confirmed",
	  TOOL(confirm) },
	{ "-force", OPT_FORCE, NULL, "replace what is there; go on in a batch",
	  TOOL(force) },
	{ "-exist", OPT_EXIST, NULL, "accept what exists, or with del what does not",
	  TOOL(exist) },
	{ "-timeout", OPT_TIMEOUT, "TIME", "limit the time that source charge ... wait waits",
	  TOOL(timeout) },
	{ "-quiet", 'q', NULL, "print no notes, only warnings and errors", TOOL(quiet) },
	{ "-timestamp", 't', NULL, "print the time before each event",
	  TOOL(timestamp) },
	{ "-color", 'c', "always|auto|never", "use colour", TOOL(out.color) },
	{ "-colour", 'c', "always|auto|never", NULL, TOOL(out.color) },
	{ "-schema", OPT_SCHEMA, NULL, "print the JSON schema of the output", TOOL(schema) },
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

/* A login takes its time, and who forgot to confirm is not to be surprised the next day. */
#define CONFIRM_MS_MIN	1000
#define CONFIRM_MS_MAX	(24 * 3600 * 1000)

static int take_confirm(struct weir_tool *tool, const char *value)
{
	if (weir_value_time(value, &tool->confirm_ms, &tool->err))
		return weir_err_set(&tool->err, "-confirm: %.400s", tool->err.text);
	if (tool->confirm_ms < CONFIRM_MS_MIN || tool->confirm_ms > CONFIRM_MS_MAX)
		return weir_err_set(&tool->err, "'-confirm' takes 1s to 1d, not %.60s", value);
	return 0;
}

static int take_option(struct weir_tool *tool, const struct weir_option *option, const char *value)
{
	void *to = (char *)tool + option->to;

	if (option->letter == 'c') {
		tool->bare_color |= !value;
		return choose_color(tool, value);
	}
	if (!option->value) {
		*(bool *)to = true;
		return 0;
	}
	if (*(const char **)to)
		return weir_err_set(&tool->err, WEIR_TWICE, option->name);
	*(const char **)to = value;
	if (option->letter == OPT_CONFIRM)
		return take_confirm(tool, value);
	return option->letter == OPT_TIMEOUT ?
	       weir_value_time(value, &tool->timeout_ms, &tool->err) : 0;
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

/* Find an option by letter or unambiguous abbreviation. @plain: one dash, no value. */
static const struct weir_option *find_option(const char *plain, struct weir_err *err)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_option *option = plain[2] ? NULL : find_letter(plain[1]);
	const struct weir_word *word;

	if (option)
		return option;
	word = weir_pick(option_words(words), plain, false, "option", err);
	return word ? word->is : NULL;
}

/* Set combined letters but the last, which is returned and may have a value; or NULL. */
static const struct weir_option *take_letters(struct weir_tool *tool, const char *letters)
{
	const struct weir_option *option = find_letter(*letters);

	if (!option || !letters[1])
		return option;
	if (option->value || take_option(tool, option, NULL))
		return NULL;
	return take_letters(tool, letters + 1);
}

/* Parse an option and its value; returns the number of words consumed, or -EINVAL. */
static int take_words(struct weir_tool *tool, char **argv)
{
	const char *word = argv[0] + (argv[0][1] == '-');
	size_t length = strcspn(word, "=");
	const char *value = word[length] ? word + length + 1 : NULL;
	const struct weir_option *option;
	char plain[64];
	int count = 1;

	snprintf(plain, sizeof(plain), "%.*s", (int)length, word);
	option = find_option(plain, &tool->err);
	if (!option)
		option = take_letters(tool, plain + 1);
	if (!option)
		return -EINVAL;
	if (value && !option->value)
		return weir_err_set(&tool->err, "option '%s' takes no value", plain);
	if (!value && option->value && option->letter != 'c') {
		value = argv[count++];
		tool->wants = value ? 0 : option->letter;
	}
	if (tool->wants)
		return weir_err_set(&tool->err, WEIR_NO_VALUE, argv[0], option->value);
	return take_option(tool, option, value) ? -EINVAL : count;
}

int weir_take_options(struct weir_tool *tool, int argc, char **argv)
{
	int at, count;

	for (at = 1; at < argc && argv[at][0] == '-' && argv[at][1]; at += count) {
		if (!strcmp(argv[at], "--"))
			return at + 1;
		count = take_words(tool, argv + at);
		if (count < 0)
			return count;
	}
	return at;
}

bool weir_option_is(char *word)
{
	/* A value that any option takes. */
	char value[] = "1m", *argv[] = { value, word, value, NULL };
	struct weir_tool unused = { 0 };

	return word[0] == '-' && word[1] && weir_take_options(&unused, 3, argv) > 1;
}
