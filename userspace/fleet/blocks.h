/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks that the hosts of a group share: those of the bucket, and those of this host. */
#ifndef FLEET_BLOCKS_H
#define FLEET_BLOCKS_H

#include "bucket.h"
#include "feed.h"
#include "host.h"

struct fleet_blocks;

/* @shared: names of limits, separated by commas, or "all". NULL: out of memory. */
struct fleet_blocks *fleet_blocks_new(const char *host, const char *shared);
void fleet_blocks_free(struct fleet_blocks *blocks);
const struct fleet_block_counts *fleet_blocks_counts(const struct fleet_blocks *blocks);

/*
 * A session begins: the bucket will repeat all that it has, and then fleet_blocks_joined(). Blocks
 * that hold one of the servers are not applied.
 */
void fleet_blocks_begin(struct fleet_blocks *blocks, const struct fleet_servers *servers);
/* A key has changed, @age_ms ago. */
void fleet_blocks_change(struct fleet_blocks *blocks, const struct fleet_change *change,
			 int64_t age_ms);
/*
 * The bucket has repeated everything: tell it what it has lost, and what was blocked on this host
 * meanwhile. 0, or -EIO with a sentence.
 */
int fleet_blocks_joined(struct fleet_blocks *blocks, struct fleet_bucket *bucket,
			struct weir_err *err);
/* A line of weir monitor. The same; without a bucket it is told when the next session joins. */
int fleet_blocks_event(struct fleet_blocks *blocks, struct fleet_bucket *bucket,
		       const char *line, struct weir_err *err);
/* Compare with what is blocked on this host: at the start, and where events were lost. */
int fleet_blocks_compare(struct fleet_blocks *blocks, struct fleet_bucket *bucket,
			 struct weir_err *err);
/* Have weir do what the changes want. */
void fleet_blocks_apply(struct fleet_blocks *blocks);
/* The limits, or the module, are new: want all of it again. */
void fleet_blocks_again(struct fleet_blocks *blocks);
/* Drop what has ended, also from the bucket unless that is NULL. */
void fleet_blocks_end(struct fleet_blocks *blocks, struct fleet_bucket *bucket);

#endif
