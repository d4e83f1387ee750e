// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir -file FILE -fallback LAST: keep what was applied in LAST, and have a host on which nothing
 * is in force, as after a reboot, use that if FILE is refused. A state that was just restored may
 * be older than LAST.
 */

#include "files/files.h"

#define AGAIN	"; correct the file and restart the service"
#define IN_FORCE AGAIN ", or remove everything: weir -file /dev/null"

/* Is anything in force? If the module does not answer, nothing can be done either. */
static bool is_limiting(struct weir_tool *tool)
{
	const struct weir_config *there;

	tool->loads = true;
	there = weir_tool_reach(tool) ? NULL : weir_there(tool, WEIR_GET_ALL);
	return !there || !weir_config_is_empty(there);
}

int weir_apply_or_fall_back(struct weir_tool *tool, const char *path, const char *fallback)
{
	int status = weir_apply_file(tool, path), fell;

	tool->line = 0;
	tool->loads = true;	/* also if the file had errors */
	if (tool->check || !status)
		return status;
	if (!tool->resumed && weir_tool_reach(tool)) {
		tool->file = path;
		weir_note(tool, "warning", "not applied, nor was %s: %s", fallback, tool->err.text);
		return status;
	}
	if (!tool->resumed && is_limiting(tool)) {
		tool->file = path;
		weir_note(tool, "warning", "not applied: the configuration that was in force still is"
			  IN_FORCE);
		return status;
	}
	fell = weir_apply_file(tool, fallback);
	tool->file = path;
	tool->line = 0;
	weir_note(tool, "warning", !fell ?
		  "not applied: %s, the last configuration that was, is in force instead" IN_FORCE :
		  tool->resumed ?
		  "not applied, nor was %s: that of the saved state is in force" IN_FORCE :
		  "not applied, nor was %s, which was to replace it: nothing is limited" AGAIN,
		  fallback);
	return status;
}
