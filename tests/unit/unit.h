/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the unit tests: cmocka, random numbers, number of rounds. In the kernel
 * tests/table replaces cmocka and the C library.
 */
#ifndef UNIT_H
#define UNIT_H

#ifdef __KERNEL__
#include "unit_kernel.h"
#else
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline uint64_t unit_number(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}
#endif

#include "chance.h"

/* UNIT_PERCENT of n rounds, at least one. */
static inline uint64_t unit_rounds(uint64_t n)
{
	n = n * unit_number("UNIT_PERCENT", 100) / 100;
	return n ? n : 1;
}

/* The random runs first to end - 1. */
struct unit_runs {
	unsigned long long first, end;
};

/* unit_rounds(n) runs, or UNIT_RUN alone. */
static inline struct unit_runs unit_runs(uint64_t n)
{
	uint64_t all = ~0ull, run = unit_number("UNIT_RUN", all);

	return run == all ? (struct unit_runs) { 0, unit_rounds(n) } :
			    (struct unit_runs) { run, run + 1 };
}

/* Random state of a run, reproducible: seeded by UNIT_SEED and the run's number. */
static inline struct chance chance_of(uint64_t run)
{
	return (struct chance) { unit_number("UNIT_SEED", 1) * 0x9e3779b97f4a7c15ull + run };
}

/* main() of the program NAME, which runs its tests, each T(test), in order. */
#define T(test)	cmocka_unit_test(test)
#define UNIT_MAIN(name, ...)						\
int main(void)								\
{									\
	const struct CMUnitTest tests[] = { __VA_ARGS__ };		\
									\
	return cmocka_run_group_tests_name(name, tests, NULL, NULL);	\
}

/* assert_true() with a message that tells the run and the values. */
#define check(cond, fmt, ...) do {					\
	if (!(cond)) {							\
		print_error("# %s:%d: %s: " fmt "\n", __FILE__,		\
			    __LINE__, #cond, ##__VA_ARGS__);		\
		fail();							\
	}								\
} while (0)

#endif /* UNIT_H */
