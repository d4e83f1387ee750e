// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir -file FILE -fallback LAST: keep what was applied in LAST, and have a host on which nothing
 * is in force, as after a reboot, use that if FILE is refused.
 */

#include "config.h"
#include "tool.h"

static void keep(struct weir_tool *tool, const char *fallback)
{
	union weir_model model = { .path.file = fallback };

	if (weir_save(tool, NULL, &model))
		weir_note(tool, "warning", "applied, but not kept for the next boot: %s",
			  tool->err.text);
}

/* Is anything in force? If the module does not answer, nothing can be done either. */
static bool is_limiting(struct weir_tool *tool)
{
	static struct weir_config there;
	bool limiting;

	tool->loads = true;
	limiting = weir_tool_reach(tool) || weir_get_config(tool, &there, true) ||
		   there.limit_count || there.exempt_count || there.list_count;
	weir_config_clear(&there);
	return limiting;
}

int weir_apply_or_fall_back(struct weir_tool *tool, const char *path, const char *fallback)
{
	int status = weir_apply_file(tool, path), fell;

	tool->line = 0;
	if (tool->check)
		return status;
	if (!status) {
		keep(tool, fallback);
		return status;
	}
	if (is_limiting(tool)) {
		tool->file = path;
		weir_note(tool, "warning", "not applied: the configuration that was in force still is");
		return status;
	}
	fell = weir_apply_file(tool, fallback);
	tool->file = path;
	tool->line = 0;
	weir_note(tool, "warning", fell ?
		  "not applied, nor was %s, which was to replace it: nothing is limited" :
		  "not applied: %s, the last configuration that was, is in force instead",
		  fallback);
	return status;
}
