// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family: what Documentation/netlink/specs/weir.yaml
 * says. Operations run in parallel; changes take the namespace's mutex below,
 * reads take RCU. A message passes, in this order:
 *
 *   the core     header, right to do it, and the operation's policy: types,
 *                lengths, ranges, unknown attributes, nests
 *   weir_nl_once repeated attributes
 *   words        what belongs together, missing attributes
 *   limit.c etc. what makes sense; its fault is told as an extended ACK
 *
 * A dump has the core's extended ACK in its first part and not at its start
 * on older kernels, so it reads its words there; a refusal then comes in the
 * message that ends the dump.
 */
#include <linux/module.h>

#include "event.h"
#include "netlink_priv.h"

#define NAME	{ .type = NLA_NUL_STRING, .len = WEIR_NAME_MAX }
#define DEV	{ .type = NLA_NUL_STRING, .len = WEIR_DEV_MAX }
#define ADDRESS	{ .type = NLA_BINARY, .len = 16 }
#define BITS4	NLA_POLICY_MAX(NLA_U8, 32)
#define BITS6	NLA_POLICY_MAX(NLA_U8, 128)
#define FLAG	{ .type = NLA_FLAG }
#define U8	{ .type = NLA_U8 }
#define U16	{ .type = NLA_U16 }
#define U32	{ .type = NLA_U32 }

static struct netlink_range_validation amount_range = {
	.min = 1,
	.max = WEIR_BYTES_MAX,
};

static struct netlink_range_validation window_ms_range = {
	.min = WEIR_WINDOW_MS_MIN,
	.max = WEIR_WINDOW_MS_MAX,
};

static struct netlink_range_validation sources_range = {
	.min = WEIR_SOURCES_MIN,
	.max = WEIR_SOURCES_MAX,
};

const struct nla_policy weir_nl_match_policy[WEIR_A_MATCH_MAX + 1] = {
	[WEIR_A_MATCH_INVERT]		= NLA_POLICY_MASK(NLA_U32, 0x3ff),
	[WEIR_A_MATCH_FAMILY]		= U8,
	[WEIR_A_MATCH_DEV]		= DEV,
	[WEIR_A_MATCH_FROM]		= ADDRESS,
	[WEIR_A_MATCH_FROM_LEN]		= BITS6,
	[WEIR_A_MATCH_TO]		= ADDRESS,
	[WEIR_A_MATCH_TO_LEN]		= BITS6,
	[WEIR_A_MATCH_PROTO]		= U8,
	[WEIR_A_MATCH_SPORT_MIN]	= U16,
	[WEIR_A_MATCH_SPORT_MAX]	= U16,
	[WEIR_A_MATCH_DPORT_MIN]	= U16,
	[WEIR_A_MATCH_DPORT_MAX]	= U16,
	[WEIR_A_MATCH_SYN]		= FLAG,
	[WEIR_A_MATCH_FRAG]		= FLAG,
	[WEIR_A_MATCH_MARK]		= U32,
	[WEIR_A_MATCH_MARK_MASK]	= U32,
};

#define LIMIT_WORDS							      \
	[WEIR_A_LIMIT_NAME]	= NAME,					      \
	[WEIR_A_LIMIT_BUDGET]	= NLA_POLICY_FULL_RANGE(NLA_U64,	      \
							&amount_range),	      \
	[WEIR_A_LIMIT_WINDOW_MS] = NLA_POLICY_FULL_RANGE(NLA_U32,	      \
							 &window_ms_range),   \
	[WEIR_A_LIMIT_UNIT]	= NLA_POLICY_MAX(NLA_U32, WEIR_UNIT_BYTES),   \
	[WEIR_A_LIMIT_SLOTS]	= NLA_POLICY_RANGE(NLA_U32, 1,		      \
						   WEIR_SLOTS_MAX),	      \
	[WEIR_A_LIMIT_MODE]	= NLA_POLICY_MAX(NLA_U32, WEIR_MODE_LENIENT), \
	[WEIR_A_LIMIT_PREFIX4]	= BITS4,				      \
	[WEIR_A_LIMIT_PREFIX6]	= BITS6,				      \
	[WEIR_A_LIMIT_SOURCES]	= NLA_POLICY_FULL_RANGE(NLA_U32,	      \
							&sources_range),      \
	[WEIR_A_LIMIT_ACTION]	= NLA_POLICY_MAX(NLA_U32,		      \
						 WEIR_ACTION_OBSERVE),	      \
	[WEIR_A_LIMIT_MATCH]	= NLA_POLICY_NESTED(weir_nl_match_policy)

const struct nla_policy weir_nl_limit_entry_policy[WEIR_A_LIMIT_MATCH + 1] = {
	LIMIT_WORDS,
};

static const struct nla_policy limit_policy[WEIR_A_LIMIT_MATCH + 1] = {
	LIMIT_WORDS,
	[WEIR_A_LIMIT_BEFORE] = NAME,
};

static const struct nla_policy limit_del_policy[WEIR_A_LIMIT_NAME + 1] = {
	[WEIR_A_LIMIT_NAME] = NAME,
};

static const struct nla_policy limit_get_policy[WEIR_A_LIMIT_WANT_STATS + 1] = {
	[WEIR_A_LIMIT_NAME] = NAME,
	[WEIR_A_LIMIT_WANT_STATS] = FLAG,
};

const struct nla_policy weir_nl_exempt_policy[WEIR_A_EXEMPT_MAX + 1] = {
	[WEIR_A_EXEMPT_ADDRESS]		= ADDRESS,
	[WEIR_A_EXEMPT_PREFIX_LEN]	= BITS6,
	[WEIR_A_EXEMPT_DEV]		= DEV,
	[WEIR_A_EXEMPT_LIMIT]		= NAME,
};

#define SOURCE_WORDS						\
	[WEIR_A_SOURCE_LIMIT]		= NAME,			\
	[WEIR_A_SOURCE_ADDRESS]		= ADDRESS,		\
	[WEIR_A_SOURCE_DEV]		= DEV

static const struct nla_policy source_show_policy[WEIR_A_SOURCE_RANK + 1] = {
	SOURCE_WORDS,
	[WEIR_A_SOURCE_PREFIX_LEN]	= BITS6,
	[WEIR_A_SOURCE_FILTER_LIMITED]	= FLAG,
	[WEIR_A_SOURCE_IDLE]		= FLAG,
	[WEIR_A_SOURCE_TOP]	= NLA_POLICY_RANGE(NLA_U32, 1, WEIR_TOP_MAX),
	[WEIR_A_SOURCE_RANK]	= NLA_POLICY_MAX(NLA_U32, WEIR_RANK_COUNT),
};

static const struct nla_policy source_get_policy[WEIR_A_SOURCE_DEV + 1] = {
	SOURCE_WORDS,
};

static const struct nla_policy
source_charge_policy[WEIR_A_SOURCE_CHARGE_MODE + 1] = {
	SOURCE_WORDS,
	[WEIR_A_SOURCE_COST]	= NLA_POLICY_FULL_RANGE(NLA_U64,
							&amount_range),
	[WEIR_A_SOURCE_CHARGE_MODE] = NLA_POLICY_MAX(NLA_U32,
						     WEIR_CHARGE_MODE_DRAIN),
};

static const struct nla_policy source_forget_policy[WEIR_A_SOURCE_DEV + 1] = {
	SOURCE_WORDS,
	[WEIR_A_SOURCE_PREFIX_LEN] = BITS6,
};

static const struct nla_policy config_policy[WEIR_A_CONFIG_MAX + 1] = {
	[WEIR_A_CONFIG_LIMIT] = NLA_POLICY_NESTED(weir_nl_limit_entry_policy),
	[WEIR_A_CONFIG_EXEMPT] = NLA_POLICY_NESTED(weir_nl_exempt_policy),
};

/* An operation without a policy is refused every attribute by the core. */
static const struct genl_ops ops[] = {
	{
		.cmd		= WEIR_CMD_LIMIT_ADD,
		.policy		= limit_policy,
		.maxattr	= WEIR_A_LIMIT_MATCH,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_limit_add,
	}, {
		.cmd		= WEIR_CMD_LIMIT_SET,
		.policy		= limit_policy,
		.maxattr	= WEIR_A_LIMIT_MATCH,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_limit_set,
	}, {
		.cmd		= WEIR_CMD_LIMIT_DEL,
		.policy		= limit_del_policy,
		.maxattr	= WEIR_A_LIMIT_NAME,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_limit_del,
	}, {
		.cmd		= WEIR_CMD_LIMIT_GET,
		.policy		= limit_get_policy,
		.maxattr	= WEIR_A_LIMIT_WANT_STATS,
		.doit		= weir_nl_limit_get,
		.dumpit		= weir_nl_limit_dump,
	}, {
		.cmd		= WEIR_CMD_LIMIT_FLUSH,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_limit_flush,
	}, {
		.cmd		= WEIR_CMD_SOURCE_SHOW,
		.policy		= source_show_policy,
		.maxattr	= WEIR_A_SOURCE_RANK,
		.flags		= GENL_UNS_ADMIN_PERM,
		.dumpit		= weir_nl_source_dump,
		.done		= weir_nl_source_done,
	}, {
		.cmd		= WEIR_CMD_SOURCE_GET,
		.policy		= source_get_policy,
		.maxattr	= WEIR_A_SOURCE_DEV,
		.flags		= GENL_UNS_ADMIN_PERM,
		.dumpit		= weir_nl_source_get,
	}, {
		.cmd		= WEIR_CMD_SOURCE_CHARGE,
		.policy		= source_charge_policy,
		.maxattr	= WEIR_A_SOURCE_CHARGE_MODE,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_source_charge,
	}, {
		.cmd		= WEIR_CMD_SOURCE_FORGET,
		.policy		= source_forget_policy,
		.maxattr	= WEIR_A_SOURCE_DEV,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_source_forget,
	}, {
		.cmd		= WEIR_CMD_EXEMPT_ADD,
		.policy		= weir_nl_exempt_policy,
		.maxattr	= WEIR_A_EXEMPT_MAX,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_exempt_add,
	}, {
		.cmd		= WEIR_CMD_EXEMPT_DEL,
		.policy		= weir_nl_exempt_policy,
		.maxattr	= WEIR_A_EXEMPT_MAX,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_exempt_del,
	}, {
		.cmd		= WEIR_CMD_EXEMPT_GET,
		.policy		= weir_nl_exempt_policy,
		.maxattr	= WEIR_A_EXEMPT_MAX,
		.doit		= weir_nl_exempt_get,
		.dumpit		= weir_nl_exempt_dump,
	}, {
		.cmd		= WEIR_CMD_EXEMPT_FLUSH,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_exempt_flush,
	}, {
		.cmd		= WEIR_CMD_CONFIG_REPLACE,
		.policy		= config_policy,
		.maxattr	= WEIR_A_CONFIG_MAX,
		.flags		= GENL_UNS_ADMIN_PERM,
		.doit		= weir_nl_config_replace,
	}, {
		.cmd		= WEIR_CMD_STATS_GET,
		.doit		= weir_nl_stats_get,
	},
};

/* Listening needs the right in the user namespace of the socket's namespace. */
static const struct genl_multicast_group groups[] = {
	{ .name = WEIR_MCGRP_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

struct genl_family weir_nl_family __ro_after_init = {
	.name		= WEIR_FAMILY_NAME,
	.version	= WEIR_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= ops,
	.n_ops		= ARRAY_SIZE(ops),
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
};

MODULE_ALIAS_GENL_FAMILY(WEIR_FAMILY_NAME);

/**
 * weir_netlink_init - let the family be found
 *
 * Return: 0 or negative errno.
 */
int __init weir_netlink_init(void)
{
	return genl_register_family(&weir_nl_family);
}

/**
 * weir_netlink_exit - no message comes in any more
 */
void weir_netlink_exit(void)
{
	weir_nl_silence();
	genl_unregister_family(&weir_nl_family);
}

/**
 * weir_nl_reply - an answer that is to be filled
 * @info: request
 * @cmd: WEIR_CMD_*
 * @header: set; for genlmsg_end()
 *
 * Asked for before anything is changed: if there is none, the request says so.
 *
 * Return: the message or NULL.
 */
struct sk_buff *weir_nl_reply(struct genl_info *info, u8 cmd, void **header)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (skb)
		*header = genlmsg_put_reply(skb, info, &weir_nl_family, 0, cmd);
	else
		GENL_SET_ERR_MSG(info,
				 "no memory for the answer; nothing was done, try again");
	return skb;
}

/**
 * weir_nl_dump_put - begin a message of a dump
 * @skb: part of the dump
 * @cb: dump, turned by weir_nl_dump_turn()
 * @cmd: WEIR_CMD_*
 *
 * Return: the header for genlmsg_end(), or NULL if there is no room.
 */
void *weir_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				   cb->nlh->nlmsg_seq, &weir_nl_family,
				   NLM_F_MULTI, cmd);

	if (header)
		genl_dump_check_consistent(cb, header);
	return header;
}
