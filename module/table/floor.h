/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Floors whose counts never end. See the top of floor.c.
 */
#ifndef WEIR_FLOOR_H
#define WEIR_FLOOR_H

#include "table/heritage.h"

/* Like that of a source that finds no entry: of what was counted for ever, if it was. */
#define WEIR_SOURCE_FLOOR ((struct weir_floor) { .stays = U8_MAX })

/* Ticks from @tick on until all floors of a table that end have ended, or WEIR_NEVER; or 0. */
u64 weir_floor_wait(const struct weir_table *table, u64 tick);
/*
 * The counts of a locked set's floor that never end but have what ends, BIT(index): until it has
 * ended they refuse strangers. If it has, they are emptied first, and are none of these.
 */
u8 weir_floor_ends(const struct weir_table *table, struct weir_set *set, u64 tick);
/* Join the converted counts at @first, of a floor like @was, into the floor of a locked set. */
void weir_floor_raise(const struct weir_heritage *of, struct weir_set *set,
		      struct weir_floor was, struct weir_count *first, u64 tick);
/* Set when floors that end have ended, as of a block. */
void weir_floors_end(struct weir_table *table, u32 until);
/* Nothing is charged in a predecessor any more: when its windows end, and with them its floors. */
u32 weir_floors_until(const struct weir_table *next, const struct weir_table *old);

#endif /* WEIR_FLOOR_H */
