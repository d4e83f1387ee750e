// SPDX-License-Identifier: GPL-2.0-or-later
/* The table. Its order is the order in help, text and JSON. */

#include "lang/row.h"

#define ON_DEVICE	.help = "only packets that arrive on this device"
#define COMMENT_HELP	"a note of up to 127 bytes, in quotes"
#define BY_PREFIX	"dropped by prefix"

static const struct weir_field prefix_rows[] = {
	{ NULL, &weir_type_prefix, 0, ATTR(prefix, PREFIX_ADDRESS), .part = WEIR_A_PREFIX_LEN }, END
};

static const struct weir_set prefix_fields = {
	SET("prefix", prefix), .fields = prefix_rows,
};

/* The budget belongs to the text of the prefix. */
static const struct weir_field member_rows[] = {
	{ NULL, &weir_type_prefix, 0, ATTR(member, MEMBER_ADDRESS), AT(member, prefix),
	  .part = WEIR_A_MEMBER_LEN },
	{ NULL, &weir_type_bits, 0, ATTR(member, MEMBER_BUDGET), AT(member, budget) }, END
};

static const struct weir_set member_fields = {
	SET("member", member), .fields = member_rows,
};

static const struct weir_field ports_rows[] = {
	{ NULL, &weir_type_ports, WEIR_WORDS, ATTR(ports, PORTS_FIRST),
	  .part = WEIR_A_PORTS_LAST }, END
};

static const struct weir_set ports_fields = {
	.name = "ports", .size = sizeof(uint16_t[2]), .fields = ports_rows,
};

#define MATCH(NAME, member)	ATTR(match, MATCH_##NAME), AT(match, member)
#define LIST(NAME, member, set, max)	ATTR(match, MATCH_##NAME), COND(NAME), .nest = &set, \
	.offset = offsetof(struct weir_match, member), \
	.size = sizeof(((struct weir_match *)0)->member[0]), \
	.many = max, .count = offsetof(struct weir_match, member##_count)
#define PREFIXES(NAME, member)	LIST(NAME, member, prefix_fields, WEIR_PREFIXES_MAX)
#define PORTS(NAME, member)	LIST(NAME, member, ports_fields, WEIR_PORTS_MAX)
#define TYPES(NAME, member)	ATTR(match, MATCH_##NAME), MANY(match, member, member##_count), \
	COND(NAME)
#define COND(COND_)	.bit = WEIR_COND_##COND_
#define ON_MATCH	(WEIR_ON_ADD | WEIR_ON_SET | WEIR_WORDS | WEIR_NOT)

static const struct weir_field match_rows[] = {
	{ "family", &weir_type_family, ON_MATCH, MATCH(FAMILY, family), COND(FAMILY),
	  .help = "only this address family" },
	{ "dev", &weir_type_dev, ON_MATCH, MATCH(DEV, dev), COND(DEV),
	  ON_DEVICE },
	{ "from", &weir_type_prefixes, ON_MATCH, PREFIXES(FROM, from),
	  .help = "only from these prefixes" },
	{ "to", &weir_type_prefixes, ON_MATCH, PREFIXES(TO, to), .help = "only to these prefixes" },
	{ "from-list", &weir_type_list, ON_MATCH, MATCH(FROM_LIST, from_list), COND(FROM_LIST),
	  .help = "only from the prefixes of this list" },
	{ "to-list", &weir_type_list, ON_MATCH, MATCH(TO_LIST, to_list), COND(TO_LIST),
	  .help = "only to the prefixes of this list" },
	{ "proto", &weir_type_proto, ON_MATCH, TYPES(PROTO, proto),
	  .help = "only these protocols" },
	{ "sport", &weir_type_portlist, ON_MATCH, PORTS(SPORT, sport),
	  .help = "only from these ports" },
	{ "dport", &weir_type_portlist, ON_MATCH, PORTS(DPORT, dport),
	  .help = "only to these ports" },
	{ "syn", &weir_type_flag, ON_MATCH, ATTR(match, MATCH_SYN), COND(SYN),
	  .help = "only TCP with SYN set and ACK, RST, FIN clear" },
	{ "icmp-type", &weir_type_icmp, ON_MATCH, TYPES(ICMP_TYPE, icmp),
	  .help = "only ICMP of these types" },
	{ "icmpv6-type", &weir_type_icmpv6, ON_MATCH, TYPES(ICMPV6_TYPE, icmpv6),
	  .help = "only ICMPv6 of these types" },
	{ "frag", &weir_type_flag, ON_MATCH, ATTR(match, MATCH_FRAG), COND(FRAG),
	  .help = "only fragments other than the first" },
	{ "mark", &weir_type_mark, ON_MATCH, MATCH(MARK, mark), COND(MARK),
	  .part = WEIR_A_MATCH_MARK_MASK, .help = "only with this mark" },
	{ "match", &weir_type_any, WEIR_ON_ADD | WEIR_ON_SET, MATCH(ANY, any),
	  .nest = &weir_match_fields,
	  .help = "replaces all conditions; any: no condition" },
	{ "not", &weir_type_bits, 0, MATCH(INVERT, invert) },
	END
};

const struct weir_set weir_match_fields = {
	SET("match", match), .fields = match_rows,
	.invert = offsetof(struct weir_match, invert),
};

/* One packet is described as a match of it alone is. */
#define ONE(NAME, member)	MATCH(NAME, member[0]), COND(NAME)

static const struct weir_field packet_rows[] = {
	{ "to", &weir_type_prefixes, WEIR_ON_GET, LIST(TO, to, prefix_fields, 1), .value = "ADDR",
	  .help = "destination address of the packet" },
	{ "proto", &weir_type_proto, WEIR_ON_GET, ONE(PROTO, proto), .value = "PROTO",
	  .help = "its protocol" },
	{ "sport", &weir_type_portlist, WEIR_ON_GET, LIST(SPORT, sport, ports_fields, 1),
	  .value = "PORT", .help = "its source port" },
	{ "dport", &weir_type_portlist, WEIR_ON_GET, LIST(DPORT, dport, ports_fields, 1),
	  .value = "PORT", .help = "its destination port" },
	{ "syn", &weir_type_flag, WEIR_NOT | WEIR_ON_GET, ATTR(match, MATCH_SYN), COND(SYN),
	  .help = "it opens a TCP connection, or not" },
	{ "frag", &weir_type_flag, WEIR_NOT | WEIR_ON_GET, ATTR(match, MATCH_FRAG), COND(FRAG),
	  .help = "it is a fragment other than the first, or not" },
	{ "icmp-type", &weir_type_icmp, WEIR_ON_GET, ONE(ICMP_TYPE, icmp), .value = "TYPE",
	  .help = "its type of ICMP" },
	{ "icmpv6-type", &weir_type_icmpv6, WEIR_ON_GET, ONE(ICMPV6_TYPE, icmpv6),
	  .value = "TYPE", .help = "its type of ICMPv6" },
	{ "mark", &weir_type_mark, WEIR_ON_GET, MATCH(MARK, mark), COND(MARK),
	  .part = WEIR_A_MATCH_MARK_MASK, .value = "VALUE", .help = "its mark" },
	{ "not", &weir_type_bits, 0, MATCH(INVERT, invert) },
	END
};

const struct weir_set weir_packet_fields = {
	SET("packet", match), .fields = packet_rows,
	.invert = offsetof(struct weir_match, invert),
};

#define STATS(NAME, member)	ATTR(limit_stats, LIMIT_STATS_##NAME), AT(limit_stats, member)
#define STATS_COUNTER(text, NAME, member)	\
	{ text, &weir_type_counter, WEIR_WORDS | WEIR_LINE, \
	  STATS(NAME, member), .nest = &weir_counter_fields }

static const struct weir_field limit_stats_rows[] = {
	STATS_COUNTER("matched", MATCHED, matched),
	STATS_COUNTER("admitted", ADMITTED, admitted),
	STATS_COUNTER("dropped", DROPPED, dropped),
	STATS_COUNTER("would drop", WOULD_DROP, would_drop),
	STATS_COUNTER("dropped elsewhere", ELSEWHERE, elsewhere),
	STATS_COUNTER("refused by floors", FLOOR_REFUSED, floor_refused),
	STATS_COUNTER("too large to fit", TOO_LARGE, too_large),
	{ "dropped early", &weir_type_counter, WEIR_WORDS | WEIR_LINE, STATS(EARLY, early),
	  .nest = &weir_counter_fields, .key = "dropped_early" },
	STATS_COUNTER(BY_PREFIX, DROPPED_BY_PREFIX, dropped_by_prefix),
	{ "newcomers", &weir_type_counter, WEIR_WORDS | WEIR_LINE, STATS(NEWCOMERS, newcomers),
	  .bit = WEIR_HAS(LIMIT_STATS_NEWCOMERS), .nest = &weir_counter_fields,
	  .key = "newcomers_admitted" },
	{ "second tries", &weir_type_counter, WEIR_WORDS | WEIR_LINE,
	  STATS(SECOND_TRIES, second_tries), .bit = WEIR_HAS(LIMIT_STATS_SECOND_TRIES),
	  .nest = &weir_counter_fields },
	{ "newcomers refused", &weir_type_counter, WEIR_WORDS | WEIR_LINE,
	  STATS(NEWCOMERS_REFUSED, newcomers_refused),
	  .bit = WEIR_HAS(LIMIT_STATS_NEWCOMERS_REFUSED), .nest = &weir_counter_fields },
	{ "sources now", &weir_type_uint, WEIR_WORDS | WEIR_LINE,
	  STATS(SOURCES_NOW, sources_now), .bit = WEIR_HAS(LIMIT_STATS_SOURCES_NOW) },
	{ "known now", &weir_type_uint, WEIR_WORDS | WEIR_LINE, STATS(KNOWN_NOW, known_now),
	  .bit = WEIR_HAS(LIMIT_STATS_KNOWN_NOW) },
	{ "newcomers now", &weir_type_uint, WEIR_WORDS | WEIR_LINE,
	  STATS(NEWCOMERS_NOW, newcomers_now), .bit = WEIR_HAS(LIMIT_STATS_NEWCOMERS_NOW) },
	{ "limited now", &weir_type_uint, WEIR_WORDS | WEIR_LINE, STATS(LIMITED_NOW, limited_now) },
	{ "blocked now", &weir_type_uint, WEIR_WORDS | WEIR_LINE, STATS(BLOCKED_NOW, blocked_now) },
	{ "penalties", &weir_type_uint, WEIR_WORDS | WEIR_LINE, STATS(PENALTIES, penalties) },
	{ "blocks lost", &weir_type_uint, WEIR_WORDS | WEIR_LINE, STATS(BLOCKS_LOST, blocks_lost) },
	{ "evictions", &weir_type_uint, WEIR_WORDS | WEIR_LINE, STATS(EVICTIONS, evictions) },
	{ "logged", &weir_type_uint, WEIR_WORDS | WEIR_LINE, STATS(LOGGED, logged),
	  .bit = WEIR_HAS(LIMIT_STATS_LOGGED) },
	{ "sources wanted", &weir_type_uint, WEIR_WORDS | WEIR_MUTE | WEIR_SOME,
	  STATS(SOURCES_WANTED, sources_wanted) },
	END
};

const struct weir_set weir_limit_stats_fields = {
	SET("stats", limit_stats), .fields = limit_stats_rows,
	.indent = 4,
};

#define ZONE(NAME, member)	WEIR_WORDS, ATTR(zone, ZONE_##NAME), AT(zone, member), \
	.bit = WEIR_HAS(ZONE_##NAME)

static const struct weir_field zone_rows[] = {
	{ "name", &weir_type_name, ZONE(NAME, name) },
	{ "offset", &weir_type_uint, ZONE(OFFSET, offset) },
	{ "next offset", &weir_type_uint, ZONE(NEXT_OFFSET, next_offset) },
	{ "change", &weir_type_uint, ZONE(CHANGE, change) },
	END
};

static const struct weir_set zone_fields = {
	SET("zone", zone), .fields = zone_rows,
};

#define LIMIT(NAME, member)	ATTR(limit, LIMIT_##NAME), AT(limit, member)
#define HAS(NAME)	.bit = WEIR_HAS(LIMIT_##NAME)
#define IN_LIMIT	(WEIR_WORDS | WEIR_EVENT)
#define ON_LIMIT	(WEIR_ON_ADD | WEIR_ON_SET | IN_LIMIT)

static const struct weir_field limit_rows[] = {
	{ "name", &weir_type_name, WEIR_FIRST | WEIR_ON_ADD | WEIR_ON_SET | WEIR_ON_DEL |
	  WEIR_ON_SHOW | WEIR_ON_RENAME | WEIR_WORDS,
	  LIMIT(NAME, name),
	  .needed = WEIR_ON_ADD | WEIR_ON_SET | WEIR_ON_DEL | WEIR_ON_RENAME, .key = "limit",
	  .color = WEIR_COLOR_NAME },
	{ "new name", &weir_type_name, WEIR_FIRST | WEIR_ON_RENAME | WEIR_EVENT | WEIR_SOME,
	  LIMIT(NEW_NAME, new_name), .needed = WEIR_ON_RENAME, .value = "NEW-NAME",
	  .label = "to", .color = WEIR_COLOR_NAME },
	{ NULL, &weir_type_nest, ON_LIMIT | WEIR_SOME, ATTR(limit, LIMIT_BUDGET),
	  MANY(limit, budgets, budget_count), HAS(BUDGET), .nest = &weir_budget_fields,
	  .key = "budgets" },
	{ "tz", &weir_type_zone, ON_LIMIT | WEIR_SOME, LIMIT(ZONE, zone), HAS(ZONE),
	  .usual = "UTC", .nest = &zone_fields, .key = "tz",
	  .help = "zone of a calendar, such as +02:00 (default: UTC)" },
	{ "only", &weir_type_flag, WEIR_ON_SET, LIMIT(ONLY, only),
	  .help = "remove the budgets that are not given" },
	{ "budgets-by", &weir_type_lookup, WEIR_QUIET | WEIR_SOME | ON_LIMIT,
	  LIMIT(BUDGETS_BY, budgets_by), HAS(BUDGETS_BY), .usual = "none",
	  .help = "list that gives sources another first budget" },
	{ "sharing", &weir_type_enum, WEIR_BARE | WEIR_QUIET | WEIR_SOME | ON_LIMIT,
	  LIMIT(SHARING, sharing), HAS(SHARING), .usual = "unshared",
	  .help = "whether hosts of a group share the budgets" },
	{ NULL, &weir_type_nest, ON_LIMIT, LIMIT(MATCH, match), HAS(MATCH),
	  .nest = &weir_match_fields },
	{ "per", &weir_type_per, WEIR_ON_ADD | IN_LIMIT | WEIR_QUIET, LIMIT(PREFIX4, per),
	  HAS(PREFIX4), .part = WEIR_A_LIMIT_PREFIX6, .usual = "32,64",
	  .help = WEIR_PER_HELP },
	{ "sources", &weir_type_uint, ON_LIMIT | WEIR_SOME, LIMIT(SOURCES, sources),
	  HAS(SOURCES), .help = "number of active sources that the table is for" },
	{ "blocks", &weir_type_uint, ON_LIMIT | WEIR_SOME, LIMIT(BLOCKS_ONLY, blocks_only),
	  HAS(BLOCKS_ONLY), .help = "only block, so many at once, and count nobody" },
	{ "newcomers", &weir_type_newcomers, ON_LIMIT | WEIR_SOME, LIMIT(NEWCOMERS, newcomers),
	  HAS(NEWCOMERS), .part = WEIR_A_LIMIT_NEWCOMERS_MS, .usual = "none",
	  .help = "budget shared by all sources not yet known" },
	{ "flood", &weir_type_rate, WEIR_QUIET | WEIR_SOME | ON_LIMIT, LIMIT(FLOOD, flood),
	  HAS(FLOOD), .usual = "100k/s",
	  .help = "refused newcomers to remember (default: 100k/s)" },
	{ "known", &weir_type_ms, WEIR_QUIET | WEIR_SOME | ON_LIMIT, LIMIT(KNOWN_MS, known_ms),
	  HAS(KNOWN_MS), .usual = "10s", .key = "known_ms", .value = "none|TIME",
	  .help = "when a source gets known (10s); none: do not learn" },
	{ "penalty", &weir_type_ms, WEIR_QUIET | WEIR_SOME | ON_LIMIT,
	  LIMIT(PENALTY_MS, penalty_ms), HAS(PENALTY_MS), .usual = "none", .value = "none|TIME",
	  .help = "how long to block a source that exceeds a budget" },
	{ "renew", &weir_type_flag, WEIR_FOLLOWS | WEIR_SOME | ON_LIMIT, LIMIT(RENEW, renew),
	  .usual = "none" },
	{ "action", &weir_type_enum, WEIR_QUIET | ON_LIMIT, LIMIT(ACTION, action),
	  HAS(ACTION), .usual = "drop", .help = "drop packets (default), or only count them" },
	{ "log", &weir_type_group, WEIR_QUIET | WEIR_SOME | ON_LIMIT, LIMIT(LOG, log), HAS(LOG),
	  .usual = "none", .help = "group of nflog for a sample of what is dropped" },
	{ "before", &weir_type_name, WEIR_ON_ADD | WEIR_ON_SET | WEIR_EVENT, LIMIT(BEFORE, before),
	  HAS(BEFORE), .help = "place the limit before this one (default: last)" },
	{ "comment", &weir_type_comment, ON_LIMIT | WEIR_SOME, LIMIT(COMMENT, comment),
	  HAS(COMMENT), .help = COMMENT_HELP "; \"\" for none" },
	{ "memory", &weir_type_size, WEIR_RESULT, LIMIT(MEMORY, memory), HAS(MEMORY) },
	{ "entries", &weir_type_uint, WEIR_RESULT, LIMIT(ENTRIES, entries), HAS(ENTRIES),
	  .label = "places" },
	{ "source", &weir_type_size, WEIR_RESULT, LIMIT(SOURCE_BYTES, source_bytes),
	  HAS(SOURCE_BYTES), .label = "each" },
	{ "blocks", &weir_type_uint, WEIR_RESULT, LIMIT(BLOCKS, blocks), HAS(BLOCKS) },
	{ "learning", &weir_type_ns, WEIR_RESULT | WEIR_SOME, LIMIT(LEARNING_NS, learning_ns),
	  .key = "learning_ms", .label = "learning for" },
	{ "alone now", &weir_type_flag, WEIR_RESULT | WEIR_SOME, LIMIT(ALONE_NOW, alone),
	  .color = WEIR_COLOR_BAD },
	{ "stats", &weir_type_nest, WEIR_RESULT | WEIR_MUTE, LIMIT(STATS, stats), HAS(STATS),
	  .nest = &weir_limit_stats_fields },
	{ NULL, &weir_type_code, 0, LIMIT(EVENT, event), HAS(EVENT) },
	{ NULL, &weir_type_flag, WEIR_ON_SHOW, LIMIT(WANT_STATS, want_stats) },
	{ NULL, &weir_type_flag, WEIR_ON_ADD | WEIR_ON_SET | WEIR_ON_DEL | WEIR_ON_RENAME,
	  LIMIT(CHECK, check) },
	END
};

const struct weir_set weir_limit_fields = {
	SET("limit", limit), .fields = limit_rows,
};

#define EXEMPT(NAME, member)	ATTR(exempt, EXEMPT_##NAME), AT(exempt, member)
#define ON_EXEMPT	(WEIR_ON_ADD | WEIR_ON_DEL | WEIR_WORDS | WEIR_EVENT)

static const struct weir_field exempt_rows[] = {
	{ "PREFIX", &weir_type_prefix, WEIR_FIRST | ON_EXEMPT, EXEMPT(ADDRESS, prefix),
	  .part = WEIR_A_EXEMPT_PREFIX_LEN, .needed = WEIR_ON_ADD | WEIR_ON_DEL,
	  .help = "an address, or a network with its length in bits", .key = "prefix",
	  .color = WEIR_COLOR_ADDRESS },
	{ "ADDR", &weir_type_address, WEIR_FIRST | WEIR_ON_GET, EXEMPT(ADDRESS, prefix),
	  .part = WEIR_A_EXEMPT_PREFIX_LEN, .needed = WEIR_ON_GET },
	{ "dev", &weir_type_dev, ON_EXEMPT | WEIR_ON_GET | WEIR_SOME, EXEMPT(DEV, dev),
	  ON_DEVICE },
	{ "limit", &weir_type_name, ON_EXEMPT | WEIR_ON_GET | WEIR_SOME, EXEMPT(LIMIT, limit),
	  .help = "only under this limit (default: all)" },
	{ "comment", &weir_type_comment, WEIR_ON_ADD | WEIR_WORDS | WEIR_EVENT | WEIR_SOME,
	  EXEMPT(COMMENT, comment), .help = COMMENT_HELP },
	{ "for", &weir_type_left, WEIR_ON_ADD | WEIR_WORDS | WEIR_EVENT | WEIR_SOME,
	  EXEMPT(FOR_MS, for_ms), .usual = "ever", .value = "TIME|ever",
	  .help = "for how long (default: for ever)" },
	{ "until", &weir_type_date, WEIR_ON_ADD | WEIR_WORDS | WEIR_SOME, AT(exempt, until),
	  .key = "until", .help = "until when, in UTC: 2030-01-31T12:00:00Z" },
	{ NULL, &weir_type_flag, WEIR_ON_ADD | WEIR_ON_DEL | WEIR_WORDS | WEIR_EVENT | WEIR_SOME |
	  WEIR_MUTE | WEIR_ON_FLUSH, EXEMPT(BLOCK, block) },
	{ NULL, &weir_type_flag, WEIR_ON_ADD, EXEMPT(REPLACE, replace) },
	{ NULL, &weir_type_flag, WEIR_ON_ADD, EXEMPT(FORCE, force) },
	{ NULL, &weir_type_code, 0, EXEMPT(EVENT, event) },
	{ "stats", &weir_type_nest, WEIR_RESULT, EXEMPT(STATS, stats),
	  .bit = WEIR_HAS(EXEMPT_STATS), .nest = &weir_counter_fields },
	{ NULL, &weir_type_flag, WEIR_ON_SHOW | WEIR_ON_GET, EXEMPT(WANT_STATS, want_stats) },
	{ NULL, &weir_type_flag, WEIR_ON_ADD | WEIR_ON_DEL, EXEMPT(CHECK, check) },
	END
};

const struct weir_set weir_exempt_fields = {
	SET("exempt", exempt), .fields = exempt_rows,
};

/* The same of prefixes that are blocked. */
const struct weir_set weir_block_fields = {
	SET("blocked", exempt), .fields = exempt_rows,
};

#define IN_LIST(NAME)	ATTR(prefix_list, PREFIX_LIST_##NAME)
#define ON_LIST		(WEIR_ON_ADD | WEIR_ON_SET | WEIR_ON_DEL)

static const struct weir_field list_rows[] = {
	{ "name", &weir_type_list, WEIR_FIRST | ON_LIST | WEIR_ON_SHOW | WEIR_WORDS, IN_LIST(NAME),
	  AT(list, name), .needed = ON_LIST, .key = "list", .color = WEIR_COLOR_NAME },
	{ "prefixes", &weir_type_members, WEIR_ALONE | ON_LIST | WEIR_WORDS, IN_LIST(PREFIX),
	  MANY(list, member, member_count), .nest = &member_fields, .key = "prefixes",
	  .label = "", .help = "prefixes, with or without a budget of their sources" },
	{ "file", &weir_type_file, ON_LIST, AT(list, file),
	  .help = "file with prefixes, one or several a line" },
	END
};

const struct weir_set weir_list_fields = {
	SET("list", list), .fields = list_rows,
};

static const struct weir_field list_change_rows[] = {
	{ "name", &weir_type_list, WEIR_FIRST | ON_LIST, IN_LIST(NAME), AT(list_change, name) },
	{ NULL, &weir_type_members, ON_LIST, IN_LIST(PREFIX),
	  MANY(list_change, member, member_count), .nest = &member_fields },
	{ NULL, &weir_type_flag, ON_LIST, IN_LIST(CHECK), AT(list_change, check) },
	END
};

const struct weir_set weir_list_change_fields = {
	SET("list", list_change), .fields = list_change_rows,
};

#define TOTAL(NAME, member)	ATTR(stats, STATS_##NAME), AT(stats, member)

/* In JSON a name without unit is that of a limit's counter, or of a list. */
#define TOTAL_PACKETS(text, NAME, member)	\
	{ text, &weir_type_uint, WEIR_LINE, TOTAL(NAME, member), .key = text "_packets" }

static const struct weir_field stats_rows[] = {
	TOTAL_PACKETS("seen", SEEN, seen),
	TOTAL_PACKETS("exempt", EXEMPT, exempt),
	TOTAL_PACKETS("unmatched", UNMATCHED, unmatched),
	TOTAL_PACKETS("admitted", ADMITTED, admitted),
	TOTAL_PACKETS("dropped", DROPPED, dropped),
	{ BY_PREFIX, &weir_type_uint, WEIR_LINE,
	  TOTAL(DROPPED_BY_PREFIX, dropped_by_prefix), .key = "dropped_by_prefix_packets" },
	TOTAL_PACKETS("unparsable", UNPARSABLE, unparsable),
	{ "events lost", &weir_type_uint, WEIR_LINE, TOTAL(EVENTS_LOST, events_lost) },
	{ "limits", &weir_type_uint, WEIR_RESULT, TOTAL(LIMITS, limits), .key = "limit_count" },
	{ "exempts", &weir_type_uint, WEIR_RESULT, TOTAL(EXEMPTS, exempts),
	  .key = "exempt_count" },
	{ "blocked prefixes", &weir_type_uint, WEIR_RESULT,
	  TOTAL(BLOCKED_PREFIXES, blocked_prefixes), .key = "blocked_prefix_count" },
	{ "memory", &weir_type_size, WEIR_RESULT, TOTAL(MEMORY, memory) },
	{ "generation", &weir_type_uint, WEIR_RESULT, TOTAL(GENERATION, generation) },
	{ "tick", &weir_type_ns, WEIR_RESULT, TOTAL(TICK_NS, tick_ns), .key = "tick_ms" },
	{ NULL, &weir_type_code, 0, TOTAL(CLOCK_NS, clock_ns) },
	{ NULL, &weir_type_code, 0, TOTAL(NAMESPACES, namespaces),
	  .bit = WEIR_HAS(STATS_NAMESPACES) },
	END
};

const struct weir_set weir_stats_fields = {
	SET("stats", stats), .fields = stats_rows,
};

#define PRESSURE(NAME, member)	ATTR(pressure, PRESSURE_##NAME), AT(pressure, member)

static const struct weir_field pressure_rows[] = {
	{ "limit", &weir_type_name, WEIR_EVENT, PRESSURE(LIMIT, limit) },
	{ "evictions", &weir_type_uint, WEIR_EVENT, PRESSURE(EVICTIONS, evictions) },
	{ "floor-refused", &weir_type_uint, WEIR_EVENT, PRESSURE(FLOOR_REFUSED, floor_refused),
	  .key = "floor_refused_packets" },
	{ "sources-wanted", &weir_type_uint, WEIR_EVENT | WEIR_SOME,
	  PRESSURE(SOURCES_WANTED, sources_wanted) },
	{ "blocks-lost", &weir_type_uint, WEIR_EVENT | WEIR_SOME,
	  PRESSURE(BLOCKS_LOST, blocks_lost) },
	END
};

const struct weir_set weir_pressure_fields = {
	SET("pressure", pressure), .fields = pressure_rows,
};

#define NEWCOMERS(NAME, member)	ATTR(newcomers, NEWCOMERS_##NAME), AT(newcomers, member)

static const struct weir_field newcomers_rows[] = {
	{ "limit", &weir_type_name, WEIR_EVENT, NEWCOMERS(LIMIT, limit) },
	{ "refused", &weir_type_uint, WEIR_EVENT, NEWCOMERS(REFUSED, refused),
	  .key = "refused_packets" },
	{ "next", &weir_type_ns, WEIR_EVENT, NEWCOMERS(NEXT_NS, next_ns), .key = "next_ms",
	  .label = "room in" },
	END
};

const struct weir_set weir_newcomers_fields = {
	SET("newcomers", newcomers), .fields = newcomers_rows,
};

#define GROWS(array, number, most)	.offset = offsetof(struct weir_config, array), \
	.size = sizeof(*((struct weir_config *)0)->array), .apart = true, \
	.many = most, .count = offsetof(struct weir_config, number)

/* The words here prefix the messages on refused items. */
static const struct weir_field config_rows[] = {
	{ "prefix-list add:", &weir_type_nest, WEIR_ON_ADD,
	  ATTR(config, CONFIG_PREFIX_LIST), GROWS(lists, list_count, WEIR_LIST_PARTS_MAX),
	  .nest = &weir_list_fields },
	{ "limit add:", &weir_type_nest, WEIR_ON_ADD,
	  ATTR(config, CONFIG_LIMIT), MANY(config, limits, limit_count),
	  .nest = &weir_limit_fields },
	{ "exempt add:", &weir_type_nest, WEIR_ON_ADD | WEIR_ON_DEL,
	  ATTR(config, CONFIG_EXEMPT), GROWS(exempts, exempt_count, 2 * WEIR_EXEMPTS_MAX),
	  .nest = &weir_exempt_fields },
	{ NULL, &weir_type_flag, WEIR_ON_ADD, ATTR(config, CONFIG_CHECK), AT(config, check) },
	{ NULL, &weir_type_flag, WEIR_ON_ADD, ATTR(config, CONFIG_ADD), AT(config, add) },
	{ NULL, &weir_type_flag, WEIR_ON_DEL, ATTR(config, CONFIG_DEL), AT(config, del) },
	{ NULL, &weir_type_flag, WEIR_ON_ADD, ATTR(config, CONFIG_HOLD), AT(config, hold) },
	{ NULL, &weir_type_bytes, WEIR_ON_ADD, ATTR(config, CONFIG_HASH_KEY),
	  AT(config, hash_key) },
	END
};

const struct weir_set weir_config_fields = {
	.name = "config", .fields = config_rows,
};
