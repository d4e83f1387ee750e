/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for values in a configuration file. */
#ifndef WEIR_DEFINE_H
#define WEIR_DEFINE_H

#include <sys/param.h>

#include "tool.h"
#include "value.h"

#define WEIR_DEFINES_MAX	1024
/* The longest list of values is shorter. */
#define WEIR_DEFINE_BYTES	4096

struct weir_define {
	char name[WEIR_NAME_SIZE];
	unsigned int line;
	char *value;
};

struct weir_defines {
	unsigned int count;
	struct weir_define list[WEIR_DEFINES_MAX + 1];	/* the last one: being defined */
	bool open, behind, bad;	/* its set has no end yet; a value precedes; it is invalid */
	const struct weir_places *places;
	unsigned int made_count;
	char *made[WEIR_LINE_WORDS];	/* words of the present line */
};

/*
 * Take a line that defines a name, or goes on with its values; @fault: 0, or the number of the
 * word at fault, from 1, with a sentence. false: it is another line.
 */
bool weir_defines_take(struct weir_defines *defines, const struct weir_lines *lines, int *fault,
		       struct weir_err *err);
/* At the end of the file: does a definition lack its end? Then with a sentence. */
bool weir_defines_end(const struct weir_defines *defines, struct weir_err *err);
/*
 * Replace the names in the words of a line, until the next call; returns 0, or the number of the
 * word at fault, from 1, with a sentence.
 */
int weir_defines_expand(struct weir_defines *defines, struct weir_lines *lines,
			struct weir_err *err);
void weir_defines_free(struct weir_defines *defines);

#endif
