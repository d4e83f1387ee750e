/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_MM_H
#define SHIM_MM_H

#define PAGE_SHIFT 12

extern unsigned long shim_totalram_pages;

static inline unsigned long totalram_pages(void)
{
	return shim_totalram_pages;
}

#endif
