/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/weir.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#ifndef _LINUX_WEIR_GEN_H
#define _LINUX_WEIR_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/weir.h>
#include <netlink/genl_compat.h>

/* Common nested types */
extern const struct nla_policy weir_budget_nl_policy[WEIR_A_BUDGET_REFUSED + 1];
extern const struct nla_policy weir_counter_nl_policy[WEIR_A_COUNTER_BYTES + 1];
extern const struct nla_policy weir_exempt_entry_nl_policy[WEIR_A_EXEMPT_FORCE + 1];
extern const struct nla_policy weir_limit_entry_nl_policy[WEIR_A_LIMIT_BLOCKS_ONLY + 1];
extern const struct nla_policy weir_match_nl_policy[WEIR_A_MATCH_TO_LIST + 1];
extern const struct nla_policy weir_member_nl_policy[WEIR_A_MEMBER_PAD + 1];
extern const struct nla_policy weir_ports_nl_policy[WEIR_A_PORTS_LAST + 1];
extern const struct nla_policy weir_prefix_nl_policy[WEIR_A_PREFIX_LEN + 1];
extern const struct nla_policy weir_prefix_list_entry_nl_policy[WEIR_A_PREFIX_LIST_PREFIX + 1];
extern const struct nla_policy weir_state_budget_nl_policy[WEIR_A_STATE_BUDGET_WIDTH + 1];
extern const struct nla_policy weir_state_count_nl_policy[WEIR_A_STATE_COUNT_REFUSED + 1];
extern const struct nla_policy weir_state_floor_nl_policy[WEIR_A_STATE_FLOOR_STAYS + 1];
extern const struct nla_policy weir_state_newcomers_nl_policy[WEIR_A_STATE_NEWCOMERS_LEARN_NS + 1];
extern const struct nla_policy weir_state_source_nl_policy[WEIR_A_STATE_SOURCE_BLOCKED_NS + 1];
extern const struct nla_policy weir_zone_nl_policy[WEIR_A_ZONE_CHANGE + 1];

int weir_nl_source_show_done(struct netlink_callback *cb);
int weir_nl_state_get_done(struct netlink_callback *cb);

int weir_nl_limit_add_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_set_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_del_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_get_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int weir_nl_limit_flush_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_source_show_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int weir_nl_source_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int weir_nl_source_charge_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_source_forget_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_exempt_add_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_exempt_del_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_exempt_get_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_exempt_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int weir_nl_exempt_flush_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_config_replace_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_reset_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_source_block_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_source_release_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_rename_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_prefix_list_add_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_prefix_list_set_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_prefix_list_del_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_prefix_list_get_dumpit(struct sk_buff *skb,
				   struct netlink_callback *cb);
int weir_nl_state_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int weir_nl_source_merge_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_config_publish_doit(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_join_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	WEIR_NLGRP_EVENTS,
};

extern struct genl_family weir_nl_family;

#endif /* _LINUX_WEIR_GEN_H */
