// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count what a change of a limit loses: blocks and sources that find no room in the new table, and
 * all counts if these begin anew.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "clock.h"
#include "config/loss.h"
#include "config/make.h"
#include "limit/net.h"
#include "table/layout.h"

/* How much of a set of the new table is taken. */
struct taken {
	u32 blocks;
	u32 sources;		/* live, known or blocked */
};

struct loss {
	u64 blocks;		/* that find no room */
	u64 sources;		/* likewise: live, known or blocked */
	u64 live;		/* all that are */
};

bool weir_limit_recounts(const struct weir_limit *limit, const struct weir_limit *was)
{
	const struct weir_limit_config *is = &limit->cfg, *before = &was->cfg;

	return before->budgets && is->budgets && (before->budgets_by || is->budgets_by) &&
	       before->budget[0].unit != is->budget[0].unit;
}

/* Compare the table of @was with @next, which takes over from it. May sleep. */
static int table_loss(const struct weir_limit *was, const struct weir_table *next,
		      struct loss *loss)
{
	const bool known = was->table->states_off && next->states_off;
	struct taken *taken = kvcalloc(next->mask + 1, sizeof(*taken), WEIR_GFP), *to;
	struct weir_source_state *state =
		kvmalloc_array(WEIR_ENTRIES_MAX, sizeof(*state), WEIR_GFP);
	int err = state && taken ? 0 : -ENOMEM;
	u32 set, i, n;
	bool full;

	for (set = 0; !err && set <= was->table->mask; set++) {
		n = weir_limit_walk(was, set, weir_clock(), true, state);
		for (i = 0; i < n; i++) {
			to = taken + (weir_source_hash(&state[i].source, was->cfg.prefix,
						       &was->key) & next->mask);
			full = to->sources >= next->entries;
			loss->live += state[i].live;
			if (state[i].blocked)
				loss->blocks += ++to->blocks > next->quota ||
						(next->stays && full);
			if (!state[i].blocked && !state[i].live && (!known || state[i].unknown))
				continue;
			loss->sources += full;
			to->sources++;
		}
		cond_resched();
	}
	kvfree(taken);
	kvfree(state);
	return err;
}

int weir_limit_loss(const struct weir_limit *limit, const struct weir_limit *was,
		    struct weir_net *wn, struct weir_error *error)
{
	struct loss loss = { };
	int err;

	lockdep_assert_held(&wn->lock);
	if (limit->table == was->table)
		return 0;
	err = table_loss(was, limit->table, &loss);
	if (err)
		return err;
	if (loss.blocks) {
		error->value = loss.blocks;
		weir_refuse(error, 0, weir_limit_size_attr(&limit->cfg),
			    "blocks find no room and end; a larger number keeps them");
	} else if (loss.live && weir_limit_recounts(limit, was)) {
		error->value = loss.live;
		weir_refuse(error, 0, WEIR_A_LIMIT_BUDGET,
			    "with budgets-by, another unit of the first budget ends all counts");
	} else if (loss.sources && limit->cfg.budgets) {
		error->value = loss.sources;
		weir_refuse(error, 0, WEIR_A_LIMIT_SOURCES,
			    "sources with small counts, or idle, find no room; a larger number keeps them");
	}
	return 0;
}
