// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse a command, run it, return the exit status. */

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"

static const struct weir_word *command_words(const struct weir_object *object,
					     struct weir_word words[WEIR_WORDS_MAX])
{
	const struct weir_command *command;
	size_t used = 0;

	for (command = object->commands; command->name; command++) {
		words[used++] = (struct weir_word){ command->name, command, 0, NULL };
		if (command->alias)
			words[used++] = (struct weir_word){ command->alias, command, 0, NULL };
	}
	words[used].name = NULL;
	return words;
}

/* For a command without an object, list the objects that have it. */
static void blame_verb(const char *token, struct weir_err *err)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_command *command;
	const struct weir_object *object;
	const struct weir_word *word;
	struct weir_err unused;
	char list[128] = "";

	for (object = weir_objects; token && object->name; object++) {
		word = object->alone ? NULL :
		       weir_pick(command_words(object, words), token, true, "word", &unused);
		command = word ? word->is : NULL;
		if (command && weir_append(list, sizeof(list), ", ", object->name))
			weir_append(list, sizeof(list), " ", command->name);
	}
	if (*list)
		weir_err_set(err, "'%s' requires an object: %s", token, list);
}

/* For a word that other tools take with a file, or of a file, name the option. */
static bool blame_file(const char *token, const char *file, struct weir_err *err)
{
	bool check = token && !strcmp(token, "check");

	if (token && !strcmp(token, "include")) {
		weir_err_set(err, "'include' is for a file that 'weir -file' reads");
		return true;
	}
	if (!token || !(check || weir_word_among("apply load reload import file", token)))
		return false;
	file = file && !strcmp(file, "-file") ? NULL : file;
	weir_err_set(err, "use 'weir %s-file %.200s'", check ? "-check " : "",
		     file ? file : "FILE");
	return true;
}

static const struct weir_object *read_object(struct weir_args *args)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_object *object;
	const char *token = weir_args_peek(args);
	const struct weir_word *word;
	size_t used = 0;

	for (object = weir_objects; object->name; object++)
		words[used++] = (struct weir_word){ object->name, object, 0, NULL };
	words[used].name = NULL;
	word = weir_args_pick(args, words);
	if (word)
		return word->is;
	if (token && !strcmp(token, "weir"))
		weir_err_set(args->err, "omit 'weir': a command begins with its object");
	else if (token && !args->exact && !access(token, F_OK))
		weir_err_set(args->err, "'%.60s' is a file; use '-file %.200s'", token, token);
	else if (!blame_file(token, weir_args_peek(args), args->err))
		blame_verb(token, args->err);
	return NULL;
}

/* Of an object whose first command has no verb, take the word of another one, if it is next. */
static const struct weir_command *read_other(const struct weir_object *object,
					     struct weir_args *args)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const char *token = weir_args_peek(args);
	const struct weir_word *others = command_words(object, words) + 1, *word;

	word = token ? weir_word_find(others, token) : NULL;
	if (word)
		weir_args_next(args);
	else if (!token && others->name)
		weir_args_offer(args, others, NULL);
	return word ? word->is : object->commands;
}

/* For an address instead of a verb, name one. */
static void blame_address(const struct weir_object *object, const char *token,
			  struct weir_err *err)
{
	static const char objects[] = "source exempt block";

	if ((isdigit((unsigned char)*token) || strchr(token, ':')) &&
	    weir_word_among(objects, object->name))
		weir_err_set(err, "write '%s %s %.60s'", object->name,
			     *object->name == 's' ? "get" : "add", token);
}

int weir_read(struct weir_args *args, struct weir_reading *reading)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_word *word;

	memset(reading, 0, sizeof(*reading));
	reading->object = read_object(args);
	if (!reading->object)
		return -EINVAL;
	/* the default is the object's first command */
	reading->command = reading->object->alone ? read_other(reading->object, args) :
			   reading->object->commands;
	if (!reading->object->alone && (weir_args_peek(args) || args->offer)) {
		word = weir_args_pick(args, command_words(reading->object, words));
		reading->command = word ? word->is : NULL;
		if (!word && args->fault == 1)
			blame_address(reading->object, args->words[1], args->err);
	}
	if (!reading->command)
		return -EINVAL;
	return weir_parse(args, reading->command->set, reading->command->verb, &reading->model) ?:
	       weir_check(args, reading->command->set, reading->command->verb, &reading->model);
}

/* "help", -h, -help, --help */
static bool is_help(const char *word)
{
	const char *name = word + strspn(word, "-");

	return !strcmp(name, "help") || (name > word && !strcmp(name, "h"));
}

bool weir_take_help(char **words, int *count)
{
	bool help = false;
	int i;

	for (i = 0; i < *count; i++) {
		if (!is_help(words[i]) || (i > 1 && i < *count - 1))
			continue;
		memmove(&words[i], &words[i + 1], (--*count - i) * sizeof(*words));
		help = true;
		i--;
	}
	return help;
}

static void reach(const struct weir_word *words, const struct weir_field *value, void *data)
{
	*(bool *)data = true;
}

/* Show help for the words so far, which must be valid but may be incomplete. */
static int show_help(struct weir_args *args, struct weir_reading *reading, FILE *to)
{
	bool reached = !args->count;

	args->offer = reach;
	args->data = &reached;
	if (args->count && weir_read(args, reading) && !reached)
		return reading->object ? -EINVAL :
		       weir_err_set(args->err, "%.300s; 'help limit add' has the words of a limit",
				    args->err->text);
	if (reading->command)
		weir_help_command(to, reading->object, reading->command);
	else if (reading->object)
		weir_help_object(to, reading->object);
	else
		weir_help(to);
	return 0;
}

/* Explain an option after the object. */
static void blame_option(struct weir_args *args)
{
	const char *next = args->fault > 0 && args->fault + 1 < args->count ?
			   args->words[args->fault + 1] : "";

	/* -j DROP is no option */
	if (args->fault > 0 && weir_option_is(args->words[args->fault]) &&
	    !isupper((unsigned char)*next))
		weir_err_set(args->err, !strcmp(args->words[0], "prefix-list") &&
			     !strcmp(args->words[args->fault], "-file") ?
			     "the prefixes of a file are those of 'file FILE', without a dash" :
			     !strcmp(args->words[0], "top") && args->words[args->fault][1] != 'j' ?
			     "for screens as text write 'weir top count N'" :
			     "options precede the object: weir %.60s %.60s ...",
			     args->words[args->fault], args->words[0]);
}

/* A command takes one prefix: say how those of a file are given. */
static void blame_prefix(struct weir_args *args, const struct weir_reading *reading)
{
	const char *text = args->fault == 2 ? args->words[2] : "";
	bool list = weir_word_among("list from-list to-list prefix-list", text);
	bool file = !list && !access(text, F_OK);
	bool cond = weir_word_among("to to-list proto tcp udp sport dport syn icmp mark", text);
	char name[256];

	if (!*text || !args->err->unknown || args->exact ||
	    !weir_command_exempts(reading->command) || reading->command->verb == WEIR_ON_GET ||
	    (!file && (isdigit((unsigned char)*text) || strchr(text, ':'))))
		return;
	if (!strcmp(text, "dev")) {
		weir_err_set(args->err, "a device needs a prefix: 0.0.0.0/0 dev IFACE, and ::/0 dev IFACE");
		return;
	}
	if (cond) {
		weir_err_set(args->err, "this is of sources; a limit leaves packets out by 'not %s ...'",
			     text);
		return;
	}
	if (list)
		strcpy(name, "weir -j prefix-list show NAME | jq -r '.[].prefixes[]' | sed 's/=.*//; ");
	else
		snprintf(name, sizeof(name), WEIR_SED_PREFIXES, file ? text : "FILE");
	weir_err_set(args->err, "'%.60s' is no prefix%s; for those of a %s: %ss/^/%s %s /' | weir -exist -batch -",
		     text, list || file ? "" : ", and names are not resolved",
		     list ? "list" : "file", name, reading->object->name, reading->command->name);
}

/* With -check, ask the kernel, but not in a batch: earlier lines were not applied. */
static int run_or_check(struct weir_tool *tool, struct weir_reading *reading)
{
	const struct weir_command *command = reading->command;
	bool ask = tool->reached && !tool->batch;

	if (!tool->check || command->compares || command->run == weir_list_run ||
	    (ask && command->checks))
		return command->run(tool, command, &reading->model);
	return ask ? weir_check_names(tool, command, &reading->model) : WEIR_EXIT_OK;
}

static int run_command(struct weir_tool *tool, struct weir_reading *reading)
{
	const struct weir_command *command = reading->command;
	int status;

	if (command->reaches)
		return command->run(tool, command, &reading->model);
	tool->loads = command->loads;
	status = weir_tool_reach(tool);
	if (status && command->absent && tool->missing)
		status = WEIR_EXIT_OK;
	if (command->set == &weir_limit_fields)
		tool->limit = reading->model.limit.name;
	if (tool->check) {
		if (status || tool->batch)
			weir_note_unasked(tool, status ? tool->err.text :
					  "a line of a batch may need those before it");
		status = WEIR_EXIT_OK;
	}
	if (!status && command->warn)
		command->warn(tool, &reading->model);
	if (!status)
		status = run_or_check(tool, reading);
	/* weir_limit_change() prints its own note */
	if (command->note && (tool->check || !tool->limit) &&
	    (!status || command->verb == WEIR_ON_GET))
		command->note(tool, &reading->model);
	tool->limit = NULL;
	return status;
}

/* A command of its own is a change that waits to be confirmed if that is wanted. */
static int run_confirmed(struct weir_tool *tool, struct weir_reading *reading, char **words,
			 int count)
{
	const struct weir_command *command = reading->command;
	int status;

	if (command->changes && !tool->batch)
		weir_warn_pending(tool, command->drops);
	if (!tool->confirm || tool->batch)
		return run_command(tool, reading);
	if (!command->changes) {
		weir_err_set(&tool->err, "there is nothing to take back: '-confirm' is for changes of the configuration, its sources and early drops");
		return WEIR_EXIT_WORDS;
	}
	if (tool->check)
		return run_command(tool, reading);
	status = weir_confirm_begin(tool, words, count);
	if (status)
		return status;
	return weir_confirm_end(tool, run_command(tool, reading), command->run == weir_restore);
}

static void complain(struct weir_tool *tool, int status, const struct weir_reading *reading)
{
	const struct weir_object *object = reading->object;
	const char *verb;
	char what[64];

	if (!object || status == WEIR_EXIT_UNREACHABLE)
		return weir_complain(tool, NULL);
	verb = reading->command ? weir_verb_of(object, reading->command) : NULL;
	snprintf(what, sizeof(what), "%s%s%s", object->name, verb ? " " : "", verb ? verb : "");
	weir_complain(tool, what);
}

/* What differs is status 1, as it is of diff(1), and an error 2. A batch goes on. */
static int status_of(int status, const struct weir_command *command, bool batch)
{
	if (!command || !command->compares)
		return status;
	return status == WEIR_EXIT_DIFFERS ? !batch :
	       status == WEIR_EXIT_WORDS ? WEIR_EXIT_REFUSED : status;
}

int weir_run_words(struct weir_tool *tool, char **words, int count, const struct weir_lines *lines)
{
	bool help = !lines && (weir_take_help(words, &count) || tool->help);
	struct weir_args args = { .words = words, .count = count,
				  .exact = lines, .err = &tool->err };
	struct weir_reading reading = { 0 };
	int status = WEIR_EXIT_WORDS;

	if (help ? show_help(&args, &reading, tool->out.to) : weir_read(&args, &reading)) {
		blame_option(&args);
		if (reading.command)
			blame_prefix(&args, &reading);
	} else {
		status = help ? WEIR_EXIT_OK : run_confirmed(tool, &reading, words, count);
	}
	if (lines && status == WEIR_EXIT_WORDS)
		weir_lines_point(lines, args.fault, tool);
	if (status > 0)
		complain(tool, status, &reading);
	return status_of(status, reading.command, lines);
}
