/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The count of one source, of any kind, and its meter.
 *
 * Slots are stored modulo 2^32; no count is left alone for 2^31. A charge with an earlier slot
 * counts in the current one. The caller serialises; "full" and "marked" may be read in a
 * seqcount.
 */
#ifndef WEIR_COUNT_H
#define WEIR_COUNT_H

#include "count/leak.h"
#include "count/log.h"
#include "count/ring.h"

struct weir_calendar;

/* The constants of one budget's counts in a table: shape, clock, and where they are. */
struct weir_meter {
	struct weir_shape shape;
	u64 slot_inverse;	/* of @slot_ticks, see weir_slot_of(); 0: slots do not tick */
	u32 base;		/* where slots that tick begin, else the current one: see below */
	u8 slot_shift;		/* log2 of @slot_ticks, rounded up */
	bool bytes;		/* it counts bytes, otherwise packets */
	u16 off;		/* of its count behind the first count of an entry or floor */
	const struct weir_calendar *calendar;	/* that numbers them, or NULL */
	u64 window;		/* as asked for, in ticks; the most if it never ends */
	u32 slot_ticks;		/* length of a slot, nominal with @calendar; 0 if it never ends */
};

/*
 * tick / slot_ticks by a multiplication, exact for all ticks below 2^63:
 * T. Granlund, P. L. Montgomery, Division by Invariant Integers using
 * Multiplication, PLDI 1994, theorem 4.2, with N = 63.
 */
static inline u64 weir_slot_of(u64 tick, u64 inverse, u8 shift)
{
	return mul_u64_u64_shr(tick << 1, inverse, 64) >> shift;
}

/*
 * Slots that tick begin @base ticks, less than a slot, before the multiples of their length, and
 * their numbers begin with @base, too. Of others the inverse is 0, so that @base is the number.
 */
static inline u64 weir_meter_slot(const struct weir_meter *meter, u64 tick)
{
	/* Pairs with the timer of a calendar. */
	u32 base = READ_ONCE(meter->base);

	return weir_slot_of(tick + base, meter->slot_inverse, meter->slot_shift) + base;
}

/* The tick at which a slot begins, if slots tick; modulo 2^64, as the first may be before 0. */
static inline u64 weir_meter_begins(const struct weir_meter *meter, u64 slot)
{
	/* Constant while packets meet the table. */
	return (slot - meter->base) * meter->slot_ticks - meter->base;
}

/* Does what it counts never end? */
static inline bool weir_meter_stays(const struct weir_meter *meter)
{
	return !meter->slot_ticks;
}

/* The largest budget; more than twice the largest size of a bucket has no effect. */
static inline u64 weir_shape_max(const struct weir_shape *shape)
{
	if (shape->kind == WEIR_COUNT_RING)
		return weir_width_max(shape->width);
	if (shape->kind == WEIR_COUNT_LOG)
		return shape->cells;
	return min(div_u64(U64_MAX, shape->parts),
		   shape->rate > U64_MAX / WEIR_BURST_BUDGETS / 2 ?
		   U64_MAX : shape->rate * WEIR_BURST_BUDGETS * 2);
}

/* Slots that are like the current one: in which a count does not drop by much. */
static inline u32 weir_shape_window(const struct weir_shape *shape)
{
	return shape->kind == WEIR_COUNT_RING ? shape->reach : shape->parts;
}

/* Clear the mark of a refusal; pairs with weir_count_mark() without a lock. */
static inline void weir_count_unmark(const struct weir_shape *shape, struct weir_count *w)
{
	WRITE_ONCE(w->refused, (w->at >> shape->mark_shift) + 160);
}

/*
 * Was a refusal marked in this slot, or within a window and a slot before it? A
 * mark may be @reach slots ahead of the count, and 30 ahead of a late clock. A turn
 * clears stale marks before they alias.
 */
static inline bool weir_count_marked(const struct weir_shape *shape, const struct weir_count *w,
				     u32 slot)
{
	const u8 late = 30;

	/* Most counts that are turned have no mark. */
	return (u8)((slot >> shape->mark_shift) - READ_ONCE(w->refused) + late) <=
	       shape->marks + 1 + late &&
	       (s32)(slot - w->at) >> shape->mark_shift <= 2 * shape->marks + 1;
}

/*
 * Mark a refusal, once a slot, with the refused cost: rounded up to four significant
 * bits and at most 15 * 2^30, so that it fits a byte.
 */
static inline void weir_count_mark(const struct weir_shape *shape, struct weir_count *w, u32 slot,
				   u64 cost)
{
	unsigned int shift;

	slot >>= shape->mark_shift;
	/* Pairs with other refusals, and with turns, which may undo it. */
	if (READ_ONCE(w->refused) == (u8)slot)
		return;
	shift = max(fls64(cost), 4) - 4;
	WRITE_ONCE(w->wanted, min_t(u64, 8 * shift + ((cost - 1) >> shift) + 1, U8_MAX));
	WRITE_ONCE(w->refused, slot);
}

/* The cost by which to tell whether a source is limited in a slot: that refused, or 1. */
static inline u64 weir_count_wanted(const struct weir_shape *shape, const struct weir_count *w,
				    u32 slot)
{
	u8 wanted;

	if (!weir_count_marked(shape, w, slot))
		return 1;
	/* Pairs with weir_count_mark() without a lock. */
	wanted = READ_ONCE(w->wanted);
	return wanted < 16 ? wanted : (8ull | (wanted & 7)) << (wanted / 8 - 1);
}

/* Empty a count. */
static inline void weir_count_init(const struct weir_shape *shape, struct weir_count *w, u32 slot)
{
	/* But for the mark, which other CPUs read without a lock. */
	memset(w->cell, 0, shape->size - offsetof(struct weir_count, cell));
	w->at = slot;
	if (shape->kind == WEIR_COUNT_LOG)
		weir_log_clear(shape, w, 0);
	weir_count_unmark(shape, w);
}

/* The sum of the window that ends in a slot. */
static inline u64 weir_count_sum(const struct weir_shape *shape, const struct weir_count *w,
				 u32 slot)
{
	if (likely(shape->kind == WEIR_COUNT_RING))
		return weir_ring_sum(shape, w, slot);
	return shape->kind == WEIR_COUNT_LEAK ? weir_leak_sum(shape, w, slot) :
	       weir_log_sum(shape, w, slot);
}

/* Is there no room for a cost in a slot? Of a bucket or log, @budget is at least @cost. */
static inline bool weir_count_full(const struct weir_shape *shape, const struct weir_count *w,
				   u32 slot, u64 cost, u64 budget)
{
	if (likely(shape->kind == WEIR_COUNT_RING))
		return weir_ring_full(shape, w, slot, cost, budget);
	return shape->kind == WEIR_COUNT_LEAK ? weir_leak_full(shape, w, slot, cost, budget) :
	       weir_log_wait(shape, w, slot, cost, budget);
}

/* Slots from @slot, not before the last turn, until a cost fits, if nothing else is charged. */
static inline u32 weir_count_wait(const struct weir_shape *shape, const struct weir_count *w,
				  u32 slot, u64 cost, u64 budget)
{
	if (likely(shape->kind == WEIR_COUNT_RING))
		return weir_ring_wait(shape, w, slot, cost, budget);
	return shape->kind == WEIR_COUNT_LEAK ? weir_leak_wait(shape, w, slot, cost, budget) :
	       weir_log_wait(shape, w, slot, cost, budget);
}

/* Turn a count to a slot, if that is later. */
static inline void weir_count_advance(const struct weir_shape *shape, struct weir_count *w,
				      u32 slot)
{
	bool marked;

	if ((s32)(slot - w->at) <= 0)
		return;
	marked = weir_count_marked(shape, w, slot);
	if (likely(shape->kind == WEIR_COUNT_RING))
		weir_ring_advance(shape, w, slot);
	else if (shape->kind == WEIR_COUNT_LEAK)
		weir_leak_advance(shape, w, slot);
	else
		weir_log_advance(shape, w, slot);
	if (!marked)
		weir_count_unmark(shape, w);
}

/* Count a cost, after a turn, for which there is room. */
static inline void weir_count_add(const struct weir_shape *shape, struct weir_count *w, u64 cost)
{
	if (likely(shape->kind == WEIR_COUNT_RING))
		weir_ring_add(shape, w, cost);
	else if (shape->kind == WEIR_COUNT_LEAK)
		weir_leak_add(shape, w, cost);
	else
		weir_log_add(shape, w, cost);
}

/* Give back a charge, if the slot is in the window and still holds it. */
static inline bool weir_count_undo(const struct weir_shape *shape, struct weir_count *w, u32 slot,
				   u64 cost)
{
	if (likely(shape->kind == WEIR_COUNT_RING))
		return weir_ring_undo(shape, w, slot, cost);
	return shape->kind == WEIR_COUNT_LEAK ? weir_leak_undo(shape, w, slot, cost) :
	       weir_log_undo(shape, w, slot, cost);
}

/* Join two counts of the same slot into a bound of both; @v becomes the old @w. */
static inline void weir_count_join(const struct weir_shape *shape, struct weir_count *w,
				   struct weir_count *v)
{
	weir_count_unmark(shape, v);
	if (likely(shape->kind == WEIR_COUNT_RING))
		weir_ring_join(shape, w, v);
	else if (shape->kind == WEIR_COUNT_LEAK)
		weir_leak_join(shape, w, v);
	else
		weir_log_join(shape, w, v);
}

/* Add to a count another one of the same slot, of what was counted elsewhere. */
static inline void weir_count_plus(const struct weir_shape *shape, struct weir_count *w,
				   const struct weir_count *v)
{
	if (shape->kind == WEIR_COUNT_RING)
		weir_ring_plus(shape, w, v);
	else if (shape->kind == WEIR_COUNT_LEAK)
		weir_leak_plus(shape, w, v, weir_shape_max(shape) * shape->parts);
	else
		weir_log_plus(shape, w, v);
}

#endif /* WEIR_COUNT_H */
