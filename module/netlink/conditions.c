// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse and put a match, by a table with the attribute of each condition, in the
 * order of their bits.
 */
#include <linux/bitops.h>
#include <linux/netdevice.h>

#include "config/edit.h"
#include "netlink/message.h"

enum cond_kind { COND_U8, COND_TYPES, COND_DEV, COND_PREFIX, COND_PORTS, COND_FLAG, COND_MARK,
		 COND_LIST };

#define COND(_attr, _kind, _field)					\
	.attr = WEIR_A_MATCH_##_attr, .kind = _kind,			\
	.at = offsetof(struct weir_match, _field)

static const struct {
	u8 attr;
	u8 kind;
	u16 at;		/* in struct weir_match */
} conds[] = {
	{ COND(FAMILY, COND_U8, family) },
	{ COND(DEV, COND_DEV, dev) },
	{ COND(FROM, COND_PREFIX, from) },
	{ COND(TO, COND_PREFIX, to) },
	{ COND(PROTO, COND_TYPES, proto) },
	{ COND(SPORT, COND_PORTS, sport) },
	{ COND(DPORT, COND_PORTS, dport) },
	{ COND(SYN, COND_FLAG, conds) },
	{ COND(FRAG, COND_FLAG, conds) },
	{ COND(MARK, COND_MARK, mark) },
	{ COND(ICMP_TYPE, COND_TYPES, icmp) },
	{ COND(ICMPV6_TYPE, COND_TYPES, icmpv6) },
	{ COND(FROM_LIST, COND_LIST, from_list) },
	{ COND(TO_LIST, COND_LIST, to_list) },
};

static_assert(!offsetof(struct weir_prefix_list, count));
static_assert(!offsetof(struct weir_port_list, count));
static_assert(BIT(ARRAY_SIZE(conds) - 1) == WEIR_COND_TO_LIST);

static_assert(WEIR_A_MEMBER_ADDRESS == (u32)WEIR_A_PREFIX_ADDRESS);
static_assert(WEIR_A_MEMBER_LEN == (u32)WEIR_A_PREFIX_LEN);

/* The prefix of a condition, or of a member of a list, with its attributes. */
int weir_nl_prefix_parse(struct nlattr **tb, const struct nlattr *nest,
			 struct weir_net_prefix *prefix, struct netlink_ext_ack *extack)
{
	return weir_nl_require(tb, nest, WEIR_A_PREFIX_ADDRESS,
			       "the address of a prefix is missing", extack) ?:
	       weir_nl_prefix(tb[WEIR_A_PREFIX_ADDRESS], tb[WEIR_A_PREFIX_LEN], prefix, extack);
}

static int prefix_nest(const struct nlattr *nest, struct weir_net_prefix *prefix,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_A_PREFIX_MAX + 1];
	int err;

	err = weir_nl_nest(nest, tb, WEIR_A_PREFIX_MAX, weir_prefix_nl_policy, extack);
	return err ?: weir_nl_prefix_parse(tb, nest, prefix, extack);
}

static int ports_parse(const struct nlattr *nest, struct weir_port_range *ports,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_A_PORTS_MAX + 1];
	int err;

	err = weir_nl_nest(nest, tb, WEIR_A_PORTS_MAX, weir_ports_nl_policy, extack);
	if (!err)
		err = weir_nl_require(tb, nest, WEIR_A_PORTS_FIRST, "the first port is missing",
				      extack);
	if (err)
		return err;
	ports->min = nla_get_u16(tb[WEIR_A_PORTS_FIRST]);
	ports->max = tb[WEIR_A_PORTS_LAST] ? nla_get_u16(tb[WEIR_A_PORTS_LAST]) : ports->min;
	return 0;
}

static const u8 values_max[] = {
	[COND_PREFIX] = WEIR_PREFIXES_MAX, [COND_PORTS] = WEIR_PORTS_MAX,
	[COND_TYPES] = WEIR_TYPES_MAX,
};

/* Parse a condition that may have several values. */
static int list_parse(unsigned int i, const struct nlattr *nest, struct weir_match *match,
		      struct netlink_ext_ack *extack)
{
	void *field = (void *)match + conds[i].at;
	struct weir_prefix_list *prefix = field;
	struct weir_port_list *ports = field;
	const u8 kind = conds[i].kind;
	const struct nlattr *attr;
	int err = 0, rem;
	u32 count = 0;

	memset(field, 0, kind == COND_PREFIX ? sizeof(*prefix) :
	       kind == COND_PORTS ? sizeof(*ports) : sizeof(match->proto));
	nla_for_each_nested_type(attr, conds[i].attr, nest, rem) {
		if (count == values_max[kind])
			return weir_nl_refuse(extack, attr,
					      "a condition has at most 16 prefixes, 15 ranges of ports, 32 other values");
		if (kind == COND_TYPES)
			__set_bit(nla_get_u8(attr), field);
		else
			err = kind == COND_PREFIX ?
			      prefix_nest(attr, &prefix->prefix[count], extack) :
			      ports_parse(attr, &ports->range[count], extack);
		if (err)
			return err;
		count++;
	}
	if (kind != COND_TYPES)
		*(u32 *)field = count;
	return 0;
}

static int cond_parse(unsigned int i, const struct nlattr *attr, const struct nlattr *nest,
		      struct weir_match *match, const struct weir_edit *edit,
		      struct netlink_ext_ack *extack)
{
	void *field = (void *)match + conds[i].at;
	struct weir_prefixes *list;

	switch (conds[i].kind) {
	case COND_U8:
		*(u8 *)field = nla_get_u8(attr);
		break;
	case COND_DEV:
		nla_strscpy(field, attr, IFNAMSIZ);
		break;
	case COND_TYPES:
	case COND_PREFIX:
	case COND_PORTS:
		return list_parse(i, nest, match, extack);
	case COND_MARK:
		match->mark = nla_get_u32(attr);
		match->mark_mask = U32_MAX;
		break;
	case COND_LIST:
		list = weir_edit_list(edit, nla_data(attr));
		*(struct weir_prefixes **)field = list;
		return list ? 0 : weir_nl_no_list(attr, extack);
	}
	return 0;
}

/* Replace the conditions of a match by those of their kind in a nest. */
int weir_nl_match(const struct nlattr *nest, struct weir_match *match,
		  const struct weir_edit *edit, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_A_MATCH_MAX + 1], *mask;
	u16 cond, given = 0, invert = 0;
	const char *msg;
	unsigned int i;
	int err;

	err = weir_nl_nest(nest, tb, WEIR_A_MATCH_MAX, weir_match_nl_policy, extack);
	if (!err && tb[WEIR_A_MATCH_ANY])
		memset(match, 0, sizeof(*match));
	for (i = 0; !err && i < ARRAY_SIZE(conds); i++) {
		if (!tb[conds[i].attr])
			continue;
		given |= BIT(i);
		err = cond_parse(i, tb[conds[i].attr], nest, match, edit, extack);
	}
	mask = tb[WEIR_A_MATCH_MARK_MASK];
	if (err)
		return err;
	if (mask && !(given & WEIR_COND_MARK)) {
		NL_SET_ERR_ATTR_MISS(extack, (struct nlattr *)nest, WEIR_A_MATCH_MARK);
		return weir_nl_refuse(extack, mask,
				      "half of a condition is missing; give both halves or neither");
	}
	if (mask)
		match->mark_mask = nla_get_u32(mask);
	if (tb[WEIR_A_MATCH_INVERT])
		invert = nla_get_u32(tb[WEIR_A_MATCH_INVERT]);
	if (invert & ~given)
		return weir_nl_refuse(extack, tb[WEIR_A_MATCH_INVERT],
				      "invert has a condition that is not given; give it or clear its bit");
	match->conds |= given;
	match->invert = (match->invert & ~given) | invert;
	msg = weir_match_check(match, &cond);
	return msg ? weir_nl_refuse(extack, tb[conds[__ffs(cond)].attr] ?: nest, msg) : 0;
}

/* Conditions that are about packets of one protocol. */
static const struct {
	u16 cond;
	u8 proto;
} of_proto[] = {
	{ WEIR_COND_SYN, IPPROTO_TCP },
	{ WEIR_COND_ICMP_TYPE, IPPROTO_ICMP },
	{ WEIR_COND_ICMPV6_TYPE, IPPROTO_ICMPV6 },
};

/* Fill in the protocol, which flags and types imply, and what follows its header. */
static void transport_fill(struct weir_outline *outline)
{
	const struct weir_match *match = &outline->match;
	struct weir_packet *packet = &outline->packet;
	bool icmpv6 = match->conds & WEIR_COND_ICMPV6_TYPE;
	bool later = match->conds & ~match->invert & WEIR_COND_FRAG;
	unsigned int i;
	int proto = -1;

	if (match->conds & WEIR_COND_PROTO)
		proto = find_first_bit(match->proto, WEIR_TYPES);
	for (i = 0; i < ARRAY_SIZE(of_proto); i++)
		if (match->conds & of_proto[i].cond)
			proto = of_proto[i].proto;
	if (later) {
		packet->flags |= WEIR_PACKET_LATER |
				 (packet->family == AF_INET6 ? WEIR_PACKET_NO_PROTO : 0);
		outline->known |= WEIR_CONDS_TRANSPORT & ~WEIR_COND_PROTO;
	}
	if (proto < 0)
		return;
	outline->known |= WEIR_COND_PROTO;
	for (i = 0; i < ARRAY_SIZE(of_proto); i++)
		if (proto != of_proto[i].proto)
			outline->known |= of_proto[i].cond;
	if (proto == (packet->family == AF_INET ? IPPROTO_IGMP : IPPROTO_ICMPV6))
		outline->vital = packet->family == AF_INET ? WEIR_COND_TO : WEIR_COND_ICMPV6_TYPE;
	packet->proto = proto;
	packet->sport = match->sport.range[0].min;
	packet->dport = match->dport.range[0].min;
	packet->icmp_type = find_first_bit(icmpv6 ? match->icmpv6 : match->icmp, WEIR_TYPES);
	if (!later)
		packet->flags |= (weir_proto_has_ports(proto) ? WEIR_PACKET_PORTS : 0) |
				 (proto == IPPROTO_TCP ? WEIR_PACKET_TCP : 0) |
				 (match->conds & ~match->invert & WEIR_COND_SYN ?
				  WEIR_PACKET_SYN : 0);
	if (icmpv6 && packet->family == AF_INET6 &&
	    (weir_packet_vital(packet, 255) || weir_packet_vital(packet, 1)))
		packet->flags |= WEIR_PACKET_VITAL;
	if (proto == IPPROTO_IGMP && packet->family == AF_INET && !later &&
	    ipv4_is_multicast(outline->header.ip.daddr))
		packet->flags |= WEIR_PACKET_VITAL;
}

/* Complete an outline with the properties in a nest: conditions of a match with one value. */
int weir_nl_packet(const struct nlattr *nest, struct weir_outline *outline,
		   struct netlink_ext_ack *extack)
{
	u64 may = BIT(WEIR_A_MATCH_INVERT) | BIT(WEIR_A_MATCH_TO) | BIT(WEIR_A_MATCH_PROTO) |
		  BIT(WEIR_A_MATCH_SPORT) | BIT(WEIR_A_MATCH_DPORT) | BIT(WEIR_A_MATCH_SYN) |
		  BIT(WEIR_A_MATCH_FRAG) |
		  BIT(WEIR_A_MATCH_MARK) | BIT(WEIR_A_MATCH_MARK_MASK) |
		  BIT(WEIR_A_MATCH_ICMP_TYPE) | BIT(WEIR_A_MATCH_ICMPV6_TYPE);
	const struct weir_match *match = &outline->match;
	const struct weir_net_prefix *to = match->to.prefix;
	const struct nlattr *attr, *found[WEIR_A_MATCH_MAX + 1] = { };
	bool ipv4 = outline->packet.family == AF_INET;
	int rem, err, fault;

	nla_for_each_nested(attr, nest, rem) {
		if (!(may & BIT(nla_type(attr))))
			return weir_nl_refuse(extack, attr,
					      "no such property of a packet, or given twice; leave it out");
		may &= ~BIT(nla_type(attr));
		found[nla_type(attr)] = attr;
	}
	err = weir_nl_match(nest, &outline->match, NULL, extack);
	if (err)
		return err;
	fault = match->invert & ~(WEIR_COND_SYN | WEIR_COND_FRAG) ? WEIR_A_MATCH_INVERT :
		match->conds & WEIR_COND_MARK && match->mark_mask != U32_MAX ?
		WEIR_A_MATCH_MARK_MASK :
		match->sport.range[0].min != match->sport.range[0].max ? WEIR_A_MATCH_SPORT :
		match->dport.range[0].min != match->dport.range[0].max ? WEIR_A_MATCH_DPORT : 0;
	if (fault)
		return weir_nl_refuse(extack, found[fault],
				      "a packet has one value, no range or mask; only syn and frag take not");
	if (match->conds & WEIR_COND_TO && (to->family != outline->packet.family ||
					    to->len != (ipv4 ? 32 : 128)))
		return weir_nl_refuse(extack, found[WEIR_A_MATCH_TO],
				      "the destination is one address, of the family of the source");
	memcpy(ipv4 ? (void *)&outline->header.ip.daddr : &outline->header.ip6.daddr, to->word,
	       to->len / 8);
	outline->known |= match->conds | (match->conds & WEIR_COND_TO ? WEIR_COND_TO_LIST : 0);
	/* No later fragment has ports, flags or types. */
	if (match->conds & WEIR_CONDS_TRANSPORT & ~WEIR_COND_PROTO)
		outline->known |= WEIR_COND_FRAG;
	outline->mark = match->mark;
	transport_fill(outline);
	return 0;
}

/* Why the hook sees no packets on a device, or NULL. */
const char *weir_nl_dev_unmet(const struct weir_net *wn, const char *name)
{
	const struct net_device *dev;
	const char *unmet = NULL;

	rcu_read_lock();
	dev = dev_get_by_name_rcu(wn->net, name);
	if (dev && (netif_is_any_bridge_port(dev) || netif_is_lag_port(dev)))
		unmet = "packets from a port arrive on its bridge or bond: give the name of that";
	else if (dev && netif_is_l3_master(dev))
		unmet = "packets from a VRF arrive on the devices in it: give the name of one";
	rcu_read_unlock();
	return unmet;
}

/* Fill in the zeroed outline of a packet that is any of the source, on any device or the given. */
int weir_nl_outline(struct nlattr **attrs, const struct weir_net *wn,
		    struct weir_outline *outline, struct netlink_ext_ack *extack)
{
	struct weir_packet *packet = &outline->packet;
	int err = weir_nl_sender(attrs, wn, &packet->source, extack);
	const char *unmet;

	if (err)
		return err;
	outline->known = WEIR_CONDS_SENDER & ~WEIR_COND_DEV;
	if (attrs[WEIR_A_SOURCE_DEV]) {
		outline->known |= WEIR_COND_DEV;
		nla_strscpy(outline->dev, attrs[WEIR_A_SOURCE_DEV], sizeof(outline->dev));
		unmet = weir_nl_dev_unmet(wn, outline->dev);
		if (unmet)
			return weir_nl_refuse(extack, attrs[WEIR_A_SOURCE_DEV], unmet);
	}
	packet->data = &outline->header;
	packet->family = packet->source.scope & WEIR_SCOPE_IPV6 ? AF_INET6 : AF_INET;
	if (!weir_source_known(&packet->source))
		packet->flags = WEIR_PACKET_VITAL;
	return 0;
}

static int list_put(struct sk_buff *skb, unsigned int i, const struct weir_match *match)
{
	const struct weir_prefix_list *prefix = (const void *)match + conds[i].at;
	const struct weir_port_list *ports = (const void *)match + conds[i].at;
	const u32 *count = (const void *)match + conds[i].at;
	struct nlattr *nest;
	unsigned int n;

	for (n = 0; n < *count; n++) {
		nest = nla_nest_start(skb, conds[i].attr);
		if (!nest || (conds[i].kind == COND_PREFIX ?
			      weir_nl_put_prefix(skb, WEIR_A_PREFIX_ADDRESS, WEIR_A_PREFIX_LEN,
						 &prefix->prefix[n]) :
			      nla_put_u16(skb, WEIR_A_PORTS_FIRST, ports->range[n].min) ||
			      nla_put_u16(skb, WEIR_A_PORTS_LAST, ports->range[n].max)))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int types_put(struct sk_buff *skb, int attr, const unsigned long *types)
{
	unsigned int type;

	for_each_set_bit(type, types, WEIR_TYPES)
		if (nla_put_u8(skb, attr, type))
			return -EMSGSIZE;
	return 0;
}

static int cond_put(struct sk_buff *skb, unsigned int i, const struct weir_match *match)
{
	const void *field = (const void *)match + conds[i].at;
	struct weir_prefixes *const *list;
	int attr = conds[i].attr;

	switch (conds[i].kind) {
	case COND_U8:
		return nla_put_u8(skb, attr, *(const u8 *)field);
	case COND_TYPES:
		return types_put(skb, attr, field);
	case COND_DEV:
		return nla_put_string(skb, attr, field);
	case COND_PREFIX:
	case COND_PORTS:
		return list_put(skb, i, match);
	case COND_MARK:
		return nla_put_u32(skb, attr, match->mark) ||
		       nla_put_u32(skb, WEIR_A_MATCH_MARK_MASK, match->mark_mask);
	case COND_LIST:
		list = field;
		return nla_put_string(skb, attr, (*list)->name);
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
