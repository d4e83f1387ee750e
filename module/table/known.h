/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which sources of a table are known. See the top of known.c.
 */
#ifndef WEIR_KNOWN_H
#define WEIR_KNOWN_H

#include "table/layout.h"

static inline u16 weir_since(u64 tick)
{
	return div_u64(tick, WEIR_SINCE_TICKS);
}

void weir_way_stand(const struct weir_table *table, struct weir_bucket *bucket,
		    unsigned int i, bool unknown, u16 since, bool late);
u16 weir_way_meet(const struct weir_table *table, struct weir_bucket *bucket,
		  struct weir_way *way, u64 tick, const struct weir_permit *permit);
void weir_way_unmeet(const struct weir_table *table, struct weir_bucket *bucket,
		     struct weir_way *way);

#endif /* WEIR_KNOWN_H */
