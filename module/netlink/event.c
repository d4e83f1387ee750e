// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events are sent as notifications: changes of the configuration, operations on sources, and
 * what the packet path has put into its ring, with how the source stands now.
 */
#include <linux/slab.h>

#include "clock.h"
#include "config/edit.h"
#include "limit/stats.h"
#include "netlink/message.h"
#include "path/events.h"

static struct sk_buff *message_new(u8 cmd)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (skb)
		genlmsg_put(skb, 0, 0, &weir_nl_family, 0, cmd);
	return skb;
}

/* Send a message, or count it as lost if it could not be filled. */
static void message_send(struct weir_net *wn, struct sk_buff *skb, bool filled)
{
	if (!filled) {
		nlmsg_free(skb);
		atomic64_inc(&wn->events_lost);
		return;
	}
	nlmsg_end(skb, nlmsg_hdr(skb));
	genlmsg_multicast_netns(&weir_nl_family, wn->net, skb, 0, WEIR_NLGRP_EVENTS, GFP_KERNEL);
}

static void limit_notify(struct weir_net *wn, u32 what, const struct weir_limit *limit,
			 const struct weir_limit *before)
{
	struct sk_buff *skb = message_new(WEIR_CMD_LIMIT_NTF);

	message_send(wn, skb, skb && !nla_put_u32(skb, WEIR_A_LIMIT_EVENT, what) &&
		     !weir_nl_put_limit(skb, limit, NULL) &&
		     (!before || !nla_put_string(skb, WEIR_A_LIMIT_BEFORE, before->cfg.name)));
}

static void limit_renamed(struct weir_net *wn, const struct weir_limit *was,
			  const struct weir_limit *limit, const struct weir_limit *before)
{
	struct sk_buff *skb = message_new(WEIR_CMD_LIMIT_NTF);

	message_send(wn, skb, skb &&
		     !nla_put_u32(skb, WEIR_A_LIMIT_EVENT, WEIR_LIMIT_EVENT_RENAMED) &&
		     !weir_nl_put_limit(skb, was, NULL) &&
		     !nla_put_string(skb, WEIR_A_LIMIT_NEW_NAME, limit->cfg.name) &&
		     (!before || !nla_put_string(skb, WEIR_A_LIMIT_BEFORE, before->cfg.name)));
}

static void exempt_notify(struct weir_net *wn, u32 what, const struct weir_config *config,
			  const struct weir_exception *exception)
{
	struct sk_buff *skb = message_new(WEIR_CMD_EXEMPT_NTF);
	struct weir_exception told = *exception;

	/* One that has ended has no time left. */
	if (what == WEIR_LIMIT_EVENT_REMOVED && told.end <= weir_clock())
		told.end = 0;
	message_send(wn, skb, skb && !nla_put_u32(skb, WEIR_A_EXEMPT_EVENT, what) &&
		     !weir_nl_put_exempt(skb, config, &told));
}

void weir_nl_event_reset(struct weir_net *wn, const struct weir_limit *limit)
{
	if (weir_events_heard(wn))
		limit_notify(wn, WEIR_LIMIT_EVENT_RESET, limit, NULL);
}

/* Does an old limit still exist? */
static bool limit_is_there(const struct weir_edit *edit, const struct weir_limit *limit)
{
	unsigned int i;

	for (i = 0; i < edit->count; i++)
		if (edit->was[i] == limit)
			return true;
	return false;
}

/* The first limit after an old one that still exists, or NULL. */
static const struct weir_limit *old_next(const struct weir_edit *edit,
					 const struct weir_limit *limit)
{
	unsigned int i = 0;

	while (edit->old->limit[i] != limit)
		i++;
	while (++i < edit->old->count)
		if (limit_is_there(edit, edit->old->limit[i]))
			return edit->old->limit[i];
	return NULL;
}

/* Is a limit unchanged, except for whether the number of slots was given? */
static bool limit_stays(const struct weir_limit *limit, const struct weir_limit *was)
{
	const struct weir_budget_config *is = limit->cfg.budget, *before = was->cfg.budget;
	unsigned int i = 0;

	while (i < WEIR_BUDGETS_MAX && limit->meter[i].slots == was->meter[i].slots &&
	       !memcmp(&is[i], &before[i], offsetof(struct weir_budget_config, slots)))
		i++;
	return i == WEIR_BUDGETS_MAX &&
	       !memcmp(&limit->cfg, &was->cfg, offsetof(struct weir_limit_config, budget));
}

/* Each event names the limit that follows, so the last limit is sent first. */
static void limits_notify(const struct weir_edit *edit)
{
	const struct weir_limit *limit, *was, *before = NULL, *next = NULL;
	unsigned int i;

	for (i = edit->count; i--; before = limit) {
		limit = edit->limit[i];
		was = edit->was[i];
		if (!was)
			limit_notify(edit->wn, WEIR_LIMIT_EVENT_ADDED, limit, before);
		else if (strcmp(limit->cfg.name, was->cfg.name))
			limit_renamed(edit->wn, was, limit, before);
		else if (!limit_stays(limit, was) || old_next(edit, was) != next)
			limit_notify(edit->wn, WEIR_LIMIT_EVENT_CHANGED, limit, before);
		else if (limit->alone != was->alone)
			limit_notify(edit->wn, limit->alone ? WEIR_LIMIT_EVENT_ALONE :
				     WEIR_LIMIT_EVENT_JOINED, limit, before);
		next = was ?: next;
	}
}

/* Send the exemptions of one configuration that are not in the other, or are changed. */
static void exempts_notify(struct weir_net *wn, u32 what, const struct weir_config *config,
			   const struct weir_config *other)
{
	const struct weir_exception *exception, *was;
	unsigned int i;
	int at;

	for (i = 0; config && i < weir_exceptions_count(config->exceptions); i++) {
		exception = weir_exceptions_at(config->exceptions, i);
		at = other ? weir_exceptions_find(other->exceptions, exception) : -1;
		was = at < 0 ? NULL : weir_exceptions_at(other->exceptions, at);
		if (!was)
			exempt_notify(wn, what, config, exception);
		else if (what == WEIR_LIMIT_EVENT_ADDED &&
			 (was->stats != exception->stats || was->end != exception->end))
			exempt_notify(wn, WEIR_LIMIT_EVENT_CHANGED, config, exception);
	}
}

static void config_notify(const struct weir_edit *edit)
{
	const struct weir_config *now = weir_config_get(edit->wn);
	struct weir_net *wn = edit->wn;
	unsigned int i;

	if (!weir_events_heard(wn))
		return;
	exempts_notify(wn, WEIR_LIMIT_EVENT_REMOVED, edit->old, now);
	for (i = 0; edit->old && i < edit->old->count; i++)
		if (!limit_is_there(edit, edit->old->limit[i]))
			limit_notify(wn, WEIR_LIMIT_EVENT_REMOVED, edit->old->limit[i], NULL);
	limits_notify(edit);
	exempts_notify(wn, WEIR_LIMIT_EVENT_ADDED, now, edit->old);
}

/* Send an operation on sources, WEIR_SOURCE_EVENT_*, with the reply's attributes. */
void weir_nl_event_done(struct weir_net *wn, u32 what, const struct nlmsghdr *reply)
{
	struct sk_buff *skb;

	if (!weir_events_heard(wn))
		return;
	skb = message_new(WEIR_CMD_SOURCE_NTF);
	message_send(wn, skb, skb && !nla_put_u32(skb, WEIR_A_SOURCE_EVENT, what) &&
		     !nla_append(skb, nlmsg_attrlen(reply, GENL_HDRLEN),
				 nlmsg_attrdata(reply, GENL_HDRLEN)));
}

static int put_pressure(struct sk_buff *skb, const struct weir_limit *limit)
{
	struct weir_counters counters;

	weir_limit_counters(limit, &counters);
	return nla_put_string(skb, WEIR_A_PRESSURE_LIMIT, limit->cfg.name) ||
	       weir_nl_put_u64(skb, WEIR_A_PRESSURE_EVICTIONS, counters.evictions) ||
	       weir_nl_put_u64(skb, WEIR_A_PRESSURE_FLOOR_REFUSED,
			       counters.packets[WEIR_FLOOR_REFUSED]) ||
	       weir_nl_put_u64(skb, WEIR_A_PRESSURE_BLOCKS_LOST, counters.blocks_lost) ||
	       weir_nl_put_u64(skb, WEIR_A_PRESSURE_SOURCES_WANTED,
			       weir_pressure_sources(limit, weir_clock()));
}

static int put_newcomers(struct sk_buff *skb, const struct weir_limit *limit)
{
	struct weir_newcomers_state state = { };
	struct weir_counters counters;

	if (limit->newcomers.budget)
		weir_newcomers_peek(&limit->newcomers, weir_clock(), &state);
	weir_limit_counters(limit, &counters);
	return nla_put_string(skb, WEIR_A_NEWCOMERS_LIMIT, limit->cfg.name) ||
	       weir_nl_put_u64(skb, WEIR_A_NEWCOMERS_REFUSED,
			       counters.packets[WEIR_NEWCOMERS_REFUSED]) ||
	       weir_nl_put_u64(skb, WEIR_A_NEWCOMERS_NEXT_NS, weir_ticks_ns(state.wait));
}

static int put_source(struct sk_buff *skb, const struct weir_net *wn,
		      const struct weir_limit *limit, const struct weir_source *source)
{
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];

	weir_nl_peek(wn, limit, source, NULL, &state, slot);
	return nla_put_u32(skb, WEIR_A_SOURCE_EVENT, state.blocked ? WEIR_SOURCE_EVENT_BLOCKED :
			   WEIR_SOURCE_EVENT_LIMITED) ||
	       weir_nl_put_source(skb, wn->net, limit, &state, NULL);
}

static void event_notify(const struct weir_event *event)
{
	struct sk_buff *skb = message_new(event->cmd);
	const struct weir_limit *limit;
	bool filled = false;

	rcu_read_lock();
	limit = weir_limit_by_id(weir_config_get(event->wn), event->limit);
	if (limit && skb)
		filled = !(event->cmd == WEIR_CMD_PRESSURE_NTF ? put_pressure(skb, limit) :
			   event->cmd == WEIR_CMD_NEWCOMERS_NTF ? put_newcomers(skb, limit) :
			   put_source(skb, event->wn, limit, &event->source));
	rcu_read_unlock();
	if (limit)
		message_send(event->wn, skb, filled);
	else
		nlmsg_free(skb);
}

static int told(struct notifier_block *block, unsigned long cmd, void *data)
{
	if (cmd == WEIR_CMD_CONFIG_REPLACE)
		config_notify(data);
	else
		event_notify(data);
	return NOTIFY_DONE;
}

static struct notifier_block listener = { .notifier_call = told };

void weir_nl_events_start(void)
{
	blocking_notifier_chain_register(&weir_told, &listener);
	/* Pairs with weir_events_heard(). */
	WRITE_ONCE(weir_events_family, &weir_nl_family);
}

/* Nothing is told any more, in any namespace. May sleep. */
void weir_nl_events_stop(void)
{
	/* Likewise. */
	WRITE_ONCE(weir_events_family, NULL);
	blocking_notifier_chain_unregister(&weir_told, &listener);
}
