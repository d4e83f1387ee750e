/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The count of one source as a log: the slots of the last packets, in a ring. Its slots are
 * so short that it is exact to the clock's tick for windows of up to WEIR_LOG_SLOTS ticks.
 *
 * There is room for one more within a budget L if the L-th last packet has left the
 * window, so one cell is read. Cells that have left it stay until they are overwritten,
 * or until the last packet has left it, too; so none gets older than (cells + 1) * 2^24
 * slots before the log's own slot, which is below 2^30.
 */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H

#include "count/shape.h"

/* The slot of the i-th last cell, from 0 on. */
u32 weir_log_slot(const struct weir_shape *shape, const struct weir_count *w, u32 i);

/* Cells from a slot on. */
u64 weir_log_since(const struct weir_shape *shape, const struct weir_count *w, u32 slot);
u64 weir_log_sum(const struct weir_shape *shape, const struct weir_count *w, u32 slot);

/* Slots until @cost, at most @budget, fits. */
u32 weir_log_wait(const struct weir_shape *shape, const struct weir_count *w, u32 slot, u64 cost,
		  u64 budget);

/* Forget all but the newest @left cells. */
void weir_log_clear(const struct weir_shape *shape, struct weir_count *w, u32 left);
void weir_log_advance(const struct weir_shape *shape, struct weir_count *w, u32 slot);

/* Count a cost, at most as many as there are cells. */
void weir_log_add(const struct weir_shape *shape, struct weir_count *w, u64 cost);

/* Give back a charge, if the log still has it. */
bool weir_log_undo(const struct weir_shape *shape, struct weir_count *w, u32 slot, u64 cost);

/* Fill a log with the newest cells of another one, of slots as long, at the same slot. */
void weir_log_copy(const struct weir_shape *shape, struct weir_count *w,
		   const struct weir_shape *of, const struct weir_count *v);

/* By the later cells: the i-th last is the later one. */
void weir_log_join(const struct weir_shape *shape, struct weir_count *w, struct weir_count *v);

/* By the cells of both; @v is of the same slot. */
void weir_log_plus(const struct weir_shape *shape, struct weir_count *w,
		   const struct weir_count *v);

#endif /* WEIR_LOG_H */
