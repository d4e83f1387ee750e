/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_SIPHASH_H
#define SHIM_SIPHASH_H

#include <linux/bitops.h>
#include <linux/types.h>

typedef struct {
	u64 key[2];
} hsiphash_key_t;

u32 hsiphash(const void *data, size_t len, const hsiphash_key_t *key);

static inline u32 hsiphash_1u32(u32 a, const hsiphash_key_t *key)
{
	return hsiphash(&a, sizeof(a), key);
}

static inline u32 hsiphash_3u32(u32 a, u32 b, u32 c, const hsiphash_key_t *key)
{
	u32 word[] = { a, b, c };

	return hsiphash(word, sizeof(word), key);
}

#endif
