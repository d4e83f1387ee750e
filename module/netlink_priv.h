/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of the message's way: words in, objects out.
 */
#ifndef WEIR_NETLINK_PRIV_H
#define WEIR_NETLINK_PRIV_H

#include <linux/math64.h>
#include <linux/time64.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "compat.h"
#include "limit.h"
#include "netlink.h"
#include "weir.h"

#include <uapi/linux/weir.h>

extern struct genl_family weir_nl_family;

void weir_nl_silence(void);

extern const struct nla_policy weir_nl_match_policy[WEIR_A_MATCH_MAX + 1];
extern const struct nla_policy
weir_nl_limit_entry_policy[WEIR_A_LIMIT_MATCH + 1];
extern const struct nla_policy weir_nl_exempt_policy[WEIR_A_EXEMPT_MAX + 1];

/**
 * struct weir_nl_view - what is told of a limit beside its sources
 * @name: of the limit
 * @id: of the limit
 * @budget: packets or bytes a window
 * @prefix: what makes a source
 * @slot_ticks: length of a slot
 * @slots: slots that are summed
 * @bytes: count bytes and not packets
 * @observe: drop nothing
 */
struct weir_nl_view {
	char name[WEIR_NAME_SIZE];
	u32 id;
	u64 budget;
	struct weir_prefix prefix;
	u32 slot_ticks;
	u8 slots;
	bool bytes;
	bool observe;
};

/**
 * struct weir_nl_within - which sources are meant
 * @prefix: that they are within, if it has a family
 * @ifindex: of the device that they are bound to, or 0
 */
struct weir_nl_within {
	struct weir_net_prefix prefix;
	int ifindex;
};

/* Words in: netlink_words.c. Each fills the extended ACK where it refuses. */
int weir_nl_once(const struct nlmsghdr *nlh, u64 multi,
		 struct netlink_ext_ack *extack);
int weir_nl_string(const struct nlattr *attr, char *to, size_t size,
		   struct netlink_ext_ack *extack);
int weir_nl_prefix(const struct nlattr *address, const struct nlattr *len,
		   struct weir_net_prefix *prefix,
		   struct netlink_ext_ack *extack);
int weir_nl_nest(const struct nlattr *nest, struct nlattr **attrs, int max,
		 const struct nla_policy *policy,
		 struct netlink_ext_ack *extack);
int weir_nl_limit_words(struct nlattr **attrs, const struct nlattr *nest,
			bool make, struct weir_words *words,
			struct netlink_ext_ack *extack);
int weir_nl_exempt_words(struct nlattr **attrs, const struct nlattr *nest,
			 struct weir_exempt_words *words,
			 struct netlink_ext_ack *extack);
int weir_nl_fault(const struct weir_fault *fault, const struct nlattr *attr,
		  int err, struct netlink_ext_ack *extack);
int weir_nl_limit_fault(struct nlattr **attrs, const struct weir_fault *fault,
			int err, struct netlink_ext_ack *extack);
int weir_nl_exempt_fault(struct nlattr **attrs, const struct weir_fault *fault,
			 int err, struct netlink_ext_ack *extack);

/* Which sources are meant: netlink_address.c. */
int weir_nl_within(struct nlattr **attrs, const struct weir_net *wn,
		   struct weir_nl_within *within,
		   struct netlink_ext_ack *extack);
bool weir_nl_overlaps(const struct weir_nl_within *within,
		      const struct weir_source *source,
		      struct weir_prefix prefix);
bool weir_nl_holds(const struct weir_nl_within *within,
		   const struct weir_source *source, struct weir_prefix prefix);
int weir_nl_sender(struct nlattr **attrs, const struct weir_net *wn,
		   struct weir_source *source, char dev[IFNAMSIZ],
		   struct netlink_ext_ack *extack);

/* A match, in and out: netlink_match.c. */
int weir_nl_match_words(const struct nlattr *nest, struct weir_match *match,
			struct netlink_ext_ack *extack);
const struct nlattr *weir_nl_match_attr(const struct nlattr *nest, u16 cond);
int weir_nl_put_match(struct sk_buff *skb, int attr,
		      const struct weir_match *match);

/* Objects out, 0 or -EMSGSIZE: netlink_put.c. */
int weir_nl_put_source(struct sk_buff *skb, struct net *net,
		       const struct weir_nl_view *view,
		       const struct weir_source_state *state);
int weir_nl_put_exempt(struct sk_buff *skb, const struct weir_config *config,
		       const struct weir_exempt *exempt);

int weir_nl_put_fates(struct sk_buff *skb, const struct weir_counts *counts);

const struct weir_limit *
weir_nl_limit_by_id(const struct weir_config *config, u32 id);
void weir_nl_view(struct weir_nl_view *view, const struct weir_limit *limit);
struct sk_buff *weir_nl_reply(struct genl_info *info, u8 cmd, void **header);
void *weir_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb,
		       u8 cmd);

/* Operations. */
int weir_nl_limit_add(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_set(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_del(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_flush(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_get(struct sk_buff *skb, struct genl_info *info);
int weir_nl_limit_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weir_nl_source_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weir_nl_source_done(struct netlink_callback *cb);
int weir_nl_source_get(struct sk_buff *skb, struct netlink_callback *cb);
int weir_nl_source_charge(struct sk_buff *skb, struct genl_info *info);
int weir_nl_source_forget(struct sk_buff *skb, struct genl_info *info);
int weir_nl_exempt_add(struct sk_buff *skb, struct genl_info *info);
int weir_nl_exempt_del(struct sk_buff *skb, struct genl_info *info);
int weir_nl_exempt_get(struct sk_buff *skb, struct genl_info *info);
int weir_nl_exempt_dump(struct sk_buff *skb, struct netlink_callback *cb);
int weir_nl_exempt_flush(struct sk_buff *skb, struct genl_info *info);
int weir_nl_config_replace(struct sk_buff *skb, struct genl_info *info);
int weir_nl_stats_get(struct sk_buff *skb, struct genl_info *info);

static inline struct weir_net *weir_nl_net(const struct sk_buff *skb)
{
	return weir_net(sock_net(skb->sk));
}

static inline u64 weir_nl_ns(u64 ticks)
{
	return mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, HZ);
}

/*
 * A dump calls this first and last: whatever changed between or during two
 * parts of it, the next message says so, if only the one that ends the dump.
 */
static inline void weir_nl_dump_turn(struct netlink_callback *cb,
				     const struct weir_net *wn)
{
	cb->seq = READ_ONCE(wn->generation);
	if (!cb->prev_seq)
		cb->prev_seq = cb->seq;
}

#endif /* WEIR_NETLINK_PRIV_H */
