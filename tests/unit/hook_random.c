// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The packet path against a twin: random packets through random limits and exemptions, which keep
 * changing. The twin has a count for each limit and source, and derives from the description alone
 * which limits a packet matches. Each packet's verdict, every counter and every count of its
 * sources are compared, so a charge given back must leave no trace. Each change fails at every
 * allocation first, and must then have changed nothing.
 */
#include <linux/jiffies.h>

#include "hook_twin.h"

static void step(void)
{
	if (below(3) == 0)
		shim_jiffies += below(12);
	if (below(200) == 0)
		shim_jiffies += below(400);
	if (t.plain && !below(100)) {
		hook_del();
		hook_del_exempt();
	}
	switch (below(t.plain ? 1000 : 200)) {
	case 0 ... 2:
		hook_add();
		break;
	case 3 ... 4:
		hook_set();
		break;
	case 5:
		hook_del();
		break;
	case 6:
		hook_add_exempt();
		break;
	case 7:
		hook_del_exempt();
		break;
	case 8:
		hook_replace();
		break;
	default:
		hook_packet();
	}
	check(weir_exceptions_count(weir_config_get(&t.wn)->exceptions) == t.exempts,
	      "run %llu: exemptions", t.run);
}

static void random_runs(unsigned int n, bool plain)
{
	struct unit_runs runs = unit_runs(n);
	u64 run, i;

	t.plain = plain;
	for (run = runs.first; run < runs.end; run++) {
		hook_begin(run);
		hook_add();
		for (i = 0; i < 1500; i++)
			step();
		hook_end();
	}
	print_message("# %llu runs: %llu admitted, %llu dropped, %llu of them blocked, %llu early, %llu events, %llu failures\n",
		      runs.end - runs.first, t.admitted, t.dropped, t.blocked, t.early, t.events, t.failures);
}

static void test_packets(void **state)
{
	random_runs(300, false);
}

/* Few changes and few limits, so that refusals come from the caches. */
static void test_plain(void **state)
{
	random_runs(100, true);
}

UNIT_MAIN("hook_random", T(test_packets), T(test_plain))
