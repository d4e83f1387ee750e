/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LOG2_H
#define SHIM_LOG2_H

static inline int ilog2(unsigned long x)
{
	return 63 - __builtin_clzl(x);
}

/* log2, rounded up. */
static inline int order_base_2(unsigned long x)
{
	return x > 1 ? ilog2(x - 1) + 1 : 0;
}

static inline unsigned long roundup_pow_of_two(unsigned long x)
{
	return 1ul << order_base_2(x);
}

#endif
