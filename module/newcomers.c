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
 * be known from its first packet that comes a little after it took its way.
 *
 * Who was refused is remembered, and who comes again a little later is charged to a
 * second budget of the same size: people try again, such floods do not. The memory is
 * a hash of rows, half a cache line each; a row is a ring of cells, with a fingerprint of
 * a source and the time. Nothing is locked: a cell that two CPUs write at once is one
 * refusal forgotten. Rows are chosen by the keyed hash of
 * sources, fingerprints by multiplication with a key of this memory:
 * M. Dietzfelbinger et al., A Reliable Randomized Algorithm for the Closest-Pair
 * Problem, J. Algorithms 25 (1997). Two sources share one at most twice in 2^24.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "batch.h"
#include "hook.h"
#include "limit.h"
#include "weir.h"

/* Cells of a row, and the seconds of the expected flood that all rows remember. */
#define CELLS		7
#define TRIES_SECONDS	4
#define ROWS_MIN	128

/* Times of cells. A second try comes at least AGAIN of them later. */
#define CELL_TICKS	(HZ / 16)
#define AGAIN		2

struct row {
	u32 next;		/* cell to overwrite */
	u32 cell[CELLS];	/* fingerprint in 24 bits and time in 8 */
};

/* Who was refused lately. */
struct weir_tries {
	struct row *row;
	u32 mask;		/* rows less one */
	u64 key[2];		/* of the fingerprints, odd */
	u64 used_up;		/* tick until which a late refusal is remembered */
	u64 full;		/* tick until which nothing fits the first budget, */
	u32 full_seq;		/* while this is the seqcount of its way */
	u64 learn;		/* until this tick; process context writes it */
	atomic64_t *held;	/* as that of struct weir_table */
};

/* The two sources of the table, as weir_batch_wanted() expects them. */
static const struct weir_source room_of[] = {
	{ .scope = 0 },
	{ .scope = WEIR_SCOPE_IPV6 },
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

static struct weir_tries *tries_alloc(struct weir_net *wn, u32 flood)
{
	struct weir_tries *tries = kzalloc(sizeof(*tries), GFP_KERNEL_ACCOUNT);

	if (!tries)
		return NULL;
	tries->mask = rows_of(flood) - 1;
	get_random_bytes(tries->key, sizeof(tries->key));
	tries->key[0] |= 1;
	tries->key[1] |= 1;
	if (weir_limit_affords(wn, tries_bytes(tries)))
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
	WRITE_ONCE(newcomers->tries->learn, weir_hook_clock() + newcomers->known_ticks);
}

static int table_make(struct weir_net *wn, struct weir_newcomers *newcomers)
{
	const struct weir_table_spec spec = {
		.budget = WEIR_PACKETS_MAX,
		.slot_ticks = newcomers->slot_ticks,
		.sources = ARRAY_SIZE(room_of),
		.slots = newcomers->slots,
	};
	unsigned int i;

	newcomers->table = weir_table_alloc(&spec, weir_hook_clock());
	if (IS_ERR(newcomers->table)) {
		newcomers->table = NULL;
		return -ENOMEM;
	}
	weir_table_account(newcomers->table, &wn->bytes);
	for (i = 0; i < ARRAY_SIZE(room_of); i++)
		newcomers->hash[i] = weir_source_hash(&room_of[i], spec.prefix, &wn->key);
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
	if (was && was->budget && was->window_ms == newcomers->window_ms)
		newcomers->table = was->table;
	else
		err = table_make(wn, newcomers);
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

void weir_newcomers_free(struct weir_newcomers *newcomers, const struct weir_newcomers *heir)
{
	if (!heir || heir->table != newcomers->table)
		weir_table_free(newcomers->table);
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

	/* Pairs with second_try(). */
	WRITE_ONCE(row->cell[next], cell);
	WRITE_ONCE(row->next, next + 1 == CELLS ? 0 : next + 1);
}

/* Was the source refused, but not just now? It is remembered. */
static bool second_try(struct weir_tries *tries, const struct weir_lookup *lookup)
{
	struct row *row = &tries->row[lookup->hash & tries->mask];
	u32 print = fingerprint(tries, lookup->source), cell, i;
	u8 now = (u32)lookup->tick / CELL_TICKS, age;

	for (i = 0; i < CELLS; i++) {
		/* Pairs with row_add(). */
		cell = READ_ONCE(row->cell[i]);
		if ((cell ^ print) > U8_MAX)
			continue;
		age = now - cell;
		if (age > AGAIN) {
			/* Keep it for as long as the source goes on. */
			WRITE_ONCE(row->cell[i], 0);
			row_add(row, print | (u8)(now - AGAIN));
		}
		return age >= AGAIN;
	}
	row_add(row, print | now);
	return false;
}

/* Prepare a lookup for @packets of one of the two sources. */
static struct weir_lookup room_lookup(const struct weir_newcomers *newcomers, u64 tick,
				      u32 packets, bool second)
{
	return (struct weir_lookup) {
		.source = &room_of[second],
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

	/* Pairs with room_refused(). */
	return tick < READ_ONCE(tries->full) &&
	       READ_ONCE(newcomers->way->seq.sequence) == READ_ONCE(tries->full_seq) &&
	       !weir_batch_left(newcomers->table, &room_of[0]);
}

/* The first budget refused, with @room. All CPUs read what is written, so that is rare. */
static void room_refused(const struct weir_newcomers *newcomers,
			 const struct weir_lookup *room)
{
	struct weir_tries *tries = newcomers->tries;
	u64 slot = weir_table_slot(newcomers->table, room->tick);

	/* Pairs with weir_newcomers_charge(). */
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
		result = weir_batch_charge(newcomers->table, &room);
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
u16 weir_newcomers_charge(const struct weir_limit *limit, struct weir_lookup *lookup,
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
	permit.late = lookup->tick < READ_ONCE(newcomers->tries->used_up);
	result = weir_table_admit(limit->table, lookup, &permit);
	if (room & WEIR_REFUSED)
		return result;
	if (result & WEIR_CHARGED)
		return result | WEIR_NEWCOMER | (room & WEIR_SECOND);
	weir_newcomers_uncharge(newcomers, lookup->tick, packets, room, lookup->newcomer);
	return result;
}

/* Give back what a newcomer was charged, by its receipt; @result says to which budget. */
void weir_newcomers_uncharge(const struct weir_newcomers *newcomers, u64 tick, u32 packets,
			     u16 result, struct weir_receipt receipt)
{
	struct weir_lookup room = room_lookup(newcomers, tick, packets, result & WEIR_SECOND);

	room.receipt = receipt;
	weir_table_uncharge(newcomers->table, &room);
}

void weir_newcomers_peek(const struct weir_newcomers *newcomers,
			 struct weir_newcomers_state *state)
{
	struct weir_source_state is;
	u64 slot[WEIR_SLOTS_MAX + 1];
	int second;

	*state = (struct weir_newcomers_state) { };
	for (second = ARRAY_SIZE(room_of); second--; ) {
		weir_table_peek(newcomers->table, &room_of[second], newcomers->hash[second],
				weir_hook_clock(), newcomers->budget, &is, slot);
		weir_batches_unspent(newcomers->table, weir_hook_clock(), &is, NULL);
		state->count += is.count;
		state->wait = is.wait;
	}
}
