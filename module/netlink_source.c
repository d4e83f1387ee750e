// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on sources that are named by their address: get, charge.
 */
#include <linux/bottom_half.h>
#include <linux/sched/signal.h>
#include <linux/socket.h>

#include "hook.h"
#include "netlink.h"
#include "trace.h"

/* A source, and the limit of the request. */
struct asked {
	char limit[WEIR_NAME_SIZE];	/* or "" */
	struct weir_source source;	/* whole */
	char dev[IFNAMSIZ] __aligned(8);	/* that it sends through, or "" */
};

static int asked_parse(struct nlattr **attrs, const struct nlmsghdr *nlh,
		       const struct weir_net *wn, struct asked *asked,
		       struct netlink_ext_ack *extack)
{
	int err;

	*asked = (struct asked) { };
	err = weir_nl_once(nlh, 0, extack);
	if (!err)
		err = weir_nl_sender(attrs, wn, &asked->source, asked->dev, extack);
	return err ?: weir_nl_string(attrs[WEIR_A_SOURCE_LIMIT], asked->limit,
				     sizeof(asked->limit), extack);
}

static int put_slots(struct sk_buff *skb, const struct weir_limit *limit,
		     const u64 slot[WEIR_SLOTS_MAX + 1])
{
	unsigned int i = WEIR_SLOTS_MAX + 1 - limit->slots - !limit->lenient;
	int err = weir_nl_put_u64(skb, WEIR_A_SOURCE_SLOT_NS, weir_nl_ns(limit->slot_ticks));

	for (; !err && i <= WEIR_SLOTS_MAX; i++)
		err = weir_nl_put_u64(skb, WEIR_A_SOURCE_SLOT, slot[i]);
	return err;
}

/* The exemption of the source from the limit, or NULL. */
static int put_exempt(struct sk_buff *skb, const struct weir_config *config,
		      const struct weir_limit *limit, const struct asked *asked)
{
	const struct weir_exempt *exempt;
	struct weir_exempt_place place;
	struct nlattr *nest;

	weir_exempt_place(config->exempts, &asked->source, asked->dev, &place);
	exempt = weir_exempt_from(&place, asked->dev, 0) ?:
		 weir_exempt_from(&place, asked->dev, limit->id);
	if (!exempt)
		return 0;
	nest = nla_nest_start(skb, WEIR_A_SOURCE_EXEMPT);
	if (!nest || weir_nl_put_exempt(skb, config, exempt))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Under rcu_read_lock(). */
static int put_asked(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct weir_net *wn, const struct weir_config *config,
		     const struct weir_limit *limit, const struct asked *asked)
{
	void *header = weir_nl_dump_put(skb, cb, WEIR_CMD_SOURCE_GET);
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];

	if (!header)
		return skb->len ?: -EMSGSIZE;
	weir_nl_peek(wn, limit, &asked->source, &state, slot);
	if (weir_nl_put_source(skb, wn->net, limit, &state) ||
	    put_slots(skb, limit, slot) || put_exempt(skb, config, limit, asked)) {
		genlmsg_cancel(skb, header);
		return skb->len ?: -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* A limit that the request names is shown even if it cannot match the address. */
static bool meets(const struct weir_limit *limit, const struct asked *asked)
{
	if (*asked->limit)
		return !strcmp(limit->name, asked->limit);
	return weir_match_source(&limit->match, &asked->source, asked->dev);
}

static int asked_put(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct weir_net *wn, const struct asked *asked)
{
	const struct weir_config *config;
	const struct weir_limit *limit;
	int err = 0;

	rcu_read_lock();
	config = weir_config_get(wn);
	if (!cb->args[0] && *asked->limit && !weir_limit_find(config, asked->limit))
		err = weir_nl_no_limit(weir_dump_attrs(cb)[WEIR_A_SOURCE_LIMIT], cb->extack);
	for (; !err && config && cb->args[0] < config->count; cb->args[0] += !err) {
		limit = config->limit[cb->args[0]];
		if (meets(limit, asked))
			err = put_asked(skb, cb, wn, config, limit, asked);
	}
	rcu_read_unlock();
	return err;
}

/* args[0] is the index of a limit. */
int weir_nl_source_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_nl_net(cb->skb);
	struct asked asked;
	int err;

	err = asked_parse(weir_dump_attrs(cb), cb->nlh, wn, &asked, cb->extack);
	if (err)
		return err;
	weir_nl_dump_check(cb, wn);
	err = asked_put(skb, cb, wn, &asked);
	weir_nl_dump_check(cb, wn);
	return err;
}

struct charge {
	struct asked asked;
	u64 cost;			/* packets or bytes */
	bool drain;			/* charge as much of it as there is room for */
	u64 taken;
	struct weir_limit limit;	/* a copy */
	struct weir_source_state state;	/* afterwards */
};

static u8 charge_table(struct weir_net *wn, const struct weir_limit *limit,
		       const struct charge *charge, const struct weir_source *masked,
		       u32 hash, u64 cost)
{
	struct weir_lookup lookup = {
		.source = masked,
		.hash = hash,
		.tick = weir_hook_clock(),
		.cost = cost,
		.budget = limit->budget,
	};
	u8 result;

	if (cost > limit->budget)
		return WEIR_REFUSED;
	result = weir_table_charge(limit->table, &lookup);
	if (result & WEIR_EVICTED)
		weir_limit_count_evictions(limit, 1);
	if (result & (WEIR_EVICTED | WEIR_FLOORED))
		weir_event_pressure(wn, limit, lookup.tick);
	if (result & WEIR_FIRST) {
		trace_weir_limited(limit, &charge->asked.source, lookup.tick);
		weir_event_source(wn, limit, &charge->asked.source);
	}
	return result;
}

/*
 * Returns 0, -ENOENT, or -EAGAIN if the configuration or the room has changed
 * meanwhile. With BH off, under rcu_read_lock().
 */
static noinline_for_stack int charge_try(struct weir_net *wn, struct charge *charge)
{
	const struct weir_source *source = &charge->asked.source;
	struct weir_source_state *state = &charge->state;
	u64 slot[WEIR_SLOTS_MAX + 1], cost = charge->cost;
	struct weir_source masked = *source;
	const struct weir_limit *limit;
	u8 result = 0;
	u32 hash;

	limit = weir_limit_find(weir_config_get(wn), charge->asked.limit);
	if (!limit)
		return -ENOENT;
	charge->limit = *limit;
	weir_source_mask(&masked, limit->prefix);
	hash = weir_source_hash(&masked, limit->prefix, &wn->key);
	if (charge->drain) {
		/* The unspent batches of CPUs are not available. */
		weir_table_peek(limit->table, &masked, hash, weir_hook_clock(),
				limit->budget, state, slot);
		cost = min(cost, limit->budget - min(limit->budget, state->count));
	}
	if (cost)
		result = charge_table(wn, limit, charge, &masked, hash, cost);
	if (result & WEIR_AGAIN || (result & WEIR_REFUSED && charge->drain))
		return -EAGAIN;
	charge->taken = result & WEIR_REFUSED ? 0 : cost;
	weir_nl_peek(wn, limit, source, state, slot);
	return 0;
}

/* Until the slot ends the room can only shrink, so this loop ends. */
static int charge_do(struct weir_net *wn, struct charge *charge)
{
	int err;

	do {
		cond_resched();
		local_bh_disable();
		rcu_read_lock();
		err = charge_try(wn, charge);
		rcu_read_unlock();
		local_bh_enable();
	} while (err == -EAGAIN && !fatal_signal_pending(current));
	return err;
}

static int charge_parse(struct genl_info *info, const struct weir_net *wn, struct charge *charge)
{
	struct nlattr **attrs = info->attrs;
	int err;

	err = asked_parse(attrs, info->nlhdr, wn, &charge->asked, info->extack);
	if (!err)
		err = weir_nl_require(attrs, NULL, WEIR_A_SOURCE_LIMIT,
				      "the limit that is to be charged is missing", info->extack);
	if (err)
		return err;
	charge->cost = attrs[WEIR_A_SOURCE_COST] ? nla_get_u64(attrs[WEIR_A_SOURCE_COST]) : 1;
	charge->drain = attrs[WEIR_A_SOURCE_CHARGE_MODE] &&
			nla_get_u32(attrs[WEIR_A_SOURCE_CHARGE_MODE]) == WEIR_CHARGE_MODE_DRAIN;
	return 0;
}

static int put_charged(struct sk_buff *skb, const struct weir_net *wn, const void *data)
{
	const struct charge *charge = data;

	return weir_nl_put_source(skb, wn->net, &charge->limit, &charge->state) ?:
	       weir_nl_put_u64(skb, WEIR_A_SOURCE_TAKEN, charge->taken);
}

int weir_nl_source_charge_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct charge charge = { };
	struct sk_buff *reply;
	void *header;
	int err;

	err = charge_parse(info, wn, &charge);
	if (err)
		return err;
	reply = weir_nl_reply(info, WEIR_CMD_SOURCE_CHARGE, &header);
	if (!reply)
		return -ENOMEM;
	err = charge_do(wn, &charge);
	if (err == -ENOENT)
		weir_nl_no_limit(info->attrs[WEIR_A_SOURCE_LIMIT], info->extack);
	if (!err && charge.taken)
		weir_nl_event_done(wn, WEIR_SOURCE_EVENT_CHARGED, put_charged, &charge);
	if (!err)
		err = put_charged(reply, wn, &charge);
	return weir_nl_reply_end(info, reply, header, err);
}
