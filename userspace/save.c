// SPDX-License-Identifier: GPL-2.0-or-later
/* weir save: write the configuration, in order, as -file reads it. */

#include <inttypes.h>
#include <string.h>

#include "config.h"
#include "tool.h"

static int put_config(struct weir_out *out, void *data)
{
	weir_show_config(out, data);
	return WEIR_EXIT_OK;
}

/* Blocks of single sources are part of the state. */
static void note_blocks(struct weir_tool *tool)
{
	const struct weir_config *there = tool->quiet ? NULL : weir_there_counted(tool);
	uint64_t blocks = 0;
	unsigned int i;

	for (i = 0; there && i < there->limit_count; i++)
		blocks += there->limits[i].stats.blocked_now;
	if (blocks)
		weir_note(tool, "note", "the file lacks the blocks of single sources (%" PRIu64 "), which 'weir save -state FILE' has, too",
			  blocks);
}

int weir_save(struct weir_tool *tool, const struct weir_command *command, union weir_model *model)
{
	const char *path = model->path.file;
	static struct weir_config config;
	int status;

	if (model->path.state)
		return weir_save_state(tool, model->path.state);
	status = weir_get_config(tool, &config, true);
	if (status)
		return status;
	weir_config_sort(&config);
	config.early_count = tool->config ? tool->config->early_count :
			     weir_xdp_list(tool, config.early);
	if (tool->config)	/* also devices that are not there yet */
		memcpy(config.early, tool->config->early, sizeof(config.early));
	if (path && strcmp(path, "-"))
		status = weir_include_keep(tool, path) ?:
			 weir_replace_file(tool, path, 0, put_config, &config);
	else
		put_config(&tool->out, &config);
	if (path && strcmp(path, "-") && !status)
		note_blocks(tool);
	weir_config_clear(&config);
	return status;
}
