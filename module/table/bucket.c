// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inside one bucket: find a way, take one, evict, raise the floor. The rules are
 * at the top of alloc.c.
 */
#include <linux/bitops.h>

#include "table/bucket.h"
#include "table/counts.h"
#include "table/state.h"

#define BYTES(x) ((x) * 0x0101010101010101ull)

/*
 * Compare eight tags: the highest bit of each byte that equals @wanted is set. No
 * carry leaves a byte, so the tags beyond the last way, which are 0, never match.
 */
static inline u64 tags_equal(const u8 *tag, u8 wanted)
{
	u64 low = BYTES(0x7f);
	/* Pairs with tag_store(). */
	u64 x = le64_to_cpu((__force __le64)READ_ONCE(*(const u64 *)tag)) ^
		BYTES(wanted);

	return ~(((x & low) + low) | x | low);
}

struct weir_way *weir_bucket_search(const struct weir_table *table, struct weir_bucket *bucket,
				    const struct weir_source *source, u32 hash)
{
	unsigned int home = weir_hash_home(table, hash), base;
	u8 tag = weir_hash_tag(hash);
	struct weir_way *way;
	u64 equal;

	/* A fifth of the sources that are not at home are beside it. */
	way = weir_bucket_way(table, bucket, home ^ 1);
	/* A hint if the bucket is not locked. */
	if (data_race(weir_way_is(table, way, source)))
		return way;
	for (base = 0; base < table->ways; base += 8)
		for (equal = tags_equal(bucket->tag + base, tag); equal;
		     equal &= equal - 1) {
			way = weir_bucket_way(table, bucket,
					      base + __ffs64(equal) / 8);
			/* A hint, as above. */
			if (data_race(weir_way_is(table, way, source)))
				return way;
		}
	return NULL;
}

/* The masked source of a locked way; its scope is invalid if the way is free. */
void weir_way_source(const struct weir_table *table, const struct weir_way *way,
		     struct weir_source *source)
{
	const bool whole = table->words > 2;

	*source = (struct weir_source) {
		.word = { way->word[0], way->word[1], whole ? way->word[2] : 0,
			  whole ? way->word[3] : 0 },
		.scope = way->scope & ~WEIR_STATE_FLAGS,
	};
}

/* Under the bucket's lock. */
static void tag_store(struct weir_bucket *bucket, unsigned int i, u8 tag)
{
	/* Pairs with searches without the lock. */
	WRITE_ONCE(bucket->tag[i], tag);
	/* Pairs with find(): a CPU that reads this version sees the tag. */
	smp_store_release(&bucket->version, bucket->version + 1);
}

/* Under both locks, inside a write section of the seqcount. */
static inline void way_give(const struct weir_table *table, struct weir_bucket *bucket,
			    unsigned int i, const struct weir_source *source, u32 hash)
{
	struct weir_way *way = weir_bucket_way(table, bucket, i);

	way->scope = source->scope;
	way->word[0] = source->word[0];
	way->word[1] = source->word[1];
	if (table->words > 2) {
		way->word[2] = source->word[2];
		way->word[3] = source->word[3];
	}
	bucket->used += !bucket->tag[i];
	tag_store(bucket, i, weir_hash_tag(hash));
}

/* Under both locks. */
void weir_way_free(const struct weir_table *table, struct weir_bucket *bucket, unsigned int i)
{
	struct weir_way *way = weir_bucket_way(table, bucket, i);

	lockdep_assert_held(&bucket->lock);
	weir_way_write_begin(way);
	if (unlikely(bucket->blocked & BIT_ULL(i)))
		weir_state_set(table, bucket, i, (struct weir_state) { });
	way->scope = WEIR_SCOPE_INVALID;
	write_seqcount_end(&way->seq);
	bucket->used -= !!bucket->tag[i];
	tag_store(bucket, i, 0);
	bucket->seen &= ~BIT_ULL(i);
}

/* A free way, preferably the home or its neighbour, or -1. */
static inline int free_way(const struct weir_table *table, const struct weir_bucket *bucket,
			   u32 hash)
{
	unsigned int home = weir_hash_home(table, hash), base;
	u64 free;

	if (bucket->used == table->ways)
		return -1;
	if (!bucket->tag[home])
		return home;
	if (!bucket->tag[home ^ 1])
		return home ^ 1;
	for (base = 0; !(free = tags_equal(bucket->tag + base, 0)); )
		base += 8;
	return base + __ffs64(free) / 8;
}

static u64 way_weight(const struct weir_table *table, struct weir_bucket *bucket, unsigned int i,
		      const struct weir_lookup *lookup)
{
	struct weir_way *way = weir_bucket_way(table, bucket, i);

	/* It may be charged meanwhile: a hint, and so is the choice of a victim. */
	return data_race(counts_weight(table, weir_way_wheel(table, way), lookup));
}

/* A search for the way to evict. */
struct search {
	const struct weir_lookup *lookup;
	unsigned int first;	/* behind the way that was evicted last */
	unsigned int looks;	/* that are left */
	u64 least;		/* sum of the way that the hand points at, or WEIR_STAYS */
	u64 seen;		/* ways that were live when they were looked at */
};

/* Look at ways until one has a sum of at most @enough, or all are seen. */
static void pick(const struct weir_table *table, struct weir_bucket *bucket,
		 struct search *search, u64 ways, u64 enough)
{
	u64 left = ror64(ways, search->first), sum;
	unsigned int i;

	for (; left && search->looks && search->least > enough; left &= left - 1) {
		i = (__ffs64(left) + search->first) % 64;
		sum = way_weight(table, bucket, i, search->lookup);
		if (table->stays ? sum == WEIR_STAYS : sum != 0)
			search->seen |= BIT_ULL(i);
		search->looks -= sum != WEIR_STAYS;
		if (sum < search->least) {
			search->least = sum;
			bucket->hand = i;
		}
	}
}

static noinline u64 victim_search(const struct weir_table *table, struct weir_bucket *bucket,
				  const struct weir_lookup *lookup, bool late)
{
	const struct weir_states *states = weir_bucket_states(table, bucket);
	const u64 may = GENMASK_ULL(table->ways - 1, 0) & ~bucket->blocked, seen = bucket->seen;
	u64 unknown = may, came_late = 0, known = 0, enough;
	struct search search = {
		.lookup = lookup, .first = bucket->hand + 1, .least = WEIR_STAYS, .seen = seen,
		.looks = min_t(unsigned int, bucket->looks + WEIR_LOOKS, table->ways),
	};

	if (table->states_off) {
		unknown = may & states->newcomers;
		came_late = may & states->late & ~unknown;
		known = may & ~(unknown | came_late);
	}
	pick(table, bucket, &search, unknown & ~seen, 0);
	pick(table, bucket, &search, came_late & ~seen, 0);
	if (late && known != may && !(table->stays && search.least == WEIR_STAYS))
		known = 0;
	pick(table, bucket, &search, known & ~seen, 0);
	if (!table->stays) {
		enough = counts_weight(table, weir_bucket_floor(table, bucket), lookup) %
			 WEIR_STAYS;
		pick(table, bucket, &search, unknown & seen, enough);
		pick(table, bucket, &search, came_late & seen, enough);
		pick(table, bucket, &search, known & seen, enough);
	}
	bucket->seen = search.seen;
	bucket->looks = search.looks;
	return search.least;
}

/*
 * Point the hand at the way to evict if none is free: behind the last that was evicted the first
 * idle one, or else the one with the smallest sum; of the unknown before those who became known
 * late, and of these before others, which a newcomer that is @late itself takes only if there are
 * none but them, or in a total none of the others may go, lest addresses that repeat push them
 * out. Ways that were live are not looked at again for a quarter of the window; when all were, one
 * whose sum is not above the floor's will do. What a search leaves of its WEIR_LOOKS later ones may
 * use, up to all ways. Returns the sum, or WEIR_STAYS if no way was found that may be evicted.
 */
static u64 victim(const struct weir_table *table, struct weir_bucket *bucket,
		  const struct weir_lookup *lookup, bool late)
{
	const u32 quarter = weir_shape_window(&table->count[0].shape) / 4;
	unsigned int i = bucket->hand + 1 < table->ways ? bucket->hand + 1 : 0;
	u64 enough = 0, live;

	if (bucket->seen_end - lookup->slot[0] > quarter && !table->stays) {
		bucket->seen_end = lookup->slot[0] + quarter;
		bucket->seen = U64_MAX << table->ways;
	}
	if (!~(bucket->seen | bucket->blocked))
		enough = counts_weight(table, weir_bucket_floor(table, bucket), lookup) %
			 WEIR_STAYS;
	/* As a rule the first look will do. */
	if (unlikely(table->states_off || table->stays || bucket->blocked & BIT_ULL(i)))
		return victim_search(table, bucket, lookup, late);
	live = way_weight(table, bucket, i, lookup);
	if (live > enough)
		return victim_search(table, bucket, lookup, late);
	bucket->hand = i;
	if (bucket->looks < WEIR_WAYS_MAX)
		bucket->looks += WEIR_LOOKS - 1;
	return live;
}

/*
 * Give a source a way, starting from the floor as it was before an eviction, and charge it.
 * Returns WEIR_CHARGED, perhaps with WEIR_EVICTED, or if all stay WEIR_REFUSED | WEIR_FLOORED.
 */
static inline u16 bucket_take(const struct weir_table *table, struct weir_bucket *bucket,
			      struct weir_lookup *lookup, const struct weir_permit *permit)
{
	int i = free_way(table, bucket, lookup->hash);
	struct weir_wheel *floor = weir_bucket_floor(table, bucket), *wheel;
	struct weir_way *way;
	bool free = i >= 0;
	u64 live = 0;

	if (!free) {
		live = victim(table, bucket, lookup, permit && permit->late);
		if (unlikely(live == WEIR_STAYS))
			return WEIR_REFUSED | WEIR_FLOORED;
		i = bucket->hand;
	}
	way = weir_bucket_way(table, bucket, i);
	raw_spin_lock(&way->lock);
	wheel = weir_way_wheel(table, way);
	/* Who was live is so, or has become idle; others may have been charged meanwhile. */
	if (!free && (!live || table->stays)) {
		live = counts_weight(table, wheel, lookup);
		if (unlikely(live == WEIR_STAYS)) {
			raw_spin_unlock(&way->lock);
			return WEIR_REFUSED | WEIR_FLOORED;
		}
	}
	weir_way_write_begin(way);
	if (!live)
		counts_copy(table, floor, wheel, free);
	else
		weir_counts_start(table, floor, wheel);
	way_give(table, bucket, i, lookup->source, lookup->hash);
	if (unlikely(permit))
		weir_state_set(table, bucket, i, (struct weir_state) {
			.newcomer = true, .since = weir_since(lookup->tick),
		});
	atomic_set(&way->dropped, 0);
	/* The floor had room, and so has its copy. */
	counts_add(table, wheel, lookup);
	write_seqcount_end(&way->seq);
	lookup->way = way;
	raw_spin_unlock(&way->lock);
	return live ? WEIR_CHARGED | WEIR_EVICTED : WEIR_CHARGED;
}

/* Under the way's lock. Returns WEIR_CHARGED, or WEIR_REFUSED and perhaps WEIR_FIRST. */
u16 weir_way_charge(const struct weir_table *table, struct weir_way *way,
		    struct weir_lookup *lookup)
{
	struct weir_wheel *wheel = weir_way_wheel(table, way);
	u16 result;

	lockdep_assert_held(&way->lock);
	/* A refusal leaves the seqcount alone. */
	result = counts_full(table, wheel, lookup);
	if (result) {
		lookup->seq = raw_read_seqcount(&way->seq);
		kcsan_atomic_next(0);
		return weir_counts_mark(table, wheel, lookup, result) ? result :
		       result | WEIR_FIRST;
	}
	weir_way_write_begin(way);
	counts_add(table, wheel, lookup);
	write_seqcount_end(&way->seq);
	return WEIR_CHARGED;
}

/*
 * What a window counted ends, also in floors of counts that never end. Until then these refuse
 * strangers, since what starts from them would keep it for ever. Returns those counts, BIT(index).
 * Under the bucket's lock.
 */
u8 weir_floor_ends(const struct weir_table *table, struct weir_bucket *bucket, u64 tick)
{
	u8 empty = bucket->floor.ends & ~bucket->floor.stays;
	const struct weir_count *count = table->count;
	struct weir_wheel *floor;
	unsigned int i;

	/* Pairs with floors_end(). */
	if (!bucket->floor.ends || weir_block_left(READ_ONCE(table->floor_end), tick))
		return bucket->floor.ends;
	for (i = 0; i <= table->more; i++, count++) {
		floor = weir_wheel_of(count, weir_bucket_floor(table, bucket));
		if (empty & BIT(i))
			weir_count_init(&count->shape, floor, floor->at);
	}
	bucket->floor.ends = 0;
	return 0;
}

/* Charge the source if it has a way, under the bucket's lock. Returns 0 if it has none. */
static noinline u16 bucket_charge(const struct weir_table *table, struct weir_bucket *bucket,
				  struct weir_lookup *lookup, const struct weir_permit *permit)
{
	struct weir_way *way = weir_bucket_search(table, bucket, lookup->source, lookup->hash);
	u16 result;

	if (!way)
		return 0;
	raw_spin_lock(&way->lock);
	lookup->way = way;
	lookup->seq = way->seq.sequence;
	result = way->scope & WEIR_STATE_BLOCKED ? WEIR_REFUSED | WEIR_BLOCKED :
		 weir_way_charge(table, way, lookup);
	if (permit && result & WEIR_CHARGED)
		result |= weir_state_admitted(table, bucket, way, lookup->tick, permit);
	raw_spin_unlock(&way->lock);
	return result;
}

/* End what has ended. While a floor still has to, only a source with a way is charged; else 0. */
static noinline u16 bucket_expire(const struct weir_table *table, struct weir_bucket *bucket,
				  struct weir_lookup *lookup, const struct weir_permit *permit)
{
	u8 ends;

	weir_state_expire(table, bucket, lookup->tick);
	ends = weir_floor_ends(table, bucket, lookup->tick);
	if (!ends)
		return 0;
	lookup->way = NULL;
	return bucket_charge(table, bucket, lookup, permit) ?:
	       WEIR_REFUSED | WEIR_FLOORED | (table->more ? WEIR_BY_BUDGET : 0) |
	       (ffs(ends) - 1) << WEIR_BUDGET_SHIFT;
}

/*
 * As weir_table_charge(), for a source of which a search found no way, or that needs the permit.
 * @again: search again, whatever lookup->version is.
 */
u16 __flatten weir_bucket_admit(struct weir_table *table, struct weir_lookup *lookup, bool again,
				const struct weir_permit *permit)
{
	struct weir_bucket *bucket = weir_bucket(table, lookup->hash);
	struct weir_wheel *floor = weir_bucket_floor(table, bucket);
	u16 result;

	raw_spin_lock(&bucket->lock);
	if (unlikely(bucket->moved)) {
		result = WEIR_AGAIN;
		goto out;
	}
	if (unlikely(bucket->blocked | bucket->floor.ends)) {
		result = bucket_expire(table, bucket, lookup, permit);
		if (result)
			goto out;
	}
	if (unlikely(again || bucket->version != lookup->version)) {
		result = bucket_charge(table, bucket, lookup, permit);
		if (result)
			goto out;
	}
	if (table->more)
		weir_counts_advance(table, floor, lookup->tick);
	else if (floor->at != lookup->slot[0])
		weir_count_advance(&table->count->shape, floor, lookup->slot[0]);
	lookup->way = NULL;
	result = counts_full(table, floor, lookup);
	result = result ? result | WEIR_FLOORED :
		 bucket_take(table, bucket, lookup, permit);
out:
	raw_spin_unlock(&bucket->lock);
	return result;
}

/*
 * Give a source that has none a way in a locked bucket, charged nothing, unless none can be had
 * or a floor has to end first. Returns as bucket_take().
 */
u16 weir_bucket_enter(const struct weir_table *table, struct weir_bucket *bucket,
		      struct weir_lookup *lookup, const struct weir_permit *permit)
{
	struct weir_wheel *floor = weir_bucket_floor(table, bucket);
	struct weir_lookup nothing = *lookup;
	u16 result;

	lockdep_assert_held(&bucket->lock);
	if (bucket->moved || weir_floor_ends(table, bucket, lookup->tick))
		return WEIR_REFUSED | WEIR_FLOORED;
	memset(nothing.amount, 0, sizeof(nothing.amount));
	weir_counts_advance(table, floor, lookup->tick);
	/* What costs nothing fits: this fills in its slots. */
	counts_full(table, floor, &nothing);
	result = bucket_take(table, bucket, &nothing, table->states_off ? permit : NULL);
	lookup->way = nothing.way;
	return result;
}

/*
 * The way that a source gets in a locked bucket where it has none: a free one, or that of a source
 * that weighs less, or if it is to be blocked of any that may go; or NULL. It may look at all
 * ways, so that those who lose theirs leave the floor low. @late as of a permit.
 */
struct weir_way *weir_bucket_room(const struct weir_table *table, struct weir_bucket *bucket,
				  const struct weir_moved *moved, bool late, u64 tick)
{
	const struct weir_lookup now = { .tick = tick, .slot[0] = weir_table_slot(table, tick) };
	bool block = moved->state.until && weir_bucket_blocks(table, bucket);
	int i = free_way(table, bucket, moved->hash);

	if (i < 0 && (block || moved->weight)) {
		bucket->looks = table->ways;
		if (victim(table, bucket, &now, late) < (block ? WEIR_STAYS : moved->weight))
			i = bucket->hand;
	}
	return i < 0 ? NULL : weir_bucket_way(table, bucket, i);
}

/*
 * Give it to the source, under both locks, inside a write section of the seqcount in which
 * the caller fills the wheels. Sets @moved->state.until to 0 if the source is blocked here. Returns
 * whether a live source was evicted, which is within the floor now.
 */
bool weir_bucket_place(const struct weir_table *table, struct weir_bucket *bucket,
		       struct weir_moved *moved, struct weir_way *way, u64 tick)
{
	struct weir_wheel *floor = weir_bucket_floor(table, bucket);
	unsigned int i = weir_bucket_index(table, bucket, way);
	struct weir_state state = moved->state;
	u64 live = 0;

	if (bucket->tag[i]) {
		live = weir_counts_weight(table, weir_way_wheel(table, way), tick);
		/* It was charged after it was chosen. */
		if (live == WEIR_STAYS)
			bucket->floor.stays = U8_MAX;
		weir_counts_start(table, floor, weir_way_wheel(table, way));
	}
	way_give(table, bucket, i, &moved->source, moved->hash);
	if (weir_bucket_blocks(table, bucket))
		moved->state.until = 0;
	else
		state.until = 0;
	weir_state_set(table, bucket, i, state);
	atomic_set(&way->dropped, moved->dropped);
	return live;
}
