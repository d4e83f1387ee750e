// SPDX-License-Identifier: GPL-2.0-only
/*
 * The budgets of a limit. The first one's words are attributes of the limit, those of each
 * further one are a nest with the same words.
 */
#include "config/check.h"
#include "error.h"
#include "limit/stats.h"
#include "netlink/message.h"

/* The attributes of the first budget, by those of a further one. */
static const u8 first_attr[WEIR_A_BUDGET_BURST + 1] = {
	[WEIR_A_BUDGET_BUDGET]		= WEIR_A_LIMIT_BUDGET,
	[WEIR_A_BUDGET_WINDOW_MS]	= WEIR_A_LIMIT_WINDOW_MS,
	[WEIR_A_BUDGET_UNIT]		= WEIR_A_LIMIT_UNIT,
	[WEIR_A_BUDGET_SLOTS]		= WEIR_A_LIMIT_SLOTS,
	[WEIR_A_BUDGET_MODE]		= WEIR_A_LIMIT_MODE,
	[WEIR_A_BUDGET_BURST]		= WEIR_A_LIMIT_BURST,
};

/* Change a budget of a limit; @attrs are numbered as those of a further one. */
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

/* The former budget of a window, and of a unit if that is given; -1: none, -2: several. */
static int budget_named(const struct budgets *was, struct nlattr **attrs)
{
	const struct nlattr *window = attrs[WEIR_A_BUDGET_WINDOW_MS];
	const struct nlattr *unit = attrs[WEIR_A_BUDGET_UNIT];
	int i, found = -1;

	for (i = 0; window && i < was->count; i++) {
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
static void budget_replace(struct nlattr **attrs, struct weir_limit *limit,
			   const struct budgets *was)
{
	unsigned int i = limit->budgets++;
	int from = budget_named(was, attrs), unit;

	if (from < 0 && !i)
		from = 0;
	unit = from < 0 ? i : from;
	limit->budget[i] = from < 0 ? (struct weir_budget) { } : was->budget[from];
	if (from >= 0 && was->slots_given & BIT(from))
		limit->slots_given |= BIT(i);
	if (unit < was->count && was->bytes & BIT(unit))
		limit->bytes |= BIT(i);
	budget_parse(attrs, limit, i);
}

/* Change the budget that one of fewer budgets than there are names by its window. */
static int budget_change(struct nlattr **attrs, const struct nlattr *at, struct weir_limit *limit,
			 const struct budgets *was, unsigned int number, u8 *place,
			 struct netlink_ext_ack *extack)
{
	int i = budget_named(was, attrs);

	if (i == -2)
		return weir_nl_refuse(extack, at,
				      "several budgets have that window; say packets or bytes, too");
	if (i < 0)
		return weir_nl_refuse(extack, at,
				      "no budget of the limit has that window; give all budgets, or only");
	budget_parse(attrs, limit, i);
	place[i] = number;
	return 0;
}

static int further_parse(const struct nlattr *nest, struct nlattr **attrs,
			 struct netlink_ext_ack *extack)
{
	return weir_nl_nest(nest, attrs, WEIR_A_BUDGET_BURST, weir_budget_nl_policy, extack) ?:
	       weir_nl_require(attrs, nest, WEIR_A_BUDGET_BUDGET, "a further budget is missing",
			       extack) ?:
	       weir_nl_require(attrs, nest, WEIR_A_BUDGET_WINDOW_MS,
			       "the window of a further budget is missing", extack);
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

/* The budgets of a request that has the first of them. See weir_nl_budgets(). */
static int budgets_parse(struct nlattr **attrs, struct nlattr **first, const struct nlattr *head,
			 int len, struct weir_limit *limit, u8 *place,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *further[ARRAY_SIZE(first_attr)], **budget = first;
	const struct nlattr *attr, *at = attrs[WEIR_A_LIMIT_BUDGET];
	struct budgets was = {
		.count = limit->budgets, .bytes = limit->bytes,
		.slots_given = limit->slots_given,
	};
	unsigned int given = 1, n;
	int err = 0, rem;
	bool all;

	memcpy(was.budget, limit->budget, sizeof(was.budget));
	nla_for_each_attr(attr, head, len, rem)
		given += nla_type(attr) == WEIR_A_LIMIT_FURTHER;
	all = given >= was.count || attrs[WEIR_A_LIMIT_ONLY];
	if (all) {
		limit->budgets = 0;
		limit->bytes = 0;
		limit->slots_given = 0;
		memset(limit->budget, 0, sizeof(limit->budget));
		memset(&limit->room[1], 0, sizeof(limit->room) - sizeof(limit->room[0]));
	}
	attr = head;
	for (n = 0, rem = len; !err && n < given; n++) {
		for (; n && nla_type(attr) != WEIR_A_LIMIT_FURTHER; attr = nla_next(attr, &rem))
			;
		if (n) {
			at = attr;
			budget = further;
			err = further_parse(at, further, extack);
			attr = nla_next(attr, &rem);
		}
		if (!err && all && n == WEIR_BUDGETS_MAX)
			err = weir_nl_refuse(extack, at, "a limit has at most 4 budgets");
		if (err)
			break;
		place[n] = n;
		if (all)
			budget_replace(budget, limit, &was);
		else
			err = budget_change(budget, at, limit, &was, n, place, extack);
	}
	return err;
}

/*
 * Change the budgets of a limit; @head: the attributes of the limit, of @len bytes. @place,
 * which is zero, gets the number among those of the request of each budget that it changes.
 */
int weir_nl_budgets(struct nlattr **attrs, const struct nlattr *head, int len,
		    struct weir_limit *limit, u8 *place, struct netlink_ext_ack *extack)
{
	struct nlattr *first[ARRAY_SIZE(first_attr)] = { };
	unsigned int i;
	int err = 0;

	for (i = WEIR_A_BUDGET_BUDGET; i < ARRAY_SIZE(first_attr); i++)
		first[i] = attrs[first_attr[i]];
	if (!attrs[WEIR_A_LIMIT_BUDGET] && attrs[WEIR_A_LIMIT_FURTHER])
		return weir_nl_refuse(extack, attrs[WEIR_A_LIMIT_FURTHER],
				      "the first budget is missing; give it, too");
	if (attrs[WEIR_A_LIMIT_BUDGET])
		err = budgets_parse(attrs, first, head, len, limit, place, extack);
	else
		budget_parse(first, limit, 0);
	return err ?: zone_parse(attrs[WEIR_A_LIMIT_ZONE], limit, extack);
}

/* The attribute of a further budget at fault, or its nest, among those of the limit. */
const struct nlattr *weir_nl_budget_fault(const struct nlattr *head, int len,
					  const struct weir_error *error)
{
	const struct nlattr *attr, *nest = NULL;
	unsigned int n = 0;
	int rem;

	nla_for_each_attr(attr, head, len, rem)
		if (nla_type(attr) == WEIR_A_LIMIT_FURTHER && ++n == error->budget)
			nest = attr;
	for (n = WEIR_A_BUDGET_BUDGET; nest && n < ARRAY_SIZE(first_attr); n++)
		if (first_attr[n] == error->attr)
			return nla_find_nested(nest, n) ?: nest;
	return nest;
}

/* Put when a calendar's period ends. */
int weir_nl_put_renews(struct sk_buff *skb, int attr, const struct weir_limit *limit,
		       unsigned int i)
{
	u64 renews = weir_table_renews(limit->table, i);

	return renews ? weir_nl_put_u64(skb, attr, renews) : 0;
}

static int put_further(struct sk_buff *skb, const struct weir_limit *limit, unsigned int i,
		       const struct weir_counts *counts)
{
	const struct weir_budget *budget = &limit->budget[i];
	u64 slot_ns = weir_ticks_ns(budget->slot_ticks);
	enum weir_fate fate = WEIR_BUDGET_REFUSED + i - 1;

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
	       weir_nl_put_renews(skb, WEIR_A_BUDGET_RENEWS, limit, i) ||
	       (counts && weir_nl_put_counter(skb, WEIR_A_BUDGET_REFUSED, counts->packets[fate],
					      counts->bytes[fate])) ? -EMSGSIZE : 0;
}

/* Put the further budgets, with what they refused if there are @counts. */
int weir_nl_put_budgets(struct sk_buff *skb, const struct weir_limit *limit,
			const struct weir_counts *counts)
{
	struct nlattr *nest;
	unsigned int i;

	for (i = 1; i < limit->budgets; i++) {
		nest = nla_nest_start(skb, WEIR_A_LIMIT_FURTHER);
		if (!nest || put_further(skb, limit, i, counts))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* Put how a source stands with the further budgets, and which one limits it. */
int weir_nl_put_standing(struct sk_buff *skb, const struct weir_limit *limit,
			 const struct weir_source_state *state)
{
	struct nlattr *nest;
	unsigned int i;
	u64 left, wait;

	for (i = 1; i < limit->budgets; i++) {
		left = limit->room[i] - min(limit->room[i], state->count[i]);
		wait = state->waits[i];
		nest = nla_nest_start(skb, WEIR_A_SOURCE_FURTHER);
		if (!nest ||
		    weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_COUNT, state->count[i]) ||
		    weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_LEFT, left) ||
		    weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_BUDGET, limit->room[i]) ||
		    nla_put_u32(skb, WEIR_A_SOURCE_BUDGET_UNIT, !!(limit->bytes & BIT(i))) ||
		    (wait && nla_put_flag(skb, WEIR_A_SOURCE_BUDGET_LIMITED)) ||
		    (wait && wait != WEIR_NEVER &&
		     weir_nl_put_u64(skb, WEIR_A_SOURCE_BUDGET_NEXT_NS, weir_ticks_ns(wait))))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return limit->budgets > 1 && state->wait > state->blocked ?
	       nla_put_u32(skb, WEIR_A_SOURCE_LIMITED_BY, state->by + 1) : 0;
}
