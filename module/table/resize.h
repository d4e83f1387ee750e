/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Take over from a predecessor. See the top of resize.c.
 */
#ifndef WEIR_RESIZE_H
#define WEIR_RESIZE_H

#include "table/layout.h"

/* Pull the old set of a source, and its floor. BH off, RCU read lock. */
void weir_table_pull(struct weir_table *next, struct weir_table *old, u32 hash);

/* Pull the set of a source first, if there is a predecessor. */
static inline void weir_table_settle(struct weir_table *table, u32 hash)
{
	struct weir_table *old = rcu_dereference(table->old);

	if (unlikely(old))
		weir_table_pull(table, old, hash);
}

#endif /* WEIR_RESIZE_H */
