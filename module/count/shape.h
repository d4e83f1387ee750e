/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the counts of a table have in common, and how they are stored.
 */
#ifndef WEIR_SHAPE_H
#define WEIR_SHAPE_H

#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>

enum weir_count_kind {
	WEIR_COUNT_RING,	/* ring.h */
	WEIR_COUNT_LEAK,	/* leak.h */
	WEIR_COUNT_LOG,		/* log.h */
};

/* Common to all counts of a table that have the same budget. */
struct weir_shape {
	u8 kind;	/* enum weir_count_kind */
	u8 reach;	/* of a ring: slots summed besides the current one, 0..64 */
	union {
		u8 mask;	/* of a ring: cells, a power of two, less one */
		u8 cells;	/* of a log */
	};
	u8 width;	/* bytes of a cell: 2, 4 or 8 */
	u8 marks;	/* groups of slots besides the current one that a mark holds for */
	u8 mark_shift;	/* log2 of the slots in a group */
	u16 size;	/* bytes of a count */
	u32 parts;	/* of a leaky bucket, that a packet or byte has; slots of a log's window */
	u64 rate;	/* of a leaky bucket: parts that leak in a slot */
};

/*
 * A leaky bucket may hold so many budgets, and by reservations twice that and a slot's: then
 * it drains within 2^30 slots, and the level has 64 bits.
 */
#define WEIR_BURST_BUDGETS	4096u
#define WEIR_PARTS_MAX		BIT(16)

/* A log has so many slots in a window at most, and so many cells. */
#define WEIR_LOG_SLOTS		BIT(24)
#define WEIR_LOG_CELLS	56u

/* One source's count; aligned to 8 bytes if cells are wider than two. */
struct weir_count {
	u32 at;		/* slot of the last turn */
	u8 refused;	/* slot of the last refusal, see weir_count_marked() */
	u8 wanted;	/* first cost refused in it, see weir_count_mark() */
	u16 cell[];	/* total and ring, or level; wider ones begin 8 bytes after @at */
};

/* A ring of @slots slots to a window. */
static inline struct weir_shape weir_ring_shape(unsigned int slots, bool lenient, u8 width)
{
	u8 reach = slots - lenient, mask = roundup_pow_of_two(reach + 1) - 1;
	u16 head = width == 2 ? offsetof(struct weir_count, cell) : 8;

	return (struct weir_shape) {
		.kind = WEIR_COUNT_RING, .reach = reach, .mask = mask, .width = width,
		.marks = reach, .size = head + width * (mask + 2u),
	};
}

/*
 * A leaky bucket that drains by @rate in a window of @slots. Its marks, and a log's, are by
 * groups of slots, 8 to 15 of which are a window.
 */
static inline struct weir_shape weir_leak_shape(u32 slots, u64 rate)
{
	return (struct weir_shape) {
		.kind = WEIR_COUNT_LEAK, .width = 8, .marks = 15, .mark_shift = fls(slots >> 4),
		.size = 8 + 8, .parts = slots, .rate = rate,
	};
}

/* A log of so many packets within @slots slots and the current one. */
static inline struct weir_shape weir_log_shape(u32 slots, u8 cells)
{
	return (struct weir_shape) {
		.kind = WEIR_COUNT_LOG, .cells = cells, .width = 4, .marks = 15,
		.mark_shift = fls(slots >> 4), .size = 8 + 4 * cells, .parts = slots,
	};
}

/* The largest count, and so the largest budget, that a width holds. */
static inline u64 weir_width_max(u8 width)
{
	return width == 2 ? U16_MAX : width == 4 ? U32_MAX : U64_MAX;
}

/* The narrowest width that holds a budget. */
static inline u8 weir_width_of(u64 budget)
{
	return budget <= U16_MAX ? 2 : budget <= U32_MAX ? 4 : 8;
}

/* Of a ring cell 0 is the total, cell 1 + (k & mask) belongs to slot k. */
static inline u64 weir_count_cell(const struct weir_shape *shape, const struct weir_count *w,
				  unsigned int i)
{
	if (likely(shape->width == 2))
		return w->cell[i];
	if (shape->width == 4)
		return ((const u32 *)w)[2 + i];
	return ((const u64 *)w)[1 + i];
}

static inline void weir_count_store(const struct weir_shape *shape, struct weir_count *w,
				    unsigned int i, u64 v)
{
	if (likely(shape->width == 2))
		w->cell[i] = v;
	else if (shape->width == 4)
		((u32 *)w)[2 + i] = v;
	else
		((u64 *)w)[1 + i] = v;
}

#endif /* WEIR_SHAPE_H */
