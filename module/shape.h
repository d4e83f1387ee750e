/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a wheel is laid out in memory. What it counts is at the top of wheel.h.
 */
#ifndef WEIR_SHAPE_H
#define WEIR_SHAPE_H

#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/types.h>

/* Common to all wheels of a table. */
struct weir_wheel_shape {
	u8 reach;	/* slots summed besides the current one, 0..64 */
	u8 mask;	/* entries of the ring, a power of two, less one */
	u8 width;	/* bytes of an entry: 2, 4 or 8 */
};

/* One source's counts; aligned to 8 bytes if entries are wider than two. */
struct weir_wheel {
	u32 at;		/* slot of the last turn */
	u8 refused;	/* slot of the last refusal, see weir_wheel_marked() */
	u8 wanted;	/* first cost refused in it, see weir_wheel_mark() */
	u16 entry[];	/* total and ring; wider ones begin 8 bytes after @at */
};

/* The shape of wheels with a number of slots. */
static inline struct weir_wheel_shape
weir_wheel_shape(unsigned int slots, bool lenient, u8 width)
{
	u8 reach = slots - lenient, mask = roundup_pow_of_two(reach + 1) - 1;

	return (struct weir_wheel_shape) { reach, mask, width };
}

/* Bytes of a wheel. */
static inline size_t weir_wheel_size(struct weir_wheel_shape shape)
{
	return (shape.width == 2 ? offsetof(struct weir_wheel, entry) : 8) +
	       shape.width * (shape.mask + 2u);
}

/* The largest count, and so the largest budget, that a width holds. */
static inline u64 weir_wheel_max(u8 width)
{
	return width == 2 ? U16_MAX : width == 4 ? U32_MAX : U64_MAX;
}

/* The narrowest width that holds a budget. */
static inline u8 weir_wheel_width(u64 budget)
{
	return budget <= U16_MAX ? 2 : budget <= U32_MAX ? 4 : 8;
}

/* Entry 0 is the total, entry 1 + (k & mask) belongs to slot k. */
static inline u64 weir_wheel_entry(struct weir_wheel_shape shape,
				   const struct weir_wheel *w, unsigned int i)
{
	if (likely(shape.width == 2))
		return w->entry[i];
	if (shape.width == 4)
		return ((const u32 *)w)[2 + i];
	return ((const u64 *)w)[1 + i];
}

static inline void weir_wheel_store(struct weir_wheel_shape shape,
				    struct weir_wheel *w, unsigned int i, u64 v)
{
	if (likely(shape.width == 2))
		w->entry[i] = v;
	else if (shape.width == 4)
		((u32 *)w)[2 + i] = v;
	else
		((u64 *)w)[1 + i] = v;
}

#endif /* WEIR_SHAPE_H */
