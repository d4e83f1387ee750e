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
	uint64_t burst, alone, slot_ns, window_ns, most, renews;	/* alone 0: none */
	struct weir_counter refused;
};

struct weir_limit_stats {
	uint64_t has;
	struct weir_counter matched, admitted, dropped, would_drop, elsewhere,
			    floor_refused, too_large, early, newcomers, second_tries,
			    newcomers_refused, dropped_by_prefix;
	uint64_t evictions, sources_now, sources_wanted, known_now, newcomers_now, blocked_now,
		 penalties, blocks_lost, limited_now, logged;
};

struct weir_limit {
	uint64_t has;
	unsigned int line;		/* in the file */
	char name[WEIR_NAME_SIZE];
	char before[WEIR_NAME_SIZE];
	char new_name[WEIR_NAME_SIZE];
	unsigned int budget_count;
	struct weir_budget budgets[WEIR_BUDGETS_MAX];
	uint32_t sources, action, sharing;
	uint32_t blocks_only;	/* in place of budgets and sources; or 0 */
	uint8_t per[2];		/* prefix lengths, IPv4 and IPv6 */
	struct weir_amount newcomers;	/* count 0: none */
	uint32_t flood, known_ms;
	uint64_t penalty_ms;		/* 0: none */
	bool renew;
	bool alone;		/* now, and so its budgets are */
	uint16_t log;			/* group of nflog; 0: none */
	char budgets_by[WEIR_NAME_SIZE];	/* a list; "": none */
	struct weir_match match;
	struct weir_zone zone;		/* of calendars */
	char comment[WEIR_COMMENT_SIZE];
	uint64_t memory, learning_ns;
	uint32_t entries, source_bytes, blocks;
	uint32_t event;		/* WEIR_LIMIT_EVENT_*, in an event */
	struct weir_limit_stats stats;
	bool want_stats, check;
	bool only;		/* the budgets that are given */
};

struct weir_exempt {
	uint64_t has;
	unsigned int line;
	struct weir_prefix prefix;
	char dev[WEIR_DEV_SIZE];	/* "": any */
	char limit[WEIR_NAME_SIZE];	/* "": all */
	char comment[WEIR_COMMENT_SIZE];
	uint64_t for_ms;	/* 0: for ever */
	uint64_t until;		/* in seconds since 1970, as it was written; or 0 */
	uint32_t event;		/* WEIR_LIMIT_EVENT_*, in an event */
	struct weir_counter stats;
	bool block;		/* not exempt, but blocked */
	bool replace;		/* the comment of one that exists, and an earlier end, */
	bool force;		/* or any */
	bool want_stats, check;
};

/* A prefix of a list. */
struct weir_member {
	struct weir_prefix prefix;
	uint64_t budget;	/* of each source in it; 0: none of its own */
	unsigned int line;		/* as of a limit */
	unsigned int place;	/* in the configuration */
};

/* A part of a list of prefixes. */
struct weir_list {
	uint64_t has;
	unsigned int line;
	char name[WEIR_NAME_SIZE];
	unsigned int member_count;
	struct weir_member member[WEIR_PREFIXES_MAX];
	const char *file;		/* with more prefixes; or NULL */
};

#define WEIR_LIST_PARTS_MAX	(WEIR_LIST_PREFIXES_MAX / WEIR_PREFIXES_MAX + WEIR_PREFIX_LISTS_MAX)

/* A request on a list: too large for the stack. */
struct weir_list_change {
	uint64_t has;
	char name[WEIR_NAME_SIZE];
	unsigned int member_count;
	struct weir_member member[WEIR_LIST_PREFIXES_MAX];
	bool check;
};

/* A monitor's event filter. */
struct weir_wanted {
	uint64_t has;			/* by notification command; 0: all */
	char limit[WEIR_NAME_SIZE];	/* "": all */
	bool module;			/* only wait until it is unloaded */
	bool log;			/* lines go to syslog */
};

/* A request on sources: which ones, and the amount to charge. */
struct weir_query {
	uint64_t has;
	char limit[WEIR_NAME_SIZE];	/* "": all */
	struct weir_prefix prefix;
	char dev[WEIR_DEV_SIZE];
	bool limited, blocked, idle;
	uint64_t for_ms;		/* to block; 0: for ever */
	bool replace, force;		/* as of an exemption */
	uint32_t top, rank;		/* top 0: no ranking */
	uint64_t packets, bytes;	/* to charge; both 0: one packet */
	uint32_t mode;
	bool wait;			/* until it is granted */
	struct weir_match packet;	/* of the source: what is known of it, */
	uint32_t len;			/* and its length in bytes; 0: not given */
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

#define WEIR_PACKET_MAX	65535	/* bytes of IP */

/* What source get was asked; all zero in other answers. */
struct weir_asked {
	struct weir_prefix prefix;	/* or address */
	uint64_t len;			/* of a packet in bytes; 0: not given */
	const struct weir_limit *limit;	/* that the answer is of, or NULL */
	struct weir_prefix by;		/* of the limit's list, which has the first budget; or 0 */
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
	bool limited, idle, floor, unknown, blocked, unmatched;
	uint64_t newcomers_next_ns, wait_ns, blocked_ns;
	uint32_t limited_by;	/* number of the budget, from 1; 0: there is only one */
	uint32_t undecided;	/* conditions on what was not asked: WEIR_COND_* */
	struct weir_exempt exempt;
	struct weir_asked asked;
	bool never_fits;	/* a packet of asked.len */
};

struct weir_stats {
	uint64_t has;
	uint64_t seen, exempt, unmatched, admitted, dropped, unparsable;
	uint64_t events_lost, memory, tick_ns, clock_ns, dropped_by_prefix;
	uint32_t limits, exempts, blocked_prefixes, namespaces, generation;
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

struct weir_path {
	uint64_t has;
	const char *file;	/* or NULL, if not given */
	const char *state;	/* likewise: to save the state, too */
};

/* What became of the sources in a message of a saved state. */
struct weir_merged {
	uint64_t has;
	uint32_t merged, evicted, blocks_lost, skipped;
};

/* What a saved state has, and what became of it. */
struct weir_restored {
	uint64_t has;
	uint64_t saved;		/* in seconds since 1970 */
	uint64_t age_ns;
	uint64_t limits, exempts, blocked_prefixes, sources;
	uint64_t merged, evicted, blocks_lost, skipped;
};

/* The words of a command, and the path of its file. */
#define WEIR_CHANGE_SIZE	256
#define WEIR_CHANGE_PATH	4096

/* A change that is taken back unless it is confirmed. */
struct weir_pending {
	uint64_t has;
	char command[WEIR_CHANGE_SIZE];
	char file[WEIR_CHANGE_PATH];	/* that it applies; or "" */
	uint64_t left_ns;
	uint64_t until;		/* in seconds since 1970 */
	uint64_t deadline_ns;	/* of CLOCK_MONOTONIC */
	int tool;		/* the process that makes it */
};

struct weir_xdp;

struct weir_upgrade {
	uint64_t has;
	const char *file, *old;	/* or NULL, if not given */
	bool closed;
};

#define WEIR_SPACE_SIZE	320

/* A network namespace whose limits another module goes on with. */
struct weir_space {
	uint64_t has;
	char name[WEIR_SPACE_SIZE];	/* as of -netns; "": the initial one */
	uint64_t limits, exempts, blocked_prefixes, sources, early_count;
	uint64_t largest;		/* bytes of a limit */
	struct weir_xdp *early;		/* devices that drop early */
	char state[48];			/* the file of its saved state */
	int fd;				/* keeps it, and enters it */
	bool lost;			/* only the state has what was in force */
	uint64_t inode;			/* which no other one has meanwhile */
};

/* Versions and files of modules. */
#define WEIR_KMOD_SIZE	96
#define WEIR_KMOD_PATH	512

/* What an upgrade does, or did. */
struct weir_upgraded {
	uint64_t has;
	char from[WEIR_KMOD_SIZE], to[WEIR_KMOD_SIZE];
	char module[WEIR_KMOD_PATH], old[WEIR_KMOD_PATH];	/* files; old: or "" */
	const struct weir_space *spaces;
	unsigned int space_count;
	/* for how long packets were not limited, what precedes that was not saved, or dropped */
	uint64_t unlimited_ns, uncounted_ns, closed_ns;
};

/* The most sources that metrics show. */
#define WEIR_METRICS_TOP	100

struct weir_metering {
	uint64_t has;
	const char *file, *state;	/* or NULL, if not given */
	uint32_t top;
	bool http;
};

enum weir_xdp_mode { WEIR_XDP_NATIVE = 1, WEIR_XDP_GENERIC };

#define WEIR_OFF_SIZE	96

/* The XDP program on a device. */
struct weir_xdp {
	uint64_t has;
	unsigned int line;
	char dev[WEIR_DEV_SIZE];
	uint32_t mode;		/* enum weir_xdp_mode; 0: not given */
	uint32_t was;		/* what weir_xdp_apply() found there; 0: nothing */
	uint32_t program;	/* its id in the kernel */
	char off[WEIR_OFF_SIZE];	/* why it drops nothing, or "" */
};

/* What a budget would have refused, and of that in the last hour. */
struct weir_loss {
	uint64_t has;
	unsigned int budget_count;
	struct weir_budget budgets[WEIR_BUDGETS_MAX];
	uint64_t sources, packets, bytes, hour_sources, hour_packets, hour_bytes;
};

/* A source that sent much. */
struct weir_heavy {
	uint64_t has;
	struct weir_prefix prefix;	/* family 0: all sources */
	uint64_t packets, bytes;
	uint64_t peak;		/* the most within the window, in the budget's unit */
	uint64_t lost;		/* packets, to what is judged, or else to what is proposed first */
};

#define WEIR_WHY_SIZE	256

/* Why a word is proposed, or what the advice cannot know. */
struct weir_why {
	uint64_t has;
	char word[16], why[WEIR_WHY_SIZE];
};

#define WEIR_ADVICE_BUDGETS	64
#define WEIR_ADVICE_HEAVY	10
#define WEIR_ADVICE_WHYS	8
#define WEIR_ADVICE_JUDGED	(1 << 0)
#define WEIR_ADVICE_WATCHED	(1 << 1)	/* a limit that there is */

/* What became of packets, what budgets would have refused of them, and what follows from it. */
struct weir_advice {
	uint64_t has;			/* WEIR_ADVICE_* */
	char limit[WEIR_NAME_SIZE];
	uint64_t packets, bytes, sources, for_ns;
	uint64_t unmatched, unread;	/* packets that do not match, or are not of IP */
	struct weir_loss judged;	/* of the budgets that were given */
	unsigned int loss_count, heavy_count, why_count, unknown_count;
	struct weir_loss losses[WEIR_ADVICE_BUDGETS];	/* of single budgets, rising */
	struct weir_heavy heavy[WEIR_ADVICE_HEAVY];	/* the largest peaks first */
	struct weir_limit proposal;
	struct weir_why whys[WEIR_ADVICE_WHYS], unknown[WEIR_ADVICE_WHYS];
};

/* What limit advise is asked. */
struct weir_advising {
	struct weir_limit limit;	/* first: its budgets and conditions, and has */
	const char *capture;		/* a file of packets; or NULL: the limit is watched */
	uint64_t for_ms;		/* for how long; 0: the usual time */
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
	struct weir_upgrade upgrade;
	struct weir_metering metering;
	struct weir_xdp xdp;
	struct weir_top top;
	struct weir_advising advising;
};

#define WEIR_EARLY_MAX	256
#define WEIR_HASH_KEY_SIZE	16

struct weir_places;

/* Too large for the stack. */
struct weir_config {
	bool check, add, del;
	bool hold;			/* the first that weir_config_clear() zeroes, */
	uint8_t hash_key[WEIR_HASH_KEY_SIZE];	/* of a saved state, or all zero */
	unsigned int limit_count, exempt_count, early_count, list_count;
	unsigned int block_count;	/* of the exempts */
	unsigned int exempt_room, list_room;	/* of the arrays that grow */
	struct weir_exempt *exempts;
	struct weir_list *lists;	/* parts, all full but their last */
	unsigned int lists_named, member_count;
	unsigned int bad;		/* invalid items so far */
	unsigned int ended;		/* lines left out, as their end has passed */
	uint32_t sum;			/* CRC-32 of all files that it was read from */
	const struct weir_places *places;	/* of the lines; or NULL */
	struct weir_limit limits[WEIR_LIMITS_MAX];	/* up to here */
	struct weir_xdp early[WEIR_EARLY_MAX];	/* devices that drop early */
};

#endif
