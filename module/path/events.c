// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet path adds events to a ring of fixed size, if there are listeners; a work item
 * takes them out and tells the chain, which sends them. A full ring loses the new event and
 * counts it.
 */
#include <linux/jiffies.h>
#include <linux/kfifo.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "limit/limit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "path/events.h"

/* The shortest time between two pressure events of a table. */
#define PRESSURE_TICKS HZ

BLOCKING_NOTIFIER_HEAD(weir_told);
const struct genl_family *weir_events_family;

struct weir_events {
	struct work_struct work;	/* the only one that takes events out */
	spinlock_t lock;		/* of the ring */
	DECLARE_KFIFO(ring, struct weir_event, 256);
};

static void events_work(struct work_struct *work)
{
	struct weir_events *events = container_of(work, struct weir_events, work);
	struct weir_event event;

	while (kfifo_out_spinlocked(&events->ring, &event, 1, &events->lock)) {
		blocking_notifier_call_chain(&weir_told, event.cmd, &event);
		cond_resched();
	}
}

bool weir_events_heard(const struct weir_net *wn)
{
	/* Pairs with weir_nl_events_start(). */
	const struct genl_family *family = READ_ONCE(weir_events_family);

	/* The family has one group. */
	return family ? genl_has_listeners(family, wn->net, 0) : false;
}

static void event_add(const struct weir_event *event)
{
	struct weir_net *wn = event->wn;
	struct weir_events *events;

	/* Sample the pressure even without listeners: see weir_pressure_sources(). */
	if (event->cmd != WEIR_CMD_PRESSURE_NTF && !weir_events_heard(wn))
		return;
	/* Pairs with the publication of the limit: the ring was there before. */
	smp_rmb();
	events = wn->events;
	if (kfifo_in_spinlocked_noirqsave(&events->ring, event, 1, &events->lock))
		queue_work(system_unbound_wq, &events->work);
	else
		atomic64_inc(&wn->events_lost);
}

int weir_events_start(struct weir_net *wn)
{
	struct weir_events *events = kzalloc(sizeof(*events), GFP_KERNEL_ACCOUNT);

	if (!events)
		return -ENOMEM;
	spin_lock_init(&events->lock);
	INIT_KFIFO(events->ring);
	INIT_WORK(&events->work, events_work);
	wn->events = events;
	return 0;
}

/* No packet has had a limit for a grace period. */
void weir_events_stop(struct weir_net *wn)
{
	if (!wn->events)
		return;
	cancel_work_sync(&wn->events->work);
	kfree(wn->events);
	wn->events = NULL;
}

/* A source became limited: @limit has no room for it. */
void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source)
{
	event_add(&(struct weir_event) { wn, limit->id, WEIR_CMD_SOURCE_NTF, *source });
}

/* A newcomer found no entry in the table of @limit. Two CPUs may both report it. */
void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit, u64 tick)
{
	unsigned long last = READ_ONCE(limit->pressure->reported);

	/* Pairs with itself on other CPUs; 0 is never. */
	if (last && (unsigned long)tick - last < PRESSURE_TICKS)
		return;
	WRITE_ONCE(limit->pressure->reported, (unsigned long)tick ?: 1);
	event_add(&(struct weir_event) { wn, limit->id, WEIR_CMD_PRESSURE_NTF });
}

/* The newcomers' budget is used up, for the first time in a window. */
void weir_event_newcomers(struct weir_net *wn, const struct weir_limit *limit)
{
	event_add(&(struct weir_event) { wn, limit->id, WEIR_CMD_NEWCOMERS_NTF });
}
