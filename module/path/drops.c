// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which packet of an address a limit dropped last, and why: for source-get, also where no entry
 * of a table says anything of the source.
 *
 * The cells are a hash of addresses and limits. A cell has the last drop that was noted there;
 * one that another address or limit has taken since is not known any more.
 *
 * Only a drop for which weir_refused_note() writes is noted: four a second for all addresses
 * that share a cell there, so that a flood costs no more than before. What is not noted came
 * within WEIR_NOTE_TICKS of a note of that cell, or was answered by an entry of the refusal
 * cache that is as old and lasts for WEIR_REFUSAL_TICKS. So the time in that cell, whoever was
 * noted then, says from when on there was no other drop. A drop by a blocked prefix is noted if
 * the cell here is older than WEIR_NOTE_TICKS.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "limit/limit.h"
#include "limit/net.h"
#include "path/drops.h"
#include "path/refusal.h"

#define DROPS_SHIFT	11

/* Written with BH off by the CPU that makes @seq odd; any other one leaves it alone meanwhile. */
struct weir_drop {
	atomic_t seq;
	u32 limit;		/* id, or 0 without a drop */
	struct weir_source source;	/* whole address */
	u64 tick;
	u64 cost;		/* in the unit of the budget */
	struct weir_result result;
};

static struct weir_drop *drop_cell(const struct weir_net *wn, const struct weir_limit *limit,
				   const struct weir_source *source)
{
	u32 at = hash_32((__force u32)(source->word[0] ^ source->word[1]), DROPS_SHIFT);

	/* Ids are even. */
	return wn->drops + ((at + limit->id / 2) & ((1 << DROPS_SHIFT) - 1));
}

/* Note that a limit dropped a packet of a whole address. BH off. */
void weir_drop_note(struct weir_net *wn, const struct weir_limit *limit,
		    const struct weir_source *source, const struct weir_cost *cost,
		    struct weir_result result, u64 tick)
{
	struct weir_drop *drop = drop_cell(wn, limit, source);
	int seq = atomic_read(&drop->seq);

	if (seq & 1 || !atomic_try_cmpxchg_relaxed(&drop->seq, &seq, seq + 1))
		return;
	/* Pairs with the second smp_rmb() of drop_read(). */
	smp_wmb();
	drop->limit = limit->id;
	drop->source = *source;
	/* Pairs with weir_drop_note_block(). */
	WRITE_ONCE(drop->tick, tick);
	drop->cost = limit->bytes & BIT(weir_result_budget(result)) ? cost->bytes : cost->packets;
	drop->result = result;
	/* Pairs with the first one. */
	smp_wmb();
	atomic_set(&drop->seq, seq + 2);
}

/* Note that a blocked prefix dropped a packet, unless the cell was written just now. BH off. */
void weir_drop_note_block(struct weir_net *wn, const struct weir_limit *limit,
			  const struct weir_source *source, u64 tick)
{
	const struct weir_result result = { WEIR_REFUSED | WEIR_BLOCKED };
	const struct weir_drop *drop = drop_cell(wn, limit, source);

	/* Pairs with weir_drop_note(). */
	if ((u32)tick - (u32)READ_ONCE(drop->tick) > WEIR_NOTE_TICKS)
		weir_drop_note(wn, limit, source, &(struct weir_cost) { }, result, tick);
}

/* Copy a cell. Returns false if it is being written, each time. */
static bool drop_read(const struct weir_drop *drop, struct weir_drop *copy)
{
	unsigned int tries;
	int seq;

	for (tries = 0; tries < WEIR_TRIES; tries++) {
		seq = atomic_read(&drop->seq);
		/* Pairs with weir_drop_note(): what is even was written whole. */
		smp_rmb();
		/* Invalid if it is being written. */
		*copy = data_race(*drop);
		/* Likewise: a write that began meanwhile is seen in seq. */
		smp_rmb();
		if (!(seq & 1) && atomic_read(&drop->seq) == seq)
			return true;
	}
	return false;
}

/*
 * The last drop by a limit of packets of an address, or, if none of those is known, of its
 * source. RCU read lock.
 */
bool weir_drop_find(const struct weir_net *wn, const struct weir_limit *limit,
		    const struct weir_source *source, u64 tick, struct weir_last_drop *last)
{
	const struct weir_drop *cell = drop_cell(wn, limit, source);
	struct weir_source masked = *source;
	struct weir_drop drop;
	u32 noted;
	u64 age;

	if (!drop_read(cell, &drop) || drop.limit != limit->id)
		return false;
	/* Pairs with weir_refused_note(). */
	noted = READ_ONCE(*weir_refused_cell(source->word[0], source->word[1]));
	last->result = drop.result;
	last->own = weir_source_same(&drop.source, source);
	weir_source_mask(&drop.source, limit->prefix);
	weir_source_mask(&masked, limit->prefix);
	if (!weir_source_same(&drop.source, &masked))
		return false;
	age = tick > drop.tick ? tick - drop.tick : 0;
	last->within = age + 1;
	/* The time of a note that came later, perhaps another's. */
	age = min_t(u64, age, max_t(s32, (u32)tick - noted, 0));
	last->before = last->own && age > WEIR_NOTE_TICKS + WEIR_REFUSAL_TICKS ?
		       age - WEIR_NOTE_TICKS - WEIR_REFUSAL_TICKS : 0;
	last->cost = weir_result_reason(last->result) == WEIR_REASON_SIZE ? drop.cost : 0;
	return true;
}

int weir_drops_alloc(struct weir_net *wn)
{
	wn->drops = kvzalloc(sizeof(*wn->drops) << DROPS_SHIFT, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return wn->drops ? 0 : -ENOMEM;
}

/* A grace period after the hooks. */
void weir_drops_free(struct weir_net *wn)
{
	kvfree(wn->drops);
	wn->drops = NULL;
}
