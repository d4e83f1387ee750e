/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_JIFFIES_H
#define SHIM_JIFFIES_H

#include <linux/types.h>

#define HZ		250
#define MSEC_PER_SEC	1000L

extern u64 shim_jiffies;

static inline u64 get_jiffies_64(void)
{
	return shim_jiffies;
}

#endif
