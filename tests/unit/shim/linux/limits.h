/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The C library reads this file too: macros only. */
#include_next <linux/limits.h>

#ifndef SHIM_LIMITS_H
#define SHIM_LIMITS_H

#define U8_MAX	((unsigned char)~0)
#define U16_MAX	((unsigned short)~0)
#define U32_MAX	(~0u)
#define U64_MAX	(~0ull)
#define S32_MAX	((int)(U32_MAX >> 1))
#define S32_MIN	(-S32_MAX - 1)

#endif
