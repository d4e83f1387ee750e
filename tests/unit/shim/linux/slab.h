/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_SLAB_H
#define SHIM_SLAB_H

#include <linux/err.h>
#include <linux/limits.h>
#include <linux/overflow.h>
#include <linux/types.h>

#define GFP_KERNEL_ACCOUNT	1u
#define __GFP_NOWARN		2u
#define __GFP_RETRY_MAYFAIL	4u
#define GFP_KERNEL		8u
#define __GFP_ZERO		16u
#define __GFP_NORETRY		32u

void *kvzalloc(size_t size, gfp_t gfp);
void kvfree(const void *p);
void *kmemdup(const void *from, size_t size, gfp_t gfp);

#define kzalloc(size, gfp)		kvzalloc(size, gfp)
#define kcalloc(n, size, gfp)		kvzalloc((size_t)(n) * (size), gfp)
#define kvcalloc(n, size, gfp)		kvzalloc((size_t)(n) * (size), gfp)
#define kvmalloc_array(n, size, gfp)	kvzalloc((size_t)(n) * (size), gfp)
#define kfree(p)			kvfree(p)

/* For tests: allocations that have not been freed, and the next to fail. */
extern u64 shim_allocated;
extern unsigned int shim_allocations;
extern int shim_fail_after;	/* allocations that still succeed, or -1 */

#endif
