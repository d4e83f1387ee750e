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

struct weir_net;

/* As in the uapi header; the compiler sees both where it matters. */
#define WEIR_NAME_SIZE		32
#define WEIR_LIMITS_MAX		256
#define WEIR_WINDOW_MS_MIN	10
#define WEIR_WINDOW_MS_MAX	2592000000
#define WEIR_PACKETS_MAX	4294967295
#define WEIR_BYTES_MAX		72057594037927936
#define WEIR_SOURCES_MIN	64
#define WEIR_SOURCES_MAX	16777216

/* What can be said of a limit, and found at fault. */
enum weir_word {
	WEIR_WORD_NAME,
	WEIR_WORD_BEFORE,
	WEIR_WORD_BUDGET,
	WEIR_WORD_WINDOW,
	WEIR_WORD_UNIT,
	WEIR_WORD_SLOTS,
	WEIR_WORD_MODE,
	WEIR_WORD_PREFIX4,
	WEIR_WORD_PREFIX6,
	WEIR_WORD_SOURCES,
	WEIR_WORD_ACTION,
	WEIR_WORD_MATCH,
	/* of an exemption */
	WEIR_WORD_EXEMPT_ADDRESS,
	WEIR_WORD_EXEMPT_DEV,
	WEIR_WORD_EXEMPT_LIMIT,
};

/**
 * struct weir_words - what was said of a limit
 * @given: which of the others, BIT(WEIR_WORD_*)
 * @window_ms: 10 ms to 30 d
 */
struct weir_words {
	u16 given;
	char name[WEIR_NAME_SIZE];
	char before[WEIR_NAME_SIZE];
	u64 budget;
	u32 window_ms;
	bool bytes;
	u8 slots;
	bool lenient;
	struct weir_prefix prefix;
	u32 sources;
	bool observe;
	struct weir_match match;
};

/**
 * struct weir_exempt_words - what was said of an exemption
 * @exempt: all but the limit
 * @limit: name of a limit, or ""
 */
struct weir_exempt_words {
	struct weir_exempt exempt;
	char limit[WEIR_NAME_SIZE];
};

/**
 * struct weir_fault - why something was refused, or a warning
 * @msg: a constant sentence of less than 80 bytes: what was wrong, what would
 *	be right
 * @word: the word at fault, or -1
 * @cond: of a match, the condition at fault, WEIR_IF_*, or 0
 * @index: of a limit or an exemption among many
 * @is_exempt: @index counts exemptions
 * @value: a number that the sentence speaks of, or 0; of a warning about one of
 *	many, its place from 1, and above the lower 32 bits how many have one
 */
struct weir_fault {
	const char *msg;
	int word;
	u16 cond;
	unsigned int index;
	bool is_exempt;
	u64 value;
};

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
 * struct weir_pressure - what a table was too small for; see event.c
 * @told: tick of the last event, 0 is never; any CPU writes it
 * @since: tick from which @base counts
 * @base: newcomers that had found no way until then
 * @most: of them in a window and a slot, since the table was made
 */
struct weir_pressure {
	unsigned long told;
	u64 since;
	u64 base;
	u64 most;
};

/**
 * struct weir_limit - constant once published
 * @match: which packets
 * @budget: packets or bytes a window
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
 * @id: never used again in this namespace, from 1
 * @slot_ticks: length of a slot
 * @span_ticks: window and a slot, as long as a source keeps its way
 * @sources: size of the table as asked for
 * @window_ms: as asked for
 * @name: padded with zeroes
 */
struct weir_limit {
	struct weir_match match;
	u64 budget;
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
 * @conds: all conditions of all limits
 * @count: of limits
 * @refusals: what CPUs remember of sources that were refused
 * @limit: in their order
 */
struct weir_config {
	struct rcu_head rcu;
	struct weir_exempts *exempts;
	u16 conds;
	u16 count;
	struct weir_refusals refusals;
	struct weir_limit *limit[] __counted_by(count);
};

/*
 * Changes. Each either is done or has changed nothing and filled the fault;
 * a warning may be filled where it is done. Context: process, may sleep, take
 * the namespace's mutex. Return 0, -EINVAL, -EEXIST, -ENOENT, -ENOSPC,
 * -ENOMEM, -EDQUOT or what registering the hook says.
 */
int weir_limit_add(struct weir_net *wn, const struct weir_words *words,
		   struct weir_fault *fault);
int weir_limit_set(struct weir_net *wn, const struct weir_words *words,
		   struct weir_fault *fault);
int weir_limit_del(struct weir_net *wn, const char *name,
		   struct weir_fault *fault);
int weir_limit_flush(struct weir_net *wn);
int weir_exempt_add(struct weir_net *wn, const struct weir_exempt_words *words,
		    struct weir_fault *fault);
int weir_exempt_del(struct weir_net *wn, const struct weir_exempt_words *words,
		    struct weir_fault *fault);
int weir_exempt_flush(struct weir_net *wn);
int weir_config_replace(struct weir_net *wn, const struct weir_words *words,
			unsigned int count,
			const struct weir_exempt_words *exempts,
			unsigned int exempt_count, struct weir_fault *fault);
void weir_config_free(struct weir_net *wn);

/* Under rcu_read_lock() or the namespace's mutex; NULL where there is none. */
struct weir_limit *weir_limit_find(const struct weir_config *config,
				   const char *name);

void weir_limit_count_evictions(const struct weir_limit *limit, u64 evictions);
void weir_pressure_reset(const struct weir_limit *limit);
void weir_pressure_sample(const struct weir_limit *limit, u64 tick);
u64 weir_pressure_sources(const struct weir_limit *limit);
void weir_limit_counts(const struct weir_limit *limit,
		       struct weir_counts *counts);
unsigned int weir_slots_fit(u32 window_ms, unsigned int slots,
			    u32 *slot_ticks);

#endif /* WEIR_LIMIT_H */
