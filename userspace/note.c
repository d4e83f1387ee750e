// SPDX-License-Identifier: GPL-2.0-or-later
/* What is said on stderr: what is wrong, and what is worth knowing. */

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"
#include "value.h"

/* So many devices that do not exist are enough to say. */
#define DEVS_WARNED	16

/* The line that the words at hand are on. */
static void put_where(const struct weir_tool *tool)
{
	if (tool->file && tool->line)
		fprintf(stderr, "%s:%u: ", tool->file, tool->line);
	else if (tool->file)
		fprintf(stderr, "%s: ", tool->file);
}

static void put_aside(const struct weir_tool *tool, const char *kind,
		      const char *fmt, va_list ap)
{
	weir_out_flush();
	fprintf(stderr, "weir: %s: ", kind);
	put_where(tool);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

/**
 * weir_warn - say what may not be as it was meant
 * @tool: the run
 * @fmt: as printf's
 */
void weir_warn(const struct weir_tool *tool, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_aside(tool, "warning", fmt, ap);
	va_end(ap);
}

/**
 * weir_note_kernel - pass on a warning of the kernel
 * @sentence: what it said
 * @data: the run
 */
void weir_note_kernel(const char *sentence, void *data)
{
	weir_warn(data, "%s", sentence);
}

static void __attribute__((format(printf, 2, 3)))
note(const struct weir_tool *tool, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_aside(tool, "note", fmt, ap);
	va_end(ap);
}

/**
 * weir_complain - say what went wrong
 * @tool: the run, with its err
 * @what: the command that failed, or NULL
 */
void weir_complain(const struct weir_tool *tool, const char *what)
{
	weir_out_flush();
	fputs("weir: ", stderr);
	put_where(tool);
	if (what)
		fprintf(stderr, "%s: ", what);
	fprintf(stderr, "%s\n", tool->err.text);
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
	weir_warn(tool, "device '%s' does not exist here (it may come)", dev);
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
	if (plain & (WEIR_COND_TO | WEIR_COND_DPORT | WEIR_COND_SYN))
		return;
	note(tool, "limit '%s' has no to, dport or syn: it also counts answers to this host's own connections",
	     limit->name);
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

	weir_warn(tool, "limit '%s' meets your own ssh connection; to spare it: weir exempt add %s%s%s",
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
	weir_warn(tool, "changed while it was read; what is shown may be incomplete");
}
