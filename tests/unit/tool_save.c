// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir save, of a configuration that changes while it is read. The kernel is
 * this file: see the Makefile for what it stands in for.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "nl_priv.h"
#include "tool.h"
#include "unit.h"

#define TRIES 8

/* What befalls a reading. */
enum reading {
	WHOLE,
	LIMITS_CHANGED,
	EXEMPTS_CHANGED,
	SEEN_TWICE,	/* a limit that moved meanwhile, which nothing tells */
	FAILED,
};

static const enum reading *readings;
static unsigned int limit_walks, exempt_walks;
static bool interrupted;
static struct weir_nl nl;

static enum reading reading(void)
{
	return readings[limit_walks - 1];
}

int __wrap_weir_nl_limit_walk(struct weir_nl *given, bool stats,
			      weir_nl_limit_told *told, void *data)
{
	struct weir_limit limit = {
		.has = WEIR_HAS_BUDGET, .window_ms = 1000,
		.prefix4 = 32, .prefix6 = 64, .slots = 16, .sources = 65536,
	};

	assert_true(given == &nl && !stats);
	limit.budget = ++limit_walks;
	strcpy(limit.name, "web");
	told(&limit, data);
	if (reading() == SEEN_TWICE)
		told(&limit, data);
	interrupted = reading() == LIMITS_CHANGED;
	if (reading() != FAILED)
		return 0;
	weir_err_set(&nl.err, "it cannot be read");
	return -ENOMEM;
}

int __wrap_weir_nl_exempt_walk(struct weir_nl *given, weir_nl_exempt_told *told,
			       void *data)
{
	struct weir_exempt exempt = {
		.prefix = { .family = AF_INET, .len = 32 },
	};

	assert_true(given == &nl);
	exempt_walks++;
	exempt.prefix.addr[3] = limit_walks;
	told(&exempt, data);
	interrupted = reading() == EXEMPTS_CHANGED;
	return 0;
}

bool __wrap_weir_nl_interrupted(const struct weir_nl *given)
{
	assert_true(given == &nl);
	return interrupted;
}

/* Save what is read so: the exit, the output in *@text, which the caller frees. */
static int save(const enum reading *as, struct weir_tool *tool, char **text)
{
	struct weir_out_opts opts = { 0 };
	union weir_model model = { 0 };
	FILE *old = stdout;
	size_t size;
	int status;

	readings = as;
	limit_walks = 0;
	exempt_walks = 0;
	*tool = (struct weir_tool) { .nl = &nl };
	weir_out_init(&opts);
	stdout = open_memstream(text, &size);
	status = weir_save_commands[0].run(tool, &model);
	fclose(stdout);
	stdout = old;
	return status;
}

/* Read until it is whole, and what is told is of that reading alone. */
static void test_again(void **state)
{
	static const enum reading kinds[] = {
		WHOLE, LIMITS_CHANGED, EXEMPTS_CHANGED, SEEN_TWICE,
	};
	enum reading as[TRIES] = { WHOLE };
	unsigned int k, changed, i;
	struct weir_tool tool;
	char wanted[256], *text;

	(void)state;
	for (k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
	for (changed = !!k; changed < (k ? TRIES : 1); changed++) {
		for (i = 0; i < TRIES; i++)
			as[i] = i < changed ? kinds[k] : WHOLE;
		assert_int_equal(save(as, &tool, &text), WEIR_EXIT_OK);
		assert_int_equal(limit_walks, changed + 1);
		assert_int_equal(exempt_walks, limit_walks);
		snprintf(wanted, sizeof(wanted),
			 "#!/usr/sbin/weir -file\n"
			 "limit add web budget %u/s slots 16 sources 65536\n"
			 "exempt add 0.0.0.%u\n", limit_walks, limit_walks);
		assert_string_equal(text, wanted);
		free(text);
	}
}

/* It never ends: nothing is told rather than half of it. */
static void test_never(void **state)
{
	static const enum reading as[TRIES] = {
		LIMITS_CHANGED, EXEMPTS_CHANGED, SEEN_TWICE, LIMITS_CHANGED,
		SEEN_TWICE, EXEMPTS_CHANGED, LIMITS_CHANGED, EXEMPTS_CHANGED,
	};
	struct weir_tool tool;
	char *text;

	(void)state;
	assert_int_equal(save(as, &tool, &text), WEIR_EXIT_REFUSED);
	assert_string_equal(tool.err.text,
			    "the configuration changes all the time; nothing was saved");
	assert_string_equal(text, "");
	assert_int_equal(limit_walks, TRIES);
	free(text);
}

/* A failure is no change. */
static void test_failure(void **state)
{
	static const enum reading as[] = { LIMITS_CHANGED, FAILED, WHOLE };
	struct weir_tool tool;
	char *text;

	(void)state;
	assert_int_equal(save(as, &tool, &text), WEIR_EXIT_REFUSED);
	assert_string_equal(tool.err.text, "it cannot be read");
	assert_string_equal(text, "");
	assert_int_equal(limit_walks, 2);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests_name("tool_save", tests, NULL, NULL);
}
