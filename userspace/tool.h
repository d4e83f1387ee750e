/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run of the tool has, and the commands that it knows. */
#ifndef WEIR_TOOL_H
#define WEIR_TOOL_H

#include "err.h"
#include "nl.h"
#include "parse.h"
#include "show.h"
#include "ssh.h"

#define WEIR_NETNS_DIR	"/run/netns"	/* where ip-netns(8) names them */

struct weir_tool {
	bool stats, force, check, timestamp, exist;
	const char *netns;	/* where it acts, or NULL: the caller's */
	bool elsewhere;		/* that is not the caller's */
	struct weir_nl *nl;	/* weir_tool_reach() opens it */
	const char *limit;	/* that is being changed, or NULL */
	char warned[160];	/* what the kernel thinks of it, or "" */
	const struct weir_config *config;	/* that is being applied, or NULL */
	const char *file;	/* that words are read from, or NULL */
	unsigned int line;
	struct weir_err err;	/* what went wrong */
};

union weir_model {
	struct weir_limit limit;
	struct weir_exempt exempt;
	struct weir_query query;
};

enum weir_model_kind {
	WEIR_MODEL_NONE,
	WEIR_MODEL_LIMIT,
	WEIR_MODEL_EXEMPT,
	WEIR_MODEL_QUERY,
};

struct weir_command {
	const char *name;	/* first in every row: weir_pick() */
	const char *help;	/* NULL: another name, not told */
	const struct weir_word *words;
	enum weir_model_kind model;	/* what the words make */
	/* returns an enum weir_exit; the module is reached */
	int (*run)(struct weir_tool *tool, union weir_model *model);
	/* what is worth saying of it where it is checked; or NULL */
	void (*note)(struct weir_tool *tool, union weir_model *model);
};

struct weir_object {
	const char *name;	/* first in every row: weir_pick() */
	const char *help;
	const struct weir_command *commands;	/* none named: the first */
	bool alone;		/* no verb: the first is all there is */
	const char *terms;	/* what its help names and does not tell; or NULL */
};

/* run.c: from words to a command's exit */
extern const struct weir_object weir_objects[];
int weir_tool_reach(struct weir_tool *tool);
int weir_tool_settle(struct weir_tool *tool, int ret, int allowed);
const void *weir_pick_object(const void *rows, size_t stride, const char *word,
			     bool exact, struct weir_err *err);
int weir_parse_words(struct weir_tool *tool, const struct weir_command *command,
		     struct weir_args *args, union weir_model *model);
const struct weir_command *weir_pick_command(const struct weir_object *object,
					     const char *verb, bool exact,
					     struct weir_err *err);
int weir_run_words(struct weir_tool *tool, char **words, int count, bool exact);

/* note.c: what is said on stderr */
void weir_note_kernel(const struct weir_nl_warning *warning, void *data);
void weir_note_warned(struct weir_tool *tool);
void weir_note_refused(const struct weir_tool *tool, uint64_t cost,
		       uint64_t left);
void weir_note_lost(const struct weir_tool *tool, const struct weir_match *was,
		    const struct weir_limit *limit);
void weir_complain(const struct weir_tool *tool, const char *what);
void weir_note_dev(const struct weir_tool *tool, const char *dev);
void weir_note_limit(const struct weir_tool *tool,
		     const struct weir_limit *limit);
void weir_note_ssh(const struct weir_tool *tool, const struct weir_ssh *ssh,
		   const char *limit);
void weir_note_interrupted(const struct weir_tool *tool);
void weir_notes_end(struct weir_tool *tool);

/* a file each */
extern const struct weir_command weir_limit_commands[],
	weir_source_commands[], weir_exempt_commands[], weir_stats_commands[],
	weir_monitor_commands[], weir_save_commands[];

/* help.c */
void weir_help(FILE *to);
void weir_help_object(FILE *to, const struct weir_object *object);
void weir_help_command(FILE *to, const struct weir_object *object,
		       const struct weir_command *command);

/* options.c */
enum weir_option_id {		/* or a letter */
	WEIR_OPT_CHECK = 256,
	WEIR_OPT_FORCE,
	WEIR_OPT_EXIST,
};

struct weir_option {
	const char *name;	/* first in every row: weir_match() */
	int id;			/* rows of one id are one option */
	const char *value;	/* what follows, as help names it; or NULL */
	bool may;		/* the value follows a =, or is left out */
};

struct weir_given {
	const struct weir_option *option;
	const char *value;	/* or NULL */
	const char *letters;	/* the rest of a word like -jp; or NULL */
};

extern const struct weir_option weir_options[];
int weir_option_take(struct weir_args *args, struct weir_given *given);
bool weir_option_is(const char *word);

/* complete.c */
void weir_complete(struct weir_tool *tool, int count, char **words);

/* lines.c, file.c, netns.c */
int weir_run_batch(struct weir_tool *tool, const char *path);
int weir_apply_file(struct weir_tool *tool, const char *path);
int weir_enter_netns(struct weir_tool *tool);

#endif
