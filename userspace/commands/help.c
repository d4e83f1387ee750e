// SPDX-License-Identifier: GPL-2.0-or-later
/* Help, generated from the table. */

#include <string.h>

#include "commands/commands.h"

#define WIDTH	79
#define INDENT	8
#define OPTION	28	/* column width of an option with its value */
#define VALUE	16	/* column width of a word's value */
#define HELP	(2 + 8 + 1 + VALUE)	/* column before help; longer words get a line */

/* Print @item, wrapping at WIDTH. */
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

/* Print each option once, with its letter, value and description. */
static void put_options(FILE *to)
{
	const struct weir_option *option;
	char item[64], *at;

	fputs("OPTIONS:\n", to);
	for (option = weir_options; option->name; option++) {
		if (option > weir_options && option[-1].letter == option->letter)
			continue;
		at = item;
		if (option->letter == option->name[1])
			at += sprintf(at, "-%c[%s]", option->letter, option->name + 2);
		else
			at += sprintf(at, "%s", option->name);
		if (option->value)
			sprintf(at, option->letter == 'c' ? "[=%s]" : " %s", option->value);
		fprintf(to, "  %-*s %s\n", OPTION, item, option->help);
	}
}

void weir_help(FILE *to)
{
	const struct weir_object *object;

	fputs("Usage: weir [ OPTIONS ] OBJECT { COMMAND | help }\n"
	      "       weir [ OPTIONS ] -file FILE\n"
	      "       weir [ OPTIONS ] -batch FILE\n", to);
	for (object = weir_objects; object->name; object++)
		fprintf(to, "%s %-8s %s\n", object == weir_objects ? "OBJECT :=" : "         ",
			object->name, object->help);
	put_options(to);
	fputs("weir(8) has recipes and details\n", to);
}

static bool stands_alone(const struct weir_field *field)
{
	return field->flags & (WEIR_FIRST | WEIR_ALONE | WEIR_BARE);
}

/* Print a word with its value: strict|lenient, idle, packets N | bytes N. */
static void put_word(FILE *to, int *column, const struct weir_word *words,
		     const struct weir_word *word, unsigned int verb)
{
	const struct weir_field *field = word->is, *other;
	const struct weir_word *at, *instead = NULL;
	bool needed = field->needed & verb;
	char item[128], value[WEIR_TEXT_SIZE], name[WEIR_TEXT_SIZE];
	int len;

	for (at = words; at < word; at++) {
		other = at->is;
		if (at->in == word->in && other->attr == field->attr)
			return;
		/* part of what is needed */
		if (other->needed & verb && other->instead && !strcmp(other->instead, word->name))
			return;
	}
	if (field->flags & WEIR_FOLLOWS)	/* part of the previous row's placeholder */
		return;
	if (needed && field->instead)
		instead = weir_word_find(words, field->instead);
	len = snprintf(item, sizeof(item), "%s%s", instead ? "{ " : needed ? "" : "[ ",
		       field->flags & WEIR_NOT ? "[not] " : "");
	for (at = word; at->name; at++) {
		other = at->is;
		if (at != instead && (at->in != word->in || other->attr != field->attr ||
				      (at != word && other == field)))
			continue;
		weir_field_value(other, value);
		len += snprintf(item + len, sizeof(item) - len, "%s%s%s%s",
				at == word ? "" : " | ", stands_alone(other) ?
				weir_field_name(other, name) : at->name,
				*value && !stands_alone(other) ? " " : "",
				stands_alone(other) ? "" : value);
	}
	snprintf(item + len, sizeof(item) - len, "%s", instead ? " }" : needed ? "" : " ]");
	put_item(to, column, item);
}

static void put_usage(FILE *to, const struct weir_object *object,
		      const struct weir_command *command, const char *begin)
{
	struct weir_word words[WEIR_WORDS_MAX] = { 0 };
	const struct weir_word *word;
	int column;

	column = fprintf(to, "%s weir %s", begin, object->name);
	if (weir_verb_of(object, command))
		column += fprintf(to, " %s", command->name);
	if (command->set)
		weir_set_words(command->set, command->verb, words);
	for (word = words; word->name; word++)
		put_word(to, &column, words, word, command->verb);
	fputc('\n', to);
}

void weir_help_object(FILE *to, const struct weir_object *object)
{
	const struct weir_command *command;

	for (command = object->commands; command->name; command++)
		put_usage(to, object, command, command == object->commands ? "Usage:" : "      ");
	if (object->terms)
		fprintf(to, "%s\n", object->terms);
}

void weir_help_command(FILE *to, const struct weir_object *object,
		       const struct weir_command *command)
{
	struct weir_word words[WEIR_WORDS_MAX] = { 0 };
	char name[WEIR_TEXT_SIZE], value[WEIR_TEXT_SIZE];
	const struct weir_field *field, *last = NULL;
	const struct weir_command *other;
	const struct weir_word *word;
	int used;

	put_usage(to, object, command, "Usage:");
	for (other = object->commands + 1; !weir_verb_of(object, command) && other->name; other++)
		put_usage(to, object, other, "      ");
	fprintf(to, "%s\n", command->help);
	if (command->set)
		weir_set_words(command->set, command->verb, words);
	for (word = words; word->name; word++) {
		field = word->is;
		if (!field->help || field == last)
			continue;
		if (field->flags & WEIR_NOT && !(last && last->flags & WEIR_NOT))
			fprintf(to, "  %-8s %-*s only packets that do not match it\n",
				"not", VALUE, "CONDITION");
		last = field;
		weir_field_value(field, value);
		if (stands_alone(field))
			*value = '\0';
		weir_field_name(field, name);
		used = fprintf(to, "  %-8s%s%s", name, *value ? " " : "", value);
		if (used > HELP) {
			fputc('\n', to);
			used = 0;
		}
		fprintf(to, "%*s %s\n", HELP - used, "", field->help);
	}
}
