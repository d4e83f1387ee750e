// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all messages have in common. Changes take the namespace's mutex, reads take RCU. The
 * core checks rights, types, lengths, ranges and nests; the parsers check the rest of the
 * message; config/ checks its meaning, and its struct weir_error becomes the extended ACK.
 *
 * A dump parses its request in its first part, since older kernels have no extended
 * ACK at its start. A refusal is then in the message that ends the dump.
 */
#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "clock.h"
#include "netlink/message.h"

static_assert(WEIR_DEV_MAX + 1 == IFNAMSIZ);

int weir_nl_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, const char *msg)
{
	do_trace_netlink_extack(msg);
	NL_SET_BAD_ATTR(extack, attr);
	extack->_msg = msg;
	return -EINVAL;
}

/* May attributes of a nest have several values, one each? */
static bool repeats(const struct nla_policy *policy)
{
	const struct nla_policy *match = weir_match_nl_policy, *nested = policy->nested_policy;

	return policy->type == NLA_NESTED ? nested != match && nested != weir_zone_nl_policy &&
					    nested != weir_state_newcomers_nl_policy :
	       policy == &match[WEIR_A_MATCH_PROTO] || policy == &match[WEIR_A_MATCH_ICMP_TYPE] ||
	       policy == &match[WEIR_A_MATCH_ICMPV6_TYPE];
}

/* What the core does not check; it silently keeps the last of repeated attributes. */
static const char *attr_check(const struct nlattr *attr, const struct nla_policy *policy,
			      bool repeated)
{
	const u8 *text = nla_data(attr), *end = text + nla_len(attr) - 1;

	if (attr->nla_type & NLA_F_NET_BYTEORDER)
		return "numbers are in host order; NLA_F_NET_BYTEORDER is not expected";
	if (repeated && !repeats(policy))
		return "the attribute is given twice; give it once";
	if (policy->type != NLA_NUL_STRING)
		return NULL;
	if (policy->len != WEIR_COMMENT_MAX && text == end)
		return "a name has at least one character";
	if (policy->len != WEIR_COMMENT_MAX && memchr(text, 0, end - text))
		return "the name goes on after a NUL byte; send one string, ended by one NUL";
	/* In UTF-8, U+0080 to U+009F are C2 80 to C2 9F. */
	for (; policy->len == WEIR_COMMENT_MAX && text < end; text++)
		if (iscntrl(*text) || (*text == 0xc2 && text[1] < 0xa0))
			return "a comment has no control characters; leave them out";
	return NULL;
}

/* Check attributes; only @taken, BIT_ULL(type), may be there. */
static int attrs_check(const struct nlattr *head, int len, const struct nla_policy *policy,
		       u64 taken, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	const char *msg;
	u64 bit, seen = 0;
	int rem;

	nla_for_each_attr(attr, head, len, rem) {
		bit = BIT_ULL(nla_type(attr) & 63);
		msg = taken & bit ? attr_check(attr, &policy[nla_type(attr)], seen & bit) :
		      "this command does not take the attribute; leave it out";
		if (msg)
			return weir_nl_refuse(extack, attr, msg);
		seen |= bit;
	}
	return 0;
}

static bool userns;
module_param(userns, bool, 0644);
MODULE_PARM_DESC(userns, "1 to allow limits in user namespaces (default 0)");

/* The core has checked the sender's rights in the namespace. */
static int request_check(struct sk_buff *skb, const struct nlmsghdr *nlh,
			 const struct nla_policy *policy, u64 taken, struct netlink_ext_ack *extack)
{
	/* Pairs with sysfs. */
	if (READ_ONCE(userns) || netlink_capable(skb, CAP_NET_ADMIN))
		return attrs_check(nlmsg_attrdata(nlh, GENL_HDRLEN),
				   nlmsg_attrlen(nlh, GENL_HDRLEN), policy, taken, extack);
	weir_nl_refuse(extack, NULL, "limits in user namespaces are off; load weir with userns=1");
	return -EPERM;
}

int weir_nl_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info)
{
	return request_check(skb, info->nlhdr, ops->policy, ops->maxattr ? ~0ull : 0, info->extack);
}

u32 weir_nl_generation(const struct weir_net *wn, u8 parts)
{
	const struct weir_config *config;
	u32 changes = 0, i;

	rcu_read_lock();
	config = weir_config_get(wn);
	for (i = 0; config && i < WEIR_PARTS; i++)
		if (parts & BIT(i))
			changes += config->changes[i];
	rcu_read_unlock();
	return changes << 1 | 1;
}

/*
 * Check the request, and have @put fill a part of a dump. Each message reports any
 * change of @parts, which the dump shows, between or during the messages before it, at the
 * latest the one that ends it. @taken: see attrs_check(); older kernels have one policy for do
 * and dump.
 */
int weir_nl_dump(struct sk_buff *skb, struct netlink_callback *cb, u64 taken, u8 parts,
		 int (*put)(struct sk_buff *skb, struct netlink_callback *cb,
			    struct weir_net *wn))
{
	struct weir_net *wn = weir_net(sock_net(cb->skb->sk));
	int err;

	err = request_check(cb->skb, cb->nlh, genl_dumpit_info(cb)->op.policy, taken, cb->extack);
	if (err)
		return err;
	cb->seq = weir_nl_generation(wn, parts);
	if (!cb->prev_seq)
		cb->prev_seq = cb->seq;
	err = put(skb, cb, wn);
	cb->seq = weir_nl_generation(wn, parts);
	return err;
}

/* The attributes of a nest that the core has validated with the message. */
int weir_nl_nest(const struct nlattr *nest, struct nlattr **attrs, int max,
		 const struct nla_policy *policy, struct netlink_ext_ack *extack)
{
	int err = nla_parse_nested(attrs, max, nest, policy, extack);

	return err ?: attrs_check(nla_data(nest), nla_len(nest), policy, ~0ull, extack);
}

int weir_nl_put_counter(struct sk_buff *skb, int attr, u64 packets, u64 bytes)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest || weir_nl_put_u64(skb, WEIR_A_COUNTER_PACKETS, packets) ||
	    weir_nl_put_u64(skb, WEIR_A_COUNTER_BYTES, bytes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

u64 weir_nl_uint(const struct nlattr *attr, u64 other)
{
	if (!attr)
		return other;
	return nla_len(attr) == 1 ? nla_get_u8(attr) : nla_len(attr) == 2 ? nla_get_u16(attr) :
	       nla_len(attr) == 4 ? nla_get_u32(attr) : nla_get_u64(attr);
}

/* The attribute with that index among those of its type; or NULL. */
const struct nlattr *weir_nl_nth(const struct nlattr *head, int len, int type, unsigned int index)
{
	const struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, head, len, rem)
		if (nla_type(attr) == type && !index--)
			return attr;
	return NULL;
}

/* Refuse a nest, or with NULL the message, that lacks an attribute. */
int weir_nl_require(struct nlattr **attrs, const struct nlattr *nest, int attr,
		    const char *msg, struct netlink_ext_ack *extack)
{
	if (!NL_REQ_ATTR_CHECK(extack, (struct nlattr *)nest, attrs, attr))
		return 0;
	extack->_msg = msg;
	return -EINVAL;
}

/* An address and its prefix length; without @len, the whole address. */
int weir_nl_prefix(const struct nlattr *address, const struct nlattr *len,
		   struct weir_net_prefix *prefix, struct netlink_ext_ack *extack)
{
	unsigned int bits = 8 * nla_len(address);
	const char *msg;

	*prefix = (struct weir_net_prefix) { };
	if (bits == 32)
		prefix->family = AF_INET;
	else if (bits == 128)
		prefix->family = AF_INET6;
	if (prefix->family)
		memcpy(prefix->word, nla_data(address), nla_len(address));
	prefix->len = len ? nla_get_u8(len) : min(bits, 128u);
	msg = weir_net_prefix_check(prefix);
	if (!msg)
		return 0;
	return weir_nl_refuse(extack, prefix->family && prefix->len > bits ? len : address, msg);
}

int weir_nl_put_prefix(struct sk_buff *skb, int attr, int len_attr,
		       const struct weir_net_prefix *prefix)
{
	return nla_put(skb, attr, prefix->family == AF_INET ? 4 : 16, prefix->word) ||
	       nla_put_u8(skb, len_attr, prefix->len) ? -EMSGSIZE : 0;
}

/*
 * Fill the extended ACK if no parser did: with an error, or if @err is 0 with a
 * warning. Returns @err.
 */
int weir_nl_error(const struct weir_error *error, const struct nlattr *attr, int err,
		  struct netlink_ext_ack *extack)
{
	const char *msg = error->msg;

	if (extack->_msg || (!err && !msg))
		return err;
	if (!msg)
		msg = err == -ENOMEM ?
		      "no memory for the change; nothing was changed" :
		      "the packet hook cannot be registered; nothing was changed";
	weir_nl_refuse(extack, err ? attr : NULL, msg);
	/* A warning's number has 32 bits: Linux 7 has room for 64 in all. */
	if (error->value || error->place)
		nl_set_extack_cookie_u64(extack, err ? error->value :
					 min_t(u64, error->value, U32_MAX) |
					 (u64)error->place << 32 | (u64)error->more << 48);
	return err;
}

static unsigned long frozen_until;
static pid_t freezer;	/* the process that set it */

static int frozen_set(const char *text, const struct kernel_param *kp)
{
	/* Pairs with frozen(). */
	WRITE_ONCE(freezer, current->tgid);
	return param_set_ulong(text, kp);
}

static const struct kernel_param_ops frozen_ops = {
	.set = frozen_set,
	.get = param_get_ulong,
};

module_param_cb(frozen_until, &frozen_ops, &frozen_until, 0644);
__MODULE_PARM_TYPE(frozen_until, "ulong");
MODULE_PARM_DESC(frozen_until,
		 "Uptime in seconds until which only who sets it changes anything (default 0)");

/* Is the module being replaced, by another process? What this one changes would be lost. */
static bool frozen(void)
{
	/* Pairs with sysfs and frozen_set(). */
	return weir_uptime() < READ_ONCE(frozen_until) && READ_ONCE(freezer) != current->tgid;
}

/*
 * Refuse a change that would be lost: the module is being replaced, or what is held for another
 * process is to replace what would change; but the host's root drops what a user's holds. Under
 * the mutex.
 */
int weir_nl_restoring(struct weir_net *wn, const struct genl_info *info)
{
	const bool replaced = frozen();

	lockdep_assert_held(&wn->lock);
	if (!replaced && wn->held && wn->holder != info->snd_portid && !wn->privileged &&
	    capable(CAP_NET_ADMIN))
		weir_held_drop(wn);
	if (!replaced && (!wn->held || wn->holder == info->snd_portid))
		return 0;
	weir_nl_refuse(info->extack, NULL, replaced ?
		       "the module is being replaced and its state restored; try again after that" :
		       "another process restores a state, which replaces all; try again after it");
	return -EAGAIN;
}

int weir_nl_no_limit(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	weir_nl_refuse(extack, attr, "no limit of that name");
	return -ENOENT;
}

int weir_nl_no_list(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	weir_nl_refuse(extack, attr, "no list of that name");
	return -ENOENT;
}

/*
 * Allocate a reply, or NULL. This precedes any change, so that no change is made
 * that cannot be answered.
 */
struct sk_buff *weir_nl_reply(struct genl_info *info)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (skb)
		genlmsg_put_reply(skb, info, &weir_nl_family, 0, info->genlhdr->cmd);
	else
		GENL_SET_ERR_MSG(info, "no memory for the answer; nothing was done, try again");
	return skb;
}

/* Send the reply if @err is 0. */
int weir_nl_reply_end(struct genl_info *info, struct sk_buff *skb, int err)
{
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	nlmsg_end(skb, nlmsg_hdr(skb));
	return genlmsg_reply(skb, info);
}

/* Likewise of several messages, which nlmsg_new() has made, or could not. */
int weir_nl_replies_end(struct genl_info *info, struct sk_buff *skb, int err)
{
	if (!err)
		return genlmsg_reply(skb, info);
	nlmsg_free(skb);
	if (err == -ENOMEM)
		NL_SET_ERR_MSG(info->extack, "not enough memory; nothing changed, try again");
	return err;
}

/* Begin a message of a dump; NULL if there is no room. */
void *weir_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &weir_nl_family, NLM_F_MULTI, request->cmd);

	if (header)
		genl_dump_check_consistent(cb, header);
	return header;
}

/* End it, or take back what found no room. */
int weir_nl_dump_end(struct sk_buff *skb, void *header, int err)
{
	if (!err) {
		genlmsg_end(skb, header);
		return 0;
	}
	genlmsg_cancel(skb, header);
	return skb->len ?: -EMSGSIZE;
}
