/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_NETDEVICE_H
#define SHIM_NETDEVICE_H

#include <linux/if.h>
#include <linux/percpu.h>
#include <linux/types.h>

struct net_device {
	char name[IFNAMSIZ];
	unsigned int flags;
	int ifindex;
};

static inline bool netif_is_l3_master(const struct net_device *dev)
{
	(void)dev;
	return false;
}

bool dev_valid_name(const char *name);

#define __netdev_alloc_pcpu_stats(type, gfp)	alloc_percpu_gfp(type, gfp)

#endif
