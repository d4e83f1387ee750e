// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the state of a network namespace.
 */
#include <net/netns/generic.h>

#include "limit/net.h"

unsigned int weir_net_id __read_mostly;

struct weir_net *weir_net(const struct net *net)
{
	return net_generic(net, weir_net_id);
}
