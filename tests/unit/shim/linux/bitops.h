/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_BITOPS_H
#define SHIM_BITOPS_H

#include <asm/byteorder.h>
#include <linux/types.h>

static inline unsigned long __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

#define le64_to_cpu(x)	__le64_to_cpu(x)

/* The number of the highest bit, from 1; 0 where none is set. */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#endif
