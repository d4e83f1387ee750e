/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_STRING_H
#define SHIM_STRING_H

#include <string.h>

static inline void strscpy_pad(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	memset(to + len, 0, size - len);
}

#endif
