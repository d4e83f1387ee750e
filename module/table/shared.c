// SPDX-License-Identifier: GPL-2.0-only
/*
 * With a prefix length of 0 all CPUs charge one entry. Under its lock a CPU charges a batch of the
 * remaining budget, valid for this slot only, and spends it alone. A batch counts as used when it
 * is taken, so the promise holds; the unspent rest is given back, in the slot that was charged,
 * when the CPU takes the next. Batches shrink with the remaining budget, down to single packets.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>

#include "table/set.h"
#include "table/shared.h"

#define BATCH_PACKETS 64
#define BATCH_BYTES (64u << 10)

/* Under the entry's lock: give back the rest of a batch. */
static void batch_drop(const struct weir_table *table, struct weir_entry *entry,
		       struct weir_batch *batch, u32 slot)
{
	const struct weir_shape *shape = &table->meter[0].shape;
	struct weir_count *count = weir_entry_count(table, entry);

	weir_entry_write_begin(entry);
	weir_count_advance(shape, count, slot);
	/* Pairs with weir_table_forget() and weir_table_clear(). */
	if (batch->left && batch->epoch == READ_ONCE(table->epoch))
		weir_count_undo(shape, count, batch->slot, batch->left);
	write_seqcount_end(&entry->seq);
	batch->left = 0;
}

/* Under the entry's lock: give back the rest of a batch, and take another. */
static u16 batch_take(const struct weir_table *table, struct weir_entry *entry,
		      struct weir_batch *batch, struct weir_lookup *lookup)
{
	const struct weir_shape *shape = &table->meter[0].shape;
	struct weir_count *count = weir_entry_count(table, entry);
	u64 sum;
	u16 result;

	batch_drop(table, entry, batch, lookup->slot[0]);
	result = weir_entry_charge(table, entry, lookup);
	sum = weir_count_sum(shape, count, count->at);
	if (!(result & WEIR_CHARGED) || sum >= lookup->budgets[0])
		return result;
	batch->left = min_t(u64, div_u64((lookup->budgets[0] - sum) / 4, num_online_cpus()),
			    table->spec.meter[0].bytes ? BATCH_BYTES : BATCH_PACKETS);
	batch->slot = count->at;
	batch->budget = lookup->budgets[0];
	batch->epoch = READ_ONCE(table->epoch);
	weir_entry_write_begin(entry);
	weir_count_add(shape, count, batch->left);
	write_seqcount_end(&entry->seq);
	return result;
}

static u64 batch_cost(const struct weir_table *table, const struct weir_lookup *lookup)
{
	return lookup->amount[table->meter[0].bytes];
}

static bool batch_holds(const struct weir_table *table,
			const struct weir_batch *batch,
			const struct weir_lookup *lookup)
{
	return batch->left >= batch_cost(table, lookup) &&
	       /* The budget may have become smaller. */
	       batch->budget <= lookup->budgets[0] &&
	       batch->slot == (u32)weir_table_slot(table, lookup->tick) &&
	       batch->epoch == READ_ONCE(table->epoch);
}

/* As weir_table_charge(), for a source that all CPUs share. */
u16 weir_batch_charge(struct weir_table *table, struct weir_lookup *lookup)
{
	struct weir_batch *batch = weir_batch_of(table, lookup->source);
	u16 result;

	if (batch_holds(table, batch, lookup)) {
		batch->left -= batch_cost(table, lookup);
		lookup->receipt = (struct weir_receipt) {
			.at[0] = batch->slot, .epoch = batch->epoch,
		};
		return WEIR_CHARGED;
	}
	/* Giving back a batch of an earlier slot may make the missing room. */
	result = weir_table_refuse(table, lookup);
	if (result && !batch->left)
		return result;
	result = 0;
	if (lookup->entry) {
		raw_spin_lock(&lookup->entry->lock);
		if (weir_entry_is(table, lookup->entry, lookup->source))
			result = batch_take(table, lookup->entry, batch, lookup);
		raw_spin_unlock(&lookup->entry->lock);
	}
	return result ?: weir_table_charge(table, lookup);
}

/* Give back what this CPU has not spent of its batch for a source, if it has one. */
void weir_batch_return(struct weir_table *table, struct weir_lookup *lookup)
{
	struct weir_batch *batch;
	struct weir_entry *entry;

	if (!weir_batch_wanted(table, lookup->source))
		return;
	batch = weir_batch_of(table, lookup->source);
	entry = weir_set_search(table, weir_set(table, lookup->hash), lookup->source, lookup->hash);
	if (!batch->left || !entry)
		return;
	raw_spin_lock(&entry->lock);
	if (weir_entry_is(table, entry, lookup->source))
		batch_drop(table, entry, batch, weir_table_slot(table, lookup->tick));
	raw_spin_unlock(&entry->lock);
}

/* Give back the CPUs' unspent batches for a source to a copy of its count. */
void weir_batches_undo(const struct weir_table *table, const struct weir_source *source,
		       struct weir_count *count)
{
	struct weir_batch batch;
	int cpu;

	if (!weir_batch_wanted(table, source))
		return;
	for_each_possible_cpu(cpu) {
		/* Its CPU may change it meanwhile: what it spends now came later. */
		batch = data_race(per_cpu_ptr(table->batches, cpu)->family[source->scope & 1]);
		if (batch.left && batch.epoch == READ_ONCE(table->epoch))
			weir_count_undo(&table->meter[0].shape, count, batch.slot, batch.left);
	}
}

/*
 * Subtract the CPUs' unspent batches from the state of a source and, unless NULL, from
 * its counts by slot, both as weir_table_peek() fills them. Exact at rest.
 */
void weir_batches_unspent(const struct weir_table *table, u64 tick,
			  struct weir_source_state *state, u64 *slot)
{
	const struct weir_batch *batch;
	struct weir_batch copy;
	u64 left;
	u32 age;
	int cpu;

	if (!weir_batch_wanted(table, &state->source))
		return;
	for_each_possible_cpu(cpu) {
		batch = per_cpu_ptr(table->batches, cpu)->family +
			(state->source.scope & 1);
		/* Its CPU may change it meanwhile. */
		copy = data_race(*batch);
		left = min(copy.left, state->count[0]);
		age = (u32)weir_table_slot(table, tick) - copy.slot;
		if (copy.epoch != READ_ONCE(table->epoch) ||
		    age > table->meter[0].shape.reach)
			continue;
		state->count[0] -= left;
		if (slot)
			slot[WEIR_SLOTS_MAX - age] -=
				min(slot[WEIR_SLOTS_MAX - age], left);
	}
}
