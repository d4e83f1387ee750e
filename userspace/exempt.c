// SPDX-License-Identifier: GPL-2.0-or-later
/* weir exempt */

#include <errno.h>

#include "tool.h"

static void show_told(const struct weir_exempt *exempt, void *data)
{
	(void)data;
	weir_out_object(NULL);
	weir_show_exempt_words(exempt);
	weir_out_text("\n");
	weir_out_object_end();
}

static void exempt_note(struct weir_tool *tool, union weir_model *model)
{
	weir_note_dev(tool, model->exempt.dev);
}

static int exempt_add(struct weir_tool *tool, union weir_model *model)
{
	int ret = weir_nl_exempt_add(tool->nl, &model->exempt);

	if (!ret)
		exempt_note(tool, model);
	return weir_tool_settle(tool, ret, -EEXIST);
}

static int exempt_del(struct weir_tool *tool, union weir_model *model)
{
	return weir_tool_settle(tool, weir_nl_exempt_del(tool->nl,
							 &model->exempt),
				-ENOENT);
}

static int exempt_show(struct weir_tool *tool, union weir_model *model)
{
	int ret;

	(void)model;
	weir_out_array(NULL);
	ret = weir_nl_exempt_walk(tool->nl, show_told, NULL);
	if (!ret)
		weir_note_interrupted(tool);
	weir_out_array_end();
	return weir_tool_settle(tool, ret, 0);
}

static int exempt_get(struct weir_tool *tool, union weir_model *model)
{
	struct weir_exempt exempt;
	int ret;

	weir_out_array(NULL);
	ret = weir_nl_exempt_get(tool->nl, &model->exempt, &exempt);
	if (!ret)
		show_told(&exempt, NULL);
	weir_out_array_end();
	weir_note_dev(tool, model->exempt.dev);
	return weir_tool_settle(tool, ret, 0);
}

static int exempt_flush(struct weir_tool *tool, union weir_model *model)
{
	(void)model;
	return weir_tool_settle(tool, weir_nl_exempt_flush(tool->nl), 0);
}

const struct weir_command weir_exempt_commands[] = {
	{ "show", "show all exemptions",
	  weir_words_none, WEIR_MODEL_NONE, .run = exempt_show },
	{ "list", NULL,
	  weir_words_none, WEIR_MODEL_NONE, .run = exempt_show },
	{ "add", "have no limit asked about a prefix",
	  weir_words_exempt, WEIR_MODEL_EXEMPT, exempt_add, exempt_note },
	{ "del", "remove an exemption",
	  weir_words_exempt, WEIR_MODEL_EXEMPT, .run = exempt_del },
	{ "delete", NULL,
	  weir_words_exempt, WEIR_MODEL_EXEMPT, .run = exempt_del },
	{ "get", "tell why an address is exempt",
	  weir_words_exempt_get, WEIR_MODEL_EXEMPT, .run = exempt_get },
	{ "flush", "remove all exemptions",
	  weir_words_none, WEIR_MODEL_NONE, .run = exempt_flush },
	{ 0 }
};
