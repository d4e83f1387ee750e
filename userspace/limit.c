// SPDX-License-Identifier: GPL-2.0-or-later
/* weir limit */

#include <errno.h>
#include <string.h>

#include "config.h"
#include "tool.h"

static void show_one(const struct weir_limit *limit)
{
	weir_out_array(NULL);
	weir_show_limit(limit);
	weir_out_array_end();
}

/* Whether the peer of the ssh connection is exempt from the limit as it is. */
static bool is_spared(struct weir_tool *tool, const struct weir_ssh *ssh,
		      const char *limit)
{
	struct weir_exempt asked = { .prefix = ssh->peer }, exempt;

	strcpy(asked.dev, ssh->dev);
	strcpy(asked.limit, limit);
	return !weir_nl_exempt_get(tool->nl, &asked, &exempt);
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

/* What was made, and what is worth knowing of it. */
static void tell_made(struct weir_tool *tool, const struct weir_limit *made,
		      bool match)
{
	show_one(made);
	if (match)
		weir_note_limit(tool, made);
	note_own_ssh(tool, made);
}

/* Where in the order of limits two of them stand. */
struct order {
	const char *name, *before;
	unsigned int count, place, limit;
};

static void find_order(const struct weir_limit *limit, void *data)
{
	struct order *order = data;

	order->count++;
	if (!strcmp(limit->name, order->name))
		order->place = order->count;
	if (!strcmp(limit->name, order->before))
		order->limit = order->count;
}

/*
 * -exist: one that is as it was to be made is good; one that is not stays, and
 * that is a failure.
 */
static int add_existing(struct weir_tool *tool, const struct weir_limit *limit)
{
	struct order order = { .name = limit->name, .before = limit->before };
	char differs[WEIR_DIFFERS_SIZE];
	struct weir_limit there;
	int ret;

	ret = weir_nl_limit_get(tool->nl, limit->name, false, &there);
	if (!ret && *limit->before)
		ret = weir_nl_limit_walk(tool->nl, false, find_order, &order);
	if (ret)
		return weir_tool_settle(tool, ret, 0);
	if (!weir_limit_differs(limit, &there, differs) && *limit->before &&
	    (!order.limit || order.place > order.limit))
		snprintf(differs, sizeof(differs), "before");
	if (!*differs) {
		show_one(&there);
		return WEIR_EXIT_OK;
	}
	weir_err_set(&tool->err, "limit '%s' exists and differs in %s; it was left as it is (limit set changes it)",
		     limit->name, differs);
	return WEIR_EXIT_REFUSED;
}

static int limit_add(struct weir_tool *tool, union weir_model *model)
{
	struct weir_limit made = { 0 };
	int ret = weir_nl_limit_add(tool->nl, &model->limit, &made);

	if (ret == -EEXIST && tool->exist)
		return add_existing(tool, &model->limit);
	if (!ret)
		tell_made(tool, &made, true);
	return weir_tool_settle(tool, ret, 0);
}

static int limit_set(struct weir_tool *tool, union weir_model *model)
{
	bool match = model->limit.has & WEIR_HAS_MATCH;
	struct weir_limit made = { 0 }, was = { 0 };
	int ret = 0;

	if (match)
		ret = weir_nl_limit_get(tool->nl, model->limit.name, false,
					&was);
	if (!ret || ret == -ENOENT)	/* set has words of its own for it */
		ret = weir_nl_limit_set(tool->nl, &model->limit, &made);
	if (!ret) {
		tell_made(tool, &made, match);
		weir_note_lost(tool, &was.match, &made);
	}
	return weir_tool_settle(tool, ret, 0);
}

static void limit_note(struct weir_tool *tool, union weir_model *model)
{
	weir_note_limit(tool, &model->limit);
}

static void limit_set_note(struct weir_tool *tool, union weir_model *model)
{
	if (model->limit.has & WEIR_HAS_MATCH)
		weir_note_limit(tool, &model->limit);
}

static int limit_del(struct weir_tool *tool, union weir_model *model)
{
	return weir_tool_settle(tool, weir_nl_limit_del(tool->nl,
							model->limit.name),
				-ENOENT);
}

static void show_told(const struct weir_limit *limit, void *data)
{
	(void)data;
	weir_show_limit(limit);
}

static int limit_show(struct weir_tool *tool, union weir_model *model)
{
	struct weir_limit limit;
	int ret;

	weir_out_array(NULL);
	if (*model->limit.name) {
		ret = weir_nl_limit_get(tool->nl, model->limit.name,
					tool->stats, &limit);
		if (!ret)
			weir_show_limit(&limit);
	} else {
		ret = weir_nl_limit_walk(tool->nl, tool->stats, show_told,
					 NULL);
	}
	if (!ret)
		weir_note_interrupted(tool);
	weir_out_array_end();
	return weir_tool_settle(tool, ret, 0);
}

static int limit_flush(struct weir_tool *tool, union weir_model *model)
{
	(void)model;
	return weir_tool_settle(tool, weir_nl_limit_flush(tool->nl), 0);
}

const struct weir_command weir_limit_commands[] = {
	{ "show", "show limits in their order; -stats: counters too",
	  weir_words_limit_show, WEIR_MODEL_LIMIT, .run = limit_show },
	{ "list", NULL,
	  weir_words_limit_show, WEIR_MODEL_LIMIT, .run = limit_show },
	{ "add", "make a limit",
	  weir_words_limit_add, WEIR_MODEL_LIMIT, limit_add, limit_note },
	{ "set", "change what is given and keep counts; a condition replaces the whole match",
	  weir_words_limit_set, WEIR_MODEL_LIMIT, limit_set, limit_set_note },
	{ "del", "remove a limit",
	  weir_words_limit_name, WEIR_MODEL_LIMIT, .run = limit_del },
	{ "delete", NULL,
	  weir_words_limit_name, WEIR_MODEL_LIMIT, .run = limit_del },
	{ "flush", "remove all limits",
	  weir_words_none, WEIR_MODEL_NONE, .run = limit_flush },
	{ 0 }
};
