// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters, and the size of table that they suggest.
 */
#include <linux/bottom_half.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "clock.h"
#include "limit/limit.h"
#include "limit/stats.h"

/* Add up the first @n counters of all CPUs; exact when traffic rests. */
void weir_stats_sum(const struct weir_stats __percpu *pcpu, u64 *sum, unsigned int n)
{
	const struct weir_stats *stats;
	u64 part[WEIR_COUNTERS];
	unsigned int start, i;
	int cpu;

	memset(sum, 0, n * sizeof(*sum));
	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(pcpu, cpu);
		do {
			start = u64_stats_fetch_begin(&stats->syncp);
			for (i = 0; i < n; i++)
				part[i] = u64_stats_read(&stats->count[i]);
		} while (u64_stats_fetch_retry(&stats->syncp, start));
		for (i = 0; i < n; i++)
			sum[i] += part[i];
	}
}

/* Allocate the counters of a new limit, which keeps them also on failure; may sleep. */
int weir_limit_account(struct weir_limit *limit)
{
	limit->pressure = kzalloc(sizeof(*limit->pressure), GFP_KERNEL_ACCOUNT);
	limit->stats = __netdev_alloc_pcpu_stats(struct weir_stats, GFP_KERNEL_ACCOUNT);
	if (!limit->pressure || !limit->stats)
		return -ENOMEM;
	spin_lock_init(&limit->pressure->lock);
	return 0;
}

/* Add to the counter of an index, by WEIR_COUNTER_OF(). Any context but hard interrupts. */
void weir_limit_count(const struct weir_limit *limit, unsigned int i, u64 number)
{
	struct weir_stats *stats;

	local_bh_disable();
	stats = this_cpu_ptr(limit->stats);
	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->count[i], number);
	u64_stats_update_end(&stats->syncp);
	local_bh_enable();
}

/* Under the lock, so that samples are taken in the order of their counters. */
static void counters_sum(const struct weir_limit *limit, struct weir_counters *counters)
{
	lockdep_assert_held(&limit->pressure->lock);
	weir_stats_sum(limit->stats, (u64 *)counters, WEIR_COUNTERS);
}

/* Add up the counters of a limit since their last reset. Context: process. */
void weir_limit_counters(const struct weir_limit *limit, struct weir_counters *counters)
{
	const u64 *base = (u64 *)&limit->pressure->base;
	u64 *count = (u64 *)counters;
	unsigned int i;

	spin_lock(&limit->pressure->lock);
	counters_sum(limit, counters);
	for (i = 0; i < WEIR_COUNTERS; i++)
		count[i] -= base[i];
	spin_unlock(&limit->pressure->lock);
}

/* Count from zero again. No packet's count is lost: those before it are subtracted. */
void weir_limit_reset(const struct weir_limit *limit)
{
	spin_lock(&limit->pressure->lock);
	counters_sum(limit, &limit->pressure->base);
	spin_unlock(&limit->pressure->lock);
}

static void sample_begin(struct weir_pressure *pressure, u64 tick,
			 const struct weir_counters *counters)
{
	pressure->since = tick;
	pressure->evictions = counters->evictions;
	pressure->refusals = counters->packets[WEIR_FLOOR_REFUSED];
}

/* Start measuring for a table that takes over from another. */
void weir_pressure_reset(const struct weir_limit *limit)
{
	struct weir_pressure *pressure = limit->pressure;
	struct weir_counters counters;

	spin_lock(&pressure->lock);
	counters_sum(limit, &counters);
	sample_begin(pressure, 0, &counters);
	pressure->most = 0;
	pressure->made = weir_clock();
	spin_unlock(&pressure->lock);
}

/*
 * The table size that would end the pressure, a power of two, or 0 if there was none
 * since the table was made. Called at each pressure event. The evictions within a
 * window and a slot are the entries that were missing; refusals by floors add at most
 * the size of the table. A source that is evicted twice counts twice.
 */
u64 weir_pressure_sources(const struct weir_limit *limit, u64 tick)
{
	struct weir_pressure *pressure = limit->pressure;
	struct weir_counters counters;
	u64 found, passed, most;

	spin_lock(&pressure->lock);
	counters_sum(limit, &counters);
	if (!pressure->since)
		pressure->since = tick;
	/* Floors of the table before end with the window; only those of a total do not. */
	if (pressure->made && tick - pressure->made < limit->span_ticks &&
	    limit->span_ticks < U32_MAX)
		pressure->refusals = counters.packets[WEIR_FLOOR_REFUSED];
	passed = tick - pressure->since;
	found = counters.evictions - pressure->evictions +
		min_t(u64, limit->cfg.sources, counters.packets[WEIR_FLOOR_REFUSED] -
		      pressure->refusals);
	if (passed >= limit->span_ticks) {
		found = mul_u64_u64_div_u64(found, limit->span_ticks, passed);
		sample_begin(pressure, tick, &counters);
	}
	pressure->most = max(pressure->most, found);
	most = pressure->most;
	spin_unlock(&pressure->lock);
	if (!most)
		return 0;
	/* First no more than there can be, because rounding is in unsigned long. */
	most = limit->cfg.sources + min_t(u64, most, WEIR_SOURCES_MAX);
	return roundup_pow_of_two(min_t(u32, most, WEIR_SOURCES_MAX));
}
