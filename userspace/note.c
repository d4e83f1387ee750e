// SPDX-License-Identifier: GPL-2.0-or-later
/* What is said on stderr: what is wrong, and what is worth knowing. */

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "tool.h"
#include "value.h"

/* So many devices that do not exist are enough to say. */
#define DEVS_WARNED	16
/* Sentences of limits that a file may cause more than once. */
#define SENTENCES	8
#define TEXT_ROOM	1024

/* What was said of a limit of the file, and how many more it would be said of. */
static struct said {
	const char *kind;
	char sentence[160];
	unsigned int more;
} said[SENTENCES];

/* A line on stderr: behind what is on stdout, and harmless to terminals. */
static void put_line(const struct weir_tool *tool, const char *kind,
		     const char *text)
{
	char where[TEXT_ROOM] = "";

	weir_out_flush();
	/* the line that the words at hand are on */
	if (tool->file && tool->line)
		snprintf(where, sizeof(where), "%s:%u: ", tool->file,
			 tool->line);
	else if (tool->file)
		snprintf(where, sizeof(where), "%s: ", tool->file);
	fputs("weir: ", stderr);
	if (kind)
		fprintf(stderr, "%s: ", kind);
	weir_out_escape(stderr, where, false);
	weir_out_escape(stderr, text, false);
	fputc('\n', stderr);
}

/* Say what may not be as it was meant, or is worth knowing. */
WEIR_PRINTF(3)
static void say(const struct weir_tool *tool, const char *kind,
		const char *fmt, ...)
{
	char text[TEXT_ROOM];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put_line(tool, kind, text);
}

/**
 * weir_complain - say what went wrong
 * @tool: the run, with its err
 * @what: the command that failed, or NULL
 */
void weir_complain(const struct weir_tool *tool, const char *what)
{
	char text[TEXT_ROOM];

	snprintf(text, sizeof(text), "%s%s%s", what ? what : "",
		 what ? ": " : "", tool->err.text);
	put_line(tool, NULL, text);
}

/* In a file the same is said of the first limit alone, and then counted. */
static bool said_before(const struct weir_tool *tool, const char *kind,
			const char *sentence)
{
	struct said *at;

	for (at = said; tool->file && at < said + SENTENCES; at++) {
		if (!at->kind) {
			at->kind = kind;
			snprintf(at->sentence, sizeof(at->sentence), "%s",
				 sentence);
			return false;
		}
		if (strcmp(at->kind, kind) || strcmp(at->sentence, sentence))
			continue;
		at->more++;
		return true;
	}
	return false;
}

/* Say of a limit what may be said of others too; @sentence begins behind its name. */
static void say_of(const struct weir_tool *tool, const char *kind,
		   const char *limit, const char *sentence)
{
	char text[TEXT_ROOM];

	if (said_before(tool, kind, sentence))
		return;
	snprintf(text, sizeof(text), "limit '%s'%s", limit, sentence);
	put_line(tool, kind, text);
}

/**
 * weir_notes_end - say how often more what was said of a file would be
 * @tool: the run, at the end of the file
 */
void weir_notes_end(struct weir_tool *tool)
{
	const struct said *at;
	char text[TEXT_ROOM];

	tool->line = 0;
	for (at = said; at < said + SENTENCES && at->kind; at++) {
		if (!at->more)
			continue;
		snprintf(text, sizeof(text), "the same of %u more limit%s: %s",
			 at->more, at->more == 1 ? "" : "s",
			 at->sentence + strspn(at->sentence, ": "));
		put_line(tool, at->kind, text);
	}
}

/* Of a configuration the kernel tells the first limit, and how many more. */
static void warn_config(struct weir_tool *tool,
			const struct weir_nl_warning *warning)
{
	const struct weir_limit *limit = &tool->config->limits[warning->place - 1];
	char more[64] = "";

	if (warning->more)
		snprintf(more, sizeof(more), " (%u more limit%s warned of too)",
			 warning->more, warning->more == 1 ? " is" : "s are");
	tool->line = limit->line;
	say(tool, "warning", "limit '%s': %s%s", limit->name, warning->sentence,
	    more);
}

/**
 * weir_note_warned - pass on what the kernel thinks of a limit that it changed
 * @tool: the run, behind what it shows of the limit
 */
void weir_note_warned(struct weir_tool *tool)
{
	if (*tool->warned)
		say_of(tool, "warning", tool->limit, tool->warned);
	*tool->warned = '\0';
}

/**
 * weir_note_kernel - take a warning of the kernel
 * @warning: what it said
 * @data: the run
 */
void weir_note_kernel(const struct weir_nl_warning *warning, void *data)
{
	struct weir_tool *tool = data;

	if (tool->config && warning->place &&
	    warning->place <= tool->config->limit_count) {
		warn_config(tool, warning);
	} else if (tool->limit) {
		snprintf(tool->warned, sizeof(tool->warned), ": %s",
			 warning->sentence);
	} else {
		say(tool, "warning", "%s", warning->sentence);
	}
}

/*
 * Listed once: if_nametoindex() would have the kernel look for a module of
 * each name that it does not know.
 */
static bool dev_exists(const char *dev)
{
	static struct if_nameindex *devices;
	const struct if_nameindex *at;

	if (!devices)
		devices = if_nameindex();
	for (at = devices; at && at->if_index; at++) {
		if (!strcmp(at->if_name, dev))
			return true;
	}
	return !devices;	/* nothing is known */
}

/**
 * weir_note_dev - warn, once, of a device that there is not; it may come
 * @tool: the run
 * @dev: the device's name, or "" for any
 */
void weir_note_dev(const struct weir_tool *tool, const char *dev)
{
	static char warned[DEVS_WARNED][WEIR_DEV_SIZE];
	static unsigned int count;
	unsigned int i;

	/* -check stays in the caller's netns */
	if (!*dev || (tool->check && tool->netns) || dev_exists(dev))
		return;
	for (i = 0; i < count; i++) {
		if (!strcmp(warned[i], dev))
			return;
	}
	if (count == DEVS_WARNED)
		return;
	strcpy(warned[count++], dev);
	say(tool, "warning", "device '%s' does not exist here (it may come)", dev);
}

/**
 * weir_note_limit - say what a match also takes in
 * @tool: the run
 * @limit: the limit, with a match
 */
void weir_note_limit(const struct weir_tool *tool,
		     const struct weir_limit *limit)
{
	const struct weir_match *match = &limit->match;
	uint32_t plain = match->conds & ~match->invert;

	if (match->conds & WEIR_COND_DEV)
		weir_note_dev(tool, match->dev);
	if (plain & (WEIR_COND_TO | WEIR_COND_DPORT | WEIR_COND_SYN) ||
	    (plain & WEIR_COND_PROTO && !weir_proto_answers(match->proto)))
		return;
	say_of(tool, "note", limit->name,
	       " has no to, dport or syn: it also counts answers to this host's own connections");
}

/**
 * weir_note_lost - say what conditions a limit has no longer
 * @tool: the run
 * @was: the match that it had
 * @limit: the limit as it is
 */
void weir_note_lost(const struct weir_tool *tool, const struct weir_match *was,
		    const struct weir_limit *limit)
{
	uint32_t lost = was->conds & ~limit->match.conds;
	char text[WEIR_DIFFERS_SIZE];

	if (!lost || !limit->match.conds)
		return;
	weir_conds_text(lost, text);
	say(tool, "note", "limit '%s' had %s too; conditions that are given replace the whole match",
	    limit->name, text);
}

/**
 * weir_note_ssh - warn that a limit meets the caller's own ssh connection
 * @tool: the run
 * @ssh: the connection
 * @limit: name of the limit
 */
void weir_note_ssh(const struct weir_tool *tool, const struct weir_ssh *ssh,
		   const char *limit)
{
	char buf[WEIR_TEXT_SIZE];
	const char *peer = weir_text_prefix(&ssh->peer, buf);

	say(tool, "warning", "limit '%s' meets your own ssh connection; to spare it: weir exempt add %s%s%s",
	    limit, peer, *ssh->dev ? " dev " : "", ssh->dev);
}

/**
 * weir_note_interrupted - say that what was shown may be incomplete
 * @tool: the run, after a dump
 *
 * In JSON it is the last object of the array too.
 */
void weir_note_interrupted(const struct weir_tool *tool)
{
	if (!weir_nl_interrupted(tool->nl))
		return;
	if (weir_out_json()) {
		weir_out_object(NULL);
		weir_out_flag("interrupted", true, NULL);
		weir_out_object_end();
	}
	say(tool, "warning", "changed while it was read; what is shown may be incomplete");
}

/**
 * weir_note_refused - say why a charge took nothing
 * @tool: the run
 * @cost: that it should have taken; 0 is 1
 * @left: what there was to take
 */
void weir_note_refused(const struct weir_tool *tool, uint64_t cost,
		       uint64_t left)
{
	if (left)
		say(tool, "note", "nothing was taken: %" PRIu64 " are more than are left; mode drain takes those",
		    cost ? cost : 1);
	else
		say(tool, "note", "nothing was taken: nothing is left");
}
