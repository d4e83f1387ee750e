// SPDX-License-Identifier: GPL-2.0-only
/*
 * The budgets of a limit, each a nest, and how a source stands with them.
 */
#include "config/check.h"
#include "error.h"
#include "limit/stats.h"
#include "netlink/message.h"

/* Change a budget of a limit. */
static void budget_parse(struct nlattr **attrs, struct weir_limit *limit, unsigned int i)
{
	struct weir_budget *budget = &limit->budget[i];
	u8 bit = BIT(i);

	if (attrs[WEIR_A_BUDGET_BUDGET])
		budget->amount = nla_get_u64(attrs[WEIR_A_BUDGET_BUDGET]);
	if (attrs[WEIR_A_BUDGET_WINDOW_MS]) {
		budget->window_ms = nla_get_u32(attrs[WEIR_A_BUDGET_WINDOW_MS]);
		if (!budget->window_ms)
			limit->slots_given &= ~bit;
	}
	if (attrs[WEIR_A_BUDGET_UNIT])
		limit->bytes = (limit->bytes & ~bit) |
			       (nla_get_u32(attrs[WEIR_A_BUDGET_UNIT]) ? bit : 0);
	if (attrs[WEIR_A_BUDGET_MODE]) {
		budget->mode = nla_get_u32(attrs[WEIR_A_BUDGET_MODE]);
		if (budget->mode > WEIR_MODE_LENIENT)
			limit->slots_given &= ~bit;
		if (budget->mode != WEIR_MODE_BUCKET)
			budget->burst = 0;
	}
	if (attrs[WEIR_A_BUDGET_BURST])
		budget->burst = nla_get_u64(attrs[WEIR_A_BUDGET_BURST]);
	if (attrs[WEIR_A_BUDGET_SLOTS]) {
		budget->slots = nla_get_u32(attrs[WEIR_A_BUDGET_SLOTS]);
		limit->slots_given |= bit;
	}
}

/* The budgets that a limit has before a change, of which each bit is BIT(index). */
struct budgets {
	struct weir_budget budget[WEIR_BUDGETS_MAX];
	unsigned int count;
	u8 bytes;
	u8 slots_given;
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
		    (unit && !nla_get_u32(unit) != !(was->bytes & BIT(i))))
			continue;
		found = found < 0 ? i : -2;
		if (found < 0)
			break;
	}
	return found;
}

/* The next of the budgets that replace all: like the one of its window, or the first of them. */
static int budget_replace(struct nlattr **attrs, const struct nlattr *at, struct weir_limit *limit,
			  const struct budgets *was, struct netlink_ext_ack *extack)
{
	int from = budget_named(was, attrs), unit, err = 0;
	unsigned int i = limit->budgets;

	if (i == WEIR_BUDGETS_MAX)
		return weir_nl_refuse(extack, at, "a limit has at most 4 budgets");
	if (i || !was->count)
		err = weir_nl_require(attrs, at, WEIR_A_BUDGET_BUDGET,
				      "packets or bytes of the budget are missing", extack) ?:
		      weir_nl_require(attrs, at, WEIR_A_BUDGET_WINDOW_MS,
				      "the window of the budget is missing", extack);
	else if (from < 0)
		from = 0;
	if (err)
		return err;
	unit = from < 0 ? i : from;
	limit->budget[i] = from < 0 ? (struct weir_budget) { } : was->budget[from];
	if (from >= 0 && was->slots_given & BIT(from))
		limit->slots_given |= BIT(i);
	if (unit < was->count && was->bytes & BIT(unit))
		limit->bytes |= BIT(i);
	budget_parse(attrs, limit, i);
	return limit->budgets++;
}

/* Change the budget that one of fewer budgets than there are names. */
static int budget_change(struct nlattr **attrs, const struct nlattr *at, struct weir_limit *limit,
			 const struct budgets *was, struct netlink_ext_ack *extack)
{
	int i = budget_named(was, attrs);

	if (i == -2)
		return weir_nl_refuse(extack, at,
				      "several budgets have that window; say packets or bytes, too");
	if (i < 0)
		return weir_nl_refuse(extack, at,
				      "no budget of the limit has that window; give all budgets, or only");
	budget_parse(attrs, limit, i);
	return i;
}

/* The zone of a limit's calendars. One without a calendar loses it. */
static int zone_parse(const struct nlattr *nest, struct weir_limit *limit,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_ZONE_CHANGE + 1];
	struct weir_zone *zone = &limit->zone;
	int err;

	if (!weir_limit_has_calendar(limit) || nest) {
		memset(limit->zone_name, 0, sizeof(limit->zone_name));
		*zone = (struct weir_zone) { .change = S64_MAX };
	}
	if (!nest)
		return 0;
	err = weir_nl_nest(nest, attrs, WEIR_A_ZONE_CHANGE, weir_zone_nl_policy, extack) ?:
	      weir_nl_require(attrs, nest, WEIR_A_ZONE_NAME, "the name of the zone is missing",
			      extack);
	if (err)
		return err;
	nla_strscpy(limit->zone_name, attrs[WEIR_A_ZONE_NAME], sizeof(limit->zone_name));
	if (attrs[WEIR_A_ZONE_OFFSET])
		zone->offset = nla_get_s32(attrs[WEIR_A_ZONE_OFFSET]);
	zone->next_offset = zone->offset;
	if (attrs[WEIR_A_ZONE_NEXT_OFFSET])
		zone->next_offset = nla_get_s32(attrs[WEIR_A_ZONE_NEXT_OFFSET]);
	if (attrs[WEIR_A_ZONE_CHANGE])
		zone->change = nla_get_s64(attrs[WEIR_A_ZONE_CHANGE]);
	return 0;
}

int weir_nl_put_zone(struct sk_buff *skb, const struct weir_limit *limit)
{
	const struct weir_zone *zone = &limit->zone;
	struct nlattr *nest;

	if (!*limit->zone_name)
		return 0;
	nest = nla_nest_start(skb, WEIR_A_LIMIT_ZONE);
	if (!nest || nla_put_string(skb, WEIR_A_ZONE_NAME, limit->zone_name) ||
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
		    struct weir_limit *limit, u8 *place, struct netlink_ext_ack *extack)
{
	struct nlattr *budget[WEIR_A_BUDGET_BURST + 1];
	struct budgets was = {
		.count = limit->budgets, .bytes = limit->bytes,
		.slots_given = limit->slots_given,
	};
	const struct nlattr *attr;
	unsigned int given = 0, n = 0;
	int i, rem;
	bool all;

	memcpy(was.budget, limit->budget, sizeof(was.budget));
	nla_for_each_attr(attr, head, len, rem)
		given += nla_type(attr) == WEIR_A_LIMIT_BUDGET;
	all = given && (given >= was.count || attrs[WEIR_A_LIMIT_ONLY]);
	if (all) {
		limit->budgets = 0;
		limit->bytes = 0;
		limit->slots_given = 0;
		memset(limit->budget, 0, sizeof(limit->budget));
		memset(&limit->room[1], 0, sizeof(limit->room) - sizeof(limit->room[0]));
	}
	nla_for_each_attr(attr, head, len, rem) {
		if (nla_type(attr) != WEIR_A_LIMIT_BUDGET)
			continue;
		i = weir_nl_nest(attr, budget, WEIR_A_BUDGET_BURST, weir_budget_nl_policy, extack);
		if (!i)
			i = all ? budget_replace(budget, attr, limit, &was, extack) :
				  budget_change(budget, attr, limit, &was, extack);
		if (i < 0)
			return i;
		place[i] = ++n;
	}
	return zone_parse(attrs[WEIR_A_LIMIT_ZONE], limit, extack);
}

/* The attribute of a budget at fault, or its nest, among those of the limit. */
const struct nlattr *weir_nl_budget_fault(const struct nlattr *head, int len,
					  const struct weir_error *error)
{
	const struct nlattr *attr;
	unsigned int n = 0;
	int rem;

	nla_for_each_attr(attr, head, len, rem)
		if (nla_type(attr) == WEIR_A_LIMIT_BUDGET && ++n == error->budget)
			return nla_find_nested(attr, error->attr) ?: attr;
	return NULL;
}

static int put_budget(struct sk_buff *skb, const struct weir_limit *limit, unsigned int i,
		      const struct weir_counts *counts)
{
	const struct weir_budget *budget = &limit->budget[i];
	u64 slot_ns = weir_ticks_ns(budget->slot_ticks);
	u64 renews = weir_table_renews(limit->table, i);
	enum weir_fate fate = WEIR_BUDGET_REFUSED + i;

	return weir_nl_put_u64(skb, WEIR_A_BUDGET_BUDGET, budget->amount) ||
	       nla_put_u32(skb, WEIR_A_BUDGET_WINDOW_MS, budget->window_ms) ||
	       nla_put_u32(skb, WEIR_A_BUDGET_UNIT, !!(limit->bytes & BIT(i))) ||
	       (budget->mode == WEIR_MODE_BUCKET ?
		weir_nl_put_u64(skb, WEIR_A_BUDGET_BURST, limit->room[i]) :
		budget->mode != WEIR_MODE_EXACT &&
		nla_put_u32(skb, WEIR_A_BUDGET_SLOTS, budget->slots)) ||
	       nla_put_u32(skb, WEIR_A_BUDGET_MODE, budget->mode) ||
	       (slot_ns &&
		(weir_nl_put_u64(skb, WEIR_A_BUDGET_SLOT_NS, slot_ns) ||
		 weir_nl_put_u64(skb, WEIR_A_BUDGET_WINDOW_NS, slot_ns * budget->slots))) ||
	       weir_nl_put_u64(skb, WEIR_A_BUDGET_MOST, weir_limit_most(limit, i)) ||
	       (renews && weir_nl_put_u64(skb, WEIR_A_BUDGET_RENEWS, renews)) ||
	       (counts && limit->budgets > 1 &&
		weir_nl_put_counter(skb, WEIR_A_BUDGET_REFUSED, counts->packets[fate],
				    counts->bytes[fate])) ? -EMSGSIZE : 0;
}

/* Put the budgets, with what they refused if there are @counts. */
int weir_nl_put_budgets(struct sk_buff *skb, const struct weir_limit *limit,
			const struct weir_counts *counts)
{
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < limit->budgets; i++) {
		nest = nla_nest_start(skb, WEIR_A_LIMIT_BUDGET);
		if (!nest || put_budget(skb, limit, i, counts))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* The slots of a source for the first budget of a limit, if that has some. */
static int put_slots(struct sk_buff *skb, const struct weir_limit *limit,
		     const u64 slot[WEIR_SLOTS_MAX + 1])
{
	const struct weir_budget *budget = &limit->budget[0];
	unsigned int i = WEIR_SLOTS_MAX + 1 - budget->slots - !budget->mode;
	int err;

	if (!budget->slot_ticks || budget->mode == WEIR_MODE_BUCKET ||
	    budget->mode == WEIR_MODE_EXACT)
		return 0;
	err = weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_SLOT_NS,
			      weir_ticks_ns(budget->slot_ticks));
	for (; !err && i <= WEIR_SLOTS_MAX; i++)
		err = weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_SLOT, slot[i]);
	return err;
}

/* Put how a source stands with the budgets, with @slot or NULL, and which one limits it. */
int weir_nl_put_counts(struct sk_buff *skb, const struct weir_limit *limit,
		       const struct weir_source_state *state, const u64 *slot)
{
	struct nlattr *nest;
	unsigned int i;
	u64 left, wait;

	for (i = 0; i < limit->budgets; i++) {
		left = limit->room[i] - min(limit->room[i], state->count[i]);
		wait = state->waits[i];
		nest = nla_nest_start(skb, WEIR_A_SOURCE_BUDGET);
		if (!nest ||
		    weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_COUNT, state->count[i]) ||
		    weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_LEFT, left) ||
		    weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_BUDGET, limit->room[i]) ||
		    nla_put_u32(skb, WEIR_A_SOURCE_BUDGET_UNIT, !!(limit->bytes & BIT(i))) ||
		    (wait && nla_put_flag(skb, WEIR_A_SOURCE_BUDGET_LIMITED)) ||
		    (wait && wait != WEIR_NEVER &&
		     weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_NEXT_NS, weir_ticks_ns(wait))) ||
		    (slot && !i && put_slots(skb, limit, slot)))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return limit->budgets > 1 && state->wait > state->blocked ?
	       nla_put_u32(skb, WEIR_A_SOURCE_LIMITED_BY, state->by + 1) : 0;
}
