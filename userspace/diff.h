/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print the commands that lead from one configuration to another. */
#ifndef WEIR_DIFF_H
#define WEIR_DIFF_H

#include "tool.h"

struct weir_diff {
	struct weir_tool *tool;
	unsigned int count;	/* of commands */
	struct weir_out words;	/* of the present one */
	char *text;
	size_t size;
};

/* diff_command.c: begin a command, of which these are the first words, end it, or print nothing. */
void weir_diff_begin(struct weir_diff *diff, const char *words);
void weir_diff_end(struct weir_diff *diff);
void weir_diff_cancel(struct weir_diff *diff);

/*
 * diff_limit.c: fill in what a limit of a file gets where its words say nothing, which the module
 * is asked; an enum weir_exit with a sentence. @there: all limits that are in force.
 */
int weir_diff_complete(struct weir_tool *tool, struct weir_limit *limit,
		       const struct weir_config *there);
/* Can set turn a limit into another? */
bool weir_diff_sets(const struct weir_limit *limit, const struct weir_limit *there);
/* Print the words for set that do so; false: they are the same. */
bool weir_diff_words(struct weir_out *out, const struct weir_limit *limit,
		     const struct weir_limit *there);

/*
 * diff_list.c: the commands for lists that limits may use then, and for those that they do not. Of
 * a list that a limit leaves out, prefixes leave before limits and other lists change, and join
 * after that.
 */
void weir_diff_lists_leave(struct weir_diff *diff, const struct weir_config *there,
			   const struct weir_config *file);
void weir_diff_lists(struct weir_diff *diff, const struct weir_config *there,
		     const struct weir_config *file);
void weir_diff_lists_join(struct weir_diff *diff, const struct weir_config *there,
			  const struct weir_config *file);
void weir_diff_lists_gone(struct weir_diff *diff, const struct weir_config *there,
			  const struct weir_config *file);

#endif
