// SPDX-License-Identifier: GPL-2.0-or-later
/* weir-fleet: many hosts with one configuration, over NATS. */

#include <locale.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/value.h"
#include "lang/word.h"
#include "canary.h"
#include "fleet.h"

/* Words of commands, as bits. */
enum {
	FILE_NAME	= 1 << 0,	/* the first word, by itself */
	GROUP		= 1 << 1,
	CANARY		= 1 << 2,
	FOR		= 1 << 3,
	DROPS		= 1 << 4,
	REVISION	= 1 << 5,
};

struct word {
	const char *name, *value, *help;
	unsigned int bit;
};

static const struct word words[] = {
	{ "group", "GROUP", "of hosts; or that of the settings, and of status all", GROUP },
	{ "canary", "HOSTS", "so many hosts take it first", CANARY },
	{ "for", "TIME", "... for so long; then all others, or they return", FOR },
	{ "drops", "PERCENT", "of their packets, of known sources, that they may drop (1)", DROPS },
	{ "revision", "NUMBER", "of log", REVISION },
	{ 0 }
};

struct command {
	const char *name, *help;
	unsigned int words;
	fleet_run *run;
};

static const struct command commands[] = {
	{ "push", "check a configuration and give it to a group of hosts",
	  FILE_NAME | GROUP | CANARY | FOR | DROPS, fleet_push },
	{ "status", "what each host has, and whether it is well", GROUP, fleet_status },
	{ "log", "list the revisions of a configuration", GROUP, fleet_log },
	{ "show", "print a revision, the newest if none is given", GROUP | REVISION, fleet_show },
	{ "rollback", "push an earlier revision again, the one before if none is given",
	  GROUP | REVISION, fleet_rollback },
	{ "agent", "apply on this host what is pushed, until it is told to end", GROUP,
	  fleet_agent },
	{ 0 }
};

static void help_command(FILE *to, const struct command *command, const char *begin)
{
	const struct word *word;

	fprintf(to, "%s weir-fleet %s%s", begin, command->name,
		command->words & FILE_NAME ? " FILE" : "");
	for (word = words; word->name; word++)
		if (command->words & word->bit)
			fprintf(to, " [ %s %s ]", word->name, word->value);
	fprintf(to, "\n           %s\n", command->help);
}

static void help(FILE *to)
{
	const struct fleet_option *option;
	const struct command *command;
	const struct word *word;
	char text[64];

	for (command = commands; command->name; command++)
		help_command(to, command, command == commands ? "Usage:" : "      ");
	fputs("WORDS:\n", to);
	for (word = words; word->name; word++) {
		snprintf(text, sizeof(text), "%s %s", word->name, word->value);
		fprintf(to, "  %-20s %s\n", text, word->help);
	}
	fputs("OPTIONS:\n", to);
	for (option = fleet_options; option->name; option++) {
		snprintf(text, sizeof(text), "%s %s", option->name,
			 option->value ? option->value : "");
		fprintf(to, "  %-20s %s\n", text, option->help);
	}
	fputs("weir-fleet(8) has details\n", to);
}

static int take_number(struct fleet *fleet, const char *value, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(value, &end, 10);
	if (!errno && *value >= '0' && *value <= '9' && !*end && *number && *number <= most)
		return 0;
	return weir_err_set(&fleet->err, "'%.60s' is not a number from 1 to %llu", value,
			    (unsigned long long)most);
}

static int take_percent(struct fleet *fleet, const char *value)
{
	char *end;

	fleet->drops = strtod(value, &end);
	if (end != value && (!*end || !strcmp(end, "%")) && fleet->drops >= 0 &&
	    fleet->drops <= 100)
		return 0;
	return weir_err_set(&fleet->err, "'%.60s' is not a percentage, such as 0.5%%", value);
}

static int take_time(struct fleet *fleet, const char *value)
{
	if (weir_value_time(value, &fleet->for_ms, &fleet->err))
		return -EINVAL;
	if (fleet->for_ms >= FLEET_CANARY_MS_MIN && fleet->for_ms <= FLEET_CANARY_MS_MAX)
		return 0;
	return weir_err_set(&fleet->err, "a canary takes 1s to 1h, not %.60s", value);
}

static int take_value(struct fleet *fleet, unsigned int bit, const char *value)
{
	switch (bit) {
	case GROUP:
		fleet->group = value;
		return fleet_is_group(value) ? 0 :
		       weir_err_set(&fleet->err, "'%.80s' is not the name of a group", value);
	case CANARY:
		return take_number(fleet, value, FLEET_CANARY_HOSTS, &fleet->canary);
	case FOR:
		return take_time(fleet, value);
	case DROPS:
		return take_percent(fleet, value);
	default:
		return take_number(fleet, value, INT64_MAX, &fleet->revision);
	}
}

static const struct word *pick_word(const struct command *command, const char *token,
				    struct weir_err *err)
{
	struct weir_word list[WEIR_WORDS_MAX];
	const struct weir_word *found;
	const struct word *word;
	size_t used = 0;

	for (word = words; word->name; word++)
		if (command->words & word->bit)
			list[used++] = (struct weir_word){ .name = word->name, .is = word };
	list[used].name = NULL;
	found = weir_pick(list, token, false, "word", err);
	return found ? found->is : NULL;
}

static const struct command *pick_command(const char *token, struct weir_err *err)
{
	struct weir_word list[WEIR_WORDS_MAX];
	const struct weir_word *found;
	const struct command *command;
	size_t used = 0;

	for (command = commands; command->name; command++)
		list[used++] = (struct weir_word){ .name = command->name, .is = command };
	list[used].name = NULL;
	found = weir_pick(list, token, false, "command", err);
	return found ? found->is : NULL;
}

static int read_words(struct fleet *fleet, const struct command *command, int count, char **argv)
{
	const struct word *word;
	unsigned int seen = 0;
	int at = 0;

	if (command->words & FILE_NAME && count)
		fleet->file = argv[at++];
	for (; at < count; at += 2) {
		word = pick_word(command, argv[at], &fleet->err);
		if (!word)
			return -EINVAL;
		if (at + 1 == count)
			return weir_err_set(&fleet->err, WEIR_NO_VALUE, word->name, word->value);
		if (seen & word->bit)
			return weir_err_set(&fleet->err, WEIR_TWICE, word->name);
		seen |= word->bit;
		if (take_value(fleet, word->bit, argv[at + 1]))
			return -EINVAL;
	}
	return 0;
}

static int show_version(struct weir_out *out)
{
	weir_out_begin(out, NULL, '{');
	weir_out_str(out, "version", WEIR_VERSION);
	weir_out_text(out, "weir-fleet %s\n", WEIR_VERSION);
	weir_out_end(out, '}');
	return WEIR_EXIT_OK;
}

static int run(struct fleet *fleet, int count, char **argv)
{
	const struct command *command;

	if (fleet->settings.version)
		return show_version(&fleet->out);
	if (fleet->settings.help || (count && !strcmp(*argv, "help"))) {
		help(stdout);
		return WEIR_EXIT_OK;
	}
	if (!count) {
		help(stderr);
		return WEIR_EXIT_WORDS;
	}
	command = pick_command(*argv, &fleet->err);
	if (!command || read_words(fleet, command, count - 1, argv + 1) ||
	    fleet_settings_read(&fleet->settings, &fleet->err)) {
		fleet_say("%s", fleet->err.text);
		return WEIR_EXIT_WORDS;
	}
	count = command->run(fleet);
	if (count)
		fleet_say("%s: %s", command->name, fleet->err.text);
	return count;
}

/* Print what may follow these words, one a line; the shell completes names of files. */
static void complete(int count, char **argv)
{
	const struct fleet_option *option = fleet_options;
	const struct command *command = NULL;
	const struct word *word;
	struct weir_err unused;
	int at = 0;

	while (at < count && argv[at][0] == '-') {
		for (option = fleet_options; option->name; option++)
			if (!strcmp(option->name, argv[at]))
				break;
		at += 1 + (option->name && option->value);
	}
	if (at > count) {
		puts(strstr(option->value, "FILE") ? "<FILE>" : "");
		return;
	}
	for (option = fleet_options; at == count && option->name; option++)
		puts(option->name);
	for (command = commands; at == count && command->name; command++)
		puts(command->name);
	command = at < count ? pick_command(argv[at++], &unused) : NULL;
	if (!command)
		return;
	if (command->words & FILE_NAME && at++ == count)
		puts("<FILE>");
	for (word = words; at <= count && (count - at) % 2 == 0 && word->name; word++)
		if (command->words & word->bit)
			puts(word->name);
}

int main(int argc, char **argv)
{
	struct fleet fleet = { .out.to = stdout, .drops = -1 };
	int at, status = WEIR_EXIT_WORDS, ret;

	/* programs that are run are waited for */
	signal(SIGCHLD, SIG_DFL);
	setlocale(LC_CTYPE, "");
	if (argc > 1 && !strcmp(argv[1], "-complete")) {
		complete(argc - 2, argv + 2);
		return WEIR_EXIT_OK;
	}
	at = fleet_settings_take(&fleet.settings, argc, argv, &fleet.err);
	fleet.out.json = fleet.settings.json;
	fleet.out.pretty = fleet.settings.pretty;
	if (at < 0)
		fleet_say("%s", fleet.err.text);
	else
		status = run(&fleet, argc - at, argv + at);
	ret = weir_out_flush(&fleet.out);
	if (ret)
		fleet_say(WEIR_CANNOT_WRITE, strerror(-ret));
	fleet_settings_free(&fleet.settings);
	return ret && !status ? WEIR_EXIT_OUTPUT : status;
}
