// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of the budgets of a limit besides the first, and of how a source stands with them. */

#include "field.h"

#define AT(model, member)	.offset = offsetof(struct weir_##model, member), \
				.size = sizeof(((struct weir_##model *)0)->member)
#define ATTR(set, NAME)	.attr = WEIR_A_##NAME, .spec = &weir_##set##_attrs[WEIR_A_##NAME]
#define END	{ 0 }
#define ON_LIMIT	(WEIR_ON_ADD | WEIR_ON_SET | WEIR_WORDS | WEIR_EVENT)
#define FURTHER(NAME, member)	ATTR(budget, BUDGET_##NAME), AT(further, member), \
				.bit = WEIR_HAS(BUDGET_##NAME)

/* The words of each budget: as those of the first, in fields.c. */
static const struct weir_field further_rows[] = {
	{ "budget", &weir_type_budget, ON_LIMIT, FURTHER(BUDGET, budget),
	  .part = WEIR_A_BUDGET_WINDOW_MS },
	{ "unit", &weir_type_enum, WEIR_FOLLOWS | WEIR_BARE | WEIR_QUIET | ON_LIMIT,
	  FURTHER(UNIT, unit), .usual = "packets" },
	{ "slots", &weir_type_uint, ON_LIMIT | WEIR_SOME, FURTHER(SLOTS, slots) },
	{ "mode", &weir_type_enum, WEIR_BARE | WEIR_QUIET | ON_LIMIT, FURTHER(MODE, mode),
	  .usual = "strict" },
	{ "burst", &weir_type_amount, ON_LIMIT | WEIR_SOME, FURTHER(BURST, burst) },
	{ "slot", &weir_type_ns, WEIR_RESULT, FURTHER(SLOT_NS, slot_ns), .key = "slot_ms" },
	{ "window", &weir_type_ns, WEIR_RESULT, FURTHER(WINDOW_NS, window_ns),
	  .key = "effective_window_ms" },
	{ "renews", &weir_type_date, WEIR_RESULT | WEIR_SOME, FURTHER(RENEWS, renews) },
	{ "at most", &weir_type_amount, WEIR_RESULT, FURTHER(MOST, most) },
	{ "refused", &weir_type_counter, WEIR_RESULT | WEIR_MUTE, FURTHER(REFUSED, refused),
	  .nest = &weir_counter_fields },
	END
};

const struct weir_set weir_further_fields = {
	.name = "budget", .size = sizeof(struct weir_further), .fields = further_rows,
};

#define STANDING(NAME, member)	ATTR(source_budget, SOURCE_BUDGET_##NAME), AT(standing, member)

/* As those of the first, in fields.c. */
static const struct weir_field standing_rows[] = {
	{ "count", &weir_type_amount, WEIR_WORDS, STANDING(COUNT, count) },
	{ "of", &weir_type_amount, WEIR_WORDS, STANDING(BUDGET, budget) },
	{ "unit", &weir_type_enum, WEIR_BARE | WEIR_QUIET | WEIR_WORDS, STANDING(UNIT, unit),
	  .usual = "packets" },
	{ "left", &weir_type_amount, WEIR_WORDS, STANDING(LEFT, left) },
	{ "limited", &weir_type_flag, WEIR_WORDS, STANDING(LIMITED, limited),
	  .color = WEIR_COLOR_BAD },
	{ "next", &weir_type_ns, WEIR_WORDS, STANDING(NEXT_NS, next_ns),
	  .bit = WEIR_HAS(SOURCE_BUDGET_NEXT_NS), .key = "next_ms", .label = "for" },
	END
};

const struct weir_set weir_standing_fields = {
	.name = "source_budget", .size = sizeof(struct weir_standing), .fields = standing_rows,
};
