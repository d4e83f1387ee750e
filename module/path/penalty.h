/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEIR_PENALTY_H
#define WEIR_PENALTY_H

#include "limit/limit.h"

struct weir_net;

/*
 * A limit, perhaps with a penalty, refused a packet of @source, a whole address,
 * whose way is that of @lookup; of refusals it sees the first. BH off, RCU read lock.
 */
void weir_penalty(struct weir_net *wn, const struct weir_limit *limit,
		  struct weir_lookup *lookup, const struct weir_source *source, u16 result);

#endif /* WEIR_PENALTY_H */
