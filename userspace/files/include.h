/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a line of another one names. */
#ifndef WEIR_INCLUDE_H
#define WEIR_INCLUDE_H

#include "err.h"

/* Returns 0, or what ends the rest: -EINVAL with a sentence, or another. */
typedef int weir_include_file(void *data, const char *path);

/*
 * Call @each with the file that @path names, relative to that of the file @includer, or with all
 * that match the pattern it is. Returns what @each does, or -EINVAL with a sentence.
 */
int weir_include(const char *includer, const char *path, weir_include_file *each, void *data,
		 struct weir_err *err);

#endif
