// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of counters, of budgets, and of the counts of a source. */

#include "lang/row.h"

#define COUNTER(NAME, member)	ATTR(counter, COUNTER_##NAME), AT(counter, member)

static const struct weir_field counter_rows[] = {
	{ "packets", &weir_type_uint, WEIR_WORDS, COUNTER(PACKETS, packets) },
	{ "bytes", &weir_type_uint, WEIR_WORDS, COUNTER(BYTES, bytes) },
	END
};

const struct weir_set weir_counter_fields = { SET("counter", counter), .fields = counter_rows };

#define ON_LIMIT	(WEIR_ON_ADD | WEIR_ON_SET | WEIR_WORDS | WEIR_EVENT)
#define BUDGET(NAME, member)	ATTR(budget, BUDGET_##NAME), AT(budget, member), \
				.bit = WEIR_HAS(BUDGET_##NAME)

static const struct weir_field budget_rows[] = {
	{ "budget", &weir_type_budget, ON_LIMIT | WEIR_AGAIN, BUDGET(BUDGET, amount),
	  .part = WEIR_A_BUDGET_WINDOW_MS, .needed = WEIR_ON_ADD, .instead = "blocks",
	  .help = "TIME: ms, s ... month, total; up to 4, each with\n"
	  "                            slots, mode, burst and alone that follow it" },
	{ "unit", &weir_type_enum, WEIR_FOLLOWS | WEIR_BARE | WEIR_QUIET | ON_LIMIT,
	  BUDGET(UNIT, unit), .usual = "packets" },
	{ "slots", &weir_type_uint, ON_LIMIT | WEIR_SOME, BUDGET(SLOTS, slots),
	  .help = "number of slots of the budget's window" },
	{ "mode", &weir_type_enum, WEIR_BARE | WEIR_QUIET | ON_LIMIT, BUDGET(MODE, mode),
	  .usual = "strict", .help = "how the budget counts (default: strict)" },
	{ "burst", &weir_type_amount, ON_LIMIT | WEIR_SOME, BUDGET(BURST, burst),
	  .help = "size of the bucket (default: the budget)" },
	{ "alone", &weir_type_spare, ON_LIMIT | WEIR_SOME | WEIR_QUIET, BUDGET(ALONE, alone),
	  .usual = "none", .help = "budget while the hosts that share it are not heard" },
	{ "slot", &weir_type_ns, WEIR_RESULT, BUDGET(SLOT_NS, slot_ns), .key = "slot_ms" },
	{ "window", &weir_type_ns, WEIR_RESULT, BUDGET(WINDOW_NS, window_ns),
	  .key = "effective_window_ms" },
	{ "renews", &weir_type_date, WEIR_RESULT | WEIR_SOME, BUDGET(RENEWS, renews) },
	{ "at most", &weir_type_amount, WEIR_RESULT, BUDGET(MOST, most) },
	{ "refused", &weir_type_counter, WEIR_RESULT | WEIR_MUTE, BUDGET(REFUSED, refused),
	  .nest = &weir_counter_fields },
	END
};

const struct weir_set weir_budget_fields = { SET("budget", budget), .fields = budget_rows };

#define COUNT(NAME, member)	ATTR(source_budget, SOURCE_BUDGET_##NAME), \
				AT(source_budget, member)

/* What a source with a single budget has beside its name is WEIR_RESULT. */
static const struct weir_field source_budget_rows[] = {
	{ "count", &weir_type_amount, WEIR_WORDS | WEIR_RESULT, COUNT(COUNT, count) },
	{ "of", &weir_type_amount, WEIR_WORDS | WEIR_RESULT, COUNT(BUDGET, budget) },
	{ "unit", &weir_type_enum, WEIR_BARE | WEIR_QUIET | WEIR_WORDS | WEIR_RESULT,
	  COUNT(UNIT, unit), .usual = "packets" },
	{ "left", &weir_type_amount, WEIR_WORDS | WEIR_RESULT, COUNT(LEFT, left) },
	{ "limited", &weir_type_flag, WEIR_WORDS, COUNT(LIMITED, limited),
	  .color = WEIR_COLOR_BAD },
	{ "next", &weir_type_ns, WEIR_WORDS, COUNT(NEXT_NS, next_ns),
	  .bit = WEIR_HAS(SOURCE_BUDGET_NEXT_NS), .key = "next_ms", .label = "for" },
	{ "slot", &weir_type_ns, WEIR_WORDS | WEIR_MUTE, COUNT(SLOT_NS, slot_ns),
	  .bit = WEIR_HAS(SOURCE_BUDGET_SLOT_NS), .key = "slot_ms" },
	{ "slots", &weir_type_uint, WEIR_WORDS | WEIR_MUTE | WEIR_SOME,
	  ATTR(source_budget, SOURCE_BUDGET_SLOT), .key = "slot_counts",
	  .offset = offsetof(struct weir_source_budget, slot), .size = sizeof(uint64_t),
	  .many = WEIR_WHEEL_MAX, .count = offsetof(struct weir_source_budget, slots) },
	END
};

const struct weir_set weir_source_budget_fields = {
	SET("source_budget", source_budget), .fields = source_budget_rows,
};
