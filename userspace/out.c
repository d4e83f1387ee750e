// SPDX-License-Identifier: GPL-2.0-or-later
/* Text and JSON, and what of a text may reach a terminal. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "out.h"

#define TEXT_ROOM	1024	/* for what one call prints */

static const char *const colors[] = {
	[WEIR_COLOR_NAME]	= "\033[36m",
	[WEIR_COLOR_ADDRESS]	= "\033[35m",
	[WEIR_COLOR_BAD]	= "\033[31m",
};

/* A new line ends its record if nothing of it follows. */
static void end_record(struct weir_out *out)
{
	if (out->held)
		putc('\n', out->to);
	out->held = false;
}

int weir_out_flush(struct weir_out *out)
{
	end_record(out);
	if (fflush(out->to) && !out->error)
		out->error = -errno;
	else if (ferror(out->to) && !out->error)
		out->error = -EIO;
	return out->error;
}

int weir_out_char(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	int len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2, i;

	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	for (i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return len;
}

/* The code point of a character of @len bytes. */
static uint32_t code_point(const char *text, int len)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t code = len == 1 ? at[0] : at[0] & (0x7f >> len);
	int i;

	for (i = 1; i < len; i++)
		code = code << 6 | (at[i] & 0x3f);
	return code;
}

/* Control characters, those of C1 too, and what turns the direction of text. */
static bool unsafe_code(uint32_t code)
{
	return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

bool weir_out_unsafe(const char *text)
{
	int len = weir_out_char(text);

	return !len || unsafe_code(code_point(text, len));
}

/* Bytes that stand for themselves in text and in JSON: all, as a rule. */
static int plain(const char *text)
{
	int len = 0;

	while (text[len] >= ' ' && text[len] < 0x7f && text[len] != '"' && text[len] != '\\')
		len++;
	return len;
}

void weir_out_escape(FILE *to, const char *text)
{
	int len;

	for (; *text; text += len) {
		len = plain(text);
		if (!len && !weir_out_unsafe(text))
			len = weir_out_char(text);
		if (len) {
			fwrite(text, 1, len, to);
			continue;
		}
		fprintf(to, "\\x%02x", (unsigned char)*text);
		len = 1;
	}
}

static void put_string(FILE *to, const char *value)
{
	int len;

	putc('"', to);
	for (; *value; value += len) {
		len = plain(value);
		if (!len)
			len = weir_out_char(value);
		if (*value == '"' || *value == '\\')
			fprintf(to, "\\%c", *value);
		else if (!len)
			fputs("\\ufffd", to);
		else if (weir_out_unsafe(value))
			fprintf(to, "\\u%04" PRIx32, code_point(value, len));
		else
			fwrite(value, 1, len, to);
		len = len ? len : 1;
	}
	putc('"', to);
}

static void new_line(const struct weir_out *out)
{
	unsigned int i;

	if (!out->pretty || out->line)
		return;
	putc('\n', out->to);
	for (i = 0; i < out->depth; i++)
		fputs("    ", out->to);
}

/* What precedes a value: a comma, a new line, its key. */
static void put_key(struct weir_out *out, const char *key)
{
	if (out->filled)
		putc(',', out->to);
	if (out->depth)
		new_line(out);
	out->filled = true;
	if (!key)
		return;
	put_string(out->to, key);
	fputs(out->pretty && !out->line ? ": " : ":", out->to);
}

void weir_out_begin(struct weir_out *out, const char *key, char c)
{
	end_record(out);
	if (!out->json)
		return;
	put_key(out, key);
	putc(c, out->to);
	out->depth++;
	out->filled = false;
}

void weir_out_end(struct weir_out *out, char c)
{
	end_record(out);
	if (!out->json)
		return;
	out->depth--;
	if (out->filled)
		new_line(out);
	putc(c, out->to);
	out->filled = out->depth;
	if (!out->depth)
		putc('\n', out->to);
}

void weir_out_u64(struct weir_out *out, const char *key, uint64_t value)
{
	if (!out->json)
		return;
	put_key(out, key);
	fprintf(out->to, "%" PRIu64, value);
}

void weir_out_number(struct weir_out *out, const char *key, double value)
{
	if (!out->json)
		return;
	put_key(out, key);
	fprintf(out->to, "%.10g", value);
}

void weir_out_str(struct weir_out *out, const char *key, const char *value)
{
	if (!out->json)
		return;
	put_key(out, key);
	put_string(out->to, value);
}

void weir_out_bool(struct weir_out *out, const char *key, bool value)
{
	if (!out->json)
		return;
	put_key(out, key);
	fputs(value ? "true" : "false", out->to);
}

static void put_text(struct weir_out *out, const char *text)
{
	size_t len = strlen(text), part;
	char line[TEXT_ROOM];

	if (len)
		out->inside = text[len - 1] != '\n' && text[len - 1] != ' ';
	for (; *text; text += part) {
		if (out->held)
			putc('\\', out->to);
		part = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)part, text);
		weir_out_escape(out->to, line);
		out->held = out->oneline && text[part];
		if (text[part] && !out->oneline)
			putc('\n', out->to);
		part += !!text[part];
	}
}

void weir_out_put(struct weir_out *out, enum weir_color color, const char *text)
{
	bool colored = out->color && color;

	if (out->json)
		return;
	if (out->inside)
		putc(' ', out->to);
	if (colored)
		fputs(colors[color], out->to);
	put_text(out, text);
	if (colored)
		fputs("\033[0m", out->to);
}

void weir_out_word(struct weir_out *out, enum weir_color color, const char *fmt, ...)
{
	char text[TEXT_ROOM];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	weir_out_put(out, color, text);
}

void weir_out_text(struct weir_out *out, const char *fmt, ...)
{
	char text[TEXT_ROOM];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!out->json)
		put_text(out, text);
}

void weir_out_line(struct weir_out *out)
{
	out->line = true;
	weir_out_begin(out, NULL, '{');
}

void weir_out_line_end(struct weir_out *out)
{
	weir_out_text(out, "\n");
	weir_out_end(out, '}');
	out->line = false;
	weir_out_flush(out);
}
