/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_ATOMIC_H
#define SHIM_ATOMIC_H

#include <linux/types.h>

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define atomic_read(v)		__atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define atomic_set(v, i)	__atomic_store_n(&(v)->counter, i, __ATOMIC_RELAXED)
#define atomic_add(i, v)	((void)__atomic_fetch_add(&(v)->counter, i, __ATOMIC_RELAXED))
#define atomic_try_cmpxchg_relaxed(v, old, new)				\
	__atomic_compare_exchange_n(&(v)->counter, old, (int)(new), false,	\
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define atomic64_read(v)	atomic_read(v)
#define atomic64_add(n, v)	((void)__atomic_fetch_add(&(v)->counter, n, __ATOMIC_RELAXED))
#define atomic64_sub(n, v)	((void)__atomic_fetch_sub(&(v)->counter, n, __ATOMIC_RELAXED))
#define atomic64_inc(v)		atomic64_add(1, v)

#define cmpxchg(at, old, new) __sync_val_compare_and_swap(at, old, new)

#endif
