// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects into attributes.
 */
#include <linux/netdevice.h>
#include <linux/socket.h>

#include "netlink_priv.h"

/**
 * weir_nl_view - what is told of a limit beside its sources
 * @view: filled
 * @limit: limit
 */
void weir_nl_view(struct weir_nl_view *view, const struct weir_limit *limit)
{
	*view = (struct weir_nl_view) {
		.id = limit->id,
		.budget = limit->budget,
		.prefix = limit->prefix,
		.slot_ticks = limit->slot_ticks,
		.slots = limit->slots + !limit->lenient,
		.bytes = limit->bytes,
		.observe = limit->observe,
	};
	memcpy(view->name, limit->name, sizeof(view->name));
}

static int put_counter(struct sk_buff *skb, int attr, u64 packets, u64 bytes)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    nla_put_u64_64bit(skb, WEIR_A_COUNTER_PACKETS, packets,
			      WEIR_A_COUNTER_PAD) ||
	    nla_put_u64_64bit(skb, WEIR_A_COUNTER_BYTES, bytes,
			      WEIR_A_COUNTER_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * weir_nl_put_fates - tell what became of the packets at a limit
 * @skb: message, in its nest of stats
 * @counts: of the limit
 *
 * Return: 0 or -EMSGSIZE.
 */
int weir_nl_put_fates(struct sk_buff *skb, const struct weir_counts *counts)
{
	static const u8 attr[WEIR_FATES] = {
		[WEIR_ADMITTED]		= WEIR_A_LIMIT_STATS_ADMITTED,
		[WEIR_DROPPED]		= WEIR_A_LIMIT_STATS_DROPPED,
		[WEIR_WOULD_DROP]	= WEIR_A_LIMIT_STATS_WOULD_DROP,
		[WEIR_ELSEWHERE]	= WEIR_A_LIMIT_STATS_ELSEWHERE,
		[WEIR_FLOOR_REFUSED]	= WEIR_A_LIMIT_STATS_FLOOR_REFUSED,
		[WEIR_TOO_LARGE_REFUSED]= WEIR_A_LIMIT_STATS_TOO_LARGE,
	};
	u64 packets = 0, bytes = 0;
	unsigned int i;

	for (i = WEIR_ADMITTED; i <= WEIR_ELSEWHERE; i++) {
		packets += counts->packets[i];
		bytes += counts->bytes[i];
	}
	if (put_counter(skb, WEIR_A_LIMIT_STATS_MATCHED, packets, bytes))
		return -EMSGSIZE;
	for (i = 0; i < WEIR_FATES; i++)
		if (put_counter(skb, attr[i], counts->packets[i],
				counts->bytes[i]))
			return -EMSGSIZE;
	return 0;
}

/* How a source stands. */
static int put_standing(struct sk_buff *skb, const struct weir_nl_view *view,
			const struct weir_source_state *state)
{
	u64 left = view->budget - min(view->budget, state->count);
	u32 unit = view->bytes ? WEIR_UNIT_BYTES : WEIR_UNIT_PACKETS;

	if (nla_put_string(skb, WEIR_A_SOURCE_LIMIT, view->name) ||
	    nla_put_u64_64bit(skb, WEIR_A_SOURCE_COUNT, state->count,
			      WEIR_A_SOURCE_PAD) ||
	    nla_put_u64_64bit(skb, WEIR_A_SOURCE_LEFT, left,
			      WEIR_A_SOURCE_PAD) ||
	    nla_put_u64_64bit(skb, WEIR_A_SOURCE_BUDGET, view->budget,
			      WEIR_A_SOURCE_PAD) ||
	    nla_put_u32(skb, WEIR_A_SOURCE_UNIT, unit))
		return -EMSGSIZE;
	if (state->wait &&
	    (nla_put_flag(skb, WEIR_A_SOURCE_LIMITED) ||
	     nla_put_u64_64bit(skb, WEIR_A_SOURCE_NEXT_NS,
			       weir_nl_ns(state->wait), WEIR_A_SOURCE_PAD)))
		return -EMSGSIZE;
	return 0;
}

/* A device that is gone has no name any more. */
static int put_dev(struct sk_buff *skb, struct net *net, int ifindex)
{
	const struct net_device *dev;
	int err = 0;

	if (!ifindex)
		return 0;
	rcu_read_lock();
	dev = dev_get_by_index_rcu(net, ifindex);
	if (dev)
		err = nla_put_string(skb, WEIR_A_SOURCE_DEV, dev->name);
	rcu_read_unlock();
	return err;
}

/**
 * weir_nl_put_source - tell a source
 * @skb: message
 * @net: namespace of its device
 * @view: of the limit
 * @state: of the source
 *
 * Return: 0 or -EMSGSIZE.
 */
int weir_nl_put_source(struct sk_buff *skb, struct net *net,
		       const struct weir_nl_view *view,
		       const struct weir_source_state *state)
{
	u32 action = view->observe ? WEIR_ACTION_OBSERVE : WEIR_ACTION_DROP;
	struct in6_addr addr;
	u8 len, family;

	family = weir_source_address(&state->source, view->prefix, &addr, &len);
	if (family != AF_UNSPEC &&
	    nla_put(skb, WEIR_A_SOURCE_ADDRESS, family == AF_INET ? 4 : 16,
		    &addr))
		return -EMSGSIZE;
	if (nla_put_u8(skb, WEIR_A_SOURCE_PREFIX_LEN, len) ||
	    put_dev(skb, net, weir_source_ifindex(&state->source)) ||
	    put_standing(skb, view, state) ||
	    nla_put_u64_64bit(skb, WEIR_A_SOURCE_DROPPED, state->dropped,
			      WEIR_A_SOURCE_PAD) ||
	    nla_put_u32(skb, WEIR_A_SOURCE_ACTION, action))
		return -EMSGSIZE;
	if (state->floor && nla_put_flag(skb, WEIR_A_SOURCE_FLOOR))
		return -EMSGSIZE;
	if (!state->live && nla_put_flag(skb, WEIR_A_SOURCE_IDLE))
		return -EMSGSIZE;
	return 0;
}

/**
 * weir_nl_put_exempt - tell an exemption
 * @skb: message or nest
 * @config: that it stands in, for the name of its limit
 * @exempt: exemption
 *
 * Return: 0 or -EMSGSIZE.
 */
int weir_nl_put_exempt(struct sk_buff *skb, const struct weir_config *config,
		       const struct weir_exempt *exempt)
{
	const struct weir_net_prefix *prefix = &exempt->prefix;
	const struct weir_limit *limit;

	if (nla_put(skb, WEIR_A_EXEMPT_ADDRESS,
		    prefix->family == AF_INET ? 4 : 16, prefix->word) ||
	    nla_put_u8(skb, WEIR_A_EXEMPT_PREFIX_LEN, prefix->len))
		return -EMSGSIZE;
	if (*exempt->dev &&
	    nla_put_string(skb, WEIR_A_EXEMPT_DEV, exempt->dev))
		return -EMSGSIZE;
	limit = exempt->limit ? weir_nl_limit_by_id(config, exempt->limit) :
				NULL;
	if (limit && nla_put_string(skb, WEIR_A_EXEMPT_LIMIT, limit->name))
		return -EMSGSIZE;
	return 0;
}

/**
 * weir_nl_limit_by_id - a limit that may have been renewed since
 * @config: configuration or NULL
 * @id: of the limit
 */
const struct weir_limit *
weir_nl_limit_by_id(const struct weir_config *config, u32 id)
{
	unsigned int i;

	for (i = 0; config && i < config->count; i++)
		if (config->limit[i]->id == id)
			return config->limit[i];
	return NULL;
}
