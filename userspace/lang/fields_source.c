// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of sources: requests and states. */

#include "lang/row.h"

#define QUERY(NAME, member)	ATTR(source, SOURCE_##NAME), AT(query, member)
/* A block is added and deleted. */
#define ON_BLOCK	(WEIR_ON_ADD | WEIR_ON_DEL)
#define ON_ADDRESS	(WEIR_ON_GET | WEIR_ON_CHARGE | ON_BLOCK)
#define ON_SOURCE	(WEIR_ON_SHOW | WEIR_ON_FORGET | ON_ADDRESS)

#define OVERLAP_HELP	"only sources within this network, or around it"
#define UNDER_HELP	"only under this limit"

static const struct weir_field query_rows[] = {
	{ "PREFIX", &weir_type_prefix, WEIR_ALONE | WEIR_ON_SHOW, QUERY(ADDRESS, prefix),
	  .part = WEIR_A_SOURCE_PREFIX_LEN,
	  .help = OVERLAP_HELP },
	{ "ADDR", &weir_type_source, WEIR_FIRST | ON_ADDRESS, QUERY(ADDRESS, prefix),
	  .alias = "all", .needed = ON_ADDRESS,
	  .help = "address or prefix of a source; all: that of per 0" },
	{ "PREFIX", &weir_type_prefix, WEIR_FIRST | WEIR_ON_FORGET, QUERY(ADDRESS, prefix),
	  .part = WEIR_A_SOURCE_PREFIX_LEN, .value = "PREFIX|all", .alias = "all",
	  .needed = WEIR_ON_FORGET, .help = "sources within this network, or all" },
	{ "limit", &weir_type_name, ON_SOURCE, QUERY(LIMIT, limit), .needed = WEIR_ON_CHARGE,
	  .help = UNDER_HELP },
	{ "dev", &weir_type_dev, ON_SOURCE, QUERY(DEV, dev),
	  .help = "device of a link-local source, or of a packet" },
	{ NULL, &weir_type_nest, WEIR_ON_GET, QUERY(PACKET, packet), .nest = &weir_packet_fields },
	{ "len", &weir_type_uint, WEIR_ON_GET, QUERY(LEN, len), .value = "BYTES",
	  .help = "its length, with the header of IP" },
	{ "limited", &weir_type_flag, WEIR_ON_SHOW, QUERY(FILTER_LIMITED, limited),
	  .help = "only sources limited at this moment (see top)" },
	{ "blocked", &weir_type_flag, WEIR_ON_SHOW, QUERY(FILTER_BLOCKED, blocked),
	  .help = "only sources blocked at this moment" },
	{ "idle", &weir_type_flag, WEIR_ON_SHOW, QUERY(IDLE, idle), .alias = "all",
	  .help = "also sources that sent nothing in the window" },
	{ "top", &weir_type_uint, WEIR_ON_SHOW, QUERY(TOP, top),
	  .help = "the worst N, by drops (default) or by count" },
	{ "by", &weir_type_enum, WEIR_FOLLOWS | WEIR_ON_SHOW, QUERY(RANK, rank) },
	{ "for", &weir_type_ms, WEIR_ON_ADD, QUERY(FOR_MS, for_ms), .needed = WEIR_ON_ADD,
	  .bit = WEIR_HAS(SOURCE_FOR_MS), .usual = "ever", .value = "TIME|ever",
	  .help = "how long to block the source" },
	{ NULL, &weir_type_flag, WEIR_ON_ADD, QUERY(REPLACE, replace) },
	{ NULL, &weir_type_flag, WEIR_ON_ADD, QUERY(FORCE, force) },
	{ "packets", &weir_type_uint, WEIR_ON_CHARGE, QUERY(COST, packets),
	  .help = "number of packets (default: 1)" },
	{ "bytes", &weir_type_uint, WEIR_ON_CHARGE, QUERY(COST, bytes),
	  .help = "number of bytes, if the limit counts bytes" },
	{ "mode", &weir_type_enum, WEIR_ON_CHARGE, QUERY(CHARGE_MODE, mode),
	  .help = "all or nothing (default), what fits, or in advance" },
	{ "wait", &weir_type_flag, WEIR_ON_CHARGE, AT(query, wait),
	  .help = "wait until all is granted, or until -timeout ends" },
	END
};

const struct weir_set weir_query_fields = {
	SET("query", query), .fields = query_rows,
};

const char *const weir_order_names[] = { "dropped", "count", "rate", NULL };
/* Not sent to the module, but numbered as if, behind its attributes. */
enum { TOP_BY = 1000, TOP_COUNT, TOP_EVERY };

static const struct weir_attr_spec top_attrs[] = {
	{ .name = "by", .names = weir_order_names },
	{ .name = "count", .min = 1, .max = UINT32_MAX },
	{ .name = "every", .min = 1000, .max = 3600000 },
};

#define TOP(NAME, member)	.attr = TOP_##NAME, .spec = &top_attrs[TOP_##NAME - TOP_BY], \
	AT(top, member)

static const struct weir_field top_rows[] = {
	{ "PREFIX", &weir_type_prefix, WEIR_ALONE | WEIR_ON_SHOW, ATTR(source, SOURCE_ADDRESS),
	  AT(top, prefix), .part = WEIR_A_SOURCE_PREFIX_LEN,
	  .help = OVERLAP_HELP },
	{ "limit", &weir_type_name, WEIR_ON_SHOW, ATTR(source, SOURCE_LIMIT), AT(top, limit),
	  .help = UNDER_HELP },
	{ "by", &weir_type_enum, WEIR_ON_SHOW, TOP(BY, by),
	  .help = "by drops (default), counts or rates" },
	{ "count", &weir_type_uint, WEIR_ON_SHOW, TOP(COUNT, count),
	  .help = "print N screens as text; no terminal is needed" },
	{ "every", &weir_type_ms, WEIR_ON_SHOW, TOP(EVERY, every_ms),
	  .help = "time between two screens (default: 1s)" },
	END
};

const struct weir_set weir_top_fields = {
	SET("top", top), .fields = top_rows,
};

#define SOURCE(NAME, member)	ATTR(source, SOURCE_##NAME), AT(source, member)
#define SHOWN	(WEIR_WORDS | WEIR_EVENT)

static const struct weir_field source_rows[] = {
	{ NULL, &weir_type_prefix, WEIR_FIRST | SHOWN, SOURCE(ADDRESS, prefix),
	  .part = WEIR_A_SOURCE_PREFIX_LEN, .key = "source", .color = WEIR_COLOR_ADDRESS },
	{ "dev", &weir_type_dev, SHOWN | WEIR_SOME, SOURCE(DEV, dev) },
	{ "limit", &weir_type_name, SHOWN | WEIR_SOME, SOURCE(LIMIT, limit) },
	{ "exempt by", &weir_type_nest, 0, SOURCE(EXEMPT, exempt),
	  .bit = WEIR_HAS(SOURCE_EXEMPT), .nest = &weir_exempt_fields, .key = "exempt_by" },
	/* The same, if it blocks: see weir_show_source(). */
	{ "blocked by", &weir_type_nest, 0, AT(source, exempt), .nest = &weir_block_fields,
	  .key = "blocked_by" },
	{ "taken", &weir_type_amount, 0, SOURCE(TAKEN, taken),
	  .bit = WEIR_HAS(SOURCE_TAKEN) },
	{ "budget", &weir_type_nest, WEIR_RESULT | WEIR_EVENT | WEIR_MUTE,
	  ATTR(source, SOURCE_BUDGET), MANY(source, budgets, budget_count),
	  .nest = &weir_source_budget_fields, .key = "budgets" },
	{ "limited", &weir_type_flag, WEIR_RESULT, SOURCE(LIMITED, limited),
	  .color = WEIR_COLOR_BAD },
	{ "next", &weir_type_ns, WEIR_RESULT | WEIR_EVENT, SOURCE(NEXT_NS, next_ns),
	  .bit = WEIR_HAS(SOURCE_NEXT_NS), .key = "next_ms", .label = "for" },
	{ "by budget", &weir_type_uint, WEIR_RESULT | WEIR_EVENT | WEIR_SOME,
	  SOURCE(LIMITED_BY, limited_by) },
	{ "due", &weir_type_ns, WEIR_MUTE, SOURCE(WAIT_NS, wait_ns),
	  .bit = WEIR_HAS(SOURCE_WAIT_NS), .key = "wait_ms" },
	{ "blocked", &weir_type_flag, WEIR_EVENT, SOURCE(BLOCKED, blocked),
	  .color = WEIR_COLOR_BAD },
	{ "blocked-for", &weir_type_ns, WEIR_EVENT, SOURCE(BLOCKED_NS, blocked_ns),
	  .bit = WEIR_HAS(SOURCE_BLOCKED_NS), .key = "blocked_ms", .label = "for" },
	{ "dropped", &weir_type_uint, 0, SOURCE(DROPPED, dropped), .key = "dropped_packets" },
	{ "would-drop", &weir_type_uint, 0, SOURCE(WOULD_DROP, would_drop),
	  .key = "would_drop_packets" },
	{ "idle", &weir_type_flag, 0, SOURCE(IDLE, idle) },
	{ "floor", &weir_type_flag, 0, SOURCE(FLOOR, floor) },
	{ "unknown", &weir_type_flag, 0, SOURCE(UNKNOWN, unknown) },
	{ "newcomers-next", &weir_type_ns, WEIR_MUTE, SOURCE(NEWCOMERS_NEXT_NS, newcomers_next_ns),
	  .bit = WEIR_HAS(SOURCE_NEWCOMERS_NEXT_NS), .key = "newcomers_next_ms" },
	{ "undecided", &weir_type_conds, WEIR_MUTE, SOURCE(UNDECIDED, undecided),
	  .bit = WEIR_HAS(SOURCE_UNDECIDED) },
	{ "unmatched", &weir_type_flag, WEIR_MUTE, SOURCE(UNMATCHED, unmatched) },
	/* Shown with the length of a packet: see weir_show_source(). */
	{ "never-fits", &weir_type_flag, WEIR_MUTE, AT(source, never_fits), .key = "never_fits" },
	/* Likewise, of a limit that goes by a list. */
	{ "budget-by", &weir_type_prefix, WEIR_MUTE, AT(source, asked.by), .key = "budget_by" },
	{ "action", &weir_type_enum, WEIR_MUTE | WEIR_EVENT, SOURCE(ACTION, action),
	  .bit = WEIR_HAS(SOURCE_ACTION) },
	{ NULL, &weir_type_code, 0, SOURCE(EVENT, event) },
	{ "forgotten", &weir_type_uint, 0, SOURCE(FORGOTTEN, forgotten),
	  .bit = WEIR_HAS(SOURCE_FORGOTTEN) },
	END
};

const struct weir_set weir_source_fields = {
	SET("source", source), .fields = source_rows,
};
