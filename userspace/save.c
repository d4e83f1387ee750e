// SPDX-License-Identifier: GPL-2.0-or-later
/* weir save: write the configuration, in order, as -file reads it. */

#include <string.h>

#include "config.h"
#include "tool.h"

static void put_exempts(struct weir_out *out, const struct weir_config *config, bool block)
{
	unsigned int i;

	weir_out_begin(out, block ? "blocked_prefixes" : "exempts", '[');
	for (i = 0; i < config->exempt_count; i++) {
		if (config->exempts[i].block != block)
			continue;
		weir_out_text(out, block ? "block add " : "exempt add ");
		weir_show_exempt(out, &config->exempts[i]);
	}
	weir_out_end(out, ']');
}

static void put_config(struct weir_out *out, const void *data)
{
	const struct weir_config *config = data;
	unsigned int i;

	weir_out_begin(out, NULL, '[');
	weir_out_begin(out, NULL, '{');
	weir_out_text(out, "#!%s -file\n", WEIR_PATH);
	weir_out_begin(out, "prefix_lists", '[');
	for (i = 0; i < config->list_count; i++) {
		weir_out_text(out, "prefix-list add ");
		weir_show_list(out, &config->lists[i]);
	}
	weir_out_end(out, ']');
	weir_out_begin(out, "limits", '[');
	for (i = 0; i < config->limit_count; i++) {
		weir_out_begin(out, NULL, '{');
		weir_out_text(out, "limit add ");
		weir_set_show(&weir_limit_fields, WEIR_WORDS, out, &config->limits[i]);
		weir_out_text(out, "\n");
		weir_out_end(out, '}');
	}
	weir_out_end(out, ']');
	put_exempts(out, config, false);
	put_exempts(out, config, true);
	weir_out_begin(out, "early", '[');
	for (i = 0; i < config->early_count; i++) {
		weir_out_begin(out, NULL, '{');
		weir_out_text(out, "early ");
		weir_set_show(&weir_xdp_fields, WEIR_WORDS, out, &config->early[i]);
		weir_out_text(out, "\n");
		weir_out_end(out, '}');
	}
	weir_out_end(out, ']');
	weir_out_end(out, '}');
	weir_out_end(out, ']');
}

int weir_save(struct weir_tool *tool, const struct weir_command *command, union weir_model *model)
{
	const char *path = model->path.file;
	static struct weir_config config;
	int status = weir_get_config(tool, &config, true);

	if (status)
		return status;
	weir_config_sort(&config);
	config.early_count = weir_xdp_list(tool, config.early);
	if (path && strcmp(path, "-"))
		status = weir_replace_file(tool, path, put_config, &config);
	else
		put_config(&tool->out, &config);
	weir_config_clear(&config);
	return status;
}
