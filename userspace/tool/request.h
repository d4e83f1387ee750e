/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests: reach the module, ask it, and map the result to an exit status. */
#ifndef WEIR_REQUEST_H
#define WEIR_REQUEST_H

#include "lang/config.h"
#include "tool/note.h"

/* Open the module unless it is; WEIR_EXIT_OK, or another with a sentence. */
int weir_tool_reach(struct weir_tool *tool);
/* Ask, and let request->reply show and count the answers, as a list. As weir_tool_settle(). */
int weir_tool_list(struct weir_tool *tool, struct weir_request *request, int allowed);
/* Turn a request's result into WEIR_EXIT_OK, or another with a sentence. */
int weir_tool_settle(struct weir_tool *tool, const struct weir_request *request, int allowed);
/* The request that a command makes. */
struct weir_request weir_request_of(const struct weir_command *command, const void *model);
/* One for sources, passed to take() with @data; what that returns but 0 ends it. */
struct weir_request weir_request_sources(const struct weir_query *query,
					 int (*take)(const void *model, void *data), void *data);
/* Send a command; the second also shows the answers. */
weir_run weir_run_plain, weir_run_show;
/* Is it about exemptions, or blocked prefixes? */
bool weir_command_exempts(const struct weir_command *command);
/* Check that the limits that a command names exist; returns an enum weir_exit. */
int weir_check_names(struct weir_tool *tool, const struct weir_command *command,
		     const union weir_model *model);
#define WEIR_GET_ALL	1	/* not only limits, also exemptions, blocked prefixes and lists */
#define WEIR_GET_STATS	2	/* with the counters of limits */
/* Dump the configuration in force; returns an enum weir_exit. */
int weir_get_config(struct weir_tool *tool, struct weir_config *config, unsigned int what);
/*
 * The same for a note, or for a better sentence, until the next call: the error stays as it is.
 * NULL: it cannot be had.
 */
struct weir_config *weir_there(struct weir_tool *tool, unsigned int what);
/* The counters of the namespace; returns an enum weir_exit. */
int weir_get_stats(struct weir_tool *tool, struct weir_stats *stats);
/* @stats: with its counters. */
int weir_get_limit(struct weir_tool *tool, const char *name, bool stats,
		   struct weir_limit *limit, struct weir_request *request);
/* Is it known that there is no limit? */
bool weir_without_limits(struct weir_tool *tool);

#endif
