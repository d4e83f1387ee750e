// SPDX-License-Identifier: GPL-2.0-or-later
/* Text, or JSON as it streams by: nothing is kept but the depth. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "value.h"

#define TEXT_ROOM	1024	/* for what one call prints */

static struct {
	struct weir_out_opts opts;
	unsigned int depth;
	bool filled;		/* something stands before in this array or object */
	bool line;		/* what is open is one line, whatever -pretty says */
	enum weir_color color;	/* of the next text */
	int error;		/* the first of writing, a negative errno */
} out;

static const char *const colors[] = {
	[WEIR_COLOR_NAME]	= "\033[36m",
	[WEIR_COLOR_ADDRESS]	= "\033[35m",
	[WEIR_COLOR_BAD]	= "\033[31m",
	[WEIR_COLOR_GOOD]	= "\033[32m",
};

/**
 * weir_out_init - choose the format
 * @opts: the choice; colour is ignored in JSON
 */
void weir_out_init(const struct weir_out_opts *opts)
{
	memset(&out, 0, sizeof(out));
	out.opts = *opts;
	out.opts.color &= !opts->json;
}

/**
 * weir_out_json - whether output is JSON
 *
 * Return: whether it is.
 */
bool weir_out_json(void)
{
	return out.opts.json;
}

/**
 * weir_out_flush - write all that is kept
 *
 * Return: 0, or a negative errno where any of the output was lost.
 */
int weir_out_flush(void)
{
	if (fflush(stdout) && !out.error)
		out.error = -errno;
	else if (ferror(stdout) && !out.error)
		out.error = -EIO;
	return out.error;
}

static void new_line(void)
{
	unsigned int i;

	if (!out.opts.pretty || out.line)
		return;
	putchar('\n');
	for (i = 0; i < out.depth; i++)
		fputs("    ", stdout);
}

/* How many bytes from here on stand for themselves wherever they are written:
 * all, as a rule.
 */
static int plain(const char *text)
{
	int len = 0;

	while (text[len] >= ' ' && text[len] < 0x7f && text[len] != '"' &&
	       text[len] != '\\')
		len++;
	return len;
}

/**
 * weir_out_escape - write text that may hold what is not meant for terminals
 * @to: where to
 * @text: the text; control characters and what is not UTF-8 become \xNN
 * @lines: whether ends of lines stay
 */
void weir_out_escape(FILE *to, const char *text, bool lines)
{
	int len;

	for (; *text; text += len) {
		len = plain(text);
		if (!len)
			len = weir_text_char(text);
		if (len && (!weir_text_control(text) || (lines && *text == '\n'))) {
			fwrite(text, 1, len, to);
		} else {
			fprintf(to, "\\x%02x", (unsigned char)*text);
			len = 1;
		}
	}
}

static void put_string(const char *value)
{
	int len;

	putchar('"');
	for (; *value; value += len) {
		len = plain(value);
		if (!len)
			len = weir_text_char(value);
		if (*value == '"' || *value == '\\')
			printf("\\%c", *value);
		else if (len && weir_text_control(value))
			printf("\\u%04x", (unsigned char)value[len - 1]);
		else if (len)
			fwrite(value, 1, len, stdout);
		else
			fputs("\\ufffd", stdout);
		len = len ? len : 1;
	}
	putchar('"');
}

/* What stands before a value: a comma, a new line, its key. */
static void put_key(const char *key)
{
	if (out.filled)
		putchar(',');
	if (out.depth)
		new_line();
	out.filled = true;
	if (key) {
		put_string(key);
		fputs(out.opts.pretty && !out.line ? ": " : ":", stdout);
	}
}

static void open_with(const char *key, char c)
{
	if (!out.opts.json)
		return;
	put_key(key);
	putchar(c);
	out.depth++;
	out.filled = false;
}

static void close_with(char c)
{
	if (!out.opts.json)
		return;
	out.depth--;
	if (out.filled)
		new_line();
	putchar(c);
	out.filled = true;
	if (out.depth)
		return;
	putchar('\n');
	out.filled = false;
}

/**
 * weir_out_array - begin a JSON array
 * @key: its key in the object around it, or NULL
 */
void weir_out_array(const char *key)
{
	open_with(key, '[');
}

/**
 * weir_out_array_end - end a JSON array
 */
void weir_out_array_end(void)
{
	close_with(']');
}

/**
 * weir_out_object - begin a JSON object
 * @key: its key in the object around it, or NULL
 */
void weir_out_object(const char *key)
{
	open_with(key, '{');
}

/**
 * weir_out_object_end - end a JSON object
 */
void weir_out_object_end(void)
{
	close_with('}');
}

/**
 * weir_out_line - begin a JSON object that is one line of a stream
 */
void weir_out_line(void)
{
	out.line = true;
	open_with(NULL, '{');
}

/**
 * weir_out_line_end - end the object, or the line of text, and write it
 */
void weir_out_line_end(void)
{
	close_with('}');
	if (!out.opts.json)
		putchar('\n');
	out.line = false;
	weir_out_flush();
}

/**
 * weir_out_color - colour the next text
 * @color: which; taken where colours are wanted
 */
void weir_out_color(enum weir_color color)
{
	out.color = color;
}

static void put_text(const char *fmt, va_list ap)
{
	bool color = out.opts.color && out.color != WEIR_COLOR_NONE;
	char text[TEXT_ROOM];

	if (!fmt)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	if (color)
		fputs(colors[out.color], stdout);
	weir_out_escape(stdout, text, true);
	if (color)
		fputs("\033[0m", stdout);
	out.color = WEIR_COLOR_NONE;
}

#define PUT_TEXT(fmt) do {		\
	va_list ap;			\
					\
	va_start(ap, fmt);		\
	put_text(fmt, ap);		\
	va_end(ap);			\
} while (0)

/**
 * weir_out_u64 - print a number
 * @key: its key, or NULL in an array
 * @value: the number, for JSON
 * @fmt: the text that says it; NULL: none
 */
void weir_out_u64(const char *key, uint64_t value, const char *fmt, ...)
{
	if (out.opts.json) {
		put_key(key);
		printf("%" PRIu64, value);
	} else {
		PUT_TEXT(fmt);
	}
}

/**
 * weir_out_str - print a string
 * @key: its key, or NULL in an array
 * @value: the string, for JSON
 * @fmt: the text that says it; NULL: none
 */
void weir_out_str(const char *key, const char *value, const char *fmt, ...)
{
	if (out.opts.json) {
		put_key(key);
		put_string(value);
	} else {
		PUT_TEXT(fmt);
	}
}

/**
 * weir_out_flag - print what is so or not
 * @key: its key, or NULL in an array
 * @value: whether it is so
 * @fmt: the text that says it is; NULL: none
 */
void weir_out_flag(const char *key, bool value, const char *fmt, ...)
{
	if (out.opts.json) {
		put_key(key);
		fputs(value ? "true" : "false", stdout);
	} else if (value) {
		PUT_TEXT(fmt);
	}
}

/**
 * weir_out_text - print what is in the text alone
 * @fmt: the text
 */
void weir_out_text(const char *fmt, ...)
{
	if (!out.opts.json)
		PUT_TEXT(fmt);
}
