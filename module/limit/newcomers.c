// SPDX-License-Identifier: GPL-2.0-only
/*
 * A source is known to a limit from the first packet that was admitted more than
 * known_ms after it took its entry, for as long as it has the entry. A packet of any other
 * source also needs room in one budget of the whole limit. Without room it is dropped,
 * takes no entry and evicts nobody. So a flood of addresses that are not seen twice costs
 * those that are known nothing; what it competes for is the newcomers' budget.
 *
 * A limit that was just made, or forgot all its sources, would take everybody for a
 * newcomer: for known_ms it learns, refuses nobody for want of room, and lets a source
 * be known from its first packet that comes a little after it took its entry. With a
 * known_ms of 0 it does not, for those who add it during a flood.
 *
 * Who was refused is remembered, and who comes again a little later is charged to a
 * second budget of the same size: people try again, such floods do not. The memory is
 * a hash of rows, half a cache line each; a row is a ring of cells, with a fingerprint of
 * a source and the time. Nothing is locked: a cell that two CPUs write at once is one
 * refusal forgotten. Rows are chosen by the keyed hash of sources, fingerprints by
 * multiplication with a key of this memory: M. Dietzfelbinger et al., A Reliable
 * Randomized Algorithm for the Closest-Pair Problem, J. Algorithms 25 (1997). Two
 * sources share one at most twice in 2^24.
 */
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "clock.h"
#include "limit/net.h"
#include "limit/newcomers.h"
#include "limit/pool.h"

/* The seconds of the expected flood that the memory of first tries holds. */
#define TRIES_SECONDS	4
#define ROWS_MIN	128

/* Times of cells. A second try comes at least AGAIN of them later. */
#define CELL_TICKS	(HZ / 16)
#define AGAIN		2

/* Sources that were refused lately; a cell has a fingerprint in 24 bits, a time in 8. */
#define CELLS	7

struct row {
	u32 next;		/* cell to overwrite */
	u32 cell[CELLS];
};

/* How a limit stands to newcomers. */
struct weir_tries {
	struct row *row;
	u32 mask;		/* rows less one */
	u64 key[2];		/* of the fingerprints, odd */

	u64 used_up;		/* tick until which a late refusal is remembered; any CPU */

	u64 learn;		/* until this tick; process context writes it */
	atomic64_t *held;	/* as that of struct weir_table */
};

static u32 rows_of(u32 flood)
{
	return roundup_pow_of_two(max(flood / (CELLS + 1) * TRIES_SECONDS, ROWS_MIN));
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

void weir_newcomers_learn(const struct weir_newcomers *newcomers)
{
	/* Pairs with weir_newcomers_charge(). */
	if (newcomers->learns)
		WRITE_ONCE(newcomers->tries->learn, weir_clock() + newcomers->known_ticks);
}

/* Pairs with weir_newcomers_charge(). */
void weir_newcomers_learnt(const struct weir_newcomers *newcomers, u64 tick)
{
	WRITE_ONCE(newcomers->tries->learn, min(newcomers->tries->learn, tick));
}

/* A limit that is not in force yet may have the memory of one that learns, and not learn itself. */
u64 weir_newcomers_learning(const struct weir_newcomers *newcomers)
{
	bool learns = newcomers->budget && newcomers->learns;
	/* Pairs with weir_newcomers_learn(). */
	u64 end = learns ? READ_ONCE(newcomers->tries->learn) : 0, now = weir_clock();

	return end > now ? end - now : 0;
}

int weir_newcomers_make(struct weir_net *wn, struct weir_newcomers *newcomers,
			const struct weir_newcomers *old)
{
	const struct weir_newcomers *was = old && old->budget ? old : NULL;

	if (!newcomers->budget)
		return 0;
	newcomers->pool = was ? was->pool :
			  weir_pools_alloc(WEIR_NEWCOMERS_POOLS, newcomers->slots,
					   newcomers->slot_ticks);
	newcomers->tries = was && rows_of(was->flood) == rows_of(newcomers->flood) ?
			   was->tries : tries_alloc(wn, newcomers->flood);
	if (!newcomers->pool || !newcomers->tries)
		return -ENOMEM;
	if (!old)
		weir_newcomers_learn(newcomers);
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

void weir_newcomers_replaced(const struct weir_newcomers *newcomers,
			     const struct weir_newcomers *heir)
{
	if (!heir->budget || !newcomers->budget)
		return;
	/* Packets of the old budget, if it was smaller, may have found the new one full. */
	if (heir->budget != newcomers->budget)
		weir_newcomers_set(heir);
	if (!heir->learns)
		/* Pairs with weir_newcomers_charge(). */
		WRITE_ONCE(heir->tries->learn, 0);
}

void weir_newcomers_free(const struct weir_newcomers *newcomers, const struct weir_newcomers *heir)
{
	if (!heir || heir->pool != newcomers->pool)
		weir_pools_free(newcomers->pool, WEIR_NEWCOMERS_POOLS);
	if (!heir || heir->tries != newcomers->tries)
		tries_free(newcomers->tries);
}

/* The fingerprint of a masked source in the upper bits of a cell. */
static u32 fingerprint(const struct weir_tries *tries, const struct weir_source *source)
{
	const __force u32 *word = (__force const u32 *)source->word;

	return (((u64)word[0] << 32 | word[1]) * tries->key[0] +
		((u64)word[2] << 32 | word[3]) * tries->key[1]) >> 32 & ~0xffu;
}

/* Remember a source; two CPUs may choose the same cell. */
static void row_add(struct row *row, u32 cell)
{
	/* Pairs with itself on other CPUs. */
	u32 next = READ_ONCE(row->next);

	/* Pairs with row_find(). */
	WRITE_ONCE(row->cell[next], cell);
	WRITE_ONCE(row->next, next + 1 == CELLS ? 0 : next + 1);
}

/* The place of a source in its row, CELLS if it is not there; @cell: what is there. */
static inline u32 row_find(const struct row *row, u32 print, u32 *cell)
{
	u32 i;

	/* Under a flood, no cell is the one, and the loop would cost half as much again. */
#pragma GCC unroll 8
	for (i = 0; i < CELLS; i++) {
		/* Pairs with row_add(). */
		*cell = READ_ONCE(row->cell[i]);
		if ((*cell ^ print) <= U8_MAX)
			return i;
	}
	return CELLS;
}

/* Was the source refused, but not just now? It is remembered. */
static bool second_try(struct weir_tries *tries, const struct weir_lookup *lookup)
{
	struct row *row = &tries->row[lookup->hash & tries->mask];
	u32 print = fingerprint(tries, lookup->source), cell, at;
	u8 now = div_u64(lookup->tick, CELL_TICKS), age;

	at = row_find(row, print, &cell);
	if (at == CELLS) {
		row_add(row, print | now);
		return false;
	}
	age = now - cell;
	if (age > AGAIN) {
		/* Keep it for as long as the source goes on. */
		WRITE_ONCE(row->cell[at], 0);
		row_add(row, print | (u8)(now - AGAIN));
	}
	return age >= AGAIN;
}

/*
 * Charge one of the two budgets for a newcomer. Returns WEIR_CHARGED, perhaps with
 * WEIR_SECOND, or WEIR_REFUSED, perhaps with WEIR_FIRST.
 */
static u16 room_charge(const struct weir_newcomers *newcomers, struct weir_lookup *lookup,
		       u32 packets)
{
	struct weir_pool *first = &newcomers->pool[0], *second = &newcomers->pool[1];
	const u64 tick = lookup->tick;
	u16 result = WEIR_REFUSED;

	if (!weir_pool_full(first, tick)) {
		result = weir_pool_charge(first, tick, packets, newcomers->budget,
					  &lookup->newcomer);
		if (result & WEIR_CHARGED)
			return result;
		/* Pairs with weir_newcomers_charge(). All CPUs read it, but this is rare. */
		WRITE_ONCE(newcomers->tries->used_up, tick + newcomers->span_ticks);
	}
	if (!second_try(newcomers->tries, lookup) || weir_pool_full(second, tick) ||
	    weir_pool_charge(second, tick, packets, newcomers->budget,
			     &lookup->newcomer) & WEIR_REFUSED)
		return result;
	return WEIR_CHARGED | WEIR_SECOND;
}

/*
 * Charge a packet of a source for which weir_table_charge() asked for a permit. Returns
 * as that with WEIR_NEWCOMER, or without it if the source's own budget or the floor
 * refused. WEIR_FIRST with WEIR_NEWCOMER is that of the newcomers' budget.
 */
u16 weir_newcomers_charge(const struct weir_newcomers *newcomers, struct weir_table *table,
			  struct weir_lookup *lookup, u32 packets)
{
	/* Pairs with weir_newcomers_learn(). */
	bool learn = lookup->tick < READ_ONCE(newcomers->tries->learn);
	u16 room = room_charge(newcomers, lookup, packets), result;
	struct weir_permit permit;

	if (room & WEIR_REFUSED && !learn)
		return room | WEIR_NEWCOMER;
	permit.known_ticks = learn ? 0 : newcomers->known_ticks;
	/* Pairs with room_charge(). */
	permit.late = !learn && lookup->tick < READ_ONCE(newcomers->tries->used_up);
	result = weir_table_admit(table, lookup, &permit);
	if (room & WEIR_REFUSED)
		return result;
	if (result & WEIR_CHARGED)
		return result | WEIR_NEWCOMER | (room & WEIR_SECOND);
	weir_newcomers_uncharge(newcomers, packets, room, &lookup->newcomer);
	return result;
}

/*
 * Refuse a single packet, after weir_table_refuse() did not, if it is certain that it is a
 * newcomer's and has no room: WEIR_REFUSED | WEIR_NEWCOMER. 0: not sure. A first try is
 * remembered, and is no second try if the same packet is charged then.
 */
u16 weir_newcomers_refuse(const struct weir_newcomers *newcomers, const struct weir_table *table,
			  const struct weir_lookup *lookup)
{
	/* Pairs with weir_newcomers_learn(). */
	if (!newcomers->budget || lookup->tick < READ_ONCE(newcomers->tries->learn) ||
	    !weir_pool_full(newcomers->pool, lookup->tick) ||
	    !weir_table_unknown(table, lookup) || second_try(newcomers->tries, lookup))
		return 0;
	return WEIR_REFUSED | WEIR_NEWCOMER;
}

/* Give back what a newcomer was charged, by its receipt; @result says to which budget. */
void weir_newcomers_uncharge(const struct weir_newcomers *newcomers, u32 packets, u16 result,
			     const struct weir_receipt *receipt)
{
	weir_pool_undo(&newcomers->pool[!!(result & WEIR_SECOND)], packets, receipt);
}

void weir_newcomers_peek(const struct weir_newcomers *newcomers, u64 tick,
			 struct weir_newcomers_state *state)
{
	struct weir_pool_state first, second;

	weir_pool_peek(&newcomers->pool[0], tick, newcomers->budget, &first);
	weir_pool_peek(&newcomers->pool[1], tick, newcomers->budget, &second);
	state->count = first.packets + second.packets;
	/* Nobody waits meanwhile; pairs with weir_newcomers_learn(). */
	state->wait = tick < READ_ONCE(newcomers->tries->learn) ? 0 : first.wait;
}
