/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other programs, which are waited for. */
#ifndef WEIR_PROGRAM_H
#define WEIR_PROGRAM_H

#include <stddef.h>

/*
 * Run one, given its name and arguments, with @input or NULL. Fills @output with what it prints,
 * also on stderr, as far as that fits, without newlines at the end. Its status; 127: there is none.
 */
int weir_program_run(const char *const argv[], const char *input, char *output, size_t size);

#endif
