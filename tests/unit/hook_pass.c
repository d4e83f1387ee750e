// SPDX-License-Identifier: GPL-2.0-or-later
/* Single packets of one source: which packets skip the limits, and late clocks. */
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include <unistd.h>

#include "hook_twin.h"

/* TCP over IPv4, from source 0 */
static const struct said said = { .proto = IPPROTO_TCP };

/* Run the hook for one packet on skb->dev @dev, with state->in @in; the verdict */
static unsigned int pass_told(const struct said *one, u8 hop_limit,
			      struct net_device *dev, struct net_device *in)
{
	struct sk_buff skb = { .dev = dev };
	u8 byte[PACKET_MAX];

	skb.len = said_make(one, byte);
	skb.network = byte;
	if (one->ipv6)
		ipv6_hdr(&skb)->hop_limit = hop_limit;
	return hook_verdict(&skb, one->ipv6, in);
}

static unsigned int pass_one(const struct said *one, struct net_device *dev)
{
	return pass_told(one, 64, dev, dev);
}

static unsigned int pass(struct net_device *dev)
{
	return pass_one(&said, dev);
}

static int add_words(const struct weir_limit_config *words)
{
	return edit_add(&t.wn, words, NULL, &(struct weir_error) { });
}

static void add(const char *name, u64 budget, bool observe)
{
	struct weir_limit_config words = edit_words(name, budget);

	words.observe = observe;
	assert_int_equal(add_words(&words), 0);
}

static u64 count_in(const char *name)
{
	struct twin_source s = { .source = said_source(&said) };
	u64 slot[WEIR_SLOTS_MAX + 1];

	return hook_peek(hook_limit(name), &s, slot);
}

static u64 seen_as(enum weir_outcome outcome)
{
	unsigned int cpu;
	u64 packets = 0;

	for_each_possible_cpu(cpu)
		packets += per_cpu_ptr(t.wn.stats, cpu)->count[outcome].v;
	return packets;
}

/* Loopback packets skip all limits; without limits there are no hooks. */
static void test_passed_by(void **state)
{
	struct weir_limit_config words = edit_words("a", 1);

	hook_begin(1);
	shim_hooks_error = -ENOMEM;
	assert_int_equal(add_words(&words), -ENOMEM);
	assert_null(weir_config_get(&t.wn));
	assert_int_equal(shim_allocations, 1);
	shim_hooks_error = 0;
	assert_int_equal(add_words(&words), 0);
	t.dev[1].flags = IFF_LOOPBACK;
	assert_int_equal(pass(&t.dev[1]), NF_ACCEPT);
	t.dev[1].flags = 0;
	assert_true(seen_as(WEIR_SEEN_ADMITTED) + seen_as(WEIR_SEEN_UNMATCHED) == 0);
	assert_int_equal(count_in("a"), 0);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	assert_int_equal(count_in("a"), 1);
	/* Even those of a source that is refused. */
	t.dev[1].flags = IFF_LOOPBACK;
	assert_int_equal(pass(&t.dev[1]), NF_ACCEPT);
	t.dev[1].flags = 0;
	/* The hooks go with the last limit, and come back. */
	assert_int_equal(edit_flush(&t.wn, true), 0);
	assert_null(shim_hooks);
	assert_int_equal(add_words(&words), 0);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	hook_end();
}

/* SRv6 in some kernels does not set the input device. */
static void test_no_device(void **state)
{
	const struct said inner = { .ipv6 = true, .proto = IPPROTO_ICMPV6 };

	hook_begin(9);
	add("a", 1, false);
	assert_int_equal(pass_told(&said, 64, &t.dev[0], NULL), NF_ACCEPT);
	assert_int_equal(pass_told(&said, 64, &t.dev[0], NULL), NF_DROP);
	assert_int_equal(pass_told(&inner, 64, &t.dev[0], NULL), NF_ACCEPT);
	assert_int_equal(pass_told(&inner, 64, &t.dev[0], NULL), NF_DROP);
	hook_end();
}

/*
 * Headers that no limit asks for are not read or counted as unparsable, except to
 * recognise packets that may keep the link alive.
 */
static void test_unasked(void **state)
{
	const struct said options = { .ipv6 = true, .options = 9, .proto = IPPROTO_TCP };
	const struct said echo = { .ipv6 = true, .proto = IPPROTO_ICMPV6 };
	unsigned int looks = shim_looks;

	hook_begin(10);
	add("a", 100, false);
	assert_int_equal(pass_one(&options, &t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass_one(&echo, &t.dev[0]), NF_ACCEPT);
	assert_int_equal(shim_looks, looks);
	assert_int_equal(pass_told(&options, 1, &t.dev[0], &t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass_told(&echo, 255, &t.dev[0], &t.dev[0]), NF_ACCEPT);
	assert_true(shim_looks > looks);
	assert_true(seen_as(WEIR_SEEN_UNPARSABLE) == 0);
	assert_true(seen_as(WEIR_SEEN_ADMITTED) == 4);
	hook_end();
}

/* One packet on time, one on a late clock, then late ones that are dropped. */
static void come_late(unsigned int dropped)
{
	shim_jiffies += 100;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	shim_jiffies -= 60;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	while (dropped--)
		assert_int_equal(pass(&t.dev[0]), NF_DROP);
	shim_jiffies += 60;
}

/* Counts of the packet before the leap in time and of the later ones. */
static void check_late(const char *name, enum weir_fate fate, u64 packets)
{
	assert_int_equal(count_in(name), 3);
	assert_int_equal(hook_fate(name, WEIR_ADMITTED), 3);
	assert_int_equal(hook_fate(name, fate), packets);
	/* The packet before the leap expires first, late ones with the rest. */
	shim_jiffies += 250 - 100 + hook_limit(name)->meter[0].slot_ticks + 60;
	assert_int_equal(count_in(name), 2);
}

/*
 * On a CPU with a late clock a packet counts at the time of the set, in all
 * limits, and a charge is given back there.
 */
static void test_late(void **state)
{
	struct weir_limit_config words = edit_words("b", 100);

	/* A packet may be retried, but not endlessly. */
	alarm(20);
	hook_begin(2);
	add("a", 100, false);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	/* Shorter slots, so that the clock is late by more of them. */
	words.budget[0].window_ms = 600;
	assert_int_equal(add_words(&words), 0);
	add("c", 2, false);
	come_late(2);
	assert_int_equal(count_in("b"), 2);
	assert_int_equal(count_in("c"), 2);
	check_late("a", WEIR_ELSEWHERE, 2);
	hook_end();
	alarm(0);
}

/* The same with a single limit. */
static void test_late_alone(void **state)
{
	alarm(20);
	hook_begin(3);
	add("a", 3, false);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	come_late(1);
	check_late("a", WEIR_DROPPED, 1);
	hook_end();
	alarm(0);
}

/* An observing limit and its source have counted the same refusals. */
static void check_observed(const char *name, u64 packets)
{
	struct twin_source s = { .source = said_source(&said), .observed = true };

	assert_int_equal(hook_fate(name, WEIR_WOULD_DROP), packets);
	assert_int_equal(hook_dropped(hook_limit(name), &s), packets);
}

/* A packet that is retried counts as one refusal. */
static void test_late_observed(void **state)
{
	alarm(20);
	hook_begin(6);
	add("a", 1, true);
	add("b", 100, false);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	come_late(0);
	check_observed("a", 2);
	hook_end();
	alarm(0);
}

/* An observing limit counts nothing if an earlier one drops the packet. */
static void test_observed_behind(void **state)
{
	hook_begin(8);
	add("a", 2, false);
	add("b", 1, true);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	check_observed("b", 1);
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	check_observed("b", 1);
	hook_end();
}

static bool unknown_in(const char *name)
{
	const struct weir_source source = said_source(&said);
	const struct weir_limit *limit = hook_limit(name);
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_source_state state;

	rcu_read_lock();
	weir_table_peek(limit->table, &source,
			weir_source_hash(&source, limit->cfg.prefix, &t.wn.key), shim_jiffies,
			limit->room, NULL, &state, slot);
	rcu_read_unlock();
	return state.unknown;
}

static void add_learning(struct weir_limit_config words)
{
	words.newcomers = (struct weir_newcomers_config) { 10, 1000, .known_ms = 1000 };
	assert_int_equal(add_words(&words), 0);
}

/* A packet that a later limit drops makes its source known to no limit. */
static void test_known_elsewhere(void **state)
{
	struct weir_limit_config words = edit_words("b", 1);

	hook_begin(11);
	add_learning(edit_words("a", 100));
	words.budget[0].window_ms = 10000;
	assert_int_equal(add_words(&words), 0);
	shim_jiffies += HZ + 1;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	shim_jiffies += 2 * HZ;
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	assert_int_equal(hook_fate("a", WEIR_ELSEWHERE), 1);
	assert_true(unknown_in("a"));
	/* Known it is when one is admitted, as long since as before. */
	assert_int_equal(edit_del(&t.wn, "b", &(struct weir_error) { }), 0);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_false(unknown_in("a"));
	hook_end();
}

/* A late clock makes nobody known: its time is before that at which the entry was taken. */
static void test_late_newcomer(void **state)
{
	hook_begin(13);
	add_learning(edit_words("a", 100));
	shim_jiffies += 10 * HZ;
	shim_jiffies -= shim_jiffies % WEIR_SINCE_TICKS;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	shim_jiffies--;
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_true(unknown_in("a"));
	hook_end();
}

/* Room that a CPU took of a budget is not spent when that has grown, was used up, and is back. */
static void test_grown_and_back(void **state)
{
	struct weir_limit_config words = edit_words("a", 1000);
	unsigned int budget;

	hook_begin(12);
	words.prefix = (struct weir_prefix) { };
	assert_int_equal(add_words(&words), 0);
	shim_cpu = 0;
	/* The first packet takes the source's entry. */
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	assert_int_equal(pass(&t.dev[0]), NF_ACCEPT);
	for (budget = 2000; budget >= 1000; budget -= 1000) {
		words.budget[0].amount = budget;
		assert_int_equal(edit_set(&t.wn, &words, &(struct weir_error) { }), 0);
		shim_cpu = 1;
		while (pass(&t.dev[0]) == NF_ACCEPT)
			;
	}
	shim_cpu = 0;
	assert_int_equal(pass(&t.dev[0]), NF_DROP);
	hook_end();
}

UNIT_MAIN("hook_pass", T(test_passed_by), T(test_no_device), T(test_unasked), T(test_late), T(test_late_alone),
	  T(test_late_observed), T(test_observed_behind), T(test_known_elsewhere), T(test_late_newcomer),
	  T(test_grown_and_back))
