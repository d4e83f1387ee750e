// SPDX-License-Identifier: GPL-2.0-only
/*
 * What listeners are told.
 */
#include "netlink_priv.h"

#define EVENTS_GROUP 0

static_assert(WEIR_EVENT_LIMIT_ADDED == (u32)WEIR_LIMIT_EVENT_ADDED);
static_assert(WEIR_EVENT_LIMIT_CHANGED == (u32)WEIR_LIMIT_EVENT_CHANGED);
static_assert(WEIR_EVENT_LIMIT_REMOVED == (u32)WEIR_LIMIT_EVENT_REMOVED);

/* No group is ours any more; read in RCU sections that send. */
static bool silent;

/**
 * weir_nl_silence - tell nobody anything from now on
 *
 * Context: process, may sleep.
 */
void weir_nl_silence(void)
{
	/* Pairs with weir_netlink_heard() and event_end(). */
	WRITE_ONCE(silent, true);
	synchronize_rcu();
}

/**
 * weir_netlink_heard - does anybody listen?
 * @wn: namespace
 *
 * Context: any.
 */
bool weir_netlink_heard(const struct weir_net *wn)
{
	return !READ_ONCE(silent) &&
	       genl_has_listeners(&weir_nl_family, wn->net, EVENTS_GROUP);
}

static struct sk_buff *event_begin(u8 cmd, void **header)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (skb)
		*header = genlmsg_put(skb, 0, 0, &weir_nl_family, 0, cmd);
	return skb;
}

/* Send an event, or lose it if it could not be filled. */
static void event_end(struct weir_net *wn, struct sk_buff *skb, void *header,
		      int err)
{
	if (err) {
		nlmsg_free(skb);
		atomic64_inc(&wn->events.lost);
		return;
	}
	genlmsg_end(skb, header);
	rcu_read_lock();
	if (READ_ONCE(silent))
		nlmsg_free(skb);
	else
		genlmsg_multicast_netns(&weir_nl_family, wn->net, skb, 0,
					EVENTS_GROUP, GFP_ATOMIC);
	rcu_read_unlock();
}

/**
 * weir_netlink_limit - tell what became of a limit
 * @wn: namespace, locked
 * @type: WEIR_EVENT_LIMIT_*
 * @limit: limit
 *
 * Context: process, may sleep.
 */
void weir_netlink_limit(struct weir_net *wn, enum weir_event_type type,
			const struct weir_limit *limit)
{
	u32 unit = limit->bytes ? WEIR_UNIT_BYTES : WEIR_UNIT_PACKETS;
	u32 action = limit->observe ? WEIR_ACTION_OBSERVE : WEIR_ACTION_DROP;
	struct sk_buff *skb;
	void *header;
	int err;

	if (!weir_netlink_heard(wn))
		return;
	skb = event_begin(WEIR_CMD_LIMIT_NTF, &header);
	err = !skb ||
	      nla_put_string(skb, WEIR_A_LIMIT_NAME, limit->name) ||
	      nla_put_u32(skb, WEIR_A_LIMIT_EVENT, type) ||
	      nla_put_u64_64bit(skb, WEIR_A_LIMIT_BUDGET, limit->budget,
				WEIR_A_LIMIT_PAD) ||
	      nla_put_u32(skb, WEIR_A_LIMIT_WINDOW_MS, limit->window_ms) ||
	      nla_put_u32(skb, WEIR_A_LIMIT_UNIT, unit) ||
	      nla_put_u32(skb, WEIR_A_LIMIT_ACTION, action);
	event_end(wn, skb, header, err);
}

/**
 * weir_netlink_source - tell that a source became limited
 * @wn: namespace, locked
 * @limit: that has no room for it
 * @state: how the source stands now
 *
 * Context: process, may sleep.
 */
void weir_netlink_source(struct weir_net *wn, const struct weir_limit *limit,
			 const struct weir_source_state *state)
{
	struct weir_nl_view view;
	struct sk_buff *skb;
	void *header;
	int err;

	weir_nl_view(&view, limit);
	skb = event_begin(WEIR_CMD_SOURCE_NTF, &header);
	err = !skb || weir_nl_put_source(skb, wn->net, &view, state);
	event_end(wn, skb, header, err);
}

/**
 * weir_netlink_pressure - tell that a table is too small for what it meets
 * @wn: namespace, locked
 * @limit: whose table
 *
 * Context: process, may sleep.
 */
void weir_netlink_pressure(struct weir_net *wn, const struct weir_limit *limit)
{
	struct weir_counts counts;
	struct sk_buff *skb;
	void *header;
	u64 wanted;
	int err;

	weir_limit_counts(limit, &counts);
	wanted = weir_pressure_sources(limit);
	skb = event_begin(WEIR_CMD_PRESSURE_NTF, &header);
	err = !skb ||
	      nla_put_string(skb, WEIR_A_PRESSURE_LIMIT, limit->name) ||
	      nla_put_u64_64bit(skb, WEIR_A_PRESSURE_EVICTIONS,
				counts.evictions, WEIR_A_PRESSURE_PAD) ||
	      nla_put_u64_64bit(skb, WEIR_A_PRESSURE_FLOOR_REFUSED,
				counts.packets[WEIR_FLOOR_REFUSED],
				WEIR_A_PRESSURE_PAD) ||
	      nla_put_u64_64bit(skb, WEIR_A_PRESSURE_SOURCES_WANTED, wanted,
				WEIR_A_PRESSURE_PAD);
	event_end(wn, skb, header, err);
}
