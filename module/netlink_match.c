// SPDX-License-Identifier: GPL-2.0-only
/*
 * A match, in and out.
 */
#include <linux/bitops.h>
#include <linux/socket.h>

#include "netlink.h"

/* The attribute that says each condition, by its bit. */
static const u8 cond_attr[] = {
	WEIR_A_MATCH_FAMILY, WEIR_A_MATCH_DEV, WEIR_A_MATCH_FROM,
	WEIR_A_MATCH_TO, WEIR_A_MATCH_PROTO, WEIR_A_MATCH_SPORT_MIN,
	WEIR_A_MATCH_DPORT_MIN, WEIR_A_MATCH_SYN, WEIR_A_MATCH_FRAG,
	WEIR_A_MATCH_MARK,
};

static_assert(BIT(ARRAY_SIZE(cond_attr) - 1) == WEIR_COND_MARK);
static_assert(WEIR_IF_FAMILY == (u32)WEIR_COND_FAMILY);
static_assert(WEIR_IF_MARK == (u32)WEIR_COND_MARK);

/* Attributes of a match that mean nothing without another. */
static const struct {
	u8 attr;
	u8 needs;
} match_pair[] = {
	{ WEIR_A_MATCH_FROM_LEN, WEIR_A_MATCH_FROM },
	{ WEIR_A_MATCH_TO_LEN, WEIR_A_MATCH_TO },
	{ WEIR_A_MATCH_SPORT_MAX, WEIR_A_MATCH_SPORT_MIN },
	{ WEIR_A_MATCH_DPORT_MAX, WEIR_A_MATCH_DPORT_MIN },
	{ WEIR_A_MATCH_MARK_MASK, WEIR_A_MATCH_MARK },
};

static void match_ports(const struct nlattr *min, const struct nlattr *max,
			struct weir_port_range *range)
{
	if (!min)
		return;
	range->min = nla_get_u16(min);
	range->max = max ? nla_get_u16(max) : range->min;
}

static int match_conds(struct nlattr **tb, const struct nlattr *nest,
		       struct weir_match *match,
		       struct netlink_ext_ack *extack)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(match_pair); i++) {
		if (!tb[match_pair[i].attr] || tb[match_pair[i].needs])
			continue;
		NL_SET_ERR_MSG_ATTR(extack, tb[match_pair[i].attr],
				    "only half of a condition; give the missing half too, or neither");
		NL_SET_ERR_ATTR_MISS(extack, (struct nlattr *)nest,
				     match_pair[i].needs);
		return -EINVAL;
	}
	for (i = 0; i < ARRAY_SIZE(cond_attr); i++)
		if (tb[cond_attr[i]])
			match->conds |= BIT(i);
	if (tb[WEIR_A_MATCH_INVERT])
		match->invert = nla_get_u32(tb[WEIR_A_MATCH_INVERT]);
	if (match->invert & ~match->conds) {
		NL_SET_ERR_MSG_ATTR(extack, tb[WEIR_A_MATCH_INVERT],
				    "inverts a condition that is not there; name it or leave it out of invert");
		return -EINVAL;
	}
	return 0;
}

/* Numbers, as the policy has checked them. */
static void match_numbers(struct nlattr **tb, struct weir_match *match)
{
	if (tb[WEIR_A_MATCH_FAMILY])
		match->family = nla_get_u8(tb[WEIR_A_MATCH_FAMILY]);
	if (tb[WEIR_A_MATCH_PROTO])
		match->proto = nla_get_u8(tb[WEIR_A_MATCH_PROTO]);
	match_ports(tb[WEIR_A_MATCH_SPORT_MIN], tb[WEIR_A_MATCH_SPORT_MAX], &match->sport);
	match_ports(tb[WEIR_A_MATCH_DPORT_MIN], tb[WEIR_A_MATCH_DPORT_MAX], &match->dport);
	if (tb[WEIR_A_MATCH_MARK])
		match->mark = nla_get_u32(tb[WEIR_A_MATCH_MARK]);
	if (tb[WEIR_A_MATCH_MARK_MASK])
		match->mark_mask = nla_get_u32(tb[WEIR_A_MATCH_MARK_MASK]);
	else if (tb[WEIR_A_MATCH_MARK])
		match->mark_mask = U32_MAX;
}

/**
 * weir_nl_match - parse a match
 * @nest: the match
 * @match: filled
 * @extack: filled where it is refused
 *
 * Return: 0 or -EINVAL.
 */
int weir_nl_match(const struct nlattr *nest, struct weir_match *match,
		  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_A_MATCH_MAX + 1];
	const char *msg;
	u16 cond;
	int err;

	memset(match, 0, sizeof(*match));
	err = weir_nl_nest(nest, tb, WEIR_A_MATCH_MAX, weir_match_nl_policy, extack);
	if (!err)
		err = match_conds(tb, nest, match, extack);
	if (!err)
		err = weir_nl_string(tb[WEIR_A_MATCH_DEV], match->dev, sizeof(match->dev),
				     extack);
	if (!err && tb[WEIR_A_MATCH_FROM])
		err = weir_nl_prefix(tb[WEIR_A_MATCH_FROM], tb[WEIR_A_MATCH_FROM_LEN],
				     &match->from, extack);
	if (!err && tb[WEIR_A_MATCH_TO])
		err = weir_nl_prefix(tb[WEIR_A_MATCH_TO], tb[WEIR_A_MATCH_TO_LEN],
				     &match->to, extack);
	if (err)
		return err;
	match_numbers(tb, match);
	msg = weir_match_check(match, &cond);
	if (!msg)
		return 0;
	extack->_msg = msg;
	NL_SET_BAD_ATTR(extack, tb[cond_attr[__ffs(cond)]] ?: nest);
	return -EINVAL;
}

static int put_prefix(struct sk_buff *skb, const struct weir_net_prefix *prefix,
		      int attr, int len_attr)
{
	return nla_put(skb, attr, prefix->family == AF_INET ? 4 : 16,
		       prefix->word) ||
	       nla_put_u8(skb, len_attr, prefix->len);
}

static int put_ports(struct sk_buff *skb, const struct weir_port_range *range,
		     int min_attr, int max_attr)
{
	return nla_put_u16(skb, min_attr, range->min) ||
	       nla_put_u16(skb, max_attr, range->max);
}

static int put_cond(struct sk_buff *skb, const struct weir_match *match,
		    u16 cond)
{
	switch (cond) {
	case WEIR_IF_FAMILY:
		return nla_put_u8(skb, WEIR_A_MATCH_FAMILY, match->family);
	case WEIR_IF_DEV:
		return nla_put_string(skb, WEIR_A_MATCH_DEV, match->dev);
	case WEIR_IF_FROM:
		return put_prefix(skb, &match->from, WEIR_A_MATCH_FROM,
				  WEIR_A_MATCH_FROM_LEN);
	case WEIR_IF_TO:
		return put_prefix(skb, &match->to, WEIR_A_MATCH_TO,
				  WEIR_A_MATCH_TO_LEN);
	case WEIR_IF_PROTO:
		return nla_put_u8(skb, WEIR_A_MATCH_PROTO, match->proto);
	case WEIR_IF_SPORT:
		return put_ports(skb, &match->sport, WEIR_A_MATCH_SPORT_MIN,
				 WEIR_A_MATCH_SPORT_MAX);
	case WEIR_IF_DPORT:
		return put_ports(skb, &match->dport, WEIR_A_MATCH_DPORT_MIN,
				 WEIR_A_MATCH_DPORT_MAX);
	case WEIR_IF_SYN:
		return nla_put_flag(skb, WEIR_A_MATCH_SYN);
	case WEIR_IF_FRAG:
		return nla_put_flag(skb, WEIR_A_MATCH_FRAG);
	case WEIR_IF_MARK:
		return nla_put_u32(skb, WEIR_A_MATCH_MARK, match->mark) ||
		       nla_put_u32(skb, WEIR_A_MATCH_MARK_MASK,
				   match->mark_mask);
	}
	return 0;
}

/* Returns 0 or -EMSGSIZE. */
int weir_nl_put_match(struct sk_buff *skb, int attr, const struct weir_match *match)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	if (match->invert &&
	    nla_put_u32(skb, WEIR_A_MATCH_INVERT, match->invert))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(cond_attr); i++)
		if (match->conds & BIT(i) && put_cond(skb, match, BIT(i)))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
