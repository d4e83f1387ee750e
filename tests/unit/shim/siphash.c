// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's keyed hash. */

#include <string.h>

#define ROTL(x, b) ((x) << (b) | (x) >> (64 - (b)))

static void sip_round(u64 v[4])
{
	v[0] += v[1];
	v[1] = ROTL(v[1], 13) ^ v[0];
	v[0] = ROTL(v[0], 32);
	v[2] += v[3];
	v[3] = ROTL(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = ROTL(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = ROTL(v[1], 17) ^ v[2];
	v[2] = ROTL(v[2], 32);
}

/* SipHash-1-3, folded to 32 bits as in 64-bit kernels. */
u32 hsiphash(const void *data, size_t len, const hsiphash_key_t *key)
{
	u64 v[4] = {
		key->key[0] ^ 0x736f6d6570736575ull,
		key->key[1] ^ 0x646f72616e646f6dull,
		key->key[0] ^ 0x6c7967656e657261ull,
		key->key[1] ^ 0x7465646279746573ull,
	};
	const u8 *byte = data;
	u64 last = (u64)len << 56, m;
	size_t i;

	for (; len >= 8; len -= 8, byte += 8) {
		memcpy(&m, byte, 8);
		v[3] ^= m;
		sip_round(v);
		v[0] ^= m;
	}
	for (i = 0; i < len; i++)
		last |= (u64)byte[i] << (8 * i);
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
