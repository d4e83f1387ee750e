// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a CPU remembers of a source, by hand: when it refuses at once, when that
 * is not so any more, and how the refusals that wait are counted.
 */
#include <linux/jiffies.h>

#include "table_hand.h"

static unsigned int recall(const struct sender *s, u32 packets)
{
	struct weir_cost cost = { .packets = packets };

	return twin_recall(t.table, &s->source, t.tick, cost, t.budget,
			   &t.visit);
}

static unsigned int charge(const struct sender *s, u32 packets)
{
	return charge_seen(s, packets, &t.visit);
}

static u64 pending(const struct sender *s)
{
	return weir_recent_pending(t.table, &s->source);
}

static u64 dropped(const struct sender *s)
{
	struct weir_source_state stood;
	u64 slot[WEIR_SLOTS_MAX + 1];

	weir_table_peek(t.table, &s->source, s->hash, t.tick, t.budget, &stood,
			slot);
	return stood.dropped;
}

static void clear(u32 index)
{
	local_bh_enable();
	weir_table_clear(t.table, index);
	local_bh_disable();
}

/*
 * What a CPU remembers refuses at once, but nothing that was not so: for no
 * other source, slot, sum, budget or bucket than it saw.
 */
static void test_recall(void **state)
{
	struct sender s = sender(1, 1), another = sender(2, 1);
	struct weir_recent *recent;

	(void)state;
	begin(10, 4, 41);
	assert_false(recall(&s, 10));
	assert_false(t.visit.recalled);
	assert_false(charge(&s, 10));
	/* Full, but how long it will be nobody has asked. */
	assert_false(recall(&s, 1));
	assert_true(t.visit.recalled);
	assert_true(charge(&s, 10));
	assert_true(recall(&s, 1));
	assert_int_equal(pending(&s), 1);

	assert_false(recall(&another, 10));
	t.tick += 4;
	assert_false(recall(&s, 1));
	t.tick -= 4;
	t.budget = 11;
	assert_false(recall(&s, 1));
	t.budget = 10;
	assert_true(recall(&s, 1));
	/* Another one's refusals in its place. */
	recent = t.visit.recent;
	recent->source.word[0]++;
	assert_false(recall(&s, 1));
	recent->source.word[0]--;
	assert_true(recall(&s, 1));
	/* Somebody has been at the bucket. */
	assert_false(charge_unseen(&another, 1));
	assert_false(recall(&s, 1));
	assert_true(refuse(&s, 1));
	assert_true(recall(&s, 1));
	/* Those of another bucket are forgotten, and all refusals that wait. */
	assert_true(t.table->mask);
	clear(0);
	assert_false(recall(&s, 1));
	assert_true(refuse(&s, 1));
	assert_int_equal(pending(&s), 1);
	/* All are forgotten; the way still has its old wheel. */
	clear(1 & t.table->mask);
	assert_false(recall(&s, 10));
	assert_false(charge(&s, 10));
	end();
}

/* ... nor for longer than a second, in which a sequence comes round. */
static void test_recall_ends(void **state)
{
	struct sender s = sender(1, 1);

	(void)state;
	begin(1, 100 * HZ, 5);
	assert_false(recall(&s, 1));
	assert_false(charge(&s, 1));
	assert_true(charge(&s, 1));
	t.tick += HZ - 1;
	assert_true(recall(&s, 1));
	t.tick++;
	assert_false(recall(&s, 1));
	end();
}

/* Refusals of more than there was room for wait no longer than that is so. */
static void test_admitted_again(void **state)
{
	struct sender s = sender(1, 1);

	(void)state;
	begin(10, 4, 41);
	assert_false(recall(&s, 9));
	assert_false(charge(&s, 9));
	assert_false(recall(&s, 9));
	assert_true(charge(&s, 9));
	assert_true(recall(&s, 9));
	assert_int_equal(pending(&s), 9);
	assert_false(recall(&s, 1));
	assert_false(charge(&s, 1));
	assert_int_equal(pending(&s), 0);
	assert_int_equal(t.visit.way->dropped, 18);
	end();
}

/* Who lost his way and got another one is remembered there. */
static void test_recall_elsewhere(void **state)
{
	struct sender s = sender(1, 1), second = sender(2, 2), third = sender(3, 3);
	struct weir_way *was;

	(void)state;
	begin(10, 4, 41);
	twin_shrink(t.table, 1, 2);
	assert_false(recall(&s, 1));
	assert_false(charge(&s, 1));
	was = t.visit.way;
	assert_false(charge_unseen(&second, 5));
	assert_int_equal(charge_unseen(&third, 5), WEIR_EVICTED);
	assert_int_equal(charge_unseen(&s, 1), WEIR_EVICTED);
	assert_false(recall(&s, 1));
	assert_ptr_equal(t.visit.way, was);
	assert_false(weir_way_is(t.table, was, &s.source));
	assert_false(refuse(&s, 1));
	assert_false(charge(&s, 1));
	assert_false(recall(&s, 1));
	assert_true(weir_way_is(t.table, t.visit.way, &s.source));
	end();
}

/* As a packet does it. */
static unsigned int meet(const struct sender *s)
{
	unsigned int result;

	local_bh_disable();
	t.visit = (struct weir_visit) { };
	result = recall(s, 1) ?: refuse(s, 1) ?: charge(s, 1);
	local_bh_enable();
	return result;
}

/* Those without a place in which to count their refusals are counted, too. */
static void test_place_taken(void **state)
{
	struct sender s[40];
	unsigned int i, n;

	(void)state;
	begin(1, 4, 41);
	assert_true(BIT(t.table->recents.shift) < ARRAY_SIZE(s));
	for (n = 0; n < 64; n++) {
		for (i = 0; i < ARRAY_SIZE(s); i++) {
			s[i] = sender(i, i << 24);
			meet(&s[i]);
		}
	}
	for (i = 0; i < ARRAY_SIZE(s); i++)
		assert_int_equal(dropped(&s[i]), n - 1);
	end();
}

static struct weir_recent *place_of(const struct sender *s)
{
	return weir_recent_entry(&t.table->recents, shim_cpu, &s->source);
}

static bool has_place(const struct sender *s)
{
	return weir_source_same(&place_of(s)->source, &s->source);
}

/* Refusals keep their place for a slot, but for one in so many of another's. */
static void test_place_kept(void **state)
{
	struct sender a = sender(1, 0), b;
	unsigned int i = 2;

	(void)state;
	begin(1, 4, 41);
	assert_true(t.table->mask);
	do
		b = sender(i++, 1);
	while (place_of(&b) != place_of(&a));
	assert_false(meet(&a));
	for (i = 0; i < 2; i++)
		assert_true(meet(&a));
	assert_false(meet(&b));
	assert_true(has_place(&a));
	/* In the next slot they are of the past. */
	t.tick = 44;
	assert_true(meet(&b));
	assert_true(has_place(&b));
	assert_int_equal(dropped(&a), 2);
	assert_true(meet(&b));
	assert_true(meet(&a));
	assert_true(has_place(&b));
	for (i = 0; i < 16; i++)
		assert_true(meet(&a));
	assert_true(has_place(&a));
	assert_int_equal(dropped(&a), 19);
	assert_int_equal(dropped(&b), 2);
	end();
}

/* More refusals than 32 bits hold, on one CPU within one slot. */
static void test_many_refusals(void **state)
{
	struct sender s = sender(1, 1);
	unsigned int i;

	(void)state;
	begin(1, 1, 5);
	for (i = 0; i < 2; i++)
		charge_unseen(&s, 1);
	assert_false(recall(&s, 1));
	assert_true(refuse(&s, 1));
	t.visit.recent->count = WEIR_RECENT_FULL - 1;
	assert_true(recall(&s, 44));
	assert_false(recall(&s, 2));
	assert_true(refuse(&s, 2));
	assert_int_equal(pending(&s), 2);
	assert_true(dropped(&s) == WEIR_RECENT_FULL + 46ull);
	end();
}

static const struct sender forgotten = {
	.source = { .word[0] = (__force __be32)1 }, .hash = 1,
};

static void other_forgets(void)
{
	shim_unlocked = NULL;
	local_bh_enable();
	assert_true(weir_table_forget(t.table, &forgotten.source,
				      forgotten.hash));
	local_bh_disable();
}

/* A source is forgotten while its refusals come home: they are not owed twice. */
static void test_forgotten(void **state)
{
	const struct sender *s = &forgotten;
	unsigned int i;

	(void)state;
	begin(1, 4, 41);
	assert_false(recall(s, 1));
	assert_false(charge(s, 1));
	assert_false(recall(s, 1));
	assert_true(charge(s, 1));
	for (i = 0; i < 5; i++)
		assert_true(recall(s, 1));
	assert_int_equal(pending(s), 5);
	t.tick += 4;
	assert_false(recall(s, 1));
	shim_unlocked = other_forgets;
	assert_true(refuse(s, 3));
	assert_null(shim_unlocked);
	/* Those that came before are forgotten, the last one is not. */
	assert_int_equal(dropped(s), 3);
	end();
}

static struct sender newcomer;
static struct weir_visit its_visit;

static void takes_place(void *arg)
{
	(void)arg;
	thread_go(0);
	local_bh_disable();
	weir_recent_refuse(t.table, &newcomer.source, &its_visit,
			   weir_table_slot(t.table, t.tick), 1);
	local_bh_enable();
}

static void other_takes_place(void)
{
	struct thread thread;

	shim_racing = NULL;
	thread_start(&thread, takes_place, NULL);
	thread_join(&thread);
}

/*
 * A source is forgotten while it takes over the entry of another: it is not owed
 * what that one was refused.
 */
static void test_forgotten_newcomer(void **state)
{
	struct sender a = sender(1, 0);
	unsigned int i = 2;

	(void)state;
	begin(1, 4, 41);
	do
		newcomer = sender(i++, 1);
	while (place_of(&newcomer) != place_of(&a));
	assert_false(meet(&newcomer));
	assert_true(meet(&newcomer));
	its_visit = t.visit;
	its_visit.seq = 0;
	t.tick = 44;
	for (i = 0; i < 9; i++)
		meet(&a);
	t.tick = 48;
	assert_true(has_place(&a));
	assert_int_equal(pending(&a), 7);
	local_bh_enable();
	shim_racing = other_takes_place;
	assert_true(weir_table_forget(t.table, &newcomer.source, newcomer.hash));
	local_bh_disable();
	assert_null(shim_racing);
	assert_true(has_place(&newcomer));
	assert_int_equal(dropped(&a), 8);
	for (i = 0; i < 11; i++)
		meet(&newcomer);
	assert_int_equal(dropped(&newcomer), 10);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recall),
		cmocka_unit_test(test_recall_ends),
		cmocka_unit_test(test_admitted_again),
		cmocka_unit_test(test_recall_elsewhere),
		cmocka_unit_test(test_place_taken),
		cmocka_unit_test(test_place_kept),
		cmocka_unit_test(test_many_refusals),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_forgotten_newcomer),
	};

	return cmocka_run_group_tests_name("table_recall", tests, NULL, NULL);
}
