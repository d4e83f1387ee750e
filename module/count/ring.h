/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The count of one source as a ring: what was admitted within the window, as a running total
 * and its history.
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
 * A strict ring reaches back n slots: every interval of the window's length lies within
 * n + 1 slots, wherever it starts. A lenient ring reaches back n - 1.
 */
#ifndef WEIR_RING_H
#define WEIR_RING_H

#include "count/shape.h"

/* S[slot]: what was counted from a slot on; at - reach <= slot <= at. */
static inline u64 weir_ring_since(const struct weir_shape *shape, const struct weir_count *w,
				  u32 slot)
{
	return (weir_count_cell(shape, w, 0) -
		weir_count_cell(shape, w, 1 + (slot & shape->mask))) &
	       weir_width_max(shape->width);
}

/* What was counted @age slots before the current slot. */
static inline u64 weir_ring_slot(const struct weir_shape *shape, const struct weir_count *w,
				 unsigned int age)
{
	return weir_ring_since(shape, w, w->at - age) -
	       (age ? weir_ring_since(shape, w, w->at - age + 1) : 0);
}

static inline u64 weir_ring_sum(const struct weir_shape *shape, const struct weir_count *w,
				u32 slot)
{
	s32 passed = slot - w->at;

	if (passed > shape->reach)
		return 0;
	return weir_ring_since(shape, w, w->at + max(passed, 0) - shape->reach);
}

/* Has a ring of this sum no room for a cost? */
static inline bool weir_ring_over(u64 sum, u64 cost, u64 budget)
{
	return sum > budget || cost > budget - sum;
}

static inline bool weir_ring_full(const struct weir_shape *shape, const struct weir_count *w,
				  u32 slot, u64 cost, u64 budget)
{
	return weir_ring_over(weir_ring_sum(shape, w, slot), cost, budget);
}

static inline u32 weir_ring_wait(const struct weir_shape *shape, const struct weir_count *w,
				 u32 slot, u64 cost, u64 budget)
{
	u32 wait = 0, most = shape->reach + 1, i;

	if (!weir_ring_full(shape, w, slot, cost, budget))
		return 0;
	/* Sums fall as time passes. */
	while (wait < most) {
		i = (wait + most) / 2;
		if (weir_ring_full(shape, w, slot + i, cost, budget))
			wait = i + 1;
		else
			most = i;
	}
	return wait;
}

static inline void weir_ring_add(const struct weir_shape *shape, struct weir_count *w, u64 cost)
{
	weir_count_store(shape, w, 0, weir_count_cell(shape, w, 0) + cost);
}

static inline bool weir_ring_undo(const struct weir_shape *shape, struct weir_count *w, u32 slot,
				  u64 cost)
{
	s32 age = w->at - slot;
	u32 i;

	if (age < 0 || age > shape->reach || weir_ring_slot(shape, w, age) < cost)
		return false;
	weir_count_store(shape, w, 0, weir_count_cell(shape, w, 0) - cost);
	for (i = slot + 1; age; age--, i++)
		weir_count_store(shape, w, 1 + (i & shape->mask),
				 weir_count_cell(shape, w, 1 + (i & shape->mask)) - cost);
	return true;
}

/*
 * Most rings are of narrow cells: compiled for them, loops do not test the width. A copy of
 * the shape tells the compiler that stores to the ring do not change it.
 */
static inline struct weir_shape ring_narrow(const struct weir_shape *shape)
{
	return (struct weir_shape) { .reach = shape->reach, .mask = shape->mask, .width = 2 };
}

static inline void ring_advance(struct weir_count *w, u32 slot, const struct weir_shape shape)
{
	u64 total = weir_count_cell(&shape, w, 0);
	s32 i;

	for (i = min_t(s32, slot - w->at, shape.mask + 1); i; i--)
		weir_count_store(&shape, w, 1 + ((slot - i + 1) & shape.mask), total);
	w->at = slot;
}

static inline void weir_ring_advance(const struct weir_shape *shape, struct weir_count *w, u32 slot)
{
	if (likely(shape->width == 2))
		ring_advance(w, slot, ring_narrow(shape));
	else
		ring_advance(w, slot, *shape);
}

static inline void ring_join(struct weir_count *w, struct weir_count *v,
			     const struct weir_shape shape)
{
	u64 total_w = weir_count_cell(&shape, w, 0), began_w;
	u64 total_v = weir_count_cell(&shape, v, 0), began_v;
	u64 above = total_v - total_w, max_count = weir_width_max(shape.width);
	unsigned int i;

	for (i = 1; i < shape.mask + 2u; i++) {
		began_w = weir_count_cell(&shape, w, i);
		began_v = weir_count_cell(&shape, v, i);
		weir_count_store(&shape, v, i, began_w + above);
		if (((total_v - began_v) & max_count) > ((total_w - began_w) & max_count))
			weir_count_store(&shape, w, i, began_v - above);
	}
}

/* By the larger suffix sums. */
static inline void weir_ring_join(const struct weir_shape *shape, struct weir_count *w,
				  struct weir_count *v)
{
	if (likely(shape->width == 2))
		ring_join(w, v, ring_narrow(shape));
	else
		ring_join(w, v, *shape);
}

/* By both suffix sums, at most what fits the width; @v is of the same slot. */
static inline void weir_ring_plus(const struct weir_shape *shape, struct weir_count *w,
				  const struct weir_count *v)
{
	u64 total = weir_count_cell(shape, w, 0), most = weir_width_max(shape->width), sum;
	u32 age, slot;

	for (age = 0; age <= shape->reach; age++) {
		slot = w->at - age;
		if (check_add_overflow(weir_ring_since(shape, w, slot),
				       weir_ring_since(shape, v, slot), &sum))
			sum = most;
		weir_count_store(shape, w, 1 + (slot & shape->mask), total - min(sum, most));
	}
}

#endif /* WEIR_RING_H */
