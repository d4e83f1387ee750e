// SPDX-License-Identifier: GPL-2.0-or-later
/* The source of a packet: masks bit by bit, link-local senders, addresses shown. */
#include <limits.h>

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>

#include "packet/source.h"
#include "unit.h"

static void mask_bits(u8 *byte, unsigned int bytes, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < 8 * bytes; i++)
		if (i >= len)
			byte[i / 8] &= ~(0x80 >> i % 8);
}

static void test_mask(void **state)
{
	struct chance c = chance_of(0);
	struct weir_source source, expected;
	struct weir_prefix prefix;
	struct in6_addr addr, shown;
	unsigned int i;
	u8 len, family;

	for (i = 0; i < 20000; i++) {
		bool ipv6 = chance_one_in(&c, 2);
		__be32 v4 = chance(&c) | 1;

		prefix.len4 = chance_below(&c, 33);
		prefix.len6 = chance_below(&c, 129);
		addr.s6_addr32[0] = htonl(0x20000000 | chance_below(&c, 1 << 20));
		addr.s6_addr32[1] = chance(&c);
		addr.s6_addr32[2] = chance(&c);
		addr.s6_addr32[3] = chance(&c);
		expected = (struct weir_source) { };
		if (ipv6) {
			weir_source_ipv6(&source, &addr, 7);
			memcpy(expected.word, &addr, 16);
			mask_bits((u8 *)expected.word, 16, prefix.len6);
			expected.scope = prefix.len6 || prefix.len4 ? WEIR_SCOPE_IPV6 : 0;
		} else {
			if ((ntohl(v4) >> 16) == 0xa9fe)
				continue;
			weir_source_ipv4(&source, v4, 7);
			expected.word[0] = v4;
			mask_bits((u8 *)expected.word, 4, prefix.len4);
		}
		weir_source_mask(&source, prefix);
		assert_memory_equal(&source, &expected, sizeof(source));
		/* Only the words of the key are set. */
		if (weir_prefix_words(prefix) == 2)
			assert_false(source.word[2] | source.word[3]);
		family = weir_source_address(&source, prefix, &shown, &len);
		assert_memory_equal(&shown, expected.word, sizeof(shown));
		if (ipv6 && prefix.len6) {
			assert_int_equal(family, AF_INET6);
			assert_int_equal(len, prefix.len6);
		} else if (!ipv6 && prefix.len4) {
			assert_int_equal(family, AF_INET);
			assert_int_equal(len, prefix.len4);
		}
	}
}

static void test_linklocal(void **state)
{
	static const struct weir_prefix prefix[] = {
		{ 32, 64 }, { 24, 48 }, { 8, 128 }, { 1, 1 }, { 32, 65 },
	};
	struct weir_source a, b;
	struct in6_addr addr = { }, shown;
	unsigned int i;
	u8 len;

	addr.s6_addr32[0] = htonl(0xfe800000);
	addr.s6_addr32[2] = htonl(0x12345678);
	addr.s6_addr32[3] = htonl(0x9abcdef0);
	for (i = 0; i < ARRAY_SIZE(prefix); i++) {
		weir_source_ipv6(&a, &addr, 3);
		weir_source_mask(&a, prefix[i]);
		assert_int_equal(weir_source_ifindex(&a), 3);
		assert_int_equal(weir_source_address(&a, prefix[i], &shown, &len), AF_INET6);
		assert_int_equal(len, 128);
		assert_memory_equal(&shown, &addr, sizeof(addr));
		weir_source_ipv6(&b, &addr, 4);
		weir_source_mask(&b, prefix[i]);
		assert_memory_not_equal(&a, &b, sizeof(a));

		weir_source_ipv4(&a, htonl(0xa9fe0102), 5);
		weir_source_mask(&a, prefix[i]);
		assert_int_equal(weir_source_ifindex(&a), 5);
		assert_int_equal(weir_source_address(&a, prefix[i], &shown, &len), AF_INET);
		assert_int_equal(len, 32);
		assert_true(shown.s6_addr32[0] == htonl(0xa9fe0102));
	}
	/* No interface index makes an invalid key. */
	for (i = 0; i < 31; i++) {
		weir_source_ipv6(&a, &addr, (1u << i) - 1);
		assert_true(a.scope != WEIR_SCOPE_INVALID);
		weir_source_ipv6(&a, &addr, INT_MAX >> i);
		assert_true(a.scope != WEIR_SCOPE_INVALID);
		weir_source_ipv4(&a, htonl(0xa9fe0102), INT_MAX >> i);
		assert_true(a.scope != WEIR_SCOPE_INVALID);
	}
	/* Of an interface index 28 bits are used. */
	weir_source_ipv6(&a, &addr, BIT(28) - 1);
	assert_int_equal(weir_source_ifindex(&a), BIT(28) - 1);
	weir_source_ipv6(&b, &addr, BIT(29) - 1);
	assert_memory_equal(&a, &b, sizeof(a));
	/* Prefix length 0 makes all sources equal. */
	weir_source_ipv6(&a, &addr, 3);
	weir_source_mask(&a, (struct weir_prefix) { 0, 0 });
	weir_source_ipv4(&b, htonl(0x01020304), 5);
	weir_source_mask(&b, (struct weir_prefix) { 0, 0 });
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(weir_source_address(&a, (struct weir_prefix) { 0, 0 },
					     &shown, &len), AF_UNSPEC);
	assert_int_equal(len, 0);
	/* Addresses in fe80::/10 outside fe80::/64 count like any other. */
	addr.s6_addr32[1] = htonl(1);
	weir_source_ipv6(&a, &addr, 3);
	assert_int_equal(weir_source_ifindex(&a), 0);
}

UNIT_MAIN("source_mask", T(test_mask), T(test_linklocal))
