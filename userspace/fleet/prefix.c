// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses and prefixes of them. */

#include <stdio.h>
#include <string.h>

#include "lang/value.h"
#include "prefix.h"

bool fleet_prefix_read(struct weir_prefix *prefix, const char *text)
{
	char name[WEIR_TEXT_SIZE];
	struct weir_err unused;
	struct weir_args args = { .err = &unused };
	int length = snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "%"), text);

	return length < (int)sizeof(name) && !weir_parse_prefix(NULL, &args, name, prefix);
}
