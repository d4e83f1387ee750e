/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One print call, two formats: each value is given once with its JSON key and
 * with the text that says it, so that text and JSON cannot drift apart.
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
	WEIR_COLOR_GOOD,
};

struct weir_out_opts {
	bool json, pretty, color;
};

#define WEIR_PRINTF(n)	__attribute__((format(printf, n, (n) + 1)))

void weir_out_init(const struct weir_out_opts *opts);
bool weir_out_json(void);
int weir_out_flush(void);

void weir_out_array(const char *key);
void weir_out_array_end(void);
void weir_out_object(const char *key);
void weir_out_object_end(void);
void weir_out_line(void);
void weir_out_line_end(void);

void weir_out_color(enum weir_color color);
void weir_out_u64(const char *key, uint64_t value, const char *fmt, ...)
	WEIR_PRINTF(3);
void weir_out_str(const char *key, const char *value, const char *fmt, ...)
	WEIR_PRINTF(3);
void weir_out_flag(const char *key, bool value, const char *fmt, ...)
	WEIR_PRINTF(3);
void weir_out_text(const char *fmt, ...) WEIR_PRINTF(1);
void weir_out_escape(FILE *to, const char *text, bool lines);

#endif
