/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors, warnings and notes on stderr. */
#ifndef WEIR_NOTE_H
#define WEIR_NOTE_H

#include "tool/tool.h"

/* While another file is read, messages name its lines. */
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
/* Warn, once, of a device that does not exist. */
void weir_note_dev(struct weir_tool *tool, const char *dev);
/* Warn if an exemption or a block ends before its 'until'. */
void weir_note_end(struct weir_tool *tool, const struct weir_exempt *exempt);
/* Warn of an unknown device, or of an exemption or a match wider than expected. */
weir_tell weir_note_exempt, weir_note_limit;
/* Say so if a source or a prefix that is blocked is all that NAT64 translates (RFC 6052). */
void weir_note_nat64(struct weir_tool *tool, const struct weir_prefix *prefix);
/* Warn of a multicast prefix where sources are meant. */
void weir_note_group(struct weir_tool *tool, const struct weir_prefix *prefix);
#define WEIR_SENTENCE_SIZE	328
/* Print @sentence after the limit's name, or alone. In a file, once; repeats are counted. */
void weir_note_of(struct weir_tool *tool, const char *kind,
		  const char *limit, const char *sentence);
/* At the end of a file, print how many repeats there were. */
void weir_notes_end(struct weir_tool *tool);

#endif
