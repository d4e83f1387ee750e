// SPDX-License-Identifier: GPL-2.0-only
/*
 * What size of table would have held all: the sources that found their bucket
 * full, each counted once however often it came. A sketch of 256 cells tells
 * their number to about 7 percent: the hash of a source chooses a cell, which
 * remembers the longest run of zeroes that a hash of its began with (Flajolet,
 * Fusy, Gandouet and Meunier, HyperLogLog, 2007). There is a sketch for each span
 * as long as a source keeps its way, and this one and the last are looked at as
 * one: all that came at most a span ago are in them, and at most twice as many.
 */
#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "pressure.h"

#define CELLS WEIR_PRESSURE_CELLS

/* 0.7213 / (1 + 1.079 / CELLS) x CELLS^2, the method's mean of many cells */
#define SCALE 47074

static u32 estimate(const struct weir_pressure *pressure)
{
	unsigned int i, zeroes = 0;
	u64 sum = 0, all;
	u32 few = 0;
	u8 rank;

	for (i = 0; i < CELLS; i++) {
		rank = max(READ_ONCE(pressure->rank[i]),
			   READ_ONCE(pressure->last[i]));
		zeroes += !rank;
		sum += BIT_ULL(32 - rank);
	}
	all = div64_u64((u64)SCALE << 32, sum);
	if (!zeroes || all > CELLS * 5 / 2)
		return min_t(u64, all, U32_MAX);
	/* Few: as many as it takes to meet so many cells, by chance. */
	for (i = zeroes + 1; i <= CELLS; i++)
		few += CELLS * CELLS / i;
	return DIV_ROUND_UP(few, CELLS);
}

/**
 * weir_pressure_turn - begin another span
 * @pressure: of the limit
 * @span: its number
 *
 * Of several CPUs one does it. Who comes meanwhile may be forgotten.
 *
 * Context: BH off.
 */
void weir_pressure_turn(struct weir_pressure *pressure, u32 span)
{
	u32 was = READ_ONCE(pressure->span), now;
	unsigned int i;

	if (was == span || cmpxchg(&pressure->span, was, span) != was)
		return;
	now = estimate(pressure);
	if (now > READ_ONCE(pressure->most))
		WRITE_ONCE(pressure->most, now);
	for (i = 0; i < CELLS; i++) {
		WRITE_ONCE(pressure->last[i], span == was + 1 ?
			   READ_ONCE(pressure->rank[i]) : 0);
		WRITE_ONCE(pressure->rank[i], 0);
	}
}

/**
 * weir_pressure_forget - the limit has another table
 * @pressure: of the limit
 *
 * Context: any.
 */
void weir_pressure_forget(struct weir_pressure *pressure)
{
	unsigned int i;

	for (i = 0; i < CELLS; i++) {
		WRITE_ONCE(pressure->rank[i], 0);
		WRITE_ONCE(pressure->last[i], 0);
	}
	WRITE_ONCE(pressure->most, 0);
}

/**
 * weir_pressure_most - for how many sources was there no free way?
 * @pressure: of the limit
 *
 * Return: how many in two spans at the most, since the table was made; about.
 */
u32 weir_pressure_most(const struct weir_pressure *pressure)
{
	return max(READ_ONCE(pressure->most), estimate(pressure));
}
