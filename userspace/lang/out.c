// SPDX-License-Identifier: GPL-2.0-or-later
/* Text and JSON output, safe for terminals. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/param.h>

#include "err.h"
#include "lang/out.h"

#define TEXT_ROOM	1024	/* for the output of one call */

static const char *const colors[] = {
	[WEIR_COLOR_NAME]	= "\033[36m",
	[WEIR_COLOR_ADDRESS]	= "\033[35m",
	[WEIR_COLOR_BAD]	= "\033[31m",
};

/* Write the held newline, which ends a record. */
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

/* Decode a character; returns its length in bytes, 0: not UTF-8. */
static int read_char(const char *text, uint32_t *code)
{
	static const uint32_t least[] = { [2] = 0x80, [3] = 0x800, [4] = 0x10000 };
	const unsigned char *at = (const unsigned char *)text;
	int len = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4, i;

	if ((*at & 0xc0) == 0x80 || *at > 0xf4)
		return 0;
	*code = len == 1 ? *at : *at & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (at[i] & 0x3f);
	}
	return *code < least[len] || *code > 0x10ffff || (*code & ~0x7ff) == 0xd800 ? 0 : len;
}

/* C0 and C1 control characters, and bidirectional controls. */
static bool is_unsafe(uint32_t code)
{
	return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

int weir_out_safe(const char *text)
{
	uint32_t code;
	int len = read_char(text, &code);

	return len && is_unsafe(code) ? 0 : len;
}

/* Length of the leading bytes that need no escape; usually all. */
static int plain(const char *text)
{
	int len = 0;

	while (text[len] >= ' ' && text[len] < 0x7f && text[len] != '"' && text[len] != '\\')
		len++;
	return len;
}

void weir_out_escape(FILE *to, const char *text, size_t len)
{
	const char *end = text + len;
	int safe;

	for (; text < end; text += safe ? safe : 1) {
		safe = MIN(plain(text), end - text);
		if (!safe)
			safe = weir_out_safe(text);
		fwrite(text, 1, safe, to);
		if (!safe)
			fprintf(to, "\\x%02x", (unsigned char)*text);
	}
}

static void put_string(FILE *to, const char *value)
{
	uint32_t code;
	int len;

	putc('"', to);
	for (; *value; value += len ? len : 1) {
		code = *value;
		len = plain(value);
		if (!len && strchr("\"\\", *value))
			putc('\\', to);
		if (!len)
			len = read_char(value, &code);
		if (!len)
			fputs("\\ufffd", to);
		else if (is_unsafe(code))
			fprintf(to, "\\u%04" PRIx32, code);
		else
			fwrite(value, 1, len, to);
	}
	putc('"', to);
}

static void new_line(const struct weir_out *out)
{
	if (out->pretty && !out->line)
		fprintf(out->to, "\n%*s", 4 * out->depth, "");
}

/* Write what precedes a value: comma, newline, key; false: the output is text. */
static bool put_key(struct weir_out *out, const char *key)
{
	if (!out->json)
		return false;
	if (out->filled)
		putc(',', out->to);
	if (out->depth)
		new_line(out);
	out->filled = true;
	if (key) {
		put_string(out->to, key);
		fputs(out->pretty && !out->line ? ": " : ":", out->to);
	}
	return true;
}

void weir_out_begin(struct weir_out *out, const char *key, char c)
{
	end_record(out);
	if (!put_key(out, key))
		return;
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
	if (put_key(out, key))
		fprintf(out->to, "%" PRIu64, value);
}

void weir_out_number(struct weir_out *out, const char *key, double value)
{
	if (put_key(out, key))
		fprintf(out->to, "%.10g", value);
}

void weir_out_ms(struct weir_out *out, const char *key, uint64_t ns)
{
	uint64_t rest = ns % 1000000;
	int digits = 6;

	if (!put_key(out, key))
		return;
	for (; digits && rest % 10 == 0; digits--)
		rest /= 10;
	fprintf(out->to, "%" PRIu64, ns / 1000000);
	if (digits)
		fprintf(out->to, ".%0*" PRIu64, digits, rest);
}

void weir_out_str(struct weir_out *out, const char *key, const char *value)
{
	if (put_key(out, key))
		put_string(out->to, value);
}

void weir_out_bool(struct weir_out *out, const char *key, bool value)
{
	if (put_key(out, key))
		fputs(value ? "true" : "false", out->to);
}

/* Characters of a text, but for escapes. */
static unsigned int columns(const char *text, size_t len)
{
	unsigned int count = 0;

	for (; len--; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

static void put_text(struct weir_out *out, const char *text)
{
	size_t len = strlen(text), part;

	if (len)
		out->inside = text[len - 1] != '\n' && text[len - 1] != ' ';
	for (; *text; text += part) {
		if (out->held)
			putc('\\', out->to);
		part = strcspn(text, "\n");
		weir_out_escape(out->to, text, part);
		out->column = text[part] ? 0 : out->column + columns(text, part);
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
	if (out->inside && out->width && !out->oneline &&
	    out->column + 1 + columns(text, strlen(text)) > out->width)
		put_text(out, "\n        ");
	else if (out->inside)
		put_text(out, " ");
	if (colored)
		fputs(colors[color], out->to);
	put_text(out, text);
	if (colored)
		fputs("\033[0m", out->to);
}

void weir_out_word(struct weir_out *out, enum weir_color color, const char *fmt, ...)
{
	char text[TEXT_ROOM];

	WEIR_FORMAT(text, fmt);
	weir_out_put(out, color, text);
}

void weir_out_text(struct weir_out *out, const char *fmt, ...)
{
	char text[TEXT_ROOM];

	WEIR_FORMAT(text, fmt);
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
