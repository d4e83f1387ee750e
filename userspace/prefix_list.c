// SPDX-License-Identifier: GPL-2.0-or-later
/* weir prefix-list add, set and del: the prefixes may come from a file. */

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "value.h"

static int add_prefix(struct weir_tool *tool, struct weir_list_change *change, const char *text)
{
	struct weir_args args = { .exact = true, .err = &tool->err };

	if (change->prefix_count == WEIR_LIST_PREFIXES_MAX)
		return weir_err_set(&tool->err, "more than %d prefixes", WEIR_LIST_PREFIXES_MAX);
	return weir_parse_prefix(weir_list_fields.fields + 1, &args, text,
				 &change->prefix[change->prefix_count++]);
}

/* Add the prefixes of all lines, or print what is wrong with the first invalid one. */
static int read_lines(struct weir_tool *tool, struct weir_lines *lines,
		      struct weir_list_change *change)
{
	int ret, i;

	while ((ret = weir_lines_next(lines, &tool->err)) > 0) {
		for (i = 0; i < lines->count; i++) {
			if (!add_prefix(tool, change, lines->words[i]))
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

	ret = weir_lines_open(&lines, path, false, &tool->err);
	if (!ret)
		ret = read_lines(tool, &lines, change);
	if (ret)
		weir_complain(tool, NULL);
	weir_lines_close(&lines);
	weir_site_leave(tool, site);
	if (ret)
		return weir_err_set(&tool->err, "file: %.200s is invalid; nothing was changed",
				    path);
	return change->prefix_count ? 0 :
	       weir_err_set(&tool->err, "file: %.200s has no prefixes", path);
}

struct use {
	const char *list;
	char limit[WEIR_NAME_SIZE];	/* the first that uses it */
};

static int find_use(const void *model, void *data)
{
	const struct weir_limit *limit = model;
	struct use *use = data;

	if (!*use->limit && (!strcmp(limit->match.from_list, use->list) ||
			     !strcmp(limit->match.to_list, use->list)))
		memcpy(use->limit, limit->name, sizeof(use->limit));
	return 0;
}

/* The module says that a limit uses the list, but not which one. */
static void say_use(struct weir_tool *tool, const char *list)
{
	struct use use = { .list = list };
	struct weir_request get = {
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP, .reply_set = &weir_limit_fields,
		.reply = find_use, .data = &use,
	};

	weir_nl_ask(&tool->nl, &get);
	if (*use.limit)
		weir_err_set(&tool->err, "limit '%s' uses the list; change or delete the limit first",
			     use.limit);
}

static int change_list(struct weir_tool *tool, const struct weir_command *command,
		       const struct weir_list *list, struct weir_list_change *change)
{
	struct weir_request request = weir_request_of(command, change);
	char buf[WEIR_TEXT_SIZE];
	int status;

	memcpy(change->name, list->name, sizeof(change->name));
	change->check = tool->check;
	change->prefix_count = list->prefix_count;
	memcpy(change->prefix, list->prefix, sizeof(list->prefix));
	if (list->file && read_file(tool, list->file, change))
		return WEIR_EXIT_WORDS;
	request.set = &weir_list_change_fields;
	weir_nl_ask(&tool->nl, &request);
	status = weir_tool_settle(tool, &request, command->allowed);
	if (status && request.fault_type == WEIR_A_PREFIX_LIST_PREFIX &&
	    request.fault_item < change->prefix_count)
		weir_err_set(&tool->err, "%s: %.400s",
			     weir_text_prefix(NULL, &change->prefix[request.fault_item], buf),
			     tool->nl.err.text);
	else if (status && request.ret == -EBUSY)
		say_use(tool, list->name);
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
