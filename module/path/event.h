/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events for listeners. See the top of netlink_event.c.
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include <linux/types.h>

struct weir_edit;
struct weir_limit;
struct weir_net;
struct weir_source;

/* The ring, allocated as long as the hooks. Context: process, namespace locked. */
int weir_events_start(struct weir_net *wn);
void weir_events_stop(struct weir_net *wn);

/* From the packet path, with BH off. */
void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source);
void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit,
			 u64 tick);
void weir_event_newcomers(struct weir_net *wn, const struct weir_limit *limit);

/* Send the differences between configurations, before the old one is freed. */
void weir_event_config(const struct weir_edit *edit);

/* The counters of a limit were reset. Context: process. */
void weir_event_reset(struct weir_net *wn, const struct weir_limit *limit);

#endif /* WEIR_EVENT_H */
