/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits whose counts this host shares with the others of its group. */
#ifndef FLEET_SHARES_H
#define FLEET_SHARES_H

#include "bus.h"
#include "host.h"

struct fleet_shares;

/* NULL: out of memory, or threads. */
struct fleet_shares *fleet_shares_new(const char *host, const char *group);
void fleet_shares_free(struct fleet_shares *shares);

/* Begin to share over a connection; without @bus end, and forget what was heard. */
void fleet_shares_join(struct fleet_shares *shares, struct fleet_bus *bus);
/* So many other hosts are there to be heard; until then it is unknown whether any is. */
void fleet_shares_expect(struct fleet_shares *shares, unsigned int others);
/* Ask which limits are shared now; 0, or -EIO with a sentence: the connection is of no use. */
int fleet_shares_refresh(struct fleet_shares *shares, struct weir_err *err);
/* late_ms is since the last time that it was to @tell; recent ones are left 0. */
void fleet_shares_count(struct fleet_shares *shares, struct fleet_share_counts *counts, bool tell);

#endif
