/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What unit.h has of cmocka and the C library, in a kernel: what is said goes to
 * its log, and a check that fails ends the thread that makes it.
 */
#ifndef UNIT_KERNEL_H
#define UNIT_KERNEL_H

#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
};

#define cmocka_unit_test(test) { #test, test }
#define cmocka_run_group_tests_name(group, tests, setup, teardown) \
	unit_run(group, tests, ARRAY_SIZE(tests))

#define print_message	pr_info
#define print_error	pr_err
#define fail		unit_fail

#define unit_assert(condition, text) do {				\
	if (!(condition)) {						\
		print_error("# %s:%d: %s\n", __FILE__, __LINE__, text);	\
		fail();							\
	}								\
} while (0)

#define assert_true(x)		unit_assert(x, #x)
#define assert_false(x)		unit_assert(!(x), "not " #x)
#define assert_non_null(x)	unit_assert(x, #x)
#define assert_int_equal(x, y)	unit_assert((x) == (y), #x " is " #y)
#define assert_memory_equal(x, y, size) \
	unit_assert(!memcmp(x, y, size), #x " is " #y)

/* Lists grow with BH off. */
#define calloc(n, size) watched_new(kvcalloc(n, size, GFP_KERNEL))
#define realloc(p, size) ({						\
	void *new_ = krealloc(p, size, GFP_ATOMIC);			\
									\
	(p) ? new_ : watched_new(new_);					\
})
#define free(p) kvfree(p)

u64 unit_number(const char *name, u64 otherwise);
void unit_fail(void);
int unit_run(const char *group, const struct CMUnitTest *test, unsigned int n);

/* What are programs in user space. */
int table_model(void);
int table_move(void);
int table_threads(void);

#endif /* UNIT_KERNEL_H */
