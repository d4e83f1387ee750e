// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The per-CPU refusal cache, through the hook: no cell outlives its reason, and
 * refusals seldom take a lock. hook_random checks its answers.
 */
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "hook_twin.h"
#include "path/refusal.h"

/* UDP from source 0, over IPv4 or IPv6 */
static const struct said v4 = { .proto = IPPROTO_UDP };
static const struct said v6 = { .proto = IPPROTO_UDP, .ipv6 = true };

static unsigned int asked;

/* Called when a table is read. */
static void asks(bool began)
{
	asked += began;
}

static unsigned int pass(const struct said *said, unsigned int dev)
{
	u8 byte[PACKET_MAX];
	struct sk_buff skb = { .network = byte, .len = said_make(said, byte) };
	unsigned int verdict;

	skb.transport = skb.len - 20;
	asked = 0;
	shim_reading = asks;
	verdict = hook_verdict(&skb, said->ipv6, &t.dev[dev]);
	shim_reading = NULL;
	return verdict;
}

static bool passes(const struct said *said, unsigned int dev)
{
	return pass(said, dev) == NF_ACCEPT;
}

/* Refused without reading a table */
static bool cached(const struct said *said, unsigned int dev)
{
	return !passes(said, dev) && !asked;
}

static struct weir_limit_config words_of(const char *name, u64 budget)
{
	struct weir_limit_config words = edit_words(name, budget);

	words.budget[0].window_ms = 4000;
	words.budget[0].slots = 4;
	return words;
}

static void add_words(const struct weir_limit_config *words)
{
	assert_int_equal(edit_add(&t.wn, words, NULL, &(struct weir_error) { }), 0);
}

static void add(const char *name, u64 budget)
{
	struct weir_limit_config words = words_of(name, budget);

	add_words(&words);
}

static struct weir_lookup lookup_of(const struct said *said, const struct weir_limit *limit,
				    struct weir_source *source)
{
	*source = said_source(said);
	weir_source_mask(source, limit->cfg.prefix);
	return (struct weir_lookup) {
		.source = source, .tick = shim_jiffies, .amount = { 1 }, .budgets = limit->room,
		.hash = weir_source_hash(source, limit->cfg.prefix, &t.wn.key),
	};
}

static u64 dropped(const struct said *said, const char *name)
{
	struct twin_source s = { .source = said_source(said) };

	weir_source_mask(&s.source, hook_limit(name)->cfg.prefix);
	return hook_dropped(hook_limit(name), &s);
}

static void begin(void)
{
	hook_begin(1);
	/* The start of a slot */
	shim_jiffies = 1000000;
	shim_cpu = 0;
}

/* Use up the budget; the refusal is cached, and answers the packets after it. */
static void fill(const struct said *said, unsigned int dev, unsigned int budget)
{
	while (budget--)
		assert_true(passes(said, dev));
	assert_false(passes(said, dev));
	assert_true(cached(said, dev));
	assert_true(cached(said, dev));
}

/* A cached refusal lasts for the rest of the slot, and a second at most. */
static void test_ends(void **state)
{
	struct weir_limit_config words = words_of("a", 2);
	struct said other = v4;

	begin();
	add("a", 2);
	fill(&v4, 0, 2);
	shim_jiffies += HZ - 1;
	assert_true(cached(&v4, 0));
	shim_jiffies++;
	/* Another source's entry lasts longer. */
	other.source = 1;
	fill(&other, 0, 2);
	assert_false(passes(&v4, 0));
	assert_true(asked);
	shim_jiffies += 4 * HZ;
	assert_true(passes(&v4, 0));
	hook_end();
	begin();
	words.budget[0].window_ms = 400000;
	add_words(&words);
	fill(&v4, 0, 2);
	shim_jiffies += 500 * HZ;
	fill(&v4, 0, 2);
	/* Each is cached with the seqcount of its own entry. */
	fill(&other, 0, 2);
	shim_jiffies += HZ;
	assert_false(passes(&v4, 0));
	assert_true(asked);
	assert_true(cached(&v4, 0));
	hook_end();
}

/* Is it dropped before the stack? */
static bool early(const struct said *said)
{
	u8 byte[PACKET_MAX];
	struct sk_buff skb = { .network = byte, .len = said_make(said, byte) };

	skb.transport = skb.len - 20;
	return hook_early(&skb, said->ipv6, &t.dev[0]);
}

/* A refusal in bytes is not one of smaller packets, nor of one that is too large. */
static void test_bytes(void **state)
{
	const struct said smaller = { .proto = IPPROTO_UDP, .missing = 10 };
	struct weir_limit_config words = words_of("a", 110);

	begin();
	words.budget[0].unit = WEIR_UNIT_BYTES;
	add_words(&words);
	fill(&v4, 0, 2);	/* 40 bytes each */
	assert_true(passes(&smaller, 0));
	assert_false(passes(&smaller, 0));
	hook_end();
	begin();
	words.budget[0].amount = 35;
	add_words(&words);
	fill(&smaller, 0, 1);	/* 30 bytes each */
	assert_false(passes(&v4, 0));
	assert_true(early(&smaller));
	assert_true(early(&v4));
	assert_int_equal(hook_fate("a", WEIR_DROPPED), 6);
	assert_int_equal(hook_fate("a", WEIR_EARLY_REFUSED), 2);
	assert_int_equal(hook_fate("a", WEIR_TOO_LARGE_REFUSED), 2);
	assert_int_equal(dropped(&smaller, "a"), 4);
	hook_end();
}

/* A charge given back makes room again, as when another limit refuses. */
static void test_given_back(void **state)
{
	struct weir_lookup lookup;
	struct weir_source source;

	begin();
	add("a", 2);
	assert_true(passes(&v4, 0));
	twin_enter();
	lookup = lookup_of(&v4, hook_limit("a"), &source);
	assert_int_equal(twin_packet(hook_limit("a")->table, &lookup), WEIR_CHARGED);
	twin_leave();
	fill(&v4, 0, 0);
	local_bh_disable();
	assert_true(weir_table_uncharge(hook_limit("a")->table, &lookup));
	local_bh_enable();
	assert_true(passes(&v4, 0));
	hook_end();
}

static void test_forgotten(void **state)
{
	struct weir_lookup lookup;
	struct weir_source source;
	u32 i;

	begin();
	add("a", 2);
	fill(&v4, 0, 2);
	lookup = lookup_of(&v4, hook_limit("a"), &source);
	mutex_lock(&t.wn.lock);
	weir_refusals_renew(&t.wn);
	mutex_unlock(&t.wn.lock);
	assert_true(weir_table_forget(hook_limit("a")->table, &source, lookup.hash,
				      shim_jiffies));
	fill(&v4, 0, 2);
	assert_int_equal(dropped(&v4, "a"), 3);
	for (i = 0; i < weir_table_sets(hook_limit("a")->table); i++)
		weir_table_clear(hook_limit("a")->table, i);
	fill(&v4, 0, 2);
	hook_end();
}

/* An evicted source meets the floor; its pending refusals go to no other source. */
static void test_evicted(void **state)
{
	struct said other = v4;
	struct weir_source source;
	struct weir_lookup lookup;
	struct weir_table *table;
	u64 floored;

	begin();
	add("a", 2);
	t.pressure = true;
	table = hook_limit("a")->table;
	twin_shrink(table, 1, 2);
	lookup = lookup_of(&v4, hook_limit("a"), &source);
	/* So that the other entry, the source's, goes first. */
	weir_set(table, 0)->hand = weir_hash_home(table, lookup.hash) ^ 1;
	fill(&v4, 0, 2);
	floored = hook_fate("a", WEIR_FLOOR_REFUSED);
	for (other.source = 1; other.source < 6; other.source++)
		while (passes(&other, 0))
			;
	assert_false(passes(&v4, 0));
	assert_true(asked);
	assert_true(hook_fate("a", WEIR_FLOOR_REFUSED) > floored);
	for (other.source = 1; other.source < 6; other.source++)
		assert_true(dropped(&other, "a") <= 4);
	t.pressure = false;
	hook_end();
}

static unsigned int pass_linklocal(unsigned int dev, u8 host)
{
	u8 byte[PACKET_MAX];
	struct sk_buff skb = { .network = byte, .len = said_make(&v6, byte) };

	memset(byte + 8, 0, 8);
	byte[8] = 0xfe;
	byte[9] = 0x80;
	byte[23] = host;
	return hook_verdict(&skb, true, &t.dev[dev]);
}

/* Link-local sources are full addresses, and one per device. */
static void test_linklocal(void **state)
{
	begin();
	add("a", 2);
	assert_int_equal(pass_linklocal(0, 1), NF_ACCEPT);
	assert_int_equal(pass_linklocal(0, 1), NF_ACCEPT);
	assert_int_equal(pass_linklocal(0, 1), NF_DROP);
	assert_int_equal(pass_linklocal(0, 1), NF_DROP);
	assert_int_equal(pass_linklocal(1, 1), NF_ACCEPT);
	assert_int_equal(pass_linklocal(0, 2), NF_ACCEPT);
	hook_end();
}

/* Neighbour discovery and IGMP pass for a source that is refused. */
static void test_vital(void **state)
{
	struct said discovery = v6, group = v4;
	u8 byte[PACKET_MAX];
	struct sk_buff skb = { .network = byte };

	begin();
	add("a", 2);
	fill(&v6, 0, 2);
	discovery.proto = IPPROTO_ICMPV6;
	skb.len = said_make(&discovery, byte);
	byte[7] = 255;
	byte[40] = 135;
	assert_int_equal(hook_verdict(&skb, true, &t.dev[0]), NF_ACCEPT);
	byte[7] = 64;
	assert_int_equal(hook_verdict(&skb, true, &t.dev[0]), NF_DROP);
	fill(&v4, 0, 2);
	group.proto = IPPROTO_IGMP;
	skb.len = said_make(&group, byte);
	byte[8] = 1;
	byte[16] = 224;
	assert_int_equal(hook_verdict(&skb, false, &t.dev[0]), NF_ACCEPT);
	byte[8] = 2;
	assert_int_equal(hook_verdict(&skb, false, &t.dev[0]), NF_DROP);
	hook_end();
}

/* Refusals of very many sources hardly take locks or change sequence counts. */
static void test_locks(void **state)
{
	const unsigned int sources = 20000, rounds = 60;
	struct weir_limit_config words = words_of("a", 1);
	unsigned long locks = 0, versions = 0;
	unsigned int i, round, refused = 0;
	struct nf_hook_state hook = { .pf = AF_INET, .in = &t.dev[0] };
	struct sk_buff skb = { .dev = &t.dev[0] };
	u8 byte[PACKET_MAX];

	begin();
	words.sources = 65536;
	add_words(&words);
	skb.network = byte;
	skb.len = said_make(&v4, byte);
	twin_enter();
	for (round = 0; round <= rounds; round++) {
		if (round == 1) {
			locks = shim_locks;
			versions = shim_versions;
		}
		for (i = 0; i < sources; i++) {
			byte[13] = i >> 8;
			byte[14] = i;
			refused += shim_hooks[0].hook(shim_hooks[0].priv, &skb, &hook) == NF_DROP;
		}
		/* All rounds within one window */
		shim_jiffies += 3 * HZ / rounds;
	}
	twin_leave();
	assert_int_equal(refused, rounds * sources);
	locks = shim_locks - locks;
	versions = shim_versions - versions;
	print_message("# %lu locks and %lu versions for %u refusals\n", locks, versions, refused);
	assert_true((locks + versions) * 50 < refused);
	hook_end();
}

/* Only refusals by the first matching limit are cached, however many limits follow. */
static void test_most(void **state)
{
	char name[8];
	unsigned int i;

	begin();
	for (i = 0; i < WEIR_LIMITS_MAX; i++) {
		snprintf(name, sizeof(name), "l%u", i);
		add(name, i == 1 ? 2 : 100);
	}
	for (i = 0; i < 2; i++)
		assert_true(passes(&v4, 0));
	for (i = 0; i < 5; i++)
		assert_false(passes(&v4, 0));
	assert_int_equal(hook_fate("l1", WEIR_DROPPED), 5);
	assert_int_equal(hook_fate("l0", WEIR_ADMITTED), 2);
	assert_int_equal(hook_fate("l0", WEIR_ELSEWHERE), 5);
	hook_end();
}

/* A CPU may spend the rest of its batch, also with several limits. */
static void test_batch(void **state)
{
	struct weir_limit_config words = words_of("each", 1000);
	unsigned int several;

	words.prefix = (struct weir_prefix) { };
	for (several = 0; several < 2; several++) {
		begin();
		add_words(&words);
		if (several)
			add("b", 5000);
		shim_cpu = 1;
		/* The first packet takes an entry. */
		assert_true(passes(&v4, 0) && passes(&v4, 0));
		shim_jiffies += HZ;
		shim_cpu = 0;
		while (passes(&v4, 0))
			;
		shim_cpu = 1;
		check(passes(&v4, 0), "%u limits behind", several);
		hook_end();
	}
}

/* A CPU that falls idle keeps nothing of a budget whose slots do not tick. */
static void test_idle(void **state)
{
	static const struct weir_budget_config budget[] = {
		{ .amount = 1000 },
		{ .amount = 1000, .window_ms = WEIR_DAY_MS, .mode = WEIR_MODE_CALENDAR },
	};
	struct weir_limit_config words = words_of("each", 1000);
	unsigned int i, n;

	words.prefix = (struct weir_prefix) { };
	for (i = 0; i < ARRAY_SIZE(budget); i++) {
		words.budget[0] = budget[i];
		begin();
		add_words(&words);
		shim_cpu = 1;
		for (n = 0; n < 2; n++)
			assert_true(passes(&v4, 0));
		shim_cpu = 0;
		while (passes(&v4, 0))
			n++;
		check(n == 1000, "budget %u: %u of 1000", i, n);
		hook_end();
	}
}

/* ::/64 is a source as any other, under a limit that counts IPv4 as one. */
static void test_zero(void **state)
{
	struct weir_limit_config words = words_of("each", 1000);
	struct weir_source source = { .scope = WEIR_SCOPE_IPV6 };
	struct weir_lookup lookup = { .source = &source };
	u8 byte[PACKET_MAX];
	struct sk_buff skb = { .network = byte };
	unsigned int i;

	words.prefix = (struct weir_prefix) { 0, 64 };
	begin();
	add_words(&words);
	skb.len = said_make(&v6, byte);
	memset(byte + 8, 0, 16);
	byte[23] = 5;
	for (i = 0; i < 2; i++)
		assert_int_equal(hook_verdict(&skb, true, &t.dev[0]), NF_ACCEPT);
	lookup.tick = shim_jiffies;
	lookup.budgets = hook_limit("each")->room;
	lookup.hash = weir_source_hash(&source, words.prefix, &t.wn.key);
	twin_enter();
	assert_int_equal(weir_table_block(hook_limit("each")->table, &lookup, WEIR_NEVER,
					  WEIR_BLOCK_ADD), 0);
	twin_leave();
	for (i = 0; i < 5; i++)
		check(hook_verdict(&skb, true, &t.dev[0]) == NF_DROP, "packet %u of a blocked source", i);
	hook_end();
}

UNIT_MAIN("hook_refusal", T(test_ends), T(test_bytes),
	  T(test_given_back), T(test_forgotten),
	  T(test_evicted), T(test_linklocal), T(test_vital), T(test_locks), T(test_most), T(test_batch),
	  T(test_zero), T(test_idle))
