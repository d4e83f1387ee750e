/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters: CPU-local, written with BH off, and added up when they are read.
 */
#ifndef WEIR_STATS_H
#define WEIR_STATS_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/u64_stats_sync.h>

#include "limit/result.h"

struct weir_limit;

/* Counters of the hook. The first four are exclusive. */
enum weir_outcome {
	WEIR_SEEN_EXEMPT,
	WEIR_SEEN_UNMATCHED,
	WEIR_SEEN_ADMITTED,
	WEIR_SEEN_DROPPED,
	WEIR_SEEN_UNPARSABLE,
	WEIR_SEEN_BLOCKED,	/* of the dropped: their prefix is blocked */
	WEIR_OUTCOMES
};

/* Counters of a limit. The first four are exclusive. */
enum weir_fate {
	WEIR_ADMITTED,
	WEIR_DROPPED,
	WEIR_WOULD_DROP,
	WEIR_ELSEWHERE,		/* it had room, but another limit dropped the packet */
	WEIR_EARLY_REFUSED,	/* of the refused, before the stack */
	WEIR_PREFIX_BLOCKED,	/* of the refused, by their reason from WEIR_REASON_BLOCK on */
	WEIR_FLOOR_REFUSED,
	WEIR_TOO_LARGE_REFUSED,
	WEIR_NEWCOMERS_REFUSED,
	WEIR_NEWCOMERS_CHARGED,	/* of the others */
	WEIR_SECOND_CHARGED,	/* of those newcomers: by their second try */
	WEIR_BUDGET_REFUSED,	/* of the refused: by the first of several budgets, or others */
	WEIR_FATES = WEIR_BUDGET_REFUSED + WEIR_BUDGETS_MAX
};

/* The counters of a limit, added up. */
struct weir_counters {
	u64 packets[WEIR_FATES];
	u64 bytes[WEIR_FATES];
	u64 evictions;
	u64 penalties;		/* sources blocked for exceeding */
	u64 blocks_lost;	/* for which there was no room: asked for, moved, or penalties */
	u64 logged;		/* packets that were dropped and logged */
};

#define WEIR_COUNTER_OF(member) (offsetof(struct weir_counters, member) / sizeof(u64))
#define WEIR_COUNTERS (sizeof(struct weir_counters) / sizeof(u64))

/* One CPU's: laid out as struct weir_counters, or for a namespace by weir_outcome. */
struct weir_stats {
	u64_stats_t count[WEIR_COUNTERS];
	struct u64_stats_sync syncp;
};

/* How far a table was too small, and where its limit's counters begin. */
struct weir_pressure {
	unsigned long reported;	/* tick of the last event, 0 if never; any CPU writes it */
	atomic64_t logged;	/* when it logged, and how much: see take_one() in nflog.c */
	spinlock_t lock;	/* protects the rest; process context */
	struct weir_counters base;	/* of the limit when they were last reset */
	u64 made;		/* tick at which the table took over from another; or 0 */
	u64 since;		/* tick of the last sample */
	u64 evictions;		/* of the limit then */
	u64 refusals;		/* packets refused by floors until then */
	u64 most;		/* sources without an entry in any one window and slot */
};

static inline void weir_stats_seen(struct weir_stats __percpu *pcpu,
				   enum weir_outcome outcome, bool unparsable)
{
	struct weir_stats *stats = this_cpu_ptr(pcpu);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(&stats->count[outcome]);
	if (unlikely(unparsable))
		u64_stats_inc(&stats->count[WEIR_SEEN_UNPARSABLE]);
	u64_stats_update_end(&stats->syncp);
}

static inline void weir_stats_fate(struct weir_stats *stats, enum weir_fate fate,
				   u32 packets, u64 bytes)
{
	u64_stats_add(&stats->count[fate], packets);
	u64_stats_add(&stats->count[WEIR_FATES + fate], bytes);
}

static inline void weir_stats_rare(struct weir_stats *stats, u32 packets, u64 bytes,
				   struct weir_result result)
{
	const u16 flags = result.flags;

	if (flags & WEIR_NO_ENTRY)
		weir_stats_fate(stats, !(flags & WEIR_REFUSED) ? WEIR_NEWCOMERS_CHARGED :
				WEIR_PREFIX_BLOCKED - WEIR_REASON_BLOCK +
				weir_result_reason(result), packets, bytes);
	if (flags & WEIR_EVICTED)
		u64_stats_inc(&stats->count[WEIR_COUNTER_OF(evictions)]);
	if (flags & WEIR_SECOND)
		weir_stats_fate(stats, WEIR_SECOND_CHARGED, packets, bytes);
	if (flags & WEIR_EARLY)
		weir_stats_fate(stats, WEIR_EARLY_REFUSED, packets, bytes);
	if (flags & WEIR_BY_BUDGET)
		weir_stats_fate(stats, WEIR_BUDGET_REFUSED + weir_result_budget(result),
				packets, bytes);
}

/* Count packets at a limit. */
static inline void weir_stats_limit(struct weir_stats __percpu *pcpu, enum weir_fate fate,
				    u32 packets, u64 bytes, struct weir_result result)
{
	struct weir_stats *stats = this_cpu_ptr(pcpu);

	u64_stats_update_begin(&stats->syncp);
	weir_stats_fate(stats, fate, packets, bytes);
	if (unlikely(result.flags & ~(WEIR_CHARGED | WEIR_REFUSED | WEIR_FIRST)))
		weir_stats_rare(stats, packets, bytes, result);
	u64_stats_update_end(&stats->syncp);
}

void weir_stats_sum(const struct weir_stats __percpu *pcpu, u64 *sum, unsigned int n);
int weir_limit_account(struct weir_limit *limit);
void weir_limit_count(const struct weir_limit *limit, unsigned int i, u64 number);
void weir_limit_counters(const struct weir_limit *limit, struct weir_counters *counters);
void weir_limit_reset(const struct weir_limit *limit);
void weir_pressure_reset(const struct weir_limit *limit);
u64 weir_pressure_sources(const struct weir_limit *limit, u64 tick);

#endif /* WEIR_STATS_H */
