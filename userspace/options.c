// SPDX-License-Identifier: GPL-2.0-or-later
/* The options: what getopt_long_only() and completion read. */

#include "tool.h"

const struct option weir_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "pretty", no_argument, NULL, 'p' },
	{ "stats", no_argument, NULL, 's' },
	{ "statistics", no_argument, NULL, 's' },
	{ "netns", required_argument, NULL, 'n' },
	{ "batch", required_argument, NULL, 'b' },
	{ "file", required_argument, NULL, 'f' },
	{ "timestamp", no_argument, NULL, 't' },
	{ "color", optional_argument, NULL, 'c' },
	{ "c", optional_argument, NULL, 'c' },
	{ "Version", no_argument, NULL, 'V' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "exist", no_argument, NULL, OPT_EXIST },
	{ 0 }
};
