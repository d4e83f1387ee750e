// SPDX-License-Identifier: GPL-2.0-only
/*
 * Permits: room for the packets of newcomers. See the top of newcomers.c.
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
#include "limit/limit.h"
#include "limit/pool.h"
#include "path/permit.h"

/* Times of cells. A second try comes at least AGAIN of them later. */
#define CELL_TICKS	(HZ / 16)
#define AGAIN		2

/* The fingerprint of a masked source in the upper bits of a cell. */
static u32 fingerprint(const struct weir_tries *tries, const struct weir_source *source)
{
	const __force u32 *word = (__force const u32 *)source->word;

	return (((u64)word[0] << 32 | word[1]) * tries->key[0] +
		((u64)word[2] << 32 | word[3]) * tries->key[1]) >> 32 & ~0xffu;
}

/* Remember a source; two CPUs may choose the same cell. */
static void row_add(struct weir_row *row, u32 cell)
{
	/* Pairs with itself on other CPUs. */
	u32 next = READ_ONCE(row->next);

	/* Pairs with row_find(). */
	WRITE_ONCE(row->cell[next], cell);
	WRITE_ONCE(row->next, next + 1 == WEIR_CELLS ? 0 : next + 1);
}

/* The place of a source in its row, WEIR_CELLS if it is not there; @cell: what is there. */
static inline u32 row_find(const struct weir_row *row, u32 print, u32 *cell)
{
	u32 i;

	/* Under a flood, no cell is the one, and the loop would cost half as much again. */
#pragma GCC unroll 8
	for (i = 0; i < WEIR_CELLS; i++) {
		/* Pairs with row_add(). */
		*cell = READ_ONCE(row->cell[i]);
		if ((*cell ^ print) <= U8_MAX)
			return i;
	}
	return WEIR_CELLS;
}

/* Was the source refused, but not just now? It is remembered. */
static bool second_try(struct weir_tries *tries, const struct weir_lookup *lookup)
{
	struct weir_row *row = &tries->row[lookup->hash & tries->mask];
	u32 print = fingerprint(tries, lookup->source), cell, at;
	u8 now = div_u64(lookup->tick, CELL_TICKS), age;

	at = row_find(row, print, &cell);
	if (at == WEIR_CELLS) {
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
		/* Pairs with weir_permit_charge(). All CPUs read it, but this is rare. */
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
u16 weir_permit_charge(const struct weir_limit *limit, struct weir_lookup *lookup,
		       u32 packets)
{
	const struct weir_newcomers *newcomers = &limit->newcomers;
	/* Pairs with weir_newcomers_learn(). */
	bool learn = lookup->tick < READ_ONCE(newcomers->tries->learn);
	u16 room = room_charge(newcomers, lookup, packets), result;
	struct weir_permit permit;

	if (room & WEIR_REFUSED && !learn)
		return room | WEIR_NEWCOMER;
	permit.known_ticks = learn ? 0 : newcomers->known_ticks;
	/* Pairs with room_charge(). */
	permit.late = !learn && lookup->tick < READ_ONCE(newcomers->tries->used_up);
	result = weir_table_admit(limit->table, lookup, &permit);
	if (room & WEIR_REFUSED)
		return result;
	if (result & WEIR_CHARGED)
		return result | WEIR_NEWCOMER | (room & WEIR_SECOND);
	weir_permit_uncharge(newcomers, packets, room, &lookup->newcomer);
	return result;
}

/*
 * Refuse a single packet, after weir_table_refuse() did not, if it is certain that it is a
 * newcomer's and has no room: WEIR_REFUSED | WEIR_NEWCOMER. 0: not sure. A first try is
 * remembered, and is no second try if the same packet is charged then.
 */
u16 weir_permit_refuse(const struct weir_limit *limit, const struct weir_lookup *lookup)
{
	const struct weir_newcomers *newcomers = &limit->newcomers;

	/* Pairs with weir_newcomers_learn(). */
	if (!newcomers->budget || lookup->tick < READ_ONCE(newcomers->tries->learn) ||
	    !weir_pool_full(newcomers->pool, lookup->tick) ||
	    !weir_table_unknown(limit->table, lookup) || second_try(newcomers->tries, lookup))
		return 0;
	return WEIR_REFUSED | WEIR_NEWCOMER;
}

/* Give back what a newcomer was charged, by its receipt; @result says to which budget. */
void weir_permit_uncharge(const struct weir_newcomers *newcomers, u32 packets, u16 result,
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
