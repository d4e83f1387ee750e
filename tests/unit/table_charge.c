// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Charges by hand that chance does not come across: what a count holds at the
 * most, a writer at the bucket, ways that a sweep has freed.
 */
#include "table_hand.h"

/* A budget beyond what the counts hold is what they hold. */
static void test_budget_cut(void **state)
{
	struct sender s = sender(1, 1);

	(void)state;
	begin(100, 1, 5);
	t.budget = 1000000;
	assert_int_equal(charge_unseen(&s, U16_MAX), 0);
	assert_true(charge_unseen(&s, 1) & WEIR_REFUSED);
	end();
}

/* Another source of the same bucket, on another CPU. */
static void other_charges(void)
{
	struct sender other = sender(2, 1);

	charge_unseen(&other, 1);
}

/* What a writer came across is thrown away, and so is what it is at. */
static void test_second_look(void **state)
{
	struct sender s = sender(1, 1);
	struct weir_bucket *bucket;
	unsigned int i;

	(void)state;
	begin(10, 1, 5);
	bucket = weir_bucket(t.table, 1 & t.table->mask);
	for (i = 0; i < 2; i++)
		charge_unseen(&s, 10);
	assert_true(refuse(&s, 10));
	shim_reading = other_charges;
	assert_false(refuse(&s, 10));
	shim_reading = NULL;
	assert_true(refuse(&s, 10));
	spin_lock(&bucket->lock);
	write_seqcount_begin(&bucket->seq);
	assert_false(refuse(&s, 10));
	write_seqcount_end(&bucket->seq);
	spin_unlock(&bucket->lock);
	end();
}

/*
 * A way that a sweep has freed is given away as what it is, though so long has
 * passed since that the time of its wheel says nothing any more.
 */
static void test_swept(void **state)
{
	struct sender s[4];
	unsigned int i;

	(void)state;
	begin(10, 1, WEIR_SWEEP_SLOTS + 1);
	twin_shrink(t.table, 1, 2);
	for (i = 0; i < ARRAY_SIZE(s); i++)
		s[i] = sender(i + 1, i);
	for (i = 0; i < 3; i++)
		assert_int_equal(charge_unseen(&s[i], 1),
				 i == 2 ? WEIR_EVICTED : 0);
	/* One source stays live at each sweep. */
	for (i = 2; i < 7; i++) {
		t.tick = i * WEIR_SWEEP_SLOTS - 1;
		assert_false(charge_unseen(&s[2], 5));
		t.tick++;
		assert_false(charge_unseen(&s[2], 5));
	}
	assert_int_equal(charge_unseen(&s[3], 1), 0);
	end();
}

/* A source is found behind ways that a sweep has freed. */
static void test_behind_swept(void **state)
{
	struct sender s;
	unsigned int i;

	(void)state;
	begin(10, 1, WEIR_SWEEP_SLOTS + 1);
	twin_shrink(t.table, 1, 16);
	/* All would stand among the first eight ways. */
	for (i = 1; i < 10; i++) {
		if (i == 9)
			t.tick = 2 * WEIR_SWEEP_SLOTS - 1;
		s = sender(i, i << 24);
		assert_false(charge_unseen(&s, 6));
	}
	t.tick++;
	assert_true(charge_unseen(&s, 6) & WEIR_REFUSED);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget_cut),
		cmocka_unit_test(test_second_look),
		cmocka_unit_test(test_swept),
		cmocka_unit_test(test_behind_swept),
	};

	return cmocka_run_group_tests_name("table_charge", tests, NULL, NULL);
}
