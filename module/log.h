/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The count of one source as a log: the slots of the last packets, in a ring. Its slots are
 * so short that it is exact to the clock's tick for windows of up to WEIR_LOG_SLOTS ticks.
 *
 * There is room for one more within a budget L if the L-th last packet has left the
 * window, so one entry is read. Entries that have left it stay until they are overwritten,
 * or until the last packet has left it, too; so none gets older than entries * (parts + 1)
 * slots, which is below 2^31.
 */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H

#include "shape.h"

/* The i-th last entry, from 0 on. */
static inline u32 *weir_log_entry(struct weir_wheel_shape shape, struct weir_wheel *w, u32 i)
{
	u32 newest = w->entry[0];

	return (u32 *)w + 2 + (newest >= i ? newest - i : newest + shape.entries - i);
}

static inline u32 weir_log_read(struct weir_wheel_shape shape, const struct weir_wheel *w, u32 i)
{
	return *weir_log_entry(shape, (struct weir_wheel *)w, i);
}

/* Entries from a slot on. */
static inline u64 weir_log_since(struct weir_wheel_shape shape,
				 const struct weir_wheel *w, u32 slot)
{
	u32 i = 0;

	while (i < shape.entries && (s32)(weir_log_read(shape, w, i) - slot) >= 0)
		i++;
	return i;
}

/* The first slot of the window that ends in a slot, or in the log's if that is later. */
static inline u32 weir_log_first(struct weir_wheel_shape shape,
				 const struct weir_wheel *w, u32 slot)
{
	return ((s32)(slot - w->at) > 0 ? slot : w->at) - shape.parts;
}

static inline u64 weir_log_sum(struct weir_wheel_shape shape,
			       const struct weir_wheel *w, u32 slot)
{
	return weir_log_since(shape, w, weir_log_first(shape, w, slot));
}

/* Slots until @cost, at most @budget, fits. */
static inline u32 weir_log_wait(struct weir_wheel_shape shape, const struct weir_wheel *w,
				u32 slot, u64 cost, u64 budget)
{
	s32 left;

	if (budget - cost >= shape.entries)
		return 0;
	left = weir_log_read(shape, w, budget - cost) - weir_log_first(shape, w, slot);
	return left < 0 ? 0 : left + 1;
}

/* Forget all but the newest @left entries. */
static inline void weir_log_clear(struct weir_wheel_shape shape, struct weir_wheel *w, u32 left)
{
	for (; left < shape.entries; left++)
		*weir_log_entry(shape, w, left) = w->at - shape.parts - 1;
}

static inline void weir_log_turn(struct weir_wheel_shape shape, struct weir_wheel *w, u32 slot)
{
	w->at = slot;
	if ((s32)(weir_log_read(shape, w, 0) - slot + shape.parts) < 0)
		weir_log_clear(shape, w, 0);
}

/* Count a cost, at most as many as there are entries. */
static inline void weir_log_add(struct weir_wheel_shape shape, struct weir_wheel *w, u64 cost)
{
	for (; cost; cost--) {
		w->entry[0] = w->entry[0] + 1 == shape.entries ? 0 : w->entry[0] + 1;
		*weir_log_entry(shape, w, 0) = w->at;
	}
}

/* Fill a log with the newest entries of another one, of slots as long, at the same slot. */
static inline void weir_log_copy(struct weir_wheel_shape shape, struct weir_wheel *w,
				 struct weir_wheel_shape of, const struct weir_wheel *v)
{
	u32 i, both = min(shape.entries, of.entries);

	for (i = 0; i < both; i++)
		*weir_log_entry(shape, w, i) = weir_log_read(of, v, i);
}

/* Give back a charge, if the log still has it. */
static inline bool weir_log_uncharge(struct weir_wheel_shape shape, struct weir_wheel *w,
				     u32 slot, u64 cost)
{
	u64 first = weir_log_since(shape, w, slot + 1);
	u32 i;

	if ((s32)(slot - weir_log_first(shape, w, slot)) < 0 ||
	    weir_log_since(shape, w, slot) - first < cost)
		return false;
	for (i = first; i + cost < shape.entries; i++)
		*weir_log_entry(shape, w, i) = weir_log_read(shape, w, i + cost);
	weir_log_clear(shape, w, i);
	return true;
}

/* As weir_wheel_join_swap(): the i-th last is the later one. */
static inline void weir_log_join_swap(struct weir_wheel_shape shape, struct weir_wheel *w,
				      struct weir_wheel *v)
{
	u32 *of_w, *of_v, i;

	for (i = 0; i < shape.entries; i++) {
		of_w = weir_log_entry(shape, w, i);
		of_v = weir_log_entry(shape, v, i);
		if ((s32)(*of_v - *of_w) > 0)
			swap(*of_w, *of_v);
		else
			*of_v = *of_w;
	}
}

#endif /* WEIR_LOG_H */
