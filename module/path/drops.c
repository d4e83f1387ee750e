// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which packet of an address a limit dropped last, and why: for source-get, also where no entry
 * of a table says anything of the source. All cells together are the latest drops, for drop-get.
 *
 * The cells are a hash of addresses and limits. A cell has the last drop that was noted there;
 * one that another address or limit has taken since is not known any more.
 *
 * Few drops are noted, so that a flood costs no more than before: those for which
 * weir_refused_note() writes, four a second for all addresses that share a cell there, and those
 * by a blocked prefix; and of these only the ones whose cell here is older than WEIR_NOTE_TICKS.
 * What is not noted came within WEIR_NOTE_TICKS of a note of either cell, or was answered by an
 * entry of the refusal cache that is as old and lasts for WEIR_REFUSAL_TICKS. So the later of
 * the times in both cells, whoever was noted then, says from when on there was no other drop.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "limit/limit.h"
#include "limit/net.h"
#include "path/drops.h"
#include "path/refusal.h"

/* Write a cell, unless another CPU does. BH off. */
void weir_drop_write(struct weir_drop *drop, const struct weir_limit *limit,
		     const struct weir_source *source, const struct weir_request *request,
		     struct weir_result result)
{
	int seq = atomic_read(&drop->seq);

	if (seq & 1 || !atomic_try_cmpxchg_relaxed(&drop->seq, &seq, seq + 1))
		return;
	/* Pairs with the second smp_rmb() of drop_read(). */
	smp_wmb();
	drop->limit = limit->id;
	drop->source = *source;
	drop->cost = request->cost;
	drop->result = result;
	/* Pairs with weir_drop_note(). */
	WRITE_ONCE(drop->tick, request->lookup.tick);
	/* Pairs with the first one. */
	smp_wmb();
	atomic_set(&drop->seq, seq + 2);
}

bool weir_drop_read(const struct weir_net *wn, unsigned int index, struct weir_drop *copy)
{
	const struct weir_drop *drop = wn->drops + index;
	unsigned int tries;
	int seq;

	/* Written again and again meanwhile, it is none. */
	for (tries = 0; tries < WEIR_TRIES; tries++) {
		seq = atomic_read(&drop->seq);
		/* Pairs with weir_drop_note(): what is even was written whole. */
		smp_rmb();
		/* Invalid if it is being written. */
		*copy = data_race(*drop);
		/* Likewise: a write that began meanwhile is seen in seq. */
		smp_rmb();
		if (!(seq & 1) && atomic_read(&drop->seq) == seq)
			return copy->limit;
	}
	return false;
}

void weir_drop_tell(const struct weir_limit *limit, const struct weir_drop *drop, u64 tick,
		    struct weir_last_drop *last)
{
	const struct weir_cost *cost = &drop->cost;

	*last = (struct weir_last_drop) {
		.within = (tick > drop->tick ? tick - drop->tick : 0) + 1,
		.result = drop->result,
		.own = true,
	};
	if (weir_result_reason(last->result) == WEIR_REASON_SIZE)
		last->cost = limit->bytes & BIT(weir_result_budget(last->result)) ?
			     cost->bytes : cost->packets;
}

/*
 * The last drop by a limit of packets of an address, or, if none of those is known, of its
 * source. RCU read lock.
 */
bool weir_drop_find(const struct weir_net *wn, const struct weir_limit *limit,
		    const struct weir_source *source, u64 tick, struct weir_last_drop *last)
{
	const struct weir_drop *cell = weir_drop_cell(wn, limit, source);
	struct weir_source masked = *source;
	struct weir_drop drop;
	u32 noted;
	u64 age;

	if (!weir_drop_read(wn, cell - wn->drops, &drop) || drop.limit != limit->id)
		return false;
	/* Pairs with weir_refused_note(). */
	noted = READ_ONCE(*weir_refused_cell(source->word[0], source->word[1]));
	weir_drop_tell(limit, &drop, tick, last);
	last->own = weir_source_same(&drop.source, source);
	weir_source_mask(&drop.source, limit->prefix);
	weir_source_mask(&masked, limit->prefix);
	if (!weir_source_same(&drop.source, &masked))
		return false;
	/* The time of a note that came later, perhaps another's. */
	age = min_t(u64, last->within - 1, max_t(s32, (u32)tick - noted, 0));
	last->before = last->own && age > WEIR_NOTE_TICKS + WEIR_REFUSAL_TICKS ?
		       age - WEIR_NOTE_TICKS - WEIR_REFUSAL_TICKS : 0;
	return true;
}

int weir_drops_alloc(struct weir_net *wn)
{
	wn->drops = kvcalloc(WEIR_DROPS, sizeof(*wn->drops),
			     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return wn->drops ? 0 : -ENOMEM;
}

/* A grace period after the hooks. */
void weir_drops_free(struct weir_net *wn)
{
	kvfree(wn->drops);
	wn->drops = NULL;
}
