// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charges by request: what a program asks for, or what there is of it, now or reserved. They leave
 * no mark of a refusal, as packets do: the next packet that is refused must still be the first in
 * its window, which is an event, and may be a penalty.
 */
#include "table/counts.h"
#include "table/floor.h"
#include "table/resize.h"
#include "table/set.h"
#include "table/state.h"

/* What all budgets in the unit of the first have left; only those are charged by request. */
static u64 request_room(const struct weir_table *table, const struct weir_lookup *lookup)
{
	const u64 *most = lookup->budgets;
	struct weir_source_state state;
	u64 room = U64_MAX;
	unsigned int i;

	weir_source_ask(table, lookup, &state);
	for (i = 0; i <= table->more; i++)
		if (table->meter[i].bytes == table->meter[0].bytes)
			room = min(room, most[i] - min(most[i], state.count[i]));
	return room;
}

/* Charge the entry of a lookup, which has room, and turn it ahead before any other charge. */
static void request_charge(struct weir_table *table, struct weir_lookup *lookup,
			   struct weir_take *take)
{
	const struct weir_meter *meter = table->meter;
	struct weir_entry *entry = lookup->entry;
	struct weir_count *count = weir_entry_count(table, entry);
	u32 slots = 0;

	take->cost = lookup->amount[meter->bytes];
	weir_entry_write_begin(entry);
	counts_add(table, count, lookup);
	if (take->due)
		slots = weir_leak_due(&meter->shape, count, take->cost, take->due);
	/* What was charged before leaks until then, and must not be given back from it. */
	WRITE_ONCE(table->epoch, READ_ONCE(table->epoch) + !!slots);
	write_seqcount_end(&entry->seq);
	if (table->states_off)
		weir_state_admitted(table, weir_set(table, lookup->hash), entry, lookup->tick,
				    &take->permit);
	take->wait = weir_meter_left(meter, count->at, lookup->tick, slots);
}

/*
 * As weir_table_take(), under the locks of the set and of lookup->entry; or if that is NULL, 0 if
 * the floor has room.
 */
static u16 request_locked(struct weir_table *table, struct weir_lookup *lookup,
			  struct weir_take *take)
{
	struct weir_set *set = weir_set(table, lookup->hash);
	u64 *cost = &lookup->amount[table->meter[0].bytes];
	struct weir_entry *entry = lookup->entry;
	struct weir_count *count = entry ? weir_entry_count(table, entry) :
				   weir_set_floor(table, set);
	bool refused = entry ? entry->scope & WEIR_STATE_BLOCKED :
		       weir_floor_ends(table, set, lookup->tick);
	struct weir_source_state state;

	*cost = take->cost;
	if (take->drain)
		*cost = min(take->cost, request_room(table, lookup) ?: 1);
	weir_source_ask(table, lookup, &state);
	take->wait = max(state.wait, 1ull);
	if (counts_full(table, count, lookup) || refused)
		return WEIR_REFUSED;
	if (entry)
		request_charge(table, lookup, take);
	return entry ? WEIR_CHARGED : 0;
}

/*
 * Charge a source what a request asks for, or nothing. Returns WEIR_CHARGED, and take->wait is
 * above 0 only beyond take->due; WEIR_REFUSED, and it is above 0, or WEIR_NEVER; with flags as
 * weir_table_charge(); or WEIR_AGAIN if the table was replaced.
 */
u16 weir_table_take(struct weir_table *table, struct weir_lookup *lookup, struct weir_take *take)
{
	struct weir_set *set = weir_set(table, lookup->hash);
	u16 result = 0;

	weir_table_settle(table, lookup->hash);
	lookup->slot[0] = weir_table_slot(table, lookup->tick);
	raw_spin_lock(&set->lock);
	weir_state_expire(table, set, lookup->tick);
	lookup->entry = weir_set_search(table, set, lookup->source, lookup->hash);
	if (!lookup->entry)
		result = set->moved ? WEIR_AGAIN : request_locked(table, lookup, take) ?:
			 weir_set_enter(table, set, lookup, &take->permit);
	/* If it was just taken, a packet may have been charged to it. */
	if (lookup->entry) {
		result &= WEIR_EVICTED;
		raw_spin_lock(&lookup->entry->lock);
		result |= request_locked(table, lookup, take);
		raw_spin_unlock(&lookup->entry->lock);
	}
	raw_spin_unlock(&set->lock);
	return result;
}
