// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of prefixes, with and without budgets, against a search of all of them. */
#include <linux/err.h>
#include <linux/in6.h>
#include <linux/socket.h>

#include "packet/prefixes.h"
#include "unit.h"

#define MOST	300

static void mask_bits(u8 *byte, unsigned int bytes, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < 8 * bytes; i++)
		if (i >= len)
			byte[i / 8] &= ~(0x80 >> i % 8);
}

/* Addresses of which many share their first bits, and some are the first or the last. */
static void random_address(struct chance *c, u8 family, u8 byte[16])
{
	unsigned int i, bytes = family == AF_INET ? 4 : 16;
	u8 fill = chance_one_in(c, 2) ? 0xff : 0;

	memset(byte, 0, 16);
	for (i = 0; i < bytes; i++)
		byte[i] = chance_one_in(c, 3) ? fill : chance_below(c, 4);
}

static struct weir_member random_member(struct chance *c)
{
	struct weir_member member = { .budget = chance_one_in(c, 2) ? 1 + chance_below(c, 1000) : 0 };
	struct weir_net_prefix prefix = { .family = chance_one_in(c, 2) ? AF_INET : AF_INET6 };
	unsigned int bits = prefix.family == AF_INET ? 32 : 128;

	random_address(c, prefix.family, (u8 *)prefix.word);
	prefix.len = chance_one_in(c, 4) ? bits : chance_one_in(c, 40) ? 0 :
		     chance_below(c, bits + 1);
	mask_bits((u8 *)prefix.word, bits / 8, prefix.len);
	member.prefix = prefix;
	return member;
}

static bool twin_has(const struct weir_net_prefix *prefix, u8 family, const u8 *byte)
{
	const u8 *other = (const u8 *)prefix->word;
	unsigned int i;

	for (i = 0; i < prefix->len; i++)
		if ((byte[i / 8] ^ other[i / 8]) & 0x80 >> i % 8)
			return false;
	return prefix->family == family;
}

/* Of the longest prefixes the last, or NULL. */
static const struct weir_member *twin_find(const struct weir_member *member, unsigned int count,
					   u8 family, const u8 *byte)
{
	const struct weir_member *found = NULL;

	for (; count--; member++)
		if (twin_has(&member->prefix, family, byte) &&
		    (!found || member->prefix.len >= found->prefix.len))
			found = member;
	return found;
}

/* The most steps of a lookup. */
static unsigned int steps_from(const struct weir_prefix_step *step)
{
	return step ? 1 + max(steps_from(step->longer), steps_from(step->shorter)) : 0;
}

static void compare(struct chance *c, const struct weir_prefixes *list,
		    const struct weir_member *member, unsigned int count)
{
	const struct weir_member *found, *twin;
	u8 byte[16] __aligned(8), family, longest[2] = { };
	unsigned int i, n4 = 0;

	for (i = 0; i < count; i++) {
		n4 += member[i].prefix.family == AF_INET;
		family = member[i].prefix.family != AF_INET;
		longest[family] = max(longest[family], member[i].prefix.len);
	}
	assert_memory_equal(list->longest, longest, sizeof(longest));
	assert_true(steps_from(list->first[0]) <= 6);
	assert_true(steps_from(list->first[1]) <= 8);
	assert_int_equal(weir_prefixes_family(list, AF_INET), !!n4);
	assert_int_equal(weir_prefixes_family(list, AF_INET6), n4 < count);
	for (i = 0; i < 200; i++) {
		family = chance_one_in(c, 2) ? AF_INET : AF_INET6;
		random_address(c, family, byte);
		/* the last address of a prefix, or the one behind it */
		if (count && chance_one_in(c, 2)) {
			const struct weir_net_prefix *at = &member[chance_below(c, count)].prefix;
			unsigned int bit, bits = at->family == AF_INET ? 32 : 128;

			family = at->family;
			memcpy(byte, at->word, 16);
			for (bit = at->len; bit < bits; bit++)
				byte[bit / 8] |= 0x80 >> bit % 8;
			if (chance_one_in(c, 2) && at->len)
				byte[(at->len - 1) / 8] ^= 0x80 >> (at->len - 1) % 8;
		}
		found = weir_prefixes_find(list, family, (__be32 *)byte);
		twin = twin_find(member, count, family, byte);
		assert_int_equal(!found, !twin);
		if (!found)
			continue;
		assert_int_equal(weir_prefix_compare(&found->prefix, &twin->prefix), 0);
		assert_int_equal(found->budget, twin->budget);
	}
}

/* A list that has lost prefixes, or was given some twice, takes no memory for them. */
static void test_bytes(void **state)
{
	static struct weir_member member[MOST];
	struct weir_prefixes *list, *less;
	u64 before = shim_allocated;
	unsigned int i, absent;

	for (i = 0; i < MOST; i++)
		member[i].prefix = (struct weir_net_prefix){ { htonl(i / 2) }, AF_INET, 32 };
	list = weir_prefixes_add("list", NULL, member, MOST);
	assert_int_equal(list->count, MOST / 2);
	assert_int_equal(shim_allocated - before, weir_prefixes_bytes(list));
	less = weir_prefixes_del(list, member, MOST - 2, &absent);
	assert_int_equal(less->count, 1);
	weir_prefixes_put(list);
	assert_int_equal(shim_allocated - before, weir_prefixes_bytes(less));
	list = weir_prefixes_add("list", less, &member[MOST - 1], 1);
	weir_prefixes_put(less);
	assert_int_equal(shim_allocated - before, weir_prefixes_bytes(list));
	/* without memory for the smaller one nothing is left behind */
	for (i = 0; i < 4; i++) {
		shim_fail_after = i;
		assert_null(weir_prefixes_add("list", list, member, MOST));
		shim_fail_after = -1;
	}
	less = weir_prefixes_add("list", NULL, member, MOST);
	for (i = 0; i < 4; i++) {
		shim_fail_after = i;
		assert_ptr_equal(weir_prefixes_del(less, member, 2, &absent), ERR_PTR(-ENOMEM));
		shim_fail_after = -1;
	}
	weir_prefixes_put(less);
	weir_prefixes_put(list);
	assert_int_equal(shim_allocated, before);
}

static void test_lists(void **state)
{
	static struct weir_member member[MOST], rest[MOST];
	struct weir_prefixes *list, *more, *less, *again;
	unsigned int i, j, count, first, absent;
	struct unit_runs runs = unit_runs(400);
	unsigned long long run;
	struct chance c;
	bool same;

	for (run = runs.first; run < runs.end; run++) {
		c = chance_of(run);
		count = 1 + chance_below(&c, chance_one_in(&c, 2) ? 8 : MOST);
		for (i = 0; i < count; i++)
			member[i] = random_member(&c);
		first = 1 + chance_below(&c, count);
		list = weir_prefixes_add("list", NULL, member, first);
		compare(&c, list, member, first);
		more = weir_prefixes_add("list", list, member + first, count - first);
		again = weir_prefixes_add("list", NULL, member, count);
		compare(&c, more, member, count);
		assert_true(weir_prefixes_same(more, again));
		same = more->count == list->count;
		for (i = 0; same && i < more->count; i++)
			same = more->member[i].budget == list->member[i].budget;
		assert_int_equal(weir_prefixes_same(more, list), same);

		/* without the first ones, which are elsewhere in the list again or not */
		less = weir_prefixes_del(more, member, first, &absent);
		assert_false(IS_ERR(less));
		for (i = 0, j = 0; i < count; i++) {
			unsigned int k;

			for (k = 0; k < first && weir_prefix_compare(&member[k].prefix,
							     &member[i].prefix); k++)
				;
			if (k == first)
				rest[j++] = member[i];
		}
		assert_int_equal(!less, !j);
		if (less) {
			compare(&c, less, rest, j);
			assert_ptr_equal(weir_prefixes_del(less, member, 1, &absent),
					 ERR_PTR(-ENOENT));
			assert_int_equal(absent, 0);
		}
		weir_prefixes_put(less);
		weir_prefixes_put(again);
		weir_prefixes_put(more);
		weir_prefixes_put(weir_prefixes_get(list));
		weir_prefixes_put(list);
	}
}

UNIT_MAIN("source_lists", T(test_bytes), T(test_lists))
