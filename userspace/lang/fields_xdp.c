// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of weir xdp, monitor and metrics: not sent to the module, but numbered as if. */

#include "lang/row.h"

static const char *const xdp_modes[] = { "", "native", "generic", NULL };
static const struct weir_attr_spec weir_xdp_attrs[] = {
	[1] = { .name = "dev" }, { .name = "mode", .names = xdp_modes }, { .name = "program" },
	{ .name = "off" },
};

#define XDP(number, member)	.attr = number, .spec = &weir_xdp_attrs[number], AT(xdp, member)

static const struct weir_field xdp_rows[] = {
	{ "dev", &weir_type_dev, WEIR_LONE | WEIR_ON_ADD | WEIR_ON_DEL | WEIR_WORDS | WEIR_SOME,
	  XDP(1, dev), .needed = WEIR_ON_ADD | WEIR_ON_DEL, .help = "the device" },
	{ "mode", &weir_type_enum, WEIR_ON_ADD | WEIR_WORDS | WEIR_SOME, XDP(2, mode),
	  .value = "native|generic", .help = "in the driver (default), or in the stack" },
	{ "program", &weir_type_uint, WEIR_RESULT, XDP(3, program) },
	{ NULL, &weir_type_name, WEIR_RESULT | WEIR_SOME, XDP(4, off), .label = "off:",
	  .color = WEIR_COLOR_BAD },
	END
};

const struct weir_set weir_xdp_fields = { SET("xdp", xdp), .fields = xdp_rows, .own = true };

/* The tool filters events, by notification command. */
#define WANTED(NAME)	.attr = WEIR_CMD_##NAME##_NTF, .bit = 1ULL << WEIR_CMD_##NAME##_NTF

static const struct weir_field wanted_rows[] = {
	{ "limit", &weir_type_name, WEIR_ON_SHOW, AT(wanted, limit),
	  .help = "only events of this limit" },
	{ "limits", &weir_type_flag, WEIR_ON_SHOW, WANTED(LIMIT),
	  .help = "limits added, changed, removed or reset" },
	{ "exempts", &weir_type_flag, WEIR_ON_SHOW, WANTED(EXEMPT),
	  .help = "exemptions added, changed or removed" },
	{ "sources", &weir_type_flag, WEIR_ON_SHOW, WANTED(SOURCE),
	  .help = "limited, blocked, released, charged or forgotten" },
	{ "pressure", &weir_type_flag, WEIR_ON_SHOW, WANTED(PRESSURE),
	  .help = "tables too small for their sources" },
	{ "newcomers", &weir_type_flag, WEIR_ON_SHOW, WANTED(NEWCOMERS),
	  .help = "newcomers' budgets that are used up" },
	{ "module", &weir_type_flag, WEIR_ON_SHOW, AT(wanted, module),
	  .help = "print nothing; exit when the module is unloaded" },
	{ "-log", &weir_type_flag, WEIR_ON_SHOW, AT(wanted, log),
	  .help = "to syslog and so to the journal, not to the terminal" },
	END
};

const struct weir_set weir_wanted_fields = { SET("wanted", wanted), .fields = wanted_rows };

static const struct weir_attr_spec metering_attrs[] = {
	[1] = { .name = "top", .min = 1, .max = WEIR_METRICS_TOP },
};

#define METERING(member)	AT(metering, member)

static const struct weir_field metering_rows[] = {
	{ "output", &weir_type_file, WEIR_ON_SHOW, METERING(file), .alias = "-output",
	  .help = "file for node_exporter's textfile collector" },
	{ "top", &weir_type_uint, WEIR_ON_SHOW, .attr = 1,
	  .spec = &metering_attrs[1], METERING(top),
	  .help = "also the drops of so many sources, the heaviest" },
	{ "state", &weir_type_file, WEIR_ON_SHOW, .attr = 2, METERING(state),
	  .help = "also when 'weir save -state' wrote this file" },
	{ "http", &weir_type_flag, WEIR_ON_SHOW, METERING(http),
	  .help = "answer a request of HTTP on standard input" },
	END
};

const struct weir_set weir_metering_fields = { SET("metrics", metering), .fields = metering_rows };
