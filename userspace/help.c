// SPDX-License-Identifier: GPL-2.0-or-later
/* Help, from the rows that parse. */

#include <string.h>

#include "tool.h"

#define WIDTH	79
#define INDENT	8
#define BRACE	12	/* of what stands in braces */
#define VALUE	16	/* of a word, or it has a line of its own */

/* Put @item behind what is on the line, or on the next. */
static void put_item(FILE *to, int *column, int indent, const char *item)
{
	int len = strlen(item) + 1;

	if (*column + len > WIDTH) {
		fprintf(to, "\n%*s", indent, "");
		*column = indent;
	}
	fprintf(to, " %s", item);
	*column += len;
}

static bool is_first(const struct weir_option *option)
{
	const struct weir_option *other;

	for (other = weir_options; other < option; other++) {
		if (other->id == option->id)
			return false;
	}
	return true;
}

static bool is_last(const struct weir_option *option)
{
	while ((++option)->name) {
		if (is_first(option))
			return false;
	}
	return true;
}

/* Each option once, with its letter and its value. */
static void put_options(FILE *to)
{
	const struct weir_option *option;
	char item[64], *at;
	int column;

	column = fprintf(to, "OPTIONS := {");
	for (option = weir_options; option->name; option++) {
		if (!is_first(option))
			continue;
		at = item;
		if (option->id == *option->name)
			at += sprintf(at, "-%c[%s]", option->id,
				      option->name + 1);
		else
			at += sprintf(at, "-%s", option->name);
		if (option->value)
			at += sprintf(at, option->may ? "[=%s]" : " %s",
				      option->value);
		strcpy(at, is_last(option) ? " }" : " |");
		put_item(to, &column, BRACE, item);
	}
	fputc('\n', to);
}

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
	put_options(to);
}

/* The first of the words that exclude each other with this one. */
static const struct weir_word *group_first(const struct weir_word *words,
					   const struct weir_word *word)
{
	while (word->group && words->group != word->group)
		words++;
	return word->group ? words : word;
}

/* A word with its value, and those that may stand in its place. */
static void put_word(FILE *to, int *column, const struct weir_word *words,
		     const struct weir_word *word)
{
	bool bare = word->flags & (WEIR_WORD_FIRST | WEIR_WORD_BARE);
	bool needed = word->flags & WEIR_WORD_NEEDED;
	bool value = word->value && !bare;
	const struct weir_word *other;
	char item[128];
	int len;

	if (group_first(words, word) != word)
		return;
	len = snprintf(item, sizeof(item), "%s%s%s%s%s", needed ? "" : "[ ",
		       word->flags & WEIR_WORD_NOT ? "[not] " : "",
		       bare ? word->value : word->name, value ? " " : "",
		       value ? word->value : "");
	for (other = word + 1; word->group && other->name; other++) {
		if (other->group == word->group)
			len += snprintf(item + len, sizeof(item) - len,
					" | %s%s%s", other->name,
					other->value ? " " : "",
					other->value ? other->value : "");
	}
	snprintf(item + len, sizeof(item) - len, "%s", needed ? "" : " ]");
	put_item(to, column, INDENT, item);
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
		put_word(to, &column, command->words, word);
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
	if (object->terms)
		fprintf(to, "%s\n", object->terms);
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
	const char *value;
	bool bare;

	put_usage(to, object, command, "Usage:");
	if (command->help)
		fprintf(to, "%s\n", command->help);
	for (word = command->words; word->name; word++) {
		if (!word->help)
			continue;
		bare = word->flags & (WEIR_WORD_FIRST | WEIR_WORD_BARE);
		value = word->value && !bare ? word->value : "";
		fprintf(to, "  %-8s %-*s", word->name, VALUE, value);
		if (strlen(value) > VALUE)
			fprintf(to, "\n  %-8s %-*s", "", VALUE, "");
		fprintf(to, " %s\n", word->help);
	}
}
