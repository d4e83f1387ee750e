// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses and prefixes of them. */

#include <string.h>

#include "lang/value.h"
#include "prefix.h"

bool fleet_prefix_read(struct weir_prefix *prefix, const char *text)
{
	char name[WEIR_TEXT_SIZE];
	struct weir_err unused;
	struct weir_args args = { .err = &unused };
	size_t length = strcspn(text, "%");

	if (length >= sizeof(name))
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	return !weir_parse_prefix(NULL, &args, name, prefix);
}
