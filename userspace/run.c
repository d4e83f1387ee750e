// SPDX-License-Identifier: GPL-2.0-or-later
/* From words to a command, and from what became of it to an exit. */

#include <errno.h>
#include <string.h>

#include "tool.h"

const struct weir_object weir_objects[] = {
	{ "limit", "budgets of packets or bytes per source and window",
	  weir_limit_commands, false, "TIME := [N]{ ms | s | m | h | d }" },
	{ "source", "who sends, how much, and who is limited",
	  weir_source_commands, false, "PREFIX := ADDR[/LENGTH]" },
	{ "exempt", "prefixes that limits are not asked about",
	  weir_exempt_commands, false, "PREFIX := ADDR[/LENGTH]" },
	{ "stats", "counters of the network namespace",
	  weir_stats_commands, false, NULL },
	{ "monitor", "show events as they come", weir_monitor_commands, true,
	  NULL },
	{ "save", "write the configuration, as -file reads it",
	  weir_save_commands, true, NULL },
	{ 0 }
};

#define SIGNED	\
	" (this kernel takes signed modules alone: where Secure Boot refuses the key, enrol it with mokutil --import)"

/* Whether this kernel takes modules only with a signature that it knows. */
static bool wants_signature(void)
{
	char text[8] = "";
	FILE *file = fopen("/sys/module/module/parameters/sig_enforce", "re");

	if (file) {
		if (!fgets(text, sizeof(text), file))
			text[0] = '\0';
		fclose(file);
	}
	return text[0] == 'Y';
}

/**
 * weir_tool_reach - have the module at hand
 * @tool: the run
 *
 * Return: WEIR_EXIT_OK or WEIR_EXIT_UNREACHABLE, with a sentence.
 */
int weir_tool_reach(struct weir_tool *tool)
{
	struct weir_err why;
	int ret;

	if (tool->nl)
		return WEIR_EXIT_OK;
	ret = weir_nl_open(&tool->nl, weir_note_kernel, tool, &why);
	if (!ret)
		return WEIR_EXIT_OK;
	if (ret == -ENOENT)
		weir_err_set(&tool->err, "the kernel module is not loaded and did not load by itself: modprobe weir says why%s",
			     wants_signature() ? SIGNED : "");
	else
		weir_err_set(&tool->err, "cannot reach the kernel module: %s",
			     why.text);
	return WEIR_EXIT_UNREACHABLE;
}

/**
 * weir_tool_settle - what a request's end means
 * @tool: the run
 * @ret: what the request returned
 * @allowed: the negative errno that -exist takes for success, or 0
 *
 * Return: WEIR_EXIT_OK, or WEIR_EXIT_REFUSED with a sentence.
 */
int weir_tool_settle(struct weir_tool *tool, int ret, int allowed)
{
	if (!ret || (tool->exist && ret == allowed))
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "%s", weir_nl_error(tool->nl));
	return WEIR_EXIT_REFUSED;
}

/**
 * weir_parse_words - read a command's words
 * @tool: the run
 * @command: the command
 * @args: the words behind it
 * @model: takes what they make
 *
 * Return: WEIR_EXIT_OK, or WEIR_EXIT_WORDS with a sentence.
 */
int weir_parse_words(struct weir_tool *tool, const struct weir_command *command,
		     struct weir_args *args, union weir_model *model)
{
	int ret = 0;

	args->err = &tool->err;
	switch (command->model) {
	case WEIR_MODEL_NONE:
		ret = weir_words_parse(command->words, args, NULL);
		break;
	case WEIR_MODEL_LIMIT:
		ret = weir_parse_limit(args, command->words, &model->limit);
		break;
	case WEIR_MODEL_EXEMPT:
		ret = weir_parse_exempt(args, command->words, &model->exempt);
		break;
	case WEIR_MODEL_QUERY:
		ret = weir_parse_query(args, command->words, &model->query);
		break;
	}
	return ret ? WEIR_EXIT_WORDS : WEIR_EXIT_OK;
}

static bool same_command(const void *row, const void *other)
{
	const struct weir_command *a = row, *b = other;

	return a->run == b->run;
}

/**
 * weir_pick_command - find the command that a verb names
 * @object: the object
 * @verb: what was written
 * @exact: whether an abbreviation will not do
 * @err: takes the sentence where there is none
 *
 * Return: the command, or NULL.
 */
const struct weir_command *weir_pick_command(const struct weir_object *object,
					     const char *verb, bool exact,
					     struct weir_err *err)
{
	return weir_pick(object->commands, sizeof(*object->commands), verb,
			 exact, same_command, err);
}

/**
 * weir_pick_object - find the object that a command begins with
 * @rows: rows that begin with a pointer to their name; NULL ends them
 * @stride: size of a row
 * @word: what was written
 * @exact: whether an abbreviation will not do
 * @err: takes the sentence where there is none
 *
 * Return: the row, or NULL.
 */
const void *weir_pick_object(const void *rows, size_t stride, const char *word,
			     bool exact, struct weir_err *err)
{
	if (strcmp(word, "weir"))
		return weir_pick(rows, stride, word, exact, NULL, err);
	weir_err_set(err, "leave 'weir' out; what follows it is the command");
	return NULL;
}

/* What the words of a command are, as far as they could be read. */
struct reading {
	const struct weir_object *object;
	const struct weir_command *command;
	union weir_model model;
	bool help;		/* is what is wanted */
};

/* Files have no help: there it may be a name. */
static bool take_help(struct weir_args *args, bool last)
{
	const char *word = weir_args_peek(args);

	if (args->exact || !word || strcmp(word, "help") ||
	    (last && args->at != args->count - 1))
		return false;
	weir_args_next(args);
	return true;
}

/* Read object and verb; where no verb is, the object's first is meant. */
static int read_verb(struct weir_args *args, struct reading *reading)
{
	const char *word;

	while (take_help(args, false))
		reading->help = true;
	word = weir_args_next(args);
	if (!word)
		return 0;
	reading->object = weir_pick_object(weir_objects, sizeof(*weir_objects),
					   word, args->exact, args->err);
	if (!reading->object)
		return -EINVAL;
	reading->help |= take_help(args, false);
	word = reading->object->alone ? NULL : weir_args_next(args);
	if (word)
		reading->command = weir_pick_command(reading->object, word,
						     args->exact, args->err);
	else if (reading->object->alone || !reading->help)
		reading->command = reading->object->commands;
	if (word && !reading->command)
		return -EINVAL;
	reading->help |= take_help(args, true);
	return 0;
}

/* An option has come behind the command: say where it belongs. */
static void blame_option(const struct weir_args *args)
{
	int i;

	for (i = 1; i < args->count; i++) {
		if (!weir_option_is(args->words[i]))
			continue;
		weir_err_set(args->err, "'%.60s' is an option; options come before the object: weir %.60s %.60s ...",
			     args->words[i], args->words[i], args->words[0]);
		return;
	}
}

static int read_words(struct weir_tool *tool, struct weir_args *args,
		      struct reading *reading)
{
	bool ends = !args->exact && !strcmp(args->words[args->count - 1], "help");

	if (!read_verb(args, reading)) {
		if (reading->help && !weir_args_peek(args))
			return WEIR_EXIT_OK;
		if (reading->help)
			weir_err_set(args->err, "'%.60s' is a word too many",
				     weir_args_peek(args));
		else if (!weir_parse_words(tool, reading->command, args,
					   &reading->model))
			return WEIR_EXIT_OK;
		/* whatever is wrong with the words in front of it */
		reading->help |= ends;
		if (ends)
			return WEIR_EXIT_OK;
	}
	blame_option(args);
	return WEIR_EXIT_WORDS;
}

static void show_help(const struct reading *reading)
{
	if (reading->command)
		weir_help_command(stdout, reading->object, reading->command);
	else if (reading->object)
		weir_help_object(stdout, reading->object);
	else
		weir_help(stdout);
}

static int run_command(struct weir_tool *tool, struct reading *reading)
{
	const struct weir_command *command = reading->command;
	int status;

	if (tool->check) {
		if (command->note)
			command->note(tool, &reading->model);
		return WEIR_EXIT_OK;
	}
	if (command->model == WEIR_MODEL_LIMIT)
		tool->limit = reading->model.limit.name;
	status = weir_tool_reach(tool);
	if (!status)
		status = command->run(tool, &reading->model);
	weir_note_warned(tool);
	tool->limit = NULL;
	return status;
}

static void complain(const struct weir_tool *tool, int status,
		     const struct reading *reading)
{
	const struct weir_object *object = reading->object;
	const char *verb = reading->command && !object->alone ?
			   reading->command->name : NULL;
	char what[64];

	if (status == WEIR_EXIT_UNREACHABLE || !object) {
		weir_complain(tool, NULL);
		return;
	}
	snprintf(what, sizeof(what), "%s%s%s", object->name, verb ? " " : "",
		 verb ? verb : "");
	weir_complain(tool, what);
}

/**
 * weir_run_words - run one command and say on stderr what went wrong
 * @tool: the run
 * @words: the command, from its object on
 * @count: how many words, at least one
 * @exact: whether abbreviations will not do
 *
 * Return: an enum weir_exit.
 */
int weir_run_words(struct weir_tool *tool, char **words, int count, bool exact)
{
	struct weir_args args = { .words = words, .count = count,
				  .exact = exact, .err = &tool->err };
	struct reading reading = { 0 };
	int status = read_words(tool, &args, &reading);

	if (!status && reading.help)
		show_help(&reading);
	else if (!status)
		status = run_command(tool, &reading);
	if (status)
		complain(tool, status, &reading);
	return status;
}
