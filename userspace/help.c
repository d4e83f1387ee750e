// SPDX-License-Identifier: GPL-2.0-or-later
/* Help, from the rows that parse. */

#include <string.h>

#include "tool.h"

#define WIDTH	79
#define INDENT	8

static const char options[] =
"OPTIONS := { -j[son] | -p[retty] | -s[tats] | -n[etns] NAME|PATH|PID |\n"
"             -b[atch] FILE | -f[ile] FILE | -check | -force | -exist |\n"
"             -t[imestamp] | -c[olor][=always|auto|never] | -V[ersion] | -help }\n";

/**
 * weir_help - tell the objects and the options
 * @to: where to
 */
void weir_help(FILE *to)
{
	const struct weir_object *object;

	fputs("Usage: weir [ OPTIONS ] OBJECT { COMMAND | help }\n"
	      "       weir [ OPTIONS ] -file FILE\n"
	      "       weir [ OPTIONS ] -batch FILE\n", to);
	for (object = weir_objects; object->name; object++) {
		if (object->help)
			fprintf(to, "%s %-8s %s\n",
				object == weir_objects ? "OBJECT :=" : "         ",
				object->name, object->help);
	}
	fputs(options, to);
}

/* Put @item behind what is on the line, or on the next. */
static void put_item(FILE *to, int *column, const char *item)
{
	int len = strlen(item) + 1;

	if (*column + len > WIDTH) {
		fprintf(to, "\n%*s", INDENT, "");
		*column = INDENT;
	}
	fprintf(to, " %s", item);
	*column += len;
}

static void put_word(FILE *to, int *column, const struct weir_word *word)
{
	bool bare = word->flags & (WEIR_WORD_FIRST | WEIR_WORD_BARE);
	bool needed = word->flags & WEIR_WORD_NEEDED;
	bool value = word->value && !bare;
	char item[128];

	snprintf(item, sizeof(item), "%s%s%s%s%s%s", needed ? "" : "[ ",
		 word->flags & WEIR_WORD_NOT ? "[not] " : "",
		 bare ? word->value : word->name, value ? " " : "",
		 value ? word->value : "", needed ? "" : " ]");
	put_item(to, column, item);
}

static void put_usage(FILE *to, const struct weir_object *object,
		      const struct weir_command *command, const char *begin)
{
	const struct weir_word *word;
	int column;

	column = fprintf(to, "%s weir %s", begin, object->name);
	if (!object->alone)
		column += fprintf(to, " %s", command->name);
	for (word = command->words; word->name; word++)
		put_word(to, &column, word);
	fputc('\n', to);
}

/**
 * weir_help_object - tell the commands of an object
 * @to: where to
 * @object: the object
 */
void weir_help_object(FILE *to, const struct weir_object *object)
{
	const struct weir_command *command;

	for (command = object->commands; command->name; command++) {
		if (command->help)
			put_usage(to, object, command,
				  command == object->commands ? "Usage:" :
								"      ");
	}
}

/**
 * weir_help_command - tell the words of a command
 * @to: where to
 * @object: the object
 * @command: the command
 */
void weir_help_command(FILE *to, const struct weir_object *object,
		       const struct weir_command *command)
{
	const struct weir_word *word;

	put_usage(to, object, command, "Usage:");
	if (command->help)
		fprintf(to, "%s\n", command->help);
	for (word = command->words; word->name; word++) {
		if (word->help)
			fprintf(to, "  %-8s %-16s %s\n", word->name,
				word->value ? word->value : "", word->help);
	}
}
