/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of the packet path, on their way to listeners. See the top of events.c.
 */
#ifndef WEIR_EVENTS_H
#define WEIR_EVENTS_H

#include <linux/notifier.h>
#include <linux/types.h>

#include "packet/source.h"

struct genl_family;
struct weir_limit;
struct weir_net;

/* What happened at a limit. */
struct weir_event {
	struct weir_net *wn;
	u32 limit;		/* its id */
	u8 cmd;			/* of its message: WEIR_CMD_* */
	struct weir_source source;	/* whole address, if it became limited */
};

/* The ring, allocated as long as the hooks. Context: process, namespace locked. */
int weir_events_start(struct weir_net *wn);
void weir_events_stop(struct weir_net *wn);

/*
 * What is told of events, by their commands, and with WEIR_CMD_CONFIG_REPLACE of an edit that is
 * published, while the old configuration is still there. May sleep.
 */
extern struct blocking_notifier_head weir_told;
/* Whose listeners there may be, or NULL. */
extern const struct genl_family *weir_events_family;
/* Is anybody listening? In any context. */
bool weir_events_heard(const struct weir_net *wn);

/* From the packet path, with BH off. */
void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source);
void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit, u64 tick);
void weir_event_newcomers(struct weir_net *wn, const struct weir_limit *limit);

#endif /* WEIR_EVENTS_H */
