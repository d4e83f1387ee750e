/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The count of one source as a leaky bucket (the generic cell rate algorithm, ITU-T I.371): a
 * charge of c raises its level by c * parts, and each slot lowers it by rate, down to 0. It
 * admits what fits below its size. Its parts are the slots of the window, and its rate is the
 * budget, so it drains by a budget a window without a division.
 */
#ifndef WEIR_LEAK_H
#define WEIR_LEAK_H

#include "count/shape.h"

/* The level in a slot. */
static inline u64 weir_leak_level(const struct weir_shape *shape, const struct weir_count *w,
				  u32 slot)
{
	u64 level = weir_count_cell(shape, w, 0), left;
	s32 passed = slot - w->at;

	if (passed <= 0)
		return level;
	return check_mul_overflow(shape->rate, (u64)passed, &left) || left >= level ? 0 :
	       level - left;
}

/* The level in packets or bytes, rounded up. Out of line, for the sake of rings. */
static inline __cold u64 weir_leak_sum(const struct weir_shape *shape, const struct weir_count *w,
				       u32 slot)
{
	u64 level = weir_leak_level(shape, w, slot);

	return level ? div_u64(level - 1, shape->parts) + 1 : 0;
}

static inline bool weir_leak_full(const struct weir_shape *shape, const struct weir_count *w,
				  u32 slot, u64 cost, u64 budget)
{
	return weir_leak_level(shape, w, slot) > (budget - cost) * shape->parts;
}

static inline u32 weir_leak_wait(const struct weir_shape *shape, const struct weir_count *w,
				 u32 slot, u64 cost, u64 budget)
{
	u64 above = weir_leak_level(shape, w, slot);

	above -= min(above, (budget - cost) * shape->parts);
	return above ? div64_u64(above - 1, shape->rate) + 1 : 0;
}

static inline void weir_leak_add(const struct weir_shape *shape, struct weir_count *w, u64 cost)
{
	weir_count_store(shape, w, 0, weir_count_cell(shape, w, 0) + cost * shape->parts);
}

/*
 * Without what has drained since the charge: a bucket that was empty in the meantime would have
 * drained less without it.
 */
static inline bool weir_leak_undo(const struct weir_shape *shape, struct weir_count *w, u32 slot,
				  u64 cost)
{
	u64 level = weir_count_cell(shape, w, 0), left;
	s32 age = w->at - slot;

	cost *= shape->parts;
	if (age < 0 || check_mul_overflow(shape->rate, (u64)age, &left) || left >= cost ||
	    level < cost - left)
		return false;
	weir_count_store(shape, w, 0, level - (cost - left));
	return true;
}

static inline void weir_leak_advance(const struct weir_shape *shape, struct weir_count *w, u32 slot)
{
	weir_count_store(shape, w, 0, weir_leak_level(shape, w, slot));
	w->at = slot;
}

/* By the larger level. */
static inline void weir_leak_join(const struct weir_shape *shape, struct weir_count *w,
				  struct weir_count *v)
{
	u64 level_w = weir_count_cell(shape, w, 0), level_v = weir_count_cell(shape, v, 0);

	weir_count_store(shape, w, 0, max(level_w, level_v));
	weir_count_store(shape, v, 0, level_w);
}

/* By both levels, at most @most; @v is of the same slot. */
static inline void weir_leak_plus(const struct weir_shape *shape, struct weir_count *w,
				  const struct weir_count *v, u64 most)
{
	u64 level;

	if (check_add_overflow(weir_count_cell(shape, w, 0), weir_count_cell(shape, v, 0), &level))
		level = most;
	weir_count_store(shape, w, 0, min(level, most));
}

/*
 * A leaky bucket was just charged beyond its size: slots until the charge is due, when the
 * level is the size. What leaks until then and was not there before the charge must not leak
 * from it.
 */
static inline u32 weir_leak_due(const struct weir_shape *shape, struct weir_count *w, u64 cost,
				u64 size)
{
	u64 level = weir_count_cell(shape, w, 0), wait;

	if (level <= size * shape->parts)
		return 0;
	wait = div64_u64(level - size * shape->parts - 1, shape->rate) + 1;
	weir_count_store(shape, w, 0, max(level, shape->rate * wait + cost * shape->parts));
	return wait;
}

#endif /* WEIR_LEAK_H */
