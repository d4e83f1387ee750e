// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals that were made without a lock wait here, on the CPU that made them,
 * until their slot is over or another source wants their place: so a flood
 * from one source writes nothing that CPUs share.
 */
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "bucket.h"

/* Add refusals to a source's way; those of a source that lost it are gone. */
static void drops_flush(struct weir_table *table, struct weir_drops *drops)
{
	struct weir_bucket *bucket = weir_bucket(table, drops->hash & table->mask);
	struct weir_wheel *wheel;
	struct weir_way *way;

	spin_lock(&bucket->lock);
	way = weir_bucket_find(table, bucket, &drops->source,
			       weir_hash_tag(drops->hash));
	if (way) {
		write_seqcount_begin(&bucket->seq);
		wheel = weir_way_wheel(table, way);
		way->dropped += drops->count;
		if ((s16)(drops->slot - wheel->refused) > 0)
			wheel->refused = drops->slot;
		write_seqcount_end(&bucket->seq);
	}
	spin_unlock(&bucket->lock);
}

/* Where a source's refusals wait; no more than a cache, so any hash will do. */
static struct weir_drops *drops_entry(struct weir_drops_cache *cache,
				      const struct weir_source *source)
{
	u32 mix = (__force u32)(source->word[0] ^ source->word[1] ^
				source->word[3]) ^ source->zone;

	return &cache->entry[hash_32(mix, WEIR_DROPS_BITS)];
}

/**
 * weir_drops_note - one more refusal of a source, on this CPU
 * @table: table
 * @source: masked source that has a way
 * @hash: its hash
 * @slot: the current slot
 *
 * Context: BH off, no bucket locked.
 */
void weir_drops_note(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u16 slot)
{
	struct weir_drops *drops;

	drops = drops_entry(this_cpu_ptr(table->drops), source);
	if (drops->count && drops->slot == slot && drops->hash == hash &&
	    !memcmp(&drops->source, source, sizeof(*source))) {
		WRITE_ONCE(drops->count, drops->count + 1);
		return;
	}
	if (drops->count)
		drops_flush(table, drops);
	drops->source = *source;
	drops->hash = hash;
	drops->slot = slot;
	WRITE_ONCE(drops->count, 1);
}

/**
 * weir_drops_pending - refusals of a source that its way does not know of yet
 * @table: table
 * @source: masked source
 *
 * Entries change while they are read; at rest the answer is exact.
 */
u64 weir_drops_pending(const struct weir_table *table,
		       const struct weir_source *source)
{
	const struct weir_drops *drops;
	u64 pending = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		drops = drops_entry(per_cpu_ptr(table->drops, cpu), source);
		/* An entry that changes hands is counted or not. */
		if (data_race(!memcmp(&drops->source, source, sizeof(*source))))
			pending += READ_ONCE(drops->count);
	}
	return pending;
}
