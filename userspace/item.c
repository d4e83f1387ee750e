// SPDX-License-Identifier: GPL-2.0-or-later
/* The items of a configuration file, and how many of them are invalid. */

#include <errno.h>
#include <string.h>

#include "config.h"
#include "tool.h"

/* Report a command that a configuration cannot contain. */
static int blame_line(struct weir_tool *tool, char **words, int count)
{
	const char *verb = count > 1 ? words[1] : "";

	if (!strcmp(verb, "a") || !strcmp(verb, "ad"))
		return weir_err_set(&tool->err, WEIR_ABBREVIATES, verb, "add");
	return weir_err_set(&tool->err, "'%.60s%s%.40s' cannot be used here; expected 'limit add', 'exempt add', 'block add', 'prefix-list add', 'early dev', 'define' or 'include'",
			    words[0], *verb ? " " : "", verb);
}

/* Add an item; args->fault is the word at fault. */
static int add_item(struct weir_tool *tool, struct weir_reading *reading,
		    struct weir_config *config, struct weir_args *args)
{
	union weir_model *model = &reading->model;
	int ret;

	args->fault = 2;
	if (reading->command->set == &weir_limit_fields) {
		model->limit.line = tool->line;
		ret = weir_config_add_limit(config, &model->limit, &tool->err);
		if (ret == -ENOENT)
			weir_args_blame(args, model->limit.before);
		return ret;
	}
	if (weir_command_exempts(reading->command)) {
		model->exempt.line = tool->line;
		return weir_config_add_exempt(config, &model->exempt, &tool->err);
	}
	if (reading->command->set == &weir_list_fields) {
		model->list.line = tool->line;
		if (!model->list.file)
			return weir_config_add_list(config, &model->list, &tool->err);
		weir_args_blame(args, "file");
		return weir_err_set(&tool->err,
				    "file: a file has no other file; 'weir save' writes prefixes");
	}
	model->xdp.line = tool->line;
	weir_args_blame(args, model->xdp.dev);
	return weir_config_add_early(config, &model->xdp, &tool->err);
}

/* A configuration consists of commands that add a limit, an exemption, a list or a device. */
static bool is_item(const struct weir_command *command)
{
	return command && command->verb == WEIR_ON_ADD &&
	       (command->set == &weir_limit_fields || weir_command_exempts(command) ||
		command->set == &weir_list_fields || command->set == &weir_xdp_fields);
}

int weir_read_item(struct weir_tool *tool, char **words, int count,
		   struct weir_config *config, int *fault)
{
	struct weir_args args = { .words = words, .count = count,
				  .exact = true, .err = &tool->err };
	struct weir_reading reading;
	bool alone;
	int ret;

	ret = tool->read(&args, &reading);
	*fault = args.fault;
	config->ended += ret == -ETIME;
	if (ret == -ETIME)
		return 0;
	/* do not suggest objects that a file cannot contain */
	if (!reading.object)
		return tool->err.unknown ? blame_line(tool, words, 1) : -EINVAL;
	alone = reading.object->alone;
	if (!is_item(reading.command) || (!alone && count < 2)) {
		*fault = count > 1 && !alone;
		return blame_line(tool, words, alone ? 1 : count);
	}
	if (!ret) {
		ret = add_item(tool, &reading, config, &args);
		*fault = args.fault;
	}
	if (!ret)
		return 0;
	weir_err_set(&tool->err, "%s%s%s: %.400s", words[0], alone ? "" : " ",
		     alone ? "" : words[1], tool->err.text);
	return ret;
}

bool weir_count_bad(struct weir_tool *tool, struct weir_lines *lines)
{
	weir_complain(tool, NULL);
	if (++lines->bad < WEIR_BAD_LINES)
		return false;
	tool->line = 0;
	weir_err_set(&tool->err, "%d invalid lines; the rest was not checked", WEIR_BAD_LINES);
	weir_complain(tool, NULL);
	return true;
}
