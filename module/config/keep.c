// SPDX-License-Identifier: GPL-2.0-only
/*
 * A change must not lose by accident what took long to gather: blocks that find no room in a
 * new table, and the places of sources that live in a table. Such a change is refused with
 * their number, unless it is forced.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "clock.h"
#include "config/keep.h"
#include "config/make.h"
#include "limit/net.h"

/* Of the old table: blocks that find no room in the new one, and all that live. */
struct tally {
	u64 lost;
	u64 sources;		/* live, known or blocked */
};

/* Of blocks in a bucket of the old table, how many before @n go to the same one as that? */
static unsigned int same_before(const u32 *bucket, unsigned int n)
{
	unsigned int i, same = 0;

	for (i = 0; i < n; i++)
		same += bucket[i] == bucket[n];
	return same;
}

/*
 * Add up a bucket of @was. Of its blocks each bucket of the new table, of @buckets, takes
 * @quota, less the @held ones that came to it from others.
 */
static u64 bucket_tally(const struct weir_limit *was, u32 index, u32 buckets, u32 quota,
			u64 held, const hsiphash_key_t *key, struct weir_source_state *state,
			struct tally *tally)
{
	unsigned int n = weir_limit_walk(was, index, weir_clock(), true, state);
	u32 bucket[WEIR_WAYS_MAX];
	unsigned int i, blocks = 0;

	for (i = 0; i < n; i++) {
		tally->sources += state[i].live || state[i].blocked ||
				  (was->newcomers.budget && !state[i].unknown);
		if (!state[i].blocked)
			continue;
		bucket[blocks] = weir_source_hash(&state[i].source, was->prefix, key) &
				 (buckets - 1);
		tally->lost += held + same_before(bucket, blocks) >= quota;
		blocks++;
	}
	return blocks;
}

/* Compare the table of @was with the one that replaces it. May sleep. */
static int table_tally(const struct weir_limit *was, const struct weir_table *next,
		       const hsiphash_key_t *key, struct tally *tally)
{
	u32 from = weir_table_buckets(was->table), buckets = weir_table_buckets(next);
	u32 quota = weir_table_quota(next);
	struct weir_source_state *state;
	u32 i, j, step = min(from, buckets);
	u64 held;

	*tally = (struct tally) { };
	state = kvmalloc_array(WEIR_WAYS_MAX, sizeof(*state), GFP_KERNEL | __GFP_NOWARN);
	if (!state)
		return -ENOMEM;
	/* Both are indexed by the low bits of one hash: the buckets of the smaller one join. */
	for (i = 0; i < step; i++) {
		held = 0;
		for (j = i; j < from; j += step) {
			held += bucket_tally(was, j, buckets, quota, held, key, state, tally);
			cond_resched();
		}
	}
	kvfree(state);
	return 0;
}

/* May a limit with a new table replace @was? Under the namespace's mutex. */
int weir_limit_keeps(const struct weir_limit *limit, const struct weir_limit *was,
		     struct weir_net *wn, struct weir_error *error)
{
	struct tally tally;
	int err;

	lockdep_assert_held(&wn->lock);
	err = table_tally(was, limit->table, &wn->key, &tally);
	if (err)
		return err;
	error->value = tally.lost;
	if (tally.lost)
		return weir_refuse(error, -EBUSY, weir_limit_size_attr(&limit->cfg),
				   "blocks would find no room and end; a larger number keeps them");
	error->value = tally.sources;
	if (limit->budgets && limit->cfg.sources < was->cfg.sources &&
	    tally.sources > limit->cfg.sources)
		return weir_refuse(error, -EBUSY, WEIR_A_LIMIT_SOURCES,
				   "sources with the smallest counts, or known and idle, would lose their places; give as many as there are");
	error->value = 0;
	return 0;
}
