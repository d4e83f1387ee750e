// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What limits log of their drops: so much a second and no more, only those that have a group, and
 * the logger is held as long as one of them is there.
 */
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "hook_twin.h"

#define RATE	16

static struct weir_limit_config words_of(u16 group)
{
	struct weir_limit_config words = edit_words("a", 1);

	words.log = group;
	return words;
}

static int set(const struct weir_limit_config *words, struct weir_error *error)
{
	return hook_limit(words->name) ? edit_set(&t.wn, words, error) :
	       edit_add(&t.wn, words, NULL, error);
}

static void must_set(const struct weir_limit_config *words)
{
	assert_int_equal(set(words, &(struct weir_error) { }), 0);
}

static void begin(void)
{
	hook_begin(1);
	t.pressure = true;
	shim_jiffies += 100 * HZ;
	shim_logged = 0;
}

static void end(void)
{
	assert_int_equal(edit_flush(&t.wn, true), 0);
	shim_rcu_replace_all();
	assert_int_equal(shim_loggers, 0);
	hook_end();
}

/* A packet of one of many addresses. */
static unsigned int pass(u32 source, bool early)
{
	struct said said = { .proto = IPPROTO_UDP };
	struct sk_buff skb = { .dev = &t.dev[0] };
	u8 byte[PACKET_MAX];

	skb.len = said_make(&said, byte);
	skb.network = byte;
	source = htonl(0x0a000000 + source);
	memcpy(byte + 12, &source, sizeof(source));
	if (early)
		return hook_early(&skb, false, &t.dev[0]) ? NF_DROP : NF_ACCEPT;
	return hook_verdict(&skb, false, &t.dev[0]);
}

static u64 logged(void)
{
	struct weir_counters counts;

	weir_limit_counters(hook_limit("a"), &counts);
	return counts.logged;
}

/* Whatever is dropped, there are RATE a second of it, of all CPUs; of each limit. */
static void test_rate(void **state)
{
	struct weir_limit_config words = words_of(7);
	unsigned int second, i;
	u64 dropped;

	begin();
	words.sources = 65536;
	must_set(&words);
	for (second = 0; second < 5; second++) {
		for (i = 0; i < 8000; i++) {
			shim_cpu = i % 2;
			pass(i / 2, false);
			if (i % 80 == 79)
				shim_jiffies++;
		}
		shim_cpu = 0;
		shim_jiffies += HZ - 100;
	}
	dropped = hook_fate("a", WEIR_DROPPED);
	check(dropped > 5000, "%llu dropped", dropped);
	check(shim_logged >= 4 * RATE && shim_logged <= 6 * RATE, "%u logged of %llu", shim_logged,
	      dropped);
	assert_int_equal(logged(), shim_logged);
	assert_string_equal(shim_log_prefix, "weir a: budget");
	end();
}

/* It is not the limit's if it has no group, only observes, or drops before there is a buffer. */
static void test_none(void **state)
{
	struct weir_limit_config words = words_of(0);
	unsigned int i;

	begin();
	must_set(&words);
	for (i = 0; i < 20; i++)
		pass(i / 2, false);
	words.log = 7;
	words.observe = true;
	must_set(&words);
	shim_jiffies += HZ;
	for (i = 0; i < 20; i++)
		pass(i / 2, false);
	words.observe = false;
	must_set(&words);
	for (i = 0; i < 20; i++)
		pass(i / 2, true);
	assert_int_equal(shim_logged, 0);
	shim_jiffies += HZ;
	for (i = 0; i < 20; i++)
		pass(i / 2, false);
	check(shim_logged > 5, "%u logged", shim_logged);
	end();
}

/* All reasons, also that of a prefix that is blocked. */
static void test_blocked(void **state)
{
	struct said_exempt block = {
		.exempt = { .prefix = { .family = AF_INET, .len = 8, .word = { htonl(0x0a000000) } },
			    .block = true },
	};
	struct weir_limit_config words = words_of(7);

	begin();
	must_set(&words);
	assert_int_equal(edit_exempt(&t.wn, &block, true, &(struct weir_error) { }), 0);
	assert_int_equal(pass(1, false), NF_DROP);
	assert_int_equal(shim_logged, 1);
	assert_string_equal(shim_log_prefix, "weir a: block");
	assert_int_equal(edit_exempt(&t.wn, &block, false, &(struct weir_error) { }), 0);
	end();
}

/* The logger is held once for each limit that logs, also by one that replaces another. */
static void test_held(void **state)
{
	struct weir_limit_config words = words_of(7), other = edit_words("b", 1);
	struct weir_error error = { };
	int i;

	begin();
	must_set(&words);
	assert_int_equal(shim_loggers, 1);
	words.log = 8;
	must_set(&words);
	shim_rcu_replace_all();
	assert_int_equal(shim_loggers, 1);
	other.log = 8;
	must_set(&other);
	assert_int_equal(shim_loggers, 2);
	words.log = 0;
	must_set(&words);
	shim_rcu_replace_all();
	assert_int_equal(shim_loggers, 1);
	shim_logger_error = -ENOENT;
	words.log = 9;
	assert_int_equal(set(&words, &error), -EOPNOTSUPP);
	assert_int_equal(error.attr, WEIR_A_LIMIT_LOG);
	assert_int_equal(hook_limit("a")->cfg.log, 0);
	assert_int_equal(shim_loggers, 1);
	/* Who holds it needs it no second time. */
	other.log = 9;
	must_set(&other);
	/* Held, and then refused for another reason. */
	shim_logger_error = 0;
	for (i = 0; i < 8; i++) {
		shim_fail_after = i;
		if (!set(&words, &error))
			break;
		assert_int_equal(shim_loggers, 1);
	}
	shim_fail_after = -1;
	assert_in_range(i, 1, 7);
	assert_int_equal(shim_loggers, 2);
	end();
}

UNIT_MAIN("nflog", T(test_rate), T(test_none), T(test_blocked), T(test_held))
