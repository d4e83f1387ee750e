/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find, give and take the ways of a bucket. See the top of bucket.c.
 */
#ifndef WEIR_BUCKET_H
#define WEIR_BUCKET_H

#include "table/layout.h"

/*
 * The way of a source, known or not, or NULL; a hint without the bucket's lock, because the way
 * may be given to another source at any time.
 */
struct weir_way *weir_bucket_search(const struct weir_table *table,
				    struct weir_bucket *bucket,
				    const struct weir_source *source, u32 hash);

void weir_way_source(const struct weir_table *table,
		     const struct weir_way *way, struct weir_source *source);
void weir_way_free(const struct weir_table *table, struct weir_bucket *bucket, unsigned int i);
void weir_way_dropped(struct weir_way *way, u32 packets, bool observed);
u16 weir_way_charge(const struct weir_table *table, struct weir_way *way,
		    struct weir_lookup *lookup);
u16 weir_bucket_admit(struct weir_table *table, struct weir_lookup *lookup,
		      bool again, const struct weir_permit *permit);
u16 weir_bucket_enter(const struct weir_table *table, struct weir_bucket *bucket,
		      struct weir_lookup *lookup, const struct weir_permit *permit);
u8 weir_floor_ends(const struct weir_table *table, struct weir_bucket *bucket, u64 tick);
struct weir_way *weir_bucket_room(const struct weir_table *table, struct weir_bucket *bucket,
				  const struct weir_moved *moved, bool late, u64 tick);
bool weir_bucket_place(const struct weir_table *table, struct weir_bucket *bucket,
		       struct weir_moved *moved, struct weir_way *way, u64 tick);

#endif /* WEIR_BUCKET_H */
