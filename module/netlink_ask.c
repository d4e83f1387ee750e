// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on one source: get and charge.
 */
#include <linux/bottom_half.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "event.h"
#include "hook.h"
#include "netlink_priv.h"
#include "trace.h"

/**
 * struct asked - one source, and the limit it is asked about
 * @limit: name of the limit, or ""
 * @source: whole
 * @dev: that it sends through, or ""; padded with zeroes
 */
struct asked {
	char limit[WEIR_NAME_SIZE];
	struct weir_source source;
	char dev[IFNAMSIZ] __aligned(8);
};

static int asked_words(struct nlattr **attrs, const struct nlmsghdr *nlh,
		       const struct weir_net *wn, struct asked *asked,
		       struct netlink_ext_ack *extack)
{
	int err;

	*asked = (struct asked) { };
	err = weir_nl_once(nlh, 0, extack);
	if (!err)
		err = weir_nl_sender(attrs, wn, &asked->source, asked->dev,
				     extack);
	if (!err)
		err = weir_nl_string(attrs[WEIR_A_SOURCE_LIMIT], asked->limit,
				     sizeof(asked->limit), extack);
	return err;
}

static int limit_unknown(struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_ATTR(extack, attrs[WEIR_A_SOURCE_LIMIT],
			    "no limit of that name; limit show lists them");
	return -ENOENT;
}

static int put_slots(struct sk_buff *skb, const struct weir_nl_view *view,
		     const u64 slot[WEIR_SLOTS_MAX + 1])
{
	unsigned int i = WEIR_SLOTS_MAX + 1 - view->slots;

	if (nla_put_u64_64bit(skb, WEIR_A_SOURCE_SLOT_NS,
			      weir_nl_ns(view->slot_ticks), WEIR_A_SOURCE_PAD))
		return -EMSGSIZE;
	for (; i <= WEIR_SLOTS_MAX; i++)
		if (nla_put_u64_64bit(skb, WEIR_A_SOURCE_SLOT, slot[i],
				      WEIR_A_SOURCE_PAD))
			return -EMSGSIZE;
	return 0;
}

/* Because of what the limit is not asked about a source, if anything. */
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
		     const struct weir_net *wn,
		     const struct weir_config *config,
		     const struct weir_limit *limit, const struct asked *asked)
{
	void *header = weir_nl_dump_put(skb, cb, WEIR_CMD_SOURCE_GET);
	struct weir_source masked = asked->source;
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_nl_view view;

	if (!header)
		return -EMSGSIZE;
	weir_nl_view(&view, limit);
	weir_source_mask(&masked, limit->prefix);
	weir_table_peek(limit->table, &masked,
			weir_source_hash(&masked, limit->prefix, &wn->key),
			weir_hook_clock(), limit->budget, &state, slot);
	weir_refusals_pending(&config->refusals, limit, &state, 1);
	if (weir_nl_put_source(skb, wn->net, &view, &state) ||
	    put_slots(skb, &view, slot) ||
	    put_exempt(skb, config, limit, asked)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* A limit that is named is told even if it would not meet the address. */
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
	if (!cb->args[0] && *asked->limit &&
	    !weir_limit_find(config, asked->limit))
		err = limit_unknown(weir_dump_attrs(cb), cb->extack);
	for (; !err && config && cb->args[0] < config->count; cb->args[0]++) {
		limit = config->limit[cb->args[0]];
		if (!meets(limit, asked))
			continue;
		err = put_asked(skb, cb, wn, config, limit, asked);
		if (!err)
			continue;
		err = skb->len ?: err;
		break;
	}
	rcu_read_unlock();
	return err;
}

/** weir_nl_source_get - WEIR_CMD_SOURCE_GET; args[0] is the place of a limit */
int weir_nl_source_get(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_nl_net(cb->skb);
	struct asked asked;
	int err;

	err = asked_words(weir_dump_attrs(cb), cb->nlh, wn, &asked, cb->extack);
	if (err)
		return err;
	weir_nl_dump_turn(cb, wn);
	err = asked_put(skb, cb, wn, &asked);
	weir_nl_dump_turn(cb, wn);
	return err;
}

/**
 * struct charge - a charge on its way
 * @asked: whom, and under which limit
 * @cost: packets or bytes
 * @drain: or as much of it as there is room for
 * @taken: what was charged
 * @view: of the limit
 * @state: of the source afterwards
 */
struct charge {
	struct asked asked;
	u64 cost;
	bool drain;
	u64 taken;
	struct weir_nl_view view;
	struct weir_source_state state;
};

static u8 charge_table(struct weir_net *wn, const struct weir_limit *limit,
		       const struct charge *charge,
		       const struct weir_source *masked, u32 hash, u64 cost)
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
	result = weir_table_refuse(limit->table, &lookup);
	if (!result)
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
 * Returns 0, -ENOENT, or -EAGAIN where the configuration or the room has
 * changed under our hands. With BH off, under rcu_read_lock().
 */
static int charge_try(struct weir_net *wn, struct charge *charge)
{
	struct weir_source masked = charge->asked.source;
	u64 slot[WEIR_SLOTS_MAX + 1], cost = charge->cost, tick;
	struct weir_source_state *state = &charge->state;
	const struct weir_limit *limit;
	u8 result = 0;
	u32 hash;

	limit = weir_limit_find(weir_config_get(wn), charge->asked.limit);
	if (!limit)
		return -ENOENT;
	weir_nl_view(&charge->view, limit);
	weir_source_mask(&masked, limit->prefix);
	hash = weir_source_hash(&masked, limit->prefix, &wn->key);
	tick = weir_hook_clock();
	if (charge->drain) {
		weir_table_peek(limit->table, &masked, hash, tick,
				limit->budget, state, slot);
		cost = min(cost, limit->budget - min(limit->budget,
						     state->count));
	}
	if (cost)
		result = charge_table(wn, limit, charge, &masked, hash, cost);
	if (result & WEIR_AGAIN || (result & WEIR_REFUSED && charge->drain))
		return -EAGAIN;
	charge->taken = result & WEIR_REFUSED ? 0 : cost;
	weir_table_peek(limit->table, &masked, hash, weir_hook_clock(),
			limit->budget, state, slot);
	weir_refusals_pending(&weir_config_get(wn)->refusals, limit, state, 1);
	return 0;
}

/* Others can only take the room away until the slot ends, so this ends. */
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

static int charge_words(struct genl_info *info, const struct weir_net *wn,
			struct charge *charge)
{
	struct nlattr **attrs = info->attrs;
	int err;

	err = asked_words(attrs, info->nlhdr, wn, &charge->asked, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, WEIR_A_SOURCE_LIMIT)) {
		NL_SET_ERR_MSG(info->extack,
			       "the limit that is to be charged is missing");
		return -EINVAL;
	}
	charge->cost = attrs[WEIR_A_SOURCE_COST] ?
		       nla_get_u64(attrs[WEIR_A_SOURCE_COST]) : 1;
	charge->drain = attrs[WEIR_A_SOURCE_CHARGE_MODE] &&
			nla_get_u32(attrs[WEIR_A_SOURCE_CHARGE_MODE]) ==
			WEIR_CHARGE_MODE_DRAIN;
	return 0;
}

/** weir_nl_source_charge - WEIR_CMD_SOURCE_CHARGE */
int weir_nl_source_charge(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct charge charge = { };
	struct sk_buff *reply;
	void *header;
	int err;

	err = charge_words(info, wn, &charge);
	if (err)
		return err;
	reply = weir_nl_reply(info, WEIR_CMD_SOURCE_CHARGE, &header);
	if (!reply)
		return -ENOMEM;
	err = charge_do(wn, &charge);
	if (err == -ENOENT)
		limit_unknown(info->attrs, info->extack);
	if (!err)
		err = weir_nl_put_source(reply, genl_info_net(info),
					 &charge.view, &charge.state);
	if (!err)
		err = nla_put_u64_64bit(reply, WEIR_A_SOURCE_TAKEN,
					charge.taken, WEIR_A_SOURCE_PAD);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}
