// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes into words, and faults into extended ACKs. The policies have
 * checked types, lengths and ranges before; what is refused here is what a
 * policy cannot say.
 */
#include <linux/bitops.h>
#include <linux/netdevice.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "netlink_priv.h"

/* The attribute of each word of a limit. */
static const u8 limit_attr[] = {
	[WEIR_WORD_NAME]	= WEIR_A_LIMIT_NAME,
	[WEIR_WORD_BEFORE]	= WEIR_A_LIMIT_BEFORE,
	[WEIR_WORD_BUDGET]	= WEIR_A_LIMIT_BUDGET,
	[WEIR_WORD_WINDOW]	= WEIR_A_LIMIT_WINDOW_MS,
	[WEIR_WORD_UNIT]	= WEIR_A_LIMIT_UNIT,
	[WEIR_WORD_SLOTS]	= WEIR_A_LIMIT_SLOTS,
	[WEIR_WORD_MODE]	= WEIR_A_LIMIT_MODE,
	[WEIR_WORD_PREFIX4]	= WEIR_A_LIMIT_PREFIX4,
	[WEIR_WORD_PREFIX6]	= WEIR_A_LIMIT_PREFIX6,
	[WEIR_WORD_SOURCES]	= WEIR_A_LIMIT_SOURCES,
	[WEIR_WORD_ACTION]	= WEIR_A_LIMIT_ACTION,
	[WEIR_WORD_MATCH]	= WEIR_A_LIMIT_MATCH,
};

static_assert(WEIR_NAME_MAX + 1 == WEIR_NAME_SIZE);
static_assert(WEIR_DEV_MAX + 1 == IFNAMSIZ);

/* The core keeps the last of repeated attributes and says nothing. */
static int attrs_once(const struct nlattr *head, int len, u64 multi,
		      struct netlink_ext_ack *extack)
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
					    "attribute stands twice; it may stand once");
			return -EINVAL;
		}
		seen |= bit;
	}
	return 0;
}

/**
 * weir_nl_once - refuse a message that repeats an attribute
 * @nlh: message whose attributes the core has validated
 * @multi: attributes that may stand more than once, BIT_ULL(type)
 * @extack: filled where it is refused
 *
 * Return: 0 or -EINVAL.
 */
int weir_nl_once(const struct nlmsghdr *nlh, u64 multi,
		 struct netlink_ext_ack *extack)
{
	return attrs_once(nlmsg_attrdata(nlh, GENL_HDRLEN),
			  nlmsg_attrlen(nlh, GENL_HDRLEN), multi, extack);
}

/**
 * weir_nl_string - a name
 * @attr: NUL-terminated by policy, or NULL, which leaves @to alone
 * @to: filled and padded with zeroes
 * @size: of @to; the policy's length is less
 * @extack: filled where it is refused
 *
 * Return: 0 or -EINVAL.
 */
int weir_nl_string(const struct nlattr *attr, char *to, size_t size,
		   struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	if (nla_len(attr) == 1) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "a name has at least one character");
		return -EINVAL;
	}
	if (strnlen(nla_data(attr), nla_len(attr)) + 1 != nla_len(attr)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "a name ends at its first NUL byte; there is more behind it");
		return -EINVAL;
	}
	strscpy_pad(to, nla_data(attr), size);
	return 0;
}

/**
 * weir_nl_prefix - an address and how much of it is meant
 * @address: 4 or 16 bytes
 * @len: prefix length, or NULL for the whole address
 * @prefix: filled
 * @extack: filled where it is refused
 *
 * Return: 0 or -EINVAL.
 */
int weir_nl_prefix(const struct nlattr *address, const struct nlattr *len,
		   struct weir_net_prefix *prefix,
		   struct netlink_ext_ack *extack)
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
	if (extack) {
		extack->_msg = msg;
		NL_SET_BAD_ATTR(extack, prefix->family && prefix->len > bits ?
				len : address);
	}
	return -EINVAL;
}

/**
 * weir_nl_nest - the attributes of a nest, none of them repeated
 * @nest: validated by the policy that it stands in
 * @attrs: filled
 * @max: largest attribute
 * @policy: of the nest
 * @extack: filled where it is refused
 *
 * Return: 0 or negative errno.
 */
int weir_nl_nest(const struct nlattr *nest, struct nlattr **attrs, int max,
		 const struct nla_policy *policy,
		 struct netlink_ext_ack *extack)
{
	int err = nla_parse_nested(attrs, max, nest, policy, extack);

	return err ?: attrs_once(nla_data(nest), nla_len(nest), 0, extack);
}

static int limit_require(struct nlattr **attrs, const struct nlattr *nest,
			 bool make, struct netlink_ext_ack *extack)
{
	struct nlattr *in = (struct nlattr *)nest;

	if (NL_REQ_ATTR_CHECK(extack, in, attrs, WEIR_A_LIMIT_NAME)) {
		NL_SET_ERR_MSG(extack, "the name of the limit is missing");
		return -EINVAL;
	}
	if (!make)
		return 0;
	if (NL_REQ_ATTR_CHECK(extack, in, attrs, WEIR_A_LIMIT_BUDGET)) {
		NL_SET_ERR_MSG(extack, "the budget of the limit is missing");
		return -EINVAL;
	}
	if (NL_REQ_ATTR_CHECK(extack, in, attrs, WEIR_A_LIMIT_WINDOW_MS)) {
		NL_SET_ERR_MSG(extack, "the window of the budget is missing");
		return -EINVAL;
	}
	return 0;
}

static void limit_numbers(struct nlattr **attrs, struct weir_words *words)
{
	if (attrs[WEIR_A_LIMIT_BUDGET])
		words->budget = nla_get_u64(attrs[WEIR_A_LIMIT_BUDGET]);
	if (attrs[WEIR_A_LIMIT_WINDOW_MS])
		words->window_ms = nla_get_u32(attrs[WEIR_A_LIMIT_WINDOW_MS]);
	if (attrs[WEIR_A_LIMIT_UNIT])
		words->bytes = nla_get_u32(attrs[WEIR_A_LIMIT_UNIT]) ==
			       WEIR_UNIT_BYTES;
	if (attrs[WEIR_A_LIMIT_SLOTS])
		words->slots = nla_get_u32(attrs[WEIR_A_LIMIT_SLOTS]);
	if (attrs[WEIR_A_LIMIT_MODE])
		words->lenient = nla_get_u32(attrs[WEIR_A_LIMIT_MODE]) ==
				 WEIR_MODE_LENIENT;
	if (attrs[WEIR_A_LIMIT_PREFIX4])
		words->prefix.len4 = nla_get_u8(attrs[WEIR_A_LIMIT_PREFIX4]);
	if (attrs[WEIR_A_LIMIT_PREFIX6])
		words->prefix.len6 = nla_get_u8(attrs[WEIR_A_LIMIT_PREFIX6]);
	if (attrs[WEIR_A_LIMIT_SOURCES])
		words->sources = nla_get_u32(attrs[WEIR_A_LIMIT_SOURCES]);
	if (attrs[WEIR_A_LIMIT_ACTION])
		words->observe = nla_get_u32(attrs[WEIR_A_LIMIT_ACTION]) ==
				 WEIR_ACTION_OBSERVE;
}

/**
 * weir_nl_limit_words - what is said of a limit
 * @attrs: attributes up to WEIR_A_LIMIT_MATCH
 * @nest: that they stand in, or NULL for the message
 * @make: what a limit cannot be made without must be there
 * @words: zeroed, filled
 * @extack: filled where it is refused
 *
 * Return: 0 or -EINVAL.
 */
int weir_nl_limit_words(struct nlattr **attrs, const struct nlattr *nest,
			bool make, struct weir_words *words,
			struct netlink_ext_ack *extack)
{
	unsigned int word;
	int err;

	err = limit_require(attrs, nest, make, extack);
	if (!err)
		err = weir_nl_string(attrs[WEIR_A_LIMIT_NAME], words->name,
				     sizeof(words->name), extack);
	if (!err)
		err = weir_nl_string(attrs[WEIR_A_LIMIT_BEFORE], words->before,
				     sizeof(words->before), extack);
	if (!err && attrs[WEIR_A_LIMIT_MATCH])
		err = weir_nl_match_words(attrs[WEIR_A_LIMIT_MATCH],
					  &words->match, extack);
	if (err)
		return err;
	limit_numbers(attrs, words);
	for (word = 0; word < ARRAY_SIZE(limit_attr); word++)
		if (attrs[limit_attr[word]])
			words->given |= BIT(word);
	return 0;
}

/**
 * weir_nl_exempt_words - what is said of an exemption
 * @attrs: attributes of an exemption
 * @nest: that they stand in, or NULL for the message
 * @words: zeroed, filled
 * @extack: filled where it is refused
 *
 * Return: 0 or -EINVAL.
 */
int weir_nl_exempt_words(struct nlattr **attrs, const struct nlattr *nest,
			 struct weir_exempt_words *words,
			 struct netlink_ext_ack *extack)
{
	struct weir_exempt *exempt = &words->exempt;
	int err;

	if (NL_REQ_ATTR_CHECK(extack, (struct nlattr *)nest, attrs,
			      WEIR_A_EXEMPT_ADDRESS)) {
		NL_SET_ERR_MSG(extack, "the address of the exemption is missing");
		return -EINVAL;
	}
	err = weir_nl_prefix(attrs[WEIR_A_EXEMPT_ADDRESS],
			     attrs[WEIR_A_EXEMPT_PREFIX_LEN], &exempt->prefix,
			     extack);
	if (!err)
		err = weir_nl_string(attrs[WEIR_A_EXEMPT_DEV], exempt->dev,
				     sizeof(exempt->dev), extack);
	if (!err)
		err = weir_nl_string(attrs[WEIR_A_EXEMPT_LIMIT], words->limit,
				     sizeof(words->limit), extack);
	return err;
}

/**
 * weir_nl_fault - tell what was wrong
 * @fault: what was found
 * @attr: at fault, or NULL
 * @err: 0 where it is a warning
 * @extack: filled
 *
 * Return: @err.
 */
int weir_nl_fault(const struct weir_fault *fault, const struct nlattr *attr,
		  int err, struct netlink_ext_ack *extack)
{
	const char *msg = fault->msg;

	if (err && !msg)
		msg = err == -ENOMEM ?
		      "no memory for the change; nothing was changed" :
		      "the packet hook cannot be registered; nothing was changed";
	if (!msg || !extack)
		return err;
	do_trace_netlink_extack(msg);
	extack->_msg = msg;
	if (err)
		NL_SET_BAD_ATTR(extack, attr);
	if (fault->value)
		nl_set_extack_cookie_u64(extack, fault->value);
	return err;
}

/**
 * weir_nl_limit_fault - tell what was wrong with a limit
 * @attrs: its attributes
 * @fault: what was found
 * @err: 0 where it is a warning
 * @extack: filled
 *
 * Return: @err.
 */
int weir_nl_limit_fault(struct nlattr **attrs, const struct weir_fault *fault,
			int err, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = NULL, *inner = NULL;

	if (fault->word >= 0 && fault->word < ARRAY_SIZE(limit_attr))
		attr = attrs[limit_attr[fault->word]];
	if (attr && fault->word == WEIR_WORD_MATCH && fault->cond)
		inner = weir_nl_match_attr(attr, fault->cond);
	return weir_nl_fault(fault, inner ?: attr ?: attrs[WEIR_A_LIMIT_NAME],
			     err, extack);
}

/**
 * weir_nl_exempt_fault - tell what was wrong with an exemption
 * @attrs: its attributes
 * @fault: what was found
 * @err: 0 where it is a warning
 * @extack: filled
 *
 * Return: @err.
 */
int weir_nl_exempt_fault(struct nlattr **attrs, const struct weir_fault *fault,
			 int err, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = NULL;

	if (fault->word == WEIR_WORD_EXEMPT_DEV)
		attr = attrs[WEIR_A_EXEMPT_DEV];
	else if (fault->word == WEIR_WORD_EXEMPT_LIMIT)
		attr = attrs[WEIR_A_EXEMPT_LIMIT];
	return weir_nl_fault(fault, attr ?: attrs[WEIR_A_EXEMPT_ADDRESS], err,
			     extack);
}
