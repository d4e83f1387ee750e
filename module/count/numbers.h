/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A count as numbers, to be kept outside of a table: see state-count in
 * Documentation/netlink/specs/weir.yaml. Those of a ring and of a log are of slots, the current
 * one first.
 */
#ifndef WEIR_NUMBERS_H
#define WEIR_NUMBERS_H

#include "count/count.h"

/* Bytes of the numbers of any count, and the largest of a slot: 65 of them fit 64 bits. */
#define WEIR_NUMBERS_BYTES	520
#define WEIR_NUMBER_MAX		BIT_ULL(57)

/* How the slots of a count that was kept lie in time. */
struct weir_kept_clock {
	u64 tick;		/* of the clock here, at which the numbers are as given */
	u64 tick_ns;		/* length of a tick there */
	u64 slot_ns;		/* of a slot; 0 if slots do not tick */
	u64 phase_ns;		/* that the current slot had lasted */
	u32 slots;		/* of a window there; a log or a bucket may have others here */
};

u64 weir_kept_lasted(const struct weir_kept_clock *clock);
unsigned int weir_count_keep(const struct weir_meter *meter, const struct weir_count *w,
			     void *numbers);
bool weir_count_keep_refusal(const struct weir_meter *meter, const struct weir_count *w, u32 *ago);
bool weir_count_restore(const struct weir_meter *meter, struct weir_count *w,
			const void *numbers, unsigned int bytes, u8 width,
			const struct weir_kept_clock *clock);
void weir_count_restore_refusal(const struct weir_meter *meter, struct weir_count *w, u64 cost,
				u32 ago, const struct weir_kept_clock *clock);

#endif /* WEIR_NUMBERS_H */
