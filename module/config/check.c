// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check the configuration of a limit, as far as the range of a single attribute cannot, and
 * divide the windows of its budgets into slots.
 */
#include <linux/ctype.h>
#include <linux/jiffies.h>
#include <linux/math64.h>

#include "config/check.h"
#include "config/rules.h"
#include "count/window.h"
#include "limit/limit.h"

static_assert(WEIR_RULE_EXACT_MAX == WEIR_LOG_CELLS);
static_assert(1u << WEIR_RULE_BURST_SHIFT == WEIR_BURST_BUDGETS);

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
	const struct weir_newcomers_config *cfg = &limit->cfg.newcomers;
	struct weir_newcomers *newcomers = &limit->newcomers;

	newcomers->budget = cfg->budget;
	newcomers->flood = cfg->flood;
	newcomers->learns = cfg->known_ms;
	if (!cfg->budget)
		return;
	newcomers->slots = weir_slots_fit(cfg->window_ms, 0, &newcomers->slot_ticks);
	newcomers->span_ticks = min_t(u64, (newcomers->slots + 1ull) * newcomers->slot_ticks,
				      U32_MAX);
	newcomers->known_ticks = weir_slot_ticks(cfg->known_ms ?: WEIR_KNOWN_MS_DEFAULT, 1);
}

/* Divide the window of a bucket into slots so short that it seems to drain steadily. */
static void bucket_divide(struct weir_limit *limit, unsigned int i)
{
	const struct weir_budget *budget = &limit->cfg.budget[i];
	u64 ticks, span;

	if (budget->burst)
		limit->room[i] = budget->burst;
	limit->slots[i] = weir_slots_most(budget->window_ms, WEIR_PARTS_MAX, &limit->slot_ticks[i]);
	ticks = weir_slot_ticks(budget->window_ms, 1) ?: 1;
	span = (div64_u64(limit->room[i] - 1, budget->amount) + 1) * ticks;
	limit->span_ticks = max_t(u64, limit->span_ticks, min(span, U32_MAX));
}

/* The most entries that a log can have: four cache lines of an entry. */
u64 weir_limit_log_most(const struct weir_limit_config *cfg)
{
	return cfg->prefix.len6 > 64 ? WEIR_RULE_EXACT_LONG_MAX : WEIR_RULE_EXACT_MAX;
}

/* Divide the window of a log into slots of a tick, if they are not too many. */
static void log_divide(struct weir_limit *limit, unsigned int i)
{
	const struct weir_budget *budget = &limit->cfg.budget[i];
	u64 span;

	limit->slots[i] = weir_slots_most(budget->window_ms, WEIR_LOG_SLOTS, &limit->slot_ticks[i]);
	span = (limit->slots[i] + 1ull) * limit->slot_ticks[i];
	limit->span_ticks = max_t(u64, limit->span_ticks, min(span, U32_MAX));
}

/* Has any budget a calendar? */
bool weir_limit_has_calendar(const struct weir_limit_config *cfg)
{
	unsigned int i;

	for (i = 0; i < cfg->budgets; i++)
		if (cfg->budget[i].mode == WEIR_MODE_CALENDAR)
			return true;
	return false;
}

static int zone_check(const struct weir_zone *zone, struct weir_error *error)
{
	if (abs(zone->offset) > WEIR_ZONE_OFFSET_MAX ||
	    abs(zone->next_offset) > WEIR_ZONE_OFFSET_MAX)
		return weir_refuse(error, -ERANGE, WEIR_A_LIMIT_ZONE,
				   "a time zone is at most 50400 seconds from UTC, before and after a change");
	return 0;
}

/* Check a budget, and divide its window. */
static int budget_check(struct weir_limit *limit, unsigned int i, struct weir_error *error)
{
	const struct weir_budget *budget = &limit->cfg.budget[i];
	unsigned int slots = limit->cfg.slots[i];
	/* Only the current slot is summed. */
	bool one_slot = budget->mode == WEIR_MODE_FIXED || budget->mode == WEIR_MODE_CALENDAR ||
			!budget->window_ms;
	const struct weir_budget_rules is = {
		.amount = budget->amount, .burst = budget->burst, .window_ms = budget->window_ms,
		.slots = slots, .mode = budget->mode, .bytes = !!(limit->bytes & BIT(i)),
		.alone = budget->alone, .shared = limit->cfg.shared, .len6 = limit->prefix.len6,
	};
	u64 span;
	int err;

	error->budget = i + 1;
	err = weir_budget_rules(&is, error);
	if (err)
		return err;
	limit->room[i] = limit->alone && budget->alone ? budget->alone : budget->amount;
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
	if (budget->window_ms)
		slots = weir_slots_fit(budget->window_ms, slots, &limit->slot_ticks[i]);
	if (!slots) {
		error->value = max_t(u64, 1, div_u64((u64)budget->window_ms * HZ, MSEC_PER_SEC));
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_SLOTS,
				   "slots would be shorter than a clock tick; use fewer");
	}
	limit->slots[i] = slots;
	span = (slots + 1ull) * limit->slot_ticks[i] ?: U32_MAX;
	limit->span_ticks = max_t(u64, limit->span_ticks, min(span, U32_MAX));
	return 0;
}

/* A member of the list by which a limit goes is at fault. */
static int member_refuse(const struct weir_prefixes *list, u32 index, int err, const char *msg,
			 struct weir_error *error)
{
	error->member = &list->member[index];
	return weir_refuse(error, err, WEIR_A_LIMIT_BUDGETS_BY, msg);
}

/*
 * Check the budgets that the limit's list has, as its first one. No prefix may divide a source,
 * which has one budget.
 */
static int list_check(const struct weir_limit *limit, struct weir_error *error)
{
	const struct weir_prefixes *list = limit->cfg.budgets_by;
	const struct weir_budget *budget = limit->cfg.budget;
	struct weir_budget_rules is = {
		.window_ms = budget->window_ms, .slots = limit->cfg.slots[0],
		.mode = budget->mode, .bytes = limit->bytes & 1, .len6 = limit->prefix.len6,
	};
	u32 i;
	int err;

	if (!list)
		return 0;
	for (i = 0; i < list->count; i++)
		if (list->member[i].prefix.len > (list->member[i].prefix.family == AF_INET ?
						  limit->prefix.len4 : limit->prefix.len6))
			return member_refuse(list, i, -EINVAL,
					     "a prefix of the list is longer than a source of the limit",
					     error);
	if (list->largest == list->count)
		return 0;
	is.amount = list->member[list->largest].budget;
	err = weir_budget_rules(&is, error);
	return err ? member_refuse(list, list->largest, err, error->msg, error) : 0;
}

/* The room that a count has when the limit is not alone. */
u64 weir_limit_room_joined(const struct weir_limit *limit, unsigned int i)
{
	return limit->cfg.budget[i].alone ? limit->cfg.budget[i].amount : limit->room[i];
}

/* The largest and the smallest room that a count of any source has. */
u64 weir_limit_room_most(const struct weir_limit *limit, unsigned int i)
{
	const struct weir_prefixes *list = limit->cfg.budgets_by;
	u64 room = weir_limit_room_joined(limit, i);

	return i || !list || list->largest == list->count ? room :
	       max(room, list->member[list->largest].budget);
}

static u64 room_least(const struct weir_limit *limit, unsigned int i)
{
	const struct weir_prefixes *list = limit->cfg.budgets_by;

	return i || !list || list->least == list->count ? limit->room[i] :
	       min(limit->room[i], list->member[list->least].budget);
}

/* Has a budget a count that is not of slots? */
static bool limit_slotless(const struct weir_limit_config *cfg)
{
	unsigned int i;

	for (i = 0; i < cfg->budgets; i++)
		if (cfg->budget[i].mode == WEIR_MODE_BUCKET ||
		    cfg->budget[i].mode == WEIR_MODE_EXACT)
			return true;
	return false;
}

/* Check the words that are not of a budget. */
static int words_check(struct weir_limit *limit, struct weir_error *error)
{
	const struct weir_limit_config *cfg = &limit->cfg;
	const struct weir_limit_rules is = {
		.penalty_ms = cfg->penalty_ms, .renew = cfg->renew,
		.newcomers = !!cfg->newcomers.budget, .known_ms = cfg->newcomers.known_ms,
		.zone = !!*cfg->zone_name,
		.calendar = weir_limit_has_calendar(cfg),
		.budgets_by = !!cfg->budgets_by,
		.bucket = cfg->budget[0].mode == WEIR_MODE_BUCKET, .alone = !!cfg->budget[0].alone,
		.shared = cfg->shared, .slotless = limit_slotless(cfg), .blocks = !cfg->budgets,
		.len4 = cfg->prefix.len4, .len6 = cfg->prefix.len6,
	};
	int err = weir_limit_rules(&is, error);

	error->budget = 0;
	if (err)
		return err;
	limit->penalty_ticks = DIV_ROUND_UP_ULL(cfg->penalty_ms * HZ, MSEC_PER_SEC);
	newcomers_divide(limit);
	return list_check(limit, error) ?: zone_check(&cfg->zone, error);
}

/*
 * Check of the configuration of a limit what the range of a single attribute cannot, and derive
 * what packets read; the rest of the limit is zero.
 */
int weir_limit_check(struct weir_limit *limit, struct weir_error *error)
{
	unsigned int i;
	u64 *largest;
	int err;

	err = weir_name_check(limit->cfg.name, WEIR_A_LIMIT_NAME, error);
	if (err)
		return err;
	limit->prefix = limit->cfg.prefix;
	limit->budgets = limit->cfg.budgets;
	limit->bytes = limit->cfg.bytes;
	limit->observe = limit->cfg.observe;
	limit->plain = !limit->observe && !limit->cfg.log;
	limit->renew = limit->cfg.renew;
	limit->largest[false] = U64_MAX;
	limit->largest[true] = U64_MAX;
	/* Also the count of a limit that only blocks, which stays empty */
	for (i = 0; i < max(limit->budgets, 1); i++) {
		err = budget_check(limit, i, error);
		if (err)
			return err;
	}
	for (i = 0; i < limit->budgets; i++) {
		largest = &limit->largest[!!(limit->bytes & BIT(i))];
		*largest = min(*largest, room_least(limit, i));
	}
	if (limit->budgets && !limit->cfg.budgets_by)
		memcpy(limit->fits, limit->largest, sizeof(limit->fits));
	return words_check(limit, error);
}

/* The most that any interval as long as the window of a budget admits of any source. */
u64 weir_limit_most(const struct weir_limit *limit, unsigned int i)
{
	const struct weir_budget *budget = &limit->cfg.budget[i];
	u64 room = weir_limit_room_most(limit, i);
	bool once = budget->mode == WEIR_MODE_STRICT || budget->mode == WEIR_MODE_EXACT ||
		    !budget->window_ms;

	if (budget->mode == WEIR_MODE_BUCKET)
		return limit->room[i] + budget->amount;
	if (budget->mode == WEIR_MODE_CALENDAR &&
	    weir_calendar_shortens(budget->window_ms, &limit->cfg.zone))
		return 3 * room;
	return once ? room : 2 * room;
}
