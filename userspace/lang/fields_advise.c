// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of limit advise: its words, and what it shows. None is sent to the module. */

#include "lang/row.h"

#define LIMIT(NAME, member)	ATTR(limit, LIMIT_##NAME), AT(limit, member)
#define HAS(NAME)	.bit = WEIR_HAS(LIMIT_##NAME)

/* Not sent, but apart from the attributes of a limit. */
#define CAPTURE_ATTR	1000
#define FOR_ATTR	1001

/* A day is enough, and what is kept of each source does not grow with it. */
static const struct weir_attr_spec watch_for = { .name = "for", .min = 1000, .max = 86400000 };

static const struct weir_field advising_rows[] = {
	{ "name", &weir_type_name, WEIR_FIRST | WEIR_ON_SET, LIMIT(NAME, name),
	  .needed = WEIR_ON_SET },
	{ "-pcap", &weir_type_file, WEIR_ON_SET, .attr = CAPTURE_ATTR, AT(advising, capture),
	  .help = "captured packets, not the limit; -: stdin" },
	{ "for", &weir_type_ms, WEIR_ON_SET, .attr = FOR_ATTR, .spec = &watch_for,
	  AT(advising, for_ms),
	  .help = "how long to watch the limit (default: 10s or more)" },
	{ NULL, &weir_type_nest, WEIR_ON_SET, .attr = WEIR_A_LIMIT_BUDGET,
	  .spec = &weir_limit_attrs[WEIR_A_LIMIT_BUDGET], MANY(limit, budgets, budget_count),
	  HAS(BUDGET), .nest = &weir_budget_fields },
	{ NULL, &weir_type_nest, WEIR_ON_SET, LIMIT(MATCH, match), HAS(MATCH),
	  .nest = &weir_match_fields },
	{ "per", &weir_type_per, WEIR_ON_SET, LIMIT(PREFIX4, per), HAS(PREFIX4),
	  .part = WEIR_A_LIMIT_PREFIX6, .usual = "32,64",
	  .help = WEIR_PER_HELP },
	END
};

const struct weir_set weir_advising_fields = {
	SET("advising", advising), .fields = advising_rows,
};

#define SOMETIMES	(WEIR_WORDS | WEIR_SOME)
#define LOSS(member)	AT(loss, member)

static const struct weir_field loss_rows[] = {
	{ NULL, &weir_type_nest, WEIR_WORDS, MANY(loss, budgets, budget_count),
	  .nest = &weir_budget_fields, .key = "budgets" },
	{ NULL, &weir_type_uint, WEIR_WORDS, LOSS(sources), .key = "limited_sources" },
	{ NULL, &weir_type_uint, WEIR_WORDS, LOSS(packets), .key = "dropped_packets" },
	{ NULL, &weir_type_uint, WEIR_WORDS, LOSS(bytes), .key = "dropped_bytes" },
	{ NULL, &weir_type_uint, WEIR_WORDS, LOSS(hour_sources),
	  .key = "last_hour_limited_sources" },
	{ NULL, &weir_type_uint, WEIR_WORDS, LOSS(hour_packets),
	  .key = "last_hour_dropped_packets" },
	{ NULL, &weir_type_uint, WEIR_WORDS, LOSS(hour_bytes),
	  .key = "last_hour_dropped_bytes" },
	END
};

static const struct weir_set loss_fields = {
	SET("loss", loss), .fields = loss_rows,
};

static const struct weir_field heavy_rows[] = {
	{ NULL, &weir_type_prefix, WEIR_WORDS, AT(heavy, prefix), .key = "source" },
	{ NULL, &weir_type_uint, WEIR_WORDS, AT(heavy, packets), .key = "packets" },
	{ NULL, &weir_type_uint, WEIR_WORDS, AT(heavy, bytes), .key = "bytes" },
	{ NULL, &weir_type_uint, WEIR_WORDS, AT(heavy, peak), .key = "peak" },
	{ NULL, &weir_type_uint, WEIR_WORDS, AT(heavy, lost), .key = "dropped_packets" },
	END
};

static const struct weir_set heavy_fields = {
	SET("heavy", heavy), .fields = heavy_rows,
};

static const struct weir_field why_rows[] = {
	{ NULL, &weir_type_name, WEIR_WORDS, AT(why, word), .key = "word" },
	{ NULL, &weir_type_name, WEIR_WORDS, AT(why, why), .key = "why" },
	END
};

static const struct weir_set why_fields = {
	SET("why", why), .fields = why_rows,
};

static const struct weir_field advice_rows[] = {
	{ NULL, &weir_type_name, WEIR_WORDS, AT(advice, limit), .key = "limit" },
	{ NULL, &weir_type_ns, WEIR_WORDS, AT(advice, for_ns), .key = "watched_ms" },
	{ NULL, &weir_type_uint, WEIR_WORDS, AT(advice, packets), .key = "packets" },
	{ NULL, &weir_type_uint, WEIR_WORDS, AT(advice, bytes), .key = "bytes" },
	{ NULL, &weir_type_uint, WEIR_WORDS, AT(advice, sources), .key = "source_count" },
	{ NULL, &weir_type_uint, SOMETIMES, AT(advice, unmatched),
	  .key = "unmatched_packets" },
	{ NULL, &weir_type_uint, SOMETIMES, AT(advice, unread), .key = "unread_packets" },
	{ NULL, &weir_type_nest, WEIR_WORDS, AT(advice, judged), .bit = WEIR_ADVICE_JUDGED,
	  .nest = &loss_fields, .key = "judged" },
	{ NULL, &weir_type_nest, WEIR_WORDS, MANY(advice, losses, loss_count),
	  .nest = &loss_fields, .key = "losses" },
	{ NULL, &weir_type_nest, WEIR_WORDS, MANY(advice, heavy, heavy_count),
	  .nest = &heavy_fields, .key = "largest" },
	{ NULL, &weir_type_nest, WEIR_WORDS, AT(advice, proposal),
	  .nest = &weir_limit_fields, .key = "proposal" },
	{ NULL, &weir_type_nest, WEIR_WORDS, MANY(advice, whys, why_count),
	  .nest = &why_fields, .key = "reasons" },
	{ NULL, &weir_type_nest, WEIR_WORDS, MANY(advice, unknown, unknown_count),
	  .nest = &why_fields, .key = "not_known" },
	END
};

const struct weir_set weir_advice_fields = {
	SET("advice", advice), .fields = advice_rows,
};
