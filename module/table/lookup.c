// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets in a table: refuse without a lock, charge, give back.
 */
#include "table/counts.h"
#include "table/resize.h"
#include "table/set.h"
#include "table/state.h"

/* Find a source's entry without a lock. @seq: its seqcount, read before its source was compared. */
static inline bool find(struct weir_table *table, struct weir_set *set,
			struct weir_lookup *lookup, u32 *seq)
{
	struct weir_entry *entry = weir_set_entry(table, set, weir_hash_home(table, lookup->hash));

	lookup->entry = entry;
	weir_table_settle(table, lookup->hash);
	lookup->slot[0] = weir_table_slot(table, lookup->tick);
	*seq = raw_read_seqcount(&entry->seq);
	if (likely(weir_entry_is(table, entry, lookup->source)))
		return true;
	/* If the version is the same under the lock, the source is not in the set. */
	lookup->version = smp_load_acquire(&set->version);
	entry = weir_set_search(table, set, lookup->source, lookup->hash);
	lookup->entry = entry;
	if (!entry)
		return false;
	*seq = raw_read_seqcount(&entry->seq);
	/* If the entry is another source's by now, the version has changed. */
	if (weir_entry_is(table, entry, lookup->source))
		return true;
	lookup->entry = NULL;
	return false;
}

/*
 * Refuse the source of an entry that is not blocked if its counts are @full and what was read since
 * @seq, with @scope, is consistent. Returns as counts_full(), or 0.
 */
static inline u16 entry_refuses(const struct weir_table *table, struct weir_lookup *lookup, u32 seq,
				u32 scope, bool *full)
{
	struct weir_entry *entry = lookup->entry;
	struct weir_count *count = weir_entry_count(table, entry);
	const u16 result = counts_full(table, count, lookup);
	const unsigned int i = result >> WEIR_BUDGET_SHIFT;
	const struct weir_meter *meter = &table->meter[i];

	*full = result;
	if (!result || unlikely(scope & WEIR_STATE_BLOCKED))
		return 0;
	count = weir_count_of(meter, count);
	if (seq & 1 || !weir_count_marked(&meter->shape, count, lookup->slot[i]) ||
	    read_seqcount_retry(&entry->seq, seq))
		return 0;
	weir_count_mark(&meter->shape, count, lookup->slot[i], lookup->amount[meter->bytes]);
	lookup->seq = seq;
	return result;
}

/* Answer for a source without an entry of its own, or whose entry is not known yet. */
static noinline u16 charge_newcomer(const struct weir_table *table, const struct weir_set *set)
{
	/* Pairs with set_pull(): an entry that it freed is seen only after this. */
	smp_rmb();
	return READ_ONCE(set->moving) ? WEIR_AGAIN : WEIR_NEWCOMER;
}

/*
 * Refuse without a lock, if that is certain: returns WEIR_REFUSED, or 0 if only a charge
 * can tell, with WEIR_BLOCKED if the source is. The only write to shared memory is the mark
 * of the refusal, once a slot.
 */
u16 __flatten weir_table_refuse(struct weir_table *table, struct weir_lookup *lookup)
{
	struct weir_set *set = weir_set(table, lookup->hash);
	u32 seq, scope;
	u16 result;
	bool full;

	if (unlikely(!find(table, set, lookup, &seq)))
		goto out;
	scope = lookup->entry->scope;
	result = entry_refuses(table, lookup, seq, scope, &full);
	if (result)
		return result;
	if (unlikely(scope & WEIR_STATE_BLOCKED))
		return weir_state_blocked(table, set, lookup, seq);
out:
	kcsan_atomic_next(0);
	return 0;
}

/* Charge a source that find() did not find. */
static inline u16 charge_stranger(struct weir_table *table, struct weir_set *set,
				  struct weir_lookup *lookup, bool again)
{
	kcsan_atomic_next(0);
	return table->states_off ? charge_newcomer(table, set) :
	       weir_set_admit(table, lookup, again, NULL);
}

/* Charge or refuse under its lock the entry that find() found; @seq and @scope as read there. */
static noinline u16 charge_locked(struct weir_table *table, struct weir_set *set,
				  struct weir_lookup *lookup, u32 seq, u32 scope)
{
	struct weir_entry *entry = lookup->entry;
	u16 result = 0;

	kcsan_atomic_next(0);
	if (scope & WEIR_STATE_BLOCKED) {
		result = weir_state_blocked(table, set, lookup, seq);
		if (result)
			return result;
		weir_state_unblock(table, set, lookup->tick);
	}
	if (scope & WEIR_STATE_NEWCOMER)
		return charge_newcomer(table, set);
	raw_spin_lock(&entry->lock);
	if (weir_entry_is(table, entry, lookup->source) && !(entry->scope & WEIR_STATE_FLAGS))
		result = weir_entry_charge(table, entry, lookup);
	raw_spin_unlock(&entry->lock);
	/* It may be another source's by now: search again. */
	return result ?: charge_stranger(table, set, lookup, true);
}

/*
 * Returns WEIR_CHARGED or WEIR_REFUSED, with flags, or WEIR_AGAIN, or WEIR_NEWCOMER for a
 * source that only weir_table_admit() may charge. Refuses without a lock whenever
 * weir_table_refuse() does.
 */
u16 __flatten weir_table_charge(struct weir_table *table, struct weir_lookup *lookup)
{
	struct weir_set *set = weir_set(table, lookup->hash);
	struct weir_entry *entry;
	u32 seq, scope;
	u16 result;
	bool full;

	if (!find(table, set, lookup, &seq))
		return charge_stranger(table, set, lookup, false);
	entry = lookup->entry;
	scope = entry->scope;
	result = entry_refuses(table, lookup, seq, scope, &full);
	if (result)
		return result;
	if (unlikely(full || scope & WEIR_STATE_FLAGS))
		return charge_locked(table, set, lookup, seq, scope);
	kcsan_atomic_next(0);
	raw_spin_lock(&entry->lock);
	if (unlikely(entry->seq.sequence != seq)) {
		raw_spin_unlock(&entry->lock);
		return charge_locked(table, set, lookup, seq, scope);
	}
	weir_entry_write_begin(entry);
	counts_add(table, weir_entry_count(table, entry), lookup);
	write_seqcount_end(&entry->seq);
	raw_spin_unlock(&entry->lock);
	return WEIR_CHARGED;
}

/* Is the source a newcomer, after weir_table_refuse() did not refuse it? */
bool weir_table_unknown(const struct weir_table *table, const struct weir_lookup *lookup)
{
	const struct weir_entry *entry = lookup->entry;

	if (!table->states_off)
		return false;
	/* If it is another source's by now, that source evicted this one. */
	if (entry && !(data_race(entry->scope) & WEIR_STATE_NEWCOMER))
		return false;
	return charge_newcomer(table, weir_set(table, lookup->hash)) == WEIR_NEWCOMER;
}

/* Is the source in a successor by now, after weir_table_refuse() did not refuse it? */
bool weir_table_moved(const struct weir_table *table, const struct weir_lookup *lookup)
{
	return charge_newcomer(table, weir_set(table, lookup->hash)) == WEIR_AGAIN;
}

/* Charge a newcomer, after weir_table_charge(). Returns as that, but not WEIR_NEWCOMER. */
u16 weir_table_admit(struct weir_table *table, struct weir_lookup *lookup,
		     const struct weir_permit *permit)
{
	return weir_set_admit(table, lookup, true, permit);
}

/*
 * Give back a charge, by its receipt. Returns false and changes nothing if the source
 * was forgotten or moved meanwhile, or its count no longer holds the charge in that slot.
 */
bool weir_table_uncharge(struct weir_table *table, const struct weir_lookup *lookup)
{
	struct weir_set *set = weir_set(table, lookup->hash);
	struct weir_entry *entry;
	bool given = false;

	entry = weir_set_search(table, set, lookup->source, lookup->hash);
	if (!entry)
		return false;
	raw_spin_lock(&entry->lock);
	/* Pairs with weir_table_forget() and weir_table_clear(). */
	if (weir_entry_is(table, entry, lookup->source) &&
	    lookup->receipt.epoch == (u16)READ_ONCE(table->epoch)) {
		weir_entry_write_begin(entry);
		given = weir_counts_undo(table, weir_entry_count(table, entry), lookup);
		write_seqcount_end(&entry->seq);
	}
	raw_spin_unlock(&entry->lock);
	/* It may be idle, and searches for a victim look at it again. */
	if (unlikely(table->stays) && given) {
		raw_spin_lock(&set->lock);
		set->seen &= ~BIT_ULL(weir_set_index(table, set, entry));
		raw_spin_unlock(&set->lock);
	}
	return given;
}

/*
 * Give back what a charge that returned WEIR_MET learnt: its packet was dropped elsewhere,
 * and so makes nobody known.
 */
void weir_table_unmeet(struct weir_table *table, const struct weir_lookup *lookup)
{
	struct weir_set *set = weir_set(table, lookup->hash);
	struct weir_entry *entry;

	raw_spin_lock(&set->lock);
	entry = weir_set_search(table, set, lookup->source, lookup->hash);
	if (entry) {
		raw_spin_lock(&entry->lock);
		weir_state_doubt(table, set, entry);
		raw_spin_unlock(&entry->lock);
	}
	raw_spin_unlock(&set->lock);
}

/* Count refusals of a source, if it still has an entry. @observed: not dropped. */
void weir_table_dropped(struct weir_table *table, const struct weir_lookup *lookup, u32 packets,
			bool observed)
{
	struct weir_entry *entry;

	weir_table_settle(table, lookup->hash);
	entry = weir_set_search(table, weir_set(table, lookup->hash), lookup->source, lookup->hash);
	if (entry)
		weir_entry_dropped(entry, packets, observed);
}

/* @entry may be another source's by now. A change of @observed restarts the count. */
void weir_entry_dropped(struct weir_entry *entry, u32 packets, bool observed)
{
	u32 kind = observed ? WEIR_DROPPED_OBSERVED : 0, was, count;
	int old = atomic_read(&entry->dropped);

	/* Far enough from the highest bit for concurrent additions. */
	if (likely((old ^ kind) < BIT(30) && packets < BIT(16))) {
		atomic_add(packets, &entry->dropped);
		return;
	}
	do {
		was = old & WEIR_DROPPED_MAX;
		if ((old & WEIR_DROPPED_OBSERVED) != kind)
			was = 0;
		count = min(packets, (u32)WEIR_DROPPED_MAX - was) + was;
	} while (!atomic_try_cmpxchg_relaxed(&entry->dropped, &old, count | kind));
}

/*
 * The tick until which what budget @i refused @lookup is refused, if nothing changes: to
 * the end of the block, if it leaks, or else to the end of the slot. Without the lock it is
 * valid if the seqcount is.
 */
u64 weir_budgets_until(const struct weir_table *table, const struct weir_lookup *lookup,
		       unsigned int i)
{
	const struct weir_meter *meter = &table->meter[i];
	struct weir_count *count = weir_count_of(meter, weir_entry_count(table, lookup->entry));
	struct weir_set *set = weir_set(table, lookup->hash);
	u64 left;

	/* A hint; what follows is of the seqcount or invalid. */
	if (unlikely(data_race(lookup->entry->scope) & WEIR_STATE_BLOCKED)) {
		left = weir_block_left(weir_entry_until(table, set, lookup->entry), lookup->tick);
		return left == WEIR_NEVER ? left : lookup->tick + left;
	}
	return weir_count_until(meter, count, lookup->tick, lookup->amount[meter->bytes],
				lookup->budgets[i]);
}
