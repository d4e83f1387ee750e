// SPDX-License-Identifier: GPL-2.0-or-later
/* weir save: write the configuration, in order, as -file reads it. */

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/files.h"

static int put_config(struct weir_out *out, void *data)
{
	weir_show_config(out, data);
	return WEIR_EXIT_OK;
}

void weir_note_blocks(struct weir_tool *tool, const char *sentence)
{
	const struct weir_config *there = tool->quiet ? NULL : weir_there(tool, WEIR_GET_STATS);
	uint64_t blocks = 0;
	unsigned int i;

	for (i = 0; there && i < there->limit_count; i++)
		blocks += there->limits[i].stats.blocked_now;
	if (blocks)
		weir_note(tool, "note", "single sources are blocked, too (%" PRIu64 "): %s", blocks,
			  sentence);
}

/* What a file has that a saved one does not, and on which line; NULL: nothing. */
static const char *find_lost(struct weir_lines *lines, unsigned int *line)
{
	struct weir_err err;
	const char *word;
	int ret;

	while ((ret = weir_lines_next(lines, &err)) && !lines->failed) {
		*line = lines->line;
		if (ret < 0)
			return "has an error";
		word = lines->words[0];
		if (!strcmp(word, "include"))
			return "includes others";
		if (!strcmp(word, "quiet"))
			return "has 'quiet'";
	}
	*line = lines->comment;
	return *line ? "has a comment" : NULL;
}

/* Refuse to overwrite what a file has and a saved one does not; an enum weir_exit. */
static int check_lost(struct weir_tool *tool, const char *path)
{
	struct weir_lines lines = { 0 };
	const char *lost = NULL;
	unsigned int line;
	struct stat is;
	int ret;

	/* what is not there has nothing to lose */
	if (tool->force || stat(path, &is) || !S_ISREG(is.st_mode))
		return WEIR_EXIT_OK;
	ret = weir_lines_open(&lines, path, &tool->err);
	if (ret)
		weir_err_set(&tool->err, "%.200s: %.200s: save to another file, or overwrite it with -force",
			     path, tool->err.text);
	else if (tool->out.json && lines.size && !strspn(lines.whole, "[{"))
		ret = weir_err_set(&tool->err, "%.200s is not JSON, and '-file' reads no JSON: save to another file, or overwrite it with -force",
				   path);
	else if (!tool->out.json)
		lost = find_lost(&lines, &line);
	if (lost)
		ret = weir_err_set(&tool->err, "%.200s %s on line %u, which a saved file does not have: save to another file, or overwrite it with -force",
				   path, lost, line);
	weir_lines_close(&lines);
	return ret ? WEIR_EXIT_WORDS : WEIR_EXIT_OK;
}

int weir_save_config(struct weir_tool *tool, const char *path)
{
	static struct weir_config config;
	int status = weir_get_config(tool, &config, WEIR_GET_ALL);
	bool file = path && strcmp(path, "-");
	struct stat is;

	if (status)
		return status;
	weir_config_sort(&config);
	config.early_count = tool->config ? tool->config->early_count :
			     weir_xdp_list(tool, config.early);
	if (tool->config)	/* also devices that are not there yet */
		memcpy(config.early, tool->config->early, sizeof(config.early));
	if (file)
		status = check_lost(tool, path) ?:
			 weir_replace_file(tool, path, 0, put_config, &config);
	else
		put_config(&tool->out, &config);
	if (!status && (file || (!fstat(STDOUT_FILENO, &is) && S_ISREG(is.st_mode))))
		weir_note_blocks(tool, "'weir save -state FILE' has these blocks, a configuration not");
	weir_config_clear(&config);
	return status;
}
