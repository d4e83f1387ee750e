/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a run of the tool, and its commands. */
#ifndef WEIR_TOOL_H
#define WEIR_TOOL_H

#include "err.h"
#include "lang/out.h"
#include "lang/place.h"
#include "lang/value.h"
#include "show/show.h"
#include "wire/netlink.h"

#define WEIR_NETNS_DIR		"/run/netns"	/* as ip-netns(8) */

struct weir_reading;

struct weir_tool {
	bool stats, force, check, timestamp, exist, version, schema, help;
	bool quiet;		/* no notes */
	bool spared;		/* by -exist: there was nothing to change */
	bool changed;		/* a line of a batch has, or may have, changed something */
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
	const struct weir_space *detached;	/* whose XDP programs are off for now, or NULL */
	const char *limit;	/* being changed, or NULL */
	const struct weir_config *config;	/* being applied, or NULL */
	const char *file;	/* being read, or NULL */
	const struct weir_places *places;	/* of its lines, or NULL: it has them all */
	int64_t ahead_ms;	/* by which the clock was set on since it was written, or 0 */
	unsigned int line;	/* in @places; without them, in the file */
	unsigned int column;	/* of the word at fault, or 0 */
	unsigned int below;	/* lines between that of the word and the first it continues */
	const char *source;	/* the line of that word */
	int length;		/* of the word */
	struct weir_err err;
};

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

/* A command's words, as far as they could be parsed. */
struct weir_reading {
	const struct weir_object *object;
	const struct weir_command *command;
	union weir_model model;
};

#endif
