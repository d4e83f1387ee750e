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
#include "path/permit.h"
#include "table/shared.h"

const struct weir_source weir_room_of[2] = {
	{ .scope = 0 },
	{ .scope = WEIR_SCOPE_IPV6 },
};

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

/* Prepare a lookup for @packets of one of the two sources. */
static struct weir_lookup room_lookup(const struct weir_newcomers *newcomers, u64 tick,
				      u32 packets, bool second)
{
	return (struct weir_lookup) {
		.source = &weir_room_of[second],
		.tick = tick,
		.cost = packets,
		.budget = newcomers->budget,
		.hash = newcomers->hash[second],
	};
}

/* Is it certain that the first budget has no room? */
static bool room_full(const struct weir_newcomers *newcomers, u64 tick)
{
	const struct weir_tries *tries = newcomers->tries;

	/* Pairs with room_refused() and weir_newcomers_replaced(). */
	return tick < READ_ONCE(tries->full) &&
	       READ_ONCE(newcomers->way->seq.sequence) == READ_ONCE(tries->full_seq) &&
	       !weir_batch_left(newcomers->table, &weir_room_of[0]);
}

/* The first budget refused, with @room. All CPUs read what is written, so that is rare. */
static void room_refused(const struct weir_newcomers *newcomers,
			 const struct weir_lookup *room)
{
	struct weir_tries *tries = newcomers->tries;
	u64 slot = weir_table_slot(newcomers->table, room->tick);

	/* Pairs with weir_permit_charge(). */
	WRITE_ONCE(tries->used_up, room->tick + newcomers->span_ticks);
	if (room->cost != 1 || room->way != newcomers->way)
		return;
	/* Pairs with room_full(). A mixture of two CPUs' may refuse until the slot ends. */
	WRITE_ONCE(tries->full_seq, room->seq);
	WRITE_ONCE(tries->full, (slot + 1) * newcomers->slot_ticks);
}

/*
 * Charge one of the two budgets for a newcomer. Returns WEIR_CHARGED, perhaps with
 * WEIR_SECOND, or WEIR_REFUSED, perhaps with WEIR_FIRST, or WEIR_AGAIN.
 */
static u16 room_charge(const struct weir_newcomers *newcomers, struct weir_lookup *lookup,
		       u32 packets)
{
	u16 result = WEIR_REFUSED, again;
	struct weir_lookup room;

	if (!room_full(newcomers, lookup->tick)) {
		room = room_lookup(newcomers, lookup->tick, packets, false);
		/* A packet that exceeds the budget meets a floor there, which is no source's. */
		result = weir_batch_charge(newcomers->table, &room) & ~WEIR_FLOORED;
		if (result & WEIR_REFUSED)
			room_refused(newcomers, &room);
	}
	if (result & WEIR_REFUSED) {
		if (!second_try(newcomers->tries, lookup))
			return result;
		room = room_lookup(newcomers, lookup->tick, packets, true);
		again = weir_batch_charge(newcomers->table, &room);
		if (again & WEIR_REFUSED)
			return result;
		result = again | WEIR_SECOND;
	}
	lookup->newcomer = room.receipt;
	return result;
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
	if (room & WEIR_AGAIN)
		return room;
	permit.known_ticks = learn ? 0 : newcomers->known_ticks;
	/* Pairs with room_refused(). */
	permit.late = !learn && lookup->tick < READ_ONCE(newcomers->tries->used_up);
	result = weir_table_admit(limit->table, lookup, &permit);
	if (room & WEIR_REFUSED)
		return result;
	if (result & WEIR_CHARGED)
		return result | WEIR_NEWCOMER | (room & WEIR_SECOND);
	weir_permit_uncharge(newcomers, lookup->tick, packets, room, lookup->newcomer);
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
	    !room_full(newcomers, lookup->tick) || !weir_table_unknown(limit->table, lookup) ||
	    second_try(newcomers->tries, lookup))
		return 0;
	return WEIR_REFUSED | WEIR_NEWCOMER;
}

/* Give back what a newcomer was charged, by its receipt; @result says to which budget. */
void weir_permit_uncharge(const struct weir_newcomers *newcomers, u64 tick, u32 packets,
			  u16 result, struct weir_receipt receipt)
{
	struct weir_lookup room = room_lookup(newcomers, tick, packets, result & WEIR_SECOND);

	room.receipt = receipt;
	weir_table_uncharge(newcomers->table, &room);
}

void weir_newcomers_peek(const struct weir_newcomers *newcomers, u64 tick,
			 struct weir_newcomers_state *state)
{
	struct weir_source_state is;
	const u64 budget = newcomers->budget;
	u64 slot[WEIR_SLOTS_MAX + 1];
	int second;

	*state = (struct weir_newcomers_state) { };
	for (second = ARRAY_SIZE(weir_room_of); second--; ) {
		weir_table_peek(newcomers->table, &weir_room_of[second], newcomers->hash[second],
				tick, &budget, &is, slot);
		weir_batches_unspent(newcomers->table, tick, &is, NULL);
		state->count += is.count[0];
		state->wait = is.wait;
	}
	/* Nobody waits meanwhile; pairs with weir_newcomers_learn(). */
	if (tick < READ_ONCE(newcomers->tries->learn))
		state->wait = 0;
}
