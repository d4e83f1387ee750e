// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many newcomers a table was too small for: what the sketch tells against
 * how many there were, two spans at a time, and what another table forgets.
 */
#include <linux/limits.h>

#include "pressure.h"
#include "unit.h"

#define TICKS 1000

static struct weir_pressure pressure;

/* Each of count sources comes twice, at a tick. */
static void come(struct chance *c, u32 count, u64 tick)
{
	u32 i, hash;

	for (i = 0; i < count; i++) {
		hash = chance(c);
		weir_pressure_meet(&pressure, hash, TICKS, tick);
		weir_pressure_meet(&pressure, hash, TICKS, tick);
	}
}

/* Within five of the method's standard errors. */
static void check_near(u32 count, const char *when)
{
	u32 most = weir_pressure_most(&pressure);
	double least = count * 0.67 - 1, limit = count * 1.33 + 1;

	if (most < least || most > limit)
		fail_msg("%u came, %u are told %s", count, most, when);
}

static void test_number(void **state)
{
	struct chance c = chance_of(1);
	u32 count;
	int run;

	(void)state;
	for (count = 1; count < 1 << 21; count += 1 + count / 2) {
		for (run = 0; run < 8; run++) {
			weir_pressure_forget(&pressure);
			assert_int_equal(weir_pressure_most(&pressure), 0);
			come(&c, count, TICKS);
			check_near(count, "in their span");
		}
	}
}

static void test_spans(void **state)
{
	struct chance c = chance_of(2);
	u64 tick = U32_MAX / TICKS * TICKS - 3ull * TICKS;
	int span;

	(void)state;
	weir_pressure_forget(&pressure);
	come(&c, 5000, tick);
	come(&c, 5000, tick + TICKS - 1);
	come(&c, 10000, tick + TICKS);
	for (span = 2; span < 8; span++) {
		come(&c, 100, tick + span * TICKS);
		check_near(20000, "of the two largest");
	}
	weir_pressure_forget(&pressure);
	come(&c, 1, tick + span * TICKS);
	assert_int_equal(weir_pressure_most(&pressure), 1);
	come(&c, 3000, tick + (span + 1) * TICKS);
	check_near(3001, "of a span that goes on");
	come(&c, 3000, tick + (span + 3) * TICKS);
	check_near(3001, "of those that are apart");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests_name("table_pressure", tests, NULL, NULL);
}
