/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_HASH_H
#define SHIM_HASH_H

#include <linux/types.h>

static inline u32 hash_32(u32 x, unsigned int bits)
{
	return x * 0x61c88647u >> (32 - bits);
}

#endif
