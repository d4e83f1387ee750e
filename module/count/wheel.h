/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The count of one source: a wheel, or a leaky bucket (shape.h), or a log (log.h).
 *
 * A wheel is what was admitted within the window, as a running total and its history.
 *
 * Time is divided into numbered slots, n to a window. total is everything that was
 * ever admitted, modulo its width; ring[k & mask] is its value when slot k began.
 * So total - ring[j & mask] was admitted from slot j on, a charge is one addition,
 * and a turn stores total once for each slot that begins. With n = 4:
 *
 *	slot k           4    5    6    7    8    9
 *	total at begin  17   17   20   20   21   21    total 23
 *	admitted         0    3    0    1    0    2
 *	                     '------ 23 - 17 = 6 ----'
 *
 * A strict wheel reaches back n slots: every interval of the window's length lies within
 * n + 1 slots, wherever it starts. A lenient wheel reaches back n - 1. Slots are stored modulo
 * 2^32; no wheel is left alone for 2^31. A charge with an earlier slot counts in the current
 * one. The caller serialises; "full" and "marked" may be read in a seqcount.
 */
#ifndef WEIR_WHEEL_H
#define WEIR_WHEEL_H

#include "count/log.h"
#include "count/shape.h"

/* What a bucket or a log counts in a slot. Out of line, for the sake of wheels. */
static inline __cold u64 weir_parts_sum(struct weir_wheel_shape shape, const struct weir_wheel *w,
					u32 slot)
{
	return shape.entries ? weir_log_sum(shape, w, slot) : weir_leak_sum(shape, w, slot);
}

/* S[slot]: what was counted from a slot on; at - reach <= slot <= at. */
static inline u64 weir_wheel_since(struct weir_wheel_shape shape,
				   const struct weir_wheel *w, u32 slot)
{
	if (unlikely(shape.parts))
		return weir_parts_sum(shape, w, slot);
	return (weir_wheel_entry(shape, w, 0) -
		weir_wheel_entry(shape, w, 1 + (slot & shape.mask))) & weir_wheel_max(shape.width);
}

/* What was counted @age slots before the wheel's current slot. */
static inline u64 weir_wheel_slot(struct weir_wheel_shape shape,
				  const struct weir_wheel *w, unsigned int age)
{
	return weir_wheel_since(shape, w, w->at - age) -
	       (age ? weir_wheel_since(shape, w, w->at - age + 1) : 0);
}

/* The sum of the window that ends in a slot. */
static inline u64 weir_wheel_sum(struct weir_wheel_shape shape,
				 const struct weir_wheel *w, u32 slot)
{
	s32 passed = slot - w->at;

	if (unlikely(shape.parts))
		return weir_parts_sum(shape, w, slot);
	if (passed > shape.reach)
		return 0;
	return weir_wheel_since(shape, w, w->at + max(passed, 0) - shape.reach);
}

/* What orders counts as sums do, and is cheap. */
static inline u64 weir_wheel_weight(struct weir_wheel_shape shape,
				    const struct weir_wheel *w, u32 slot)
{
	if (unlikely(shape.parts && !shape.entries))
		return weir_wheel_level(shape, w, slot);
	return weir_wheel_sum(shape, w, slot);
}

/* Is there no room for a cost in a slot? Of a bucket or log, @budget is at least @cost. */
static inline bool weir_wheel_full(struct weir_wheel_shape shape,
				   const struct weir_wheel *w, u32 slot, u64 cost, u64 budget)
{
	u64 sum;

	if (unlikely(shape.parts))
		return shape.entries ? weir_log_wait(shape, w, slot, cost, budget) :
		       weir_wheel_level(shape, w, slot) > (budget - cost) * shape.parts;
	sum = weir_wheel_sum(shape, w, slot);
	return sum > budget || cost > budget - sum;
}

/* Slots of a bucket or log are marked by groups, 8 to 15 of which are a window. */
static inline unsigned int weir_wheel_mark_shift(struct weir_wheel_shape shape)
{
	return shape.parts ? fls(shape.parts >> 4) : 0;
}

/* Clear the mark of a refusal; pairs with weir_wheel_mark() without a lock. */
static inline void weir_wheel_unmark(struct weir_wheel_shape shape, struct weir_wheel *w)
{
	WRITE_ONCE(w->refused, (w->at >> weir_wheel_mark_shift(shape)) + 160);
}

/*
 * Was a refusal marked in this slot, or within a window and a slot before it? A
 * mark may be @reach slots ahead of the wheel, and 30 ahead of a late clock. A turn
 * clears stale marks before they alias.
 */
static inline bool weir_wheel_marked(struct weir_wheel_shape shape,
				     const struct weir_wheel *w, u32 slot)
{
	const unsigned int shift = weir_wheel_mark_shift(shape);
	const u8 late = 30, reach = shape.parts ? 15 : shape.reach;

	return (s32)(slot - w->at) >> shift <= 2 * reach + 1 &&
	       (u8)((slot >> shift) - READ_ONCE(w->refused) + late) <= reach + 1 + late;
}

/*
 * Mark a refusal, once a slot, with the refused cost: rounded up to four significant
 * bits and at most 15 * 2^30, so that it fits a byte.
 */
static inline void weir_wheel_mark(struct weir_wheel_shape shape, struct weir_wheel *w,
				   u32 slot, u64 cost)
{
	unsigned int shift;

	slot >>= weir_wheel_mark_shift(shape);
	/* Pairs with other refusals, and with turns, which may undo it. */
	if (READ_ONCE(w->refused) == (u8)slot)
		return;
	shift = max(fls64(cost), 4) - 4;
	WRITE_ONCE(w->wanted, min_t(u64, 8 * shift + ((cost - 1) >> shift) + 1, U8_MAX));
	WRITE_ONCE(w->refused, slot);
}

/* The cost by which to tell whether a source is limited: that refused, or 1. */
static inline u64 weir_wheel_wanted(struct weir_wheel_shape shape, const struct weir_wheel *w)
{
	if (!weir_wheel_marked(shape, w, w->at))
		return 1;
	return w->wanted < 16 ? w->wanted : (8ull | (w->wanted & 7)) << (w->wanted / 8 - 1);
}

static inline void weir_wheel_reset(struct weir_wheel_shape shape, struct weir_wheel *w, u32 slot)
{
	/* But for the mark, which other CPUs read without a lock. */
	memset(w->entry, 0, weir_wheel_size(shape) - offsetof(struct weir_wheel, entry));
	w->at = slot;
	if (shape.entries)
		weir_log_clear(shape, w, 0);
	weir_wheel_unmark(shape, w);
}

static inline void weir_wheel_turn(struct weir_wheel_shape shape, struct weir_wheel *w, u32 slot)
{
	u64 total = weir_wheel_entry(shape, w, 0);
	s32 passed = slot - w->at, i;
	bool marked;

	if (passed <= 0)
		return;
	marked = weir_wheel_marked(shape, w, slot);
	if (shape.entries)
		weir_log_turn(shape, w, slot);
	else if (shape.parts)
		weir_wheel_store(shape, w, 0, weir_wheel_level(shape, w, slot));
	else
		for (i = min_t(s32, passed, shape.mask + 1); i; i--)
			weir_wheel_store(shape, w, 1 + ((slot - i + 1) & shape.mask), total);
	w->at = slot;
	if (!marked)
		weir_wheel_unmark(shape, w);
}

/* Count a cost in a turned wheel that has room for it. */
static inline void weir_wheel_add(struct weir_wheel_shape shape, struct weir_wheel *w, u64 cost)
{
	if (unlikely(shape.parts && !shape.entries))
		cost *= shape.parts;
	if (shape.entries)
		weir_log_add(shape, w, cost);
	else
		weir_wheel_store(shape, w, 0, weir_wheel_entry(shape, w, 0) + cost);
}

/* Give back a charge, if the slot is in the window and still holds it. */
static inline bool weir_wheel_uncharge(struct weir_wheel_shape shape,
				       struct weir_wheel *w, u32 slot, u64 cost)
{
	s32 age = w->at - slot;
	u32 i;

	if (shape.parts)
		return shape.entries ? weir_log_uncharge(shape, w, slot, cost) :
		       age >= 0 && weir_leak_uncharge(shape, w, age, cost);
	if (age < 0 || age > shape.reach || weir_wheel_slot(shape, w, age) < cost)
		return false;
	weir_wheel_store(shape, w, 0, weir_wheel_entry(shape, w, 0) - cost);
	for (i = slot + 1; age; age--, i++)
		weir_wheel_store(shape, w, 1 + (i & shape.mask),
				 weir_wheel_entry(shape, w, 1 + (i & shape.mask)) - cost);
	return true;
}

/* Slots until a cost fits, if nothing else is charged. */
static inline unsigned int weir_wheel_peek(struct weir_wheel_shape shape,
					   const struct weir_wheel *w, u64 cost, u64 budget)
{
	unsigned int wait = 0;
	u64 above;

	if (shape.entries)
		return weir_log_wait(shape, w, w->at, cost, budget);
	if (shape.parts) {
		above = weir_wheel_level(shape, w, w->at);
		above -= min(above, (budget - cost) * shape.parts);
		return above ? div64_u64(above - 1, shape.rate) + 1 : 0;
	}
	while (wait <= shape.reach && weir_wheel_full(shape, w, w->at + wait, cost, budget))
		wait++;
	return wait;
}

/* Join two wheels of the same slot, by the larger suffix sums; @v becomes the old @w. */
static inline void weir_wheel_join_swap(struct weir_wheel_shape shape, struct weir_wheel *w,
					struct weir_wheel *v)
{
	u64 total_w = weir_wheel_entry(shape, w, 0), began_w;
	u64 total_v = weir_wheel_entry(shape, v, 0), began_v;
	u64 above = total_v - total_w, max_count = weir_wheel_max(shape.width);
	unsigned int i;

	weir_wheel_unmark(shape, v);
	if (shape.entries) {
		weir_log_join_swap(shape, w, v);
		return;
	}
	if (shape.parts) {
		weir_wheel_store(shape, w, 0, max(total_w, total_v));
		weir_wheel_store(shape, v, 0, total_w);
		return;
	}
	for (i = 1; i < shape.mask + 2u; i++) {
		began_w = weir_wheel_entry(shape, w, i);
		began_v = weir_wheel_entry(shape, v, i);
		weir_wheel_store(shape, v, i, began_w + above);
		if (((total_v - began_v) & max_count) > ((total_w - began_w) & max_count))
			weir_wheel_store(shape, w, i, began_v - above);
	}
}

#endif /* WEIR_WHEEL_H */
