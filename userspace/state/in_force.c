// SPDX-License-Identifier: GPL-2.0-or-later
/* The network namespaces that have limits, and what is in force there. */

#include <sys/param.h>

#include "state/state.h"
#include "tool/spaces.h"

/* What is in force in a space that was entered. */
static int look_into(struct weir_tool *tool, struct weir_space *space, void *data)
{
	static struct weir_config config;
	unsigned int i;
	int status;

	status = weir_tool_reach(tool) ?:
		 weir_get_config(tool, &config, WEIR_GET_ALL | WEIR_GET_STATS);
	if (status)
		goto out;
	space->limits = config.limit_count;
	for (i = 0; i < config.limit_count; i++) {
		space->sources += config.limits[i].stats.sources_now;
		space->largest = MAX(space->largest, config.limits[i].memory);
	}
	space->blocked_prefixes = config.block_count;
	space->exempts = config.exempt_count - config.block_count;
	status = weir_space_list(tool, space);
	space->has = space->early_count || !weir_config_is_empty(&config);
out:
	weir_config_clear(&config);
	return status;
}

/* The initial one knows how many there are. */
static int ask_number(struct weir_tool *tool, struct weir_spaces *spaces)
{
	struct weir_stats stats = { 0 };
	int status = weir_tool_reach(tool) ?: weir_get_stats(tool, &stats);

	if (status)
		return status;
	if (!(stats.has & WEIR_HAS(STATS_NAMESPACES))) {
		weir_err_set(&tool->err, stats.clock_ns ?
			     "the module is the host's: run this in its initial network namespace" :
			     WEIR_OLD_MODULE);
		return WEIR_EXIT_REFUSED;
	}
	spaces->told = stats.namespaces;
	return WEIR_EXIT_OK;
}

int weir_spaces_find(struct weir_tool *tool, struct weir_spaces *spaces)
{
	int status = ask_number(tool, spaces);

	spaces->look_into = look_into;
	return status ? status : weir_spaces_walk(tool, spaces);
}
