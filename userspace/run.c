// SPDX-License-Identifier: GPL-2.0-or-later
/* From words to a command, and from what became of it to an exit. */

#include <errno.h>
#include <string.h>

#include "tool.h"

const struct weir_object weir_objects[] = {
	{ "limit", "budgets of packets or bytes per source and window",
	  weir_limit_commands, false },
	{ "source", "who sends, how much, and who is limited",
	  weir_source_commands, false },
	{ "exempt", "prefixes that limits are not asked about",
	  weir_exempt_commands, false },
	{ "stats", "counters of the network namespace",
	  weir_stats_commands, false },
	{ "monitor", "show events as they come", weir_monitor_commands, true },
	{ "save", "write the configuration, as -file reads it",
	  weir_save_commands, true },
	{ 0 }
};

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
	if (ret == -ENOENT && wants_signature())
		weir_err_set(&tool->err, "the kernel module is not loaded: modprobe weir (this kernel takes signed modules alone: where Secure Boot refuses the key, enrol it with mokutil --import)");
	else if (ret == -ENOENT)
		weir_err_set(&tool->err, "the kernel module is not loaded: modprobe weir");
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

static int run_command(struct weir_tool *tool,
		       const struct weir_command *command,
		       struct weir_args *args)
{
	union weir_model model;
	int status;

	status = weir_parse_words(tool, command, args, &model);
	if (!status && !tool->check)
		status = weir_tool_reach(tool);
	if (!status && !tool->check)
		status = command->run(tool, &model);
	if (!status && command->note)
		command->note(tool, &model);
	return status;
}

/* "help" as the only word left, on the command line. */
static bool wants_help(const struct weir_args *args)
{
	const char *word = weir_args_peek(args);

	return !args->exact && word && args->at == args->count - 1 &&
	       !strcmp(word, "help");
}

static void complain(const struct weir_tool *tool, int status,
		     const struct weir_object *object,
		     const struct weir_command *command)
{
	char what[64];

	if (status == WEIR_EXIT_UNREACHABLE || !object) {
		weir_complain(tool, NULL);
	} else {
		snprintf(what, sizeof(what), "%s%s%s", object->name,
			 command && !object->alone ? " " : "",
			 command && !object->alone ? command->name : "");
		weir_complain(tool, what);
	}
}

/* The command that the verb names; the object's first where none is named. */
static const struct weir_command *pick_command(struct weir_tool *tool,
					       const struct weir_object *object,
					       struct weir_args *args)
{
	const char *verb = weir_args_peek(args);

	if (object->alone || !verb)
		return object->commands;
	weir_args_next(args);
	return weir_pick(object->commands, sizeof(*object->commands), verb,
			 args->exact, &tool->err);
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
	const struct weir_command *command = NULL;
	const struct weir_object *object;
	int status = WEIR_EXIT_WORDS;

	if (wants_help(&args)) {
		weir_help(stdout);
		return WEIR_EXIT_OK;
	}
	object = weir_pick(weir_objects, sizeof(*weir_objects),
			   weir_args_next(&args), exact, &tool->err);
	if (object && wants_help(&args)) {
		weir_help_object(stdout, object);
		return WEIR_EXIT_OK;
	}
	if (object)
		command = pick_command(tool, object, &args);
	if (command && wants_help(&args)) {
		weir_help_command(stdout, object, command);
		return WEIR_EXIT_OK;
	}
	if (command)
		status = run_command(tool, command, &args);
	if (status)
		complain(tool, status, object, command);
	return status;
}
