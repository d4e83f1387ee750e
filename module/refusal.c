// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cache of refusals, and of nothing else: no packet that is admitted writes
 * it, and an entry is no more than an answer that was given a moment ago. It
 * holds as long as the version of the source's way stands, for the rest of the
 * slot, and for a second at most, in which no version comes round and a device
 * that changes its name is forgotten.
 *
 * An entry stands for all packets of its source that come by the same device
 * and cost as much. So it is written only where the limit that refused was the
 * first that the packet met, and where that limit and those in front of it look
 * at nothing but source and device; and its source is masked to the longest
 * prefix that any of them, or an exemption, tells apart. Caches belong to a
 * configuration and go with it.
 *
 * Packets refused by an entry wait in it until its source is seen in another
 * slot, or another source takes the entry, which is when it has expired; readers
 * add what waits. They are added to the way without its lock: what meets an
 * eviction in that moment is counted for the source that has the way then.
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
	/* One that has the way by now may be counted for. */
	if (data_race(weir_way_is(entry->limit->table, entry->way, &source)))
		weir_way_dropped(entry->way, entry->count, false);
	WRITE_ONCE(entry->count, 0);
	/* Another source comes after this; pairs with weir_refusals_pending(). */
	smp_wmb();
}

/**
 * weir_refusal_store - remember a refusal, and count it
 * @refusals: of the configuration
 * @entry: where it is kept, of which nothing is needed any more
 * @key: source, masked
 * @ifindex: of the device that it came by
 * @limit: that refused it
 * @lookup: the one that did, of a single packet
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
 * weir_refusals_pending - add what waits in the caches to how sources stand
 * @refusals: of the configuration
 * @limit: of it
 * @state: sources of the limit
 * @count: of them
 *
 * Entries change while they are read: an answer is exact at rest.
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
			/* Pairs with weir_refusal_store(): the source came first. */
			waiting = smp_load_acquire(&entry->count);
			/* Its CPU may take it for another source meanwhile. */
			copy = data_race(*entry);
			if (!waiting || copy.limit != limit)
				continue;
			source = entry_source(&copy);
			/* The count may have been that of the source before. */
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
 * weir_refusals_init - empty caches for a configuration
 * @config: with its limits and exemptions
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int weir_refusals_init(struct weir_config *config)
{
	struct weir_refusals *refusals = &config->refusals;
	const struct weir_limit *limit;
	unsigned int i;

	for (i = 0; i < config->count; i++) {
		limit = config->limit[i];
		if (limit->match.conds & ~WEIR_IF_SENDER)
			break;
		mask_lengthen(refusals, limit->prefix.len4, limit->prefix.len6);
		if (limit->match.conds & WEIR_IF_FROM)
			mask_lengthen_for(refusals, &limit->match.from);
	}
	refusals->limits = i;
	for (i = 0; i < weir_exempts_count(config->exempts); i++)
		mask_lengthen_for(refusals, &weir_exempts_at(config->exempts,
							     i)->prefix);
	refusals->cache = alloc_percpu_gfp(struct weir_refusal_cache,
					   GFP_KERNEL_ACCOUNT);
	return refusals->cache ? 0 : -ENOMEM;
}

/* Count what waits where the limit goes on. */
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
 * weir_refusals_settle - count what waits in the caches of a configuration
 * @wn: namespace
 * @config: that no packet finds any more, with its limits
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

/**
 * weir_refusals_free - free the caches of a configuration
 * @config: that no packet finds any more
 */
void weir_refusals_free(struct weir_config *config)
{
	free_percpu(config->refusals.cache);
}
