// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which sources of a table are known, if it distinguishes newcomers. See the top of
 * newcomers.c.
 */
#include "table/known.h"

/*
 * Set whether the source of a way is known, and if not since when it has the way. Under
 * both locks, inside a write section of the seqcount.
 */
void weir_way_stand(const struct weir_table *table, struct weir_bucket *bucket,
		    unsigned int i, bool unknown, u16 since, bool late)
{
	struct weir_standing *standing = weir_bucket_standing(table, bucket);
	struct weir_way *way = weir_bucket_way(table, bucket, i);

	way->scope &= ~WEIR_SCOPE_UNKNOWN;
	if (unknown)
		way->scope |= WEIR_SCOPE_UNKNOWN;
	standing->unknown = (standing->unknown & ~BIT_ULL(i)) | (u64)unknown << i;
	standing->since[i] = since;
	standing->late = (standing->late & ~BIT_ULL(i)) | (u64)late << i;
}

/*
 * The source of an unknown way was admitted: if it becomes known, returns WEIR_MET. Under
 * both locks.
 */
u16 weir_way_meet(const struct weir_table *table, struct weir_bucket *bucket,
		  struct weir_way *way, u64 tick, const struct weir_permit *permit)
{
	unsigned int i = weir_bucket_index(table, bucket, way);
	u16 from = weir_bucket_standing(table, bucket)->since[i], passed = weir_since(tick) - from;

	if (!(way->scope & WEIR_SCOPE_UNKNOWN) ||
	    /* A clock that is late has not come there yet. */
	    passed == U16_MAX ||
	    /* Both times are rounded down. */
	    (u64)passed * WEIR_SINCE_TICKS < permit->known_ticks + WEIR_SINCE_TICKS)
		return 0;
	weir_way_write_begin(way);
	weir_way_stand(table, bucket, i, false, from, permit->late);
	write_seqcount_end(&way->seq);
	return WEIR_MET;
}

/* The source of a way is unknown again, since when it was. Under both locks. */
void weir_way_unmeet(const struct weir_table *table, struct weir_bucket *bucket,
		     struct weir_way *way)
{
	unsigned int i = weir_bucket_index(table, bucket, way);

	weir_way_write_begin(way);
	weir_way_stand(table, bucket, i, true, weir_bucket_standing(table, bucket)->since[i],
		       false);
	write_seqcount_end(&way->seq);
}
