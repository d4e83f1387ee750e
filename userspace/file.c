// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -file: a whole configuration, applied at once or not at all. */

#include <string.h>

#include "config.h"
#include "lines.h"
#include "tool.h"

/* What may stand in a configuration. */
static const struct line_kind {
	const char *object, *verb;
	const struct weir_command *commands;
} kinds[] = {
	{ "limit", "add", weir_limit_commands },
	{ "exempt", "add", weir_exempt_commands },
	{ 0 }
};

/* So many bad lines are enough to say. */
#define BAD_LINES	16

/* The command of a line, or NULL with a sentence. */
static const struct weir_command *line_command(struct weir_tool *tool,
					       const struct weir_lines *lines)
{
	const char *verb = lines->count > 1 ? lines->words[1] : "";
	const struct weir_object *object;
	const void *row = NULL;
	size_t i;

	for (i = 0; kinds[i].object; i++) {
		if (!strcmp(kinds[i].object, lines->words[0]) &&
		    !strcmp(kinds[i].verb, verb))
			return weir_pick(kinds[i].commands,
					 sizeof(*kinds[i].commands), verb,
					 true, NULL, &tool->err);
	}
	if (weir_match(weir_objects, sizeof(*weir_objects), lines->words[0],
		       true, NULL, &row) != 1) {
		weir_pick_object(kinds, sizeof(*kinds), lines->words[0], true,
				 &tool->err);
		return NULL;
	}
	object = row;
	if (!strcmp(verb, "a") || !strcmp(verb, "ad"))
		weir_err_set(&tool->err, "'%s %s' is short for '%s add'; words of a file are written out",
			     object->name, verb, object->name);
	else
		weir_err_set(&tool->err, "'%s%s%.40s' does not make a configuration; limit add and exempt add do",
			     object->name, *verb ? " " : "", verb);
	return NULL;
}

static int add_item(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model, struct weir_config *config)
{
	if (command->model == WEIR_MODEL_LIMIT) {
		model->limit.line = tool->line;
		return weir_config_add_limit(config, &model->limit, &tool->err);
	}
	model->exempt.line = tool->line;
	return weir_config_add_exempt(config, &model->exempt, &tool->err);
}

/* Read a line; behind a bad one its words alone are judged. */
static int read_item(struct weir_tool *tool, struct weir_lines *lines,
		     struct weir_config *config, bool bad)
{
	struct weir_args args = { .words = lines->words, .count = lines->count,
				  .at = 2, .exact = true };
	const struct weir_command *command = line_command(tool, lines);
	struct weir_err inner;
	union weir_model model;

	if (!command)
		return WEIR_EXIT_WORDS;
	if (!weir_parse_words(tool, command, &args, &model) &&
	    (bad || !add_item(tool, command, &model, config)))
		return WEIR_EXIT_OK;
	inner = tool->err;
	weir_err_set(&tool->err, "%s %s: %.400s", lines->words[0],
		     lines->words[1], inner.text);
	return WEIR_EXIT_WORDS;
}

/* An empty file is a lost one; who wants nothing says so in a comment. */
static int check_empty(struct weir_tool *tool, const struct weir_lines *lines)
{
	if (lines->bytes)
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "the file is empty; a comment alone makes an empty configuration");
	return WEIR_EXIT_WORDS;
}

/* Say that a line is bad; whether there have been enough of them. */
static int count_bad(struct weir_tool *tool, unsigned int *bad)
{
	weir_complain(tool, NULL);
	if (++*bad < BAD_LINES)
		return WEIR_EXIT_OK;
	tool->line = 0;
	weir_err_set(&tool->err, "%d bad lines; what follows them was not read",
		     BAD_LINES);
	return WEIR_EXIT_WORDS;
}

/* Read the whole file and say what is wrong. */
static int read_config(struct weir_tool *tool, const char *path,
		       struct weir_config *config)
{
	struct weir_lines lines;
	unsigned int bad = 0;
	int status, ret;

	status = weir_lines_open(&lines, path, &tool->err) ? WEIR_EXIT_WORDS :
							     WEIR_EXIT_OK;
	while (!status) {
		ret = weir_lines_next(&lines, &tool->err);
		tool->line = ret ? lines.line : 0;
		if (ret < 0)
			status = WEIR_EXIT_WORDS;
		else if (!ret)
			break;
		else if (read_item(tool, &lines, config, bad))
			status = count_bad(tool, &bad);
	}
	if (!status)
		status = check_empty(tool, &lines);
	if (!status && !bad &&
	    weir_config_check(config, &tool->line, &tool->err))
		status = WEIR_EXIT_WORDS;
	weir_lines_close(&lines);
	if (status)
		weir_complain(tool, NULL);
	return bad ? WEIR_EXIT_WORDS : status;
}

static bool spared_by_file(const struct weir_config *config,
			   const struct weir_ssh *ssh, const char *limit)
{
	unsigned int i;

	for (i = 0; i < config->exempt_count; i++) {
		if (weir_ssh_spared(ssh, &config->exempts[i], limit))
			return true;
	}
	return false;
}

static void note_own_ssh(struct weir_tool *tool,
			 const struct weir_config *config)
{
	const struct weir_limit *limit;
	struct weir_ssh ssh;
	unsigned int i;

	if (tool->elsewhere || !weir_ssh_find(&ssh))
		return;
	for (i = 0; i < config->limit_count; i++) {
		limit = &config->limits[i];
		if (limit->action != WEIR_ACTION_DROP ||
		    !weir_ssh_meets(&ssh, limit) ||
		    spared_by_file(config, &ssh, limit->name))
			continue;
		tool->line = limit->line;
		weir_note_ssh(tool, &ssh, limit->name);
		return;
	}
}

/* What is worth saying of a configuration that is good. */
static void note_items(struct weir_tool *tool, const struct weir_config *config)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++) {
		tool->line = config->limits[i].line;
		weir_note_limit(tool, &config->limits[i]);
	}
	for (i = 0; i < config->exempt_count; i++) {
		tool->line = config->exempts[i].line;
		weir_note_dev(tool, config->exempts[i].dev);
	}
	note_own_ssh(tool, config);
	weir_notes_end(tool);
}

static int apply(struct weir_tool *tool, const struct weir_config *config)
{
	int status, ret;

	tool->line = 0;
	status = weir_tool_reach(tool);
	if (!status) {
		tool->config = config;
		ret = weir_nl_replace(tool->nl, config, &tool->line);
		tool->config = NULL;
		status = weir_tool_settle(tool, ret, 0);
	}
	if (status)
		weir_complain(tool, NULL);
	return status;
}

/**
 * weir_apply_file - replace the configuration by a file's
 * @tool: the run; its check has nothing applied
 * @path: the file; "-" is stdin
 *
 * Return: an enum weir_exit; where it is not WEIR_EXIT_OK nothing changed.
 */
int weir_apply_file(struct weir_tool *tool, const char *path)
{
	struct weir_config config = { 0 };
	int status;

	tool->file = path;
	status = read_config(tool, path, &config);
	if (!status && !tool->check)
		status = apply(tool, &config);
	if (!status)
		note_items(tool, &config);
	weir_config_free(&config);
	return status;
}
