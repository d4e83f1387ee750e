/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEIR_FAMILY_H
#define WEIR_FAMILY_H

/* The generic netlink family, and the events that it sends. May sleep. */
int weir_netlink_init(void);
void weir_netlink_exit(void);

#endif /* WEIR_FAMILY_H */
