/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a table takes over from another. See the top of heritage.c.
 */
#ifndef WEIR_HERITAGE_H
#define WEIR_HERITAGE_H

#include "table/layout.h"

/* Two tables, and the rooms of their limits. */
struct weir_heritage {
	struct weir_table *next;
	const struct weir_table *old;
	const u64 *room;	/* a meter whose new one is 0 begins anew in another unit */
	const u64 *old_room;
	bool saved;		/* @old is of a saved state; see table/saved.c */
	bool empty;		/* @next counts nobody */
	u8 before[WEIR_BUDGETS_MAX];	/* the meters of @old that those of @next start from */
};

struct weir_heritage weir_heritage(struct weir_table *next, const struct weir_table *old,
				   const u64 *room, const u64 *old_room, bool saved);
unsigned int weir_meter_before(const struct weir_meter *next, const struct weir_table *old);
/* Fill the count @to of the meter @n. @first: in the old table, as in the next. */
void weir_count_convert(const struct weir_heritage *of, unsigned int n, struct weir_count *to,
			struct weir_count *first, u64 tick);
/* The weight that the counts at @first would have in the new table. */
u64 weir_moved_weight(const struct weir_heritage *of, struct weir_count *first, u64 tick);
/*
 * Have calendars go on with the periods of those in @old with the same window, and their
 * numbers. The old ones stop, so that an end that comes to pass before all is pulled is
 * crossed by a single timer: what is pulled then is of the period before.
 */
void weir_calendars_succeed(struct weir_table *next, struct weir_table *old);

#endif /* WEIR_HERITAGE_H */
