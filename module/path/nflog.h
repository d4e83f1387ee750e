/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sample what a limit drops to a group of nflog. See the top of nflog.c.
 */
#ifndef WEIR_NFLOG_H
#define WEIR_NFLOG_H

#include "limit/limit.h"
#include "limit/net.h"
#include "limit/result.h"
#include "packet/packet.h"

struct weir_error;

/*
 * Hold the module that logs for a limit that has a group, unless @was does, which it replaces.
 * Context: process, namespace locked. May load the module.
 */
int weir_nflog_get(const struct weir_limit *limit, const struct weir_limit *was,
		   struct weir_error *error);
/* Release it a grace period after its last packet, unless @heir holds it; it may be NULL. */
void weir_nflog_put(const struct weir_limit *limit, const struct weir_limit *heir);

/* A limit that has a group drops a packet, which has a buffer. Context: BH off, RCU read lock. */
void weir_nflog_drop(const struct weir_net *wn, const struct weir_limit *limit,
		     const struct weir_packet *packet, struct weir_result result, u64 tick);

#endif /* WEIR_NFLOG_H */
