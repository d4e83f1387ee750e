/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_NET_NAMESPACE_H
#define SHIM_NET_NAMESPACE_H

struct user_namespace;

struct net {
	struct user_namespace *user_ns;
};

#endif
