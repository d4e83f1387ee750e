// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a packet costs in each state of a table that packets can bring about: locks taken, and
 * entries read, per packet. Prints the table of Documentation/performance.rst.
 */
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "hook_twin.h"

#define PACKETS 4000
#define L 200
/* The most on average, under each limit that a packet meets. */
#define ENTRIES 8

/* Reads of entries without their lock; the copy of a floor counts as one. */
static unsigned long entries, sent;
static unsigned int more;	/* bytes that packets have beyond their headers */

static void entry(void)
{
	entries++;
}

static void home(bool began)
{
	entries += began;
}

static unsigned int send_to(u32 source, bool early)
{
	struct nf_hook_state hook = { .pf = AF_INET, .in = &t.dev[0] };
	struct said said = { .proto = IPPROTO_UDP };
	struct sk_buff skb = { .dev = &t.dev[0] };
	u8 byte[PACKET_MAX];
	unsigned int verdict;

	sent++;
	skb.network = byte;
	skb.len = said_make(&said, byte);
	skb.transport = skb.len - 20;
	skb.len += more;
	source = htonl(0x0a000000 + source);
	memcpy(byte + 12, &source, sizeof(source));
	if (early)
		return hook_early(&skb, false, &t.dev[0]) ? NF_DROP : NF_ACCEPT;
	twin_enter();
	verdict = shim_hooks[0].hook(shim_hooks[0].priv, &skb, &hook);
	twin_leave();
	return verdict;
}

static u32 fresh;	/* the next source that was never seen */

static void newcomer(void)
{
	send_to(fresh++, false);
}

static void add(const struct weir_limit_config *words)
{
	struct weir_error error = { };

	assert_int_equal(edit_add(&t.wn, words, NULL, &error), 0);
}

static struct weir_table *table(void)
{
	return hook_limit("a")->table;
}

static struct weir_limit_config words_of(void)
{
	struct weir_limit_config words = edit_words("a", L);

	words.budget[0].window_ms = 60000;
	return words;
}

/* Have newcomers take all entries, or a part of them. */
static void fill(unsigned int percent)
{
	unsigned int used = 0, i, entries = weir_table_entries(table());

	while (used * 100 < entries * percent) {
		newcomer();
		for (i = 0, used = 0; i < weir_table_sets(table()); i++)
			used += weir_set(table(), i)->used;
	}
}

static void plain(unsigned int percent)
{
	struct weir_limit_config words = words_of();

	add(&words);
	fill(percent);
}

static void empty(void)
{
	struct weir_limit_config words = words_of();

	words.sources = PACKETS;
	add(&words);
}

static void half(void)
{
	struct weir_limit_config words = words_of();

	words.sources = 2 * PACKETS;
	add(&words);
	fill(50);
}

static void full_live(void)
{
	plain(100);
}

static void full_idle(void)
{
	plain(100);
	shim_jiffies += 70 * HZ;
}

/* A few idle among the live. */
static void nearly_live(void)
{
	u32 i, last;

	plain(100);
	last = fresh;
	shim_jiffies += 61 * HZ;
	for (i = 0; i < last; i++)
		if (i % 16)
			send_to(i, false);
	shim_jiffies += 4 * HZ;
}

/* Each source has sent another amount, so that no floor covers many. */
static void uneven(void)
{
	u32 last, i, n;

	plain(100);
	last = fresh;
	for (i = 0; i < last; i++)
		for (n = i % (L - 1); n; n--)
			send_to(i, false);
}

/* Bytes, of which each packet has others: the floor covers none for long. */
static void uneven_bytes(void)
{
	struct weir_limit_config words = words_of();

	words.budget[0].amount = 100000000;
	words.budget[0].unit = WEIR_UNIT_BYTES;
	add(&words);
	fill(100);
}

static void newcomer_of_bytes(void)
{
	more = fresh * 7919 % 1400;
	newcomer();
	more = 0;
}

/* An attacker raises each newcomer to another amount before the next one comes. */
static void newcomer_uneven(void)
{
	u32 n = fresh * 7 % 16;

	newcomer();
	while (n--)
		send_to(fresh - 1, false);
}

static void block(u32 set, unsigned int most)
{
	struct weir_lookup lookup = { .tick = shim_jiffies, .budgets = hook_limit("a")->room };
	struct weir_source source = { };
	u32 n;

	twin_enter();
	for (n = 0; most; n++) {
		source.word[0] = htonl(0x0a000000 + n);
		lookup.source = &source;
		lookup.hash = weir_source_hash(&source, hook_limit("a")->cfg.prefix, &t.wn.key);
		if ((lookup.hash & table()->mask) == set &&
		    weir_table_block(table(), &lookup, WEIR_NEVER, WEIR_BLOCK_ADD) >= 0)
			most--;
	}
	twin_leave();
}

static void blocks(unsigned int most)
{
	u32 i;

	plain(100);
	for (i = 0; i < weir_table_sets(table()); i++)
		block(i, most ?: table()->entries / 2);
}

static void one_blocked(void)
{
	blocks(1);
}

static void half_blocked(void)
{
	blocks(0);
}

static void total(void)
{
	struct weir_limit_config words = words_of();

	words.budget[0] = (struct weir_budget_config) { .amount = L };
	add(&words);
	fill(100);
}

static void total_and_more(void)
{
	struct weir_limit_config words = words_of();

	words.budget[1] = (struct weir_budget_config) { .amount = L };
	words.budgets = 2;
	add(&words);
	fill(100);
}

/* A second limit that refuses newcomers by its floor, and so after the first was charged. */
static void floor_of_one(struct weir_limit_config *words)
{
	words->budget[0].window_ms = 3600000;
	words->sources = 1;
	add(words);
	while (send_to(fresh++, false) == NF_ACCEPT)
		;
}

/* A total, of which all charges are given back. */
static void total_given_back(void)
{
	struct weir_limit_config words = words_of(), other = edit_words("b", 1);

	words.budget[0] = (struct weir_budget_config) { .amount = L };
	add(&words);
	fill(95);
	floor_of_one(&other);
}

static void two_limits(void)
{
	struct weir_limit_config other = edit_words("b", 1);

	plain(100);
	floor_of_one(&other);
}

static void newcomers(u32 budget, bool learned)
{
	struct weir_limit_config words = words_of();

	words.newcomers.budget = budget;
	words.newcomers.window_ms = 1000;
	words.newcomers.flood = 1000;
	words.newcomers.known_ms = 10000;
	add(&words);
	if (learned)
		shim_jiffies += 11 * HZ;
}

static void learning(void)
{
	newcomers(10, false);
	fill(100);
}

static void recycled(void)
{
	newcomers(1000000, true);
	fill(100);
}

static void exhausted(void)
{
	newcomers(10, true);
	while (send_to(fresh++, false) == NF_ACCEPT)
		;
}

/* The sources of a pool try again and again. */
static void again(void)
{
	send_to(fresh++ % 500, false);
	shim_jiffies += !(fresh % 500) * HZ / 4;
}

/* Known late, in a full table. */
static void late(void)
{
	unsigned int i;

	newcomers(100, true);
	for (i = 0; i < 40000; i++)
		again();
}

static void blocked(void)
{
	send_to(0, false);
	shim_jiffies += !(++fresh % 8);
}

static void blocked_early(void)
{
	send_to(0, true);
	shim_jiffies += !(++fresh % 8);
}

static void penalty(bool renew)
{
	struct weir_limit_config words = words_of();
	unsigned int i;

	words.match.conds = WEIR_COND_SPORT;
	words.match.sport.count = 1;
	words.match.sport.range[0] = (struct weir_port_range) { 0, U16_MAX };
	words.penalty_ms = 3600000;
	words.renew = renew;
	add(&words);
	for (i = 0; i <= L; i++)
		send_to(0, false);
}

static void penalty_once(void)
{
	penalty(false);
}

static void penalty_renewed(void)
{
	penalty(true);
}

/* Each source exceeds, and is blocked as long as there is room. */
static void newcomer_punished(void)
{
	send_to(fresh++ / (L + 2), false);
}

static void floors(void)
{
	u32 i;

	plain(100);
	for (i = 0; i < 300 * L; i++)
		send_to(1000000 + fresh++ / L, false);
}

static void everybody(u64 budget)
{
	struct weir_limit_config words = edit_words("a", budget);

	words.prefix = (struct weir_prefix) { };
	add(&words);
}

static void shared(void)
{
	everybody(1000000);
}

static void shared_small(void)
{
	everybody(3);
}

static void shared_total(void)
{
	struct weir_limit_config words = edit_words("a", 1);

	words.prefix = (struct weir_prefix) { };
	words.budget[0] = (struct weir_budget_config) { .amount = 1000000 };
	add(&words);
}

/* While a full table is the predecessor of another one. */
static void measure(unsigned int packets, void (*packet)(void));

static void between_sets(void)
{
	if (!rcu_access_pointer(table()->old))
		return;
	shim_resched = NULL;
	measure(PACKETS, newcomer);
}

static void draining(void)
{
	struct weir_limit_config words = words_of();

	plain(100);
	words.budget[0].slots = 5;
	shim_resched = between_sets;
	assert_int_equal(edit_set(&t.wn, &words, &(struct weir_error) { }), 0);
	assert_null(shim_resched);
}

static struct {
	unsigned long locks, entries, packets;
} cost;

static void measure(unsigned int packets, void (*packet)(void))
{
	unsigned long locks = shim_locks, before = sent;
	unsigned int i;

	entries = 0;
	shim_racing = entry;
	shim_reading = home;
	for (i = 0; i < packets; i++)
		packet();
	shim_racing = NULL;
	shim_reading = NULL;
	cost.locks = shim_locks - locks;
	cost.entries = entries;
	cost.packets = sent - before;
}

/* @locks: the most for each packet, in hundredths; @limits: that it meets. */
static const struct row {
	const char *state;
	void (*begin)(void);
	void (*packet)(void);
	unsigned int locks, limits;
} rows[] = {
	{ "empty", empty, newcomer, 200, 1 },
	{ "half full", half, newcomer, 200, 1 },
	{ "full, idle", full_idle, newcomer, 200, 1 },
	{ "full, live", full_live, newcomer, 200, 1 },
	{ "full, one in 16 idle", nearly_live, newcomer, 200, 1 },
	{ "full, of uneven sources", uneven, newcomer, 200, 1 },
	{ "... that are raised", uneven, newcomer_uneven, 400, 1 },
	{ "full, of packets of uneven bytes", uneven_bytes, newcomer_of_bytes, 200, 1 },
	{ "full, one blocked in each set", one_blocked, newcomer, 200, 1 },
	{ "full, half of them blocked", half_blocked, newcomer, 200, 1 },
	{ "full of a total", total, newcomer, 100, 1 },
	{ "full of a total and another budget", total_and_more, newcomer, 100, 1 },
	{ "a total, given back by a second limit", total_given_back, newcomer, 400, 2 },
	{ "full, two limits, refused by one", two_limits, newcomer, 400, 2 },
	{ "full, floors without room", floors, newcomer, 200, 1 },
	{ "full, newcomers: learning", learning, newcomer, 300, 1 },
	{ "full, newcomers: with room", recycled, newcomer, 300, 1 },
	{ "newcomers: exhausted", exhausted, newcomer, 100, 1 },
	{ "newcomers: second tries", exhausted, again, 300, 1 },
	{ "full, newcomers: known late", late, again, 300, 1 },
	{ "blocked by a penalty", penalty_once, blocked, 5, 1 },
	{ "... with renew", penalty_renewed, blocked, 5, 1 },
	{ "... with renew, before the stack", penalty_renewed, blocked_early, 5, 1 },
	{ "penalties for many", penalty_once, newcomer_punished, 200, 1 },
	{ "per 0", shared, newcomer, 10, 1 },
	{ "per 0, used up", shared_small, newcomer, 10, 1 },
	{ "per 0, a total", shared_total, newcomer, 101, 1 },
	{ "full, while a predecessor is drained", draining, NULL, 305, 1 },
};

static void measure_row(const struct row *row, unsigned long long run)
{
	hook_begin(run * ARRAY_SIZE(rows) + (row - rows));
	t.pressure = true;
	shim_jiffies = 1000000;
	shim_cpu = 0;
	fresh = 0;
	row->begin();
	if (row->packet)
		measure(PACKETS, row->packet);
	check(cost.locks * 100 <= (unsigned long)row->locks * cost.packets,
	      "run %llu, %s: %lu locks in %lu packets", run, row->state, cost.locks, cost.packets);
	check(cost.entries <= ENTRIES * row->limits * cost.packets,
	      "run %llu, %s: %lu entries in %lu packets", run, row->state, cost.entries, cost.packets);
	hook_end();
}

/* Each run hashes by another key; the first one's table is printed. */
static void test_cost(void **state)
{
	struct unit_runs runs = unit_runs(1);
	unsigned long long run;
	const struct row *row;

	print_message("# %-40s %6s %8s\n", "state", "locks", "entries");
	for (run = runs.first; run < runs.end; run++) {
		for (row = rows; row < rows + ARRAY_SIZE(rows); row++) {
			measure_row(row, run);
			if (run == runs.first)
				print_message("# %-40s %6.2f %8.2f\n", row->state, (double)cost.locks / cost.packets,
					      (double)cost.entries / cost.packets);
		}
	}
}

UNIT_MAIN("hook_cost", T(test_cost))
