/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What went wrong, in a sentence; the caller says where, main prints it. */
#ifndef WEIR_ERR_H
#define WEIR_ERR_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* What the command's exit says. */
enum weir_exit {
	WEIR_EXIT_OK		= 0,
	WEIR_EXIT_WORDS		= 1,	/* bad words */
	WEIR_EXIT_REFUSED	= 2,	/* the kernel refused */
	WEIR_EXIT_UNREACHABLE	= 3,	/* the module cannot be reached */
	WEIR_EXIT_OUTPUT	= 4,	/* done, but the output is not written */
};

struct weir_err {
	char text[512];
};

/**
 * weir_err_set - say what went wrong
 * @err: takes the sentence, cut off where it is too long
 * @fmt: as printf's
 *
 * Return: -EINVAL, for the caller to pass on.
 */
static inline int __attribute__((format(printf, 2, 3)))
weir_err_set(struct weir_err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

#endif
