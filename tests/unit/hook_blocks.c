// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A limit that only blocks: a packet that still has it when its set has moved begins again. And
 * which exemption is given twice, while others end.
 */
#include <linux/jiffies.h>
#include <linux/user_namespace.h>

#include "hook_edit.h"
#include "path/charge.h"
#include "table_twin.h"

#define NOW	1000

static struct net net = { .user_ns = &init_user_ns };
static struct weir_net wn = { .net = &net };
static const struct weir_source source = { .word[0] = htonl(0x0a000001) };

static u64 now(void)
{
	return NOW;
}

static u16 packet(struct weir_table *table)
{
	const struct weir_limit limit = { .table = table, .cfg.prefix = { 32, 64 } };
	const struct weir_cost cost = { .packets = 1, .bytes = 100 };
	struct weir_request request;
	u16 flags;

	twin_enter();
	weir_request_init(&request, &source, cost, NOW);
	flags = weir_limit_charge(&wn, &limit, &request, NULL).flags;
	twin_leave();
	return flags;
}

static void test_moved(void **state)
{
	struct weir_table_spec spec = {
		.meter[0] = { .budget = 1, .slot_ticks = HZ, .slots = 1 },
		.sources = 64, .prefix = { 32, 64 }, .blocks = true,
	};
	struct weir_table *old = weir_table_alloc(&spec, NOW), *next;
	const u64 one[WEIR_BUDGETS_MAX] = { 1 };
	struct weir_lookup lookup = {
		.source = &source, .tick = NOW, .budgets = one,
		.hash = weir_source_hash(&source, spec.prefix, &wn.key),
	};

	twin_enter();
	assert_int_equal(weir_table_block(old, &lookup, WEIR_NEVER, WEIR_BLOCK_ADD), 0);
	twin_leave();
	spec.sources = 640;
	next = weir_table_alloc(&spec, NOW);
	shim_clock = now;
	weir_table_succeed(next, old, one, one, &wn.key);
	weir_table_drain(next);
	synchronize_rcu();
	assert_int_equal(packet(old), WEIR_AGAIN);
	weir_table_free(old);
	weir_table_free(next);
}

static void add(struct weir_edit *edit, u32 address, u64 end, struct weir_error *error)
{
	struct weir_exception exempt = {
		.prefix = { .family = AF_INET, .len = 32, .word[0] = htonl(address) },
		.end = end, .comment = "",
	};

	assert_int_equal(weir_edit_exception_add(edit, &exempt, "", WEIR_BLOCK_ADD, error), 0);
}

static void test_twice(void **state)
{
	struct weir_edit *edit;
	struct weir_error error = { };
	u32 i;

	shim_clock = NULL;
	shim_jiffies = NOW;
	weir_config_init(&wn);
	edit = weir_edit_begin(&wn, false, 4);
	for (i = 0; i < 4; i++)
		add(edit, i, i < 3 ? NOW + 10 : 0, &error);
	assert_int_equal(weir_edit_end(edit, 0, WEIR_EDIT_PUBLISH, &error), 0);
	shim_jiffies = NOW + 10;
	edit = weir_edit_begin(&wn, false, 3);
	for (i = 0; i < 3; i++)
		add(edit, 10 + i / 2, 0, &error);
	assert_int_equal(weir_edit_end(edit, 0, WEIR_EDIT_PUBLISH, &error), -EEXIST);
	assert_int_equal(error.exempt, 1);
	weir_config_stop(&wn);
	weir_config_free(&wn);
}

UNIT_MAIN("hook_blocks", T(test_moved), T(test_twice))
