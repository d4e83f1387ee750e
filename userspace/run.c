// SPDX-License-Identifier: GPL-2.0-or-later
/* From words to a command, and from what became of it to an exit. */

#include <errno.h>
#include <string.h>

#include "tool.h"

/* Files have no help: there it may be a name. */
static bool take_help(struct weir_args *args, bool last)
{
	const char *word = weir_args_peek(args);

	if (args->exact || !word || strcmp(word, "help") || (last && args->at != args->count - 1))
		return false;
	weir_args_next(args);
	return true;
}

const struct weir_command *weir_read_command(struct weir_args *args,
					     const struct weir_object *object)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_command *command;
	const struct weir_word *word;
	size_t used = 0;

	for (command = object->commands; command->name; command++) {
		words[used++] = (struct weir_word){ command->name, command, 0, NULL };
		if (command->alias)
			words[used++] = (struct weir_word){ command->alias, command, 0, NULL };
	}
	words[used].name = NULL;
	word = weir_args_pick(args, words);
	return word ? word->is : NULL;
}

static const struct weir_object *read_object(struct weir_args *args)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_object *object;
	const struct weir_word *word;
	size_t used = 0;

	if (weir_args_peek(args) && !strcmp(weir_args_peek(args), "weir")) {
		weir_err_set(args->err, "omit 'weir': a command begins with its object");
		return NULL;
	}
	for (object = weir_objects; object->name; object++)
		words[used++] = (struct weir_word){ object->name, object, 0, NULL };
	words[used].name = NULL;
	word = weir_args_pick(args, words);
	return word ? word->is : NULL;
}

/* Read object and verb; where no verb is, the object's first is meant. */
static int read_verb(struct weir_args *args, struct weir_reading *reading)
{
	while (take_help(args, false))
		reading->help = true;
	if (reading->help && !weir_args_peek(args))
		return 0;
	reading->object = read_object(args);
	if (!reading->object)
		return -EINVAL;
	reading->help |= take_help(args, false);
	if (reading->object->alone || (!weir_args_peek(args) && !args->offer && !reading->help))
		reading->command = reading->object->commands;
	else if (weir_args_peek(args) || !reading->help)
		reading->command = weir_read_command(args, reading->object);
	else
		return 0;
	if (!reading->command)
		return -EINVAL;
	reading->help |= take_help(args, true);
	return 0;
}

int weir_read(struct weir_args *args, struct weir_reading *reading)
{
	static const struct weir_word none = { 0 };

	memset(reading, 0, sizeof(*reading));
	if (read_verb(args, reading))
		return -EINVAL;
	if (!reading->help)
		return weir_parse(args, reading->command->set,
				  reading->command->verb, &reading->model);
	return weir_args_peek(args) && !weir_args_pick(args, &none) ? -EINVAL : 0;
}

static void reached_words(const struct weir_word *words, void *data)
{
	*(bool *)data = true;
}

static void reached_value(const struct weir_field *field, void *data)
{
	*(bool *)data = true;
}

/* Help where more words are wanted; what precedes it must be good. */
static int read_help(struct weir_args *args, struct weir_reading *reading)
{
	bool reached = false;
	const struct weir_offer offer = { reached_words, reached_value, &reached };

	args->at = 0;
	args->count--;
	args->offer = &offer;
	reading->help = !weir_read(args, reading) || reached;
	return reading->help ? 0 : -EINVAL;
}

/* An option has come after the command: say where it belongs. */
static void blame_option(const struct weir_args *args)
{
	int i;

	for (i = 1; i < args->count; i++) {
		if (!weir_option_is(args->words[i]))
			continue;
		weir_err_set(args->err, "options precede the object: weir %.60s %.60s ...",
			     args->words[i], args->words[0]);
		return;
	}
}

static void show_help(const struct weir_reading *reading, FILE *to)
{
	if (reading->command)
		weir_help_command(to, reading->object, reading->command);
	else if (reading->object)
		weir_help_object(to, reading->object);
	else
		weir_help(to);
}

static int run_command(struct weir_tool *tool, struct weir_reading *reading)
{
	const struct weir_command *command = reading->command;
	int status;

	if (command->set == &weir_limit_fields)
		tool->limit = reading->model.limit.name;
	status = tool->check ? WEIR_EXIT_OK : weir_tool_reach(tool);
	if (!status && !tool->check)
		status = command->run(tool, command, &reading->model);
	/* of a limit that was made its own command says it */
	if (command->note && (tool->check || !tool->limit) &&
	    (!status || command->verb == WEIR_ON_GET))
		command->note(tool, &reading->model);
	weir_note_warned(tool);
	tool->limit = NULL;
	return status;
}

static void complain(struct weir_tool *tool, int status, const struct weir_reading *reading)
{
	const struct weir_object *object = reading->object;
	const char *verb = reading->command && !object->alone ? reading->command->name : NULL;
	char what[64];

	if (!object || status == WEIR_EXIT_UNREACHABLE)
		return weir_complain(tool, NULL);
	snprintf(what, sizeof(what), "%s%s%s", object->name, verb ? " " : "", verb ? verb : "");
	weir_complain(tool, what);
}

int weir_run_words(struct weir_tool *tool, char **words, int count, bool exact)
{
	struct weir_args args = { .words = words, .count = count,
				  .exact = exact, .err = &tool->err };
	bool ends = !exact && !strcmp(words[count - 1], "help");
	struct weir_reading reading;
	int ret = weir_read(&args, &reading), status = WEIR_EXIT_WORDS;

	if (ret && ends)
		ret = read_help(&args, &reading);
	if (ret)
		blame_option(&args);
	else if (reading.help)
		show_help(&reading, tool->out.to);
	if (!ret)
		status = reading.help ? WEIR_EXIT_OK : run_command(tool, &reading);
	if (status && status != WEIR_EXIT_INTERRUPTED)
		complain(tool, status, &reading);
	return status;
}
