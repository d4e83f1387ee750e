// SPDX-License-Identifier: GPL-2.0-or-later
/* weir source */

#include <errno.h>
#include <inttypes.h>

#include "tool.h"
#include "value.h"

struct listing {
	bool slots;
	uint64_t told;
};

static void show_told(const struct weir_source *source, void *data)
{
	struct listing *listing = data;

	listing->told++;
	weir_show_source(source, listing->slots);
}

static int source_show(struct weir_tool *tool, union weir_model *model)
{
	struct listing listing = { .slots = false };
	int ret;

	weir_out_array(NULL);
	ret = weir_nl_source_show(tool->nl, &model->query, show_told, &listing);
	if (!ret)
		weir_note_interrupted(tool);
	weir_out_array_end();
	return weir_tool_settle(tool, ret, 0);
}

static int source_get(struct weir_tool *tool, union weir_model *model)
{
	struct listing listing = { .slots = true };
	char buf[WEIR_TEXT_SIZE];
	int ret;

	weir_out_array(NULL);
	ret = weir_nl_source_get(tool->nl, &model->query, show_told, &listing);
	if (!ret)
		weir_note_interrupted(tool);
	weir_out_array_end();
	if (!ret)
		weir_note_dev(tool, model->query.dev);
	if (!ret && !listing.told)
		weir_out_text("%s meets no limit\n",
			      weir_text_prefix(&model->query.prefix, buf));
	return weir_tool_settle(tool, ret, 0);
}

/* The cost is said in the limit's own unit, or not at all. */
static int check_unit(struct weir_tool *tool, const struct weir_query *query)
{
	struct weir_limit limit;
	int ret;

	if (!query->has_unit)
		return WEIR_EXIT_OK;
	ret = weir_nl_limit_get(tool->nl, query->limit, false, &limit);
	if (ret == -ENOENT)
		return WEIR_EXIT_OK;	/* the charge says so, and of what word */
	if (ret || limit.unit == query->unit)
		return weir_tool_settle(tool, ret, 0);
	weir_err_set(&tool->err, "limit '%s' counts %s; say %s N",
		     query->limit, weir_units[!query->unit],
		     weir_units[!query->unit]);
	return WEIR_EXIT_WORDS;
}

static int source_charge(struct weir_tool *tool, union weir_model *model)
{
	struct weir_source source;
	int ret = check_unit(tool, &model->query);

	if (ret)
		return ret;
	ret = weir_nl_source_charge(tool->nl, &model->query, &source);
	weir_out_array(NULL);
	if (!ret)
		weir_show_charge(&source);
	weir_out_array_end();
	if (!ret && !source.taken)
		weir_note_refused(tool, model->query.cost, source.left);
	return weir_tool_settle(tool, ret, 0);
}

static int source_forget(struct weir_tool *tool, union weir_model *model)
{
	uint64_t forgotten;
	int ret;

	ret = weir_nl_source_forget(tool->nl, &model->query, &forgotten);
	weir_out_array(NULL);
	if (!ret) {
		weir_out_object(NULL);
		weir_out_u64("forgotten", forgotten, "forgotten %" PRIu64 "\n",
			     forgotten);
		weir_out_object_end();
	}
	weir_out_array_end();
	return weir_tool_settle(tool, ret, 0);
}

const struct weir_command weir_source_commands[] = {
	{ "show", "show sources",
	  weir_words_source_show, WEIR_MODEL_QUERY, .run = source_show },
	{ "list", NULL,
	  weir_words_source_show, WEIR_MODEL_QUERY, .run = source_show },
	{ "get", "how an address stands under each limit that would meet it",
	  weir_words_source_get, WEIR_MODEL_QUERY, .run = source_get },
	{ "charge", "charge a source for what another program has seen",
	  weir_words_source_charge, WEIR_MODEL_QUERY, .run = source_charge },
	{ "forget", "forget what sources have sent",
	  weir_words_source_forget, WEIR_MODEL_QUERY, .run = source_forget },
	{ 0 }
};
