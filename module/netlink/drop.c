// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drops of packets: the last one of a source, and the latest of all.
 */
#include <linux/cache.h>
#include <linux/socket.h>

#include "clock.h"
#include "netlink/message.h"
#include "path/drops.h"

/* The reasons of a drop are the values of their attributes. */
static_assert(WEIR_DROP_REASON_BUDGET == (int)WEIR_REASON_BUDGET &&
	      WEIR_DROP_REASON_BLOCK == (int)WEIR_REASON_BLOCK &&
	      WEIR_DROP_REASON_FLOOR == (int)WEIR_REASON_FLOOR &&
	      WEIR_DROP_REASON_SIZE == (int)WEIR_REASON_SIZE &&
	      WEIR_DROP_REASON_NEWCOMERS == (int)WEIR_REASON_NEWCOMERS);

/* Put what is known of a drop. */
int weir_nl_put_drop(struct sk_buff *skb, const struct weir_limit *limit,
		     const struct weir_last_drop *drop)
{
	struct nlattr *nest = nla_nest_start(skb, WEIR_A_SOURCE_LAST_DROP);
	unsigned int by = weir_result_budget(drop->result);

	if (!nest ||
	    weir_nl_put_u64(skb, WEIR_A_SOURCE_DROP_WITHIN_NS, weir_ticks_ns(drop->within)) ||
	    (drop->before &&
	     weir_nl_put_u64(skb, WEIR_A_SOURCE_DROP_BEFORE_NS, weir_ticks_ns(drop->before))) ||
	    nla_put_u32(skb, WEIR_A_SOURCE_DROP_REASON, weir_result_reason(drop->result)) ||
	    /* The limit may have had more budgets then. */
	    (limit->budgets > 1 && by < limit->budgets && weir_result_in_budget(drop->result) &&
	     nla_put_u32(skb, WEIR_A_SOURCE_DROP_BUDGET, by + 1)) ||
	    (drop->cost && weir_nl_put_u64(skb, WEIR_A_SOURCE_DROP_COST, drop->cost)) ||
	    (drop->own && nla_put_flag(skb, WEIR_A_SOURCE_DROP_OWN)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Under rcu_read_lock(). */
static int put_one(struct sk_buff *skb, struct netlink_callback *cb, const struct weir_net *wn,
		   const struct weir_limit *limit, const struct weir_drop *drop)
{
	const struct weir_prefix whole = { .len4 = 32, .len6 = 128 };
	struct weir_net_prefix is = weir_nl_source_prefix(&drop->source, whole);
	void *header = weir_nl_dump_put(skb, cb);
	struct weir_last_drop last;
	int err;

	weir_drop_tell(limit, drop, weir_clock(), &last);
	err = !header || nla_put_string(skb, WEIR_A_SOURCE_LIMIT, limit->cfg.name) ||
	      nla_put(skb, WEIR_A_SOURCE_ADDRESS, is.family == AF_INET ? 4 : 16, is.word) ||
	      weir_nl_put_dev(skb, WEIR_A_SOURCE_DEV, wn->net,
			      weir_source_ifindex(&drop->source)) ||
	      weir_nl_put_drop(skb, limit, &last);
	return weir_nl_dump_end(skb, header, err);
}

/* args[0] is the index of a drop. */
static int drops_put(struct sk_buff *skb, struct netlink_callback *cb, struct weir_net *wn)
{
	const struct nlattr *name = weir_dump_attrs(cb)[WEIR_A_SOURCE_LIMIT];
	const struct weir_config *config;
	const struct weir_limit *limit;
	unsigned int at = cb->args[0];
	struct weir_drop drop;
	int err;

	rcu_read_lock();
	config = weir_config_get(wn);
	err = weir_nl_limits(config, name, cb->extack);
	/* Without limits there may be no cells. */
	for (; !err && config && config->count && at < WEIR_DROPS; at += !err) {
		limit = weir_drop_read(wn, at, &drop) ? weir_limit_by_id(config, drop.limit) : NULL;
		if (limit && (!name || !strcmp(nla_data(name), limit->cfg.name)))
			err = put_one(skb, cb, wn, limit, &drop);
	}
	cb->args[0] = at;
	rcu_read_unlock();
	return err;
}

int weir_nl_drop_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return weir_nl_dump(skb, cb, ~0ull, BIT(WEIR_LIMITS), drops_put);
}
