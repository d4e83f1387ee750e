// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens inside one bucket: finding a way, giving it to another source,
 * charging it. See the top of table.c for the rules.
 */
#include "bucket.h"
#include "wheel_join.h"

/**
 * weir_way_source - the source that holds a way
 * @table: table
 * @way: way with a tag
 * @source: filled, masked
 */
void weir_way_source(const struct weir_table *table,
		     const struct weir_way *way, struct weir_source *source)
{
	unsigned int i;

	*source = (struct weir_source) { };
	for (i = 0; i < table->words; i++)
		source->word[i] = way->word[i];
	source->zone = (__force u32)way->word[i];
}

static void way_give(const struct weir_table *table, struct weir_way *way,
		     const struct weir_source *source)
{
	unsigned int i;

	way->dropped = 0;
	for (i = 0; i < table->words; i++)
		way->word[i] = source->word[i];
	way->word[i] = (__force __be32)source->zone;
}

/* Let nobody find himself in a way that is free. */
static void way_free(const struct weir_table *table, struct weir_way *way)
{
	way->word[table->words] = (__force __be32)WEIR_ZONE_NOBODY;
}

/**
 * weir_bucket_wipe - free all ways of a bucket
 * @table: table
 * @bucket: locked bucket, its sequence count odd, or one that nobody knows
 */
void weir_bucket_wipe(const struct weir_table *table,
		      struct weir_bucket *bucket)
{
	unsigned int i;

	for (i = 0; i < table->ways; i++)
		way_free(table, weir_bucket_way(table, bucket, i));
	memset(bucket->tag, WEIR_TAG_FRESH, table->ways);
	/* Where no way is, none is fresh. */
	memset(bucket->tag + table->ways, WEIR_TAG_FREED,
	       sizeof(bucket->tag) - table->ways);
	bucket->full = false;
}

/**
 * weir_bucket_search - the way of a source, wherever in the bucket it is
 * @table: table
 * @bucket: bucket of the source
 * @source: masked source
 * @tag: of its hash, not 0
 *
 * Context: as weir_bucket_find().
 * Return: the way or NULL.
 */
struct weir_way *weir_bucket_search(const struct weir_table *table,
				    struct weir_bucket *bucket,
				    const struct weir_source *source, u8 tag)
{
	unsigned int base = weir_bucket_home(table, tag) & ~7u, seen, i;
	u64 pattern = tag * 0x0101010101010101ull, equal;
	struct weir_way *way;

	for (seen = 0; seen < table->ways; seen += 8) {
		equal = weir_tags_equal(bucket->tag + base, pattern);
		for (; equal; equal &= equal - 1) {
			i = base + __ffs64(equal) / 8;
			if (i >= table->ways)
				break;
			way = weir_bucket_way(table, bucket, i);
			if (likely(weir_way_is(table, way, source)))
				return way;
		}
		if (weir_tags_equal(bucket->tag + base, WEIR_TAG_FRESH))
			break;
		base += 8;
		if (base >= table->ways)
			base = 0;
	}
	return NULL;
}

/* Free the ways that hold nothing. */
static void bucket_sweep(const struct weir_table *table,
			 struct weir_bucket *bucket)
{
	unsigned int i, live = 0;
	struct weir_way *way;

	weir_wheel_turn(table->shape, weir_bucket_floor(bucket), bucket->slot);
	for (i = 0; i < table->ways; i++) {
		way = weir_bucket_way(table, bucket, i);
		if (weir_tag_free(bucket->tag[i]))
			continue;
		if (weir_wheel_idle(table->shape, weir_way_wheel(table, way),
				    bucket->slot)) {
			bucket->tag[i] = WEIR_TAG_FREED;
			way_free(table, way);
		} else {
			live++;
		}
	}
	bucket->full = false;
	if (!live)
		weir_bucket_wipe(table, bucket);
}

/**
 * weir_bucket_turn - bring a bucket to a slot
 * @table: table
 * @bucket: locked bucket, its sequence count odd
 * @slot: the current slot; an earlier one than the bucket's changes nothing
 *
 * Wheels are turned when they are used. What is done here keeps their short
 * times unambiguous: after WEIR_SWEEP_SLOTS or more, ways that hold nothing
 * are freed.
 */
void weir_bucket_turn(const struct weir_table *table,
		      struct weir_bucket *bucket, u64 slot)
{
	u64 was = bucket->slot;

	if (slot <= was)
		return;
	bucket->slot = slot;
	bucket->least = 0;
	if (slot >= was + WEIR_SWEEP_SLOTS) {
		weir_wheel_reset(table->shape, weir_bucket_floor(bucket), slot);
		weir_bucket_wipe(table, bucket);
	} else if ((slot ^ was) >> WEIR_SWEEP_SHIFT) {
		bucket_sweep(table, bucket);
	}
}

/*
 * A free way where the search for a tag comes first, or -1. One that was freed
 * will do, for nothing fresh is in front of it.
 */
static int bucket_free_way(const struct weir_table *table,
			   struct weir_bucket *bucket, u8 tag)
{
	unsigned int home = weir_bucket_home(table, tag);
	unsigned int base = home & ~7u, seen, i;
	u64 free;

	if (bucket->full)
		return -1;
	if (weir_tag_free(bucket->tag[home]))
		return home;
	for (seen = 0; seen < table->ways; seen += 8) {
		free = weir_tags_equal(bucket->tag + base, WEIR_TAG_FRESH) |
		       weir_tags_equal(bucket->tag + base,
				       WEIR_TAG_FREED * 0x0101010101010101ull);
		if (free) {
			i = base + __ffs64(free) / 8;
			if (i < table->ways)
				return i;
		}
		base += 8;
		if (base >= table->ways)
			base = 0;
	}
	bucket->full = true;
	return -1;
}

/*
 * The way of the smallest sum, 0 if any is idle. Where many have it, as when
 * each source of a flood sends one packet, the hand finds the next at once.
 */
static unsigned int way_smallest(const struct weir_table *table,
				 struct weir_bucket *bucket)
{
	unsigned int i = bucket->hand, smallest = i, left;
	struct weir_wheel *wheel;
	u64 sum, least = U64_MAX;

	for (left = table->ways; left; left--) {
		wheel = weir_way_wheel(table, weir_bucket_way(table, bucket, i));
		weir_wheel_turn(table->shape, wheel, bucket->slot);
		sum = weir_wheel_sum(table->shape, wheel);
		if (sum < least) {
			least = sum;
			smallest = i;
			if (sum <= bucket->least)
				break;
		}
		if (++i == table->ways)
			i = 0;
	}
	bucket->least = least;
	bucket->hand = smallest + 1 == table->ways ? 0 : smallest + 1;
	return smallest;
}

/**
 * weir_bucket_take - give a source a way
 * @table: table
 * @bucket: locked and turned bucket, its sequence count odd
 * @source: masked source that has no way here
 * @tag: of its hash, not 0
 * @evicted: set if a live source lost its way
 *
 * The wheel starts as the floor was before anybody was evicted, or empty in a
 * lenient table, and is turned. The caller counts in it, and says what it then
 * holds by weir_bucket_least().
 */
struct weir_way *weir_bucket_take(const struct weir_table *table,
				  struct weir_bucket *bucket,
				  const struct weir_source *source, u8 tag,
				  bool *evicted)
{
	struct weir_wheel *floor = weir_bucket_floor(bucket), *wheel;
	int i = bucket_free_way(table, bucket, tag);
	bool taken = i < 0, live;
	struct weir_way *way;

	if (taken)
		i = way_smallest(table, bucket);
	way = weir_bucket_way(table, bucket, i);
	wheel = weir_way_wheel(table, way);
	live = taken && weir_wheel_sum(table->shape, wheel);
	if (table->spec.lenient) {
		weir_wheel_reset(table->shape, wheel, bucket->slot);
	} else {
		weir_wheel_turn(table->shape, floor, bucket->slot);
		if (live)
			weir_wheel_trade(table->shape, floor, wheel);
		else
			weir_wheel_copy(table->shape, wheel, floor);
	}
	way_give(table, way, source);
	bucket->tag[i] = tag;
	*evicted = live;
	return way;
}

/**
 * weir_bucket_admit - take room for a source that has no way, or refuse it
 * @table: table
 * @bucket: locked and turned bucket, its sequence count odd
 * @source: masked source
 * @cost: in the table's unit
 * @budget: of the limit, no more than the counts hold
 * @visit: with the source's hash; the way that it gets is filled in
 *
 * Return: as weir_table_charge().
 */
unsigned int weir_bucket_admit(const struct weir_table *table,
			       struct weir_bucket *bucket,
			       const struct weir_source *source,
			       u64 cost, u64 budget, struct weir_visit *visit)
{
	struct weir_wheel *floor = weir_bucket_floor(bucket), *wheel;
	bool evicted = false;

	lockdep_assert_held(&bucket->lock);
	if (table->spec.lenient) {
		/* What never fits takes no way either. */
		if (cost > budget)
			return WEIR_REFUSED;
	} else {
		weir_wheel_turn(table->shape, floor, bucket->slot);
		if (cost > weir_wheel_room(table->shape, floor, budget)) {
			weir_wheel_refuse(table->shape, floor);
			return WEIR_REFUSED | WEIR_FLOORED;
		}
	}
	visit->way = weir_bucket_take(table, bucket, source,
				      weir_hash_tag(visit->hash), &evicted);
	wheel = weir_way_wheel(table, visit->way);
	weir_wheel_charge(table->shape, wheel, cost, budget);
	visit->sum = weir_wheel_sum(table->shape, wheel);
	weir_bucket_least(bucket, visit->sum);
	return evicted ? WEIR_EVICTED : 0;
}

/**
 * weir_bucket_add - count what was admitted elsewhere
 * @table: table
 * @bucket: locked bucket, its sequence count odd
 * @source: masked source
 * @hash: its hash
 * @slot: the current slot
 * @cost: what was admitted
 */
void weir_bucket_add(const struct weir_table *table,
		     struct weir_bucket *bucket,
		     const struct weir_source *source, u32 hash, u64 slot,
		     u64 cost)
{
	struct weir_wheel *wheel;
	struct weir_way *way;
	bool evicted;

	lockdep_assert_held(&bucket->lock);
	weir_bucket_turn(table, bucket, slot);
	way = weir_bucket_find(table, bucket, source, weir_hash_tag(hash));
	if (!way)
		way = weir_bucket_take(table, bucket, source,
				       weir_hash_tag(hash), &evicted);
	wheel = weir_way_wheel(table, way);
	weir_wheel_turn(table->shape, wheel, bucket->slot);
	weir_wheel_add(table->shape, wheel, cost);
	weir_bucket_least(bucket, weir_wheel_sum(table->shape, wheel));
}
