/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objects and their commands, and what a command line may have besides. */
#ifndef WEIR_COMMANDS_H
#define WEIR_COMMANDS_H

#include "state/state.h"

extern const struct weir_object weir_objects[];

/* The word that selects a command of an object; or NULL. */
static inline const char *weir_verb_of(const struct weir_object *object,
				       const struct weir_command *command)
{
	return object->alone && command == object->commands ? NULL : command->name;
}

/* run.c: parse object, command and words; -EINVAL with a sentence. */
int weir_read(struct weir_args *args, struct weir_reading *reading);
/* Remove "help" before object or verb, or at the end; elsewhere it may be a name. */
bool weir_take_help(char **words, int *count);
/* Run one command, of @lines or NULL, and print its error; returns an enum weir_exit. */
int weir_run_words(struct weir_tool *tool, char **words, int count, const struct weir_lines *lines);
/* batch.c: an enum weir_exit */
int weir_run_batch(struct weir_tool *tool, const char *path);

/* Commands that are not generic */
weir_run weir_list_run, weir_list_show, weir_limit_change, weir_limit_rename, weir_limit_rezone,
	weir_source_show, weir_source_get, weir_source_charge, weir_source_block,
	weir_source_release,
	weir_monitor, weir_metrics;
weir_tell weir_warn_set, weir_warn_limit_del, weir_warn_limit_flush,
	  weir_warn_exempt_flush, weir_warn_block_flush, weir_warn_forget, weir_warn_exempt;
/* source.c: warn of limits under which the block of a source would block others with it. */
weir_tell weir_warn_source_block;

/* help.c */
void weir_help(FILE *to);
void weir_help_object(FILE *to, const struct weir_object *object);
void weir_help_command(FILE *to, const struct weir_object *object,
		       const struct weir_command *command);

/* options.c */
/* Rows with the same letter are synonyms; a NULL name ends the table. */
struct weir_option {
	const char *name;
	int letter;
	const char *value;	/* placeholder in help; NULL: takes no value */
	const char *help;
	size_t to;		/* offset in weir_tool: of a bool, or of the value */
};

extern const struct weir_option weir_options[];
/* Parse the options; returns the index of the first other word, or -EINVAL. */
int weir_take_options(struct weir_tool *tool, int argc, char **argv);
/* Whether a word is an option. */
bool weir_option_is(char *word);

/* complete.c: print the candidates for the next word. */
void weir_complete(struct weir_tool *tool, int argc, char **argv);

/*
 * schema.c: print the JSON schema of the output. Its version is raised when a key is removed,
 * renamed, made optional, or gets another type, unit or meaning; keys may be added without.
 */
#define WEIR_SCHEMA_VERSION	1
void weir_schema(struct weir_out *out);

#endif
