// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forgetting sources: one, those within a prefix, or all; and what limits have counted.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/socket.h>

#include "clock.h"
#include "limit/stats.h"
#include "netlink/message.h"
#include "path/refusal.h"

/* Room for the message of one limit. */
#define FORGOTTEN_ROOM 160

struct forget {
	struct weir_nl_within within;	/* empty: all sources, and the floors */
	bool one;			/* it is a whole address */
	struct weir_source source;	/* that address */
	struct weir_net_prefix prefix;	/* what was forgotten under a limit */
	u64 forgotten;			/* sources */
	struct weir_source_state *state; /* room for those of a set */
};

static int forget_parse(struct genl_info *info, const struct weir_net *wn, struct forget *forget)
{
	const struct weir_net_prefix *prefix = &forget->within.prefix;
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr **attrs = info->attrs;
	int err;

	err = weir_nl_within(attrs, wn, &forget->within, extack);
	if (err)
		return err;
	if (attrs[WEIR_A_SOURCE_DEV] && !attrs[WEIR_A_SOURCE_ADDRESS]) {
		NL_SET_ERR_ATTR_MISS(extack, NULL, WEIR_A_SOURCE_ADDRESS);
		return weir_nl_refuse(extack, attrs[WEIR_A_SOURCE_DEV],
				      "dev requires an address on that device");
	}
	forget->one = prefix->len == (prefix->family == AF_INET ? 32 : 128);
	return forget->one ? weir_nl_sender(attrs, wn, &forget->source, extack) : 0;
}

static int put_forgotten(struct sk_buff *skb, const struct weir_net *wn,
			 const struct forget *forget, const struct weir_limit *limit)
{
	const struct weir_net_prefix *prefix = &forget->prefix;

	return (prefix->family &&
		weir_nl_put_prefix(skb, WEIR_A_SOURCE_ADDRESS, WEIR_A_SOURCE_PREFIX_LEN, prefix)) ||
	       weir_nl_put_dev(skb, WEIR_A_SOURCE_DEV, wn->net, forget->within.ifindex) ||
	       (limit && nla_put_string(skb, WEIR_A_SOURCE_LIMIT, limit->cfg.name)) ||
	       weir_nl_put_u64(skb, WEIR_A_SOURCE_FORGOTTEN, forget->forgotten) ? -EMSGSIZE : 0;
}

/* Report to the caller, and unless nothing was forgotten, to listeners. */
static void forget_notify(struct weir_net *wn, const struct forget *forget,
			  const struct weir_limit *limit, struct genl_info *info,
			struct sk_buff *reply)
{
	struct nlmsghdr *message = (struct nlmsghdr *)skb_tail_pointer(reply);
	void *header;

	header = genlmsg_put_reply(reply, info, &weir_nl_family, 0, WEIR_CMD_SOURCE_FORGET);
	/* There is room: see FORGOTTEN_ROOM. */
	if (WARN_ON_ONCE(!header || put_forgotten(reply, wn, forget, limit)))
		return;
	genlmsg_end(reply, header);
	if (forget->forgotten)
		weir_nl_event_done(wn, WEIR_SOURCE_EVENT_FORGOTTEN, message);
}

static void forget_source(struct forget *forget, const struct weir_limit *limit,
			  const struct weir_source *masked)
{
	u32 hash = weir_source_hash(masked, limit->cfg.prefix, &limit->key);

	forget->forgotten += weir_table_forget(limit->table, masked, hash, weir_clock());
}

/* Was there anything to forget of it: counts, drops, a block, or that it is known? */
static bool was_there(const struct weir_source_state *state, const struct weir_limit *limit)
{
	return state->live || state->dropped || state->blocked ||
	       (limit->newcomers.budget && !state->unknown);
}

static void forget_set(struct forget *forget, const struct weir_limit *limit, u32 set)
{
	bool all = !forget->within.prefix.family;
	struct weir_source_state *state = forget->state;
	unsigned int n;

	n = weir_limit_walk(limit, set, weir_clock(), true, state);
	for (; n--; state++)
		if (all)
			forget->forgotten += was_there(state, limit);
		else if (weir_nl_selects(&forget->within, &state->source, limit->cfg.prefix, false))
			forget_source(forget, limit, &state->source);
	if (all && !set && limit->newcomers.budget)
		weir_newcomers_learn(&limit->newcomers);
	if (all)
		weir_table_clear(limit->table, set);
}

/*
 * An address means the source that it belongs to under each limit, as for a packet;
 * a prefix means the sources within it.
 */
static int forget_limit(struct forget *forget, const struct weir_limit *limit)
{
	u32 set, sets = weir_table_sets(limit->table);
	struct weir_source masked = forget->source;

	forget->forgotten = 0;
	if (forget->one) {
		weir_source_mask(&masked, limit->cfg.prefix);
		forget->prefix = weir_nl_source_prefix(&masked, limit->cfg.prefix);
		forget_source(forget, limit, &masked);
		return 0;
	}
	for (set = 0; set < sets; set++) {
		forget_set(forget, limit, set);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static int forget_limits(struct weir_net *wn, struct forget *forget, struct genl_info *info,
			 struct sk_buff *reply)
{
	const struct weir_config *config = weir_config_get(wn);
	const struct nlattr *name = info->attrs[WEIR_A_SOURCE_LIMIT];
	const struct weir_limit *limit;
	unsigned int i = 0;
	int err;

	err = weir_nl_limits(config, name, info->extack);
	if (err)
		return err;
	forget->prefix = forget->within.prefix;
	for (; !err && (limit = weir_nl_limit_next(config, weir_nl_name(name), &i)); i++) {
		err = forget_limit(forget, limit);
		if (forget->forgotten)
			forget_notify(wn, forget, limit, info, reply);
	}
	if (!reply->len) {
		forget->forgotten = 0;
		forget->prefix = forget->within.prefix;
		forget_notify(wn, forget, NULL, info, reply);
	}
	return err;
}

int weir_nl_source_forget_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	const struct weir_config *config;
	struct forget forget = { };
	struct sk_buff *reply;
	int err;

	err = forget_parse(info, wn, &forget);
	if (err)
		return err;
	/* So that no table has a successor meanwhile. */
	mutex_lock(&wn->lock);
	/* Drops that are pending would be added to forgotten sources. */
	weir_refusals_renew(wn);
	config = weir_config_get(wn);
	forget.state = kvmalloc_array(WEIR_ENTRIES_MAX, sizeof(*forget.state),
				      GFP_KERNEL | __GFP_NOWARN);
	reply = nlmsg_new(FORGOTTEN_ROOM * (config ? config->count + 1 : 1), GFP_KERNEL);
	err = forget.state && reply ? weir_nl_restoring(wn, info) ?:
	      forget_limits(wn, &forget, info, reply) : -ENOMEM;
	mutex_unlock(&wn->lock);
	kvfree(forget.state);
	return weir_nl_replies_end(info, reply, err);
}

int weir_nl_limit_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	const struct nlattr *name = info->attrs[WEIR_A_LIMIT_NAME];
	const struct weir_config *config;
	const struct weir_limit *limit;
	unsigned int i = 0;
	int err;

	mutex_lock(&wn->lock);
	config = weir_config_get(wn);
	err = weir_nl_limits(config, name, info->extack);
	for (; !err && (limit = weir_nl_limit_next(config, weir_nl_name(name), &i)); i++) {
		weir_limit_reset(limit);
		weir_nl_event_reset(wn, limit);
	}
	mutex_unlock(&wn->lock);
	return err;
}
