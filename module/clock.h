/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEIR_CLOCK_H
#define WEIR_CLOCK_H

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/types.h>

/* The coarse clock: ticks, the same on all CPUs and never less than before. */
static inline u64 weir_clock(void)
{
	return get_jiffies_64();
}

/* Seconds since the host booted, also while it was suspended. */
static inline u64 weir_uptime(void)
{
	return ktime_get_boottime_seconds();
}

#endif /* WEIR_CLOCK_H */
