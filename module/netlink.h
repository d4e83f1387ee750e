/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The message's way: generic netlink.
 */
#ifndef WEIR_NETLINK_H
#define WEIR_NETLINK_H

#include <linux/init.h>
#include <linux/types.h>

#include "event.h"

struct net;
struct weir_limit;
struct weir_source_state;

int weir_netlink_init(void);
void weir_netlink_exit(void);

/* Does anybody listen to the events of a namespace? Any context. */
bool weir_netlink_heard(const struct weir_net *wn);

/* Tell the listeners of a namespace. Context: process. */
void weir_netlink_limit(struct weir_net *wn, enum weir_event_type type,
			const struct weir_limit *limit);
void weir_netlink_source(struct weir_net *wn, const struct weir_limit *limit,
			 const struct weir_source_state *state);
void weir_netlink_pressure(struct weir_net *wn,
			   const struct weir_limit *limit);

#endif /* WEIR_NETLINK_H */
