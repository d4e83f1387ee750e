/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run of the tool has, and the commands that it knows. */
#ifndef WEIR_TOOL_H
#define WEIR_TOOL_H

#include "err.h"
#include "nl.h"
#include "out.h"
#include "show.h"

#define WEIR_NETNS_DIR	"/run/netns"	/* where ip-netns(8) names them */

struct weir_tool {
	bool stats, force, check, timestamp, exist, version, help;
	const char *batch, *config_file;
	int wants;		/* letter of the option whose value is missing; or 0 */
	struct weir_out out;
	const char *netns;	/* where it acts, or NULL: the caller's */
	bool elsewhere;		/* that is not the caller's */
	struct weir_nl nl;	/* weir_tool_reach() opens it */
	bool reached;
	unsigned long answers;	/* that weir_run_show() has shown */
	union weir_model answer;	/* the last of them */
	const char *limit;	/* that is being changed, or NULL */
	const struct weir_config *config;	/* that is being applied, or NULL */
	const char *file;	/* that words are read from, or NULL */
	unsigned int line;
	unsigned int column;	/* of the word that is wrong; or 0 */
	const char *source;	/* the line that it is on */
	int length;		/* of the word */
	struct weir_err err;	/* what went wrong */
};

struct weir_lines;
struct weir_object;

struct weir_command;
/* Carries a command out, with the module reached; an enum weir_exit. */
typedef int weir_run(struct weir_tool *tool, const struct weir_command *command,
		     union weir_model *model);
/* Says on stderr what there is to say of what is carried out, or checked. */
typedef void weir_tell(struct weir_tool *tool, const void *model);

struct weir_command {
	const char *name, *alias;
	const char *help;
	const struct weir_set *set;	/* of its words; NULL: it has none */
	unsigned int verb;		/* those of the set that it takes */
	uint8_t cmd;			/* that the generic ones send */
	uint16_t flags;			/* NLM_F_DUMP */
	const struct weir_set *told;	/* of the answers */
	weir_show_model *show;		/* each of them */
	int allowed;			/* the errno that -exist takes for success */
	bool checks;			/* the kernel can check it, and change nothing */
	weir_run *run;
	weir_tell *warn;	/* of what may be regretted, before it is done; or NULL */
	weir_tell *note;	/* of what is worth knowing, once it is done; or NULL */
};

struct weir_object {
	const char *name, *help;
	const struct weir_command *commands;	/* none named: the first */
	bool alone;		/* no verb: the first is all there is */
	const char *terms;	/* what its help names and does not tell; or NULL */
};

extern const struct weir_object weir_objects[];

/* run.c: the words of a command, as far as they could be read. */
struct weir_reading {
	const struct weir_object *object;
	const struct weir_command *command;
	union weir_model model;
};

/* Read object, command and words; -EINVAL with a sentence. */
int weir_read(struct weir_args *args, struct weir_reading *reading);
/* Take out "help" before object or verb, or at the end; elsewhere it may be a name. */
bool weir_take_help(char **words, int *count);
/* Run one command, of @lines or NULL, and say on stderr what went wrong; an enum weir_exit. */
int weir_run_words(struct weir_tool *tool, char **words, int count,
		   const struct weir_lines *lines);

/* request.c: have the module at hand; WEIR_EXIT_OK, or another with a sentence. */
int weir_tool_reach(struct weir_tool *tool);
/* What a request's end means: WEIR_EXIT_OK, or another with a sentence. */
int weir_tool_settle(struct weir_tool *tool, const struct weir_request *request, int allowed);
/* What a command sends of a model, and what it is told. */
struct weir_request weir_request_of(const struct weir_command *command, const void *model);
/* Send a command; the other shows what is answered. */
weir_run weir_run_plain, weir_run_show;
/* Whether the limits that a command names exist; an enum weir_exit. */
int weir_check_names(struct weir_tool *tool, const struct weir_command *command,
		     const union weir_model *model);
/* Read the limits, and the exemptions, that there are; an enum weir_exit. */
int weir_get_config(struct weir_tool *tool, struct weir_config *config, bool exempts);
/* Ask for a limit by its name. */
int weir_get_limit(struct weir_tool *tool, const char *name,
		   struct weir_limit *limit, struct weir_request *request);

/* note.c: what is said on stderr; @kind: "note", "warning", NULL of a failure. */
void weir_note(struct weir_tool *tool, const char *kind, const char *fmt, ...) WEIR_PRINTF(3);
/* What went wrong, of a command or NULL. */
void weir_complain(struct weir_tool *tool, const char *what);
/* Pass on a warning of the kernel. */
void weir_note_kernel(struct weir_tool *tool, const struct weir_request *request);
/* A device that does not exist, once; it may come. */
void weir_note_dev(struct weir_tool *tool, const char *dev);
/* What an exemption names, and takes in; what a match also takes in. */
weir_tell weir_note_exempt, weir_note_limit;
/* Of a limit, or NULL, whose name @sentence follows; in a file once, and then counted. */
void weir_note_of(struct weir_tool *tool, const char *kind,
		  const char *limit, const char *sentence);
/* How often more what was said of a file would be, at its end. */
void weir_notes_end(struct weir_tool *tool);

/* ssh.c: a limit that will meet the caller's own connection. */
void weir_note_ssh(struct weir_tool *tool, const struct weir_limit *limit, bool exists);

/* limit.c, source.c, monitor.c, save.c: commands that are not generic. */
weir_run weir_limit_change, weir_source_get, weir_source_charge,
	weir_monitor, weir_save;
weir_tell weir_warn_add, weir_warn_set;

/* help.c */
void weir_help(FILE *to);
void weir_help_object(FILE *to, const struct weir_object *object);
void weir_help_command(FILE *to, const struct weir_object *object,
		       const struct weir_command *command);

/* options.c */
/* Rows of one letter are one option; the name NULL ends them. */
struct weir_option {
	const char *name;
	int letter;
	const char *value;	/* what follows, as help names it; or NULL */
	const char *help;
	size_t to;		/* where it is noted: a bool, or the value */
};

extern const struct weir_option weir_options[];
/* Read the options; the index of the first other word, or -EINVAL. */
int weir_take_options(struct weir_tool *tool, int argc, char **argv);
/* Whether a word is an option, which has no place after a command. */
bool weir_option_is(char *word);

/* complete.c: print what may come next. */
void weir_complete(struct weir_tool *tool, int argc, char **argv);

/* schema.c: print the JSON schema of what is shown. */
void weir_schema(struct weir_out *out);

/* lines.c: a file of commands, line by line in words. */
#define WEIR_LINE_WORDS	128

struct weir_lines {
	FILE *file;
	char *whole;		/* the file, if it is kept */
	ssize_t size;
	char *source, *text;	/* the words' line as it was, and with the words ended */
	char *next;		/* the line just read */
	size_t room;
	unsigned int line;	/* where the words begin */
	unsigned int read;	/* lines so far */
	bool filled;		/* not all of it is blank: comments too */
	bool failed;		/* it cannot be read on */
	unsigned int bad;	/* items that were complained of */
	int count;
	char *words[WEIR_LINE_WORDS];
};

/* Open a file, "-" is stdin; close in any case. @keep: it can be read again, a pipe too. */
int weir_lines_open(struct weir_lines *lines, const char *path, bool keep, struct weir_err *err);
/* The words of the next line that has any: 1, 0 at the end, -EINVAL. */
int weir_lines_next(struct weir_lines *lines, struct weir_err *err);
void weir_lines_close(struct weir_lines *lines);
/* Have what is said next point at @at, of lines from @begin, the first tool's own. */
void weir_point(struct weir_tool *tool, const char *begin, const char *at, int length);
/* ... at a word; -1: at the line. */
void weir_lines_point(const struct weir_lines *lines, int word, struct weir_tool *tool);

/* lines.c, file.c, netns.c: an enum weir_exit */
int weir_run_batch(struct weir_tool *tool, const char *path);
int weir_apply_file(struct weir_tool *tool, const char *path);
/*
 * file.c: read an item and add it to @config; @fault: the word at fault. -ENOENT: the
 * limit that it is to precede is not there.
 */
int weir_read_item(struct weir_tool *tool, char **words, int count,
		   struct weir_config *config, int *fault);
/* Say that an item is bad; whether there have been enough of them. */
bool weir_count_bad(struct weir_tool *tool, struct weir_lines *lines);
/* json.c: read the JSON of a file that is kept. */
void weir_read_json(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config);
/* Have the value of a key, or an item that lacks it, be pointed at. */
void weir_json_point(struct weir_tool *tool, const char *text, unsigned int line,
		     unsigned int column, const char *key);
int weir_enter_netns(struct weir_tool *tool);

#endif
