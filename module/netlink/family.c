// SPDX-License-Identifier: GPL-2.0-only
/*
 * Register the family, whose policies and operations are in gen.c, generated from
 * Documentation/netlink/specs/weir.yaml.
 */
#include "netlink/message.h"

/* The generator ignores this flag of the specification. */
static const struct genl_multicast_group groups[] = {
	[WEIR_NLGRP_EVENTS] = {
		.name = WEIR_MCGRP_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN,
	},
};

/* Nothing is held for a process that is gone. */
static int released(struct notifier_block *block, unsigned long event, void *data)
{
	const struct netlink_notify *socket = data;

	if (event == NETLINK_URELEASE && socket->protocol == NETLINK_GENERIC)
		weir_held_release(weir_net(socket->net), socket->portid);
	return NOTIFY_DONE;
}

static struct notifier_block sockets = { .notifier_call = released };

int __init weir_netlink_init(void)
{
	int err;

	weir_nl_family.mcgrps = groups;
	weir_genl_prepare(&weir_nl_family, weir_nl_pre_doit);
	err = netlink_register_notifier(&sockets) ?: genl_register_family(&weir_nl_family);
	if (err)
		netlink_unregister_notifier(&sockets);
	else
		weir_nl_events_start();
	return err;
}

void weir_netlink_exit(void)
{
	weir_nl_events_stop();
	genl_unregister_family(&weir_nl_family);
	netlink_unregister_notifier(&sockets);
}
