// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which sources a request means.
 */
#include <linux/netdevice.h>
#include <linux/socket.h>

#include "netlink_priv.h"

/* The index of a device by its name, or 0. */
static int dev_index(const struct weir_net *wn, const char *name)
{
	const struct net_device *dev;
	int ifindex;

	rcu_read_lock();
	dev = dev_get_by_name_rcu(wn->net, name);
	ifindex = dev ? dev->ifindex : 0;
	rcu_read_unlock();
	return ifindex;
}

/**
 * weir_nl_within - the sources that are meant by a prefix
 * @attrs: WEIR_A_SOURCE_*, up to the device
 * @wn: namespace
 * @within: filled; empty where all are meant
 * @extack: filled where it is refused
 *
 * Return: 0, -EINVAL or -ENODEV.
 */
int weir_nl_within(struct nlattr **attrs, const struct weir_net *wn,
		   struct weir_nl_within *within,
		   struct netlink_ext_ack *extack)
{
	char dev[IFNAMSIZ] = "";
	int err = 0;

	*within = (struct weir_nl_within) { };
	if (attrs[WEIR_A_SOURCE_ADDRESS]) {
		err = weir_nl_prefix(attrs[WEIR_A_SOURCE_ADDRESS],
				     attrs[WEIR_A_SOURCE_PREFIX_LEN],
				     &within->prefix, extack);
	} else if (attrs[WEIR_A_SOURCE_PREFIX_LEN]) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[WEIR_A_SOURCE_PREFIX_LEN],
				    "a prefix length needs its address");
		NL_SET_ERR_ATTR_MISS(extack, NULL, WEIR_A_SOURCE_ADDRESS);
		err = -EINVAL;
	}
	if (!err)
		err = weir_nl_string(attrs[WEIR_A_SOURCE_DEV], dev,
				     sizeof(dev), extack);
	if (err || !*dev)
		return err;
	within->ifindex = dev_index(wn, dev);
	if (within->ifindex)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attrs[WEIR_A_SOURCE_DEV],
			    "no device of that name; ip link lists them");
	return -ENODEV;
}

/* The prefix that a masked source is, or false for everybody. */
static bool source_prefix(const struct weir_source *source,
			  struct weir_prefix prefix,
			  struct weir_net_prefix *is)
{
	struct in6_addr addr;

	*is = (struct weir_net_prefix) { };
	is->family = weir_source_address(source, prefix, &addr, &is->len);
	memcpy(is->word, &addr, sizeof(is->word));
	return is->family != AF_UNSPEC;
}

static bool prefix_holds(const struct weir_net_prefix *outer,
			 const struct weir_net_prefix *inner)
{
	struct weir_source whole = {
		.zone = inner->family == AF_INET6 ? WEIR_ZONE_IPV6 : 0,
	};

	memcpy(whole.word, inner->word, sizeof(whole.word));
	return weir_net_prefix_has(outer, &whole);
}

/**
 * weir_nl_overlaps - is some address of a source meant?
 * @within: what is meant
 * @source: masked source
 * @prefix: what it was masked with
 */
bool weir_nl_overlaps(const struct weir_nl_within *within,
		      const struct weir_source *source,
		      struct weir_prefix prefix)
{
	struct weir_net_prefix outer = within->prefix, is;

	if (within->ifindex && within->ifindex != weir_source_ifindex(source))
		return false;
	if (!outer.family || !source_prefix(source, prefix, &is))
		return true;
	outer.len = min(outer.len, is.len);
	return prefix_holds(&outer, &is);
}

/**
 * weir_nl_holds - are all addresses of a source meant?
 * @within: what is meant
 * @source: masked source
 * @prefix: what it was masked with
 */
bool weir_nl_holds(const struct weir_nl_within *within,
		   const struct weir_source *source, struct weir_prefix prefix)
{
	struct weir_net_prefix is;

	if (within->ifindex && within->ifindex != weir_source_ifindex(source))
		return false;
	if (!within->prefix.family)
		return true;
	return source_prefix(source, prefix, &is) &&
	       is.len >= within->prefix.len &&
	       prefix_holds(&within->prefix, &is);
}

/**
 * weir_nl_sender - the one source that is meant by an address
 * @attrs: WEIR_A_SOURCE_*, up to the device
 * @wn: namespace
 * @source: filled, whole
 * @dev: filled with the name of the device, or ""; padded with zeroes
 * @extack: filled where it is refused
 *
 * Return: 0, -EINVAL or -ENODEV.
 */
int weir_nl_sender(struct nlattr **attrs, const struct weir_net *wn,
		   struct weir_source *source, char dev[IFNAMSIZ],
		   struct netlink_ext_ack *extack)
{
	struct weir_net_prefix prefix;
	int err, ifindex;

	memset(dev, 0, IFNAMSIZ);
	if (NL_REQ_ATTR_CHECK(extack, NULL, attrs, WEIR_A_SOURCE_ADDRESS)) {
		NL_SET_ERR_MSG(extack, "the address of the source is missing");
		return -EINVAL;
	}
	err = weir_nl_prefix(attrs[WEIR_A_SOURCE_ADDRESS], NULL, &prefix,
			     extack);
	if (!err)
		err = weir_nl_string(attrs[WEIR_A_SOURCE_DEV], dev, IFNAMSIZ,
				     extack);
	if (err)
		return err;
	ifindex = *dev ? dev_index(wn, dev) : 0;
	if (prefix.family == AF_INET)
		weir_source_ipv4(source, prefix.word[0], ifindex);
	else
		weir_source_ipv6(source, (struct in6_addr *)prefix.word,
				 ifindex);
	if (!(source->zone & WEIR_ZONE_LINKLOCAL) || ifindex)
		return 0;
	if (*dev) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[WEIR_A_SOURCE_DEV],
				    "no device of that name; ip link lists them");
		return -ENODEV;
	}
	NL_SET_ERR_MSG_ATTR(extack, attrs[WEIR_A_SOURCE_ADDRESS],
			    "a link-local address needs the device that it is on");
	NL_SET_ERR_ATTR_MISS(extack, NULL, WEIR_A_SOURCE_DEV);
	return -EINVAL;
}
