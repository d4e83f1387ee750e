// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of confirm. */

#include <stddef.h>

#include "lang/field.h"

#define PENDING(member)	.offset = offsetof(struct weir_pending, member), \
	.size = sizeof(((struct weir_pending *)0)->member)

static const struct weir_field pending_rows[] = {
	{ "command", &weir_type_name, WEIR_RESULT, PENDING(command), .key = "command",
	  .label = "" },
	{ "left", &weir_type_ns, WEIR_RESULT, PENDING(left_ns), .key = "left_ms" },
	{ "until", &weir_type_date, WEIR_RESULT, PENDING(until), .key = "until" },
	{ 0 }
};

const struct weir_set weir_pending_fields = {
	.name = "pending", .fields = pending_rows, .size = sizeof(struct weir_pending),
};
