// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inside one set: find an entry, take one, evict, raise the floor. The rules are
 * at the top of alloc.c.
 */
#include <linux/bitops.h>

#include "table/counts.h"
#include "table/floor.h"
#include "table/set.h"
#include "table/state.h"

#define BYTES(x) ((x) * 0x0101010101010101ull)

/*
 * Compare eight tags: the highest bit of each byte that equals @wanted is set. No
 * carry leaves a byte, so the tags beyond the last entry, which are 0, never match.
 */
static inline u64 tags_equal(const u8 *tag, u8 wanted)
{
	u64 low = BYTES(0x7f);
	/* Pairs with tag_store(). */
	u64 x = le64_to_cpu((__force __le64)READ_ONCE(*(const u64 *)tag)) ^
		BYTES(wanted);

	return ~(((x & low) + low) | x | low);
}

struct weir_entry *weir_set_search(const struct weir_table *table, struct weir_set *set,
				   const struct weir_source *source, u32 hash)
{
	unsigned int home = weir_hash_home(table, hash), base;
	u8 tag = weir_hash_tag(hash);
	struct weir_entry *entry;
	u64 equal;

	/* A fifth of the sources that are not at home are beside it. */
	entry = weir_set_entry(table, set, home ^ 1);
	/* A hint if the set is not locked. */
	if (data_race(weir_entry_is(table, entry, source)))
		return entry;
	for (base = 0; base < table->entries; base += 8)
		for (equal = tags_equal(set->tag + base, tag); equal;
		     equal &= equal - 1) {
			entry = weir_set_entry(table, set, base + __ffs64(equal) / 8);
			/* A hint, as above. */
			if (data_race(weir_entry_is(table, entry, source)))
				return entry;
		}
	return NULL;
}

/* The masked source of a locked entry; its scope is invalid if the entry is free. */
void weir_entry_source(const struct weir_table *table, const struct weir_entry *entry,
		       struct weir_source *source)
{
	const bool whole = table->words > 2;

	*source = (struct weir_source) {
		.word = { entry->word[0], entry->word[1], whole ? entry->word[2] : 0,
			  whole ? entry->word[3] : 0 },
		.scope = entry->scope & ~WEIR_STATE_FLAGS,
	};
}

/* Under the set's lock. */
static void tag_store(struct weir_set *set, unsigned int i, u8 tag)
{
	/* Pairs with searches without the lock. */
	WRITE_ONCE(set->tag[i], tag);
	/* Pairs with find(): a CPU that reads this version sees the tag. */
	smp_store_release(&set->version, set->version + 1);
}

/* Under both locks, inside a write section of the seqcount. */
static inline void entry_give(const struct weir_table *table, struct weir_set *set,
			      unsigned int i, const struct weir_source *source, u32 hash)
{
	struct weir_entry *entry = weir_set_entry(table, set, i);

	entry->scope = source->scope;
	entry->word[0] = source->word[0];
	entry->word[1] = source->word[1];
	if (table->words > 2) {
		entry->word[2] = source->word[2];
		entry->word[3] = source->word[3];
	}
	set->used += !set->tag[i];
	tag_store(set, i, weir_hash_tag(hash));
}

/* Under both locks. */
void weir_entry_free(const struct weir_table *table, struct weir_set *set, unsigned int i)
{
	struct weir_entry *entry = weir_set_entry(table, set, i);

	lockdep_assert_held(&set->lock);
	weir_entry_write_begin(entry);
	if (unlikely(set->blocked & BIT_ULL(i)))
		weir_state_set(table, set, i, (struct weir_state) { });
	entry->scope = WEIR_SCOPE_INVALID;
	write_seqcount_end(&entry->seq);
	set->used -= !!set->tag[i];
	tag_store(set, i, 0);
	set->seen &= ~BIT_ULL(i);
}

/* A free entry, preferably the home or its neighbour, or -1. */
static inline int free_entry(const struct weir_table *table, const struct weir_set *set, u32 hash)
{
	unsigned int home = weir_hash_home(table, hash), base;
	u64 free;

	if (set->used == table->entries)
		return -1;
	if (!set->tag[home])
		return home;
	if (!set->tag[home ^ 1])
		return home ^ 1;
	for (base = 0; !(free = tags_equal(set->tag + base, 0)); )
		base += 8;
	return base + __ffs64(free) / 8;
}

static u64 entry_weight(const struct weir_table *table, struct weir_set *set, unsigned int i,
			const struct weir_lookup *lookup)
{
	struct weir_entry *entry = weir_set_entry(table, set, i);

	/* It may be charged meanwhile: a hint, and so is the choice of a victim. */
	return data_race(counts_weight(table, weir_entry_count(table, entry), lookup));
}

/* A search for the entry to evict. */
struct search {
	const struct weir_lookup *lookup;
	unsigned int first;	/* behind the entry that was evicted last */
	unsigned int looks;	/* that are left */
	u64 least;		/* sum of the entry that the hand points at, or WEIR_STAYS */
	u64 seen;		/* entries that were live when they were looked at */
};

/* Look at entries until one has a sum of at most @enough, or all are seen. */
static void pick(const struct weir_table *table, struct weir_set *set,
		 struct search *search, u64 entries, u64 enough)
{
	u64 left = ror64(entries, search->first), sum;
	unsigned int i;

	for (; left && search->looks && search->least > enough; left &= left - 1) {
		i = (__ffs64(left) + search->first) % 64;
		sum = entry_weight(table, set, i, search->lookup);
		if (table->stays ? sum == WEIR_STAYS : sum != 0)
			search->seen |= BIT_ULL(i);
		search->looks -= sum != WEIR_STAYS;
		if (sum < search->least) {
			search->least = sum;
			set->hand = i;
		}
	}
}

static noinline u64 victim_search(const struct weir_table *table, struct weir_set *set,
				  const struct weir_lookup *lookup, bool late)
{
	const u64 may = GENMASK_ULL(table->entries - 1, 0) & ~set->blocked, seen = set->seen;
	struct weir_known who = weir_state_known(table, set, may);
	struct search search = {
		.lookup = lookup, .first = set->hand + 1, .least = WEIR_STAYS, .seen = seen,
		.looks = min_t(unsigned int, set->looks + WEIR_LOOKS, table->entries),
	};
	u64 enough;

	pick(table, set, &search, who.newcomers & ~seen, 0);
	pick(table, set, &search, who.late & ~seen, 0);
	if (late && who.others != may && !(table->stays && search.least == WEIR_STAYS))
		who.others = 0;
	pick(table, set, &search, who.others & ~seen, 0);
	if (!table->stays) {
		enough = counts_weight(table, weir_set_floor(table, set), lookup) %
			 WEIR_STAYS;
		pick(table, set, &search, who.newcomers & seen, enough);
		pick(table, set, &search, who.late & seen, enough);
		pick(table, set, &search, who.others & seen, enough);
	}
	set->seen = search.seen;
	set->looks = search.looks;
	return search.least;
}

/*
 * Point the hand at the entry to evict if none is free: behind the last that was evicted the first
 * idle one, or else the one with the smallest sum; of the unknown before those who became known
 * late, and of these before others, which a newcomer that is @late itself takes only if there are
 * none but them, or in a total none of the others may go, lest addresses that repeat push them
 * out. Entries that were live are not looked at again for a quarter of the window; when all were,
 * one whose sum is not above the floor's will do. Later searches may use what this one leaves of
 * its WEIR_LOOKS, up to all entries. Returns the sum, or WEIR_STAYS if no entry may be evicted.
 */
static u64 victim(const struct weir_table *table, struct weir_set *set,
		  const struct weir_lookup *lookup, bool late)
{
	const u32 quarter = weir_shape_window(&table->meter[0].shape) / 4;
	unsigned int i = set->hand + 1 < table->entries ? set->hand + 1 : 0;
	u64 enough = 0, live;

	if (set->seen_end - lookup->slot[0] > quarter && !table->stays) {
		set->seen_end = lookup->slot[0] + quarter;
		set->seen = U64_MAX << table->entries;
	}
	if (!~(set->seen | set->blocked))
		enough = counts_weight(table, weir_set_floor(table, set), lookup) %
			 WEIR_STAYS;
	/* As a rule the first look will do. */
	if (unlikely(table->states_off || table->stays || set->blocked & BIT_ULL(i)))
		return victim_search(table, set, lookup, late);
	live = entry_weight(table, set, i, lookup);
	if (live > enough)
		return victim_search(table, set, lookup, late);
	set->hand = i;
	if (set->looks < WEIR_ENTRIES_MAX)
		set->looks += WEIR_LOOKS - 1;
	return live;
}

/*
 * Give a source an entry, starting from the floor as it was before an eviction, and charge it.
 * Returns WEIR_CHARGED, perhaps with WEIR_EVICTED, or if all stay WEIR_REFUSED | WEIR_FLOORED.
 */
static inline u16 set_take(const struct weir_table *table, struct weir_set *set,
			   struct weir_lookup *lookup, const struct weir_permit *permit)
{
	int i = free_entry(table, set, lookup->hash);
	struct weir_count *floor = weir_set_floor(table, set), *count;
	struct weir_entry *entry;
	bool free = i >= 0;
	u64 live = 0;

	if (!free) {
		live = victim(table, set, lookup, permit && permit->late);
		if (unlikely(live == WEIR_STAYS))
			return WEIR_REFUSED | WEIR_FLOORED;
		i = set->hand;
	}
	entry = weir_set_entry(table, set, i);
	raw_spin_lock(&entry->lock);
	count = weir_entry_count(table, entry);
	/* Who was live is so, or has become idle; others may have been charged meanwhile. */
	if (!free && (!live || table->stays)) {
		live = counts_weight(table, count, lookup);
		if (unlikely(live == WEIR_STAYS)) {
			raw_spin_unlock(&entry->lock);
			return WEIR_REFUSED | WEIR_FLOORED;
		}
	}
	weir_entry_write_begin(entry);
	if (!live)
		counts_copy(table, floor, count, free);
	else
		weir_counts_start(table, floor, count);
	entry_give(table, set, i, lookup->source, lookup->hash);
	if (unlikely(permit))
		weir_state_set(table, set, i, (struct weir_state) {
			.newcomer = true, .since = weir_since(lookup->tick),
		});
	atomic_set(&entry->dropped, 0);
	/* The floor had room, and so has its copy. */
	counts_add(table, count, lookup);
	write_seqcount_end(&entry->seq);
	lookup->entry = entry;
	raw_spin_unlock(&entry->lock);
	return live ? WEIR_CHARGED | WEIR_EVICTED : WEIR_CHARGED;
}

/* Under the entry's lock. Returns WEIR_CHARGED, or WEIR_REFUSED and perhaps WEIR_FIRST. */
u16 weir_entry_charge(const struct weir_table *table, struct weir_entry *entry,
		      struct weir_lookup *lookup)
{
	struct weir_count *count = weir_entry_count(table, entry);
	u16 result;

	lockdep_assert_held(&entry->lock);
	/* A refusal leaves the seqcount alone. */
	result = counts_full(table, count, lookup);
	if (result) {
		lookup->seq = raw_read_seqcount(&entry->seq);
		kcsan_atomic_next(0);
		return weir_counts_mark(table, count, lookup, result) ? result :
		       result | WEIR_FIRST;
	}
	weir_entry_write_begin(entry);
	counts_add(table, count, lookup);
	write_seqcount_end(&entry->seq);
	return WEIR_CHARGED;
}

/* Charge the source if it has an entry, under the set's lock. Returns 0 if it has none. */
static noinline u16 set_charge(const struct weir_table *table, struct weir_set *set,
			       struct weir_lookup *lookup, const struct weir_permit *permit)
{
	struct weir_entry *entry = weir_set_search(table, set, lookup->source, lookup->hash);
	u16 result;

	if (!entry)
		return 0;
	raw_spin_lock(&entry->lock);
	lookup->entry = entry;
	lookup->seq = entry->seq.sequence;
	result = entry->scope & WEIR_STATE_BLOCKED ? WEIR_REFUSED | WEIR_BLOCKED :
		 weir_entry_charge(table, entry, lookup);
	if (permit && result & WEIR_CHARGED)
		result |= weir_state_admitted(table, set, entry, lookup->tick, permit);
	raw_spin_unlock(&entry->lock);
	return result;
}

/* End what has ended: 0. While a floor still has to, only a source with an entry is charged. */
static noinline u16 set_expire(const struct weir_table *table, struct weir_set *set,
			       struct weir_lookup *lookup, const struct weir_permit *permit)
{
	u8 ends;

	weir_state_expire(table, set, lookup->tick);
	ends = weir_floor_ends(table, set, lookup->tick);
	if (!ends)
		return 0;
	lookup->entry = NULL;
	return set_charge(table, set, lookup, permit) ?:
	       WEIR_REFUSED | WEIR_FLOORED | (table->more ? WEIR_BY_BUDGET : 0) |
	       (ffs(ends) - 1) << WEIR_BUDGET_SHIFT;
}

/*
 * As weir_table_charge(), for a source of which a search found no entry, or that needs the permit.
 * @again: search again, whatever lookup->version is.
 */
u16 __flatten weir_set_admit(struct weir_table *table, struct weir_lookup *lookup, bool again,
			     const struct weir_permit *permit)
{
	struct weir_set *set = weir_set(table, lookup->hash);
	struct weir_count *floor = weir_set_floor(table, set);
	u16 result;

	raw_spin_lock(&set->lock);
	if (unlikely(set->moved)) {
		result = WEIR_AGAIN;
		goto out;
	}
	if (unlikely(set->blocked | set->floor.ends)) {
		result = set_expire(table, set, lookup, permit);
		if (result)
			goto out;
	}
	if (unlikely(again || set->version != lookup->version)) {
		result = set_charge(table, set, lookup, permit);
		if (result)
			goto out;
	}
	if (table->more)
		weir_counts_advance(table, floor, lookup->tick);
	else if (floor->at != lookup->slot[0])
		weir_count_advance(&table->meter->shape, floor, lookup->slot[0]);
	lookup->entry = NULL;
	result = counts_full(table, floor, lookup);
	result = result ? result | WEIR_FLOORED :
		 set_take(table, set, lookup, permit);
out:
	raw_spin_unlock(&set->lock);
	return result;
}

/*
 * Give a source that has none an entry in a locked set, charged nothing, unless none can be had
 * or a floor has to end first. Returns as set_take().
 */
u16 weir_set_enter(const struct weir_table *table, struct weir_set *set,
		   struct weir_lookup *lookup, const struct weir_permit *permit)
{
	struct weir_count *floor = weir_set_floor(table, set);
	struct weir_lookup nothing = *lookup;
	u16 result;

	lockdep_assert_held(&set->lock);
	if (set->moved || weir_floor_ends(table, set, lookup->tick))
		return WEIR_REFUSED | WEIR_FLOORED;
	memset(nothing.amount, 0, sizeof(nothing.amount));
	weir_counts_advance(table, floor, lookup->tick);
	/* What costs nothing fits: this fills in its slots. */
	counts_full(table, floor, &nothing);
	result = set_take(table, set, &nothing, table->states_off ? permit : NULL);
	lookup->entry = nothing.entry;
	return result;
}

/*
 * The entry that a source gets in a locked set where it has none: a free one, or that of a source
 * that weighs less, or if it is to be blocked of any that may go; or NULL. It may look at all
 * entries, so that those who lose theirs leave the floor low. @late as of a permit.
 */
struct weir_entry *weir_set_room(const struct weir_table *table, struct weir_set *set,
				 const struct weir_moved *moved, bool late, u64 tick)
{
	const struct weir_lookup now = { .tick = tick, .slot[0] = weir_table_slot(table, tick) };
	bool block = moved->state.until && weir_set_blocks(table, set);
	int i = free_entry(table, set, moved->hash);

	if (i < 0 && (block || moved->weight)) {
		set->looks = table->entries;
		if (victim(table, set, &now, late) < (block ? WEIR_STAYS : moved->weight))
			i = set->hand;
	}
	return i < 0 ? NULL : weir_set_entry(table, set, i);
}

/*
 * Give it to the source, under both locks, inside a write section of the seqcount in which
 * the caller fills the counts. Sets @moved->state.until to 0 if the source is blocked here. Returns
 * whether a live source was evicted, which is within the floor now.
 */
bool weir_set_place(const struct weir_table *table, struct weir_set *set,
		    struct weir_moved *moved, struct weir_entry *entry, u64 tick)
{
	struct weir_count *floor = weir_set_floor(table, set);
	unsigned int i = weir_set_index(table, set, entry);
	struct weir_state state = moved->state;
	u64 live = 0;

	if (set->tag[i]) {
		live = weir_counts_weight(table, weir_entry_count(table, entry), tick);
		/* It was charged after it was chosen. */
		if (live == WEIR_STAYS)
			set->floor.stays = U8_MAX;
		weir_counts_start(table, floor, weir_entry_count(table, entry));
	}
	entry_give(table, set, i, &moved->source, moved->hash);
	if (weir_set_blocks(table, set))
		moved->state.until = 0;
	else
		state.until = 0;
	weir_state_set(table, set, i, state);
	atomic_set(&entry->dropped, moved->dropped);
	return live;
}
