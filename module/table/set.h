/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find, give and take the entries of a set. See the top of set.c.
 */
#ifndef WEIR_SET_H
#define WEIR_SET_H

#include "table/layout.h"

/*
 * The entry of a source, known or not, or NULL; a hint without the set's lock, because the entry
 * may be given to another source at any time.
 */
struct weir_entry *weir_set_search(const struct weir_table *table,
				   struct weir_set *set,
				   const struct weir_source *source, u32 hash);

void weir_entry_source(const struct weir_table *table,
		       const struct weir_entry *entry, struct weir_source *source);
void weir_entry_free(const struct weir_table *table, struct weir_set *set, unsigned int i);
void weir_entry_dropped(struct weir_entry *entry, u32 packets, bool observed);
u16 weir_entry_charge(const struct weir_table *table, struct weir_entry *entry,
		      struct weir_lookup *lookup);
u16 weir_set_admit(struct weir_table *table, struct weir_lookup *lookup,
		   bool again, const struct weir_permit *permit);
u16 weir_set_enter(const struct weir_table *table, struct weir_set *set,
		   struct weir_lookup *lookup, const struct weir_permit *permit);
struct weir_entry *weir_set_room(const struct weir_table *table, struct weir_set *set,
				 const struct weir_moved *moved, bool late, u64 tick);
bool weir_set_place(const struct weir_table *table, struct weir_set *set,
		    struct weir_moved *moved, struct weir_entry *entry, u64 tick);

#endif /* WEIR_SET_H */
