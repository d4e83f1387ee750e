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
 * exemption, distinguishes. A cache belongs to a configuration and is freed with
 * it.
 *
 * Packets refused by an entry are counted in it until its source is refused in
 * another slot, or another source takes the expired entry; readers add the pending
 * count. It is added to the way without its lock: if the way is evicted at that
 * moment, the count goes to its new source.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "limit.h"
#include "weir.h"

/* The source of an entry as its limit counts it. */
static struct weir_source entry_source(const struct weir_refusal *entry)
{
	struct weir_source source = entry->key;

	weir_source_mask(&source, entry->limit->prefix);
	return source;
}

static void entry_flush(struct weir_refusal *entry)
{
	struct weir_source source;

	if (!entry->count)
		return;
	source = entry_source(entry);
	/* The way's new source may get the count. */
	if (data_race(weir_way_is(entry->limit->table, entry->way, &source)))
		weir_way_dropped(entry->way, entry->count, false);
	WRITE_ONCE(entry->count, 0);
	/* Before another source is stored; pairs with weir_refusals_pending(). */
	smp_wmb();
}

/**
 * weir_refusal_store - cache a refusal, and count it
 * @refusals: of the configuration
 * @entry: entry for the source: expired, or its own
 * @key: source, masked
 * @ifindex: of the input device
 * @limit: that refused it
 * @lookup: of the refusal, of a single packet
 *
 * Context: BH off, RCU read lock.
 */
void weir_refusal_store(const struct weir_refusals *refusals,
			struct weir_refusal *entry,
			const struct weir_source *key, int ifindex,
			const struct weir_limit *limit,
			const struct weir_lookup *lookup)
{
	struct weir_refusal_cache *cache = this_cpu_ptr(refusals->cache);
	u64 end;

	entry_flush(entry);
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
	/* Pairs with weir_refusals_pending(). */
	smp_store_release(&entry->count, 1);
}

/* As weir_way_dropped(): a count is of one kind. */
static void state_add(struct weir_source_state *state, u32 packets)
{
	if (state->observed)
		state->dropped = 0;
	state->observed = false;
	state->dropped += packets;
}

/**
 * weir_refusals_pending - add the pending counts to the states of sources
 * @refusals: of the configuration
 * @limit: of it
 * @state: states of sources of the limit
 * @count: number of them
 *
 * Entries change while they are read: exact only when traffic rests.
 *
 * Context: RCU read lock.
 */
void weir_refusals_pending(const struct weir_refusals *refusals,
			   const struct weir_limit *limit,
			   struct weir_source_state *state, unsigned int count)
{
	const struct weir_refusal *entry;
	struct weir_refusal copy;
	struct weir_source source;
	unsigned int i, j;
	u32 waiting;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < 1 << WEIR_REFUSALS_SHIFT; i++) {
			entry = &per_cpu_ptr(refusals->cache, cpu)->entry[i];
			/* Pairs with weir_refusal_store(): the source was stored first. */
			waiting = smp_load_acquire(&entry->count);
			/* Its CPU may reuse it for another source meanwhile. */
			copy = data_race(*entry);
			if (!waiting || copy.limit != limit)
				continue;
			source = entry_source(&copy);
			/* The count may have been the former source's. */
			smp_rmb();
			waiting = min(waiting, READ_ONCE(entry->count));
			for (j = 0; j < count; j++)
				if (weir_source_same(&state[j].source, &source))
					state_add(&state[j], waiting);
		}
	}
}

static void mask_lengthen(struct weir_refusals *refusals, u8 len4, u8 len6)
{
	unsigned int i, bits;

	for (i = 0; i < 4; i++, len6 -= bits) {
		bits = min_t(u8, len6, 32);
		refusals->mask[i] |= htonl(~0ull << (32 - bits));
	}
	refusals->mask4 |= htonl(~0ull << (32 - len4));
}

static void mask_lengthen_for(struct weir_refusals *refusals,
			      const struct weir_net_prefix *prefix)
{
	if (prefix->family == AF_INET)
		mask_lengthen(refusals, prefix->len, 0);
	else
		mask_lengthen(refusals, 0, prefix->len);
}

/**
 * weir_refusals_init - make the empty caches of a configuration
 * @config: complete with limits and exemptions
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int weir_refusals_init(struct weir_config *config)
{
	struct weir_refusals *refusals = &config->refusals;
	const struct weir_limit *limit;
	unsigned int i, n;

	for (i = 0; i < config->count; i++) {
		limit = config->limit[i];
		if (limit->match.conds & ~WEIR_IF_SENDER)
			break;
		mask_lengthen(refusals, limit->prefix.len4, limit->prefix.len6);
		for (n = 0; n < limit->match.from.count; n++)
			mask_lengthen_for(refusals, &limit->match.from.prefix[n]);
	}
	refusals->limits = i;
	for (i = 0; i < weir_exempts_count(config->exempts); i++)
		mask_lengthen_for(refusals, &weir_exempts_at(config->exempts,
							     i)->prefix);
	refusals->cache = alloc_percpu_gfp(struct weir_refusal_cache,
					   GFP_KERNEL_ACCOUNT);
	return refusals->cache ? 0 : -ENOMEM;
}

/* Count the pending refusals of an entry in the limit's new copy. */
static void entry_settle(struct weir_net *wn, const struct weir_refusal *entry,
			 const struct weir_config *next)
{
	struct weir_source source = entry_source(entry);
	struct weir_lookup lookup = {
		.source = &source,
		.hash = weir_source_hash(&source, entry->limit->prefix,
					 &wn->key),
	};
	unsigned int i;

	for (i = 0; i < next->count; i++)
		if (next->limit[i]->id == entry->limit->id)
			weir_table_dropped(next->limit[i]->table, &lookup,
					   entry->count, false);
}

/**
 * weir_refusals_settle - count all pending refusals of an old configuration
 * @wn: namespace
 * @config: old configuration, unreachable for a grace period
 * @next: the one that replaced it
 *
 * Context: process.
 */
void weir_refusals_settle(struct weir_net *wn, const struct weir_config *config,
			  const struct weir_config *next)
{
	const struct weir_refusal *entry;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < 1 << WEIR_REFUSALS_SHIFT; i++) {
			entry = &per_cpu_ptr(config->refusals.cache, cpu)->entry[i];
			if (entry->count)
				entry_settle(wn, entry, next);
		}
	}
}

/** weir_refusals_free - free the caches of an unreachable configuration */
void weir_refusals_free(struct weir_config *config)
{
	free_percpu(config->refusals.cache);
}
