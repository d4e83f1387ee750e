// SPDX-License-Identifier: GPL-2.0-or-later
/* weir explain dropped: the latest drops that the module knows of. */

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tool.h"
#include "value.h"

#define LAST_USUAL	10

/* The last ones that were told so far, the latest first. */
struct dropped {
	struct weir_config *limits;	/* with their lists */
	const struct weir_prefix *from;	/* of no family: all */
	unsigned int count, room;
	struct weir_source *drops;
};

/* The budgets that the reason names: the module tells only what the drop was. */
static void fill_budgets(struct weir_source *source, const struct weir_config *config,
			 const struct weir_limit *limit)
{
	const struct weir_member *own;
	unsigned int i;

	source->asked.limit = limit;
	for (i = 0; limit && i < limit->budget_count; i++)
		source->budgets[i] = (struct weir_source_budget){
			.budget = limit->budgets[i].amount.count, .unit = limit->budgets[i].unit,
		};
	own = limit ? weir_config_budget(config, limit, &source->prefix) : NULL;
	if (own)
		source->budgets[0].budget = own->budget;
}

static int take_drop(const void *model, void *data)
{
	const struct weir_source *drop = model;
	struct dropped *to = data;
	unsigned int at = to->count;

	if (to->from->family && !weir_prefix_holds(to->from, &drop->prefix))
		return 0;
	while (at && to->drops[at - 1].drop.within_ns > drop->drop.within_ns)
		at--;
	if (at == to->room)
		return 0;
	to->count += to->count < to->room;
	memmove(&to->drops[at + 1], &to->drops[at],
		(to->count - 1 - at) * sizeof(to->drops[0]));
	to->drops[at] = *drop;
	fill_budgets(&to->drops[at], to->limits, weir_config_find(to->limits, drop->limit));
	return 0;
}

static void show_all(struct weir_tool *tool, const struct weir_command *command,
		     const struct dropped *dropped)
{
	unsigned int i;

	weir_out_begin(&tool->out, NULL, '[');
	for (i = 0; i < dropped->count; i++)
		command->show(&tool->out, &dropped->drops[i]);
	weir_out_end(&tool->out, ']');
	if (!dropped->count && !tool->out.json)
		weir_note(tool, "note", "no drop%s is known; what limits that observe would drop is not listed",
			  dropped->from->family ? " of such a source" : "");
}

int weir_explain_dropped(struct weir_tool *tool, const struct weir_command *command,
			 union weir_model *model)
{
	static struct weir_config config;
	struct weir_query *query = &model->query, asked = { 0 };
	struct weir_request request = weir_request_of(command, &asked);
	struct dropped dropped = {
		.limits = &config, .from = &query->prefix, .room = query->last ?: LAST_USUAL,
	};
	int status = weir_get_config(tool, &config, true);

	dropped.drops = calloc(dropped.room, sizeof(dropped.drops[0]));
	if (!dropped.drops) {
		weir_err_set(&tool->err, WEIR_NO_MEMORY);
		status = WEIR_EXIT_REFUSED;
	}
	if (!status) {
		memcpy(asked.limit, query->limit, sizeof(asked.limit));
		request.into = &tool->answer;
		request.reply = take_drop;
		request.data = &dropped;
		weir_nl_ask(&tool->nl, &request);
		status = weir_tool_settle(tool, &request, 0);
	}
	if (!status)
		show_all(tool, command, &dropped);
	free(dropped.drops);
	weir_config_clear(&config);
	return status;
}
