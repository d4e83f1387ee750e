/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a window is divided into slots of whole ticks.
 */
#ifndef WEIR_WINDOW_H
#define WEIR_WINDOW_H

#include "count/count.h"

/* Slots of a window, if it says nothing else, at most. */
#define WEIR_SLOTS_USUAL	15

u32 weir_slot_ticks(u32 window_ms, unsigned int slots);
unsigned int weir_slots_fit(u32 window_ms, unsigned int slots, u32 *slot_ticks);
u32 weir_slots_most(u32 window_ms, u32 most, u32 *slot_ticks);
void weir_meter_divide(struct weir_meter *meter, u32 ticks);

#endif /* WEIR_WINDOW_H */
