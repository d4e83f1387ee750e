/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tool's words and the kernel's messages both mean, as plain structs. */
#ifndef WEIR_MODEL_H
#define WEIR_MODEL_H

#include <linux/weir.h>
#include <stdbool.h>
#include <stdint.h>

#define WEIR_NAME_SIZE	(WEIR_NAME_MAX + 1)
#define WEIR_DEV_SIZE	(WEIR_DEV_MAX + 1)
/* A strict wheel holds one slot more than the window has. */
#define WEIR_WHEEL_MAX	(WEIR_SLOTS_MAX + 1)

/* What a limit has where its words do not say. */
#define WEIR_PREFIX4_USUAL	32
#define WEIR_PREFIX6_USUAL	64
#define WEIR_SOURCES_USUAL	65536

/* An address is a prefix of full length. */
struct weir_prefix {
	uint8_t family;		/* AF_INET, AF_INET6; 0 where there is none */
	uint8_t len;
	uint8_t addr[16];	/* network order, host bits zero */
};

struct weir_match {
	uint32_t conds;		/* WEIR_COND_* that are given */
	uint32_t invert;	/* those of conds that must not hold */
	uint8_t family;
	uint8_t proto;
	char dev[WEIR_DEV_SIZE];
	struct weir_prefix from, to;
	uint16_t sport[2], dport[2];	/* first and last */
	uint32_t mark, mask;
};

struct weir_counter {
	uint64_t packets, bytes;
};

struct weir_limit_stats {
	struct weir_counter matched, admitted, dropped, would_drop, elsewhere,
			    floor_refused, too_large;
	uint64_t evictions, sources_now;
	uint32_t has_sources_now;	/* not without the right to read sources */
	uint64_t sources_wanted;	/* 0 without pressure */
};

/* Which words of a limit are given. */
enum weir_limit_has {
	WEIR_HAS_BUDGET		= 1 << 0,	/* and its window */
	WEIR_HAS_UNIT		= 1 << 1,
	WEIR_HAS_SLOTS		= 1 << 2,
	WEIR_HAS_MODE		= 1 << 3,
	WEIR_HAS_PER		= 1 << 4,
	WEIR_HAS_SOURCES	= 1 << 5,
	WEIR_HAS_ACTION		= 1 << 6,
	WEIR_HAS_MATCH		= 1 << 7,
	WEIR_HAS_BEFORE		= 1 << 8,
	/* only in what the kernel tells */
	WEIR_HAS_RESULT		= 1 << 9,	/* slot_ns to ways */
	WEIR_HAS_STATS		= 1 << 10,
};

struct weir_limit {
	unsigned int has;
	unsigned int line;	/* of the file it was read from */
	char name[WEIR_NAME_SIZE];
	char before[WEIR_NAME_SIZE];
	uint64_t budget;
	uint32_t window_ms;
	uint32_t unit, slots, mode, sources, action;
	uint8_t prefix4, prefix6;
	struct weir_match match;
	uint64_t slot_ns, window_ns, memory;
	uint32_t ways;
	uint32_t change;	/* WEIR_LIMIT_EVENT_*, of a notice */
	struct weir_limit_stats stats;
};

struct weir_exempt {
	unsigned int line;
	struct weir_prefix prefix;
	char dev[WEIR_DEV_SIZE];	/* "": any */
	char limit[WEIR_NAME_SIZE];	/* "": all */
};

/* What is asked of sources, and which ones. */
struct weir_query {
	char limit[WEIR_NAME_SIZE];	/* "": all */
	struct weir_prefix prefix;
	char dev[WEIR_DEV_SIZE];
	bool limited, idle;
	uint32_t top;			/* 0: no ranking */
	uint32_t rank;
	uint64_t cost;			/* 0: one */
	bool has_unit;
	uint32_t unit;			/* of the cost */
	uint32_t charge_mode;
};

/* How one source stands under one limit. */
struct weir_source {
	char limit[WEIR_NAME_SIZE];
	struct weir_prefix prefix;	/* family 0: everybody */
	char dev[WEIR_DEV_SIZE];
	uint64_t count, left, budget, next_ns, dropped, taken;
	uint32_t unit, action;
	bool limited, idle, floor, is_exempt;
	struct weir_exempt exempt;
	uint64_t slot_ns;
	unsigned int slots;
	uint64_t slot[WEIR_WHEEL_MAX];	/* oldest first */
};

struct weir_stats {
	uint64_t seen, exempt, unmatched, admitted, dropped, unparsable;
	uint64_t events_lost, memory, tick_ns;
	uint32_t limits, exempts;
};

struct weir_config {
	struct weir_limit *limits;
	unsigned int limit_count, limit_room;
	struct weir_exempt *exempts;
	unsigned int exempt_count, exempt_room;
};

enum weir_notice_kind {
	WEIR_NOTICE_LIMIT,
	WEIR_NOTICE_SOURCE,
	WEIR_NOTICE_PRESSURE,
	WEIR_NOTICE_GONE,		/* the module was unloaded */
};

/* What the kernel tells unasked. */
struct weir_notice {
	enum weir_notice_kind kind;
	struct weir_limit limit;	/* of pressure: its name and stats */
	struct weir_source source;
};

#endif
