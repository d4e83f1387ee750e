// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on sources that are named by their address: get, charge.
 */
#include <linux/bottom_half.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>

#include "clock.h"
#include "netlink/message.h"
#include "path/charge.h"
#include "path/hook.h"

/* What is asked of a source: how limits would treat a packet. */
struct asked {
	struct weir_outline outline;
	u64 cost[2];		/* in packets and bytes; 0 packets: what was refused last */
	bool met;		/* by the limit that answers, perhaps */
};

/* Put until when newcomers have no room, if the source is one. */
static int put_newcomer(struct sk_buff *skb, const struct weir_limit *limit,
			const struct weir_source_state *state)
{
	struct weir_newcomers_state newcomers = { };

	if (state->unknown)
		weir_newcomers_peek(&limit->newcomers, weir_clock(), &newcomers);
	return !newcomers.wait ? 0 :
	       weir_nl_put_u64(skb, WEIR_A_SOURCE_NEWCOMERS_NEXT_NS, weir_ticks_ns(newcomers.wait));
}

/* Under rcu_read_lock(). */
static int put_asked(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct weir_net *wn, const struct weir_config *config,
		     const struct weir_limit *limit, const struct asked *asked)
{
	const struct weir_source *source = &asked->outline.packet.source;
	u16 open = limit->cfg.match.conds & ~asked->outline.known;
	void *header = weir_nl_dump_put(skb, cb);
	struct weir_source_state state;
	u64 slot[WEIR_SLOTS_MAX + 1];
	int err;

	if (!(limit->cfg.match.conds & ~limit->cfg.match.invert & WEIR_COND_PROTO))
		open |= asked->outline.vital & ~asked->outline.known;
	weir_nl_peek(wn, limit, source, *asked->cost ? asked->cost : NULL, &state, slot);
	err = !header || weir_nl_put_source(skb, wn->net, limit, &state, slot) ||
	      put_newcomer(skb, limit, &state) ||
	      (open && nla_put_u32(skb, WEIR_A_SOURCE_UNDECIDED, open)) ||
	      (!asked->met && nla_put_flag(skb, WEIR_A_SOURCE_UNMATCHED)) ||
	      weir_nl_put_exemption(skb, config, weir_nl_exemption(config, limit, source,
								   asked->outline.dev));
	return weir_nl_dump_end(skb, header, err);
}

/*
 * A limit that the request names is shown even if it cannot match the address, unless the request
 * describes a packet. args[0] is the index of a limit.
 */
static int asked_put(struct sk_buff *skb, struct netlink_callback *cb, struct weir_net *wn)
{
	struct asked *asked = kzalloc(sizeof(*asked), GFP_KERNEL);
	struct nlattr **attrs = weir_dump_attrs(cb);
	const struct weir_config *config;
	const struct weir_limit *limit;
	unsigned int at = cb->args[0];
	const char *name;
	int err;

	if (!asked) {
		weir_nl_refuse(cb->extack, NULL, "no memory to look up the source; try again");
		return -ENOMEM;
	}
	err = weir_nl_outline(attrs, wn, &asked->outline, cb->extack);
	if (!err && attrs[WEIR_A_SOURCE_PACKET])
		err = weir_nl_packet(attrs[WEIR_A_SOURCE_PACKET], &asked->outline, cb->extack);
	if (err)
		goto out;
	asked->cost[false] = !!attrs[WEIR_A_SOURCE_LEN];
	asked->cost[true] = weir_nl_uint(attrs[WEIR_A_SOURCE_LEN], 0);
	name = weir_nl_name(attrs[WEIR_A_SOURCE_LIMIT]);
	rcu_read_lock();
	config = weir_config_get(wn);
	if (!at)
		err = weir_nl_limits(config, attrs[WEIR_A_SOURCE_LIMIT], cb->extack);
	for (; !err && (limit = weir_nl_limit_next(config, name, &at)); at += !err) {
		asked->met = weir_match_outline(&limit->cfg.match, &asked->outline);
		if (asked->met || (*name && !attrs[WEIR_A_SOURCE_PACKET]))
			err = put_asked(skb, cb, wn, config, limit, asked);
	}
	cb->args[0] = at;
	rcu_read_unlock();
out:
	kfree(asked);
	return err;
}

int weir_nl_source_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return weir_nl_dump(skb, cb, ~0ull, BIT(WEIR_LIMITS) | BIT(WEIR_EXCEPTIONS), asked_put);
}

struct charge {
	struct weir_source source;	/* whole */
	char dev[IFNAMSIZ] __aligned(8);	/* that it sends through, or "" */
	u64 cost;			/* packets or bytes */
	u32 mode;			/* WEIR_CHARGE_MODE_* */
	u64 taken;
};

/*
 * Charge if there is room, so that a source is not limited by what a program asks for, and put
 * the state afterwards. -EAGAIN: begin again, as a packet does. With BH off, under rcu_read_lock().
 */
static int charge_try(struct sk_buff *reply, struct weir_net *wn, struct charge *charge,
		      const struct weir_config *config, const struct weir_limit *limit,
		      const struct genl_info *info)
{
	const struct weir_exception *block = weir_nl_exemption(config, limit, &charge->source,
							       charge->dev);
	const struct nlattr *mode = info->attrs[WEIR_A_SOURCE_CHARGE_MODE];
	const bool reserve = charge->mode == WEIR_CHARGE_MODE_RESERVE;
	u64 own[WEIR_BUDGETS_MAX], now = weir_clock();
	const u64 *room = weir_limit_room(limit, &charge->source, own);
	const u64 largest = weir_limit_largest(limit, room, limit->cfg.budget[0].unit);
	struct weir_take take = {
		.cost = charge->cost, .due = reserve ? room[0] : 0,
		.wait = WEIR_NEVER, .drain = charge->mode == WEIR_CHARGE_MODE_DRAIN,
	};
	u64 slot[WEIR_SLOTS_MAX + 1];
	struct weir_result result = { WEIR_REFUSED };
	struct weir_source_state state;
	struct weir_request request;

	if (!limit->cfg.budgets)
		return weir_nl_refuse(info->extack, info->attrs[WEIR_A_SOURCE_LIMIT],
				      "the limit only blocks, and has no budget to charge");
	if (reserve && limit->cfg.budgets > 1)
		return weir_nl_refuse(info->extack, mode,
				      "a limit of several budgets cannot reserve; charge what there is room for");
	if (reserve && limit->cfg.budget[0].mode != WEIR_MODE_BUCKET)
		return weir_nl_refuse(info->extack, mode,
				      "only a bucket reserves: a ring turned ahead forgets what was admitted");
	weir_request_init(&request, &charge->source, (struct weir_cost) { }, now);
	if (take.drain)
		take.cost = min(take.cost, largest);
	if (limit->cfg.observe || (block && !block->block))
		block = NULL;
	if (block) {
		take.wait = block->end ? max(block->end, now + 1) - now : WEIR_NEVER;
	} else if (take.cost <= largest) {
		weir_hook_lock();
		result = weir_limit_take(wn, limit, &request, &take);
		weir_hook_unlock();
	}
	if (weir_result_verdict(result) == WEIR_RESTART)
		return -EAGAIN;
	weir_nl_peek(wn, limit, &charge->source, NULL, &state, slot);
	if (block) {
		state.blocked = max(state.blocked, take.wait);
		state.wait = max(state.wait, take.wait);
	}
	charge->taken = weir_result_verdict(result) == WEIR_ADMIT ? take.cost : 0;
	return weir_nl_put_source(reply, wn->net, limit, &state, NULL) ?:
	       weir_nl_put_u64(reply, WEIR_A_SOURCE_TAKEN, charge->taken) ?:
	       take.wait == WEIR_NEVER ? 0 :
	       weir_nl_put_u64(reply, WEIR_A_SOURCE_WAIT_NS, weir_ticks_ns(take.wait));
}

int weir_nl_source_charge_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct nlattr **attrs = info->attrs;
	struct charge charge = { .cost = 1 };
	const struct weir_config *config;
	const struct weir_limit *limit;
	struct sk_buff *reply;
	int err;

	if (attrs[WEIR_A_SOURCE_DEV])
		nla_strscpy(charge.dev, attrs[WEIR_A_SOURCE_DEV], sizeof(charge.dev));
	err = weir_nl_sender(attrs, wn, &charge.source, info->extack) ?:
	      weir_nl_require(attrs, NULL, WEIR_A_SOURCE_LIMIT,
			      "the limit that is to be charged is missing", info->extack);
	if (err)
		return err;
	charge.cost = weir_nl_uint(attrs[WEIR_A_SOURCE_COST], charge.cost);
	charge.mode = weir_nl_uint(attrs[WEIR_A_SOURCE_CHARGE_MODE], charge.mode);
	reply = weir_nl_reply(info);
	if (!reply)
		return -ENOMEM;
	do {
		cond_resched();
		local_bh_disable();
		rcu_read_lock();
		config = weir_config_get(wn);
		limit = weir_limit_find(config, weir_nl_name(attrs[WEIR_A_SOURCE_LIMIT]));
		err = limit ? charge_try(reply, wn, &charge, config, limit, info) : -ENOENT;
		rcu_read_unlock();
		local_bh_enable();
	} while (err == -EAGAIN);
	if (err == -ENOENT)
		weir_nl_no_limit(attrs[WEIR_A_SOURCE_LIMIT], info->extack);
	nlmsg_end(reply, nlmsg_hdr(reply));
	if (!err && charge.taken)
		weir_nl_event_done(wn, WEIR_SOURCE_EVENT_CHARGED, nlmsg_hdr(reply));
	return weir_nl_reply_end(info, reply, err);
}
