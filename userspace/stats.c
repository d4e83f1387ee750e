// SPDX-License-Identifier: GPL-2.0-or-later
/* weir stats */

#include "tool.h"

static int stats_show(struct weir_tool *tool, union weir_model *model)
{
	struct weir_stats stats;
	int ret = weir_nl_stats(tool->nl, &stats);

	(void)model;
	weir_out_array(NULL);
	if (!ret)
		weir_show_stats(&stats);
	weir_out_array_end();
	return weir_tool_settle(tool, ret, 0);
}

const struct weir_command weir_stats_commands[] = {
	{ "show", "show the counters of the network namespace",
	  weir_words_none, WEIR_MODEL_NONE, .run = stats_show },
	{ "list", NULL, weir_words_none, WEIR_MODEL_NONE, .run = stats_show },
	{ 0 }
};
