/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_REFCOUNT_H
#define SHIM_REFCOUNT_H

#include <linux/types.h>

typedef struct {
	u32 refs;	/* atomic */
} refcount_t;

static inline void refcount_set(refcount_t *r, u32 n)
{
	__atomic_store_n(&r->refs, n, __ATOMIC_RELAXED);
}

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	u32 refs = __atomic_load_n(&r->refs, __ATOMIC_RELAXED);

	do {
		if (!refs)
			return false;
	} while (!__atomic_compare_exchange_n(&r->refs, &refs, refs + 1, false,
					      __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	return true;
}

static inline void refcount_inc(refcount_t *r)
{
	u32 refs = __atomic_fetch_add(&r->refs, 1, __ATOMIC_RELAXED);

	assert(refs);
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	u32 refs = __atomic_fetch_sub(&r->refs, 1, __ATOMIC_ACQ_REL);

	assert(refs);
	return refs == 1;
}

#endif
