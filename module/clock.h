/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEIR_CLOCK_H
#define WEIR_CLOCK_H

#include <linux/jiffies.h>
#include <linux/types.h>

/* The coarse clock: ticks, the same on all CPUs and never less than before. */
static inline u64 weir_clock(void)
{
	return get_jiffies_64();
}

#endif /* WEIR_CLOCK_H */
