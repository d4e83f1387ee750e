// SPDX-License-Identifier: GPL-2.0-only
/*
 * A source is known to a limit from the first packet that was admitted more than
 * known_ms after it took its way, for as long as it has the way. A packet of any other
 * source also needs room in one budget of the whole limit. Without room it is dropped,
 * takes no way and evicts nobody. So a flood of addresses that are not seen twice costs
 * those that are known nothing; what it competes for is the newcomers' budget.
 *
 * A limit that was just made, or forgot all its sources, would take everybody for a
 * newcomer: for known_ms it learns, refuses nobody for want of room, and lets a source
 * be known from its first packet that comes a little after it took its way. With a
 * known_ms of 0 it does not, for those who add it during a flood.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "clock.h"
#include "config/newcomers.h"
#include "error.h"
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/pool.h"
#include "path/permit.h"

/* The seconds of the expected flood that the memory of first tries holds. */
#define TRIES_SECONDS	4
#define ROWS_MIN	128

static u32 rows_of(u32 flood)
{
	return roundup_pow_of_two(max(flood / (WEIR_CELLS + 1) * TRIES_SECONDS, ROWS_MIN));
}

static u64 tries_bytes(const struct weir_tries *tries)
{
	return sizeof(*tries) + (tries->mask + 1ull) * sizeof(*tries->row);
}

u64 weir_newcomers_bytes(const struct weir_newcomers *newcomers)
{
	return newcomers->budget ? tries_bytes(newcomers->tries) : 0;
}

static void tries_free(struct weir_tries *tries)
{
	if (!tries)
		return;
	if (tries->held)
		atomic64_sub(tries_bytes(tries), tries->held);
	kvfree(tries->row);
	kfree(tries);
}

/* May sleep. */
static struct weir_tries *tries_alloc(struct weir_net *wn, u32 flood)
{
	struct weir_tries *tries = kzalloc(sizeof(*tries), GFP_KERNEL_ACCOUNT);

	if (!tries)
		return NULL;
	tries->mask = rows_of(flood) - 1;
	get_random_bytes(tries->key, sizeof(tries->key));
	tries->key[0] |= 1;
	tries->key[1] |= 1;
	if (weir_net_affords(wn, tries_bytes(tries)) && weir_memory_holds(tries_bytes(tries)))
		tries->row = kvcalloc(tries->mask + 1, sizeof(*tries->row),
				      GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!tries->row) {
		kfree(tries);
		return NULL;
	}
	tries->held = &wn->bytes;
	atomic64_add(tries_bytes(tries), tries->held);
	return tries;
}

void weir_newcomers_learn(const struct weir_limit *limit)
{
	const struct weir_newcomers *newcomers = &limit->newcomers;

	/* Pairs with weir_permit_charge(). */
	if (limit->cfg.newcomers.known_ms)
		WRITE_ONCE(newcomers->tries->learn, weir_clock() + newcomers->known_ticks);
}

/* A limit that is not in force yet may have the memory of one that learns, and not learn itself. */
u64 weir_newcomers_learning(const struct weir_limit *limit)
{
	bool learns = limit->newcomers.budget && limit->cfg.newcomers.known_ms;
	/* Pairs with weir_newcomers_learn(). */
	u64 end = learns ? READ_ONCE(limit->newcomers.tries->learn) : 0, now = weir_clock();

	return end > now ? end - now : 0;
}

int weir_newcomers_make(struct weir_net *wn, struct weir_limit *limit,
			const struct weir_limit *old, struct weir_error *error)
{
	const struct weir_newcomers *was = old && old->newcomers.budget ? &old->newcomers : NULL;
	struct weir_newcomers *newcomers = &limit->newcomers;
	const u32 flood = limit->cfg.newcomers.flood;

	if (!newcomers->budget)
		return 0;
	newcomers->pool = was ? was->pool :
			  weir_pools_alloc(WEIR_NEWCOMERS_POOLS, newcomers->slots,
					   newcomers->slot_ticks);
	newcomers->tries = was && rows_of(old->cfg.newcomers.flood) == rows_of(flood) ?
			   was->tries : tries_alloc(wn, flood);
	if (!newcomers->pool || !newcomers->tries)
		return weir_refuse(error, -ENOMEM, WEIR_A_LIMIT_FLOOD,
				   "not enough memory to remember a flood so large; try a smaller one");
	if (!old)
		weir_newcomers_learn(limit);
	else if (was && newcomers->tries != was->tries)
		newcomers->tries->learn = was->tries->learn;
	return 0;
}

/* End batches, and have the window of a limit. */
void weir_newcomers_set(const struct weir_newcomers *newcomers)
{
	unsigned int i;

	for (i = 0; newcomers->pool && i < WEIR_NEWCOMERS_POOLS; i++)
		weir_pool_set(&newcomers->pool[i], newcomers->slots, newcomers->slot_ticks);
}

void weir_newcomers_replaced(const struct weir_limit *limit, const struct weir_limit *heir)
{
	/* Packets of the old budget, if it was smaller, may have found the new one full. */
	if (heir->newcomers.budget != limit->newcomers.budget)
		weir_newcomers_set(&heir->newcomers);
	if (!heir->cfg.newcomers.known_ms)
		/* Pairs with weir_permit_charge(). */
		WRITE_ONCE(heir->newcomers.tries->learn, 0);
}

void weir_newcomers_free(const struct weir_limit *limit, const struct weir_limit *heir)
{
	if (!heir || heir->newcomers.pool != limit->newcomers.pool)
		weir_pools_free(limit->newcomers.pool, WEIR_NEWCOMERS_POOLS);
	if (!heir || heir->newcomers.tries != limit->newcomers.tries)
		tries_free(limit->newcomers.tries);
}
