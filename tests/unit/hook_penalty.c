// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Penalties, imposed by the hook and before the stack, while another CPU forgets all sources
 * between any two locks of the packet that exceeds.
 */
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "hook_twin.h"

#define BUDGET 2

static struct said said = { .proto = IPPROTO_TCP };
static unsigned int locks_before;

static struct weir_table *table(void)
{
	return hook_limit("a")->table;
}

/* What the other CPU does. */
static void forget_all(void)
{
	u32 i;

	if (locks_before--)
		return;
	shim_locking = NULL;
	for (i = 0; i < weir_table_sets(table()); i++)
		weir_table_clear(table(), i);
}

static unsigned int pass(bool early)
{
	struct sk_buff skb = { .dev = &t.dev[0] };
	u8 byte[PACKET_MAX];

	skb.len = said_make(&said, byte);
	skb.network = byte;
	if (early && hook_early(&skb, false, &t.dev[0]))
		return NF_DROP;
	return hook_verdict(&skb, false, &t.dev[0]);
}

static u64 blocked(void)
{
	struct weir_source source = said_source(&said);
	struct weir_limit *limit = hook_limit("a");
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];

	rcu_read_lock();
	weir_source_mask(&source, limit->cfg.prefix);
	weir_table_peek(limit->table, &source,
			weir_source_hash(&source, limit->cfg.prefix, &t.wn.key), shim_jiffies,
			limit->room, NULL, &state, slot);
	rcu_read_unlock();
	return state.blocked;
}

/* A limit that has just refused the source, without a penalty yet if it is imposed @early. */
static void begin(bool early)
{
	struct weir_limit_config words = edit_words("a", BUDGET);
	struct weir_error error = { };
	unsigned int i;

	hook_begin(1);
	words.penalty_ms = early ? 0 : 3600000;
	assert_int_equal(edit_add(&t.wn, &words, NULL, &error), 0);
	for (i = 0; i < BUDGET; i++)
		assert_int_equal(pass(false), NF_ACCEPT);
	if (!early)
		return;
	assert_int_equal(pass(false), NF_DROP);
	words.penalty_ms = 3600000;
	assert_int_equal(edit_set(&t.wn, &words, &error), 0);
}

static void test_forgotten(void **state)
{
	unsigned int early, at, verdict, i;
	bool reached = true;

	for (early = 0; early < 2; early++)
		for (at = 0, reached = true; reached; at++) {
			begin(early);
			locks_before = at;
			shim_locking = forget_all;
			verdict = pass(early);
			reached = !shim_locking;
			shim_locking = NULL;
			check(reached || (verdict == NF_DROP && blocked()),
			      "early %u: not blocked, undisturbed", early);
			/* It exceeds, now or again. */
			for (i = 0; !blocked(); i++)
				check(i <= BUDGET && pass(false) < 2, "early %u, lock %u: never blocked",
				      early, at);
			assert_int_equal(pass(early), NF_DROP);
			assert_int_equal(edit_del(&t.wn, "a", &(struct weir_error) { }), 0);
			hook_end();
		}
}

/*
 * What a blocked source costs that goes on: no lock a packet, also where no refusal cache answers,
 * and four renewals a second.
 */
static void test_locks(void **state)
{
	const unsigned int packets = 1000;
	struct weir_limit_config words = edit_words("a", BUDGET);
	unsigned int row, i, renewals, early;
	unsigned long locks;
	u64 ends;

	words.penalty_ms = 3600000;
	/* No cache answers for a limit that looks at ports. */
	words.match.conds = WEIR_COND_SPORT;
	words.match.sport.count = 1;
	words.match.sport.range[0] = (struct weir_port_range) { 0, U16_MAX };
	for (row = 0; row < 4; row++) {
		words.renew = row & 1;
		early = row & 2;
		hook_begin(1);
		shim_jiffies = 100000;
		assert_int_equal(edit_add(&t.wn, &words, NULL, &(struct weir_error) { }), 0);
		for (i = 0; i <= BUDGET; i++)
			pass(false);
		ends = shim_jiffies + blocked();
		assert_true(blocked());
		locks = shim_locks;
		for (i = 0; i < packets; i++) {
			shim_jiffies += !(i % 2);
			assert_int_equal(pass(early), NF_DROP);
		}
		locks = shim_locks - locks;
		renewals = words.renew ? packets / 2 / WEIR_SINCE_TICKS + 1 : 0;
		check(locks <= 2 * renewals, "%lu locks for %u refusals, renewed %u times, row %u", locks,
		      packets, renewals, row);
		/* The bound holds, and the end is late enough. */
		check(!words.renew ? shim_jiffies + blocked() == ends :
		      blocked() >= 3600 * HZ && blocked() <= 3600 * HZ + WEIR_SINCE_TICKS,
		      "row %u: blocked for %llu", row, blocked());
		assert_int_equal(edit_del(&t.wn, "a", &(struct weir_error) { }), 0);
		hook_end();
	}
}

/* Who found the quota used up is blocked when it goes on after a block of another has ended. */
static void test_quota(void **state)
{
	struct weir_limit_config words = edit_words("a", BUDGET);

	hook_begin(1);
	shim_jiffies = 100000;
	words.sources = 0;
	words.budget[0].window_ms = 3600000;
	words.penalty_ms = 10000;
	assert_int_equal(edit_add(&t.wn, &words, NULL, &(struct weir_error) { }), 0);
	assert_int_equal(weir_table_entries(table()), 4);
	t.pressure = true;
	for (said.source = 0; said.source < 3; said.source++) {
		while (pass(false) == NF_ACCEPT)
			;
		assert_int_equal(!!blocked(), said.source < 2);
	}
	said.source = 2;
	shim_jiffies += 11 * HZ;
	assert_int_equal(pass(false), NF_DROP);
	assert_true(blocked());
	said.source = 0;
	hook_end();
}

static void refused(const struct weir_limit_config *words, int err, u16 attr)
{
	struct weir_error error = { };

	assert_int_equal(edit_add(&t.wn, words, NULL, &error), err);
	assert_int_equal(error.attr, attr);
}

/* Renewed is a penalty, and that lasts a second and is of one source. */
static void test_refused(void **state)
{
	struct weir_limit_config words = edit_words("a", BUDGET);

	hook_begin(1);
	words.renew = true;
	refused(&words, -EINVAL, WEIR_A_LIMIT_RENEW);
	words.penalty_ms = WEIR_BLOCK_MS_MIN - 1;
	refused(&words, -ERANGE, WEIR_A_LIMIT_PENALTY_MS);
	words.penalty_ms = WEIR_BLOCK_MS_MIN;
	words.prefix.len6 = 0;
	refused(&words, -EINVAL, WEIR_A_LIMIT_PENALTY_MS);
	words.prefix.len6 = 64;
	refused(&words, 0, 0);
	assert_int_equal(edit_del(&t.wn, "a", &(struct weir_error) { }), 0);
	hook_end();
}

UNIT_MAIN("penalty", T(test_forgotten), T(test_locks), T(test_quota), T(test_refused))
