/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_USER_NAMESPACE_H
#define SHIM_USER_NAMESPACE_H

struct user_namespace {
	int id;
};

extern struct user_namespace init_user_ns;

#endif
