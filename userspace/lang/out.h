/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text or streaming JSON output; no tree is built. Calls for the other
 * format do nothing.
 */
#ifndef WEIR_OUT_H
#define WEIR_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum weir_color {
	WEIR_COLOR_NONE,
	WEIR_COLOR_NAME,
	WEIR_COLOR_ADDRESS,
	WEIR_COLOR_BAD,
};

struct weir_out {
	FILE *to;
	bool json, pretty, color;
	bool brief, oneline;	/* text only */
	unsigned int width;	/* of the terminal that text is wrapped for; 0: none */
	/* private */
	unsigned int depth;
	bool filled;		/* the open array or object has an element */
	bool line;		/* within a one-line object, despite pretty */
	bool inside;		/* the line of text has a word */
	unsigned int column;	/* of text, without colours */
	bool results;		/* nests show what the kernel computed, too */
	bool held;		/* a newline, which oneline may turn into \\ */
	int error;		/* of the first failed write, a negative errno */
};

#define WEIR_PRINTF(n)	__attribute__((format(printf, n, (n) + 1)))

/* Flush; 0, or a negative errno if any output was lost. */
int weir_out_flush(struct weir_out *out);

/* JSON; a key is NULL in an array. */
void weir_out_begin(struct weir_out *out, const char *key, char c);	/* [ or { */
void weir_out_end(struct weir_out *out, char c);
void weir_out_u64(struct weir_out *out, const char *key, uint64_t value);
void weir_out_number(struct weir_out *out, const char *key, double value);
/* Nanoseconds as milliseconds, exactly. */
void weir_out_ms(struct weir_out *out, const char *key, uint64_t ns);
void weir_out_str(struct weir_out *out, const char *key, const char *value);
void weir_out_bool(struct weir_out *out, const char *key, bool value);

/* Text; words are separated by blanks. */
void weir_out_put(struct weir_out *out, enum weir_color color, const char *text);
void weir_out_word(struct weir_out *out, enum weir_color color,
		   const char *fmt, ...) WEIR_PRINTF(3);
void weir_out_text(struct weir_out *out, const char *fmt, ...) WEIR_PRINTF(2);

/* A line of a stream: an object, or text; weir_out_line_end() flushes it. */
void weir_out_line(struct weir_out *out);
void weir_out_line_end(struct weir_out *out);

/* Length in bytes of the first character; 0: unsafe for a terminal, or not UTF-8. */
int weir_out_safe(const char *text);
/* Write the first @len bytes of a string, control characters as \xNN. */
void weir_out_escape(FILE *to, const char *text, size_t len);

#endif
