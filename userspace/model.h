/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects, as plain structs between the tool's words and the kernel's
 * messages. "has" has a bit per attribute (in a match, per condition) present.
 */
#ifndef WEIR_MODEL_H
#define WEIR_MODEL_H

#include <linux/weir.h>
#include <stdbool.h>
#include <stdint.h>

#define WEIR_NAME_SIZE	(WEIR_NAME_MAX + 1)
#define WEIR_DEV_SIZE	(WEIR_DEV_MAX + 1)
#define WEIR_COMMENT_SIZE	(WEIR_COMMENT_MAX + 1)
#define WEIR_TEXT_SIZE	800	/* the longest text: a list of prefixes */
/* In strict mode the wheel has one slot more than the window. */
#define WEIR_WHEEL_MAX	(WEIR_SLOTS_MAX + 1)
#define WEIR_HAS(attr)	(1ULL << WEIR_A_##attr)

/* An address is a full-length prefix. */
struct weir_prefix {
	uint8_t family;		/* AF_INET, AF_INET6; 0: none */
	uint8_t len;
	uint8_t addr[16];	/* network order, host bits zero */
};

/* So many packets or bytes in a window. */
struct weir_amount {
	uint64_t count;
	uint32_t window_ms;
};

#define WEIR_ZONE_SIZE	(WEIR_ZONE_MAX + 1)

/* Offsets of local time from UTC in seconds; change: INT64_MAX if there is none. */
struct weir_zone {
	uint64_t has;
	char name[WEIR_ZONE_SIZE];
	int32_t offset, next_offset;	/* until, and from, the change */
	int64_t change;			/* in seconds since 1970 UTC */
};

struct weir_counter {
	uint64_t has, packets, bytes;
};

enum { WEIR_MATCH_THESE = 1, WEIR_MATCH_ANY };

struct weir_match {
	uint64_t has;		/* WEIR_COND_* present */
	uint32_t invert;	/* those preceded by "not" */
	uint8_t family;
	uint8_t any;		/* WEIR_MATCH_*: replaces the limit's conditions */
	uint16_t flags;		/* of a packet: WEIR_COND_SYN and _FRAG that hold */
	char dev[WEIR_DEV_SIZE];
	unsigned int from_count, to_count, proto_count, sport_count, dport_count, icmp_count,
		     icmpv6_count;
	uint8_t proto[WEIR_TYPES_MAX], icmp[WEIR_TYPES_MAX], icmpv6[WEIR_TYPES_MAX];
	struct weir_prefix from[WEIR_PREFIXES_MAX], to[WEIR_PREFIXES_MAX];
	uint16_t sport[WEIR_PORTS_MAX][2], dport[WEIR_PORTS_MAX][2];	/* first and last */
	uint32_t mark[2];	/* and mask */
	char from_list[WEIR_NAME_SIZE], to_list[WEIR_NAME_SIZE];
};

struct weir_budget {
	uint64_t has;
	struct weir_amount amount;
	uint32_t unit, slots, mode;
	uint64_t burst, slot_ns, window_ns, most, renews;
	struct weir_counter refused;
};

struct weir_limit_stats {
	uint64_t has;
	struct weir_counter matched, admitted, dropped, would_drop, elsewhere,
			    floor_refused, too_large, early, newcomers, second_tries,
			    newcomers_refused, dropped_by_prefix;
	uint64_t evictions, sources_now, sources_wanted, known_now, newcomers_now, blocked_now,
		 penalties, blocks_lost, limited_now;
};

struct weir_limit {
	uint64_t has;
	unsigned int line, column;	/* position in the file; column: JSON only */
	char name[WEIR_NAME_SIZE];
	char before[WEIR_NAME_SIZE];
	char new_name[WEIR_NAME_SIZE];
	unsigned int budget_count;
	struct weir_budget budgets[WEIR_BUDGETS_MAX];
	uint32_t sources, action;
	uint8_t per[2];		/* prefix lengths, IPv4 and IPv6 */
	struct weir_amount newcomers;	/* count 0: none */
	uint32_t flood, known_ms;
	uint64_t penalty_ms;		/* 0: none */
	bool renew;
	struct weir_match match;
	struct weir_zone zone;		/* of calendars */
	char comment[WEIR_COMMENT_SIZE];
	uint64_t memory, learning_ns;
	uint32_t ways, source_bytes, blocks;
	uint32_t event;		/* WEIR_LIMIT_EVENT_*, in an event */
	struct weir_limit_stats stats;
	bool want_stats, check, force;
	bool only;		/* the budgets that are given */
};

struct weir_exempt {
	uint64_t has;
	unsigned int line, column;
	struct weir_prefix prefix;
	char dev[WEIR_DEV_SIZE];	/* "": any */
	char limit[WEIR_NAME_SIZE];	/* "": all */
	char comment[WEIR_COMMENT_SIZE];
	uint64_t for_ms;	/* 0: for ever */
	uint32_t event;		/* WEIR_LIMIT_EVENT_*, in an event */
	struct weir_counter stats;
	bool block;		/* not exempt, but blocked */
	bool replace;		/* the end and the comment of one that exists */
	bool want_stats, check;
};

/* A part of a list of prefixes. */
struct weir_list {
	uint64_t has;
	unsigned int line, column;
	char name[WEIR_NAME_SIZE];
	unsigned int prefix_count;
	struct weir_prefix prefix[WEIR_PREFIXES_MAX];
	const char *file;		/* with more prefixes; or NULL */
};

#define WEIR_LIST_PARTS_MAX	(WEIR_LIST_PREFIXES_MAX / WEIR_PREFIXES_MAX + WEIR_PREFIX_LISTS_MAX)

/* A request on a list: too large for the stack. */
struct weir_list_change {
	uint64_t has;
	char name[WEIR_NAME_SIZE];
	unsigned int prefix_count;
	struct weir_prefix prefix[WEIR_LIST_PREFIXES_MAX];
	bool check;
};

/* A monitor's event filter. */
struct weir_wanted {
	uint64_t has;			/* by notification command; 0: all */
	char limit[WEIR_NAME_SIZE];	/* "": all */
	bool module;			/* only wait until it is unloaded */
};

/* A request on sources: which ones, and the amount to charge. */
struct weir_query {
	uint64_t has;
	char limit[WEIR_NAME_SIZE];	/* "": all */
	struct weir_prefix prefix;
	char dev[WEIR_DEV_SIZE];
	bool limited, blocked, idle;
	uint64_t for_ms;		/* to block; 0: for ever */
	bool replace;
	uint32_t top, rank;		/* top 0: no ranking */
	uint64_t packets, bytes;	/* to charge; both 0: one packet */
	uint32_t mode;
	bool wait;			/* until it is granted */
	struct weir_match packet;	/* of the source: what is known of it, */
	uint64_t len;			/* and its length in bytes; 0: not given */
};

enum weir_order { WEIR_BY_DROPPED, WEIR_BY_COUNT, WEIR_BY_RATE, WEIR_ORDERS };

/* What the screens of weir top show. */
struct weir_top {
	uint64_t has;
	char limit[WEIR_NAME_SIZE];	/* "": all */
	struct weir_prefix prefix;
	uint32_t by;			/* enum weir_order */
	uint32_t count;			/* screens to print as text; 0: a terminal */
	uint64_t every_ms;
};

/* The count of a source for a budget. */
struct weir_source_budget {
	uint64_t has;
	uint64_t count, left, budget, next_ns;
	uint32_t unit;
	bool limited;
	uint64_t slot_ns;
	unsigned int slots;
	uint64_t slot[WEIR_WHEEL_MAX];	/* oldest first */
};

/* What source get was asked; all zero in other answers. */
struct weir_asked {
	struct weir_prefix prefix;	/* or address */
	uint64_t len;			/* of a packet in bytes; 0: not given */
	const struct weir_limit *limit;	/* that the answer is of, or NULL */
};

/* The last drop of a source that is known. */
struct weir_drop {
	uint64_t has;
	uint64_t within_ns, before_ns;	/* ago, at most and at least */
	uint64_t cost;		/* of a packet that exceeded its whole budget */
	uint32_t reason, budget;	/* budget: from 1; 0: there is only one */
	bool own;		/* of the address that was asked for */
};

/* The state of one source under one limit. */
struct weir_source {
	uint64_t has;
	char limit[WEIR_NAME_SIZE];
	struct weir_prefix prefix;	/* family 0: all sources */
	char dev[WEIR_DEV_SIZE];
	unsigned int budget_count;
	struct weir_source_budget budgets[WEIR_BUDGETS_MAX];
	uint64_t next_ns, dropped, would_drop, taken, forgotten;
	uint32_t action, event;
	bool limited, idle, floor, unknown, blocked;
	uint64_t newcomers_next_ns, wait_ns, blocked_ns;
	uint32_t limited_by;	/* number of the budget, from 1; 0: there is only one */
	struct weir_exempt exempt;
	struct weir_asked asked;
	bool never_fits;	/* a packet of asked.len */
	struct weir_drop drop;
};

struct weir_stats {
	uint64_t has;
	uint64_t seen, exempt, unmatched, admitted, dropped, unparsable;
	uint64_t events_lost, memory, tick_ns, dropped_by_prefix;
	uint32_t limits, exempts, blocked_prefixes;
};

struct weir_pressure {
	uint64_t has;
	char limit[WEIR_NAME_SIZE];
	uint64_t evictions, floor_refused, sources_wanted, blocks_lost;
};

struct weir_newcomers {
	uint64_t has;
	char limit[WEIR_NAME_SIZE];
	uint64_t refused, next_ns;
};

/* What goes on under a limit; counters are since the last time. */
struct weir_state {
	uint64_t has;
	char limit[WEIR_NAME_SIZE];
	uint64_t limited_now, blocked_now, dropped, newcomers_refused, evictions, floor_refused,
		 sources_wanted;
};

struct weir_path {
	uint64_t has;
	const char *file;	/* or NULL, if not given */
};

/* The most sources that metrics show. */
#define WEIR_METRICS_TOP	100

struct weir_metering {
	uint64_t has;
	const char *file;	/* or NULL, if not given */
	uint32_t top;
	bool http;
};

enum weir_xdp_mode { WEIR_XDP_NATIVE = 1, WEIR_XDP_GENERIC };

#define WEIR_OFF_SIZE	96

/* The XDP program on a device. */
struct weir_xdp {
	uint64_t has;
	unsigned int line, column;
	char dev[WEIR_DEV_SIZE];
	uint32_t mode;		/* enum weir_xdp_mode; 0: not given */
	uint32_t was;		/* what weir_xdp_apply() found there; 0: nothing */
	uint32_t program;	/* its id in the kernel */
	char off[WEIR_OFF_SIZE];	/* why it drops nothing, or "" */
};

union weir_model {
	uint64_t has;
	struct weir_limit limit;
	struct weir_exempt exempt;
	struct weir_list list;
	struct weir_query query;
	struct weir_wanted wanted;
	struct weir_source source;
	struct weir_stats stats;
	struct weir_pressure pressure;
	struct weir_newcomers newcomers;
	struct weir_path path;
	struct weir_metering metering;
	struct weir_xdp xdp;
	struct weir_top top;
};

#define WEIR_EARLY_MAX	256

struct weir_places;

/* Too large for the stack. */
struct weir_config {
	bool check, add, del, force;
	unsigned int limit_count, exempt_count, early_count, list_count;
	unsigned int exempt_room, list_room;	/* of the arrays that grow */
	struct weir_limit limits[WEIR_LIMITS_MAX];
	struct weir_exempt *exempts;
	struct weir_xdp early[WEIR_EARLY_MAX];	/* devices that drop early */
	struct weir_list *lists;	/* parts, all full but their last */
	const struct weir_places *places;	/* of the lines; or NULL */
};

#endif
