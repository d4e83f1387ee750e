// SPDX-License-Identifier: GPL-2.0-only
/*
 * A source is known to a limit from the first packet that was admitted more than
 * known_ms after it took its way, for as long as it has the way. A packet of any other
 * source also needs room in one budget of the whole limit: its wheel is a way of a
 * small table of its own, charged by the batches of CPUs. Without room it is dropped,
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
#include "path/permit.h"
#include "table/shared.h"

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
	return newcomers->budget ? weir_table_bytes(newcomers->table) +
				   tries_bytes(newcomers->tries) : 0;
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

void weir_newcomers_learn(const struct weir_newcomers *newcomers)
{
	/* Pairs with weir_permit_charge(). */
	if (newcomers->known_ms)
		WRITE_ONCE(newcomers->tries->learn, weir_clock() + newcomers->known_ticks);
}

u64 weir_newcomers_learning(const struct weir_newcomers *newcomers)
{
	/* Pairs with weir_newcomers_learn(). */
	u64 end = READ_ONCE(newcomers->tries->learn), now = weir_clock();

	return end > now ? end - now : 0;
}

static int table_make(struct weir_net *wn, struct weir_newcomers *newcomers)
{
	const struct weir_table_spec spec = {
		.count[0] = {
			.budget = WEIR_PACKETS_MAX,
			.slot_ticks = newcomers->slot_ticks,
			.slots = newcomers->slots,
		},
		.sources = ARRAY_SIZE(weir_room_of),
	};
	unsigned int i;

	newcomers->table = weir_table_alloc(&spec, weir_clock());
	if (IS_ERR(newcomers->table)) {
		newcomers->table = NULL;
		return -ENOMEM;
	}
	weir_table_account(newcomers->table, &wn->bytes);
	for (i = 0; i < ARRAY_SIZE(weir_room_of); i++)
		newcomers->hash[i] = weir_source_hash(&weir_room_of[i], spec.prefix, &wn->key);
	/* The first source takes its home first. */
	newcomers->way = weir_bucket_way(newcomers->table, weir_bucket(newcomers->table, 0),
					 weir_hash_home(newcomers->table, newcomers->hash[0]));
	return 0;
}

int weir_newcomers_make(struct weir_net *wn, struct weir_newcomers *newcomers,
			const struct weir_newcomers *was, struct weir_error *error)
{
	int err = 0;

	if (!newcomers->budget)
		return 0;
	if (was && was->budget && was->window_ms == newcomers->window_ms) {
		/* Words of a whole configuration come without them. */
		newcomers->table = was->table;
		newcomers->way = was->way;
		memcpy(newcomers->hash, was->hash, sizeof(newcomers->hash));
	} else {
		err = table_make(wn, newcomers);
	}
	/* What tries remember of a way is of one table. */
	if (was && newcomers->table == was->table &&
	    rows_of(was->flood) == rows_of(newcomers->flood))
		newcomers->tries = was->tries;
	else if (!err)
		newcomers->tries = tries_alloc(wn, newcomers->flood);
	if (!newcomers->table || !newcomers->tries)
		return weir_refuse(error, -ENOMEM, WEIR_A_LIMIT_FLOOD,
				   "not enough memory to remember a flood so large; try a smaller one");
	if (!was)
		weir_newcomers_learn(newcomers);
	else if (was->budget && newcomers->tries != was->tries)
		newcomers->tries->learn = was->tries->learn;
	return 0;
}

void weir_newcomers_replaced(const struct weir_newcomers *newcomers,
			     const struct weir_newcomers *heir)
{
	if (heir->table == newcomers->table && heir->budget != newcomers->budget)
		weir_batches_end(heir->table);
	if (heir->tries == newcomers->tries)
		/* The budget may be larger now; pairs with room_full(). */
		WRITE_ONCE(heir->tries->full, 0);
	if (!heir->known_ms)
		/* Pairs with weir_permit_charge(). */
		WRITE_ONCE(heir->tries->learn, 0);
}

void weir_newcomers_free(struct weir_newcomers *newcomers, const struct weir_newcomers *heir)
{
	if (!heir || heir->table != newcomers->table)
		weir_table_free(newcomers->table);
	if (!heir || heir->tries != newcomers->tries)
		tries_free(newcomers->tries);
}
