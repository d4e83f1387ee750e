// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family. Its policies and operations, netlink_gen.c, are
 * generated from Documentation/netlink/specs/weir.yaml. Changes take the namespace's
 * mutex, reads take RCU. The core checks rights, types, lengths, ranges and nests;
 * the parsers check the rest of the message; limit.c and edit.c check its meaning,
 * and their struct weir_error becomes the extended ACK.
 *
 * A dump parses its request in its first part, since older kernels have no extended
 * ACK at its start. A refusal is then in the message that ends the dump.
 */
#include <linux/module.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "netlink.h"

static_assert(WEIR_DEV_MAX + 1 == IFNAMSIZ);

MODULE_ALIAS_GENL_FAMILY(WEIR_FAMILY_NAME);

/* The generator ignores this flag of the specification. */
static const struct genl_multicast_group groups[] = {
	[WEIR_NLGRP_EVENTS] = {
		.name = WEIR_MCGRP_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN,
	},
};

int __init weir_netlink_init(void)
{
	weir_nl_family.mcgrps = groups;
	weir_genl_prepare(&weir_nl_family);
	return genl_register_family(&weir_nl_family);
}

void weir_netlink_exit(void)
{
	weir_nl_events_stop();
	genl_unregister_family(&weir_nl_family);
}

/* The core silently keeps the last of repeated attributes. */
static int attrs_once(const struct nlattr *head, int len, u64 multi, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	u64 bit, seen = 0;
	int rem;

	nla_for_each_attr(attr, head, len, rem) {
		bit = BIT_ULL(nla_type(attr) & 63);
		if (attr->nla_type & NLA_F_NET_BYTEORDER) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "numbers are in host order; NLA_F_NET_BYTEORDER is not expected");
			return -EINVAL;
		}
		if (seen & bit & ~multi) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "the attribute is given twice; give it once");
			return -EINVAL;
		}
		seen |= bit;
	}
	return 0;
}

/* Refuse a message that repeats attributes other than @multi, BIT_ULL(type). */
int weir_nl_once(const struct nlmsghdr *nlh, u64 multi, struct netlink_ext_ack *extack)
{
	return attrs_once(nlmsg_attrdata(nlh, GENL_HDRLEN),
			  nlmsg_attrlen(nlh, GENL_HDRLEN), multi, extack);
}

/* Refuse all attributes but @taken, BIT(type), in a request without a policy. */
int weir_nl_only(const struct nlmsghdr *nlh, u32 taken, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int rem;

	nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, rem)
		if (nla_type(attr) > 31 || !(BIT(nla_type(attr)) & taken)) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "this command does not take the attribute; leave it out");
			return -EINVAL;
		}
	return 0;
}

/* The attributes of a validated nest; only those of @multi may repeat. */
int weir_nl_nest(const struct nlattr *nest, struct nlattr **attrs, int max,
		 const struct nla_policy *policy, u64 multi, struct netlink_ext_ack *extack)
{
	int err = nla_parse_nested(attrs, max, nest, policy, extack);

	return err ?: attrs_once(nla_data(nest), nla_len(nest), multi, extack);
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

/* Copy a name and pad it with zeroes. Without @attr, @to stays unchanged. */
int weir_nl_string(const struct nlattr *attr, char *to, size_t size, struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	if (nla_len(attr) == 1) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "a name has at least one character");
		return -EINVAL;
	}
	if (strnlen(nla_data(attr), nla_len(attr)) + 1 != nla_len(attr)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "the name goes on after a NUL byte; send one string, ended by one NUL");
		return -EINVAL;
	}
	strscpy_pad(to, nla_data(attr), size);
	return 0;
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
	extack->_msg = msg;
	NL_SET_BAD_ATTR(extack, prefix->family && prefix->len > bits ? len : address);
	return -EINVAL;
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

	if (!msg && extack->_msg)
		return err;
	if (err && !msg)
		msg = err == -ENOMEM ?
		      "no memory for the change; nothing was changed" :
		      "the packet hook cannot be registered; nothing was changed";
	if (!msg)
		return err;
	do_trace_netlink_extack(msg);
	extack->_msg = msg;
	if (err)
		NL_SET_BAD_ATTR(extack, attr);
	if (error->value)
		nl_set_extack_cookie_u64(extack, error->value);
	return err;
}

int weir_nl_no_limit(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_ATTR(extack, attr, "no limit of that name; limit show lists them");
	return -ENOENT;
}

/*
 * Allocate a reply, or NULL. This precedes any change, so that no change is made
 * that cannot be answered.
 */
struct sk_buff *weir_nl_reply(struct genl_info *info, u8 cmd, void **header)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (skb)
		*header = genlmsg_put_reply(skb, info, &weir_nl_family, 0, cmd);
	else
		GENL_SET_ERR_MSG(info, "no memory for the answer; nothing was done, try again");
	return skb;
}

/* Send the reply if @err is 0. */
int weir_nl_reply_end(struct genl_info *info, struct sk_buff *skb, void *header, int err)
{
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

/* Begin a message of a dump; NULL if there is no room. After weir_nl_dump_check(). */
void *weir_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &weir_nl_family, NLM_F_MULTI, cmd);

	if (header)
		genl_dump_check_consistent(cb, header);
	return header;
}
