/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_SOCKET_H
#define SHIM_SOCKET_H

#include_next <linux/socket.h>

#define AF_UNSPEC	0
#define AF_INET		2
#define AF_INET6	10

#endif
