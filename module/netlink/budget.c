// SPDX-License-Identifier: GPL-2.0-only
/*
 * The budgets of a limit, each a nest, and how a source stands with them.
 */
#include "config/check.h"
#include "limit/stats.h"
#include "netlink/message.h"

/* Change a budget of a limit. */
static void budget_parse(struct nlattr **attrs, struct weir_budget_config *budget)
{
	const struct weir_budget_config was = *budget;

	budget->amount = weir_nl_uint(attrs[WEIR_A_BUDGET_BUDGET], was.amount);
	budget->window_ms = weir_nl_uint(attrs[WEIR_A_BUDGET_WINDOW_MS], was.window_ms);
	budget->unit = weir_nl_uint(attrs[WEIR_A_BUDGET_UNIT], was.unit);
	if (!budget->window_ms)
		budget->slots = 0;
	if (budget->unit != was.unit)
		budget->burst = 0;
	if (budget->unit != was.unit || budget->window_ms != was.window_ms)
		budget->alone = 0;
	if (attrs[WEIR_A_BUDGET_MODE]) {
		budget->mode = nla_get_u32(attrs[WEIR_A_BUDGET_MODE]);
		if (budget->mode > WEIR_MODE_LENIENT)
			budget->slots = 0;
		if (budget->mode != WEIR_MODE_BUCKET)
			budget->burst = 0;
	}
	budget->burst = weir_nl_uint(attrs[WEIR_A_BUDGET_BURST], budget->burst);
	budget->alone = weir_nl_uint(attrs[WEIR_A_BUDGET_ALONE], budget->alone);
	budget->slots = weir_nl_uint(attrs[WEIR_A_BUDGET_SLOTS], budget->slots);
}

/* The budgets that a limit has before a change. */
struct budgets {
	struct weir_budget_config budget[WEIR_BUDGETS_MAX];
	unsigned int count;
};

/*
 * The former budget of a window, and of a unit if that is given; without a window the first.
 * -1: none, -2: several.
 */
static int budget_named(const struct budgets *was, struct nlattr **attrs)
{
	const struct nlattr *window = attrs[WEIR_A_BUDGET_WINDOW_MS];
	const struct nlattr *unit = attrs[WEIR_A_BUDGET_UNIT];
	int i, found = -1;

	for (i = 0; i < was->count; i++) {
		if (!window)
			return 0;
		if (was->budget[i].window_ms != nla_get_u32(window) ||
		    (unit && was->budget[i].unit != nla_get_u32(unit)))
			continue;
		found = found < 0 ? i : -2;
		if (found < 0)
			break;
	}
	return found;
}

/* The next of the budgets that replace all: like the one of its window, or else of its place. */
static int budget_replace(struct nlattr **attrs, const struct nlattr *at,
			  struct weir_limit_config *cfg, const struct budgets *was,
			  struct netlink_ext_ack *extack)
{
	int from = budget_named(was, attrs), err = 0;
	unsigned int i = cfg->budgets;

	if (i == WEIR_BUDGETS_MAX)
		return weir_nl_refuse(extack, at, "a limit has at most 4 budgets");
	if (from == -2 && !attrs[WEIR_A_BUDGET_UNIT])
		return weir_nl_refuse(extack, at,
				      "several budgets have that window; say packets or bytes");
	if (i || !was->count)
		err = weir_nl_require(attrs, at, WEIR_A_BUDGET_BUDGET,
				      "packets or bytes of the budget are missing", extack) ?:
		      weir_nl_require(attrs, at, WEIR_A_BUDGET_WINDOW_MS,
				      "the window of the budget is missing", extack);
	else if (from < 0)
		from = 0;
	if (err)
		return err;
	cfg->budget[i] = was->budget[from < 0 ? i : from];
	budget_parse(attrs, &cfg->budget[i]);
	return cfg->budgets++;
}

/* Change the budget that one of fewer budgets than there are names. */
static int budget_change(struct nlattr **attrs, const struct nlattr *at,
			 struct weir_limit_config *cfg, const struct budgets *was,
			 struct netlink_ext_ack *extack)
{
	const struct nlattr *unit = attrs[WEIR_A_BUDGET_UNIT];
	int i = budget_named(was, attrs);

	if (i == -2)
		return weir_nl_refuse(extack, at,
				      "several budgets have that window; say packets or bytes, or give all");
	if (i >= 0) {
		budget_parse(attrs, &cfg->budget[i]);
		return i;
	}
	attrs[WEIR_A_BUDGET_UNIT] = NULL;
	if (!unit || budget_named(was, attrs) == -1)
		return weir_nl_refuse(extack, at,
				      "no budget of the limit has that window; give all, or 'only' to have it alone");
	if (nla_get_u32(unit))
		return weir_nl_refuse(extack, unit,
				      "the budget of that window is in packets; give all, or 'only' to have it alone");
	return weir_nl_refuse(extack, unit,
			      "the budget of that window is in bytes; give all, or 'only' to have it alone");
}

/* The zone of a limit's calendars. One without a calendar loses it. */
static int zone_parse(const struct nlattr *nest, struct weir_limit_config *cfg,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_ZONE_CHANGE + 1];
	struct weir_zone *zone = &cfg->zone;
	int err;

	if (!weir_budgets_have(cfg->budget, cfg->budgets, WEIR_MODE_CALENDAR) || nest) {
		memset(cfg->zone_name, 0, sizeof(cfg->zone_name));
		*zone = (struct weir_zone) { .change = S64_MAX };
	}
	if (!nest)
		return 0;
	err = weir_nl_nest(nest, attrs, WEIR_A_ZONE_CHANGE, weir_zone_nl_policy, extack) ?:
	      weir_nl_require(attrs, nest, WEIR_A_ZONE_NAME, "the name of the zone is missing",
			      extack);
	if (err)
		return err;
	nla_strscpy(cfg->zone_name, attrs[WEIR_A_ZONE_NAME], sizeof(cfg->zone_name));
	if (attrs[WEIR_A_ZONE_OFFSET])
		zone->offset = nla_get_s32(attrs[WEIR_A_ZONE_OFFSET]);
	zone->next_offset = zone->offset;
	if (attrs[WEIR_A_ZONE_NEXT_OFFSET])
		zone->next_offset = nla_get_s32(attrs[WEIR_A_ZONE_NEXT_OFFSET]);
	if (attrs[WEIR_A_ZONE_CHANGE])
		zone->change = nla_get_s64(attrs[WEIR_A_ZONE_CHANGE]);
	return 0;
}

int weir_nl_put_zone(struct sk_buff *skb, const struct weir_limit_config *cfg)
{
	const struct weir_zone *zone = &cfg->zone;
	struct nlattr *nest;

	if (!*cfg->zone_name)
		return 0;
	nest = nla_nest_start(skb, WEIR_A_LIMIT_ZONE);
	if (!nest || nla_put_string(skb, WEIR_A_ZONE_NAME, cfg->zone_name) ||
	    nla_put_s32(skb, WEIR_A_ZONE_OFFSET, zone->offset) ||
	    nla_put_s32(skb, WEIR_A_ZONE_NEXT_OFFSET, zone->next_offset) ||
	    nla_put_s64(skb, WEIR_A_ZONE_CHANGE, zone->change, WEIR_A_ZONE_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * Change the budgets of a limit; @head: the attributes of the limit, of @len bytes. @place,
 * which is zero, gets the number, from 1, among those of the request of each budget that it
 * changes.
 */
int weir_nl_budgets(struct nlattr **attrs, const struct nlattr *head, int len,
		    struct weir_limit_config *cfg, u8 *place, struct netlink_ext_ack *extack)
{
	struct nlattr *budget[WEIR_A_BUDGET_ALONE + 1];
	struct budgets was = { .count = cfg->budgets };
	const struct nlattr *attr;
	unsigned int given = 0, n = 0;
	int i, rem;
	bool all;

	memcpy(was.budget, cfg->budget, sizeof(was.budget));
	nla_for_each_attr_type(attr, WEIR_A_LIMIT_BUDGET, head, len, rem)
		given++;
	all = given && (given >= was.count || attrs[WEIR_A_LIMIT_ONLY]);
	if (all) {
		cfg->budgets = 0;
		memset(cfg->budget, 0, sizeof(cfg->budget));
	}
	nla_for_each_attr_type(attr, WEIR_A_LIMIT_BUDGET, head, len, rem) {
		i = weir_nl_nest(attr, budget, WEIR_A_BUDGET_ALONE, weir_budget_nl_policy, extack);
		if (!i)
			i = all ? budget_replace(budget, attr, cfg, &was, extack) :
				  budget_change(budget, attr, cfg, &was, extack);
		if (i < 0)
			return i;
		if (place[i])
			return weir_nl_refuse(extack, attr,
					      "this budget is given twice; to add one, give all");
		place[i] = ++n;
	}
	return zone_parse(attrs[WEIR_A_LIMIT_ZONE], cfg, extack);
}

static int put_budget(struct sk_buff *skb, const struct weir_limit *limit, unsigned int i,
		      const struct weir_counters *counters)
{
	const struct weir_budget_config *budget = &limit->cfg.budget[i];
	u64 slot_ns = weir_ticks_ns(limit->meter[i].slot_ticks);
	u64 renews = weir_table_renews(limit->table, i);
	enum weir_fate fate = WEIR_BUDGET_REFUSED + i;

	return weir_nl_put_u64(skb, WEIR_A_BUDGET_BUDGET, budget->amount) ||
	       nla_put_u32(skb, WEIR_A_BUDGET_WINDOW_MS, budget->window_ms) ||
	       nla_put_u32(skb, WEIR_A_BUDGET_UNIT, budget->unit) ||
	       (budget->mode == WEIR_MODE_BUCKET ?
		weir_nl_put_u64(skb, WEIR_A_BUDGET_BURST, limit->room[i]) :
		budget->mode != WEIR_MODE_EXACT &&
		nla_put_u32(skb, WEIR_A_BUDGET_SLOTS, limit->meter[i].slots)) ||
	       nla_put_u32(skb, WEIR_A_BUDGET_MODE, budget->mode) ||
	       (budget->alone && weir_nl_put_u64(skb, WEIR_A_BUDGET_ALONE, budget->alone)) ||
	       (slot_ns &&
		(weir_nl_put_u64(skb, WEIR_A_BUDGET_SLOT_NS, slot_ns) ||
		 weir_nl_put_u64(skb, WEIR_A_BUDGET_WINDOW_NS, slot_ns * limit->meter[i].slots))) ||
	       weir_nl_put_u64(skb, WEIR_A_BUDGET_MOST, weir_limit_most(limit, i)) ||
	       (renews && weir_nl_put_u64(skb, WEIR_A_BUDGET_RENEWS, renews)) ||
	       (counters && limit->cfg.budgets > 1 &&
		weir_nl_put_counter(skb, WEIR_A_BUDGET_REFUSED, counters->packets[fate],
				    counters->bytes[fate])) ? -EMSGSIZE : 0;
}

/* Put the budgets, with what they refused if there are @counters. */
int weir_nl_put_budgets(struct sk_buff *skb, const struct weir_limit *limit,
			const struct weir_counters *counters)
{
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < limit->cfg.budgets; i++) {
		nest = nla_nest_start(skb, WEIR_A_LIMIT_BUDGET);
		if (!nest || put_budget(skb, limit, i, counters))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* The slots of a source for the first budget of a limit, if that has some. */
static int put_slots(struct sk_buff *skb, const struct weir_limit *limit,
		     const u64 slot[WEIR_SLOTS_MAX + 1])
{
	const struct weir_budget_config *budget = &limit->cfg.budget[0];
	const struct weir_meter_spec *meter = &limit->meter[0];
	unsigned int i = WEIR_SLOTS_MAX + 1 - meter->slots - !budget->mode;
	int err;

	if (!meter->slot_ticks || budget->mode == WEIR_MODE_BUCKET ||
	    budget->mode == WEIR_MODE_EXACT)
		return 0;
	err = weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_SLOT_NS, weir_ticks_ns(meter->slot_ticks));
	for (; !err && i <= WEIR_SLOTS_MAX; i++)
		err = weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_SLOT, slot[i]);
	return err;
}

/* Put how a source stands with the budgets, with @slot or NULL, and which one limits it. */
int weir_nl_put_counts(struct sk_buff *skb, const struct weir_limit *limit,
		       const struct weir_source_state *state, const u64 *slot)
{
	u64 own[WEIR_BUDGETS_MAX], left, wait;
	const u64 *room = weir_limit_room_masked(limit, &state->source, own);
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < limit->cfg.budgets; i++) {
		left = room[i] - min(room[i], state->count[i]);
		wait = state->waits[i];
		nest = nla_nest_start(skb, WEIR_A_SOURCE_BUDGET);
		if (!nest ||
		    weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_COUNT, state->count[i]) ||
		    weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_LEFT, left) ||
		    weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_BUDGET, room[i]) ||
		    nla_put_u32(skb, WEIR_A_SOURCE_BUDGET_UNIT, limit->cfg.budget[i].unit) ||
		    (wait && nla_put_flag(skb, WEIR_A_SOURCE_BUDGET_LIMITED)) ||
		    (wait && wait != WEIR_NEVER &&
		     weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_NEXT_NS, weir_ticks_ns(wait))) ||
		    (slot && !i && put_slots(skb, limit, slot)))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return limit->cfg.budgets > 1 && state->wait > state->blocked ?
	       nla_put_u32(skb, WEIR_A_SOURCE_LIMITED_BY, state->by + 1) : 0;
}
