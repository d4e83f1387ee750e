/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_SORT_H
#define SHIM_SORT_H

#include <linux/limits.h>
#include <stdlib.h>

#define sort(base, n, size, compare, swap) qsort(base, n, size, compare)

#endif
