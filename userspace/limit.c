// SPDX-License-Identifier: GPL-2.0-or-later
/* weir limit: add, set and show. */

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

#include "config.h"
#include "tool.h"

static void show_one(struct weir_tool *tool, const struct weir_limit *limit)
{
	weir_out_begin(&tool->out, NULL, '[');
	weir_show_limit(&tool->out, limit);
	weir_out_end(&tool->out, ']');
}

/* Whether the peer of the ssh connection is exempt from the limit as it is. */
static bool is_spared(struct weir_tool *tool, const struct weir_ssh *ssh, const char *limit)
{
	struct weir_exempt asked = { .prefix = ssh->peer };
	struct weir_request request = {
		.cmd = WEIR_CMD_EXEMPT_GET, .set = &weir_exempt_fields,
		.verb = WEIR_ON_GET, .model = &asked,
	};

	strcpy(asked.dev, ssh->dev);
	strcpy(asked.limit, limit);
	return !weir_nl_ask(&tool->nl, &request);
}

static void note_own_ssh(struct weir_tool *tool, const struct weir_limit *limit)
{
	struct weir_ssh ssh;

	if (tool->elsewhere || limit->action != WEIR_ACTION_DROP)
		return;
	if (weir_ssh_find(&ssh) && weir_ssh_meets(&ssh, limit) &&
	    !is_spared(tool, &ssh, limit->name))
		weir_note_ssh(tool, &ssh, limit->name);
}

/* Send a limit, and show what was made of it. */
static int change(struct weir_tool *tool, const struct weir_command *command,
		  const struct weir_limit *limit, struct weir_limit *made)
{
	struct weir_request request = weir_request_of(command, limit);
	int status;

	request.flags = NLM_F_ECHO;
	request.into = made;
	weir_nl_ask(&tool->nl, &request);
	status = weir_tool_settle(tool, &request, 0);
	if (status)
		return tool->exist && request.ret == -EEXIST ? -EEXIST : status;
	show_one(tool, made);
	if (limit->has & WEIR_HAS(LIMIT_MATCH) || command->verb == WEIR_ON_ADD)
		weir_note_limit(tool, made);
	note_own_ssh(tool, made);
	return WEIR_EXIT_OK;
}

/* Where in the order of limits two of them stand. */
struct order {
	const char *name, *before;
	unsigned int count, place, limit;
};

static int find_order(const void *model, void *data)
{
	const struct weir_limit *limit = model;
	struct order *order = data;

	order->count++;
	if (!strcmp(limit->name, order->name))
		order->place = order->count;
	if (!strcmp(limit->name, order->before))
		order->limit = order->count;
	return 0;
}

/*
 * -exist: one that is as it was to be made is good; one that is not stays, and
 * that is a failure.
 */
static int add_existing(struct weir_tool *tool, const struct weir_limit *limit)
{
	struct order order = { .name = limit->name, .before = limit->before };
	struct weir_request walk = {
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP,
		.told = &weir_limit_fields, .reply = find_order, .data = &order,
	}, get;
	char differs[WEIR_DIFFERS_SIZE];
	struct weir_limit there = { 0 };
	int status;

	weir_get_limit(tool, limit->name, &there, &get);
	status = weir_tool_settle(tool, &get, 0);
	if (!status && *limit->before) {
		weir_nl_ask(&tool->nl, &walk);
		status = weir_tool_settle(tool, &walk, 0);
	}
	if (status)
		return status;
	if (!weir_limit_differs(limit, &there, differs) && *limit->before &&
	    (!order.limit || order.place > order.limit))
		snprintf(differs, sizeof(differs), "before");
	if (!*differs) {
		show_one(tool, &there);
		return WEIR_EXIT_OK;
	}
	weir_err_set(&tool->err, "limit '%s' exists and differs in %s; nothing was changed (use 'limit set')",
		     limit->name, differs);
	return WEIR_EXIT_REFUSED;
}

int weir_limit_add(struct weir_tool *tool, const struct weir_command *command,
		   union weir_model *model)
{
	struct weir_limit made = { 0 };
	int status = change(tool, command, &model->limit, &made);

	return status == -EEXIST ? add_existing(tool, &model->limit) : status;
}

int weir_limit_set(struct weir_tool *tool, const struct weir_command *command,
		   union weir_model *model)
{
	struct weir_limit made = { 0 };

	return change(tool, command, &model->limit, &made);
}

int weir_limit_show(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	struct weir_command show = *command;

	model->limit.want_stats = tool->stats;
	if (!*model->limit.name)
		show.flags = NLM_F_DUMP;
	return weir_run_show(tool, &show, model);
}
