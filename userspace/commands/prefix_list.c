// SPDX-License-Identifier: GPL-2.0-or-later
/* weir prefix-list add, set and del: the prefixes may come from a file. */

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"

static int add_prefix(struct weir_tool *tool, struct weir_list_change *change, const char *text)
{
	struct weir_args args = { .exact = true, .err = &tool->err };

	if (change->member_count == WEIR_LIST_PREFIXES_MAX)
		return weir_err_set(&tool->err, "more than %d prefixes", WEIR_LIST_PREFIXES_MAX);
	change->member[change->member_count].line = tool->line;
	return weir_parse_member(weir_list_fields.fields + 1, &args, text,
				 &change->member[change->member_count++]);
}

static int add_word(struct weir_tool *tool, struct weir_list_change *change, char *word)
{
	const char *text;

	while ((text = strsep(&word, ",")))
		if (*text && add_prefix(tool, change, text))
			return -EINVAL;
	return 0;
}

/* Add the prefixes of all lines, or print what is wrong with the first invalid one. */
static int read_lines(struct weir_tool *tool, struct weir_lines *lines,
		      struct weir_list_change *change)
{
	char *comment;
	int ret, i;

	while ((ret = weir_lines_next(lines, &tool->err)) > 0) {
		tool->line = lines->line;
		for (i = 0, comment = NULL; i < lines->count && !comment; i++) {
			comment = strchr(lines->words[i], ';');
			if (comment)
				*comment = '\0';
			if (!add_word(tool, change, lines->words[i]))
				continue;
			weir_lines_point(lines, i, tool);
			return -EINVAL;
		}
	}
	tool->line = lines->line;
	return ret;
}

static int read_file(struct weir_tool *tool, const char *path, struct weir_list_change *change)
{
	struct weir_site site = weir_site_enter(tool, path);
	struct weir_lines lines;
	int ret;

	ret = weir_lines_open(&lines, path, &tool->err);
	if (!ret)
		ret = read_lines(tool, &lines, change);
	if (ret)
		weir_complain(tool, NULL);
	weir_lines_close(&lines);
	weir_site_leave(tool, site);
	if (ret)
		return weir_err_set(&tool->err, "file: nothing was changed, as %.200s is not read as prefixes and comments",
				    path);
	return change->member_count ? 0 :
	       weir_err_set(&tool->err, "file: %.200s has no prefixes", path);
}

/* What is in force, and what it would be: all but the lists is shared. */
struct foreseen {
	struct weir_config *config;	/* or NULL: that cannot be known */
	struct weir_config was;
};

static void foresee(struct foreseen *then, struct weir_config *there,
		    const struct weir_list_change *change, unsigned int verb)
{
	struct weir_list *lists = NULL;
	struct weir_err err;
	size_t size;

	*then = (struct foreseen){ .config = NULL };
	if (!there)
		return;
	weir_config_sort(there);
	size = there->list_count * sizeof(*there->lists);
	lists = malloc(size + 1);
	if (!lists)
		return;
	if (size)
		memcpy(lists, there->lists, size);
	then->was = *there;
	then->was.lists = lists;
	if (!weir_lists_change(there, change, verb, &err))
		then->config = there;
}

/* Say what follows from the change: also of limits of other lists, with which it has customers. */
static void note_change(struct weir_tool *tool, struct foreseen *then, const char *name)
{
	const struct weir_config *config = then->config;
	const struct weir_limit *limit;

	if (tool->check)
		weir_note_list(tool, &then->was, config, name);
	weir_note_lost(tool, &then->was, config);
	weir_warn_freed(tool, &then->was, then->config);
	for (limit = config->limits; limit < config->limits + config->limit_count; limit++)
		weir_note_lists(tool, config, limit);
}

/* The module says that a prefix does not suit a limit, but not which one. */
static void say_limit(struct weir_tool *tool, const struct weir_config *config, const char *list)
{
	const struct weir_limit *limit;
	const struct weir_member *member;
	const struct weir_field *field;
	unsigned int next;
	struct weir_err err;

	for (limit = config->limits; limit < config->limits + config->limit_count; limit++) {
		next = 0;
		if (strcmp(limit->budgets_by, list) ||
		    !weir_lists_check_limit(config, limit, &next, &field, &member, &err) || !member)
			continue;
		if (member->line)
			weir_err_set(&tool->err, "line %u: %.400s", member->line, err.text);
		else
			weir_err_set(&tool->err, "%.400s", err.text);
		return;
	}
}

/* The module says that a limit uses the list, but not which one. */
static void say_use(struct weir_tool *tool, const struct weir_config *config, const char *list)
{
	const struct weir_limit *limit;

	for (limit = config->limits; limit < config->limits + config->limit_count; limit++) {
		if (strcmp(limit->match.from_list, list) && strcmp(limit->match.to_list, list) &&
		    strcmp(limit->budgets_by, list))
			continue;
		weir_err_set(&tool->err, "limit '%s' uses the list; change or delete the limit first",
			     limit->name);
		return;
	}
}

static int send_change(struct weir_tool *tool, const struct weir_command *command,
		       struct weir_list_change *change, struct foreseen *then)
{
	struct weir_request request = weir_request_of(command, change);
	char buf[WEIR_TEXT_SIZE];
	int status;

	request.set = &weir_list_change_fields;
	weir_nl_ask(&tool->nl, &request);
	status = weir_tool_settle(tool, &request, command->allowed);
	if (status && request.fault_type == WEIR_A_PREFIX_LIST_PREFIX &&
	    request.fault_item < change->member_count)
		weir_err_set(&tool->err, "%s: %.400s",
			     weir_text_member(NULL, &change->member[request.fault_item], buf),
			     tool->nl.err.text);
	else if (status && request.ret == -EBUSY)
		say_use(tool, &then->was, change->name);
	if (then->config && (request.ret == -EINVAL || request.ret == -ERANGE))
		say_limit(tool, then->config, change->name);
	else if (then->config && !status)
		note_change(tool, then, change->name);
	return status;
}

static int change_list(struct weir_tool *tool, const struct weir_command *command,
		       const struct weir_list *list, struct weir_list_change *change)
{
	struct foreseen then;
	int status;

	memcpy(change->name, list->name, sizeof(change->name));
	change->check = tool->check;
	change->member_count = list->member_count;
	memcpy(change->member, list->member, sizeof(list->member));
	if (list->file && read_file(tool, list->file, change))
		return WEIR_EXIT_WORDS;
	if (tool->check && (!tool->reached || tool->batch))
		return WEIR_EXIT_OK;
	foresee(&then, weir_there(tool, WEIR_GET_ALL | WEIR_GET_STATS), change, command->verb);
	status = send_change(tool, command, change, &then);
	free(then.was.lists);
	return status;
}

int weir_list_run(struct weir_tool *tool, const struct weir_command *command,
		  union weir_model *model)
{
	struct weir_list_change *change = calloc(1, sizeof(*change));
	int status = WEIR_EXIT_UNREACHABLE;

	if (change)
		status = change_list(tool, command, &model->list, change);
	else
		weir_err_set(&tool->err, WEIR_NO_MEMORY);
	free(change);
	return status;
}

int weir_list_show(struct weir_tool *tool, const struct weir_command *command,
		   union weir_model *model)
{
	const struct weir_config *there = tool->out.brief ? weir_there(tool, WEIR_GET_ALL) : NULL;
	const struct weir_list *list, *end = there ? there->lists + there->list_count : NULL;
	const char *name = model->list.name;
	unsigned int count = 0;

	if (!there || tool->out.json || (*name && !weir_lists_have(there, name)))
		return weir_run_show(tool, command, model);
	for (list = there->lists; list < end; list++) {
		count += list->member_count;
		if (list + 1 < end && !strcmp(list[0].name, list[1].name))
			continue;
		if (!*name || !strcmp(list->name, name))
			weir_out_text(&tool->out, "%s prefixes %u\n", list->name, count);
		count = 0;
	}
	return WEIR_EXIT_OK;
}
