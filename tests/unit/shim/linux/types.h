/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types, annotations and the compiler's part of the kernel, in user space. */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H

#include_next <linux/types.h>

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int gfp_t;

#define __force
#define __rcu
#define __percpu
#define __acquires(x)
#define __releases(x)
#define __aligned(x)	__attribute__((aligned(x)))
#define BUILD_BUG_ON(x)	_Static_assert(!(x), #x)
#ifndef __counted_by
#define __counted_by(member)
#endif

#undef static_assert
#define static_assert(x) _Static_assert(x, #x)

#define likely(x)	__builtin_expect(!!(x), 1)
#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#define noinline	__attribute__((noinline))
#define noinline_for_stack noinline
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define ALIGN(x, a)	(((x) + (a) - 1) / (a) * (a))
#define BIT(n)		(1ul << (n))
#define BIT_ULL(n)	(1ull << (n))

#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof(((type *)0)->member))

#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))

#define swap(a, b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)

#define READ_ONCE(x)	 __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_rmb()	 __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()	 __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

#endif
