/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What listeners are told: noted by the packet path in a fixed ring, sent by
 * a work item. What finds the ring full is lost, and counted.
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "source.h"

struct weir_limit;
struct weir_net;

/* Values up to WEIR_EVENT_REMOVED are those of the wire. */
enum weir_event_type {
	WEIR_EVENT_LIMIT_ADDED,
	WEIR_EVENT_LIMIT_CHANGED,
	WEIR_EVENT_LIMIT_REMOVED,
	WEIR_EVENT_SOURCE,	/* a source became limited */
	WEIR_EVENT_PRESSURE,	/* a table is too small */
};

/**
 * struct weir_event - one thing to tell
 * @source: whole where a source became limited
 * @limit: id of the limit
 */
struct weir_event {
	enum weir_event_type type;
	u32 limit;
	struct weir_source source;
};

#define WEIR_EVENTS 256

/**
 * struct weir_events - the ring of a namespace
 * @lock: protects the next three; BH
 * @ring: noted and not yet sent
 * @first: the oldest
 * @count: of them
 * @work: sends
 * @lost: found the ring full
 */
struct weir_events {
	spinlock_t lock;	/* protects ring, first and count */
	struct weir_event ring[WEIR_EVENTS];
	unsigned int first;
	unsigned int count;

	struct work_struct work;
	atomic64_t lost;
};

void weir_events_init(struct weir_events *events);
void weir_events_exit(struct weir_events *events);
void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source);
void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit,
			 u64 tick);
void weir_event_limit(struct weir_net *wn, enum weir_event_type type,
		      const struct weir_limit *limit);

#endif /* WEIR_EVENT_H */
