/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_PREFETCH_H
#define SHIM_PREFETCH_H

#define prefetch(address) __builtin_prefetch(address)

#endif
