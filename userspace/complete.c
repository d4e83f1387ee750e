// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -complete: what may come next, one a line, for a shell. */

#include <dirent.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <string.h>

#include "tool.h"

struct completing {
	struct weir_tool *tool;
	const struct weir_reading *reading;
};

static void put_netns(void)
{
	DIR *dir = opendir(WEIR_NETNS_DIR);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			puts(entry->d_name);
	}
	closedir(dir);
}

static void put_devices(void)
{
	struct if_nameindex *devices = if_nameindex(), *at;

	for (at = devices; at && at->if_index; at++)
		puts(at->if_name);
	if (devices)
		if_freenameindex(devices);
}

static int put_limit(const void *model, void *data)
{
	puts(((const struct weir_limit *)model)->name);
	return 0;
}

static void put_limits(struct weir_tool *tool)
{
	struct weir_request request = {
		.cmd = WEIR_CMD_LIMIT_GET, .flags = NLM_F_DUMP,
		.told = &weir_limit_fields, .reply = put_limit,
	};

	if (!weir_tool_reach(tool))
		weir_nl_ask(&tool->nl, &request);
}

static void put_words(const struct weir_word *words, void *data)
{
	for (; words->name; words++)
		puts(words->name);
}

/* Things of a class, or the values that help lists. */
static void put_value(const struct weir_field *field, void *data)
{
	const struct completing *completing = data;
	const struct weir_command *command = completing->reading->command;
	char value[WEIR_TEXT_SIZE], *save, *word;

	if (field->type == &weir_type_dev)
		return put_devices();
	if (field->type == &weir_type_name) {
		/* add names a limit that does not exist yet */
		if (!(field->flags & WEIR_FIRST && command->verb == WEIR_ON_ADD))
			put_limits(completing->tool);
		return;
	}
	weir_field_value(field, value);
	for (word = strtok_r(value, "| ", &save); word; word = strtok_r(NULL, "| ", &save)) {
		if (strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(word))
			puts(word);
	}
}

void weir_complete(struct weir_tool *tool, int argc, char **argv)
{
	struct weir_reading reading = { 0 };
	struct completing completing = { tool, &reading };
	const struct weir_offer offer = { put_words, put_value, &completing };
	struct weir_args args = { .err = &tool->err, .offer = &offer };
	const struct weir_option *option;
	int at = weir_take_options(tool, argc, argv);

	if (tool->wants == 'n')
		put_netns();
	if (at < 0)
		return;
	if (tool->netns)
		weir_enter_netns(tool);	/* its limits, where they may be seen */
	args.words = argv + at;
	args.count = argc - at;
	weir_read(&args, &reading);
	if (args.count <= 2)
		puts("help");
	for (option = weir_options; !args.count && option->name; option++)
		puts(option->name);
}
