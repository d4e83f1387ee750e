/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a CPU remembers of the sources that it met last. See the top of recent.c.
 */
#ifndef WEIR_RECENT_H
#define WEIR_RECENT_H

#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/smp.h>
#include <linux/types.h>

#include "source.h"
#include "table.h"

/* No packet has so many segments that two halves do not fit 32 bits. */
#define WEIR_RECENT_FULL BIT(31)

/**
 * struct weir_recent - what a CPU remembers of a source
 * @source: masked
 * @hash: of it
 * @number: that of its bucket's sequence, NULL if the entry was never used
 * @until: after refusals: tick before which the sum cannot fall, not beyond
 *	the slot of the last one; else 0
 * @sum: in the wheel
 * @seq: @number when this was so
 * @count: packets of the refusals that wait, flushed from WEIR_RECENT_FULL on
 * @epoch: of the table when they began to
 * @way_at: bytes from @number to its way
 */
struct weir_recent {
	struct weir_source source;
	u32 hash;
	const unsigned int *number;
	u64 until;
	u64 sum;
	u32 seq;
	u32 count;
	u32 epoch;
	u16 way_at;
} __aligned(64);

/**
 * struct weir_recents - what all CPUs remember of a table's sources
 * @entry: BIT(shift) entries of each CPU, touched by that CPU with BH off and
 *	read by others for display
 * @shift: log2 of the entries of a CPU
 * @epoch: grows when all sources are forgotten; refusals that wait and are of
 *	another one count no more
 * @until: tick from which no entry refuses; what it misses is refused elsewhere
 *
 * The front of a table: what a packet reads before it enters.
 */
struct weir_recents {
	struct weir_recent *entry;
	u8 shift;
	u32 epoch;
	u64 until;
};

/* Where a source is remembered; no more than a cache, so any hash will do. */
static __always_inline struct weir_recent *
weir_recent_entry(const struct weir_recents *recents, unsigned int cpu,
		  const struct weir_source *source)
{
	u32 mix = (__force u32)(source->word[0] ^ source->word[1] ^
				source->word[3]) ^ source->zone;

	return recents->entry + ((size_t)cpu << recents->shift) +
	       hash_32(mix, recents->shift);
}

/**
 * weir_table_refuses - may weir_table_recall() refuse somebody?
 * @table: table
 * @tick: now
 */
static __always_inline bool weir_table_refuses(struct weir_table *table,
					       u64 tick)
{
	const struct weir_recents *recents = (void *)table;

	/* Pairs with weir_recent_refuse(). A hint: a torn one is no harm. */
	return tick < READ_ONCE(recents->until);
}

/**
 * weir_table_recall - what this CPU remembers of a source
 * @table: table
 * @source: masked source
 * @cost: of the packet, in the table's unit
 * @budget: of the limit
 * @visit: with the tick and the packets; filled for weir_table_refuse() and
 *	weir_table_charge()
 *
 * Context: BH off, RCU read lock. Writes nothing that CPUs share.
 * Return: WEIR_REFUSED; or WEIR_KNOWN, perhaps with WEIR_ROOMY, and the hash is
 * filled in; or 0. weir_table_refuse() tells more where it was not WEIR_ROOMY,
 * and weir_table_charge() all.
 */
static __always_inline unsigned int
weir_table_recall(struct weir_table *table, const struct weir_source *source,
		  u64 cost, u64 budget, struct weir_visit *visit)
{
	const struct weir_recents *recents = (void *)table;
	struct weir_recent *recent;
	bool roomy;

	recent = weir_recent_entry(recents, smp_processor_id(), source);
	if (!weir_source_same(&recent->source, source) || !recent->number) {
		visit->recalled = false;
		visit->recent = recent;
		visit->table = NULL;
		return 0;
	}
	roomy = recent->sum + cost <= budget;
	/* Nobody has written since: what was refused is refused. */
	if (!roomy && visit->tick < recent->until &&
	    READ_ONCE(*recent->number) == recent->seq &&
	    recent->epoch == READ_ONCE(recents->epoch) &&
	    likely(recent->count < WEIR_RECENT_FULL)) {
		WRITE_ONCE(recent->count, recent->count + visit->packets);
		return WEIR_REFUSED;
	}
	visit->recalled = true;
	visit->recent = recent;
	visit->table = table;
	visit->number = recent->number;
	visit->way = (void *)recent->number + recent->way_at;
	visit->hash = recent->hash;
	visit->seq = recent->seq;
	return roomy ? WEIR_KNOWN | WEIR_ROOMY : WEIR_KNOWN;
}

#endif /* WEIR_RECENT_H */
