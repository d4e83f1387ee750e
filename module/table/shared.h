/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-CPU batches of a budget that all CPUs share. See the top of shared.c. Context: as
 * weir_table_charge(), with the CPU's batches to itself; for weir_batches_unspent() the
 * RCU read lock.
 */
#ifndef WEIR_SHARED_H
#define WEIR_SHARED_H

#include <linux/percpu.h>

#include "table/layout.h"

/* Charged room that a CPU may spend alone; see shared.c. */
struct weir_batch {
	u64 left;		/* not yet spent */
	u64 budget;		/* of the limit when it was taken */
	u32 slot;		/* that was charged */
	u32 epoch;		/* of the table when it was taken */
};

/* Of all sources or IPv4's, and of IPv6's. */
struct weir_batches {
	struct weir_batch family[2];
};

/* Does a source stand for a whole family or both, so that all CPUs charge it? None is blocked. */
static inline bool weir_batch_wanted(const struct weir_table *table,
				     const struct weir_source *source)
{
	return unlikely(table->batches) && !(source->scope & WEIR_SCOPE_IPV6 ?
		table->spec.prefix.len6 : table->spec.prefix.len4);
}

static inline struct weir_batch *weir_batch_of(const struct weir_table *table,
					       const struct weir_source *source)
{
	return &this_cpu_ptr(table->batches)->family[source->scope & 1];
}

/* Has this CPU an unspent rest of its batch for a source that all CPUs share? */
static inline bool weir_batch_left(const struct weir_table *table, const struct weir_source *source)
{
	return weir_batch_of(table, source)->left;
}

/* A limit with another budget has replaced one with this table, a grace period ago. */
static inline void weir_batches_end(struct weir_table *table)
{
	/* Batches of the smaller of two budgets hold if it comes back. Pairs with batch_holds(). */
	if (table->batches)
		WRITE_ONCE(table->epoch, READ_ONCE(table->epoch) + 1);
}

u16 weir_batch_charge(struct weir_table *table, struct weir_lookup *lookup);
void weir_batch_return(struct weir_table *table, struct weir_lookup *lookup);
void weir_batches_undo(const struct weir_table *table, const struct weir_source *source,
		       struct weir_count *count);
void weir_batches_unspent(const struct weir_table *table, u64 tick,
			  struct weir_source_state *state, u64 *slot);

#endif /* WEIR_SHARED_H */
