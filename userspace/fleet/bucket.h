/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A key-value bucket. */
#ifndef FLEET_BUCKET_H
#define FLEET_BUCKET_H

#include <stdint.h>

#include "bus.h"

#define FLEET_BLOCKS_MOST	65536		/* of a group */
#define FLEET_AUTHOR	"Weir-Author"	/* header of a configuration: who pushed it */
#define FLEET_ANY	UINT64_MAX	/* whatever the revision */

enum fleet_kind {
	FLEET_CONFIGS,		/* of all groups, and what canaries try: all revisions, up to 64 */
	FLEET_STATUSES,		/* of all hosts: the last of each */
	FLEET_BLOCKS,		/* of a group: the last of each */
	FLEET_KINDS
};

struct fleet_bucket {
	struct fleet_bus *bus;
	kvStore *store;
	char stream[128];
	const char *name;	/* within that */
};

/* @group: whose blocks. 0, -ENOENT if it is not there, or -EIO; with a sentence. */
int fleet_bucket_open(struct fleet_bucket *bucket, struct fleet_bus *bus, enum fleet_kind kind,
		      const char *group, struct weir_err *err);
/*
 * Likewise, but make it if it is not there; -EREMOTEIO if the server refuses. So many servers of a
 * cluster are to keep it; 0: as it is, or 1.
 */
int fleet_bucket_make(struct fleet_bucket *bucket, struct fleet_bus *bus, enum fleet_kind kind,
		      const char *group, int64_t replicas, struct weir_err *err);
void fleet_bucket_close(struct fleet_bucket *bucket);

/*
 * Write a value if the key's revision is @last (0: there is no such key). @author and @revision may
 * be NULL. 0, -ESTALE if it is another one, -EREMOTEIO if the server refuses, as when the bucket is
 * full, or -EIO if there is no answer; with a sentence.
 */
int fleet_bucket_put(struct fleet_bucket *bucket, const char *key, const char *value, size_t size,
		     uint64_t last, const char *author, uint64_t *revision, struct weir_err *err);
/* Mark a key as deleted. */
int fleet_bucket_delete(struct fleet_bucket *bucket, const char *key, struct weir_err *err);
/* Remove a revision, if it is still there, without a mark. */
void fleet_bucket_forget(struct fleet_bucket *bucket, uint64_t revision);
/* Who wrote a revision; "" if it does not say. */
void fleet_bucket_author(struct fleet_bucket *bucket, uint64_t revision, char *author, size_t size);

#endif
