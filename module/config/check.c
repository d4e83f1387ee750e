// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check the configuration of a limit, as far as the range of a single attribute cannot, and
 * divide the windows of its budgets into slots.
 */
#include <linux/ctype.h>
#include <linux/jiffies.h>
#include <linux/math64.h>

#include "config/check.h"
#include "count/shape.h"
#include "error.h"
#include "limit/limit.h"
#include "uapi/linux/weir_rules.h"

static_assert(WEIR_RULE_EXACT_MAX == WEIR_LOG_ENTRIES);
static_assert(1u << WEIR_RULE_BURST_SHIFT == WEIR_BURST_BUDGETS);

#define SLOTS_DEFAULT_MAX	15

/* A window may grow by 1 / ROUND_PART when its slots are rounded up to ticks. */
#define ROUND_PART		16

/* Ticks of a slot, rounded up; 0 if a slot would be shorter than a tick. */
static u32 slot_ticks_of(u32 window_ms, unsigned int slots)
{
	u64 part = (u64)MSEC_PER_SEC * slots;
	u64 ticks = (u64)window_ms * HZ;

	return ticks < part ? 0 : div64_u64(ticks + part - 1, part);
}

/*
 * The number of slots of a window, and their length: @slots, or for 0 the largest
 * number up to 15 that rounds little. Returns 0 if @slots do not fit.
 */
unsigned int weir_slots_fit(u32 window_ms, unsigned int slots, u32 *slot_ticks)
{
	u64 excess, least = U64_MAX;
	unsigned int n, best = 0;
	u32 ticks;

	if (slots) {
		*slot_ticks = slot_ticks_of(window_ms, slots);
		return *slot_ticks ? slots : 0;
	}
	for (n = SLOTS_DEFAULT_MAX; n; n--) {
		ticks = slot_ticks_of(window_ms, n);
		if (!ticks)
			continue;
		excess = (u64)ticks * n * MSEC_PER_SEC - (u64)window_ms * HZ;
		if (excess >= least)
			continue;
		least = excess;
		best = n;
		*slot_ticks = ticks;
		if (excess * ROUND_PART <= (u64)window_ms * HZ)
			break;
	}
	/* A window of less than a tick has one slot of one tick. */
	if (!best) {
		best = 1;
		*slot_ticks = 1;
	}
	return best;
}

static bool name_good(const char *name)
{
	if (!*name || *name == '-')
		return false;
	for (; *name; name++)
		if (!isascii(*name) || (!isalnum(*name) && !strchr("_-.:+@", *name)))
			return false;
	return true;
}

/* Check a name, which is at fault as @attr. */
int weir_name_check(const char *name, int attr, struct weir_error *error)
{
	if (!name_good(name))
		return weir_refuse(error, -EINVAL, attr,
				   "a name may have letters, digits and _-.:+@, and not begin with a dash");
	if (!strcmp(name, "all"))
		return weir_refuse(error, -EINVAL, attr,
				   "'all' means every limit; choose another name");
	return 0;
}

static void newcomers_divide(struct weir_limit *limit)
{
	struct weir_newcomers *newcomers = &limit->newcomers;

	if (!newcomers->budget)
		return;
	newcomers->slots = weir_slots_fit(newcomers->window_ms, 0, &newcomers->slot_ticks);
	newcomers->span_ticks = min_t(u64, (newcomers->slots + 1ull) * newcomers->slot_ticks,
				      U32_MAX);
	newcomers->known_ticks = slot_ticks_of(newcomers->known_ms ?:
						WEIR_KNOWN_MS_DEFAULT, 1);
}

/* Divide the window of a bucket into slots so short that it seems to drain steadily. */
static void bucket_divide(struct weir_limit *limit, unsigned int i)
{
	struct weir_budget *budget = &limit->budget[i];
	u64 ticks = slot_ticks_of(budget->window_ms, 1) ?: 1, span;

	if (budget->burst)
		limit->room[i] = budget->burst;
	budget->slot_ticks = DIV_ROUND_UP_ULL(ticks, WEIR_PARTS_MAX);
	budget->slots = DIV_ROUND_UP_ULL(ticks, budget->slot_ticks);
	span = (div64_u64(limit->room[i] - 1, budget->amount) + 1) * ticks;
	limit->span_ticks = max_t(u64, limit->span_ticks, min(span, U32_MAX));
}

/* The most entries that a log can have: four cache lines of a way. */
u64 weir_limit_log_most(const struct weir_limit *limit)
{
	return limit->prefix.len6 > 64 ? WEIR_RULE_EXACT_LONG_MAX : WEIR_RULE_EXACT_MAX;
}

/* Divide the window of a log into slots of a tick, if they are not too many. */
static void log_divide(struct weir_limit *limit, unsigned int i)
{
	struct weir_budget *budget = &limit->budget[i];
	u64 ticks = slot_ticks_of(budget->window_ms, 1) ?: 1, span;

	budget->slot_ticks = DIV_ROUND_UP_ULL(ticks, WEIR_LOG_SLOTS);
	budget->slots = DIV_ROUND_UP_ULL(ticks, budget->slot_ticks);
	span = (budget->slots + 1ull) * budget->slot_ticks;
	limit->span_ticks = max_t(u64, limit->span_ticks, min(span, U32_MAX));
}

/* Has any budget a calendar? */
bool weir_limit_has_calendar(const struct weir_limit *limit)
{
	unsigned int i;

	for (i = 0; i < limit->budgets; i++)
		if (limit->budget[i].mode == WEIR_MODE_CALENDAR)
			return true;
	return false;
}

static int zone_check(const struct weir_limit *limit, struct weir_error *error)
{
	if (abs(limit->zone.offset) > WEIR_ZONE_OFFSET_MAX ||
	    abs(limit->zone.next_offset) > WEIR_ZONE_OFFSET_MAX)
		return weir_refuse(error, -ERANGE, WEIR_A_LIMIT_ZONE,
				   "a time zone is at most 50400 seconds from UTC, before and after a change");
	return 0;
}

/* Check a budget, and divide its window. */
static int budget_check(struct weir_limit *limit, unsigned int i, struct weir_error *error)
{
	struct weir_budget *budget = &limit->budget[i];
	unsigned int slots = limit->slots_given & BIT(i) ? budget->slots : 0;
	/* Only the current slot is summed. */
	bool one_slot = budget->mode == WEIR_MODE_FIXED || budget->mode == WEIR_MODE_CALENDAR ||
			!budget->window_ms;
	const struct weir_budget_rules is = {
		.amount = budget->amount, .burst = budget->burst, .window_ms = budget->window_ms,
		.slots = slots, .mode = budget->mode, .bytes = !!(limit->bytes & BIT(i)),
		.len6 = limit->prefix.len6,
	};
	struct weir_broken_rule rule;
	u64 span;
	int err;

	error->budget = i + 1;
	err = weir_budget_rules(&is, &rule);
	if (err)
		return weir_refuse(error, err, rule.attr, rule.msg);
	limit->room[i] = budget->amount;
	if (budget->mode == WEIR_MODE_BUCKET) {
		bucket_divide(limit, i);
		return 0;
	}
	if (budget->mode == WEIR_MODE_EXACT) {
		log_divide(limit, i);
		return 0;
	}
	if (one_slot)
		slots = 1;
	budget->slot_ticks = 0;
	if (budget->window_ms)
		slots = weir_slots_fit(budget->window_ms, slots, &budget->slot_ticks);
	if (!slots) {
		error->value = max_t(u64, 1, div_u64((u64)budget->window_ms * HZ, MSEC_PER_SEC));
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_SLOTS,
				   "slots would be shorter than a clock tick; use fewer");
	}
	budget->slots = slots;
	span = (slots + 1ull) * budget->slot_ticks ?: U32_MAX;
	limit->span_ticks = max_t(u64, limit->span_ticks, min(span, U32_MAX));
	return 0;
}

/* Check the words that are not of a budget. */
static int words_check(struct weir_limit *limit, struct weir_error *error)
{
	const struct weir_limit_rules is = {
		.penalty_ms = limit->penalty_ms, .renew = limit->renew,
		.newcomers = !!limit->newcomers.budget, .known_ms = limit->newcomers.known_ms,
		.zone = !!*limit->zone_name,
		.calendar = weir_limit_has_calendar(limit),
		.len4 = limit->prefix.len4, .len6 = limit->prefix.len6,
	};
	struct weir_broken_rule rule;
	int err = weir_limit_rules(&is, &rule);

	error->budget = 0;
	if (err)
		return weir_refuse(error, err, rule.attr, rule.msg);
	limit->penalty_ticks = DIV_ROUND_UP_ULL(limit->penalty_ms * HZ, MSEC_PER_SEC);
	newcomers_divide(limit);
	return zone_check(limit, error);
}

/* Check what the range of a single attribute cannot, and divide the windows. */
int weir_limit_check(struct weir_limit *limit, struct weir_error *error)
{
	unsigned int i;
	u64 *largest;
	int err;

	err = weir_name_check(limit->name, WEIR_A_LIMIT_NAME, error);
	if (err)
		return err;
	limit->span_ticks = 0;
	limit->largest[false] = U64_MAX;
	limit->largest[true] = U64_MAX;
	for (i = 0; i < limit->budgets; i++) {
		err = budget_check(limit, i, error);
		if (err)
			return err;
		largest = &limit->largest[!!(limit->bytes & BIT(i))];
		*largest = min(*largest, limit->room[i]);
	}
	return words_check(limit, error);
}

/* The most that any interval as long as the window of a budget admits of one source. */
u64 weir_limit_most(const struct weir_limit *limit, unsigned int i)
{
	const struct weir_budget *budget = &limit->budget[i];
	bool once = budget->mode == WEIR_MODE_STRICT || budget->mode == WEIR_MODE_EXACT ||
		    !budget->window_ms;

	if (budget->mode == WEIR_MODE_BUCKET)
		return limit->room[i] + budget->amount;
	if (budget->mode == WEIR_MODE_CALENDAR &&
	    weir_calendar_shortens(budget->window_ms, &limit->zone))
		return 3 * budget->amount;
	return once ? budget->amount : 2 * budget->amount;
}
