/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the generic netlink family share. A function with an extended
 * ACK fills it when it refuses, and returns a negative errno.
 */
#ifndef WEIR_NETLINK_H
#define WEIR_NETLINK_H

#include <linux/math64.h>
#include <linux/time64.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "config/edit.h"
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "netlink/genl_compat.h"
#include "netlink/gen.h"

/* The family, whose policies and operations are in gen.c: family.c; may sleep. */
int weir_netlink_init(void);
void weir_netlink_exit(void);

void weir_nl_events_start(void);
void weir_nl_events_stop(void);
void weir_nl_event_reset(struct weir_net *wn, const struct weir_limit *limit);
void weir_nl_event_done(struct weir_net *wn, u32 what, const struct nlmsghdr *reply);

/* The sources that a request selects. */
struct weir_nl_within {
	struct weir_net_prefix prefix;	/* that contains them; any if it has no family */
	int ifindex;			/* device of link-local sources, or 0 for any */
};

/* Messages: message.c */
int weir_nl_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info);
int weir_nl_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, const char *msg);
int weir_nl_dump(struct sk_buff *skb, struct netlink_callback *cb, u64 taken, u8 parts,
		 int (*put)(struct sk_buff *skb, struct netlink_callback *cb,
			    struct weir_net *wn));
/* Another number after each change of @parts, bits of enum weir_part; not 0. */
u32 weir_nl_generation(const struct weir_net *wn, u8 parts);
int weir_nl_nest(const struct nlattr *nest, struct nlattr **attrs, int max,
		 const struct nla_policy *policy, struct netlink_ext_ack *extack);
const struct nlattr *weir_nl_nth(const struct nlattr *head, int len, int type, unsigned int index);
int weir_nl_require(struct nlattr **attrs, const struct nlattr *nest, int attr,
		    const char *msg, struct netlink_ext_ack *extack);
int weir_nl_put_counter(struct sk_buff *skb, int attr, u64 packets, u64 bytes);
int weir_nl_prefix(const struct nlattr *address, const struct nlattr *len,
		   struct weir_net_prefix *prefix, struct netlink_ext_ack *extack);
int weir_nl_put_prefix(struct sk_buff *skb, int attr, int len_attr,
		       const struct weir_net_prefix *prefix);
int weir_nl_error(const struct weir_error *error, const struct nlattr *attr, int err,
		  struct netlink_ext_ack *extack);
int weir_nl_restoring(struct weir_net *wn, const struct genl_info *info);
int weir_nl_no_limit(const struct nlattr *attr, struct netlink_ext_ack *extack);
int weir_nl_no_list(const struct nlattr *attr, struct netlink_ext_ack *extack);
struct sk_buff *weir_nl_reply(struct genl_info *info);
int weir_nl_reply_end(struct genl_info *info, struct sk_buff *skb, int err);
int weir_nl_replies_end(struct genl_info *info, struct sk_buff *skb, int err);
void *weir_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb);
int weir_nl_dump_end(struct sk_buff *skb, void *header, int err);

/* The limits and sources that a request selects, and the state of one: address.c */
int weir_nl_limits(const struct weir_config *config, const struct nlattr *name,
		   struct netlink_ext_ack *extack);
const struct weir_limit *weir_nl_limit_next(const struct weir_config *config, const char *name,
					    unsigned int *at);
int weir_nl_within(struct nlattr **attrs, const struct weir_net *wn,
		   struct weir_nl_within *within, struct netlink_ext_ack *extack);
bool weir_nl_selects(const struct weir_nl_within *within, const struct weir_source *source,
		     struct weir_prefix prefix, bool partly);
int weir_nl_sender(struct nlattr **attrs, const struct weir_net *wn,
		   struct weir_source *source, struct netlink_ext_ack *extack);
void weir_nl_peek(const struct weir_net *wn, const struct weir_limit *limit,
		  const struct weir_source *source, const u64 *cost,
		  struct weir_source_state *state, u64 slot[WEIR_SLOTS_MAX + 1]);
int weir_nl_put_source(struct sk_buff *skb, struct net *net, const struct weir_limit *limit,
		       const struct weir_source_state *state, const u64 *slot);
int weir_nl_put_blocked(struct sk_buff *skb, u64 blocked);
int weir_nl_put_dev(struct sk_buff *skb, int attr, struct net *net, int ifindex);
struct weir_net_prefix weir_nl_source_prefix(const struct weir_source *source,
					     struct weir_prefix prefix);

/* Parts of objects: conditions.c, exempt.c, limits.c */
int weir_nl_prefix_parse(struct nlattr **tb, const struct nlattr *nest,
			 struct weir_net_prefix *prefix, struct netlink_ext_ack *extack);
int weir_nl_match(const struct nlattr *nest, struct weir_match *match,
		  const struct weir_edit *edit, struct netlink_ext_ack *extack);
const char *weir_nl_dev_unmet(const struct weir_net *wn, const char *name);
int weir_nl_outline(struct nlattr **attrs, const struct weir_net *wn,
		    struct weir_outline *outline, struct netlink_ext_ack *extack);
int weir_nl_packet(const struct nlattr *nest, struct weir_outline *outline,
		   struct netlink_ext_ack *extack);
int weir_nl_put_match(struct sk_buff *skb, int attr, const struct weir_match *match);
int weir_nl_exempt(struct nlattr **attrs, const struct nlattr *nest,
		   struct weir_exception *exception, struct netlink_ext_ack *extack);
int weir_nl_put_exempt(struct sk_buff *skb, const struct weir_config *config,
		       const struct weir_exception *exception);
const struct weir_exception *weir_nl_exemption(const struct weir_config *config,
					       const struct weir_limit *limit,
					       const struct weir_source *source, const char *dev);
int weir_nl_put_exemption(struct sk_buff *skb, const struct weir_config *config,
			  const struct weir_exception *exception);
/* An object of a request that changes it: of a configuration, or with @nest NULL the message. */
struct weir_nl_object {
	struct nlattr **attrs;
	const struct nlattr *nest;
	const struct genl_info *info;
};

typedef int weir_nl_edit(struct weir_edit *edit, const struct weir_nl_object *object,
			 struct weir_error *error);
weir_nl_edit weir_nl_list_edit;

int weir_nl_put_limit(struct sk_buff *skb, const struct weir_limit *limit,
		      const struct weir_counters *counters);

/* Lists of prefixes: list.c */
int weir_nl_lists(struct weir_edit *edit, struct genl_info *info);

/* Budgets: budget.c */
int weir_nl_budgets(struct nlattr **attrs, const struct nlattr *head, int len,
		    struct weir_limit_config *cfg, u8 *place, struct netlink_ext_ack *extack);
int weir_nl_put_zone(struct sk_buff *skb, const struct weir_limit_config *cfg);
int weir_nl_put_budgets(struct sk_buff *skb, const struct weir_limit *limit,
			const struct weir_counters *counters);
int weir_nl_put_counts(struct sk_buff *skb, const struct weir_limit *limit,
		       const struct weir_source_state *state, const u64 *slot);

/* The sources of a limit. */
struct weir_counted {
	u64 live;
	u64 known;	/* if newcomers are distinguished */
	u64 blocked;
	u64 limited;	/* besides */
};

int weir_nl_put_whole(struct sk_buff *skb, const struct weir_limit *limit,
		      const struct weir_counted *sources);

/* A string of the request, or "" without the attribute. */
static inline const char *weir_nl_name(const struct nlattr *attr)
{
	return attr ? nla_data(attr) : "";
}

/* The booleans of a limit are the values of their attributes. */
static_assert(WEIR_UNIT_BYTES == 1 && WEIR_MODE_LENIENT == 1 && WEIR_ACTION_OBSERVE == 1);

/* Padding has the same number in all sets that have it. */
static_assert(WEIR_A_COUNTER_PAD == 1 && WEIR_A_LIMIT_STATS_PAD == 1 &&
	      WEIR_A_LIMIT_PAD == 1 && WEIR_A_SOURCE_PAD == 1 &&
	      WEIR_A_STATS_PAD == 1 && WEIR_A_PRESSURE_PAD == 1 &&
	      WEIR_A_NEWCOMERS_PAD == 1 && WEIR_A_BUDGET_PAD == 1 &&
	      WEIR_A_SOURCE_BUDGET_PAD == 1);

/* A number of any width, or @other without the attribute. */
u64 weir_nl_uint(const struct nlattr *attr, u64 other);

static inline int weir_nl_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, 1);
}

#endif /* WEIR_NETLINK_H */
