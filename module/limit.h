/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which budget: the limits of a namespace, an ordered set that never changes
 * once it is published. See the top of limit.c.
 */
#ifndef WEIR_LIMIT_H
#define WEIR_LIMIT_H

#include <linux/rcupdate.h>
#include <linux/u64_stats_sync.h>

#include "exempt.h"
#include "match.h"
#include "refusal.h"
#include "source.h"
#include "table.h"
#include "uapi/linux/weir.h"

struct weir_net;

#define WEIR_NAME_SIZE (WEIR_NAME_MAX + 1)

/**
 * struct weir_error - why a change was refused, or a warning
 * @msg: constant sentence of less than 80 bytes: what is wrong, what would be
 *	right
 * @attr: WEIR_A_LIMIT_* or WEIR_A_EXEMPT_* at fault, or 0
 * @value: a number that the sentence speaks of, or 0
 */
struct weir_error {
	const char *msg;
	u16 attr;
	u64 value;
};

static inline int weir_refuse(struct weir_error *error, int err, u16 attr,
			      const char *msg)
{
	error->msg = msg;
	error->attr = attr;
	return err;
}

/* What became of a packet at a limit. The first four exclude each other. */
enum weir_fate {
	WEIR_ADMITTED,
	WEIR_DROPPED,
	WEIR_WOULD_DROP,
	WEIR_ELSEWHERE,
	WEIR_FLOOR_REFUSED,	/* of the refused */
	WEIR_TOO_LARGE_REFUSED,	/* of the refused */
	WEIR_FATES
};

struct weir_counts {
	u64 packets[WEIR_FATES];
	u64 bytes[WEIR_FATES];
	u64 evictions;
};

/* One CPU's; written with BH off. */
struct weir_limit_stats {
	u64_stats_t packets[WEIR_FATES];
	u64_stats_t bytes[WEIR_FATES];
	u64_stats_t evictions;
	struct u64_stats_sync syncp;
};

/**
 * struct weir_pressure - what a table was too small for
 * @told: tick of the last event, 0 is never; any CPU writes it
 * @lock: protects the rest; process context
 * @since: tick of the last sample
 * @evictions: of the limit then
 * @refusals: packets that floors had refused then
 * @most: newcomers without a way in a window and a slot, since the table was made
 */
struct weir_pressure {
	unsigned long told;
	spinlock_t lock;	/* protects the rest; process context */
	u64 since;
	u64 evictions;
	u64 refusals;
	u64 most;
};

/**
 * struct weir_limit - constant once published
 * @match: which packets
 * @budget: packets or bytes a window
 * @budget_most: the largest that it was while the history in @table began,
 *	in its present unit: what the counts may have to hold
 * @table: counts of the sources; the limit's reference, which a changed copy
 *	of the limit takes over, as it does @stats and @pressure
 * @stats: CPU-local
 * @pressure: what @table was too small for
 * @prefix: what makes a source
 * @bytes: count bytes and not packets
 * @observe: drop nothing
 * @lenient: sum one slot less
 * @slots_given: the number of slots was asked for
 * @slots: of the window
 * @id: never used again in this namespace; 0 until it is made
 * @slot_ticks: length of a slot
 * @span_ticks: window and a slot, as long as a source keeps its way
 * @sources: size of the table as asked for
 * @window_ms: as asked for
 * @name: padded with zeroes
 */
struct weir_limit {
	struct weir_match match;
	u64 budget;
	u64 budget_most;
	struct weir_table *table;
	struct weir_limit_stats __percpu *stats;
	struct weir_pressure *pressure;
	struct weir_prefix prefix;
	bool bytes;
	bool observe;
	bool lenient;
	bool slots_given;
	u8 slots;
	u32 id;
	u32 slot_ticks;
	u32 span_ticks;
	u32 sources;
	u32 window_ms;
	char name[WEIR_NAME_SIZE];
};

/**
 * struct weir_config - the limits and exemptions of a namespace
 * @rcu: frees it
 * @exempts: or NULL
 * @count: of limits
 * @refusals: what CPUs remember of sources that were refused
 * @limit: in their order
 */
struct weir_config {
	struct rcu_head rcu;
	struct weir_exempts *exempts;
	u16 count;
	struct weir_refusals refusals;
	struct weir_limit *limit[] __counted_by(count);
};

/*
 * A limit: limit.c. First its configuration, up to @name, is filled; then it is
 * checked, and given table and counters, those of @was where they serve.
 */
void weir_limit_init(struct weir_limit *limit, const char *name);
int weir_limit_check(struct weir_limit *limit, struct weir_error *error);
struct weir_limit *weir_limit_make(struct weir_net *wn, const struct weir_limit *limit,
				   const struct weir_limit *was, struct weir_error *error);
void weir_limit_free(struct weir_net *wn, struct weir_limit *limit,
		     const struct weir_limit *heir);
unsigned int weir_slots_fit(u32 window_ms, unsigned int slots, u32 *slot_ticks);
int weir_limit_account(struct weir_limit *limit);
void weir_limit_count_evictions(const struct weir_limit *limit, u64 evictions);
void weir_limit_counts(const struct weir_limit *limit, struct weir_counts *counts);
void weir_pressure_reset(const struct weir_limit *limit);
u64 weir_pressure_sources(const struct weir_limit *limit, u64 tick);

/*
 * A change of the configuration: config.c. Between begin, which takes the
 * namespace's mutex, and end, which publishes all or changes nothing.
 * Return 0, or a negative errno with or without a sentence.
 */
struct weir_edit;

struct weir_edit *weir_edit_begin(struct weir_net *wn, bool replace, unsigned int exempts);
int weir_edit_end(struct weir_edit *edit, int err, struct weir_error *error);
const struct weir_limit *weir_edit_find(const struct weir_edit *edit, const char *name,
					struct weir_error *error);
int weir_edit_limit(struct weir_edit *edit, struct weir_limit *limit, const char *before,
		    struct weir_error *error);
int weir_edit_limit_del(struct weir_edit *edit, const char *name, struct weir_error *error);
void weir_edit_limit_flush(struct weir_edit *edit);
int weir_edit_exempt_add(struct weir_edit *edit, struct weir_exempt *exempt,
			 const char *limit, struct weir_error *error);
int weir_edit_exempt_del(struct weir_edit *edit, struct weir_exempt *exempt,
			 const char *limit, struct weir_error *error);
void weir_edit_exempt_flush(struct weir_edit *edit);
void weir_config_free(struct weir_net *wn);

/* Under rcu_read_lock() or the namespace's mutex; NULL where there is none. */
struct weir_limit *weir_limit_find(const struct weir_config *config, const char *name);
struct weir_limit *weir_limit_by_id(const struct weir_config *config, u32 id);

#endif /* WEIR_LIMIT_H */
