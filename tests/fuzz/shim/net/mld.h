/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_NET_MLD_H
#define SHIM_NET_MLD_H

#include <linux/icmpv6.h>

#endif
