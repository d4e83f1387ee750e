/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the counts of a table have in common, and how they are stored.
 *
 * A leaky bucket (the generic cell rate algorithm, ITU-T I.371) has a level in place of
 * the ring: a charge of c raises it by c * parts, and each slot lowers it by rate,
 * down to 0. It admits what fits below its size. Its parts are the slots of the window, and
 * its rate is the budget, so it drains by a budget a window without a division.
 */
#ifndef WEIR_SHAPE_H
#define WEIR_SHAPE_H

#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>

/* Common to all wheels of a table. */
struct weir_wheel_shape {
	u8 reach;	/* slots summed besides the current one, 0..64 */
	u8 mask;	/* entries of the ring, a power of two, less one */
	u8 width;	/* bytes of an entry: 2, 4 or 8 */
	u8 entries;	/* of a log, otherwise 0 */
	u32 parts;	/* of a leaky bucket, that a packet or byte has; slots of a log's window */
	u64 rate;	/* parts that leak in a slot */
};

/*
 * A leaky bucket may hold so many budgets, and by reservations twice that and a slot's: then
 * it drains within 2^30 slots, and the level has 64 bits.
 */
#define WEIR_BURST_BUDGETS	4096u
#define WEIR_PARTS_MAX		BIT(16)

struct weir_calendar;

/* One count of a table: its shape, its clock, and where its wheels are. */
struct weir_count {
	struct weir_wheel_shape shape;
	u64 slot_inverse;	/* of @slot_ticks, see weir_slot_of(); 0: slots do not tick */
	u32 slot;		/* the current one, if they do not tick, else 0 */
	const struct weir_calendar *calendar;	/* that numbers them, or NULL */
	u64 window;		/* slots of the window, in ticks; the most if it never ends */
	u32 slot_ticks;		/* length of a slot, nominal with @calendar; 0 if it never ends */
	u16 off;		/* of its wheel behind the first one of a way or floor */
	u8 slot_shift;		/* log2 of @slot_ticks, rounded up */
	bool bytes;		/* it counts bytes, otherwise packets */
};

/* A log has so many slots in a window at most, and so many entries. */
#define WEIR_LOG_SLOTS		BIT(24)
#define WEIR_LOG_ENTRIES	56u

/* One source's counts; aligned to 8 bytes if entries are wider than two. */
struct weir_wheel {
	u32 at;		/* slot of the last turn */
	u8 refused;	/* slot of the last refusal, see weir_wheel_marked() */
	u8 wanted;	/* first cost refused in it, see weir_wheel_mark() */
	u16 entry[];	/* total and ring, or level; wider ones begin 8 bytes after @at */
};

static inline struct weir_wheel_shape weir_wheel_shape(unsigned int slots, bool lenient, u8 width)
{
	u8 reach = slots - lenient, mask = roundup_pow_of_two(reach + 1) - 1;

	return (struct weir_wheel_shape) { .reach = reach, .mask = mask, .width = width };
}

/* Of a leaky bucket that drains by @rate in a window of @slots. */
static inline struct weir_wheel_shape weir_leak_shape(u32 slots, u64 rate)
{
	return (struct weir_wheel_shape) { .width = 8, .parts = slots, .rate = rate };
}

/* Of a log of so many packets within @slots slots and the current one. */
static inline struct weir_wheel_shape weir_log_shape(u32 slots, u8 entries)
{
	return (struct weir_wheel_shape) { .width = 4, .entries = entries, .parts = slots };
}

/* Of a count that is not a log: the compiler leaves out what only logs need. */
static inline struct weir_wheel_shape weir_shape_unlogged(struct weir_wheel_shape shape)
{
	shape.entries = 0;
	return shape;
}

static inline size_t weir_wheel_size(struct weir_wheel_shape shape)
{
	if (shape.entries)
		return 8 + 4 * shape.entries;
	return (shape.width == 2 ? offsetof(struct weir_wheel, entry) : 8) +
	       shape.width * (shape.mask + 2u);
}

/* The largest count, and so the largest budget, that a width holds. */
static inline u64 weir_wheel_max(u8 width)
{
	return width == 2 ? U16_MAX : width == 4 ? U32_MAX : U64_MAX;
}

/* Likewise, a shape; more than twice the largest size of a bucket has no effect. */
static inline u64 weir_shape_max(struct weir_wheel_shape shape)
{
	if (shape.entries)
		return shape.entries;
	if (!shape.parts)
		return weir_wheel_max(shape.width);
	return min(div_u64(U64_MAX, shape.parts),
		   shape.rate > U64_MAX / WEIR_BURST_BUDGETS / 2 ?
		   U64_MAX : shape.rate * WEIR_BURST_BUDGETS * 2);
}

/*
 * tick / slot_ticks by a multiplication, exact for all ticks below 2^63:
 * T. Granlund, P. L. Montgomery, Division by Invariant Integers using
 * Multiplication, PLDI 1994, theorem 4.2, with N = 63.
 */
static inline u64 weir_slot_of(u64 tick, u64 inverse, u8 shift)
{
	return mul_u64_u64_shr(tick << 1, inverse, 64) >> shift;
}

static inline u64 weir_count_slot(const struct weir_count *count, u64 tick)
{
	/* One of the two is 0. Pairs with the timer of a calendar. */
	return weir_slot_of(tick, count->slot_inverse, count->slot_shift) + READ_ONCE(count->slot);
}

/* Slots that are like the current one: in which a count does not drop by much. */
static inline u32 weir_shape_window(struct weir_wheel_shape shape)
{
	return shape.parts ?: shape.reach;
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

/* The level of a leaky bucket in a slot. */
static inline u64 weir_wheel_level(struct weir_wheel_shape shape,
				   const struct weir_wheel *w, u32 slot)
{
	u64 level = weir_wheel_entry(shape, w, 0), left;
	s32 passed = slot - w->at;

	if (passed <= 0)
		return level;
	return check_mul_overflow(shape.rate, (u64)passed, &left) || left >= level ? 0 :
	       level - left;
}

/* The level in packets or bytes, rounded up. Out of line, for the sake of wheels. */
static inline __cold u64 weir_leak_sum(struct weir_wheel_shape shape,
				       const struct weir_wheel *w, u32 slot)
{
	u64 level = weir_wheel_level(shape, w, slot);

	return level ? div_u64(level - 1, shape.parts) + 1 : 0;
}

/*
 * Give back a charge to a leaky bucket, without what has drained since: one that was
 * empty in the meantime would have drained less without the charge.
 */
static inline bool weir_leak_uncharge(struct weir_wheel_shape shape,
				      struct weir_wheel *w, u32 age, u64 cost)
{
	u64 level = weir_wheel_entry(shape, w, 0), left;

	cost *= shape.parts;
	if (check_mul_overflow(shape.rate, (u64)age, &left) || left >= cost ||
	    level < cost - left)
		return false;
	weir_wheel_store(shape, w, 0, level - (cost - left));
	return true;
}

/*
 * A leaky bucket was just charged beyond its size: slots until the charge is due, when the
 * level is the size. What leaks until then and was not there before the charge must not leak
 * from it.
 */
static inline u32 weir_leak_due(struct weir_wheel_shape shape, struct weir_wheel *w, u64 cost,
				u64 size)
{
	u64 level = weir_wheel_entry(shape, w, 0), wait;

	if (level <= size * shape.parts)
		return 0;
	wait = div64_u64(level - size * shape.parts - 1, shape.rate) + 1;
	weir_wheel_store(shape, w, 0, max(level, shape.rate * wait + cost * shape.parts));
	return wait;
}

#endif /* WEIR_SHAPE_H */
