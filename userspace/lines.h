/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of commands, line by line in words. */
#ifndef WEIR_LINES_H
#define WEIR_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include "err.h"

#define WEIR_LINE_WORDS	128

struct weir_lines {
	FILE *file;
	char *text, *next;	/* the words' line; the one just read */
	size_t room, next_room;
	unsigned int line;	/* where the words begin */
	unsigned int read;	/* lines so far */
	size_t bytes;		/* that are not blank, comments too */
	bool failed;		/* it cannot be read on */
	int count;
	char *words[WEIR_LINE_WORDS];
};

/* Open a file, "-" is stdin; close in any case. */
int weir_lines_open(struct weir_lines *lines, const char *path, struct weir_err *err);
/* The words of the next line that has any: 1, 0 at the end, -EINVAL. */
int weir_lines_next(struct weir_lines *lines, struct weir_err *err);
void weir_lines_close(struct weir_lines *lines);

#endif
