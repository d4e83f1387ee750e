// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Buckets cannot be aimed at: a thousand sources that share a bucket, and their
 * tags too, under one key are spread evenly under any other.
 */
#include <math.h>

#include "table_twin.h"

#define CHOSEN 1000
#define KEYS 200

static const struct weir_prefix prefixes[] = { { 32, 64 }, { 32, 128 } };

static struct weir_source chosen[CHOSEN];

static struct weir_table *make_table(struct weir_prefix prefix)
{
	struct weir_table_spec spec = {
		.budget = 100, .slot_ticks = 1, .slots = 4, .sources = 4096,
		.prefix = prefix,
	};
	struct weir_table *table = weir_table_alloc(&spec, 1000);

	assert_false(IS_ERR(table));
	return table;
}

static u32 hash_of(const struct weir_source *source, struct weir_prefix prefix,
		   u64 key)
{
	hsiphash_key_t k = { { key * 0x9e3779b97f4a7c15ull, ~key } };

	return weir_source_hash(source, prefix, &k);
}

/* Sources of one family, of both, near each other and far. */
static struct weir_source nth(unsigned int kind, u32 n, struct weir_prefix prefix)
{
	struct weir_source source = { };

	switch (kind) {
	case 0:
		source.word[0] = htonl(n);
		break;
	case 1:
		source.word[0] = htonl(0x20010db8);
		source.word[prefix.len6 > 64 ? 3 : 1] = htonl(n);
		source.scope = WEIR_SCOPE_IPV6;
		break;
	default:
		source.word[0] = htonl(n * 0x9e3779b1u);
		source.word[1] = htonl(n % 2 ? 0 : n);
		source.scope = n % 2 ? 0 : WEIR_SCOPE_IPV6;
	}
	return source;
}

/* Those that a table of the key 1 puts into bucket 0. */
static void choose(unsigned int kind, struct weir_prefix prefix, u32 mask)
{
	unsigned int found = 0;
	u32 n;

	for (n = 1; found < CHOSEN; n++) {
		chosen[found] = nth(kind, n, prefix);
		found += !(hash_of(&chosen[found], prefix, 1) & mask);
	}
}

/* Charge all of them; returns those that found no room of their own. */
static unsigned int charge_all(struct weir_table *table, u64 key)
{
	struct weir_lookup lookup = { .tick = 1000, .cost = 100, .budget = 100 };
	unsigned int i, pressed = 0;

	twin_enter();
	for (i = 0; i < CHOSEN; i++) {
		lookup.source = &chosen[i];
		lookup.hash = hash_of(&chosen[i], table->spec.prefix, key);
		pressed += twin_packet(table, &lookup) != WEIR_CHARGED;
	}
	twin_leave();
	return pressed;
}

/* The chi-square of the buckets under a key, and the fullest of them. */
static double unevenness(struct weir_prefix prefix, u64 key, u32 mask,
			 unsigned int *most)
{
	double mean = (double)CHOSEN / (mask + 1), sum = 0;
	unsigned int *in = calloc(mask + 1, sizeof(*in)), i;

	assert_non_null(in);
	*most = 0;
	for (i = 0; i < CHOSEN; i++)
		in[hash_of(&chosen[i], prefix, key) & mask]++;
	for (i = 0; i <= mask; i++) {
		sum += (in[i] - mean) * (in[i] - mean) / mean;
		*most = max(*most, in[i]);
	}
	free(in);
	return sum;
}

static void test_collisions(void **state)
{
	unsigned int kind, p, most, fullest = 0, pressed;
	double chi, worst = 0, total = 0, degrees = 0;
	struct weir_table *table;
	u64 key;

	for (p = 0; p < ARRAY_SIZE(prefixes); p++)
	for (kind = 0; kind < 3; kind++) {
		table = make_table(prefixes[p]);
		degrees = table->mask;
		choose(kind, prefixes[p], table->mask);
		unevenness(prefixes[p], 1, table->mask, &most);
		assert_int_equal(most, CHOSEN);
		/* Aimed, they press: this is what the key is for. */
		assert_true(charge_all(table, 1) > CHOSEN / 2);
		weir_table_put(table);
		for (key = 2; key < 2 + KEYS; key++) {
			chi = unevenness(prefixes[p], key, degrees, &most);
			worst = max(worst, (chi - degrees) / sqrt(2 * degrees));
			total += chi;
			fullest = max(fullest, most);
		}
		table = make_table(prefixes[p]);
		pressed = charge_all(table, 2);
		check(!pressed, "%u of %u found no way", pressed, CHOSEN);
		weir_table_put(table);
	}
	/* Of 1200 draws none is 6 deviations off, and their mean is the mean. */
	total /= ARRAY_SIZE(prefixes) * 3 * KEYS;
	print_message("# %g buckets: chi-square %.1f, at worst %+.1f deviations; at most %u of %u in one\n",
		      degrees + 1, total, worst, fullest, CHOSEN);
	assert_true(worst < 6);
	assert_true(total < 1.05 * degrees && total > .95 * degrees);
	assert_true(fullest <= 30);
}

UNIT_MAIN("table_collide", T(test_collisions))
