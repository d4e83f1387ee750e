// SPDX-License-Identifier: GPL-2.0-only
/*
 * The count of one source as a log. See the top of log.h.
 */
#include <linux/minmax.h>

#include "count/log.h"

/* The i-th last cell, from 0 on. */
static u32 *log_entry(const struct weir_shape *shape, struct weir_count *w, u32 i)
{
	u32 newest = w->cell[0];

	return (u32 *)w + 2 + (newest >= i ? newest - i : newest + shape->cells - i);
}

u32 weir_log_slot(const struct weir_shape *shape, const struct weir_count *w, u32 i)
{
	return *log_entry(shape, (struct weir_count *)w, i);
}

/* Cells from a slot on. */
u64 weir_log_since(const struct weir_shape *shape, const struct weir_count *w, u32 slot)
{
	u32 i = 0;

	while (i < shape->cells && (s32)(weir_log_slot(shape, w, i) - slot) >= 0)
		i++;
	return i;
}

/* The first slot of the window that ends in a slot, or in the log's if that is later. */
static u32 log_first(const struct weir_shape *shape, const struct weir_count *w, u32 slot)
{
	return ((s32)(slot - w->at) > 0 ? slot : w->at) - shape->parts;
}

/* Has all that is in the log left the window by a slot? Its cells alias if that is far. */
static bool log_past(const struct weir_shape *shape, const struct weir_count *w, u32 slot)
{
	return (s32)(slot - w->at) > (s32)shape->parts;
}

u64 weir_log_sum(const struct weir_shape *shape, const struct weir_count *w, u32 slot)
{
	return log_past(shape, w, slot) ? 0 :
	       weir_log_since(shape, w, log_first(shape, w, slot));
}

/* Slots until @cost, at most @budget, fits. */
u32 weir_log_wait(const struct weir_shape *shape, const struct weir_count *w,
		  u32 slot, u64 cost, u64 budget)
{
	s32 left;

	if (budget - cost >= shape->cells || log_past(shape, w, slot))
		return 0;
	left = weir_log_slot(shape, w, budget - cost) - log_first(shape, w, slot);
	return left < 0 ? 0 : left + 1;
}

/*
 * Forget all but the newest @left cells. What is cleared is outside of any window, because
 * a log with a longer one may get a copy.
 */
void weir_log_clear(const struct weir_shape *shape, struct weir_count *w, u32 left)
{
	for (; left < shape->cells; left++)
		*log_entry(shape, w, left) = w->at - WEIR_LOG_SLOTS - 1;
}

void weir_log_advance(const struct weir_shape *shape, struct weir_count *w, u32 slot)
{
	bool past = log_past(shape, w, slot);

	w->at = slot;
	if (past || (s32)(weir_log_slot(shape, w, 0) - slot + shape->parts) < 0)
		weir_log_clear(shape, w, 0);
}

/* Count a cost, at most as many as there are cells. */
void weir_log_add(const struct weir_shape *shape, struct weir_count *w, u64 cost)
{
	for (; cost; cost--) {
		w->cell[0] = w->cell[0] + 1 == shape->cells ? 0 : w->cell[0] + 1;
		*log_entry(shape, w, 0) = w->at;
	}
}

/* Fill a log with the newest cells of another one, of slots as long, at the same slot. */
void weir_log_copy(const struct weir_shape *shape, struct weir_count *w,
		   const struct weir_shape *of, const struct weir_count *v)
{
	u32 i, both = min(shape->cells, of->cells);

	for (i = 0; i < both; i++)
		*log_entry(shape, w, i) = weir_log_slot(of, v, i);
}

/* Give back a charge, if the log still has it. */
bool weir_log_undo(const struct weir_shape *shape, struct weir_count *w, u32 slot, u64 cost)
{
	u64 first = weir_log_since(shape, w, slot + 1);
	u32 i;

	if ((s32)(slot - log_first(shape, w, slot)) < 0 ||
	    weir_log_since(shape, w, slot) - first < cost)
		return false;
	for (i = first; i + cost < shape->cells; i++)
		*log_entry(shape, w, i) = weir_log_slot(shape, w, i + cost);
	weir_log_clear(shape, w, i);
	return true;
}

/* By the later cells: the i-th last is the later one. */
void weir_log_join(const struct weir_shape *shape, struct weir_count *w, struct weir_count *v)
{
	u32 *of_w, *of_v, i;

	for (i = 0; i < shape->cells; i++) {
		of_w = log_entry(shape, w, i);
		of_v = log_entry(shape, v, i);
		if ((s32)(*of_v - *of_w) > 0)
			swap(*of_w, *of_v);
		else
			*of_v = *of_w;
	}
}

void weir_log_plus(const struct weir_shape *shape, struct weir_count *w, const struct weir_count *v)
{
	u32 slot[WEIR_LOG_CELLS], of_w = 0, of_v = 0, i;

	for (i = 0; i < shape->cells; i++) {
		slot[i] = weir_log_slot(shape, w, of_w);
		if ((s32)(weir_log_slot(shape, v, of_v) - slot[i]) > 0)
			slot[i] = weir_log_slot(shape, v, of_v++);
		else
			of_w++;
	}
	for (i = 0; i < shape->cells; i++)
		*log_entry(shape, w, i) = slot[i];
}
