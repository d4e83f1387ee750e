/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_MM_H
#define SHIM_MM_H

#include <linux/slab.h>

#define PAGE_SHIFT 12
#define PAGE_ALIGN(x) (((x) + 4095ul) & ~4095ul)

/* As where memory is in pieces. */
#define alloc_pages_exact(size, gfp)	((void)(size), (void)(gfp), (void *)0)
#define free_pages_exact(p, size)	((void)(p), (void)(size))

extern long shim_available_pages;

static inline long si_mem_available(void)
{
	return shim_available_pages;
}

#endif
