// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet path puts what is to be told into a ring of fixed size, if
 * somebody listens; a work item takes it out, looks up how the source stands
 * now, and sends. A full ring loses the new event and counts it.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>

#include "event.h"
#include "hook.h"
#include "limit.h"
#include "netlink.h"
#include "table.h"
#include "weir.h"

/* Pressure on a table is told at most so often. */
#define PRESSURE_TICKS HZ

static bool event_take(struct weir_events *events, struct weir_event *event)
{
	bool some;

	spin_lock_bh(&events->lock);
	some = events->count;
	if (some) {
		*event = events->ring[events->first];
		events->first = (events->first + 1) % WEIR_EVENTS;
		events->count--;
	}
	spin_unlock_bh(&events->lock);
	return some;
}

static void event_note(struct weir_net *wn, const struct weir_event *event)
{
	struct weir_events *events = &wn->events;
	bool room;

	/* Pressure is sampled by who sends. */
	if (event->type != WEIR_EVENT_PRESSURE && !weir_netlink_heard(wn))
		return;
	spin_lock_bh(&events->lock);
	room = events->count < WEIR_EVENTS;
	if (room) {
		events->ring[(events->first + events->count) % WEIR_EVENTS] =
			*event;
		events->count++;
	}
	spin_unlock_bh(&events->lock);
	if (room)
		queue_work(system_unbound_wq, &events->work);
	else
		atomic64_inc(&events->lost);
}

/* Under the namespace's mutex, which keeps the limit. */
static void event_send(struct weir_net *wn, const struct weir_event *event)
{
	const struct weir_config *config = weir_config_get(wn);
	const struct weir_limit *limit = NULL;
	struct weir_source_state state;
	struct weir_source masked;
	u64 slot[WEIR_SLOTS_MAX + 1];
	unsigned int i;

	for (i = 0; config && i < config->count; i++)
		if (config->limit[i]->id == event->limit)
			limit = config->limit[i];
	if (!limit)
		return;
	if (event->type == WEIR_EVENT_PRESSURE) {
		weir_pressure_sample(limit, weir_hook_clock());
		weir_netlink_pressure(wn, limit);
		return;
	}
	masked = event->source;
	weir_source_mask(&masked, limit->prefix);
	weir_table_peek(limit->table, &masked,
			weir_source_hash(&masked, limit->prefix, &wn->key),
			weir_hook_clock(), limit->budget, &state, slot);
	weir_refusals_pending(&config->refusals, limit, &state, 1);
	weir_netlink_source(wn, limit, &state);
}

static void events_work(struct work_struct *work)
{
	struct weir_net *wn = container_of(work, struct weir_net, events.work);
	struct weir_event event;

	while (event_take(&wn->events, &event)) {
		mutex_lock(&wn->lock);
		event_send(wn, &event);
		mutex_unlock(&wn->lock);
		cond_resched();
	}
}

/**
 * weir_events_init - an empty ring
 * @events: of a namespace
 */
void weir_events_init(struct weir_events *events)
{
	spin_lock_init(&events->lock);
	INIT_WORK(&events->work, events_work);
	atomic64_set(&events->lost, 0);
}

/**
 * weir_events_exit - send nothing any more
 * @events: of a namespace whose hooks are gone
 */
void weir_events_exit(struct weir_events *events)
{
	cancel_work_sync(&events->work);
}

/**
 * weir_event_source - note that a source became limited
 * @wn: namespace
 * @limit: that has no room for it
 * @source: whole
 *
 * Context: BH off.
 */
void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source)
{
	struct weir_event event = {
		.type = WEIR_EVENT_SOURCE,
		.limit = limit->id,
		.source = *source,
	};

	event_note(wn, &event);
}

/**
 * weir_event_pressure - note that a table is too small for what it meets
 * @wn: namespace
 * @limit: whose table
 * @tick: now
 *
 * Context: BH off. Two CPUs may both note it, which is told twice.
 */
void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit,
			 u64 tick)
{
	unsigned long last = READ_ONCE(limit->pressure->told);

	/* Pairs with itself on other CPUs; 0 is never. */
	if (last && (unsigned long)tick - last < PRESSURE_TICKS)
		return;
	WRITE_ONCE(limit->pressure->told, (unsigned long)tick ?: 1);
	event_note(wn, &(struct weir_event) {
		.type = WEIR_EVENT_PRESSURE,
		.limit = limit->id,
	});
}

/**
 * weir_event_limit - tell that a limit came, changed or went
 * @wn: namespace, locked
 * @type: which of the three
 * @limit: limit
 *
 * Context: process, may sleep.
 */
void weir_event_limit(struct weir_net *wn, enum weir_event_type type,
		      const struct weir_limit *limit)
{
	weir_netlink_limit(wn, type, limit);
}
