/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run the tool from a fuzzer: set its input, check its output. */
#ifndef TOOL_FUZZ_H
#define TOOL_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"

struct said {
	char *out, *err;
};

void tool_input(const uint8_t *data, size_t size);
void said_begin(void);
const struct said *said_end(void);

/* These abort if the check fails. */
void tool_fail(const char *what, const char *more, const char *most);
void tool_sentences(const char *err, unsigned int most);
void tool_notes(const char *err);

#endif
