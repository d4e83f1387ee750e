/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_VMALLOC_H
#define SHIM_VMALLOC_H

#include <linux/slab.h>

#define __vmalloc(size, gfp)	kvzalloc(size, gfp)
#define vfree(p)		kvfree(p)
#define is_vmalloc_addr(p)	((p) != NULL)

#endif
