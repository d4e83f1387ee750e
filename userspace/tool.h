/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a run of the tool, and its commands. */
#ifndef WEIR_TOOL_H
#define WEIR_TOOL_H

#include "err.h"
#include "nl.h"
#include "out.h"
#include "place.h"
#include "show.h"

#define WEIR_NETNS_DIR	"/run/netns"	/* as ip-netns(8) */

struct weir_args;
struct weir_reading;

struct weir_tool {
	bool stats, force, check, timestamp, exist, version, schema, help;
	bool quiet;		/* no notes */
	const char *batch, *config_file;
	const char *fallback;	/* for config_file, or NULL */
	const char *timeout;	/* of a wait; or NULL */
	uint64_t timeout_ms;
	bool bare_color;	/* -color without a value */
	int wants;		/* letter of the option whose value is missing; or 0 */
	struct weir_out out;
	const char *netns;	/* or NULL: the caller's */
	bool elsewhere;		/* netns is not the caller's */
	bool outside;		/* -check could not enter netns */
	struct weir_nl nl;	/* weir_tool_reach() opens it */
	bool reached;
	bool missing;		/* the module is not loaded */
	bool loads;		/* load the module if it is not there */
	/* weir_read(), for files, and commands that run others */
	int (*read)(struct weir_args *args, struct weir_reading *reading);
	bool limits_asked, limits_none;	/* what weir_without_limits() knows */
	unsigned long answers;	/* shown by weir_run_show() */
	union weir_model answer;	/* the last of them */
	const char *limit;	/* being changed, or NULL */
	const struct weir_config *config;	/* being applied, or NULL */
	const char *file;	/* being read, or NULL */
	const struct weir_places *places;	/* of its lines, or NULL: it has them all */
	unsigned int line;
	unsigned int column;	/* of the word at fault, or 0 */
	const char *source;	/* the line of that word */
	int length;		/* of the word */
	struct weir_err err;
};

struct weir_lines;
struct weir_object;

struct weir_command;
/* Runs a command once the module is open; returns an enum weir_exit. */
typedef int weir_run(struct weir_tool *tool, const struct weir_command *command,
		     union weir_model *model);
/* Prints warnings or notes on a command that is run or checked. */
typedef void weir_tell(struct weir_tool *tool, const void *model);

struct weir_command {
	const char *name, *alias;
	const char *help;
	const struct weir_set *set;	/* its words; NULL: none */
	unsigned int verb;		/* selects the words it accepts */
	uint8_t cmd;			/* WEIR_CMD_*, for weir_run_plain and _show */
	uint16_t flags;			/* NLM_F_DUMP */
	const struct weir_set *reply_set;	/* fields of the answers */
	weir_show_model *show;		/* shows an answer */
	int allowed;			/* errno that is success with -exist */
	bool checks;			/* the kernel supports a dry run of it */
	bool loads;			/* the module, if it is not there */
	bool absent;			/* it also runs without the module */
	bool compares;			/* its status is as that of diff(1) */
	weir_run *run;
	weir_tell *warn;	/* before it is run; or NULL */
	weir_tell *note;	/* after it was run; or NULL */
};

struct weir_object {
	const char *name, *help;
	const struct weir_command *commands;	/* the first is the default */
	bool alone;		/* has a single command, without a verb */
	const char *terms;	/* explains terms at the end of its help; or NULL */
};

extern const struct weir_object weir_objects[];

/* run.c: a command's words, as far as they could be parsed. */
struct weir_reading {
	const struct weir_object *object;
	const struct weir_command *command;
	union weir_model model;
};

/* Parse object, command and words; -EINVAL with a sentence. */
int weir_read(struct weir_args *args, struct weir_reading *reading);
/* Remove "help" before object or verb, or at the end; elsewhere it may be a name. */
bool weir_take_help(char **words, int *count);
/* Run one command, of @lines or NULL, and print its error; returns an enum weir_exit. */
int weir_run_words(struct weir_tool *tool, char **words, int count,
		   const struct weir_lines *lines);

/* request.c: open the module unless it is; WEIR_EXIT_OK, or another with a sentence. */
int weir_tool_reach(struct weir_tool *tool);
/* Ask, and let request->reply show and count the answers, as a list. As weir_tool_settle(). */
int weir_tool_list(struct weir_tool *tool, struct weir_request *request, int allowed);
/* Turn a request's result into WEIR_EXIT_OK, or another with a sentence. */
int weir_tool_settle(struct weir_tool *tool, const struct weir_request *request, int allowed);
/* The request that a command makes. */
struct weir_request weir_request_of(const struct weir_command *command, const void *model);
/* Send a command; the second also shows the answers. */
weir_run weir_run_plain, weir_run_show;
/* Is it about exemptions, or blocked prefixes? */
bool weir_command_exempts(const struct weir_command *command);
/* Check that the limits that a command names exist; returns an enum weir_exit. */
int weir_check_names(struct weir_tool *tool, const struct weir_command *command,
		     const union weir_model *model);
/* Dump the limits, and if wanted the exemptions and lists; returns an enum weir_exit. */
int weir_get_config(struct weir_tool *tool, struct weir_config *config, bool all);
int weir_get_limit(struct weir_tool *tool, const char *name,
		   struct weir_limit *limit, struct weir_request *request);

/* note.c: while another file is read, messages name its lines. */
struct weir_site {
	const char *file;
	unsigned int line;
};

struct weir_site weir_site_enter(struct weir_tool *tool, const char *path);
void weir_site_leave(struct weir_tool *tool, struct weir_site site);

/* Print a message on stderr; @kind: "note", "warning", NULL: an error. */
void weir_note(struct weir_tool *tool, const char *kind, const char *fmt, ...) WEIR_PRINTF(3);
/* Print tool->err, with the source line if its column is set; @what: a prefix or NULL. */
void weir_complain(struct weir_tool *tool, const char *what);
/* With -check, say once why the kernel was not asked. */
void weir_note_unasked(struct weir_tool *tool, const char *why);
/* Print the kernel's warning. */
void weir_note_kernel(struct weir_tool *tool, const struct weir_request *request);
#define WEIR_NO_DEVICE	"there is no device '%s'"
bool weir_dev_exists(const char *dev);
/* Warn, once, of a device that does not exist. */
void weir_note_dev(struct weir_tool *tool, const char *dev);
/* Warn of an unknown device, or of an exemption or a match wider than expected. */
weir_tell weir_note_exempt, weir_note_block, weir_note_limit;
/* Is it known that there is no limit? */
bool weir_without_limits(struct weir_tool *tool);
/* Print @sentence after the limit's name, or alone. In a file, once; repeats are counted. */
void weir_note_of(struct weir_tool *tool, const char *kind,
		  const char *limit, const char *sentence);
/* At the end of a file, print how many repeats there were. */
void weir_notes_end(struct weir_tool *tool);

/*
 * ssh.c: warn of a limit, or a block, that would match the caller's own connection, and of
 * an exemption of it that ends or is removed.
 */
void weir_note_ssh(struct weir_tool *tool, const struct weir_limit *limit, bool exists);
weir_tell weir_warn_block, weir_warn_source, weir_warn_exempt, weir_warn_unexempt,
	  weir_warn_flush;

/* exempt.c: the words that name an exemption, or a blocked prefix. */
#define WEIR_EXEMPT_SIZE	(WEIR_TEXT_SIZE + WEIR_DEV_SIZE + WEIR_NAME_SIZE + 16)
const char *weir_exempt_words(const struct weir_exempt *exempt, char text[WEIR_EXEMPT_SIZE]);

/*
 * limit.c, exempt.c, source.c, monitor.c, top_run.c, save.c, diff.c, metrics.c, xdp.c: commands
 * that are not generic.
 */
weir_run weir_list_run, weir_limit_change, weir_limit_rezone, weir_exempt_del, weir_source_get,
	weir_source_charge, weir_source_block, weir_source_release, weir_monitor, weir_top,
	weir_save, weir_diff_run, weir_metrics, weir_xdp_attach, weir_xdp_detach, weir_xdp_show;
weir_tell weir_warn_add, weir_warn_set, weir_warn_limit_del, weir_warn_limit_flush,
	  weir_warn_forget;
/* Say how many sources are released with a limit. */
void weir_warn_blocked(struct weir_tool *tool, const struct weir_limit *limit);

/*
 * xdp.c: have the program on the devices of a configuration: an enum weir_exit with a sentence
 * and the index of the device at fault, as they were then; undo that, for the first @count of
 * them; remove it from all other devices, with a warning where that fails.
 */
int weir_xdp_apply(struct weir_tool *tool, struct weir_config *config, unsigned int *bad);
void weir_xdp_undo(const struct weir_config *config, unsigned int count);
void weir_xdp_prune(struct weir_tool *tool, const struct weir_config *config);
/* The devices with the program, sorted by name, WEIR_EARLY_MAX at most; returns their number. */
unsigned int weir_xdp_list(struct weir_tool *tool, struct weir_xdp *list);

/* state.c: what goes on under the limits, for monitor. */
struct weir_seen {
	char limit[WEIR_NAME_SIZE];
	uint64_t due_ms;		/* when to look again; 0: after the next event */
	/* counters at the last look */
	uint64_t blocked, dropped, refused, evictions, floor_refused;
};

struct weir_states {
	unsigned int count;
	struct weir_seen seen[WEIR_LIMITS_MAX];
};

void weir_state_wake(struct weir_states *states, const struct weir_limit *limit);
int weir_state_wait(const struct weir_states *states);
bool weir_state_first(struct weir_tool *tool, struct weir_states *states, const char *limit,
		      struct weir_state *state);
bool weir_state_next(struct weir_tool *tool, struct weir_states *states,
		     struct weir_state *state);

/*
 * replace.c: write a file with what @put writes, beside it, and rename it: nobody reads a part.
 * A device or a pipe is written to. An enum weir_exit with a sentence.
 */
typedef void weir_put_file(struct weir_out *out, const void *data);
int weir_replace_file(struct weir_tool *tool, const char *path, weir_put_file *put,
		      const void *data);

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

/* schema.c: print the JSON schema of the output. */
void weir_schema(struct weir_out *out);

/* lines.c: a file of commands, split into lines and words. */
#define WEIR_LINE_WORDS	128
/* The largest configuration is smaller. */
#define WEIR_FILE_BYTES	(16 << 20)

/* A UTF-8 byte order mark, which some editors write. */
#define WEIR_BOM	"\xef\xbb\xbf"

/* Invalid items to report before giving up. */
#define WEIR_BAD_LINES	16

struct weir_lines {
	FILE *file;
	char *whole;		/* the file's content, if kept */
	ssize_t size;
	char *source, *text;	/* the line, and a copy cut into words */
	size_t source_room;	/* bytes of @source, which grow to twice as many */
	char *next;		/* getline() buffer */
	size_t room;
	unsigned int line;	/* of the first word */
	unsigned int read;	/* lines so far */
	bool filled;		/* not all blank; comments count */
	bool failed;		/* a read error; no more lines */
	unsigned int bad;	/* invalid items so far */
	int count;
	char *words[WEIR_LINE_WORDS];
	size_t at[WEIR_LINE_WORDS];	/* where they begin in the source */
};

/* Open a file ("-": stdin); close even on error. @keep: buffer it, so that pipes rewind. */
int weir_lines_open(struct weir_lines *lines, const char *path, bool keep, struct weir_err *err);
/* Read the next line that has words: 1, 0 at the end, -EINVAL. */
int weir_lines_next(struct weir_lines *lines, struct weir_err *err);
/* Read from the start of another text, from malloc(), in place of the file. */
int weir_lines_replace(struct weir_lines *lines, char *text, size_t size, struct weir_err *err);
void weir_lines_close(struct weir_lines *lines);
/* Make the next error point at @at; @begin: start of the line tool->line. */
void weir_point(struct weir_tool *tool, const char *begin, const char *at, int length);
/* Make the next error point at a word; -1: only at the line. */
void weir_lines_point(const struct weir_lines *lines, int word, struct weir_tool *tool);

/*
 * include.c: put the files that a buffered file includes in the place of the lines that do, and
 * say in @places, if there are some, which line is whose; -EINVAL with a sentence, or -ECANCELED
 * if it has been printed.
 */
int weir_include_all(struct weir_tool *tool, const char *path, struct weir_lines *lines,
		     struct weir_places *places);

/* batch.c, file.c, netns.c: an enum weir_exit */
int weir_run_batch(struct weir_tool *tool, const char *path);
int weir_apply_file(struct weir_tool *tool, const char *path);
/* fallback.c; the status is that of @path. */
int weir_apply_or_fall_back(struct weir_tool *tool, const char *path, const char *fallback);
/* Read a file of either format, and if the module is there have it checked; errors are printed. */
int weir_read_file(struct weir_tool *tool, const char *path, struct weir_config *config);
/*
 * item.c: parse an item and add it to @config; @fault: index of the word at fault.
 * -ENOENT: the limit named by "before" does not exist.
 */
int weir_read_item(struct weir_tool *tool, char **words, int count,
		   struct weir_config *config, int *fault);
/* Print an item's error; whether the limit of reported errors is reached. */
bool weir_count_bad(struct weir_tool *tool, struct weir_lines *lines);
/* json.c: read a buffered file as JSON. */
void weir_read_json(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config);
/*
 * Make the next error point at the value of a key, or at the item that lacks it; @budget: of
 * that budget of a limit, by its number from 1, or 0.
 */
void weir_json_point(struct weir_tool *tool, const char *text, unsigned int line,
		     unsigned int column, const char *key, unsigned int budget);
int weir_enter_netns(struct weir_tool *tool);

#endif
