// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * include "PATH" in a configuration file: the lines of the file, or of all files that match
 * the pattern, take the place of that line, in one text that is then read as a single file.
 */

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>

#include "tool.h"

/* Files that are open at a time, and all files. */
#define DEPTH_MAX	16
#define FILES_MAX	4096

struct including {
	struct weir_tool *tool;
	struct weir_places *places;
	char *text;
	size_t used, room;
	unsigned int lines;	/* of the text */
	unsigned int depth;
	struct stat open[DEPTH_MAX];	/* the files that include the present one, and it */
};

static int append(struct including *to, const char *text, size_t size)
{
	struct weir_err *err = &to->tool->err;
	char *more;

	if (to->used + size > WEIR_FILE_BYTES)
		return weir_err_set(err, "with all included files larger than %d MiB",
				    WEIR_FILE_BYTES >> 20);
	if (to->used + size > to->room) {
		to->room = 2 * (to->used + size);
		more = realloc(to->text, to->room);
		if (!more)
			return weir_err_set(err, WEIR_NO_MEMORY);
		to->text = more;
	}
	memcpy(to->text + to->used, text, size);
	to->used += size;
	return 0;
}

/* What has been copied of a file. */
struct copying {
	const char *at, *end;
	unsigned int line, file;
};

/* Copy the lines up to but without @line. */
static int copy(struct including *to, struct copying *from, unsigned int line)
{
	const char *begin = from->at, *next;

	if (weir_places_part(to->places, to->lines + 1, from->file, from->line))
		return weir_err_set(&to->tool->err, WEIR_NO_MEMORY);
	for (; from->at < from->end && from->line < line; from->line++, to->lines++) {
		next = memchr(from->at, '\n', from->end - from->at);
		from->at = next ? next + 1 : from->end;
	}
	if (append(to, begin, from->at - begin))
		return -EINVAL;
	return from->at == begin || from->at[-1] == '\n' ? 0 : append(to, "\n", 1);
}

/* Skip the lines up to @line, which a comment stands for: it ends what is before it. */
static int skip(struct including *to, struct copying *from, unsigned int line)
{
	const char *next;

	if (weir_places_part(to->places, ++to->lines, from->file, from->line))
		return weir_err_set(&to->tool->err, WEIR_NO_MEMORY);
	for (; from->at < from->end && from->line <= line; from->line++) {
		next = memchr(from->at, '\n', from->end - from->at);
		from->at = next ? next + 1 : from->end;
	}
	return append(to, "#\n", 2);
}

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

static int take_lines(struct including *to, struct weir_lines *lines, const char *name);

/* Refuse a file that is being read, in other words one that includes itself. */
static int enter(struct including *to, const char *name)
{
	struct weir_err *err = &to->tool->err;
	struct stat *at = &to->open[to->depth];
	unsigned int i;

	if (to->places->file_count == FILES_MAX)
		return weir_err_set(err, "more than %d files", FILES_MAX);
	if (to->depth == DEPTH_MAX)
		return weir_err_set(err, "more than %d files include each other", DEPTH_MAX);
	if (stat(name, at))
		return weir_err_set(err, "cannot open: %s", strerror(errno));
	for (i = 0; i < to->depth; i++) {
		if (at->st_dev == to->open[i].st_dev && at->st_ino == to->open[i].st_ino)
			return weir_err_set(err, "the file includes itself");
	}
	to->depth++;
	return 0;
}

/* -ECANCELED: the error has been printed. */
static int take_file(struct including *to, const char *name)
{
	struct weir_lines lines = { 0 };
	int ret = enter(to, name);

	if (!ret) {
		ret = weir_lines_open(&lines, name, true, &to->tool->err) ?:
		      take_lines(to, &lines, name);
		if (!ret && !lines.filled)
			ret = weir_err_set(&to->tool->err, WEIR_EMPTY_FILE);
		to->depth--;
	}
	weir_lines_close(&lines);
	if (ret == -EINVAL)
		weir_err_set(&to->tool->err, "include: %.200s: %.200s", name, to->tool->err.text);
	return ret;
}

/* A directory that does not exist has no file that matches. */
static int stop(const char *path, int error)
{
	return error != ENOENT;
}

static int take_pattern(struct including *to, const char *pattern)
{
	glob_t found = { 0 };
	int ret;
	size_t i;

	errno = 0;
	ret = glob(pattern, 0, stop, &found);
	if (ret && ret != GLOB_NOMATCH)
		ret = weir_err_set(&to->tool->err, "include: %.200s: cannot read: %s", pattern,
				   strerror(errno ? errno : ENOMEM));
	else
		ret = 0;
	for (i = 0; !ret && i < found.gl_pathc; i++)
		ret = take_file(to, found.gl_pathv[i]);
	globfree(&found);
	return ret;
}

/* Read what one line includes, or print why not; -ECANCELED. */
static int take_include(struct including *to, const struct weir_lines *lines, const char *name)
{
	const char *path = lines->count == 2 ? lines->words[1] : "";
	bool pattern = strpbrk(path, "*?[");
	struct weir_tool *tool = to->tool;
	char *full = find_path(name, path, pattern);
	int ret;

	if (!*path)
		ret = weir_err_set(&tool->err, "include: expected one file; put a name with blanks in quotes");
	else if (!full)
		ret = weir_err_set(&tool->err, WEIR_NO_MEMORY);
	else
		ret = pattern ? take_pattern(to, full) : take_file(to, full);
	free(full);
	if (ret != -EINVAL)
		return ret;
	tool->file = name;
	weir_lines_point(lines, lines->count > 1, tool);
	weir_complain(tool, NULL);
	return -ECANCELED;
}

/* Append the lines of a file, and of those that it includes. */
static int take_lines(struct including *to, struct weir_lines *lines, const char *name)
{
	struct copying from = { .at = lines->whole, .line = 1 };
	struct weir_err err;
	int file = weir_places_file(to->places, name), ret = 0, got;

	if (file < 0)
		return weir_err_set(&to->tool->err, WEIR_NO_MEMORY);
	from.file = file;
	from.end = from.at + MAX(lines->size, 0);
	if (from.end - from.at >= (ssize_t)strlen(WEIR_BOM) &&
	    !strncmp(from.at, WEIR_BOM, strlen(WEIR_BOM)))
		from.at += strlen(WEIR_BOM);
	/* what is wrong with other lines is reported when the text is read */
	while (!ret && (got = weir_lines_next(lines, &err)) && !lines->failed) {
		if (got < 0 || strcmp(lines->words[0], "include"))
			continue;
		ret = copy(to, &from, lines->line) ?: take_include(to, lines, name) ?:
		      skip(to, &from, lines->read);
	}
	return ret ?: copy(to, &from, UINT_MAX);
}

int weir_include_all(struct weir_tool *tool, const char *path, struct weir_lines *lines,
		     struct weir_places *places)
{
	struct including to = { .tool = tool, .places = places };
	int ret;

	if (lines->size <= 0 || !memmem(lines->whole, lines->size, "include", strlen("include")))
		return 0;
	if (strcmp(path, "-") && !stat(path, &to.open[0]))
		to.depth = 1;
	ret = take_lines(&to, lines, path);
	if (ret)
		free(to.text);
	else
		ret = weir_lines_replace(lines, to.text, to.used, &tool->err);
	tool->file = path;
	return ret;
}

/* What a file has that a saved one does not, and on which line; NULL: nothing. */
static const char *find_lost(struct weir_lines *lines, unsigned int *line)
{
	struct weir_err err;
	const char *word;
	int ret;

	while ((ret = weir_lines_next(lines, &err)) && !lines->failed) {
		*line = lines->line;
		word = ret > 0 ? lines->words[0] : "";
		if (!strcmp(word, "include"))
			return "includes others";
		if (!strcmp(word, "define"))
			return "defines a name";
		if (!strcmp(word, "quiet"))
			return "has 'quiet'";
	}
	*line = lines->comment;
	return *line ? "has a comment" : NULL;
}

int weir_include_keep(struct weir_tool *tool, const char *path)
{
	struct weir_lines lines = { 0 };
	const char *lost = NULL;
	struct weir_err err;
	unsigned int line;
	struct stat is;

	/* what is not there, or cannot be read, has nothing to lose, or cannot be written either */
	if (tool->force || stat(path, &is) || !S_ISREG(is.st_mode))
		return WEIR_EXIT_OK;
	if (!weir_lines_open(&lines, path, false, &err))
		lost = find_lost(&lines, &line);
	if (lost)
		weir_err_set(&tool->err, "%.200s %s on line %u, which a saved file does not have: save to another file, or overwrite it with -force",
			     path, lost, line);
	weir_lines_close(&lines);
	return lost ? WEIR_EXIT_WORDS : WEIR_EXIT_OK;
}
