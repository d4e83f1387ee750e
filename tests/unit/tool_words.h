/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a command, as an operator types them. */
#ifndef TOOL_WORDS_H
#define TOOL_WORDS_H

#include "field.h"
#include "unit.h"

static struct weir_err err;

/* Split @text and read it as the words of a command. */
static inline int read_words(const struct weir_set *set, unsigned int verb, const char *text,
			     bool exact, void *model)
{
	char line[1024], *split[64];
	struct weir_args args = { .words = split, .exact = exact, .err = &err };

	snprintf(line, sizeof(line), "%s", text);
	args.count = weir_split(line, split, 64);
	return weir_parse(&args, set, verb, model);
}

#endif /* TOOL_WORDS_H */
