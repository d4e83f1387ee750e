// SPDX-License-Identifier: GPL-2.0-only
/*
 * A per-CPU cache of refusals only: an admitted packet never writes it. A cell is
 * valid while the seqcount of the source's entry is unchanged, until the slot ends,
 * and for at most a second, in which no seqcount wraps and a renamed device is
 * forgotten.
 *
 * A cell answers for all packets of its source that arrive on the same device and
 * cost at least as much. So a refusal is cached only if its limit was the first
 * that matched the packet, and if that limit and those before it look at source and
 * device only, and count equal prefixes; the source is masked to the longest prefix that
 * any of them, or an exemption, distinguishes.
 *
 * The caches belong to a namespace with limits. A cell has the generation of its
 * configuration and answers for no other. A grace period after a change nobody writes
 * the cells of the old generation: weir_refusals_settle() then counts what is
 * pending in them, and only then their CPU uses them again.
 *
 * Packets refused by a cell are counted in it until its source is refused in
 * another slot, or another source takes the expired cell; readers add the pending
 * count. It is added to the entry without its lock: if the entry is evicted at that
 * moment, the count goes to its new source.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "limit/limit.h"
#include "limit/net.h"
#include "path/refusal.h"

u32 weir_refused[1 << WEIR_REFUSED_SHIFT];

/* The source of a cell as its limit counts it. */
static struct weir_source cell_source(const struct weir_refusal *cell)
{
	struct weir_source source = cell->key;

	weir_source_mask(&source, cell->limit->cfg.prefix);
	return source;
}

/* Count the pending refusals of a cell in the present copy of its limit. */
static void cell_flush(const struct weir_net *wn, const struct weir_refusal *cell)
{
	const struct weir_limit *limit = weir_limit_by_id(weir_config_get(wn), cell->limit->id);
	struct weir_source source = cell_source(cell);
	struct weir_lookup lookup = {
		.source = &source,
		.hash = weir_source_hash(&source, cell->limit->cfg.prefix, &cell->limit->key),
	};

	if (limit)
		weir_table_dropped(limit->table, &lookup, cell->count, false);
}

/*
 * Count a refusal in a free cell of this CPU's cache. @source: whole address; @ifindex: of
 * the input device; @limit: that refused it; @lookup and @result: in its table, of a single
 * packet. BH off, RCU read lock.
 */
void weir_refusal_store(const struct weir_net *wn, const struct weir_config *config,
			struct weir_refusal *cell, const struct weir_source *source,
			int ifindex, const struct weir_limit *limit,
			const struct weir_lookup *lookup, struct weir_result result)
{
	struct weir_refusal_cache *cache = this_cpu_ptr(wn->refusals);
	const u16 generation = READ_ONCE(config->generation);
	u64 end;

	if (cell->count) {
		cell_flush(wn, cell);
		WRITE_ONCE(cell->count, 0);
		/* Before another source is stored; pairs with cell_pending(). */
		smp_wmb();
	}
	end = weir_budgets_until(limit->table, lookup, weir_result_budget(result));
	cell->key = *source;
	weir_refusal_mask(&config->refusals, &cell->key);
	cell->ifindex = ifindex;
	cell->until = min(end, lookup->tick + HZ);
	cache->until = max(cache->until, cell->until);
	cell->entry = lookup->entry;
	cell->limit = limit;
	cell->seq = lookup->seq;
	cell->result.flags = WEIR_REFUSED | (result.flags & WEIR_BUDGET_MASK);
	/* A block refuses packets of any size. */
	cell->bytes = weir_result_reason(result) != WEIR_REASON_BLOCK &&
		       limit->cfg.budget[weir_result_budget(result)].unit ?
		       lookup->amount[true] : 0;
	WRITE_ONCE(cell->generation, generation);
	/* Pairs with cache_stored(). */
	WRITE_ONCE(cache->generation, generation);
	/* Pairs with cell_pending() and weir_refusals_settle(). */
	smp_store_release(&cell->count, 1);
}

/* May something be pending in a cache? Not if nothing was stored since before the last change. */
static bool cache_stored(const struct weir_refusal_cache *cache, u16 generation)
{
	/* Pairs with weir_refusal_store(); 0 is left out. */
	return (u16)(generation - READ_ONCE(cache->generation)) <= 2;
}

/* Add what is pending in a cell to the state of its source. */
static void cell_pending(const struct weir_refusal *cell,
			 const struct weir_limit *limit,
			 struct weir_source_state *state)
{
	struct weir_source source;
	struct weir_refusal copy;
	/* Pairs with weir_refusal_store(): the source was stored first. */
	u32 waiting = smp_load_acquire(&cell->count);

	/* Its CPU may reuse it for another source meanwhile. */
	copy = data_race(*cell);
	if (!waiting || copy.limit != limit)
		return;
	source = cell_source(&copy);
	/* The count may have been the former source's. */
	smp_rmb();
	waiting = min(waiting, READ_ONCE(cell->count));
	if (weir_source_same(&state->source, &source))
		state->dropped += waiting;
}

/*
 * Add the pending drops to the states of @count sources of a limit of the configuration.
 * Exact when traffic rests. RCU read lock.
 */
void weir_refusals_pending(const struct weir_net *wn,
			   const struct weir_limit *limit,
			   struct weir_source_state *state, unsigned int count)
{
	const struct weir_config *config = weir_config_get(wn);
	const u16 generation = READ_ONCE(config->generation);
	const struct weir_refusal_cache *cache;
	unsigned int i;
	int cpu;

	for (i = 0; i < count; i++) {
		/* As weir_entry_dropped(), but at once: a count is of one kind. */
		if (state[i].observed != limit->cfg.observe)
			state[i].dropped = 0;
		state[i].observed = limit->cfg.observe;
	}
	for_each_possible_cpu(cpu) {
		cache = per_cpu_ptr(wn->refusals, cpu);
		for (i = 0; i < count && cache_stored(cache, generation); i++)
			cell_pending(weir_refusal_cell(cache, &config->refusals, &state[i].source),
				     limit, &state[i]);
	}
}

static void lengthen(struct weir_prefix *prefix, const struct weir_net_prefix *net)
{
	u8 *len = net->family == AF_INET ? &prefix->len4 : &prefix->len6;

	*len = max(*len, net->len);
}

static void mask_fill(struct weir_refusal_mask *mask, struct weir_prefix prefix)
{
	const __be32 ones = htonl(~0u);
	struct weir_source ipv4 = { .word = { ones } };
	struct weir_source ipv6 = {
		.word = { ones, ones, ones, ones },
		.scope = WEIR_SCOPE_IPV6,
	};

	weir_source_mask(&ipv4, prefix);
	weir_source_mask(&ipv6, prefix);
	mask->ipv4 = ipv4.word[0];
	memcpy(mask->ipv6, ipv6.word, sizeof(mask->ipv6));
}

/* Set what cells stand for, when the configuration is complete otherwise. */
void weir_refusals_init(struct weir_config *config)
{
	struct weir_refusals *refusals = &config->refusals;
	struct weir_prefix prefix = { }, key;
	const struct weir_limit *limit;
	unsigned int i, n;

	if (config->count)
		prefix = config->limit[0]->cfg.prefix;
	key = prefix;
	for (i = 0; i < config->count; i++) {
		limit = config->limit[i];
		if (limit->cfg.match.conds & ~WEIR_CONDS_SENDER ||
		    limit->cfg.prefix.len4 != prefix.len4 || limit->cfg.prefix.len6 != prefix.len6)
			break;
		for (n = 0; n < limit->cfg.match.from.count; n++)
			lengthen(&key, &limit->cfg.match.from.prefix[n]);
		if (limit->cfg.match.from_list) {
			key.len4 = max(key.len4, limit->cfg.match.from_list->longest[0]);
			key.len6 = max(key.len6, limit->cfg.match.from_list->longest[1]);
		}
	}
	refusals->limits = i;
	for (i = 0; i < weir_exceptions_count(config->exceptions); i++)
		lengthen(&key, &weir_exceptions_at(config->exceptions, i)->prefix);
	mask_fill(&refusals->index, prefix);
	mask_fill(&refusals->key, key);
}

/*
 * Count all that is pending of an old generation, a grace period after it was replaced
 * and while its limits exist. Locked; may sleep.
 */
void weir_refusals_settle(struct weir_net *wn)
{
	u16 generation = weir_config_get(wn)->generation;
	struct weir_refusal_cache *cache;
	struct weir_refusal *cell, *end;
	int cpu;

	if (!wn->refusals)
		return;
	for_each_possible_cpu(cpu) {
		cond_resched();
		cache = per_cpu_ptr(wn->refusals, cpu);
		if (!cache_stored(cache, generation))
			continue;
		rcu_read_lock();
		cell = cache->cell;
		for (end = cell + (1 << WEIR_REFUSALS_SHIFT); cell < end; cell++) {
			/* Cells of the present one are their CPU's: see weir_refusal_store(). */
			if (!smp_load_acquire(&cell->count) ||
			    READ_ONCE(cell->generation) == generation)
				continue;
			cell_flush(wn, cell);
			/* Pairs with weir_refusal_store(): its CPU may have it. */
			smp_store_release(&cell->count, 0);
		}
		rcu_read_unlock();
	}
}

/*
 * Have the published configuration use no cell of before, and count what is pending in
 * these. Packets that come meanwhile take either generation for theirs, each time that they read
 * it, and after a grace period the new one. Locked; may sleep.
 */
void weir_refusals_renew(struct weir_net *wn)
{
	struct weir_config *config = weir_config_get(wn);

	if (!wn->refusals)
		return;
	WRITE_ONCE(config->generation, (u16)(config->generation + 1) ?: 1);
	synchronize_rcu_expedited();
	weir_refusals_settle(wn);
}

/* Make empty caches; may sleep. With -ENOMEM, too, they are to be freed. */
int weir_refusals_alloc(struct weir_net *wn)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_ZERO;
	struct weir_refusal_cache *cache;
	int cpu;

	wn->refusals = alloc_percpu_gfp(struct weir_refusal_cache, gfp);
	if (!wn->refusals)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		cache = per_cpu_ptr(wn->refusals, cpu);
		cache->cell = kvmalloc_node(sizeof(*cache->cell) << WEIR_REFUSALS_SHIFT,
					    gfp, cpu_to_node(cpu));
		if (!cache->cell)
			return -ENOMEM;
	}
	return 0;
}

/* Free the caches, if any, a grace period after the hooks. */
void weir_refusals_free(struct weir_net *wn)
{
	int cpu;

	if (!wn->refusals)
		return;
	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(wn->refusals, cpu)->cell);
	free_percpu(wn->refusals);
	wn->refusals = NULL;
}
