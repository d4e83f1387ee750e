// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -complete: print the candidates for the next word, one per line. */

#include <glob.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <string.h>

#include "commands/commands.h"
#include "tool/spaces.h"

#define FILES	"<FILE>"	/* the shell completes file names */
#define SOURCES	100		/* maximum number offered */

struct completing {
	struct weir_tool *tool;
	const struct weir_reading *reading;
};

static void put_netns(void)
{
	glob_t names = { 0 };
	size_t i;

	glob(WEIR_NETNS_DIR "/*", 0, NULL, &names);
	for (i = 0; i < names.gl_pathc; i++)
		puts(names.gl_pathv[i] + sizeof(WEIR_NETNS_DIR));
	globfree(&names);
}

static void put_devices(void)
{
	struct if_nameindex *devices = if_nameindex(), *at;

	for (at = devices; at && at->if_index; at++)
		puts(at->if_name);
	if (devices)
		if_freenameindex(devices);
}

/* Print an answer's first field: a name or a prefix. The parts of a list have the same. */
static int put_first(const void *model, void *data)
{
	static char last[WEIR_TEXT_SIZE];
	const struct weir_set *set = data;
	char buf[WEIR_TEXT_SIZE];
	const char *text = weir_field_text(set->fields, model, buf);

	if (strcmp(text, last))
		puts(text);
	snprintf(last, sizeof(last), "%s", text);
	return 0;
}

/* Print the names or prefixes of a dump. */
static void put_all(struct weir_tool *tool, uint8_t cmd, const struct weir_set *set,
		    const struct weir_query *query)
{
	struct weir_request request = {
		.cmd = cmd, .flags = NLM_F_DUMP, .reply_set = set, .set = &weir_query_fields,
		.verb = WEIR_ON_SHOW, .model = query,
		.reply = put_first, .data = (void *)set,
	};

	if (!weir_tool_reach(tool))
		weir_nl_ask(&tool->nl, &request);
}

static void put_words(const struct weir_word *words)
{
	for (; words->name; words++)
		puts(words->name);
}

/* Print likely prefixes: exemptions, or the sources with the highest counts. */
static void put_prefixes(struct weir_tool *tool, const struct weir_command *command)
{
	const struct weir_query most = { .top = SOURCES, .rank = WEIR_RANK_COUNT };

	if (command->set == &weir_exempt_fields && command->verb != WEIR_ON_ADD)
		put_all(tool, WEIR_CMD_EXEMPT_GET, &weir_exempt_fields, NULL);
	else if (command->set == &weir_query_fields)
		put_all(tool, WEIR_CMD_SOURCE_SHOW, &weir_source_fields, &most);
}

/* Print names of existing objects, or the values in the placeholder. */
static void put_value(const struct completing *completing, const struct weir_field *field)
{
	const struct weir_command *command = completing->reading->command;
	const struct weir_field *cond;
	char value[WEIR_TEXT_SIZE], *save, *word;

	if (field->type == &weir_type_dev)
		return put_devices();
	if (field->type == &weir_type_file)
		puts(FILES);
	if (field->type == &weir_type_proto)
		put_words(weir_protos);
	if (field->type == &weir_type_icmp || field->type == &weir_type_icmpv6)
		put_words(field->type == &weir_type_icmp ? weir_icmp_types : weir_icmpv6_types);
	if (field->type == &weir_type_prefix || field->type == &weir_type_address ||
	    field->type == &weir_type_source)
		put_prefixes(completing->tool, command);
	if (field->type == &weir_type_name) {
		/* add names a limit that does not exist yet */
		if (!(field->flags & WEIR_FIRST && command->verb == WEIR_ON_ADD))
			put_all(completing->tool, WEIR_CMD_LIMIT_GET, &weir_limit_fields, NULL);
		return;
	}
	if (field->type == &weir_type_list || field->type == &weir_type_lookup) {
		put_all(completing->tool, WEIR_CMD_PREFIX_LIST_GET, &weir_list_fields, NULL);
		return;
	}
	for (cond = weir_match_fields.fields; field->type == &weir_type_any && cond->type; cond++) {
		if (cond->flags & WEIR_NOT)
			puts(cond->word);
	}
	weir_field_value(field, value);
	value[strcspn(value, "[")] = '\0';	/* the optional words are offered later */
	for (word = strtok_r(value, "| ", &save); word; word = strtok_r(NULL, "| ", &save)) {
		if (strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(word))
			puts(word);
	}
}

static void put_next(const struct weir_word *words, const struct weir_field *value, void *data)
{
	if (words)
		put_words(words);
	else
		put_value(data, value);
}

/* Print each option; for -color, also each value. */
static void put_options(void)
{
	const struct weir_option *option;
	char values[64], *save, *value;

	for (option = weir_options; option->name; option++) {
		puts(option->name);
		if (option->letter != 'c')
			continue;
		snprintf(values, sizeof(values), "%s", option->value);
		for (value = strtok_r(values, "|", &save); value;
		     value = strtok_r(NULL, "|", &save))
			printf("%s=%s\n", option->name, value);
	}
}

void weir_complete(struct weir_tool *tool, int argc, char **argv)
{
	struct weir_reading reading = { 0 };
	struct completing completing = { tool, &reading };
	struct weir_args args = { .err = &tool->err, .offer = put_next, .data = &completing };
	int at = weir_take_options(tool, argc, argv);
	bool help;

	if (tool->wants == 'n')
		put_netns();
	else if (tool->wants)
		puts(FILES);
	if (at < 0)
		return;
	if (tool->netns)
		weir_enter_netns(tool);	/* to offer that namespace's limits, if permitted */
	args.words = argv + at;
	args.count = argc - at;
	help = weir_take_help(args.words, &args.count);
	weir_read(&args, &reading);
	if (args.count <= 2 && !help)
		puts("help");
	if (!args.count && !help)
		put_options();
}
