// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the state of sources, and forget them.
 */
#include <linux/bottom_half.h>
#include <linux/prefetch.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "packet/prefixes.h"
#include "table/counts.h"
#include "table/floor.h"
#include "table/resize.h"
#include "table/set.h"
#include "table/state.h"

/* What a source is asked about. */
struct question {
	u64 tick;
	const u64 *budget;	/* of each meter */
	const u64 *cost;	/* in packets and bytes; or NULL: what was refused last */
	u64 *slot;		/* as in weir_table_peek(), or NULL */
	bool whether;		/* as in weir_table_walk() */
	u32 at[WEIR_BUDGETS_MAX];	/* slot of @tick, of each meter */
};

static struct question question_of(const struct weir_table *table, u64 tick, const u64 *budget)
{
	struct question ask = { .tick = tick, .budget = budget };
	unsigned int i;

	for (i = 0; i <= table->more; i++)
		ask.at[i] = weir_meter_slot(&table->meter[i], tick);
	return ask;
}

/* Add the state of a count. */
static void count_state(const struct weir_table *table, unsigned int i,
			const struct weir_count *count, const struct question *ask,
			struct weir_source_state *state)
{
	const struct weir_meter *meter = &table->meter[i];
	u32 slot = ask->at[i], wait = 0;
	u64 budget = ask->budget[i], cost;

	/* A count may be ahead of the clock. */
	slot = count->at + max_t(s32, slot - count->at, 0);
	if (ask->cost)
		cost = ask->cost[meter->bytes];
	else
		cost = min(weir_count_wanted(&meter->shape, count, slot), budget);
	if (cost && cost <= budget)
		wait = weir_count_wait(&meter->shape, count, slot, cost, budget);
	state->count[i] = weir_count_sum(&meter->shape, count, slot);
	state->live |= !!state->count[i];
	state->waits[i] = cost > budget ? WEIR_NEVER :
			  weir_meter_left(meter, slot, ask->tick, wait);
}

/* Fill in what a ring counted in each slot. */
static noinline_for_stack void ring_slots(const struct weir_meter *meter,
					  const struct weir_count *count,
					  const struct question *ask)
{
	const struct weir_shape *shape = &meter->shape;
	union weir_count_copy copy;
	unsigned int age;

	/* A refusal without the lock may be marking it. */
	data_race(memcpy(&copy, count, shape->size));
	weir_count_advance(shape, &copy.count, ask->at[0]);
	for (age = 0; age <= shape->reach; age++)
		ask->slot[WEIR_SLOTS_MAX - age] = weir_ring_slot(shape, &copy.count, age);
}

/* The longest wait of all counts. */
static void state_wait(const struct weir_table *table, struct weir_source_state *state)
{
	unsigned int i;

	state->wait = 0;
	state->by = 0;
	for (i = 0; i <= table->more; i++)
		if (state->waits[i] > state->wait) {
			state->wait = state->waits[i];
			state->by = i;
		}
}

/* The state of an entry's or floor's counts. */
static void counts_state(const struct weir_table *table, struct weir_count *first,
			 const struct question *ask, struct weir_source_state *state)
{
	unsigned int i;

	state->live = false;
	for (i = 0; i <= table->more; i++)
		count_state(table, i, weir_count_of(&table->meter[i], first), ask, state);
	if (ask->slot && table->meter[0].shape.kind == WEIR_COUNT_RING)
		ring_slots(&table->meter[0], first, ask);
}

/* What a walk asks of an entry's counts, made short: the sums, and whether there is a wait. */
static inline void counts_glance(const struct weir_table *table, struct weir_count *first,
				 const struct question *ask, struct weir_source_state *state)
{
	const struct weir_meter *meter = table->meter;
	const struct weir_count *count;
	u64 sum, cost, budget;
	unsigned int i;
	u32 slot;

	state->live = false;
	state->wait = 0;
	for (i = 0; i <= table->more; i++, meter++) {
		count = weir_count_of(meter, first);
		budget = ask->budget[i];
		slot = count->at + max_t(s32, ask->at[i] - count->at, 0);
		cost = min(weir_count_wanted(&meter->shape, count, slot), budget);
		sum = weir_count_sum(&meter->shape, count, slot);
		state->count[i] = sum;
		state->live |= !!sum;
		state->wait |= cost && (meter->shape.kind == WEIR_COUNT_RING ?
					weir_ring_over(sum, cost, budget) :
					weir_count_full(&meter->shape, count, slot, cost, budget));
	}
}

/* Of a locked entry, or to be asked whether. */
static void entry_state(const struct weir_table *table, struct weir_set *set, unsigned int i,
			const struct question *ask, struct weir_source_state *state)
{
	struct weir_entry *entry = weir_set_entry(table, set, i);
	u32 dropped = atomic_read(&entry->dropped);

	state->dropped = dropped & WEIR_DROPPED_MAX;
	state->observed = dropped & WEIR_DROPPED_OBSERVED;
	state->unknown = entry->scope & WEIR_STATE_NEWCOMER;
	if (ask->whether) {
		counts_glance(table, weir_entry_count(table, entry), ask, state);
	} else {
		counts_state(table, weir_entry_count(table, entry), ask, state);
		state_wait(table, state);
	}
	state->blocked = entry->scope & WEIR_STATE_BLOCKED ?
			 weir_block_left(*weir_set_until(table, set, i), ask->tick) : 0;
	state->wait = max(state->wait, state->blocked);
}

/*
 * Has a locked set no entry for a newcomer, because all of its sources stay? Then a total of
 * theirs is @state until the first of them goes: blocks alone never take all entries of sources
 * that are counted. So it is for as long as a floor refuses that ends.
 */
static void set_full(const struct weir_table *table, struct weir_set *set,
		     const struct question *ask, struct weir_source_state *state)
{
	u8 ends = weir_floor_ends(table, set, ask->tick), stays = set->floor.stays;
	u64 least = set->used < table->entries ? 0 : WEIR_NEVER, wait;
	struct weir_entry *entry;
	unsigned int i;

	for (i = 0; i < table->entries && least; i++) {
		entry = weir_set_entry(table, set, i);
		/* It may be charged meanwhile, and then did not stay. */
		if (data_race(weir_counts_weight(table, weir_entry_count(table, entry),
						 ask->tick)) != WEIR_STAYS)
			least = min(least, weir_block_left(weir_entry_until(table, set, entry),
							   ask->tick));
	}
	for (i = 0; i <= table->more; i++) {
		wait = least;
		if (ends & BIT(i))
			wait = max(least, weir_floor_wait(table, ask->tick));
		if (!weir_meter_stays(&table->meter[i]) || !wait)
			continue;
		state->count[i] = ask->budget[i];
		state->waits[i] = ends & ~stays & BIT(i) ? wait : max(state->waits[i], wait);
	}
}

/* The state of a source in a locked set, and a locked entry, or NULL without one. */
static void source_state(const struct weir_table *table, struct weir_set *set,
			 struct weir_entry *entry, const struct question *ask,
			 struct weir_source_state *state)
{
	if (entry) {
		entry_state(table, set, weir_set_index(table, set, entry), ask, state);
		return;
	}
	state->floor = true;
	state->unknown = table->states_off;
	weir_floor_ends(table, set, ask->tick);
	counts_state(table, weir_set_floor(table, set), ask, state);
	set_full(table, set, ask, state);
	state_wait(table, state);
}

/*
 * @cost: packets and bytes for which @state shall say how long the source waits, or NULL: for what
 * was refused last, or 1. The current slot is the last of @slot; unused ones in front are 0.
 */
void weir_table_peek(struct weir_table *table,
		     const struct weir_source *source, u32 hash, u64 tick,
		     const u64 *budget, const u64 *cost, struct weir_source_state *state,
		     u64 slot[WEIR_SLOTS_MAX + 1])
{
	struct question ask = question_of(table, tick, budget);
	struct weir_set *set = weir_set(table, hash);
	struct weir_entry *entry;

	memset(slot, 0, sizeof(*slot) * (WEIR_SLOTS_MAX + 1));
	*state = (struct weir_source_state) { .source = *source };
	ask.cost = cost;
	ask.slot = slot;
	local_bh_disable();
	weir_table_settle(table, hash);
	raw_spin_lock(&set->lock);
	entry = weir_set_search(table, set, source, hash);
	if (entry) {
		raw_spin_lock(&entry->lock);
		source_state(table, set, entry, &ask, state);
		raw_spin_unlock(&entry->lock);
	} else {
		source_state(table, set, NULL, &ask, state);
	}
	raw_spin_unlock(&set->lock);
	local_bh_enable();
}

/* What a request is told of its source: the wait is until what @lookup would charge fits. */
void weir_source_ask(const struct weir_table *table, const struct weir_lookup *lookup,
		     struct weir_source_state *state)
{
	struct question ask = question_of(table, lookup->tick, lookup->budgets);

	ask.cost = lookup->amount;
	*state = (struct weir_source_state) { };
	source_state(table, weir_set(table, lookup->hash), lookup->entry, &ask, state);
}

/* The state of the source of an entry, by its budgets; false: it is free. */
static bool walk_entry(const struct weir_table *table, struct weir_set *set, unsigned int i,
		       const struct weir_prefixes *by, struct question *ask, u64 budgets[],
		       struct weir_source_state *state)
{
	const u64 budget = budgets[0];

	weir_entry_source(table, weir_set_entry(table, set, i), &state->source);
	if (state->source.scope == WEIR_SCOPE_INVALID)
		return false;
	state->floor = false;
	if (by)
		budgets[0] = weir_prefixes_budget_masked(by, &state->source, table->spec.prefix) ?:
			     budget;
	entry_state(table, set, i, ask, state);
	budgets[0] = budget;
	return true;
}

/*
 * Fill up to WEIR_ENTRIES_MAX states, of idle sources, too, and return how many. Sources
 * that are still in a predecessor are left out. @whether: of waits and refusals only whether there
 * is a wait is told, by 0 or 1, which is faster and takes no lock.
 */
unsigned int weir_table_walk(struct weir_table *table, u32 index, u64 tick,
			     const u64 *budget, const struct weir_prefixes *by, bool whether,
			     struct weir_source_state *state)
{
	struct weir_set *set = weir_set(table, index);
	u64 budgets[WEIR_BUDGETS_MAX];
	struct weir_entry *entry;
	struct question ask;
	unsigned int i, seq, n = 0;
	bool is;

	memcpy(budgets, budget, (table->more + 1) * sizeof(*budget));
	ask = question_of(table, tick, budgets);
	ask.whether = whether;
	prefetch((void *)set + table->stride);
	local_bh_disable();
	for (i = 0; i < table->entries; i++) {
		entry = weir_set_entry(table, set, i);
		/* The same of the next set: much of a walk is waiting for memory. */
		prefetch((void *)entry + table->stride);
		/* Of a source that comes or goes just now either is true. */
		if (!READ_ONCE(set->tag[i]))
			continue;
		if (!whether) {
			raw_spin_lock(&entry->lock);
			n += walk_entry(table, set, i, by, &ask, budgets, &state[n]);
			raw_spin_unlock(&entry->lock);
			continue;
		}
		do {
			seq = raw_read_seqcount(&entry->seq);
			is = walk_entry(table, set, i, by, &ask, budgets, &state[n]);
		} while (seq & 1 || read_seqcount_retry(&entry->seq, seq));
		n += is;
	}
	local_bh_enable();
	return n;
}

/* Returns whether there was anything to forget, or a block to end. Who is known stays so. */
bool weir_table_forget(struct weir_table *table,
		       const struct weir_source *source, u32 hash, u64 tick)
{
	struct weir_set *set = weir_set(table, hash);
	struct weir_count *count;
	struct weir_state state;
	struct weir_entry *entry;
	bool known = false;
	unsigned int i;

	local_bh_disable();
	raw_spin_lock(&set->lock);
	entry = weir_set_search(table, set, source, hash);
	if (entry) {
		count = weir_entry_count(table, entry);
		raw_spin_lock(&entry->lock);
		weir_entry_write_begin(entry);
		known = weir_counts_init(table, count) || atomic_read(&entry->dropped) ||
			entry->scope & WEIR_STATE_BLOCKED;
		i = weir_set_index(table, set, entry);
		state = weir_state_get(table, set, i);
		state.until = 0;
		state.since = weir_since(tick);
		weir_state_set(table, set, i, state);
		set->seen &= ~BIT_ULL(i);
		atomic_set(&entry->dropped, 0);
		/* Pairs with weir_table_uncharge(), under the entry's lock. */
		WRITE_ONCE(table->epoch, table->epoch + 1);
		write_seqcount_end(&entry->seq);
		raw_spin_unlock(&entry->lock);
	}
	raw_spin_unlock(&set->lock);
	local_bh_enable();
	return known;
}

/* Free the entries of a locked set that have not been turned for @slots. */
static void set_free(const struct weir_table *table, struct weir_set *set, u32 slot, s32 slots)
{
	struct weir_count *count;
	struct weir_entry *entry;
	unsigned int i;

	for (i = 0; i < table->entries; i++) {
		if (!set->tag[i])
			continue;
		entry = weir_set_entry(table, set, i);
		count = weir_entry_count(table, entry);
		raw_spin_lock(&entry->lock);
		if ((s32)(slot - count->at) >= slots)
			weir_entry_free(table, set, i);
		raw_spin_unlock(&entry->lock);
	}
}

/*
 * Turn the entries of a locked set whose sources are known or blocked, or of which a count
 * may be live when another is stale, lest they are freed.
 */
static void set_turn(const struct weir_table *table, struct weir_set *set, u64 tick)
{
	struct weir_entry *entry;
	unsigned int i;

	for (i = 0; i < table->entries; i++) {
		entry = weir_set_entry(table, set, i);
		if (!set->tag[i] || (!table->more && !(table->states_off ?
		    (entry->scope & WEIR_STATE_FLAGS) != WEIR_STATE_NEWCOMER :
		    entry->scope & WEIR_STATE_BLOCKED)))
			continue;
		raw_spin_lock(&entry->lock);
		weir_entry_write_begin(entry);
		weir_counts_advance(table, weir_entry_count(table, entry), tick);
		write_seqcount_end(&entry->seq);
		raw_spin_unlock(&entry->lock);
	}
}

/* Forget the sources of a set, and its floor. The caller goes through all sets. */
void weir_table_clear(struct weir_table *table, u32 index)
{
	struct weir_set *set = weir_set(table, index);

	local_bh_disable();
	raw_spin_lock(&set->lock);
	set_free(table, set, 0, S32_MIN);
	weir_counts_init(table, weir_set_floor(table, set));
	set->floor = (struct weir_floor) { };
	/*
	 * Before an entry is taken again; pairs with weir_table_uncharge(). All sets
	 * are an odd number of epochs, which the 16 bits of a receipt tell apart.
	 */
	WRITE_ONCE(table->epoch, table->epoch + 1 + !index);
	raw_spin_unlock(&set->lock);
	local_bh_enable();
}

/* Free idle entries before slots alias: at most 2^30 slots after the last call; may sleep. */
void weir_table_age(struct weir_table *table, u64 tick)
{
	u32 slot = weir_table_slot(table, tick), i;
	struct weir_set *set;

	for (i = 0; i <= table->mask; i++) {
		set = weir_set(table, i);
		local_bh_disable();
		raw_spin_lock(&set->lock);
		weir_state_expire(table, set, tick);
		set_turn(table, set, tick);
		set_free(table, set, slot, BIT(30));
		weir_counts_advance(table, weir_set_floor(table, set), tick);
		raw_spin_unlock(&set->lock);
		local_bh_enable();
		cond_resched();
	}
	/* Invalidate batches, whose 32-bit slots alias, too. */
	WRITE_ONCE(table->epoch, table->epoch + 1);
}
