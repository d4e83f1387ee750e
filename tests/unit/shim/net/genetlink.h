/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_GENETLINK_H
#define SHIM_GENETLINK_H

struct nlattr;

struct netlink_callback {
	int unused;
};

struct genl_dumpit_info {
	struct nlattr **attrs;
};

static inline struct genl_dumpit_info *
genl_dumpit_info(struct netlink_callback *cb)
{
	(void)cb;
	return 0;
}

#endif
