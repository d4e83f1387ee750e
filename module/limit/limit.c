// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits as packets see them.
 */
#include <linux/string.h>

#include "limit/limit.h"

/* Refuse a packet that exceeds one of several budgets. */
u16 weir_limit_too_large(const struct weir_limit *limit, const struct weir_lookup *lookup)
{
	unsigned int i = 0;

	while (lookup->amount[!!(limit->bytes & BIT(i))] <= limit->room[i])
		i++;
	return WEIR_REFUSED | WEIR_TOO_LARGE | WEIR_BY_BUDGET | i << WEIR_BUDGET_SHIFT;
}

struct weir_limit *weir_limit_find(const struct weir_config *config, const char *name)
{
	unsigned int i;

	for (i = 0; config && i < config->count; i++)
		if (!strcmp(config->limit[i]->name, name))
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
