/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The weir command, which is run for what the agent asks of this host. */
#ifndef FLEET_CHILD_H
#define FLEET_CHILD_H

#include <jansson.h>
#include <stddef.h>

#include "err.h"

/*
 * Run weir with words that end with NULL, and @input (or NULL) on its stdin. 0 with what it
 * printed in *@output (unless that is NULL), which the caller frees; otherwise its exit status, or
 * -EIO, with the first lines that it wrote on stderr as the sentence.
 */
int fleet_weir(const char *const words[], const char *input, size_t size, char **output,
	       struct weir_err *err);
/* Parse the JSON that it printed; NULL: it failed. */
json_t *fleet_weir_json(const char *const words[]);

/*
 * Check a configuration, which has to stand alone: no include. 0, or as fleet_weir(), with the
 * file's name in the sentence.
 */
int fleet_check(const char *file, const char *config, size_t size, struct weir_err *err);
/* Apply it, whole or not at all. */
int fleet_apply(const char *config, size_t size, struct weir_err *err);
/* Run lines as a batch, each whatever becomes of the others; what weir says, or NULL. */
char *fleet_batch(const char *lines, size_t size);

#endif
