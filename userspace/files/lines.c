// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of commands: comments, continuation lines, words. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/lines.h"

static int cannot_read(struct weir_lines *lines, struct weir_err *err)
{
	lines->line = 0;
	lines->failed = true;
	return weir_err_set(err, WEIR_CANNOT_READ, strerror(errno));
}

/* Read from @size bytes in memory, up to a NUL byte. */
static int open_text(struct weir_lines *lines, size_t size, struct weir_err *err)
{
	char *nul = memchr(lines->whole, '\0', size);

	lines->size = nul ? nul + 1 - lines->whole : (ssize_t)size;
	if (!size)
		return 0;
	if (lines->file && lines->file != stdin)
		fclose(lines->file);
	lines->file = fmemopen(lines->whole, lines->size, "r");
	return lines->file ? 0 : cannot_read(lines, err);
}

/* Read the file into memory. */
static int keep_file(struct weir_lines *lines, struct weir_err *err)
{
	size_t room = 1 << 16, size = 0;
	FILE *file = lines->file;
	char *whole;

	for (;; room *= 2) {
		whole = realloc(lines->whole, room + 1);
		if (!whole)
			return cannot_read(lines, err);
		lines->whole = whole;
		size += fread(whole + size, 1, room - size, file);
		if (size < room || size > WEIR_FILE_BYTES)
			break;
	}
	if (ferror(file))
		return cannot_read(lines, err);
	lines->failed = size > WEIR_FILE_BYTES;
	if (lines->failed)
		return weir_err_set(err, "larger than %d MiB", WEIR_FILE_BYTES >> 20);
	whole[size] = '\0';
	return open_text(lines, size, err);
}

int weir_lines_text(struct weir_lines *lines, char *text, size_t size, struct weir_err *err)
{
	memset(lines, 0, sizeof(*lines));
	lines->whole = text;
	return open_text(lines, size, err);
}

int weir_lines_open(struct weir_lines *lines, const char *path, struct weir_err *err)
{
	memset(lines, 0, sizeof(*lines));
	lines->file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	lines->failed = !lines->file;
	if (lines->failed)
		return weir_err_set(err, "cannot open: %s", strerror(errno));
	return keep_file(lines, err);
}

void weir_lines_close(struct weir_lines *lines)
{
	if (lines->file && lines->file != stdin)
		fclose(lines->file);
	free(lines->text);
	free(lines->next);
	free(lines->source);
	free(lines->whole);
}

/* Append one line to the source at offset @used; returns its length. */
static ssize_t read_line(struct weir_lines *lines, size_t used, struct weir_err *err)
{
	char *more, *source;
	ssize_t len;

	len = getline(&lines->next, &lines->room, lines->file);
	if (len < 0)
		return feof(lines->file) ? 0 : cannot_read(lines, err);
	more = lines->next;
	if (!lines->read++ && !strncmp(more, WEIR_BOM, strlen(WEIR_BOM))) {
		more += strlen(WEIR_BOM);
		len -= strlen(WEIR_BOM);
	}
	if (used + len > WEIR_LINE_BYTES)
		return weir_err_set(err, "more than %d MiB on one line", WEIR_LINE_BYTES >> 20);
	lines->filled |= more[strspn(more, WEIR_BLANKS)];
	if (memchr(more, '\0', len))
		return weir_err_set(err, "NUL byte: not a text file");
	if (used + len + 1 > lines->source_room) {
		source = realloc(lines->source, 2 * (used + len + 1));
		if (!source)
			return weir_err_set(err, WEIR_NO_MEMORY);
		lines->source = source;
		lines->source_room = 2 * (used + len + 1);
	}
	memcpy(lines->source + used, more, len + 1);
	return len;
}

/*
 * Whether a backslash continues the line, of @len bytes; it is replaced by a blank. A
 * backslash in a comment does not. The words before @from were looked at, and @quote is
 * open there, or none.
 */
static bool continues(char *text, size_t len, size_t from, char *quote)
{
	const char *at = text + from;
	char *end = text + len;

	while (end > at && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	if (end == at || *--end != '\\')
		return false;
	while (at < end) {
		if (!*quote) {
			at += strspn(at, WEIR_BLANKS);
			if (*at == '#')
				return false;
			if (*at == '"' || *at == '\'')
				*quote = *at++;
		}
		for (; *quote && at < end; at++) {
			if (*at == *quote)
				*quote = '\0';
			else if (*quote == '"' && *at == '\\')
				at++;
		}
		if (!*quote)
			at += strcspn(at, WEIR_BLANKS);
	}
	*end = ' ';
	return true;
}

int weir_lines_next(struct weir_lines *lines, struct weir_err *err)
{
	size_t used, from;
	ssize_t len;
	char quote;
	int i;

	lines->count = 0;
	do {
		used = 0;
		quote = '\0';
		lines->line = lines->read + 1;
		do {
			len = read_line(lines, used, err);
			if (len < 0)
				return len;
			from = used;
			used += len;
		} while (len && continues(lines->source, used, from, &quote));
		if (!used)
			return 0;
		free(lines->text);
		lines->text = strdup(lines->source);
		if (!lines->text)
			return weir_err_set(err, WEIR_NO_MEMORY);
		lines->count = weir_split(lines->text, lines->words, WEIR_LINE_WORDS);
		if (lines->count == -E2BIG)
			return weir_err_set(err, "more than %d words on one line", WEIR_LINE_WORDS);
		if (lines->count < 0) {
			lines->count = 1;
			lines->at[0] = lines->words[0] - lines->text;
			return weir_err_set(err, "expected a closing quotation mark, and a space or the end of the line after it");
		}
		if (!lines->comment && lines->count < WEIR_LINE_WORDS &&
		    *lines->words[lines->count] == '#' &&
		    (lines->line > 1 || strncmp(lines->source, "#!", 2)))
			lines->comment = lines->line;
	} while (!lines->count);
	for (i = 0; i < lines->count; i++)
		lines->at[i] = lines->words[i] - lines->text;
	return 1;
}

void weir_point(struct weir_tool *tool, const char *begin, const char *at, int length)
{
	const char *end;

	for (tool->below = 0; (end = memchr(begin, '\n', at - begin)); tool->below++)
		begin = end + 1;
	tool->column = at - begin + 1;
	tool->source = begin;
	tool->length = length;
}

void weir_lines_point(const struct weir_lines *lines, int word, struct weir_tool *tool)
{
	const char *at;

	tool->column = 0;
	if (!lines->source || word < 0 || word >= lines->count)
		return;
	at = lines->source + lines->at[word];
	weir_point(tool, lines->source, at, weir_word_length(at));
}
