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

int __init weir_netlink_init(void)
{
	int err;

	weir_nl_family.mcgrps = groups;
	weir_genl_prepare(&weir_nl_family, weir_nl_pre_doit);
	err = genl_register_family(&weir_nl_family);
	if (!err)
		weir_nl_events_start();
	return err;
}

void weir_netlink_exit(void)
{
	weir_nl_events_stop();
	genl_unregister_family(&weir_nl_family);
}
