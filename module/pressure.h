/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many sources a table was too small for. See the top of pressure.c.
 */
#ifndef WEIR_PRESSURE_H
#define WEIR_PRESSURE_H

#include <linux/bitops.h>
#include <linux/types.h>

#define WEIR_PRESSURE_CELLS 256

/**
 * struct weir_pressure - newcomers that found no free way in a limit's table
 * @told: tick of the last event, 0 is never; any CPU writes it
 * @span: number of the span of time that is counted
 * @most: the largest estimate so far, since the table was made
 * @rank: the sketch of this span; any CPU writes it, a lost write is a newcomer
 *	not counted
 * @last: that of the span before
 */
struct weir_pressure {
	unsigned long told;
	u32 span;
	u32 most;
	u8 rank[WEIR_PRESSURE_CELLS];
	u8 last[WEIR_PRESSURE_CELLS];
};

void weir_pressure_turn(struct weir_pressure *pressure, u32 span);
void weir_pressure_forget(struct weir_pressure *pressure);
u32 weir_pressure_most(const struct weir_pressure *pressure);

/**
 * weir_pressure_meet - a newcomer found no free way
 * @pressure: of the limit
 * @hash: of the newcomer
 * @ticks: of a span, in which the table should hold all that come
 * @tick: now
 *
 * Context: BH off.
 */
static inline void weir_pressure_meet(struct weir_pressure *pressure, u32 hash,
				      u32 ticks, u64 tick)
{
	u8 rank = 33 - fls(hash | (WEIR_PRESSURE_CELLS - 1));
	u8 *cell = &pressure->rank[hash % WEIR_PRESSURE_CELLS];
	u32 span = (u32)tick / ticks;

	if (unlikely(span != READ_ONCE(pressure->span)))
		weir_pressure_turn(pressure, span);
	/* Pairs with itself on other CPUs. */
	if (READ_ONCE(*cell) < rank)
		WRITE_ONCE(*cell, rank);
}

#endif /* WEIR_PRESSURE_H */
