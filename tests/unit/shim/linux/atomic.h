/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_ATOMIC_H
#define SHIM_ATOMIC_H

#include <linux/types.h>

typedef struct {
	s64 counter;
} atomic64_t;

#define cmpxchg(at, old, new) __sync_val_compare_and_swap(at, old, new)

#endif
