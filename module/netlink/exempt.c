// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that read exemptions and the counters of a namespace.
 */
#include <linux/netdevice.h>

#include "clock.h"
#include "limit/stats.h"
#include "netlink/message.h"
#include "path/hook.h"

/* Parse the source of an exemption: prefix and device, all other fields are 0. */
int weir_nl_exempt(struct nlattr **attrs, const struct nlattr *nest,
		   struct weir_exception *exception, struct netlink_ext_ack *extack)
{
	const struct nlattr *dev = attrs[WEIR_A_EXEMPT_DEV];
	int err;

	memset(exception, 0, sizeof(*exception));
	err = weir_nl_require(attrs, nest, WEIR_A_EXEMPT_ADDRESS,
			      "the address of the exemption is missing", extack) ?:
	      weir_nl_prefix(attrs[WEIR_A_EXEMPT_ADDRESS],
			     attrs[WEIR_A_EXEMPT_PREFIX_LEN], &exception->prefix, extack);
	if (err || !dev)
		return err;
	nla_strscpy(exception->dev, dev, sizeof(exception->dev));
	if (dev_valid_name(exception->dev))
		return 0;
	return weir_nl_refuse(extack, dev,
			      "not a name that a device can have; no space, / or :, and not . or ..");
}

/* For how long, at least as long as what is read again must be. */
static int put_left(struct sk_buff *skb, u64 end)
{
	u64 now = weir_clock(), ticks = end > now ? end - now : 0;

	return weir_nl_put_u64(skb, WEIR_A_EXEMPT_FOR_MS,
			       max_t(u64, DIV_ROUND_UP_ULL(ticks * MSEC_PER_SEC, HZ),
				     WEIR_BLOCK_MS_MIN));
}

/* Put an exemption, with the name of its limit in the configuration. */
int weir_nl_put_exempt(struct sk_buff *skb, const struct weir_config *config,
		       const struct weir_exception *exception)
{
	const char *comment = exception->stats->comment;
	const struct weir_limit *limit = NULL;

	if (exception->limit)
		limit = weir_limit_by_id(config, exception->limit);
	return weir_nl_put_prefix(skb, WEIR_A_EXEMPT_ADDRESS, WEIR_A_EXEMPT_PREFIX_LEN,
				  &exception->prefix) ||
	       (*exception->dev && nla_put_string(skb, WEIR_A_EXEMPT_DEV, exception->dev)) ||
	       (limit && nla_put_string(skb, WEIR_A_EXEMPT_LIMIT, limit->cfg.name)) ||
	       (*comment && nla_put_string(skb, WEIR_A_EXEMPT_COMMENT, comment)) ||
	       (exception->block && nla_put_flag(skb, WEIR_A_EXEMPT_BLOCK)) ||
	       (exception->end && put_left(skb, exception->end)) ? -EMSGSIZE : 0;
}

/* What exempts a source from a limit, or else blocks its prefix there; or NULL. */
const struct weir_exception *weir_nl_exemption(const struct weir_config *config,
					       const struct weir_limit *limit,
					       const struct weir_source *source, const char *dev)
{
	struct weir_exception_place place;

	weir_exception_place(config->exceptions, source, dev, &place);
	return weir_exception_of(&place, dev, limit->id, false) ?:
	       weir_exception_of(&place, dev, limit->id, true);
}

/* Put that with the source; of NULL nothing. */
int weir_nl_put_exemption(struct sk_buff *skb, const struct weir_config *config,
			  const struct weir_exception *exception)
{
	struct nlattr *nest = exception ? nla_nest_start(skb, WEIR_A_SOURCE_EXEMPT) : NULL;

	if (!exception)
		return 0;
	if (!nest || weir_nl_put_exempt(skb, config, exception))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_exempt(struct sk_buff *skb, const struct weir_config *config,
		      const struct weir_exception *exception, bool stats)
{
	struct gnet_stats_basic_sync sum;

	if (weir_nl_put_exempt(skb, config, exception))
		return -EMSGSIZE;
	if (!stats)
		return 0;
	gnet_stats_basic_sync_init(&sum);
	gnet_stats_add_basic(&sum, exception->count, NULL, false);
	return weir_nl_put_counter(skb, WEIR_A_EXEMPT_STATS, u64_stats_read(&sum.packets),
				   u64_stats_read(&sum.bytes));
}

/* Put the exemption of an address. Under rcu_read_lock(). */
static int exempt_find(struct sk_buff *reply, const struct weir_config *config,
		       const struct weir_exception *asked, struct genl_info *info)
{
	const struct nlattr *name = info->attrs[WEIR_A_EXEMPT_LIMIT];
	const struct weir_limit *limit = weir_limit_find(config, weir_nl_name(name));
	struct weir_source source = weir_prefix_source(&asked->prefix);
	const struct weir_exception *exception = NULL;
	struct weir_exception_place place;

	if (name && !limit)
		return weir_nl_no_limit(name, info->extack);
	if (config) {
		weir_exception_place(config->exceptions, &source, asked->dev, &place);
		exception = weir_exception_of(&place, asked->dev, limit ? limit->id : 0, false);
	}
	if (exception)
		return put_exempt(reply, config, exception, info->attrs[WEIR_A_EXEMPT_WANT_STATS]);
	if (limit)
		weir_nl_refuse(info->extack, name, "not exempt from this limit");
	else
		weir_nl_refuse(info->extack, info->attrs[WEIR_A_EXEMPT_ADDRESS],
			       "no exemption from all limits; name a limit for those from it");
	return -ENOENT;
}

int weir_nl_exempt_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct weir_exception asked;
	struct sk_buff *reply;
	int err;

	err = weir_nl_exempt(info->attrs, NULL, &asked, info->extack);
	if (err)
		return err;
	if (asked.prefix.len != (asked.prefix.family == AF_INET ? 32 : 128))
		return weir_nl_refuse(info->extack, info->attrs[WEIR_A_EXEMPT_PREFIX_LEN],
				      "get is for one address; leave the prefix length out");
	reply = weir_nl_reply(info);
	if (!reply)
		return -ENOMEM;
	rcu_read_lock();
	err = exempt_find(reply, weir_config_get(wn), &asked, info);
	rcu_read_unlock();
	return weir_nl_reply_end(info, reply, err);
}

/* args[0] is the index of an exemption. */
static int exempts_put(struct sk_buff *skb, struct netlink_callback *cb, struct weir_net *wn)
{
	bool stats = weir_dump_attrs(cb)[WEIR_A_EXEMPT_WANT_STATS];
	const struct weir_exceptions *exceptions = NULL;
	const struct weir_config *config;
	void *header;
	int err = 0;

	rcu_read_lock();
	config = weir_config_get(wn);
	if (config)
		exceptions = config->exceptions;
	for (; !err && cb->args[0] < weir_exceptions_count(exceptions); cb->args[0] += !err) {
		header = weir_nl_dump_put(skb, cb);
		err = !header ||
		      put_exempt(skb, config, weir_exceptions_at(exceptions, cb->args[0]), stats);
		err = weir_nl_dump_end(skb, header, err);
	}
	rcu_read_unlock();
	return err;
}

int weir_nl_exempt_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return weir_nl_dump(skb, cb, BIT_ULL(WEIR_A_EXEMPT_WANT_STATS),
			    BIT(WEIR_LIMITS) | BIT(WEIR_EXCEPTIONS), exempts_put);
}

static int put_outcomes(struct sk_buff *reply, const struct weir_net *wn)
{
	static const u8 attr[WEIR_OUTCOMES] = {
		[WEIR_SEEN_EXEMPT]	= WEIR_A_STATS_EXEMPT,
		[WEIR_SEEN_UNMATCHED]	= WEIR_A_STATS_UNMATCHED,
		[WEIR_SEEN_ADMITTED]	= WEIR_A_STATS_ADMITTED,
		[WEIR_SEEN_DROPPED]	= WEIR_A_STATS_DROPPED,
		[WEIR_SEEN_UNPARSABLE]	= WEIR_A_STATS_UNPARSABLE,
		[WEIR_SEEN_BLOCKED]	= WEIR_A_STATS_DROPPED_BY_PREFIX,
	};
	u64 count[WEIR_OUTCOMES], seen = 0;
	unsigned int i;

	weir_stats_sum(wn->stats, count, WEIR_OUTCOMES);
	for (i = 0; i < WEIR_OUTCOMES; i++) {
		if (weir_nl_put_u64(reply, attr[i], count[i]))
			return -EMSGSIZE;
		if (i <= WEIR_SEEN_DROPPED)
			seen += count[i];
	}
	return weir_nl_put_u64(reply, WEIR_A_STATS_SEEN, seen);
}

static int put_holdings(struct sk_buff *reply, const struct weir_net *wn)
{
	u32 limits = 0, exempts = 0, blocks = 0, i;
	struct weir_config *config;
	u64 memory = 0;

	rcu_read_lock();
	config = weir_config_get(wn);
	if (config) {
		limits = config->count;
		blocks = weir_exceptions_blocks(config->exceptions);
		exempts = weir_exceptions_count(config->exceptions) - blocks;
		for (i = 0; i < limits; i++)
			memory += weir_table_bytes(config->limit[i]->table) +
				  weir_newcomers_bytes(&config->limit[i]->newcomers);
		for (i = 0; i < config->lists; i++)
			memory += weir_prefixes_bytes(config->list[i]);
	}
	rcu_read_unlock();
	return weir_nl_put_u64(reply, WEIR_A_STATS_EVENTS_LOST, atomic64_read(&wn->events_lost)) ||
	       weir_nl_put_u64(reply, WEIR_A_STATS_MEMORY, memory) ||
	       nla_put_u32(reply, WEIR_A_STATS_LIMITS, limits) ||
	       nla_put_u32(reply, WEIR_A_STATS_EXEMPTS, exempts) ||
	       nla_put_u32(reply, WEIR_A_STATS_BLOCKED_PREFIXES, blocks) ||
	       nla_put_u32(reply, WEIR_A_STATS_GENERATION, weir_nl_generation(wn, U8_MAX)) ||
	       weir_nl_put_u64(reply, WEIR_A_STATS_TICK_NS, weir_ticks_ns(1)) ||
	       weir_nl_put_u64(reply, WEIR_A_STATS_CLOCK_NS, weir_ticks_ns(weir_clock())) ?
	       -EMSGSIZE : 0;
}

int weir_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct sk_buff *reply = weir_nl_reply(info);

	if (!reply)
		return -ENOMEM;
	/* Other namespaces are no business of a container. */
	return weir_nl_reply_end(info, reply, put_outcomes(reply, wn) ?: put_holdings(reply, wn) ?:
				 !net_eq(wn->net, &init_net) ? 0 :
				 nla_put_u32(reply, WEIR_A_STATS_NAMESPACES,
					     weir_hook_namespaces()));
}
