/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Give a group its configuration. */
#ifndef FLEET_PUSH_H
#define FLEET_PUSH_H

#include "bucket.h"

struct fleet;

/*
 * Write config.GROUP, whose revision has to be @last, and say so; @how is noted with the author.
 * Returns an enum weir_exit.
 */
int fleet_push_config(struct fleet *fleet, struct fleet_bucket *bucket, const char *config,
		      size_t size, uint64_t last, const char *how);

#endif
