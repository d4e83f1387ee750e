// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of weir xdp: not sent to the module, but numbered as if. */

#include <stddef.h>

#include "field.h"

static const char *const xdp_modes[] = { "", "native", "generic", NULL };
static const struct weir_attr_spec weir_xdp_attrs[] = {
	[1] = { .name = "dev" }, { .name = "mode", .names = xdp_modes }, { .name = "program" },
};

#define XDP(number, member)	.attr = number, .spec = &weir_xdp_attrs[number], \
	.offset = offsetof(struct weir_xdp, member), \
	.size = sizeof(((struct weir_xdp *)0)->member)

static const struct weir_field xdp_rows[] = {
	{ "dev", &weir_type_dev, WEIR_ON_ADD | WEIR_ON_DEL | WEIR_WORDS, XDP(1, dev),
	  .needed = WEIR_ON_ADD | WEIR_ON_DEL, .help = "the device" },
	{ "mode", &weir_type_enum, WEIR_ON_ADD | WEIR_WORDS, XDP(2, mode),
	  .value = "native|generic", .help = "in the driver (default), or in the stack" },
	{ "program", &weir_type_uint, WEIR_WORDS, XDP(3, program) },
	{ 0 }
};

const struct weir_set weir_xdp_fields = {
	.name = "xdp", .size = sizeof(struct weir_xdp), .fields = xdp_rows,
};
