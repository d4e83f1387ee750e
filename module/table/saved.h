/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources and floors outside of a table: read from one, and merged into another one as if it
 * were the successor. See the top of saved.c.
 */
#ifndef WEIR_SAVED_H
#define WEIR_SAVED_H

#include "table/counts.h"
#include "table/heritage.h"

/* A source with its counts, or a floor. */
struct weir_saved {
	struct weir_moved moved;	/* of a source */
	struct weir_floor floor;	/* of a floor */
	/* As those of an entry, by the table that they are of */
	union weir_count_copy count[WEIR_BUDGETS_MAX];
};

/* What became of a source that was merged. */
#define WEIR_MERGE_EVICTED	BIT(0)	/* it, or another one, was live and has no entry */
#define WEIR_MERGE_UNBLOCKED	BIT(1)	/* there was no room for its block */

static inline struct weir_count *weir_saved_count(struct weir_saved *saved,
						  const struct weir_meter *meter)
{
	return weir_count_of(meter, &saved->count->count);
}

/*
 * Process context; not while the table has a predecessor. @tick is now. The first two return
 * whether there is anything to save, or -EAGAIN if a count is ahead of @tick, which is late.
 */
int weir_saved_source(const struct weir_table *table, u32 set, unsigned int entry, u64 tick,
		      struct weir_saved *saved);
bool weir_saved_changed(const struct weir_table *table, struct weir_saved *saved, u64 since,
			u64 tick, u64 least);
int weir_saved_floor(struct weir_table *table, u32 set, u64 tick, struct weir_saved *saved);

void weir_count_merge(const struct weir_meter *meter, struct weir_count *to,
		      struct weir_count *from, bool add);
u8 weir_saved_merge(const struct weir_heritage *of, struct weir_saved *saved, bool add, u64 tick);
void weir_saved_merge_floor(const struct weir_heritage *of, u32 set, struct weir_saved *saved,
			    u64 tick);

/*
 * Where the slots of a table begin; see weir_meter_slot(). For a table that will succeed @old, or
 * before a message of a saved table, which has its bases, is merged into @next; @fresh: no packet
 * meets that yet. Process context; the caller keeps other changes out.
 */
void weir_slots_follow(struct weir_table_spec *spec, const struct weir_table *old);
void weir_slots_align(struct weir_table *next, struct weir_table *saved, bool fresh, u64 tick);

#endif /* WEIR_SAVED_H */
