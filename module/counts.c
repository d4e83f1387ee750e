// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of a limit: CPU-local, and added up when they are read.
 */
#include <linux/bottom_half.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "limit.h"

/**
 * weir_limit_account - give a new limit its counters
 * @limit: limit without any
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM and the limit has what could be had.
 */
int weir_limit_account(struct weir_limit *limit)
{
	int cpu;

	limit->pressure = kzalloc(sizeof(*limit->pressure), GFP_KERNEL_ACCOUNT);
	limit->stats = alloc_percpu_gfp(struct weir_limit_stats,
					GFP_KERNEL_ACCOUNT);
	if (!limit->pressure || !limit->stats)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(limit->stats, cpu)->syncp);
	return 0;
}

/**
 * weir_limit_count_evictions - live sources lost their way to others
 * @limit: limit
 * @evictions: how many
 *
 * Context: any but hard interrupts.
 */
void weir_limit_count_evictions(const struct weir_limit *limit, u64 evictions)
{
	struct weir_limit_stats *stats;

	local_bh_disable();
	stats = this_cpu_ptr(limit->stats);
	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->evictions, evictions);
	u64_stats_update_end(&stats->syncp);
	local_bh_enable();
}

/**
 * weir_limit_counts - add up the counters of a limit
 * @limit: limit
 * @counts: filled; exact when traffic rests
 */
void weir_limit_counts(const struct weir_limit *limit,
		       struct weir_counts *counts)
{
	const struct weir_limit_stats *stats;
	struct weir_counts part;
	unsigned int start, i;
	int cpu;

	memset(counts, 0, sizeof(*counts));
	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(limit->stats, cpu);
		do {
			start = u64_stats_fetch_begin(&stats->syncp);
			for (i = 0; i < WEIR_FATES; i++) {
				part.packets[i] = u64_stats_read(&stats->packets[i]);
				part.bytes[i] = u64_stats_read(&stats->bytes[i]);
			}
			part.evictions = u64_stats_read(&stats->evictions);
		} while (u64_stats_fetch_retry(&stats->syncp, start));
		for (i = 0; i < WEIR_FATES; i++) {
			counts->packets[i] += part.packets[i];
			counts->bytes[i] += part.bytes[i];
		}
		counts->evictions += part.evictions;
	}
}
