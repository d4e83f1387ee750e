/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The count of one source as a log: the slots of the last packets, in a ring. Its slots are
 * so short that it is exact to the clock's tick for windows of up to WEIR_LOG_SLOTS ticks.
 *
 * There is room for one more within a budget L if the L-th last packet has left the
 * window, so one entry is read. Entries that have left it stay until they are overwritten,
 * or until the last packet has left it, too; so none gets older than (entries + 1) * 2^24
 * slots before the log's own slot, which is below 2^30.
 */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H

#include "count/shape.h"

/* Entries from a slot on. */
u64 weir_log_since(struct weir_wheel_shape shape, const struct weir_wheel *w, u32 slot);
u64 weir_log_sum(struct weir_wheel_shape shape, const struct weir_wheel *w, u32 slot);

/* Slots until @cost, at most @budget, fits. */
u32 weir_log_wait(struct weir_wheel_shape shape, const struct weir_wheel *w, u32 slot,
		  u64 cost, u64 budget);

/* Forget all but the newest @left entries. */
void weir_log_clear(struct weir_wheel_shape shape, struct weir_wheel *w, u32 left);
void weir_log_turn(struct weir_wheel_shape shape, struct weir_wheel *w, u32 slot);

/* Count a cost, at most as many as there are entries. */
void weir_log_add(struct weir_wheel_shape shape, struct weir_wheel *w, u64 cost);

/* Give back a charge, if the log still has it. */
bool weir_log_uncharge(struct weir_wheel_shape shape, struct weir_wheel *w, u32 slot, u64 cost);

/* Fill a log with the newest entries of another one, of slots as long, at the same slot. */
void weir_log_copy(struct weir_wheel_shape shape, struct weir_wheel *w,
		   struct weir_wheel_shape of, const struct weir_wheel *v);

/* As weir_wheel_join_swap(): the i-th last is the later one. */
void weir_log_join_swap(struct weir_wheel_shape shape, struct weir_wheel *w,
			struct weir_wheel *v);

#endif /* WEIR_LOG_H */
