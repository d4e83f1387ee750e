/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_NET_IP_H
#define SHIM_NET_IP_H

#define IP_OFFSET 0x1fff

#endif
