/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a run of the tool, and its commands. */
#ifndef WEIR_TOOL_H
#define WEIR_TOOL_H

#include "err.h"
#include "wire/nl.h"
#include "lang/out.h"
#include "lang/place.h"
#include "show/show.h"

#define WEIR_NETNS_DIR		"/run/netns"	/* as ip-netns(8) */
#define WEIR_UPGRADE_DIR	"/run/weir-upgrade"	/* while an upgrade runs */

struct weir_args;
struct weir_reading;

struct weir_tool {
	bool stats, force, check, timestamp, exist, version, schema, help;
	bool quiet;		/* no notes */
	const char *batch, *config_file;
	const char *fallback;	/* for config_file, or of what monitor sees come; or NULL */
	const char *resume;	/* before config_file is applied, or NULL */
	bool resumed;		/* that state is in force */
	const char *timeout;	/* of a wait; or NULL */
	uint64_t timeout_ms;
	const char *confirm;	/* time after which a change is taken back; or NULL */
	uint64_t confirm_ms;
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
	bool spare_asked, limits_spare;	/* whether some may not drop from a blocked prefix */
	unsigned long answers;	/* shown by weir_run_show() */
	union weir_model answer;	/* the last of them */
	bool upgrades;		/* the module; others wait until that is over */
	const struct weir_space *detached;	/* whose XDP programs are off for now, or NULL */
	const char *limit;	/* being changed, or NULL */
	const struct weir_config *config;	/* being applied, or NULL */
	const char *file;	/* being read, or NULL */
	const struct weir_places *places;	/* of its lines, or NULL: it has them all */
	unsigned int line;	/* in @places; without them, in the file */
	unsigned int column;	/* of the word at fault, or 0 */
	unsigned int below;	/* lines between that of the word and the first it continues */
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
	const char *prints;		/* name of the schema of what is in its array, in JSON */
	bool single;			/* it is not in an array */
	int allowed;			/* errno that is success with -exist */
	bool checks;			/* the kernel supports a dry run of it */
	bool loads;			/* the module, if it is not there */
	bool absent;			/* it also runs without the module */
	bool compares;			/* its status is as that of diff(1) */
	bool reaches;			/* the module by itself, if it needs it */
	bool changes;			/* what -confirm takes back */
	bool drops;			/* packets, maybe those of the caller's own connection */
	weir_run *run;
	weir_tell *warn;	/* before it is run; or NULL */
	weir_tell *note;	/* after it was run; or NULL */
};

struct weir_object {
	const char *name, *help;
	const struct weir_command *commands;	/* the first is the default */
	bool alone;		/* its first command has no verb */
	const char *terms;	/* explains terms at the end of its help; or NULL */
};

extern const struct weir_object weir_objects[];

/* The word that selects a command of an object; or NULL. */
static inline const char *weir_verb_of(const struct weir_object *object,
				       const struct weir_command *command)
{
	return object->alone && command == object->commands ? NULL : command->name;
}

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
/*
 * The same for a note, or for a better sentence, until the next call: the error stays as it is.
 * NULL: it cannot be had.
 */
struct weir_config *weir_there(struct weir_tool *tool, bool all);
/* Likewise only the limits, with their counters. */
struct weir_config *weir_there_counted(struct weir_tool *tool);
int weir_get_limit(struct weir_tool *tool, const char *name,
		   struct weir_limit *limit, struct weir_request *request);

/* note.c: while another file is read, messages name its lines. */
struct weir_site {
	const char *file;
	unsigned int line;
	bool quiet;
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
/* Warn, once, of a device that does not exist. */
void weir_note_dev(struct weir_tool *tool, const char *dev);
/* Warn of an unknown device, or of an exemption or a match wider than expected. */
weir_tell weir_note_exempt, weir_note_limit;
/*
 * list_notes.c: warn of prefixes that a limit leaves out and no other one limits, and note budgets
 * of its list that are for nobody, or for each of several sources.
 */
void weir_note_lists(struct weir_tool *tool, const struct weir_config *config,
		     const struct weir_limit *limit);
/* Likewise, of a limit that is in force, since these words made or changed it. */
void weir_note_listed(struct weir_tool *tool, const struct weir_limit *words);
/* Note lists and budgets of a file that no limit uses. */
void weir_note_unused(struct weir_tool *tool, const struct weir_config *config);
/* After a change, note prefixes that limits do not match any more, or without own budgets. */
void weir_note_lost(struct weir_tool *tool, struct weir_config *was, const struct weir_config *now);
/* Likewise, of a limit that has another list for budgets, or none. */
void weir_note_unlisted(struct weir_tool *tool, const struct weir_config *config,
			const struct weir_limit *limit, const struct weir_limit *was);
/* Note how many prefixes of a list a change would add, remove, or give another budget. */
void weir_note_list(struct weir_tool *tool, const struct weir_config *was,
		    const struct weir_config *now, const char *name);
/* Is it known that there is no limit? */
bool weir_without_limits(struct weir_tool *tool);
#define WEIR_SENTENCE_SIZE	328
/* Print @sentence after the limit's name, or alone. In a file, once; repeats are counted. */
void weir_note_of(struct weir_tool *tool, const char *kind,
		  const char *limit, const char *sentence);
/* At the end of a file, print how many repeats there were. */
void weir_notes_end(struct weir_tool *tool);

/* source.c: warn of limits under which the block of a source would block others with it. */
weir_tell weir_warn_source_block;

/* exempt.c: the words that name an exemption, or a blocked prefix. */
#define WEIR_EXEMPT_SIZE	(WEIR_TEXT_SIZE + WEIR_DEV_SIZE + WEIR_NAME_SIZE + 16)
const char *weir_exempt_words(const struct weir_exempt *exempt, char text[WEIR_EXEMPT_SIZE]);
/* Warn of an unknown device, and of a block of everybody, or of nobody. */
weir_tell weir_note_block;
/*
 * Say of how many exemptions and blocks of a file the end in force stays, as it is nearer, and
 * how many would begin again. Both configurations are sorted.
 */
const struct weir_exempt *weir_exempt_find(const struct weir_config *there,
					   const struct weir_exempt *exempt);
void weir_note_ends(struct weir_tool *tool, const struct weir_config *file,
		    const struct weir_config *there);

/*
 * gone.c: say how many exemptions, blocked prefixes and lists another configuration, which is
 * sorted, does not have; if not @all, only what goes with its limit.
 */
void weir_note_gone(struct weir_tool *tool, struct weir_config *file,
		    const struct weir_config *there, bool all);

/*
 * budgets.c: say which budgets a limit loses by the words of set, and which start from the count of
 * a longer window; or by what it becomes, with all its budgets.
 */
void weir_note_budgets(struct weir_tool *tool, const struct weir_limit *limit);
void weir_note_changed(struct weir_tool *tool, const struct weir_limit *limit,
		       const struct weir_limit *was);
/* Say that the budgets of its list, in that configuration, are of another window or unit. */
void weir_note_scale(struct weir_tool *tool, const struct weir_config *config,
		     const struct weir_limit *limit, const struct weir_limit *was);

/*
 * limit.c, advise.c, exempt.c, source.c, monitor.c, top_run.c, save.c,
 * restore.c, upgrade.c, diff.c, metrics.c, confirm.c, xdp.c: commands that are not generic.
 */
weir_run weir_list_run, weir_limit_change, weir_limit_rename, weir_limit_rezone,
	weir_limit_advise, weir_exempt_del, weir_source_get, weir_source_charge,
	weir_source_block, weir_source_release, weir_monitor, weir_top,
	weir_save, weir_restore, weir_upgrade, weir_diff_run, weir_metrics,
	weir_confirm, weir_confirm_show, weir_xdp_attach, weir_xdp_detach, weir_xdp_show;
weir_tell weir_warn_add, weir_warn_set, weir_warn_limit_del, weir_warn_limit_flush,
	  weir_warn_forget, weir_warn_spared;
/* Say which sources are known then, or no longer, if a limit becomes another. */
void weir_note_known(struct weir_tool *tool, const struct weir_limit *limit,
		     const struct weir_limit *was);
/* "3 known sources are forgotten", after @before; "" for 0. Returns @buf. */
const char *weir_forgotten_text(uint64_t known, const char *before, char buf[WEIR_TEXT_SIZE]);

/*
 * xdp.c: have the program on a device: an enum weir_exit with a sentence, and then the device is as
 * it was; undo that, on all of a configuration; remove it from all other devices, with a note, and
 * a warning where that fails, or with -check only say so.
 */
int weir_xdp_apply(struct weir_tool *tool, struct weir_xdp *at);
void weir_xdp_undo(const struct weir_config *config);
void weir_xdp_prune(struct weir_tool *tool, const struct weir_config *config);
/* The devices with the program, sorted by name, WEIR_EARLY_MAX at most; returns their number. */
unsigned int weir_xdp_list(struct weir_tool *tool, struct weir_xdp *list);
/* Likewise, with what turns each off. */
unsigned int weir_xdp_look(struct weir_tool *tool, struct weir_xdp *list);
/*
 * xdp/ours.c: remove the programs of devices that are gone, in any namespace, and of devices from
 * which another tool has detached them, in this namespace or @everywhere, with a note each; with
 * -check only say so. Returns how many were of devices named @dev, NULL: of any.
 */
unsigned int weir_xdp_clean(struct weir_tool *tool, const char *dev, bool everywhere);

/*
 * replace.c: write a file with what @put writes, beside it, and rename it: nobody reads a part.
 * A device or a pipe is written to. An enum weir_exit with a sentence, which @put may return,
 * too. @mode: of the file, which is then the caller's; 0: mode and owner stay.
 */
typedef int weir_put_file(struct weir_out *out, void *data);
int weir_replace_file(struct weir_tool *tool, const char *path, unsigned int mode,
		      weir_put_file *put, void *data);

struct weir_saved_head;
/* state_head.c: what the clocks show; the second asks the module, too: an enum weir_exit. */
void weir_saved_clocks(struct weir_saved_head *head);
int weir_saved_now(struct weir_tool *tool, struct weir_saved_head *head);
/* A configuration that is in force, as weir save writes it, from malloc(); likewise. */
int weir_config_text(struct weir_tool *tool, struct weir_config *config, char **text, size_t *size);
/* state_save.c: save the configuration with the state of all sources; an enum weir_exit. */
int weir_save_state(struct weir_tool *tool, const char *path);

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
	char *whole;		/* the file's content, or NULL */
	size_t size;
	char *source, *text;	/* the line, and a copy cut into words */
	size_t source_room;	/* bytes of @source, which grow to twice as many */
	char *next;		/* getline() buffer */
	size_t room;
	unsigned int line;	/* of the first word */
	unsigned int read;	/* lines so far */
	bool filled;		/* not all blank; comments count */
	bool failed;		/* a read error; no more lines */
	unsigned int comment;	/* line of the first, but for #! at the beginning; or 0 */
	int count;
	char *words[WEIR_LINE_WORDS];
	size_t at[WEIR_LINE_WORDS];	/* where they begin in the source */
};

/* Read a file ("-": stdin) into memory; close even on error. */
int weir_lines_open(struct weir_lines *lines, const char *path, struct weir_err *err);
/* Likewise a text, from malloc(). */
int weir_lines_text(struct weir_lines *lines, char *text, size_t size, struct weir_err *err);
/* Read the next line that has words: 1, 0 at the end, -EINVAL. */
int weir_lines_next(struct weir_lines *lines, struct weir_err *err);
void weir_lines_close(struct weir_lines *lines);
/* Make the next error point at @at; @begin: start of the line tool->line. */
void weir_point(struct weir_tool *tool, const char *begin, const char *at, int length);
/* Make the next error point at a word; -1: only at the line. */
void weir_lines_point(const struct weir_lines *lines, int word, struct weir_tool *tool);

/*
 * read_config.c: read a file and those that it includes, or a text from malloc(), in place of
 * what the configuration has; errors are printed; an enum weir_exit. Until it is closed, messages
 * name its lines.
 */
int weir_config_read(struct weir_tool *tool, const char *path, struct weir_config *config);
int weir_config_read_text(struct weir_tool *tool, char *text, size_t size,
			  struct weir_config *config);
void weir_config_close(struct weir_tool *tool);
/* Make the next error point at a line's @word, or name, in the budget that @after others follow. */
void weir_config_point(struct weir_tool *tool, unsigned int line, const char *word,
		       unsigned int after);

/* batch.c, file.c, netns.c: an enum weir_exit */
int weir_run_batch(struct weir_tool *tool, const char *path);
int weir_apply_file(struct weir_tool *tool, const char *path);
/*
 * restore.c: if nothing is in force, restore a state, if there is one. One that cannot be is set
 * aside, with a warning.
 */
void weir_resume(struct weir_tool *tool, const char *path);
/*
 * Restore a state that was saved a moment ago, of which nothing need be said, with its XDP programs
 * if @early; an enum weir_exit with a sentence.
 */
int weir_restore_again(struct weir_tool *tool, const char *path, bool early);
/*
 * confirm.c: with -confirm, begin before a change, given its words, and end after it, given its
 * status; @partly: something may have changed although it failed. The first returns an enum
 * weir_exit with a sentence.
 */
int weir_confirm_begin(struct weir_tool *tool, char **words, int count);
int weir_confirm_end(struct weir_tool *tool, int status, bool partly);
/*
 * Note that a change waits to be confirmed; warn that what is done now goes with it, or if that
 * @drops packets and comes over ssh, note how to make it a change that waits.
 */
weir_tell weir_note_pending;
void weir_warn_pending(struct weir_tool *tool, bool drops);
/*
 * mark.c: mark a file that is not confirmed; say that the mark stays; does it hold for a host that
 * boots?
 */
void weir_mark_set(struct weir_tool *tool, const char *file);
void weir_mark_clear(const char *file);
void weir_mark_note(struct weir_tool *tool, const char *file);
bool weir_mark_holds(const char *file, const char *fallback);
/* fallback.c; the status is that of @path. */
int weir_apply_or_fall_back(struct weir_tool *tool, const char *path, const char *fallback);
/*
 * early.c: have the program on devices of the fallback's "early" lines that appeared since the last
 * call. The file descriptor has something to read when one may have.
 */
void weir_early_see(struct weir_tool *tool);
int weir_early_subscribe(void);
/* Read a file, and if wanted ask the module to check it; errors are printed. */
int weir_read_file(struct weir_tool *tool, const char *path, bool asks,
		   struct weir_config *config);
/*
 * A configuration that weir save has written, as a part of something else. Both functions return
 * an enum weir_exit with a sentence.
 */
struct weir_saved {
	const char *file;
	char *text;			/* from malloc(), which is freed */
	size_t size;
	/* or NULL: before it is applied, also with -check */
	int (*before)(struct weir_tool *tool, struct weir_config *config, void *data);
	/* or NULL: after it was; if that fails, it has to take it back */
	int (*after)(struct weir_tool *tool, struct weir_config *config, void *data);
	void *data;
	bool again;			/* it was in force, so nothing need be said of it */
};

/* Apply it, or with -check only read it; errors are printed. */
int weir_apply_saved(struct weir_tool *tool, const struct weir_saved *saved);
int weir_enter_netns(struct weir_tool *tool);

#endif
