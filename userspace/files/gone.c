// SPDX-License-Identifier: GPL-2.0-or-later
/* What goes when a file becomes the configuration, since it does not have it. */

#include <string.h>

#include "files/files.h"

/* Things of a kind, counted; the first of them is named if it is the only one. */
struct gone {
	const char *one, *many;
	unsigned int count;
	char name[WEIR_EXEMPT_SIZE];
};

static void say(struct weir_tool *tool, const char *kind, const struct gone *gone)
{
	if (gone->count == 1)
		weir_note(tool, kind, "the %s %s goes, as the file does not have it", gone->one,
			  gone->name);
	else if (gone->count)
		weir_note(tool, kind, "%u %s go, as the file does not have them", gone->count,
			  gone->many);
}

void weir_note_gone(struct weir_tool *tool, struct weir_config *file,
		    const struct weir_config *there, bool all)
{
	struct gone exempts = { .one = "exemption of", .many = "exemptions" };
	struct gone blocks = { .one = "block of", .many = "blocked prefixes" };
	struct gone lists = { .one = "list", .many = "lists" }, *gone;
	const struct weir_exempt *at;
	unsigned int i;

	for (at = there->exempts; at < there->exempts + there->exempt_count; at++) {
		gone = at->block ? &blocks : &exempts;
		if ((!all && (!*at->limit || weir_config_find(file, at->limit))) ||
		    weir_exempt_find(file, at))
			continue;
		if (!gone->count++)
			weir_exempt_words(at, gone->name);
	}
	for (i = 0; all && i < there->list_count; i++) {
		if ((i && !strcmp(there->lists[i].name, there->lists[i - 1].name)) ||
		    weir_lists_have(file, there->lists[i].name))
			continue;
		if (!lists.count++)
			snprintf(lists.name, sizeof(lists.name), "'%s'", there->lists[i].name);
	}
	say(tool, "warning", &exempts);
	say(tool, "warning", &blocks);
	say(tool, "note", &lists);
}
