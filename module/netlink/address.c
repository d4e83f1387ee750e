// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limits and sources that a request selects, and the state of one.
 */
#include <linux/netdevice.h>
#include <linux/socket.h>

#include "clock.h"
#include "netlink/message.h"
#include "path/refusal.h"
#include "table/shared.h"

/* Does the limit exist that a request names, if it does? Like the next, under RCU or the mutex. */
int weir_nl_limits(const struct weir_config *config, const struct nlattr *name,
		   struct netlink_ext_ack *extack)
{
	return !name || weir_limit_find(config, nla_data(name)) ? 0 :
	       weir_nl_no_limit(name, extack);
}

/* The first limit, from the index @at on, that a request means: any if @name is "". Or NULL. */
const struct weir_limit *weir_nl_limit_next(const struct weir_config *config, const char *name,
					    unsigned int *at)
{
	for (; config && *at < config->count; ++*at)
		if (!*name || !strcmp(name, config->limit[*at]->cfg.name))
			return config->limit[*at];
	return NULL;
}

/* The index of the named device, 0 if none is named, or -ENODEV. */
static int dev_index(const struct weir_net *wn, const struct nlattr *attr,
		     struct netlink_ext_ack *extack)
{
	const struct net_device *dev;
	int ifindex;

	if (!attr)
		return 0;
	rcu_read_lock();
	dev = dev_get_by_name_rcu(wn->net, nla_data(attr));
	ifindex = dev ? dev->ifindex : -ENODEV;
	rcu_read_unlock();
	if (ifindex < 0)
		weir_nl_refuse(extack, attr, "no device of that name");
	return ifindex;
}

/* Parse a prefix or a device; @within stays empty if all sources are selected. */
int weir_nl_within(struct nlattr **attrs, const struct weir_net *wn,
		   struct weir_nl_within *within, struct netlink_ext_ack *extack)
{
	const struct nlattr *address = attrs[WEIR_A_SOURCE_ADDRESS];
	const struct nlattr *len = attrs[WEIR_A_SOURCE_PREFIX_LEN];
	int err = 0;

	*within = (struct weir_nl_within) { };
	if (address) {
		err = weir_nl_prefix(address, len, &within->prefix, extack);
	} else if (len) {
		NL_SET_ERR_ATTR_MISS(extack, NULL, WEIR_A_SOURCE_ADDRESS);
		err = weir_nl_refuse(extack, len, "a prefix length needs its address");
	}
	if (err)
		return err;
	within->ifindex = dev_index(wn, attrs[WEIR_A_SOURCE_DEV], extack);
	return min(within->ifindex, 0);
}

/* The prefix of a masked source; without a family for everybody. */
struct weir_net_prefix weir_nl_source_prefix(const struct weir_source *source,
					     struct weir_prefix prefix)
{
	struct weir_net_prefix is = { };
	struct in6_addr addr;

	is.family = weir_source_address(source, prefix, &addr, &is.len);
	memcpy(is.word, &addr, sizeof(is.word));
	return is;
}

/* Are all addresses of a source, masked with @prefix, selected, or if @partly any? */
bool weir_nl_selects(const struct weir_nl_within *within, const struct weir_source *source,
		     struct weir_prefix prefix, bool partly)
{
	struct weir_net_prefix outer, is;

	if (within->ifindex && within->ifindex != weir_source_ifindex(source))
		return false;
	if (!within->prefix.family)
		return true;
	outer = within->prefix;
	is = weir_nl_source_prefix(source, prefix);
	if (!is.family)
		return partly;
	if (partly)
		outer.len = min(outer.len, is.len);
	return weir_prefix_holds(&outer, &is);
}

/* Parse a whole address. Only if it is link-local does it need a device that exists. */
int weir_nl_sender(struct nlattr **attrs, const struct weir_net *wn,
		   struct weir_source *source, struct netlink_ext_ack *extack)
{
	struct weir_net_prefix prefix;
	int err, ifindex = 0;

	err = weir_nl_require(attrs, NULL, WEIR_A_SOURCE_ADDRESS,
			      "the address of the source is missing", extack) ?:
	      weir_nl_prefix(attrs[WEIR_A_SOURCE_ADDRESS], NULL, &prefix, extack);
	if (err)
		return err;
	/* A second round, with the device, if the address is link-local. */
	do {
		if (prefix.family == AF_INET)
			weir_source_ipv4(source, prefix.word[0], ifindex);
		else
			weir_source_ipv6(source, (struct in6_addr *)prefix.word, ifindex);
		if (!(source->scope & WEIR_SCOPE_LINKLOCAL) || ifindex)
			return 0;
		ifindex = dev_index(wn, attrs[WEIR_A_SOURCE_DEV], extack);
	} while (ifindex > 0);
	if (ifindex < 0)
		return ifindex;
	NL_SET_ERR_ATTR_MISS(extack, NULL, WEIR_A_SOURCE_DEV);
	return weir_nl_refuse(extack, attrs[WEIR_A_SOURCE_ADDRESS],
			      "a link-local address requires its device");
}

/* The state of an address under a limit, for @cost as weir_table_peek(). Under rcu_read_lock(). */
void weir_nl_peek(const struct weir_net *wn, const struct weir_limit *limit,
		  const struct weir_source *source, const u64 *cost,
		  struct weir_source_state *state, u64 slot[WEIR_SLOTS_MAX + 1])
{
	struct weir_source masked = *source;
	u64 own[WEIR_BUDGETS_MAX];

	weir_source_mask(&masked, limit->cfg.prefix);
	weir_table_peek(limit->table, &masked,
			weir_source_hash(&masked, limit->cfg.prefix, &limit->key),
			weir_clock(), weir_limit_room(limit, source, own), cost, state, slot);
	weir_refusals_pending(wn, limit, state, 1);
	weir_batches_unspent(limit->table, weir_clock(), state, slot);
}

/* A removed device has no name any more. */
int weir_nl_put_dev(struct sk_buff *skb, int attr, struct net *net, int ifindex)
{
	const struct net_device *dev;
	int err = 0;

	if (!ifindex)
		return 0;
	rcu_read_lock();
	dev = dev_get_by_index_rcu(net, ifindex);
	if (dev)
		err = nla_put_string(skb, attr, dev->name);
	rcu_read_unlock();
	return err;
}

/* Put for how long a source is blocked, if it is. */
int weir_nl_put_blocked(struct sk_buff *skb, u64 blocked)
{
	if (!blocked)
		return 0;
	return nla_put_flag(skb, WEIR_A_SOURCE_BLOCKED) ||
	       (blocked != WEIR_NEVER &&
		weir_nl_put_u64(skb, WEIR_A_SOURCE_BLOCKED_NS, weir_ticks_ns(blocked)));
}

/* Put the state of a source; @slot: with its slots, or NULL. */
int weir_nl_put_source(struct sk_buff *skb, struct net *net, const struct weir_limit *limit,
		       const struct weir_source_state *state, const u64 *slot)
{
	struct weir_net_prefix is = weir_nl_source_prefix(&state->source, limit->cfg.prefix);

	if ((is.family &&
	     nla_put(skb, WEIR_A_SOURCE_ADDRESS, is.family == AF_INET ? 4 : 16, is.word)) ||
	    nla_put_u8(skb, WEIR_A_SOURCE_PREFIX_LEN, is.len) ||
	    weir_nl_put_dev(skb, WEIR_A_SOURCE_DEV, net, weir_source_ifindex(&state->source)) ||
	    nla_put_string(skb, WEIR_A_SOURCE_LIMIT, limit->cfg.name) ||
	    weir_nl_put_counts(skb, limit, state, slot) ||
	    (state->wait &&
	     (nla_put_flag(skb, WEIR_A_SOURCE_LIMITED) ||
	      (state->wait != WEIR_NEVER &&
	       weir_nl_put_u64(skb, WEIR_A_SOURCE_NEXT_NS, weir_ticks_ns(state->wait))))) ||
	    weir_nl_put_blocked(skb, state->blocked) ||
	    weir_nl_put_u64(skb, WEIR_A_SOURCE_DROPPED, state->observed ? 0 : state->dropped) ||
	    weir_nl_put_u64(skb, WEIR_A_SOURCE_WOULD_DROP, state->observed ? state->dropped : 0) ||
	    nla_put_u32(skb, WEIR_A_SOURCE_ACTION, limit->cfg.observe) ||
	    (state->floor && nla_put_flag(skb, WEIR_A_SOURCE_FLOOR)) ||
	    (state->unknown && nla_put_flag(skb, WEIR_A_SOURCE_UNKNOWN)) ||
	    (!state->live && nla_put_flag(skb, WEIR_A_SOURCE_IDLE)))
		return -EMSGSIZE;
	return 0;
}
