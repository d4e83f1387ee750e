// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check the configuration of a limit, as far as the range of a single attribute cannot, and
 * divide the windows of its budgets into slots.
 */
#include <linux/ctype.h>
#include <linux/jiffies.h>
#include <linux/math64.h>

#include "config/check.h"
#include "count/window.h"
#include "limit/limit.h"
#include "limit/rules.h"

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

/* The most entries that a log can have: four cache lines of an entry. */
u64 weir_limit_log_most(const struct weir_limit_config *cfg)
{
	return cfg->prefix.len6 > 64 ? WEIR_RULE_EXACT_LONG_MAX : WEIR_RULE_EXACT_MAX;
}

/*
 * Divide the window of a budget: of a bucket so finely that it seems to drain steadily, of a log
 * into ticks, if they are not too many. Returns the slots, or 0 if they are too short.
 */
static u32 window_divide(const struct weir_budget_config *is, u32 *slot_ticks)
{
	if (is->mode == WEIR_MODE_BUCKET)
		return weir_slots_most(is->window_ms, WEIR_PARTS_MAX, slot_ticks);
	if (is->mode == WEIR_MODE_EXACT)
		return weir_slots_most(is->window_ms, WEIR_LOG_SLOTS, slot_ticks);
	if (!is->window_ms)
		return 1;
	/* Only the current slot of these is summed. */
	return weir_slots_fit(is->window_ms, is->mode == WEIR_MODE_FIXED ||
			      is->mode == WEIR_MODE_CALENDAR ? 1 : is->slots, slot_ticks);
}

/* Check a budget, and say how it is counted. */
static int budget_check(struct weir_limit *limit, unsigned int i, struct weir_error *error)
{
	const struct weir_budget_config *is = &limit->cfg.budget[i];
	u64 window = DIV_ROUND_UP_ULL((u64)is->window_ms * HZ, MSEC_PER_SEC), span;
	struct weir_meter_spec *meter = &limit->meter[i];
	int err;

	error->budget = i + 1;
	err = weir_budget_rules(is, limit->cfg.shared, limit->cfg.prefix.len6, error);
	if (err)
		return err;
	meter->slots = window_divide(is, &meter->slot_ticks);
	if (!meter->slots) {
		error->value = max_t(u64, 1, div_u64((u64)is->window_ms * HZ, MSEC_PER_SEC));
		return weir_refuse(error, -EINVAL, WEIR_A_BUDGET_SLOTS,
				   "slots would be shorter than a clock tick; use fewer");
	}
	meter->rounded = (u64)meter->slots * meter->slot_ticks - window;
	meter->rate = is->mode == WEIR_MODE_BUCKET ? is->amount : 0;
	meter->calendar_ms = is->mode == WEIR_MODE_CALENDAR ? is->window_ms : 0;
	meter->log = is->mode == WEIR_MODE_EXACT;
	meter->lenient = is->mode != WEIR_MODE_STRICT || !is->window_ms;
	meter->bytes = is->unit;
	limit->room[i] = limit->alone && is->alone ? is->alone : is->burst ?: is->amount;
	if (meter->rate)
		span = (div64_u64(limit->room[i] - 1, is->amount) + 1) *
		       (weir_slot_ticks(is->window_ms, 1) ?: 1);
	else
		span = (meter->slots + 1ull) * meter->slot_ticks ?: U32_MAX;
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
	struct weir_budget_config is = limit->cfg.budget[0];
	u32 i;
	int err;

	if (!list)
		return 0;
	for (i = 0; i < list->count; i++)
		if (list->member[i].prefix.len > (list->member[i].prefix.family == AF_INET ?
						  limit->cfg.prefix.len4 : limit->cfg.prefix.len6))
			return member_refuse(list, i, -EINVAL,
					     "a prefix of the list is longer than a source of the limit",
					     error);
	if (list->largest == list->count)
		return 0;
	is.amount = list->member[list->largest].budget;
	err = weir_budget_rules(&is, limit->cfg.shared, limit->cfg.prefix.len6, error);
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

/* Check the words that are not of a budget. */
static int words_check(struct weir_limit *limit, struct weir_error *error)
{
	const struct weir_limit_config *cfg = &limit->cfg;
	const struct weir_limit_rules is = {
		.budget = cfg->budget, .budgets = cfg->budgets, .blocks = !cfg->budgets,
		.penalty_ms = cfg->penalty_ms, .renew = cfg->renew,
		.newcomers = !!cfg->newcomers.budget, .known_ms = cfg->newcomers.known_ms,
		.zone = !!*cfg->zone_name, .budgets_by = !!cfg->budgets_by, .shared = cfg->shared,
		.len4 = cfg->prefix.len4, .len6 = cfg->prefix.len6,
	};
	int err = weir_limit_rules(&is, error);

	error->budget = 0;
	if (err)
		return err;
	limit->penalty_ticks = DIV_ROUND_UP_ULL(cfg->penalty_ms * HZ, MSEC_PER_SEC);
	newcomers_divide(limit);
	if (max(abs(cfg->zone.offset), abs(cfg->zone.next_offset)) > WEIR_ZONE_OFFSET_MAX)
		return weir_refuse(error, -ERANGE, WEIR_A_LIMIT_ZONE,
				   "a time zone is at most 50400 seconds from UTC, before and after a change");
	return list_check(limit, error);
}

/*
 * Check of the configuration of a limit what the range of a single attribute cannot, and derive
 * what packets read; the rest of the limit is zero.
 */
int weir_limit_check(struct weir_limit *limit, struct weir_error *error)
{
	const struct weir_prefixes *list = limit->cfg.budgets_by;
	unsigned int i;
	u64 *largest;
	int err;

	err = weir_name_check(limit->cfg.name, WEIR_A_LIMIT_NAME, error);
	if (err)
		return err;
	limit->plain = !limit->cfg.observe && !limit->cfg.log;
	limit->largest[false] = U64_MAX;
	limit->largest[true] = U64_MAX;
	/* Also the count of a limit that only blocks, which stays empty */
	for (i = 0; i < max(limit->cfg.budgets, 1); i++) {
		err = budget_check(limit, i, error);
		if (err)
			return err;
	}
	for (i = 0; i < limit->cfg.budgets; i++) {
		largest = &limit->largest[limit->cfg.budget[i].unit];
		*largest = min(*largest, limit->room[i]);
		if (!i && list && list->least < list->count)
			*largest = min(*largest, list->member[list->least].budget);
	}
	if (limit->cfg.budgets && !limit->cfg.budgets_by)
		memcpy(limit->fits, limit->largest, sizeof(limit->fits));
	return words_check(limit, error);
}

/* The most that any interval as long as the window of a budget admits of any source. */
u64 weir_limit_most(const struct weir_limit *limit, unsigned int i)
{
	const struct weir_budget_config *budget = &limit->cfg.budget[i];
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
