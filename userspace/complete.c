// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -complete: what may come next, one a line, for a shell. */

#include <dirent.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static void put_netns(void)
{
	DIR *dir = opendir(WEIR_NETNS_DIR);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			puts(entry->d_name);
	}
	closedir(dir);
}

static void put_devices(void)
{
	struct if_nameindex *devices = if_nameindex(), *at;

	for (at = devices; at && at->if_index; at++)
		puts(at->if_name);
	if (devices)
		if_freenameindex(devices);
}

static void put_limit(const struct weir_limit *limit, void *data)
{
	(void)data;
	puts(limit->name);
}

static void put_limits(struct weir_tool *tool)
{
	if (!weir_tool_reach(tool))
		weir_nl_limit_walk(tool->nl, false, put_limit, NULL);
}

/* Values as help names them: a class of things, or the values themselves. */
static void put_values(struct weir_tool *tool, const char *value)
{
	char copy[64], *save, *word;

	if (!strcmp(value, "NAME"))
		return put_limits(tool);
	if (!strcmp(value, "IFACE"))
		return put_devices();
	snprintf(copy, sizeof(copy), "%s", value);
	for (word = strtok_r(copy, "|", &save); word;
	     word = strtok_r(NULL, "|", &save)) {
		if (strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789") ==
		    strlen(word))
			puts(word);
	}
}

/* The words not seen yet; behind "not", those that are conditions. */
static void put_words(const struct weir_word *words, uint64_t seen, bool negate)
{
	const struct weir_word *word;
	unsigned int any = 0;

	for (word = words; word->name; word++) {
		if (word->flags & (WEIR_WORD_FIRST | WEIR_WORD_BARE) ||
		    seen & 1ULL << (word - words) ||
		    (negate && !(word->flags & WEIR_WORD_NOT)))
			continue;
		any |= word->flags;
		puts(word->name);
	}
	if (any & WEIR_WORD_NOT && !negate)
		puts("not");
}

static const struct weir_word *find_word(const struct weir_word *words,
					 const char *token)
{
	for (; words->name; words++) {
		if (!strcmp(words->name, token) &&
		    !(words->flags & (WEIR_WORD_FIRST | WEIR_WORD_BARE)))
			return words;
	}
	return NULL;
}

static void complete_command(struct weir_tool *tool,
			     const struct weir_command *command,
			     struct weir_args *args)
{
	const struct weir_word *words = command->words, *word = NULL;
	const char *token;
	bool negate = false;
	uint64_t seen = 0;

	if (words->name && words->flags & WEIR_WORD_FIRST &&
	    !weir_args_next(args)) {
		puts("help");
		/* add names a limit that is not there yet */
		if (words != weir_words_limit_add)
			put_values(tool, words->value);
		return;
	}
	while ((token = weir_args_next(args))) {
		negate = !strcmp(token, "not");
		word = find_word(words, token);
		if (!word)
			continue;
		seen |= 1ULL << (word - words);
		if (word->value && !weir_args_next(args))
			return put_values(tool, word->value);
	}
	put_words(words, seen, negate);
}

static void put_names(const void *rows, size_t stride)
{
	const char *row = rows, *name;

	for (; (name = *(const char *const *)row); row += stride)
		puts(name);
	puts("help");
}

static void complete_object(struct weir_tool *tool, struct weir_args *args)
{
	const struct weir_command *command;
	const struct weir_object *object;
	struct weir_err err;
	const char *verb;

	object = weir_pick(weir_objects, sizeof(*weir_objects),
			   weir_args_next(args), false, NULL, &err);
	if (!object)
		return;
	if (object->alone)
		return complete_command(tool, object->commands, args);
	verb = weir_args_next(args);
	if (!verb)
		return put_names(object->commands, sizeof(*object->commands));
	command = weir_pick_command(object, verb, false, &err);
	if (command)
		complete_command(tool, command, args);
}

/* Pass over options: false where the value of one is next. */
static bool skip_options(struct weir_tool *tool, struct weir_args *args)
{
	struct weir_given given = { 0 };
	int ret;

	while ((ret = weir_option_take(args, &given)) > 0) {
		if (given.option->id == 'n')
			tool->netns = given.value;
	}
	if (!ret)
		return true;
	if (given.option && given.option->id == 'n' && !weir_args_peek(args))
		put_netns();
	return false;
}

/**
 * weir_complete - print what may come behind words
 * @tool: the run
 * @count: how many words
 * @words: the words, without that of the command itself
 */
void weir_complete(struct weir_tool *tool, int count, char **words)
{
	struct weir_args args = { .words = words, .count = count,
				  .err = &tool->err };
	const struct weir_option *option;

	if (!skip_options(tool, &args))
		return;
	if (tool->netns)
		weir_enter_netns(tool);	/* its limits, where they may be seen */
	if (weir_args_peek(&args))
		return complete_object(tool, &args);
	put_names(weir_objects, sizeof(*weir_objects));
	for (option = weir_options; option->name; option++)
		printf("-%s\n", option->name);
}
