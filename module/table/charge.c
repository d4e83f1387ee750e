// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets in a table: refuse without a lock, charge, give back.
 */
#include "table/bucket.h"
#include "table/counts.h"
#include "table/resize.h"
#include "table/state.h"

/* Find a source's way without a lock. @seq: its seqcount, read before its source was compared. */
static inline bool find(struct weir_table *table, struct weir_bucket *bucket,
			struct weir_lookup *lookup, u32 *seq)
{
	struct weir_way *way = weir_bucket_way(table, bucket, weir_hash_home(table, lookup->hash));

	lookup->way = way;
	weir_table_settle(table, lookup->hash);
	lookup->slot[0] = weir_table_slot(table, lookup->tick);
	*seq = raw_read_seqcount(&way->seq);
	if (likely(weir_way_is(table, way, lookup->source)))
		return true;
	/* If the version is the same under the lock, the source is not in the bucket. */
	lookup->version = smp_load_acquire(&bucket->version);
	way = weir_bucket_search(table, bucket, lookup->source, lookup->hash);
	lookup->way = way;
	if (!way)
		return false;
	*seq = raw_read_seqcount(&way->seq);
	/* If the way is another source's by now, the version has changed. */
	if (weir_way_is(table, way, lookup->source))
		return true;
	lookup->way = NULL;
	return false;
}

/*
 * Refuse the source of a way that is not blocked if its counts are @full and what was read since
 * @seq, with @scope, is consistent. Returns as counts_full(), or 0.
 */
static inline u16 way_refuses(const struct weir_table *table, struct weir_lookup *lookup, u32 seq,
			      u32 scope, bool *full)
{
	struct weir_way *way = lookup->way;
	struct weir_wheel *wheel = weir_way_wheel(table, way);
	const u16 result = counts_full(table, wheel, lookup);
	const unsigned int i = result >> WEIR_BUDGET_SHIFT;
	const struct weir_count *count = &table->count[i];

	*full = result;
	if (!result || unlikely(scope & WEIR_STATE_BLOCKED))
		return 0;
	wheel = weir_wheel_of(count, wheel);
	if (seq & 1 || !weir_count_marked(&count->shape, wheel, lookup->slot[i]) ||
	    read_seqcount_retry(&way->seq, seq))
		return 0;
	weir_count_mark(&count->shape, wheel, lookup->slot[i], lookup->amount[count->bytes]);
	lookup->seq = seq;
	return result;
}

/* Answer for a source without a way of its own, or whose way is not known yet. */
static noinline u16 charge_newcomer(const struct weir_table *table,
				    const struct weir_bucket *bucket)
{
	/* Pairs with bucket_pull(): a way that it freed is seen only after this. */
	smp_rmb();
	return READ_ONCE(bucket->moving) ? WEIR_AGAIN : WEIR_NEWCOMER;
}

/*
 * Refuse without a lock, if that is certain: returns WEIR_REFUSED, or 0 if only a charge
 * can tell, with WEIR_BLOCKED if the source is. The only write to shared memory is the mark
 * of the refusal, once a slot.
 */
u16 __flatten weir_table_refuse(struct weir_table *table, struct weir_lookup *lookup)
{
	struct weir_bucket *bucket = weir_bucket(table, lookup->hash);
	u32 seq, scope;
	u16 result;
	bool full;

	if (unlikely(!find(table, bucket, lookup, &seq)))
		goto out;
	scope = lookup->way->scope;
	result = way_refuses(table, lookup, seq, scope, &full);
	if (result)
		return result;
	if (unlikely(scope & WEIR_STATE_BLOCKED))
		return weir_state_blocked(table, bucket, lookup, seq);
out:
	kcsan_atomic_next(0);
	return 0;
}

/* Charge a source that find() did not find. */
static inline u16 charge_stranger(struct weir_table *table, struct weir_bucket *bucket,
				  struct weir_lookup *lookup, bool again)
{
	kcsan_atomic_next(0);
	return table->states_off ? charge_newcomer(table, bucket) :
	       weir_bucket_admit(table, lookup, again, NULL);
}

/* Charge or refuse under its lock the way that find() found; @seq and @scope as read there. */
static noinline u16 charge_locked(struct weir_table *table, struct weir_bucket *bucket,
				  struct weir_lookup *lookup, u32 seq, u32 scope)
{
	struct weir_way *way = lookup->way;
	u16 result = 0;

	kcsan_atomic_next(0);
	if (scope & WEIR_STATE_BLOCKED) {
		result = weir_state_blocked(table, bucket, lookup, seq);
		if (result)
			return result;
		weir_state_unblock(table, bucket, lookup->tick);
	}
	if (scope & WEIR_STATE_NEWCOMER)
		return charge_newcomer(table, bucket);
	raw_spin_lock(&way->lock);
	if (weir_way_is(table, way, lookup->source) && !(way->scope & WEIR_STATE_FLAGS))
		result = weir_way_charge(table, way, lookup);
	raw_spin_unlock(&way->lock);
	/* It may be another source's by now: search again. */
	return result ?: charge_stranger(table, bucket, lookup, true);
}

/*
 * Returns WEIR_CHARGED or WEIR_REFUSED, with flags, or WEIR_AGAIN, or WEIR_NEWCOMER for a
 * source that only weir_table_admit() may charge. Refuses without a lock whenever
 * weir_table_refuse() does.
 */
u16 __flatten weir_table_charge(struct weir_table *table, struct weir_lookup *lookup)
{
	struct weir_bucket *bucket = weir_bucket(table, lookup->hash);
	struct weir_way *way;
	u32 seq, scope;
	u16 result;
	bool full;

	if (!find(table, bucket, lookup, &seq))
		return charge_stranger(table, bucket, lookup, false);
	way = lookup->way;
	scope = way->scope;
	result = way_refuses(table, lookup, seq, scope, &full);
	if (result)
		return result;
	if (unlikely(full || scope & WEIR_STATE_FLAGS))
		return charge_locked(table, bucket, lookup, seq, scope);
	kcsan_atomic_next(0);
	raw_spin_lock(&way->lock);
	if (unlikely(way->seq.sequence != seq)) {
		raw_spin_unlock(&way->lock);
		return charge_locked(table, bucket, lookup, seq, scope);
	}
	weir_way_write_begin(way);
	counts_add(table, weir_way_wheel(table, way), lookup);
	write_seqcount_end(&way->seq);
	raw_spin_unlock(&way->lock);
	return WEIR_CHARGED;
}

/* Is the source a newcomer, after weir_table_refuse() did not refuse it? */
bool weir_table_unknown(const struct weir_table *table, const struct weir_lookup *lookup)
{
	const struct weir_way *way = lookup->way;

	if (!table->states_off)
		return false;
	/* If it is another source's by now, that source evicted this one. */
	if (way && !(data_race(way->scope) & WEIR_STATE_NEWCOMER))
		return false;
	return charge_newcomer(table, weir_bucket(table, lookup->hash)) == WEIR_NEWCOMER;
}

/* Is the source in a successor by now, after weir_table_refuse() did not refuse it? */
bool weir_table_moved(const struct weir_table *table, const struct weir_lookup *lookup)
{
	return charge_newcomer(table, weir_bucket(table, lookup->hash)) == WEIR_AGAIN;
}

/* Charge a newcomer, after weir_table_charge(). Returns as that, but not WEIR_NEWCOMER. */
u16 weir_table_admit(struct weir_table *table, struct weir_lookup *lookup,
		     const struct weir_permit *permit)
{
	return weir_bucket_admit(table, lookup, true, permit);
}

/*
 * Give back a charge, by its receipt. Returns false and changes nothing if the source
 * was forgotten or moved meanwhile, or its wheel no longer holds the charge in that slot.
 */
bool weir_table_uncharge(struct weir_table *table, const struct weir_lookup *lookup)
{
	struct weir_bucket *bucket = weir_bucket(table, lookup->hash);
	struct weir_way *way;
	bool given = false;

	way = weir_bucket_search(table, bucket, lookup->source, lookup->hash);
	if (!way)
		return false;
	raw_spin_lock(&way->lock);
	/* Pairs with weir_table_forget() and weir_table_clear(). */
	if (weir_way_is(table, way, lookup->source) &&
	    lookup->receipt.epoch == (u16)READ_ONCE(table->epoch)) {
		weir_way_write_begin(way);
		given = weir_counts_undo(table, weir_way_wheel(table, way), lookup);
		write_seqcount_end(&way->seq);
	}
	raw_spin_unlock(&way->lock);
	/* It may be idle, and searches for a victim look at it again. */
	if (unlikely(table->stays) && given) {
		raw_spin_lock(&bucket->lock);
		bucket->seen &= ~BIT_ULL(weir_bucket_index(table, bucket, way));
		raw_spin_unlock(&bucket->lock);
	}
	return given;
}

/*
 * Give back what a charge that returned WEIR_MET learnt: its packet was dropped elsewhere,
 * and so makes nobody known.
 */
void weir_table_unmeet(struct weir_table *table, const struct weir_lookup *lookup)
{
	struct weir_bucket *bucket = weir_bucket(table, lookup->hash);
	struct weir_way *way;

	raw_spin_lock(&bucket->lock);
	way = weir_bucket_search(table, bucket, lookup->source, lookup->hash);
	if (way) {
		raw_spin_lock(&way->lock);
		weir_state_doubt(table, bucket, way);
		raw_spin_unlock(&way->lock);
	}
	raw_spin_unlock(&bucket->lock);
}

/* Count refusals of a source, if it still has a way. @observed: not dropped. */
void weir_table_dropped(struct weir_table *table, const struct weir_lookup *lookup, u32 packets,
			bool observed)
{
	struct weir_way *way;

	weir_table_settle(table, lookup->hash);
	way = weir_bucket_search(table, weir_bucket(table, lookup->hash),
				 lookup->source, lookup->hash);
	if (way)
		weir_way_dropped(way, packets, observed);
}

/* @way may be another source's by now. A change of @observed restarts the count. */
void weir_way_dropped(struct weir_way *way, u32 packets, bool observed)
{
	u32 kind = observed ? WEIR_DROPPED_OBSERVED : 0, was, count;
	int old = atomic_read(&way->dropped);

	/* Far enough from the highest bit for concurrent additions. */
	if (likely((old ^ kind) < BIT(30) && packets < BIT(16))) {
		atomic_add(packets, &way->dropped);
		return;
	}
	do {
		was = old & WEIR_DROPPED_MAX;
		if ((old & WEIR_DROPPED_OBSERVED) != kind)
			was = 0;
		count = min(packets, (u32)WEIR_DROPPED_MAX - was) + was;
	} while (!atomic_try_cmpxchg_relaxed(&way->dropped, &old, count | kind));
}

/*
 * The tick until which what budget @i refused @lookup is refused, if nothing changes: to
 * the end of the block, if it leaks, or else to the end of the slot. Without the lock it is
 * valid if the seqcount is.
 */
u64 weir_budgets_until(const struct weir_table *table, const struct weir_lookup *lookup,
		       unsigned int i)
{
	const struct weir_count *count = &table->count[i];
	struct weir_wheel *wheel = weir_wheel_of(count, weir_way_wheel(table, lookup->way));
	struct weir_bucket *bucket = weir_bucket(table, lookup->hash);
	u64 left;

	/* A hint; what follows is of the seqcount or invalid. */
	if (unlikely(data_race(lookup->way->scope) & WEIR_STATE_BLOCKED)) {
		left = weir_block_left(weir_way_until(table, bucket, lookup->way), lookup->tick);
		return left == WEIR_NEVER ? left : lookup->tick + left;
	}
	return weir_count_until(count, wheel, lookup->tick, lookup->amount[count->bytes],
				lookup->budgets[i]);
}
