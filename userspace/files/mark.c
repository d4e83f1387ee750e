// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mark beside a file that was applied with -confirm and has not been confirmed, so that a host
 * which boots meanwhile, or after it was taken back, does not begin with it. The mark has a
 * checksum of the file and all that it includes, so it is void once one of them was edited.
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/files.h"

#define SUFFIX	".unconfirmed"

static int put_mark(struct weir_out *out, void *data)
{
	fprintf(out->to, "# not confirmed: weir.service does not boot with that file. See -confirm in weir(8).\n%08x\n",
		*(uint32_t *)data);
	return WEIR_EXIT_OK;
}

static const char *mark_of(const char *file, char path[PATH_MAX + sizeof(SUFFIX)])
{
	char target[PATH_MAX];
	struct stat is;

	/* no mark beside a device, as /dev/null */
	if (!strcmp(file, "-") || !realpath(file, target) || stat(target, &is) ||
	    !S_ISREG(is.st_mode))
		return NULL;
	snprintf(path, PATH_MAX + sizeof(SUFFIX), "%s" SUFFIX, target);
	return path;
}

bool weir_mark_set(struct weir_tool *tool, const char *file, uint32_t sum)
{
	char path[PATH_MAX + sizeof(SUFFIX)];
	struct weir_err err = tool->err;
	bool named = mark_of(file, path), new = named && access(path, F_OK);

	if (named && weir_replace_file(tool, path, 0600, put_mark, &sum))
		weir_note(tool, "warning", "a reboot before it is confirmed begins with the file: %s",
			  tool->err.text);
	tool->err = err;
	return new;
}

void weir_mark_clear(struct weir_tool *tool, const char *file)
{
	char path[PATH_MAX + sizeof(SUFFIX)];

	if (mark_of(file, path) && !access(path, F_OK) && unlink(path) && errno != ENOENT)
		weir_note(tool, "warning", "weir.service does not boot with that file, as %s cannot be removed: %s",
			  path, strerror(errno));
}

void weir_mark_note(struct weir_tool *tool, const char *file)
{
	char path[PATH_MAX + sizeof(SUFFIX)];

	if (mark_of(file, path) && !access(path, F_OK))
		weir_note(tool, "note", "%s stays: weir.service does not apply that file until it is edited, or applied by hand",
			  path);
}

bool weir_mark_holds(const char *file, uint32_t sum)
{
	char path[PATH_MAX + sizeof(SUFFIX)];
	FILE *mark = mark_of(file, path) ? fopen(path, "re") : NULL;
	uint32_t marked;
	bool holds;

	if (!mark)
		return false;
	holds = fscanf(mark, "#%*[^\n] %" SCNx32, &marked) == 1 && marked == sum;
	fclose(mark);
	return holds;
}
