// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of sources
 *
 * Of a source with an entry a table knows whether it is a newcomer, if it distinguishes them (see
 * the top of newcomers.c), and whether it is blocked. weir_state_set() alone writes this, under
 * the locks of set and entry, inside a write section of the entry's seqcount, which also
 * invalidates what refusal caches say. Flags in the entry's scope tell that there is anything to
 * tell, so that other sources do not read it.
 *
 * A blocked source is refused until a time, whatever its count says, and what it sent before
 * stays counted: refused packets are not. An entry with a block is neither evicted nor freed before
 * that has ended. At most half of a set's entries are blocked, so that newcomers find an entry; all
 * of them if sources are only blocked. A block that has ended is cleared by the next packet of its
 * source, of a newcomer in its set, or the next block there.
 */
#include "table/counts.h"
#include "table/state.h"

/* The end of a block that lasts until a tick above 0, rounded up, or with WEIR_NEVER for ever. */
u32 weir_block_until(u64 tick)
{
	u64 until = div_u64(tick - 1, WEIR_SINCE_TICKS) + 1;

	return min_t(u64, until, WEIR_FOR_EVER);
}

/* Under the set's lock. */
struct weir_state weir_state_get(const struct weir_table *table, struct weir_set *set,
				 unsigned int i)
{
	const struct weir_states *states = weir_set_states(table, set);
	struct weir_state state = { .until = *weir_set_until(table, set, i) };

	if (table->states_off) {
		state.newcomer = states->newcomers & BIT_ULL(i);
		state.late = states->late & BIT_ULL(i);
		state.since = states->since[i];
	}
	return state;
}

/* Under the set's lock: which of its entries @may are of newcomers, or of who became known late. */
struct weir_known weir_state_known(const struct weir_table *table, struct weir_set *set, u64 may)
{
	const struct weir_states *states = weir_set_states(table, set);
	struct weir_known who = { .newcomers = may };

	if (table->states_off) {
		who.newcomers = may & states->newcomers;
		who.late = may & states->late & ~states->newcomers;
		who.others = may & ~(states->newcomers | states->late);
	}
	return who;
}

/* After the end of a block the next refusal is the first one. */
void weir_state_set(const struct weir_table *table, struct weir_set *set, unsigned int i,
		    struct weir_state state)
{
	struct weir_states *states = weir_set_states(table, set);
	struct weir_entry *entry = weir_set_entry(table, set, i);
	u64 others = set->blocked & ~BIT_ULL(i);

	lockdep_assert_held(&set->lock);
	lockdep_assert_held(&entry->lock);
	if (state.until || entry->scope & WEIR_STATE_BLOCKED) {
		/* Pairs with weir_entry_until(). */
		WRITE_ONCE(*weir_set_until(table, set, i), state.until);
		/* Pairs with weir_set_blocks(). */
		WRITE_ONCE(set->blocked, state.until ? others | BIT_ULL(i) : others);
		if (!state.until)
			weir_counts_unmark(table, weir_entry_count(table, entry));
	}
	entry->scope &= ~WEIR_STATE_FLAGS;
	if (state.until)
		entry->scope |= WEIR_STATE_BLOCKED;
	if (!table->states_off)
		return;
	if (state.newcomer)
		entry->scope |= WEIR_STATE_NEWCOMER;
	states->newcomers = (states->newcomers & ~BIT_ULL(i)) | (u64)state.newcomer << i;
	states->late = (states->late & ~BIT_ULL(i)) | (u64)state.late << i;
	states->since[i] = state.since;
}

/*
 * Set when the block of an entry ends, or with 0 end it, under the set's lock alone. A newcomer
 * is one from the end of its block on: nothing of it was admitted meanwhile.
 */
void weir_state_block(const struct weir_table *table, struct weir_set *set,
		      struct weir_entry *entry, u32 until, u64 tick)
{
	unsigned int i = weir_set_index(table, set, entry);
	struct weir_state state = weir_state_get(table, set, i);

	state.until = until;
	if (!until)
		state.since = weir_since(tick);
	raw_spin_lock(&entry->lock);
	weir_entry_write_begin(entry);
	weir_state_set(table, set, i, state);
	write_seqcount_end(&entry->seq);
	raw_spin_unlock(&entry->lock);
}

/* Clear the blocks of a locked set that have ended: none does between two of these times. */
void weir_state_expire(const struct weir_table *table, struct weir_set *set, u64 tick)
{
	u32 now = div_u64(tick, WEIR_SINCE_TICKS);
	unsigned int i;
	u64 left;

	if (set->expired == now)
		return;
	/* Pairs with weir_table_blocks(). */
	WRITE_ONCE(set->expired, now);
	for (left = set->blocked; left; left &= left - 1) {
		i = __ffs64(left);
		if (!weir_block_left(*weir_set_until(table, set, i), tick))
			weir_state_block(table, set, weir_set_entry(table, set, i), 0, tick);
	}
}

/*
 * The entry of @lookup has WEIR_STATE_BLOCKED: refuse without a lock if what was read since
 * @seq is consistent, or with the entry's. Returns WEIR_REFUSED | WEIR_BLOCKED, or 0 if the
 * block has ended or was another source's.
 */
u16 weir_state_blocked(const struct weir_table *table, struct weir_set *set,
		       struct weir_lookup *lookup, u32 seq)
{
	struct weir_entry *entry = lookup->entry;
	u32 until = weir_entry_until(table, set, entry);

	/* Retry first: that ends KCSAN's atomic region also if @seq is odd. */
	if (read_seqcount_retry(&entry->seq, seq) || seq & 1) {
		raw_spin_lock(&entry->lock);
		seq = entry->seq.sequence;
		until = weir_entry_is(table, entry, lookup->source) ?
			weir_entry_until(table, set, entry) : 0;
		raw_spin_unlock(&entry->lock);
	}
	if (weir_block_left(until, lookup->tick)) {
		lookup->seq = seq;
		return WEIR_REFUSED | WEIR_BLOCKED;
	}
	return 0;
}

/* Clear the blocks of a set that have ended, before a charge. */
void weir_state_unblock(const struct weir_table *table, struct weir_set *set, u64 tick)
{
	raw_spin_lock(&set->lock);
	weir_state_expire(table, set, tick);
	raw_spin_unlock(&set->lock);
}

/*
 * The source of an entry was admitted, as @permit says: if it was a newcomer and is known from now
 * on, returns WEIR_MET. Under both locks.
 */
u16 weir_state_admitted(const struct weir_table *table, struct weir_set *set,
			struct weir_entry *entry, u64 tick, const struct weir_permit *permit)
{
	unsigned int i = weir_set_index(table, set, entry);
	struct weir_state state = weir_state_get(table, set, i);
	u16 passed = weir_since(tick) - state.since;

	if (!state.newcomer ||
	    /* A clock that is late has not come there yet. */
	    passed == U16_MAX ||
	    /* Both times are rounded down. */
	    (u64)passed * WEIR_SINCE_TICKS < permit->known_ticks + WEIR_SINCE_TICKS)
		return 0;
	state.newcomer = false;
	state.late = permit->late;
	weir_entry_write_begin(entry);
	weir_state_set(table, set, i, state);
	write_seqcount_end(&entry->seq);
	return WEIR_MET;
}

/* The source of an entry is a newcomer again, since when it was. Under both locks. */
void weir_state_doubt(const struct weir_table *table, struct weir_set *set,
		      struct weir_entry *entry)
{
	unsigned int i = weir_set_index(table, set, entry);
	struct weir_state state = weir_state_get(table, set, i);

	state.newcomer = true;
	state.late = false;
	weir_entry_write_begin(entry);
	weir_state_set(table, set, i, state);
	write_seqcount_end(&entry->seq);
}
