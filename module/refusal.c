// SPDX-License-Identifier: GPL-2.0-only
/*
 * A per-CPU cache of refusals only: an admitted packet never writes it. An entry is
 * valid while the seqcount of the source's way is unchanged, until the slot ends,
 * and for at most a second, in which no seqcount wraps and a renamed device is
 * forgotten.
 *
 * An entry answers for all packets of its source that arrive on the same device and
 * cost at least as much. So a refusal is cached only if its limit was the first
 * that matched the packet, and if that limit and those before it look at source and
 * device only; the source is masked to the longest prefix that any of them, or an
 * exemption, distinguishes.
 *
 * The caches belong to a namespace with limits. An entry has the generation of its
 * configuration and answers for no other. A grace period after a change nobody writes
 * the entries of the old configuration: weir_refusals_settle() then counts what is
 * pending in them, and only then their CPU uses them again.
 *
 * Packets refused by an entry are counted in it until its source is refused in
 * another slot, or another source takes the expired entry; readers add the pending
 * count. It is added to the way without its lock: if the way is evicted at that
 * moment, the count goes to its new source.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "limit.h"
#include "weir.h"

/* The source of an entry as its limit counts it. */
static struct weir_source entry_source(const struct weir_refusal *entry)
{
	struct weir_source source = entry->key;

	weir_source_mask(&source, entry->limit->prefix);
	return source;
}

/* Count the pending refusals of an entry in the present copy of its limit. */
static void entry_flush(const struct weir_net *wn, const struct weir_refusal *entry)
{
	const struct weir_limit *limit = weir_limit_by_id(weir_config_get(wn),
							  entry->limit->id);
	struct weir_source source = entry_source(entry);
	struct weir_lookup lookup = {
		.source = &source,
		.hash = weir_source_hash(&source, entry->limit->prefix,
					 &wn->key),
	};

	if (limit)
		weir_table_dropped(limit->table, &lookup, entry->count, false);
}

/**
 * weir_refusal_store - cache a refusal, and count it
 * @wn: namespace
 * @entry: of this CPU's cache, free for the source
 * @generation: of the configuration
 * @key: source, masked
 * @ifindex: of the input device
 * @limit: that refused it
 * @lookup: of the refusal, of a single packet
 *
 * Context: BH off, RCU read lock.
 */
void weir_refusal_store(const struct weir_net *wn,
			struct weir_refusal *entry, u32 generation,
			const struct weir_source *key, int ifindex,
			const struct weir_limit *limit,
			const struct weir_lookup *lookup)
{
	struct weir_refusal_cache *cache = this_cpu_ptr(wn->refusals);
	u64 end;

	if (entry->count) {
		entry_flush(wn, entry);
		WRITE_ONCE(entry->count, 0);
		/* Before another source is stored; pairs with entry_pending(). */
		smp_wmb();
	}
	end = (weir_table_slot(limit->table, lookup->tick) + 1) *
	      limit->slot_ticks;
	entry->key = *key;
	entry->ifindex = ifindex;
	entry->until = min(end, lookup->tick + HZ);
	cache->until = max(cache->until, entry->until);
	entry->way = lookup->way;
	entry->limit = limit;
	entry->seq = lookup->seq;
	entry->bytes = limit->bytes ? lookup->cost : 0;
	WRITE_ONCE(entry->generation, generation);
	/* Pairs with weir_refusals_settle(). */
	WRITE_ONCE(cache->generation, generation);
	/* Pairs with entry_pending() and weir_refusals_settle(). */
	smp_store_release(&entry->count, 1);
}

/* Add what is pending in an entry to the state of its source. */
static void entry_pending(const struct weir_refusal *entry,
			  const struct weir_limit *limit,
			  struct weir_source_state *state, unsigned int count)
{
	struct weir_source source;
	struct weir_refusal copy;
	unsigned int i;
	/* Pairs with weir_refusal_store(): the source was stored first. */
	u32 waiting = smp_load_acquire(&entry->count);

	/* Its CPU may reuse it for another source meanwhile. */
	copy = data_race(*entry);
	if (!waiting || copy.limit != limit)
		return;
	source = entry_source(&copy);
	/* The count may have been the former source's. */
	smp_rmb();
	waiting = min(waiting, READ_ONCE(entry->count));
	for (i = 0; i < count; i++)
		if (weir_source_same(&state[i].source, &source))
			state[i].dropped += waiting;
}

/**
 * weir_refusals_pending - drops of sources, with the pending counts
 * @wn: namespace
 * @limit: of its configuration
 * @state: states of sources of the limit
 * @count: number of them
 *
 * Entries change while they are read: exact only when traffic rests.
 *
 * Context: RCU read lock.
 */
void weir_refusals_pending(const struct weir_net *wn,
			   const struct weir_limit *limit,
			   struct weir_source_state *state, unsigned int count)
{
	const struct weir_refusals *refusals = &weir_config_get(wn)->refusals;
	const struct weir_refusal_cache *cache;
	unsigned int i;
	int cpu;

	for (i = 0; i < count; i++) {
		/* As weir_way_dropped(), but at once: a count is of one kind. */
		if (state[i].observed != limit->observe)
			state[i].dropped = 0;
		state[i].observed = limit->observe;
	}
	for_each_possible_cpu(cpu) {
		cache = per_cpu_ptr(wn->refusals, cpu);
		if (limit->prefix.len4 == refusals->prefix.len4 &&
		    limit->prefix.len6 == refusals->prefix.len6) {
			for (i = 0; i < count; i++)
				entry_pending(weir_refusal_entry(cache, refusals,
								 &state[i].source),
					      limit, &state[i], 1);
			continue;
		}
		/* Of a source with a shorter prefix there are several. */
		for (i = 0; i < 1 << WEIR_REFUSALS_SHIFT; i++)
			entry_pending(&cache->entry[i], limit, state, count);
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

/** weir_refusals_init - set what entries stand for; the configuration is complete */
void weir_refusals_init(struct weir_config *config)
{
	struct weir_refusals *refusals = &config->refusals;
	struct weir_prefix *prefix = &refusals->prefix, key = { };
	const struct weir_limit *limit;
	unsigned int i, n;

	for (i = 0; i < config->count; i++) {
		limit = config->limit[i];
		if (limit->match.conds & ~WEIR_IF_SENDER)
			break;
		prefix->len4 = max(prefix->len4, limit->prefix.len4);
		prefix->len6 = max(prefix->len6, limit->prefix.len6);
		for (n = 0; n < limit->match.from.count; n++)
			lengthen(&key, &limit->match.from.prefix[n]);
	}
	refusals->limits = i;
	for (i = 0; i < weir_exempts_count(config->exempts); i++)
		lengthen(&key, &weir_exempts_at(config->exempts, i)->prefix);
	key.len4 = max(key.len4, prefix->len4);
	key.len6 = max(key.len6, prefix->len6);
	mask_fill(&refusals->index, *prefix);
	mask_fill(&refusals->key, key);
}

/**
 * weir_refusals_settle - count all that is pending of an old configuration
 * @wn: locked namespace, a grace period after that was replaced; its limits exist
 *
 * Context: process, may sleep.
 */
void weir_refusals_settle(struct weir_net *wn)
{
	u32 generation = weir_config_get(wn)->generation;
	struct weir_refusal_cache *cache;
	struct weir_refusal *entry, *end;
	int cpu;

	if (!wn->refusals)
		return;
	for_each_possible_cpu(cpu) {
		cond_resched();
		cache = per_cpu_ptr(wn->refusals, cpu);
		/* Nothing was stored since before the last change; 0 is left out. */
		if (generation - READ_ONCE(cache->generation) > 2)
			continue;
		rcu_read_lock();
		entry = cache->entry;
		for (end = entry + (1 << WEIR_REFUSALS_SHIFT); entry < end; entry++) {
			/* Entries of the present one are their CPU's: see weir_refusal_store(). */
			if (!smp_load_acquire(&entry->count) ||
			    READ_ONCE(entry->generation) == generation)
				continue;
			entry_flush(wn, entry);
			/* Pairs with weir_refusal_store(): its CPU may have it. */
			smp_store_release(&entry->count, 0);
		}
		rcu_read_unlock();
	}
}

/**
 * weir_refusals_alloc - make the empty caches of a namespace
 * @wn: namespace without hooks
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM; what was allocated then is to be freed.
 */
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
		cache->entry = kvmalloc_node(sizeof(*cache->entry) << WEIR_REFUSALS_SHIFT,
					     gfp, cpu_to_node(cpu));
		if (!cache->entry)
			return -ENOMEM;
	}
	return 0;
}

/** weir_refusals_free - free the caches, if any, a grace period after the hooks */
void weir_refusals_free(struct weir_net *wn)
{
	int cpu;

	if (!wn->refusals)
		return;
	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(wn->refusals, cpu)->entry);
	free_percpu(wn->refusals);
	wn->refusals = NULL;
}
