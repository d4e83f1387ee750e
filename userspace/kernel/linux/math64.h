/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the module's count/ uses of the kernel, so that the tool counts as the module does. */
#ifndef WEIR_KERNEL_H
#define WEIR_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s32 s32;

/* Ticks a second, of the clock that the counts are of */
extern unsigned int weir_hz;

#define HZ		weir_hz
#define MSEC_PER_SEC	1000L

#define likely(x)	__builtin_expect(!!(x), 1)
#ifndef __cold
#define __cold		__attribute__((cold))
#endif

#define BIT(n)		(1ul << (n))
#define BIT_ULL(n)	(1ull << (n))
#define U8_MAX		((u8)~0)
#define U16_MAX		((u16)~0)
#define U32_MAX		(~0u)
#define U64_MAX		(~0ull)

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)

#define min(a, b)	({ __auto_type a_ = (a); __auto_type b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b)	({ __auto_type c_ = (a); __auto_type d_ = (b); c_ > d_ ? c_ : d_; })
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define swap(a, b)	do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)

#define check_mul_overflow(a, b, to)	__builtin_mul_overflow(a, b, to)
#define check_add_overflow(a, b, to)	__builtin_add_overflow(a, b, to)

#define div64_u64(dividend, divisor)	((u64)(dividend) / (divisor))
#define div_u64(dividend, divisor)	((u64)(dividend) / (u32)(divisor))
#define DIV_ROUND_UP_ULL(n, d)		(((u64)(n) + (d) - 1) / (d))

/* @shift is 64. Not all machines have integers of 128 bits. */
static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	u64 low = (a & U32_MAX) * (b & U32_MAX), one = (a >> 32) * (b & U32_MAX) + (low >> 32);
	u64 two = (a & U32_MAX) * (b >> 32) + (one & U32_MAX);

	return (a >> 32) * (b >> 32) + (one >> 32) + (two >> 32);
}

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

/* Number of the highest set bit, from 1; 0 if none is set */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#define fls(x)			fls64((u32)(x))
/* log2, rounded up */
#define order_base_2(x)		fls64((x) - 1)
#define roundup_pow_of_two(x)	(1ul << order_base_2(x))

#endif
