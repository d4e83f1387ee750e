// SPDX-License-Identifier: GPL-2.0-only
/*
 * A match, in and out: for each condition, in the order of their bits, the
 * attribute that makes it and the one that goes with it.
 */
#include <linux/bitops.h>

#include "netlink.h"

enum cond_kind { COND_U8, COND_DEV, COND_PREFIX, COND_PORTS, COND_FLAG, COND_MARK };

#define COND(_attr, _more, _kind, _field) {				\
	WEIR_A_MATCH_##_attr, _more, _kind, offsetof(struct weir_match, _field) \
}

static const struct {
	u8 attr;
	u8 more;	/* or 0 */
	u8 kind;
	u8 at;		/* in struct weir_match */
} conds[] = {
	COND(FAMILY, 0, COND_U8, family),
	COND(DEV, 0, COND_DEV, dev),
	COND(FROM, WEIR_A_MATCH_FROM_LEN, COND_PREFIX, from),
	COND(TO, WEIR_A_MATCH_TO_LEN, COND_PREFIX, to),
	COND(PROTO, 0, COND_U8, proto),
	COND(SPORT_MIN, WEIR_A_MATCH_SPORT_MAX, COND_PORTS, sport),
	COND(DPORT_MIN, WEIR_A_MATCH_DPORT_MAX, COND_PORTS, dport),
	COND(SYN, 0, COND_FLAG, conds),
	COND(FRAG, 0, COND_FLAG, conds),
	COND(MARK, WEIR_A_MATCH_MARK_MASK, COND_MARK, mark),
};

static_assert(BIT(ARRAY_SIZE(conds) - 1) == WEIR_COND_MARK);
static_assert(WEIR_IF_FAMILY == (u32)WEIR_COND_FAMILY);
static_assert(WEIR_IF_MARK == (u32)WEIR_COND_MARK);

static int cond_parse(unsigned int i, const struct nlattr *attr, const struct nlattr *more,
		      struct weir_match *match, struct netlink_ext_ack *extack)
{
	void *field = (void *)match + conds[i].at;
	struct weir_port_range *ports = field;

	switch (conds[i].kind) {
	case COND_U8:
		*(u8 *)field = nla_get_u8(attr);
		break;
	case COND_DEV:
		return weir_nl_string(attr, field, IFNAMSIZ, extack);
	case COND_PREFIX:
		return weir_nl_prefix(attr, more, field, extack);
	case COND_PORTS:
		ports->min = nla_get_u16(attr);
		ports->max = more ? nla_get_u16(more) : ports->min;
		break;
	case COND_MARK:
		match->mark = nla_get_u32(attr);
		match->mark_mask = more ? nla_get_u32(more) : U32_MAX;
		break;
	}
	return 0;
}

/* Put the conditions of a nest in the place of those of their kind. */
int weir_nl_match(const struct nlattr *nest, struct weir_match *match,
		  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_A_MATCH_MAX + 1], *attr, *more;
	u16 cond, given = 0, invert = 0;
	const char *msg;
	unsigned int i;
	int err;

	err = weir_nl_nest(nest, tb, WEIR_A_MATCH_MAX, weir_match_nl_policy, extack);
	if (!err && tb[WEIR_A_MATCH_ANY])
		memset(match, 0, sizeof(*match));
	for (i = 0; !err && i < ARRAY_SIZE(conds); i++) {
		attr = tb[conds[i].attr];
		more = conds[i].more ? tb[conds[i].more] : NULL;
		if (attr) {
			given |= BIT(i);
			err = cond_parse(i, attr, more, match, extack);
		} else if (more) {
			NL_SET_ERR_MSG_ATTR(extack, more,
					    "only half of a condition; give the missing half too, or neither");
			NL_SET_ERR_ATTR_MISS(extack, (struct nlattr *)nest, conds[i].attr);
			err = -EINVAL;
		}
	}
	if (err)
		return err;
	if (tb[WEIR_A_MATCH_INVERT])
		invert = nla_get_u32(tb[WEIR_A_MATCH_INVERT]);
	if (invert & ~given) {
		NL_SET_ERR_MSG_ATTR(extack, tb[WEIR_A_MATCH_INVERT],
				    "inverts a condition that is not there; name it or leave it out of invert");
		return -EINVAL;
	}
	match->conds |= given;
	match->invert = (match->invert & ~given) | invert;
	msg = weir_match_check(match, &cond);
	if (!msg)
		return 0;
	extack->_msg = msg;
	NL_SET_BAD_ATTR(extack, tb[conds[__ffs(cond)].attr] ?: nest);
	return -EINVAL;
}

static int cond_put(struct sk_buff *skb, unsigned int i, const struct weir_match *match)
{
	const void *field = (const void *)match + conds[i].at;
	const struct weir_port_range *ports = field;
	int attr = conds[i].attr, more = conds[i].more;

	switch (conds[i].kind) {
	case COND_U8:
		return nla_put_u8(skb, attr, *(const u8 *)field);
	case COND_DEV:
		return nla_put_string(skb, attr, field);
	case COND_PREFIX:
		return weir_nl_put_prefix(skb, attr, more, field);
	case COND_PORTS:
		return nla_put_u16(skb, attr, ports->min) || nla_put_u16(skb, more, ports->max);
	case COND_MARK:
		return nla_put_u32(skb, attr, match->mark) ||
		       nla_put_u32(skb, more, match->mark_mask);
	}
	return nla_put_flag(skb, attr);
}

int weir_nl_put_match(struct sk_buff *skb, int attr, const struct weir_match *match)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	unsigned int i;

	if (!nest || (match->invert && nla_put_u32(skb, WEIR_A_MATCH_INVERT, match->invert)))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(conds); i++)
		if (match->conds & BIT(i) && cond_put(skb, i, match))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
