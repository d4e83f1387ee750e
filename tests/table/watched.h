/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Included before each file: what a table allocates is counted on its way to
 * the kernel, where others get the CPU a test may come between, and a test may have its own clock.
 */
#ifndef WATCHED_H
#define WATCHED_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

extern atomic_t watched_allocations;
extern void (*shim_resched)(void);
extern u64 (*shim_clock)(void);

#define shim_allocations atomic_read(&watched_allocations)

static inline void *watched_new(void *p)
{
	if (p)
		atomic_inc(&watched_allocations);
	return p;
}

static inline const void *watched_old(const void *p)
{
	if (p)
		atomic_dec(&watched_allocations);
	return p;
}

static inline void *watched_pages(size_t size, gfp_t gfp)
{
	return watched_new(alloc_pages_exact(size, gfp));
}

static inline void *watched_vmalloc(size_t size, gfp_t gfp)
{
	return watched_new(__vmalloc(size, gfp));
}

static inline void *watched_kvzalloc(size_t size, gfp_t gfp)
{
	return watched_new(kvzalloc(size, gfp));
}

static inline void watched_resched(void)
{
	cond_resched();
	if (shim_resched)
		shim_resched();
}

#undef alloc_pages_exact
#undef __vmalloc
#undef kvzalloc
#undef cond_resched
#define alloc_pages_exact(size, gfp)	watched_pages(size, gfp)
#define __vmalloc(size, gfp)		watched_vmalloc(size, gfp)
#define kvzalloc(size, gfp)		watched_kvzalloc(size, gfp)
#define free_pages_exact(p, size)	free_pages_exact((void *)watched_old(p), size)
#define vfree(p)			vfree(watched_old(p))
#define kvfree(p)			kvfree(watched_old(p))
#define cond_resched()			watched_resched()
#define get_jiffies_64()		(shim_clock ? shim_clock() : get_jiffies_64())

#endif /* WATCHED_H */
