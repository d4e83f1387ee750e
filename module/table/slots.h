/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the slots of a table begin; see weir_count_slot(). Process context; no packet meets the
 * first table, and the caller keeps other changes out.
 */
#ifndef WEIR_SLOTS_H
#define WEIR_SLOTS_H

#include "table/layout.h"

/* For a table that will succeed @old. */
void weir_slots_follow(struct weir_table_spec *spec, const struct weir_table *old);

/*
 * Before a message of a saved table, which has its bases, is merged into @next; @fresh: no packet
 * meets that yet.
 */
void weir_slots_align(struct weir_table *next, struct weir_table *saved, bool fresh, u64 tick);

#endif /* WEIR_SLOTS_H */
