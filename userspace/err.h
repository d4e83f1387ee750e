/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error messages and exit codes. */
#ifndef WEIR_ERR_H
#define WEIR_ERR_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit status of the tool. */
enum weir_exit {
	WEIR_EXIT_DIFFERS	= -1,	/* of a comparison, whose status is then 1 */
	WEIR_EXIT_OK		= 0,
	WEIR_EXIT_WORDS		= 1,	/* invalid command line or file: nothing changed */
	WEIR_EXIT_REFUSED	= 2,	/* the kernel refused: nothing changed */
	WEIR_EXIT_UNREACHABLE	= 3,	/* no module, or its answer was lost */
	WEIR_EXIT_OUTPUT	= 4,	/* done, but the output could not be written */
	WEIR_EXIT_INTERRUPTED	= 5,	/* the output may be incomplete */
};

#define WEIR_ABBREVIATES	"'%.60s' abbreviates '%s'; files do not allow abbreviations"
#define WEIR_BLOCKS	"to block a source use 'weir source block'"
#define WEIR_CANNOT_READ	"cannot read: %s"
#define WEIR_CANNOT_WRITE	"write error: %s"
#define WEIR_COMBINED	"'%s' and '%s' cannot be combined"
#define WEIR_EMPTY_FILE	"the file is empty; use a comment for an empty configuration"
#define WEIR_KEEPS_CHANGING	"the configuration keeps changing; try again"
#define WEIR_NEEDS_PORTS	\
	"%s requires a protocol with ports: proto tcp, udp, sctp, dccp or udplite"
#define WEIR_NEEDS_PROTO	"%s requires proto %s, or no proto"
#define WEIR_NO_VALUE	"'%s' requires a value: %s"
#define WEIR_NO_MEMORY	"out of memory"
#define WEIR_OLD_MODULE	"the loaded module is older than this command"
/* what writes the prefixes of a file, one a line, and goes on with a command of sed */
#define WEIR_SED_PREFIXES	"sed 's/[;#].*//' %.200s | tr -s ', \\t\\r' '\\n' | sed '/./!d; "
#define WEIR_SEPARATE	"separate the values of '%s' by ','"
#define WEIR_TWICE	"'%s' given twice"
#define WEIR_OR_LIST	"; write A,B, for many a prefix-list, to leave some out exempt add"
#define WEIR_UNLOADED	"the kernel module was unloaded"
#define WEIR_UNEXPECTED	"unexpected argument '%.60s'"

struct weir_err {
	char text[512];
	bool unknown;	/* a word is none of those that are expected, or no address */
};

/* Format into an array what follows the parameter @fmt of a function. */
#define WEIR_FORMAT(text, fmt) do {				\
	va_list ap;						\
								\
	va_start(ap, fmt);					\
	vsnprintf(text, sizeof(text), fmt, ap);			\
	va_end(ap);						\
} while (0)

/* Format a sentence, truncated; arguments may point into @err. Returns -EINVAL. */
static inline int __attribute__((format(printf, 2, 3)))
weir_err_set(struct weir_err *err, const char *fmt, ...)
{
	struct weir_err said;

	WEIR_FORMAT(said.text, fmt);
	said.unknown = false;
	*err = said;
	return -EINVAL;
}

#endif
