// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rows of weir explain: its words, and what it shows as JSON. Numbered as if sent to the
 * module.
 */

#include "row.h"

#define SOURCE(NAME, member)	ATTR(source, SOURCE_##NAME), AT(query, member)

/* Not sent, but apart from the attributes that are. */
#define FILE_ATTR	1000

static const struct weir_field explain_rows[] = {
	{ "from", &weir_type_address, WEIR_ON_GET, SOURCE(ADDRESS, prefix), .needed = WEIR_ON_GET,
	  .help = "address that the packet comes from" },
	{ "dev", &weir_type_dev, WEIR_ON_GET, SOURCE(DEV, dev),
	  .help = "device that it arrives on" },
	{ NULL, &weir_type_nest, WEIR_ON_GET, AT(query, packet), .nest = &weir_packet_fields },
	{ "len", &weir_type_uint, WEIR_ON_GET, AT(query, len), .spec = &weir_packet_len,
	  .value = "BYTES", .help = WEIR_LEN_HELP },
	{ "file", &weir_type_file, WEIR_ON_GET, .attr = FILE_ATTR,
	  AT(query, file), .help = "with the configuration (default: that in force)" },
	END
};

const struct weir_set weir_explain_fields = {
	SET("explain", query), .fields = explain_rows,
};

static const char *const met_names[] = { "no", "maybe", "yes", NULL };
static const char *const says_names[] = { "nothing", "admit", "refuse", "exempt", NULL };
static const char *const reason_names[] = {
	"none", "budget", "block", "floor", "size", "newcomers", "prefix", NULL
};
static const char *const verdict_names[] = { "passes", "dropped", "depends", NULL };

enum {
	LIMIT = 1, POSITION, MET, UNMET, NOT_GIVEN, SAYS, REASON, BUDGET, NEXT, PACKETS, BYTES,
	NEWCOMER, SOURCE, UNKNOWN, ACTION, EXEMPT_BY, BLOCKED_BY, BUDGETS, CONFIGURED,
	PACKET, LEN, LIMITS, VERDICT, MOST, DROPPED_BY, REFUSALS, EARLY, EARLY_WHY,
	LOOPBACK, BUDGET_BY,
};

static const struct weir_attr_spec attrs[] = {
	[LIMIT] = { .name = "limit" }, [POSITION] = { .name = "position" },
	[MET] = { .name = "met", .names = met_names }, [UNMET] = { .name = "unmet" },
	[NOT_GIVEN] = { .name = "not_given" }, [SAYS] = { .name = "says", .names = says_names },
	[REASON] = { .name = "reason", .names = reason_names }, [BUDGET] = { .name = "by_budget" },
	[NEXT] = { .name = "next_ms" }, [PACKETS] = { .name = "left_packets" },
	[BYTES] = { .name = "left_bytes" }, [NEWCOMER] = { .name = "as_newcomer" },
	[SOURCE] = { .name = "source" }, [UNKNOWN] = { .name = "unknown" },
	[EXEMPT_BY] = { .name = "exempt_by" }, [BLOCKED_BY] = { .name = "blocked_by" },
	[BUDGETS] = { .name = "budgets" }, [CONFIGURED] = { .name = "configured" },
	[PACKET] = { .name = "packet" }, [LEN] = { .name = "len" }, [LIMITS] = { .name = "limits" },
	[VERDICT] = { .name = "verdict", .names = verdict_names },
	[MOST] = { .name = "up_to_bytes" }, [DROPPED_BY] = { .name = "dropped_by" },
	[REFUSALS] = { .name = "first_refusals" }, [EARLY] = { .name = "early_drop" },
	[EARLY_WHY] = { .name = "early_why" }, [LOOPBACK] = { .name = "loopback" },
	[BUDGET_BY] = { .name = "budget_by" },
};

#define ROW(number)	.attr = number, .spec = &attrs[number]
#define JUDGED(number, member)	ROW(number), AT(judged, member)
#define IF(NAME)	.bit = WEIR_JUDGED_##NAME
#define SOMETIMES	(WEIR_WORDS | WEIR_SOME)

static const struct weir_field judged_rows[] = {
	{ NULL, &weir_type_name, WEIR_WORDS, JUDGED(LIMIT, limit) },
	{ NULL, &weir_type_uint, SOMETIMES, JUDGED(POSITION, position) },
	{ NULL, &weir_type_enum, WEIR_WORDS, JUDGED(MET, met) },
	{ NULL, &weir_type_comment, SOMETIMES, JUDGED(UNMET, unmet_words) },
	{ NULL, &weir_type_comment, SOMETIMES, JUDGED(NOT_GIVEN, open_words) },
	{ NULL, &weir_type_enum, WEIR_WORDS, JUDGED(SAYS, says) },
	{ NULL, &weir_type_enum, SOMETIMES, JUDGED(REASON, reason) },
	{ NULL, &weir_type_uint, SOMETIMES, JUDGED(BUDGET, budget) },
	{ NULL, &weir_type_ns, WEIR_WORDS, JUDGED(NEXT, next_ns), IF(NEXT) },
	{ NULL, &weir_type_uint, WEIR_WORDS, JUDGED(PACKETS, packets), IF(PACKETS) },
	{ NULL, &weir_type_uint, WEIR_WORDS, JUDGED(BYTES, bytes), IF(BYTES) },
	{ NULL, &weir_type_flag, SOMETIMES, JUDGED(NEWCOMER, newcomer) },
	{ NULL, &weir_type_prefix, WEIR_WORDS, JUDGED(SOURCE, source.prefix), IF(SOURCE) },
	{ NULL, &weir_type_flag, SOMETIMES, JUDGED(UNKNOWN, source.unknown) },
	{ NULL, &weir_type_enum, WEIR_WORDS, .attr = ACTION,
	  .spec = &weir_source_attrs[WEIR_A_SOURCE_ACTION], AT(judged, source.action) },
	{ NULL, &weir_type_nest, WEIR_WORDS, JUDGED(EXEMPT_BY, exempt), IF(EXEMPT),
	  .nest = &weir_exempt_fields },
	{ NULL, &weir_type_nest, WEIR_WORDS, JUDGED(BLOCKED_BY, block), IF(BLOCK),
	  .nest = &weir_block_fields },
	{ NULL, &weir_type_prefix, SOMETIMES, JUDGED(BUDGET_BY, source.asked.by) },
	{ NULL, &weir_type_nest, SOMETIMES, ROW(BUDGETS),
	  MANY(judged, source.budgets, source.budget_count),
	  .nest = &weir_source_budget_fields },
	{ NULL, &weir_type_nest, SOMETIMES, ROW(CONFIGURED),
	  MANY(judged, configured, configured_count),
	  .nest = &weir_budget_fields },
	END
};

static const struct weir_set judged_fields = {
	SET("judged", judged), .fields = judged_rows, .own = true,
};

#define REFUSAL(number, member)	ROW(number), AT(refusal, member)

static const struct weir_field refusal_rows[] = {
	{ NULL, &weir_type_name, WEIR_WORDS, REFUSAL(LIMIT, limit) },
	{ NULL, &weir_type_uint, WEIR_WORDS, REFUSAL(PACKETS, packets), IF(PACKETS) },
	{ NULL, &weir_type_uint, WEIR_WORDS, REFUSAL(BYTES, bytes), IF(BYTES) },
	{ NULL, &weir_type_uint, SOMETIMES, REFUSAL(BUDGET, budget) },
	{ NULL, &weir_type_flag, SOMETIMES, REFUSAL(NEWCOMER, newcomer) },
	{ NULL, &weir_type_comment, SOMETIMES, REFUSAL(NOT_GIVEN, open_words) },
	END
};

static const struct weir_set refusal_fields = {
	SET("refusal", refusal), .fields = refusal_rows, .own = true,
};

#define EXPLAINED(number, member)	ROW(number), AT(explained, member)

static const struct weir_field explained_rows[] = {
	{ NULL, &weir_type_nest, WEIR_WORDS, EXPLAINED(PACKET, packet),
	  .nest = &weir_match_fields },
	{ NULL, &weir_type_uint, SOMETIMES, EXPLAINED(LEN, len) },
	{ NULL, &weir_type_flag, SOMETIMES, EXPLAINED(LOOPBACK, loopback) },
	{ NULL, &weir_type_nest, WEIR_WORDS, EXPLAINED(EXEMPT_BY, exempt), IF(EXEMPT),
	  .nest = &weir_exempt_fields },
	{ NULL, &weir_type_nest, SOMETIMES, ROW(LIMITS),
	  .offset = offsetof(struct weir_explained, limits), .size = sizeof(struct weir_judged),
	  .apart = true, .many = WEIR_LIMITS_MAX,
	  .count = offsetof(struct weir_explained, limit_count), .nest = &judged_fields },
	{ NULL, &weir_type_enum, WEIR_WORDS, EXPLAINED(VERDICT, verdict) },
	{ NULL, &weir_type_uint, SOMETIMES, EXPLAINED(MOST, most) },
	{ NULL, &weir_type_name, SOMETIMES, EXPLAINED(DROPPED_BY, dropped_by) },
	{ NULL, &weir_type_nest, SOMETIMES, ROW(REFUSALS),
	  MANY(explained, refusals, refusal_count), .nest = &refusal_fields },
	{ NULL, &weir_type_flag, WEIR_WORDS, EXPLAINED(EARLY, early) },
	{ NULL, &weir_type_comment, SOMETIMES, EXPLAINED(EARLY_WHY, early_why) },
	END
};

const struct weir_set weir_explained_fields = {
	SET("explained", explained), .fields = explained_rows, .own = true,
};
