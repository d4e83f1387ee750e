/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of commands, split into lines and words. */
#ifndef WEIR_LINES_H
#define WEIR_LINES_H

#include "tool/tool.h"

#define WEIR_LINE_WORDS	128
/* The largest configuration is smaller: 128 Ki exemptions and blocks of up to 430 bytes each. */
#define WEIR_FILE_BYTES	(64 << 20)
#define WEIR_LINE_BYTES	(16 << 20)

/* A UTF-8 byte order mark, which some editors write. */
#define WEIR_BOM	"\xef\xbb\xbf"

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

#endif
