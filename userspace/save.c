// SPDX-License-Identifier: GPL-2.0-or-later
/* weir save: what -file reads, in the order that it was in. */

#include <stdlib.h>

#include "config.h"
#include "tool.h"

/* How often it is read anew because it changed meanwhile. */
#define TRIES	8

struct saving {
	struct weir_config config;
	struct weir_err err;
	int ret;
};

static void save_limit(const struct weir_limit *limit, void *data)
{
	struct saving *saving = data;

	if (!saving->ret)
		saving->ret = weir_config_add_limit(&saving->config, limit,
						    &saving->err);
}

static void save_exempt(const struct weir_exempt *exempt, void *data)
{
	struct saving *saving = data;

	if (!saving->ret)
		saving->ret = weir_config_add_exempt(&saving->config, exempt,
						     &saving->err);
}

/* Read it once; whether it was read whole is in @whole. */
static int gather(struct weir_tool *tool, struct saving *saving, bool *whole)
{
	int ret;

	saving->config.limit_count = 0;
	saving->config.exempt_count = 0;
	saving->ret = 0;
	ret = weir_nl_limit_walk(tool->nl, false, save_limit, saving);
	*whole = !weir_nl_interrupted(tool->nl);
	if (!ret)
		ret = weir_nl_exempt_walk(tool->nl, save_exempt, saving);
	*whole &= !weir_nl_interrupted(tool->nl) && !saving->ret;
	return ret;
}

static void put_config(const struct weir_config *config)
{
	unsigned int i;

	weir_out_array(NULL);
	weir_out_object(NULL);
	weir_out_text("#!/usr/sbin/weir -file\n");
	weir_out_array("limits");
	for (i = 0; i < config->limit_count; i++) {
		weir_out_object(NULL);
		weir_out_text("limit add ");
		weir_show_limit_words(&config->limits[i]);
		weir_out_text("\n");
		weir_out_object_end();
	}
	weir_out_array_end();
	weir_out_array("exempts");
	for (i = 0; i < config->exempt_count; i++) {
		weir_out_object(NULL);
		weir_out_text("exempt add ");
		weir_show_exempt_words(&config->exempts[i]);
		weir_out_text("\n");
		weir_out_object_end();
	}
	weir_out_array_end();
	weir_out_object_end();
	weir_out_array_end();
}

static int save(struct weir_tool *tool, union weir_model *model)
{
	struct saving saving = { 0 };
	bool whole = false;
	int ret = 0, i;

	(void)model;
	for (i = 0; i < TRIES && !ret && !whole; i++)
		ret = gather(tool, &saving, &whole);
	if (!ret && whole) {
		qsort(saving.config.exempts, saving.config.exempt_count,
		      sizeof(*saving.config.exempts), weir_exempt_compare);
		put_config(&saving.config);
	}
	weir_config_free(&saving.config);
	if (ret)
		return weir_tool_settle(tool, ret, 0);
	if (whole)
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "the configuration changes all the time; nothing was saved");
	return WEIR_EXIT_REFUSED;
}

const struct weir_command weir_save_commands[] = {
	{ "save", "write the configuration, as -file reads it",
	  weir_words_none, WEIR_MODEL_NONE, .run = save },
	{ 0 }
};
