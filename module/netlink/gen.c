// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/weir.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "gen.h"

#include <uapi/linux/weir.h>
#include <netlink/genl_compat.h>

/* Integer value ranges */
static const struct netlink_range_validation weir_a_member_budget_range = {
	.min	= 1ULL,
	.max	= WEIR_BYTES_MAX,
};

static const struct netlink_range_validation weir_a_budget_budget_range = {
	.min	= 1ULL,
	.max	= WEIR_BYTES_MAX,
};

static const struct netlink_range_validation weir_a_budget_window_ms_range = {
	.max	= WEIR_WINDOW_MS_MAX,
};

static const struct netlink_range_validation weir_a_budget_burst_range = {
	.min	= 1ULL,
	.max	= WEIR_BURST_MAX,
};

static const struct netlink_range_validation weir_a_budget_alone_range = {
	.max	= WEIR_BYTES_MAX,
};

static const struct netlink_range_validation weir_a_limit_sources_range = {
	.min	= WEIR_SOURCES_MIN,
	.max	= WEIR_SOURCES_MAX,
};

static const struct netlink_range_validation weir_a_limit_newcomers_range = {
	.max	= WEIR_PACKETS_MAX,
};

static const struct netlink_range_validation weir_a_limit_newcomers_ms_range = {
	.min	= WEIR_WINDOW_MS_MIN,
	.max	= WEIR_WINDOW_MS_MAX,
};

static const struct netlink_range_validation weir_a_limit_flood_range = {
	.min	= 1ULL,
	.max	= WEIR_FLOOD_MAX,
};

static const struct netlink_range_validation weir_a_limit_known_ms_range = {
	.max	= WEIR_KNOWN_MS_MAX,
};

static const struct netlink_range_validation weir_a_limit_penalty_ms_range = {
	.max	= WEIR_BLOCK_MS_MAX,
};

static const struct netlink_range_validation weir_a_limit_joined_ms_range = {
	.max	= WEIR_JOINED_MS_MAX,
};

static const struct netlink_range_validation weir_a_limit_blocks_only_range = {
	.min	= 1ULL,
	.max	= WEIR_BLOCKS_MAX,
};

static const struct netlink_range_validation weir_a_exempt_for_ms_range = {
	.max	= WEIR_BLOCK_MS_MAX,
};

static const struct netlink_range_validation weir_a_source_cost_range = {
	.min	= 1ULL,
	.max	= WEIR_BYTES_MAX,
};

static const struct netlink_range_validation weir_a_source_for_ms_range = {
	.max	= WEIR_BLOCK_MS_MAX,
};

static const struct netlink_range_validation weir_a_source_len_range = {
	.min	= 20ULL,
	.max	= 524280ULL,
};

static const struct netlink_range_validation weir_a_state_budget_budget_range = {
	.min	= 1ULL,
	.max	= WEIR_BYTES_MAX,
};

static const struct netlink_range_validation weir_a_state_budget_rate_range = {
	.min	= 1ULL,
	.max	= WEIR_BYTES_MAX,
};

static const struct netlink_range_validation weir_a_state_budget_slots_range = {
	.min	= 1ULL,
	.max	= WEIR_SLOTS_MOST,
};

static const struct netlink_range_validation weir_a_state_budget_slot_ns_range = {
	.max	= WEIR_SLOT_NS_MAX,
};

static const struct netlink_range_validation weir_a_state_count_wanted_range = {
	.min	= 1ULL,
	.max	= WEIR_BYTES_MAX,
};

static const struct netlink_range_validation weir_a_state_count_refused_range = {
	.max	= WEIR_SLOTS_MOST,
};

static const struct netlink_range_validation weir_a_state_newcomers_slot_ns_range = {
	.min	= 1ULL,
	.max	= WEIR_SLOT_NS_MAX,
};

static const struct netlink_range_validation weir_a_state_tick_ns_range = {
	.min	= 1ULL,
	.max	= WEIR_TICK_NS_MAX,
};

static const struct netlink_range_validation weir_a_state_sets_range = {
	.min	= 1ULL,
	.max	= WEIR_SETS_MAX,
};

/* Common nested types */
const struct nla_policy weir_budget_nl_policy[WEIR_A_BUDGET_REFUSED + 1] = {
	[WEIR_A_BUDGET_BUDGET] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_budget_budget_range),
	[WEIR_A_BUDGET_WINDOW_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_budget_window_ms_range),
	[WEIR_A_BUDGET_UNIT] = NLA_POLICY_MAX(NLA_U32, 1),
	[WEIR_A_BUDGET_SLOTS] = NLA_POLICY_RANGE(NLA_U32, 1, WEIR_SLOTS_MAX),
	[WEIR_A_BUDGET_MODE] = NLA_POLICY_MAX(NLA_U32, 5),
	[WEIR_A_BUDGET_BURST] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_budget_burst_range),
	[WEIR_A_BUDGET_ALONE] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_budget_alone_range),
	[WEIR_A_BUDGET_SLOT_NS] = { .type = NLA_U64, },
	[WEIR_A_BUDGET_WINDOW_NS] = { .type = NLA_U64, },
	[WEIR_A_BUDGET_MOST] = { .type = NLA_U64, },
	[WEIR_A_BUDGET_RENEWS] = { .type = NLA_U64, },
	[WEIR_A_BUDGET_REFUSED] = NLA_POLICY_NESTED(weir_counter_nl_policy),
};

const struct nla_policy weir_counter_nl_policy[WEIR_A_COUNTER_BYTES + 1] = {
	[WEIR_A_COUNTER_PACKETS] = { .type = NLA_U64, },
	[WEIR_A_COUNTER_BYTES] = { .type = NLA_U64, },
};

const struct nla_policy weir_exempt_entry_nl_policy[WEIR_A_EXEMPT_FORCE + 1] = {
	[WEIR_A_EXEMPT_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_EXEMPT_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_EXEMPT_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_EXEMPT_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_EXEMPT_COMMENT] = { .type = NLA_NUL_STRING, .len = WEIR_COMMENT_MAX, },
	[WEIR_A_EXEMPT_FOR_MS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_exempt_for_ms_range),
	[WEIR_A_EXEMPT_BLOCK] = { .type = NLA_FLAG, },
	[WEIR_A_EXEMPT_REPLACE] = { .type = NLA_FLAG, },
	[WEIR_A_EXEMPT_FORCE] = { .type = NLA_FLAG, },
};

const struct nla_policy weir_limit_entry_nl_policy[WEIR_A_LIMIT_BLOCKS_ONLY + 1] = {
	[WEIR_A_LIMIT_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_BUDGET] = NLA_POLICY_NESTED(weir_budget_nl_policy),
	[WEIR_A_LIMIT_PREFIX4] = NLA_POLICY_MAX(NLA_U8, 32),
	[WEIR_A_LIMIT_PREFIX6] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_LIMIT_SOURCES] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_sources_range),
	[WEIR_A_LIMIT_ACTION] = NLA_POLICY_MAX(NLA_U32, 1),
	[WEIR_A_LIMIT_MATCH] = NLA_POLICY_NESTED(weir_match_nl_policy),
	[WEIR_A_LIMIT_COMMENT] = { .type = NLA_NUL_STRING, .len = WEIR_COMMENT_MAX, },
	[WEIR_A_LIMIT_NEWCOMERS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_limit_newcomers_range),
	[WEIR_A_LIMIT_NEWCOMERS_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_newcomers_ms_range),
	[WEIR_A_LIMIT_FLOOD] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_flood_range),
	[WEIR_A_LIMIT_KNOWN_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_known_ms_range),
	[WEIR_A_LIMIT_ZONE] = NLA_POLICY_NESTED(weir_zone_nl_policy),
	[WEIR_A_LIMIT_PENALTY_MS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_limit_penalty_ms_range),
	[WEIR_A_LIMIT_RENEW] = { .type = NLA_FLAG, },
	[WEIR_A_LIMIT_LOG] = { .type = NLA_U16, },
	[WEIR_A_LIMIT_BUDGETS_BY] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_SHARING] = NLA_POLICY_MAX(NLA_U32, 1),
	[WEIR_A_LIMIT_BLOCKS_ONLY] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_blocks_only_range),
};

const struct nla_policy weir_match_nl_policy[WEIR_A_MATCH_TO_LIST + 1] = {
	[WEIR_A_MATCH_INVERT] = NLA_POLICY_MASK(NLA_U32, 0x3fff),
	[WEIR_A_MATCH_FAMILY] = { .type = NLA_U8, },
	[WEIR_A_MATCH_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_MATCH_FROM] = NLA_POLICY_NESTED(weir_prefix_nl_policy),
	[WEIR_A_MATCH_TO] = NLA_POLICY_NESTED(weir_prefix_nl_policy),
	[WEIR_A_MATCH_PROTO] = { .type = NLA_U8, },
	[WEIR_A_MATCH_SPORT] = NLA_POLICY_NESTED(weir_ports_nl_policy),
	[WEIR_A_MATCH_DPORT] = NLA_POLICY_NESTED(weir_ports_nl_policy),
	[WEIR_A_MATCH_SYN] = { .type = NLA_FLAG, },
	[WEIR_A_MATCH_FRAG] = { .type = NLA_FLAG, },
	[WEIR_A_MATCH_MARK] = { .type = NLA_U32, },
	[WEIR_A_MATCH_MARK_MASK] = { .type = NLA_U32, },
	[WEIR_A_MATCH_ANY] = { .type = NLA_FLAG, },
	[WEIR_A_MATCH_ICMP_TYPE] = { .type = NLA_U8, },
	[WEIR_A_MATCH_ICMPV6_TYPE] = { .type = NLA_U8, },
	[WEIR_A_MATCH_FROM_LIST] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_MATCH_TO_LIST] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
};

const struct nla_policy weir_member_nl_policy[WEIR_A_MEMBER_PAD + 1] = {
	[WEIR_A_MEMBER_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_MEMBER_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_MEMBER_BUDGET] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_member_budget_range),
};

const struct nla_policy weir_ports_nl_policy[WEIR_A_PORTS_LAST + 1] = {
	[WEIR_A_PORTS_FIRST] = { .type = NLA_U16, },
	[WEIR_A_PORTS_LAST] = { .type = NLA_U16, },
};

const struct nla_policy weir_prefix_nl_policy[WEIR_A_PREFIX_LEN + 1] = {
	[WEIR_A_PREFIX_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
};

const struct nla_policy weir_prefix_list_entry_nl_policy[WEIR_A_PREFIX_LIST_PREFIX + 1] = {
	[WEIR_A_PREFIX_LIST_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_PREFIX_LIST_PREFIX] = NLA_POLICY_NESTED(weir_member_nl_policy),
};

const struct nla_policy weir_state_budget_nl_policy[WEIR_A_STATE_BUDGET_WIDTH + 1] = {
	[WEIR_A_STATE_BUDGET_UNIT] = NLA_POLICY_MAX(NLA_U32, 1),
	[WEIR_A_STATE_BUDGET_MODE] = NLA_POLICY_MAX(NLA_U32, 5),
	[WEIR_A_STATE_BUDGET_BUDGET] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_state_budget_budget_range),
	[WEIR_A_STATE_BUDGET_RATE] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_state_budget_rate_range),
	[WEIR_A_STATE_BUDGET_SLOTS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_state_budget_slots_range),
	[WEIR_A_STATE_BUDGET_SLOT_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_state_budget_slot_ns_range),
	[WEIR_A_STATE_BUDGET_WINDOW_NS] = { .type = NLA_U64, },
	[WEIR_A_STATE_BUDGET_PHASE_NS] = { .type = NLA_U64, },
	[WEIR_A_STATE_BUDGET_RENEWS] = { .type = NLA_U64, },
	[WEIR_A_STATE_BUDGET_WIDTH] = NLA_POLICY_RANGE(NLA_U32, 2, 8),
};

const struct nla_policy weir_state_count_nl_policy[WEIR_A_STATE_COUNT_REFUSED + 1] = {
	[WEIR_A_STATE_COUNT_NUMBERS] = NLA_POLICY_MAX_LEN(WEIR_COUNT_MAX),
	[WEIR_A_STATE_COUNT_WANTED] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_state_count_wanted_range),
	[WEIR_A_STATE_COUNT_REFUSED] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_state_count_refused_range),
};

const struct nla_policy weir_state_floor_nl_policy[WEIR_A_STATE_FLOOR_STAYS + 1] = {
	[WEIR_A_STATE_FLOOR_SET] = { .type = NLA_U32, },
	[WEIR_A_STATE_FLOOR_COUNT] = NLA_POLICY_NESTED(weir_state_count_nl_policy),
	[WEIR_A_STATE_FLOOR_ENDS] = { .type = NLA_U8, },
	[WEIR_A_STATE_FLOOR_STAYS] = { .type = NLA_U8, },
};

const struct nla_policy weir_state_newcomers_nl_policy[WEIR_A_STATE_NEWCOMERS_LEARN_NS + 1] = {
	[WEIR_A_STATE_NEWCOMERS_SLOT_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_state_newcomers_slot_ns_range),
	[WEIR_A_STATE_NEWCOMERS_PHASE_NS] = { .type = NLA_U64, },
	[WEIR_A_STATE_NEWCOMERS_COUNT] = NLA_POLICY_NESTED(weir_state_count_nl_policy),
	[WEIR_A_STATE_NEWCOMERS_LEARN_NS] = { .type = NLA_U64, },
};

const struct nla_policy weir_state_source_nl_policy[WEIR_A_STATE_SOURCE_BLOCKED_NS + 1] = {
	[WEIR_A_STATE_SOURCE_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_STATE_SOURCE_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_STATE_SOURCE_COUNT] = NLA_POLICY_NESTED(weir_state_count_nl_policy),
	[WEIR_A_STATE_SOURCE_DROPPED] = { .type = NLA_U32, },
	[WEIR_A_STATE_SOURCE_OBSERVED] = { .type = NLA_FLAG, },
	[WEIR_A_STATE_SOURCE_UNKNOWN] = { .type = NLA_FLAG, },
	[WEIR_A_STATE_SOURCE_LATE] = { .type = NLA_FLAG, },
	[WEIR_A_STATE_SOURCE_SINCE_NS] = { .type = NLA_U64, },
	[WEIR_A_STATE_SOURCE_BLOCKED_NS] = { .type = NLA_U64, },
};

const struct nla_policy weir_zone_nl_policy[WEIR_A_ZONE_CHANGE + 1] = {
	[WEIR_A_ZONE_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_ZONE_MAX, },
	[WEIR_A_ZONE_OFFSET] = { .type = NLA_S32, },
	[WEIR_A_ZONE_NEXT_OFFSET] = { .type = NLA_S32, },
	[WEIR_A_ZONE_CHANGE] = { .type = NLA_S64, },
};

/* WEIR_CMD_LIMIT_ADD - do */
static const struct nla_policy weir_limit_add_nl_policy[WEIR_A_LIMIT_BLOCKS_ONLY + 1] = {
	[WEIR_A_LIMIT_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_BEFORE] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_BUDGET] = NLA_POLICY_NESTED(weir_budget_nl_policy),
	[WEIR_A_LIMIT_PREFIX4] = NLA_POLICY_MAX(NLA_U8, 32),
	[WEIR_A_LIMIT_PREFIX6] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_LIMIT_SOURCES] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_sources_range),
	[WEIR_A_LIMIT_ACTION] = NLA_POLICY_MAX(NLA_U32, 1),
	[WEIR_A_LIMIT_MATCH] = NLA_POLICY_NESTED(weir_match_nl_policy),
	[WEIR_A_LIMIT_COMMENT] = { .type = NLA_NUL_STRING, .len = WEIR_COMMENT_MAX, },
	[WEIR_A_LIMIT_CHECK] = { .type = NLA_FLAG, },
	[WEIR_A_LIMIT_NEWCOMERS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_limit_newcomers_range),
	[WEIR_A_LIMIT_NEWCOMERS_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_newcomers_ms_range),
	[WEIR_A_LIMIT_FLOOD] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_flood_range),
	[WEIR_A_LIMIT_KNOWN_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_known_ms_range),
	[WEIR_A_LIMIT_ZONE] = NLA_POLICY_NESTED(weir_zone_nl_policy),
	[WEIR_A_LIMIT_PENALTY_MS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_limit_penalty_ms_range),
	[WEIR_A_LIMIT_RENEW] = { .type = NLA_FLAG, },
	[WEIR_A_LIMIT_LOG] = { .type = NLA_U16, },
	[WEIR_A_LIMIT_BUDGETS_BY] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_SHARING] = NLA_POLICY_MAX(NLA_U32, 1),
	[WEIR_A_LIMIT_BLOCKS_ONLY] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_blocks_only_range),
	[WEIR_A_LIMIT_ONLY] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_LIMIT_SET - do */
static const struct nla_policy weir_limit_set_nl_policy[WEIR_A_LIMIT_BLOCKS_ONLY + 1] = {
	[WEIR_A_LIMIT_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_BEFORE] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_BUDGET] = NLA_POLICY_NESTED(weir_budget_nl_policy),
	[WEIR_A_LIMIT_PREFIX4] = NLA_POLICY_MAX(NLA_U8, 32),
	[WEIR_A_LIMIT_PREFIX6] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_LIMIT_SOURCES] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_sources_range),
	[WEIR_A_LIMIT_ACTION] = NLA_POLICY_MAX(NLA_U32, 1),
	[WEIR_A_LIMIT_MATCH] = NLA_POLICY_NESTED(weir_match_nl_policy),
	[WEIR_A_LIMIT_COMMENT] = { .type = NLA_NUL_STRING, .len = WEIR_COMMENT_MAX, },
	[WEIR_A_LIMIT_CHECK] = { .type = NLA_FLAG, },
	[WEIR_A_LIMIT_NEWCOMERS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_limit_newcomers_range),
	[WEIR_A_LIMIT_NEWCOMERS_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_newcomers_ms_range),
	[WEIR_A_LIMIT_FLOOD] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_flood_range),
	[WEIR_A_LIMIT_KNOWN_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_known_ms_range),
	[WEIR_A_LIMIT_ZONE] = NLA_POLICY_NESTED(weir_zone_nl_policy),
	[WEIR_A_LIMIT_PENALTY_MS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_limit_penalty_ms_range),
	[WEIR_A_LIMIT_RENEW] = { .type = NLA_FLAG, },
	[WEIR_A_LIMIT_LOG] = { .type = NLA_U16, },
	[WEIR_A_LIMIT_BUDGETS_BY] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_SHARING] = NLA_POLICY_MAX(NLA_U32, 1),
	[WEIR_A_LIMIT_BLOCKS_ONLY] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_blocks_only_range),
	[WEIR_A_LIMIT_ONLY] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_LIMIT_DEL - do */
static const struct nla_policy weir_limit_del_nl_policy[WEIR_A_LIMIT_CHECK + 1] = {
	[WEIR_A_LIMIT_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_CHECK] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_LIMIT_GET - do */
static const struct nla_policy weir_limit_get_do_nl_policy[WEIR_A_LIMIT_WANT_STATS + 1] = {
	[WEIR_A_LIMIT_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_WANT_STATS] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_LIMIT_GET - dump */
static const struct nla_policy weir_limit_get_dump_nl_policy[WEIR_A_LIMIT_WANT_STATS + 1] = {
	[WEIR_A_LIMIT_WANT_STATS] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_SOURCE_SHOW - dump */
static const struct nla_policy weir_source_show_nl_policy[WEIR_A_SOURCE_FILTER_BLOCKED + 1] = {
	[WEIR_A_SOURCE_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_SOURCE_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_SOURCE_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_SOURCE_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_SOURCE_FILTER_LIMITED] = { .type = NLA_FLAG, },
	[WEIR_A_SOURCE_FILTER_BLOCKED] = { .type = NLA_FLAG, },
	[WEIR_A_SOURCE_IDLE] = { .type = NLA_FLAG, },
	[WEIR_A_SOURCE_TOP] = NLA_POLICY_RANGE(NLA_U32, 1, WEIR_TOP_MAX),
	[WEIR_A_SOURCE_RANK] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* WEIR_CMD_SOURCE_GET - dump */
static const struct nla_policy weir_source_get_nl_policy[WEIR_A_SOURCE_LEN + 1] = {
	[WEIR_A_SOURCE_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_SOURCE_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_SOURCE_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_SOURCE_PACKET] = NLA_POLICY_NESTED(weir_match_nl_policy),
	[WEIR_A_SOURCE_LEN] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_source_len_range),
};

/* WEIR_CMD_SOURCE_CHARGE - do */
static const struct nla_policy weir_source_charge_nl_policy[WEIR_A_SOURCE_CHARGE_MODE + 1] = {
	[WEIR_A_SOURCE_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_SOURCE_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_SOURCE_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_SOURCE_COST] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_source_cost_range),
	[WEIR_A_SOURCE_CHARGE_MODE] = NLA_POLICY_MAX(NLA_U32, 2),
};

/* WEIR_CMD_SOURCE_FORGET - do */
static const struct nla_policy weir_source_forget_nl_policy[WEIR_A_SOURCE_DEV + 1] = {
	[WEIR_A_SOURCE_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_SOURCE_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_SOURCE_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_SOURCE_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
};

/* WEIR_CMD_EXEMPT_ADD - do */
static const struct nla_policy weir_exempt_add_nl_policy[WEIR_A_EXEMPT_FORCE + 1] = {
	[WEIR_A_EXEMPT_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_EXEMPT_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_EXEMPT_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_EXEMPT_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_EXEMPT_COMMENT] = { .type = NLA_NUL_STRING, .len = WEIR_COMMENT_MAX, },
	[WEIR_A_EXEMPT_CHECK] = { .type = NLA_FLAG, },
	[WEIR_A_EXEMPT_FOR_MS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_exempt_for_ms_range),
	[WEIR_A_EXEMPT_BLOCK] = { .type = NLA_FLAG, },
	[WEIR_A_EXEMPT_REPLACE] = { .type = NLA_FLAG, },
	[WEIR_A_EXEMPT_FORCE] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_EXEMPT_DEL - do */
static const struct nla_policy weir_exempt_del_nl_policy[WEIR_A_EXEMPT_BLOCK + 1] = {
	[WEIR_A_EXEMPT_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_EXEMPT_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_EXEMPT_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_EXEMPT_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_EXEMPT_CHECK] = { .type = NLA_FLAG, },
	[WEIR_A_EXEMPT_BLOCK] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_EXEMPT_GET - do */
static const struct nla_policy weir_exempt_get_do_nl_policy[WEIR_A_EXEMPT_WANT_STATS + 1] = {
	[WEIR_A_EXEMPT_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_EXEMPT_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_EXEMPT_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_EXEMPT_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_EXEMPT_WANT_STATS] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_EXEMPT_GET - dump */
static const struct nla_policy weir_exempt_get_dump_nl_policy[WEIR_A_EXEMPT_WANT_STATS + 1] = {
	[WEIR_A_EXEMPT_WANT_STATS] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_EXEMPT_FLUSH - do */
static const struct nla_policy weir_exempt_flush_nl_policy[WEIR_A_EXEMPT_BLOCK + 1] = {
	[WEIR_A_EXEMPT_BLOCK] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_CONFIG_REPLACE - do */
static const struct nla_policy weir_config_replace_nl_policy[WEIR_A_CONFIG_HOLD + 1] = {
	[WEIR_A_CONFIG_LIMIT] = NLA_POLICY_NESTED(weir_limit_entry_nl_policy),
	[WEIR_A_CONFIG_EXEMPT] = NLA_POLICY_NESTED(weir_exempt_entry_nl_policy),
	[WEIR_A_CONFIG_CHECK] = { .type = NLA_FLAG, },
	[WEIR_A_CONFIG_ADD] = { .type = NLA_FLAG, },
	[WEIR_A_CONFIG_DEL] = { .type = NLA_FLAG, },
	[WEIR_A_CONFIG_PREFIX_LIST] = NLA_POLICY_NESTED(weir_prefix_list_entry_nl_policy),
	[WEIR_A_CONFIG_HASH_KEY] = NLA_POLICY_EXACT_LEN(16),
	[WEIR_A_CONFIG_HOLD] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_LIMIT_RESET - do */
static const struct nla_policy weir_limit_reset_nl_policy[WEIR_A_LIMIT_NAME + 1] = {
	[WEIR_A_LIMIT_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
};

/* WEIR_CMD_SOURCE_BLOCK - do */
static const struct nla_policy weir_source_block_nl_policy[WEIR_A_SOURCE_FORCE + 1] = {
	[WEIR_A_SOURCE_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_SOURCE_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_SOURCE_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_SOURCE_FOR_MS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_source_for_ms_range),
	[WEIR_A_SOURCE_REPLACE] = { .type = NLA_FLAG, },
	[WEIR_A_SOURCE_FORCE] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_SOURCE_RELEASE - do */
static const struct nla_policy weir_source_release_nl_policy[WEIR_A_SOURCE_DEV + 1] = {
	[WEIR_A_SOURCE_ADDRESS] = NLA_POLICY_MAX_LEN(16),
	[WEIR_A_SOURCE_DEV] = { .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX, },
	[WEIR_A_SOURCE_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
};

/* WEIR_CMD_LIMIT_RENAME - do */
static const struct nla_policy weir_limit_rename_nl_policy[WEIR_A_LIMIT_NEW_NAME + 1] = {
	[WEIR_A_LIMIT_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_NEW_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_CHECK] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_PREFIX_LIST_ADD - do */
static const struct nla_policy weir_prefix_list_add_nl_policy[WEIR_A_PREFIX_LIST_CHECK + 1] = {
	[WEIR_A_PREFIX_LIST_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_PREFIX_LIST_PREFIX] = NLA_POLICY_NESTED(weir_member_nl_policy),
	[WEIR_A_PREFIX_LIST_CHECK] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_PREFIX_LIST_SET - do */
static const struct nla_policy weir_prefix_list_set_nl_policy[WEIR_A_PREFIX_LIST_CHECK + 1] = {
	[WEIR_A_PREFIX_LIST_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_PREFIX_LIST_PREFIX] = NLA_POLICY_NESTED(weir_member_nl_policy),
	[WEIR_A_PREFIX_LIST_CHECK] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_PREFIX_LIST_DEL - do */
static const struct nla_policy weir_prefix_list_del_nl_policy[WEIR_A_PREFIX_LIST_CHECK + 1] = {
	[WEIR_A_PREFIX_LIST_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_PREFIX_LIST_PREFIX] = NLA_POLICY_NESTED(weir_member_nl_policy),
	[WEIR_A_PREFIX_LIST_CHECK] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_PREFIX_LIST_GET - dump */
static const struct nla_policy weir_prefix_list_get_nl_policy[WEIR_A_PREFIX_LIST_NAME + 1] = {
	[WEIR_A_PREFIX_LIST_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
};

/* WEIR_CMD_STATE_GET - dump */
static const struct nla_policy weir_state_get_nl_policy[WEIR_A_STATE_LEAST + 1] = {
	[WEIR_A_STATE_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_STATE_SINCE_NS] = { .type = NLA_U64, },
	[WEIR_A_STATE_LEAST] = NLA_POLICY_MIN(NLA_U64, 1),
};

/* WEIR_CMD_SOURCE_MERGE - do */
static const struct nla_policy weir_source_merge_nl_policy[WEIR_A_STATE_ADD + 1] = {
	[WEIR_A_STATE_LIMIT] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_STATE_HASH_KEY] = NLA_POLICY_EXACT_LEN(16),
	[WEIR_A_STATE_CLOCK_NS] = { .type = NLA_U64, },
	[WEIR_A_STATE_TICK_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &weir_a_state_tick_ns_range),
	[WEIR_A_STATE_PREFIX4] = NLA_POLICY_MAX(NLA_U8, 32),
	[WEIR_A_STATE_PREFIX6] = NLA_POLICY_MAX(NLA_U8, 128),
	[WEIR_A_STATE_SETS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_state_sets_range),
	[WEIR_A_STATE_FLOORS_NS] = { .type = NLA_U64, },
	[WEIR_A_STATE_BUDGET] = NLA_POLICY_NESTED(weir_state_budget_nl_policy),
	[WEIR_A_STATE_NEWCOMERS] = NLA_POLICY_NESTED(weir_state_newcomers_nl_policy),
	[WEIR_A_STATE_SOURCE] = NLA_POLICY_NESTED(weir_state_source_nl_policy),
	[WEIR_A_STATE_FLOOR] = NLA_POLICY_NESTED(weir_state_floor_nl_policy),
	[WEIR_A_STATE_ADD] = { .type = NLA_FLAG, },
};

/* WEIR_CMD_LIMIT_JOIN - do */
static const struct nla_policy weir_limit_join_nl_policy[WEIR_A_LIMIT_JOINED_MS + 1] = {
	[WEIR_A_LIMIT_NAME] = { .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX, },
	[WEIR_A_LIMIT_JOINED_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weir_a_limit_joined_ms_range),
};

/* Ops table for weir */
static const struct genl_split_ops weir_nl_ops[] = {
	{
		.cmd		= WEIR_CMD_LIMIT_ADD,
		.doit		= weir_nl_limit_add_doit,
		.policy		= weir_limit_add_nl_policy,
		.maxattr	= WEIR_A_LIMIT_BLOCKS_ONLY,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_LIMIT_SET,
		.doit		= weir_nl_limit_set_doit,
		.policy		= weir_limit_set_nl_policy,
		.maxattr	= WEIR_A_LIMIT_BLOCKS_ONLY,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_LIMIT_DEL,
		.doit		= weir_nl_limit_del_doit,
		.policy		= weir_limit_del_nl_policy,
		.maxattr	= WEIR_A_LIMIT_CHECK,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_LIMIT_GET,
		.doit		= weir_nl_limit_get_doit,
		.policy		= weir_limit_get_do_nl_policy,
		.maxattr	= WEIR_A_LIMIT_WANT_STATS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_LIMIT_GET,
		.dumpit		= weir_nl_limit_get_dumpit,
		.policy		= weir_limit_get_dump_nl_policy,
		.maxattr	= WEIR_A_LIMIT_WANT_STATS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= WEIR_CMD_LIMIT_FLUSH,
		.doit	= weir_nl_limit_flush_doit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_SOURCE_SHOW,
		.dumpit		= weir_nl_source_show_dumpit,
		.done		= weir_nl_source_show_done,
		.policy		= weir_source_show_nl_policy,
		.maxattr	= WEIR_A_SOURCE_FILTER_BLOCKED,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= WEIR_CMD_SOURCE_GET,
		.dumpit		= weir_nl_source_get_dumpit,
		.policy		= weir_source_get_nl_policy,
		.maxattr	= WEIR_A_SOURCE_LEN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= WEIR_CMD_SOURCE_CHARGE,
		.doit		= weir_nl_source_charge_doit,
		.policy		= weir_source_charge_nl_policy,
		.maxattr	= WEIR_A_SOURCE_CHARGE_MODE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_SOURCE_FORGET,
		.doit		= weir_nl_source_forget_doit,
		.policy		= weir_source_forget_nl_policy,
		.maxattr	= WEIR_A_SOURCE_DEV,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_EXEMPT_ADD,
		.doit		= weir_nl_exempt_add_doit,
		.policy		= weir_exempt_add_nl_policy,
		.maxattr	= WEIR_A_EXEMPT_FORCE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_EXEMPT_DEL,
		.doit		= weir_nl_exempt_del_doit,
		.policy		= weir_exempt_del_nl_policy,
		.maxattr	= WEIR_A_EXEMPT_BLOCK,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_EXEMPT_GET,
		.doit		= weir_nl_exempt_get_doit,
		.policy		= weir_exempt_get_do_nl_policy,
		.maxattr	= WEIR_A_EXEMPT_WANT_STATS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_EXEMPT_GET,
		.dumpit		= weir_nl_exempt_get_dumpit,
		.policy		= weir_exempt_get_dump_nl_policy,
		.maxattr	= WEIR_A_EXEMPT_WANT_STATS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= WEIR_CMD_EXEMPT_FLUSH,
		.doit		= weir_nl_exempt_flush_doit,
		.policy		= weir_exempt_flush_nl_policy,
		.maxattr	= WEIR_A_EXEMPT_BLOCK,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_CONFIG_REPLACE,
		.doit		= weir_nl_config_replace_doit,
		.policy		= weir_config_replace_nl_policy,
		.maxattr	= WEIR_A_CONFIG_HOLD,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= WEIR_CMD_STATS_GET,
		.doit	= weir_nl_stats_get_doit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_LIMIT_RESET,
		.doit		= weir_nl_limit_reset_doit,
		.policy		= weir_limit_reset_nl_policy,
		.maxattr	= WEIR_A_LIMIT_NAME,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_SOURCE_BLOCK,
		.doit		= weir_nl_source_block_doit,
		.policy		= weir_source_block_nl_policy,
		.maxattr	= WEIR_A_SOURCE_FORCE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_SOURCE_RELEASE,
		.doit		= weir_nl_source_release_doit,
		.policy		= weir_source_release_nl_policy,
		.maxattr	= WEIR_A_SOURCE_DEV,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_LIMIT_RENAME,
		.doit		= weir_nl_limit_rename_doit,
		.policy		= weir_limit_rename_nl_policy,
		.maxattr	= WEIR_A_LIMIT_NEW_NAME,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_PREFIX_LIST_ADD,
		.doit		= weir_nl_prefix_list_add_doit,
		.policy		= weir_prefix_list_add_nl_policy,
		.maxattr	= WEIR_A_PREFIX_LIST_CHECK,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_PREFIX_LIST_SET,
		.doit		= weir_nl_prefix_list_set_doit,
		.policy		= weir_prefix_list_set_nl_policy,
		.maxattr	= WEIR_A_PREFIX_LIST_CHECK,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_PREFIX_LIST_DEL,
		.doit		= weir_nl_prefix_list_del_doit,
		.policy		= weir_prefix_list_del_nl_policy,
		.maxattr	= WEIR_A_PREFIX_LIST_CHECK,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_PREFIX_LIST_GET,
		.dumpit		= weir_nl_prefix_list_get_dumpit,
		.policy		= weir_prefix_list_get_nl_policy,
		.maxattr	= WEIR_A_PREFIX_LIST_NAME,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= WEIR_CMD_STATE_GET,
		.dumpit		= weir_nl_state_get_dumpit,
		.done		= weir_nl_state_get_done,
		.policy		= weir_state_get_nl_policy,
		.maxattr	= WEIR_A_STATE_LEAST,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= WEIR_CMD_SOURCE_MERGE,
		.doit		= weir_nl_source_merge_doit,
		.policy		= weir_source_merge_nl_policy,
		.maxattr	= WEIR_A_STATE_ADD,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= WEIR_CMD_CONFIG_PUBLISH,
		.doit	= weir_nl_config_publish_doit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= WEIR_CMD_LIMIT_JOIN,
		.doit		= weir_nl_limit_join_doit,
		.policy		= weir_limit_join_nl_policy,
		.maxattr	= WEIR_A_LIMIT_JOINED_MS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group weir_nl_mcgrps[] = {
	[WEIR_NLGRP_EVENTS] = { "events", },
};

struct genl_family weir_nl_family __ro_after_init = {
	.name		= WEIR_FAMILY_NAME,
	.version	= WEIR_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= weir_nl_ops,
	.n_split_ops	= ARRAY_SIZE(weir_nl_ops),
	.mcgrps		= weir_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(weir_nl_mcgrps),
};
