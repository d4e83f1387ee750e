// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits as packets see them.
 */
#include <linux/string.h>

#include "limit/limit.h"

static const u64 *room_with(const struct weir_limit *limit, u64 budget, u64 own[WEIR_BUDGETS_MAX])
{
	if (!budget)
		return limit->room;
	memcpy(own, limit->room, sizeof(limit->room));
	own[0] = budget;
	return own;
}

const u64 *weir_limit_room(const struct weir_limit *limit, const struct weir_source *whole,
			   u64 own[WEIR_BUDGETS_MAX])
{
	return room_with(limit, weir_prefixes_budget(limit->cfg.budgets_by, whole), own);
}

const u64 *weir_limit_room_masked(const struct weir_limit *limit, const struct weir_source *source,
				  u64 own[WEIR_BUDGETS_MAX])
{
	return room_with(limit, weir_prefixes_budget_masked(limit->cfg.budgets_by, source,
							    limit->cfg.prefix), own);
}

/* Packets, or bytes, of the largest packet that fits all budgets with some room. */
u64 weir_limit_largest(const struct weir_limit *limit, const u64 *room, bool bytes)
{
	u64 largest = U64_MAX;
	unsigned int i;

	for (i = 0; i < limit->cfg.budgets; i++)
		if (limit->cfg.budget[i].unit == bytes)
			largest = min(largest, room[i]);
	return largest;
}

/* As weir_table_walk(), by the budgets of each source. Under rcu_read_lock(), or the mutex. */
unsigned int weir_limit_walk(const struct weir_limit *limit, u32 set, u64 tick, bool whether,
			     struct weir_source_state *state)
{
	return weir_table_walk(limit->table, set, tick, limit->room, limit->cfg.budgets_by, whether,
			       state);
}

static noinline u16 cost_each(const struct weir_limit *limit, struct weir_lookup *lookup,
			      const struct weir_source *whole)
{
	unsigned int i;

	lookup->budgets = weir_limit_room(limit, whole, lookup->own);
	if (!limit->cfg.budgets) {
		/* Only a block refuses that. */
		memset(lookup->amount, 0, sizeof(lookup->amount));
		return WEIR_UNCHARGED;
	}
	for (i = 0; i < limit->cfg.budgets; i++)
		if (lookup->amount[limit->cfg.budget[i].unit] > lookup->budgets[i])
			return WEIR_REFUSED | WEIR_TOO_LARGE |
			       (limit->cfg.budgets > 1 ? WEIR_BY_BUDGET : 0) |
			       i << WEIR_BUDGET_SHIFT;
	return 0;
}

/* By the member of the list whose index + 1 was found, or 0. */
static inline u16 cost_listed(const struct weir_limit *limit, struct weir_lookup *lookup,
			      const struct weir_prefixes *list, size_t found)
{
	u64 own = found ? list->member[found - 1].budget : 0;

	if (own) {
		lookup->own[0] = own;
		lookup->budgets = lookup->own;
	}
	return lookup->amount[limit->cfg.budget[0].unit] > lookup->budgets[0] ?
	       WEIR_REFUSED | WEIR_TOO_LARGE : 0;
}

/*
 * The rest of weir_limit_cost(), by family: a packet may exceed a budget, or that is the source's
 * own. Apart from what calls others they need no stack.
 */
u16 weir_limit_cost_ipv4(const struct weir_limit *limit, struct weir_lookup *lookup,
			 const struct weir_source *whole)
{
	const struct weir_prefixes *by = limit->budget_by;

	if (unlikely(!by))
		return cost_each(limit, lookup, whole);
	return cost_listed(limit, lookup, by, weir_prefixes_ipv4(by, whole->word[0]));
}

u16 weir_limit_cost_ipv6(const struct weir_limit *limit, struct weir_lookup *lookup,
			 const struct weir_source *whole)
{
	const struct weir_prefixes *by = limit->budget_by;

	if (unlikely(!by))
		return cost_each(limit, lookup, whole);
	return cost_listed(limit, lookup, by, weir_prefixes_ipv6(by, whole->word));
}

struct weir_limit *weir_limit_find(const struct weir_config *config, const char *name)
{
	unsigned int i;

	for (i = 0; config && i < config->count; i++)
		if (!strcmp(config->limit[i]->cfg.name, name))
			return config->limit[i];
	return NULL;
}

struct weir_limit *weir_limit_by_id(const struct weir_config *config, u32 id)
{
	unsigned int i;

	for (i = 0; config && i < config->count; i++)
		if (config->limit[i]->id == id)
			return config->limit[i];
	return NULL;
}
