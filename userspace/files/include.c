// SPDX-License-Identifier: GPL-2.0-or-later
/* include PATH in a configuration file: a file, or all files that match a pattern. */

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "files/include.h"

/* The path is relative to the file that has the line; a pattern's is quoted for glob(). */
static char *find_path(const char *includer, const char *path, bool pattern)
{
	const char *slash = *path == '/' ? NULL : strrchr(includer, '/'), *at;
	char *full = malloc(2 * (slash ? slash + 1 - includer : 0) + strlen(path) + 1), *end = full;

	for (at = includer; full && slash && at <= slash; at++) {
		if (pattern && strchr("*?[\\", *at))
			*end++ = '\\';
		*end++ = *at;
	}
	if (full)
		strcpy(end, path);
	return full;
}

/* A directory that does not exist has no file that matches. */
static int stop(const char *path, int error)
{
	return error != ENOENT;
}

static int match(const char *pattern, weir_include_file *each, void *data, struct weir_err *err)
{
	glob_t found = { 0 };
	int ret;
	size_t i;

	errno = 0;
	ret = glob(pattern, 0, stop, &found);
	if (ret && ret != GLOB_NOMATCH)
		ret = weir_err_set(err, "%.200s: cannot read: %s", pattern,
				   strerror(errno ? errno : ENOMEM));
	else
		ret = 0;
	for (i = 0; !ret && i < found.gl_pathc; i++)
		ret = each(data, found.gl_pathv[i]);
	globfree(&found);
	return ret;
}

int weir_include(const char *includer, const char *path, weir_include_file *each, void *data,
		 struct weir_err *err)
{
	bool pattern = strpbrk(path, "*?[");
	char *full;
	int ret;

	if (!*path)
		return weir_err_set(err, "expected one file; put a name with blanks in quotes");
	full = find_path(includer, path, pattern);
	if (!full)
		return weir_err_set(err, WEIR_NO_MEMORY);
	ret = pattern ? match(full, each, data, err) : each(data, full);
	free(full);
	return ret;
}
