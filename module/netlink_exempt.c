// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that read exemptions and the counters of a namespace.
 */
#include <linux/netdevice.h>

#include "netlink.h"

/* Parse an exemption except its limit, of which @limit gets the name, if any. */
int weir_nl_exempt(struct nlattr **attrs, const struct nlattr *nest,
		   struct weir_exempt *exempt, char limit[WEIR_NAME_SIZE],
		   struct netlink_ext_ack *extack)
{
	int err = weir_nl_require(attrs, nest, WEIR_A_EXEMPT_ADDRESS,
				  "the address of the exemption is missing", extack);

	memset(exempt, 0, sizeof(*exempt));
	if (!err)
		err = weir_nl_prefix(attrs[WEIR_A_EXEMPT_ADDRESS],
				     attrs[WEIR_A_EXEMPT_PREFIX_LEN], &exempt->prefix, extack);
	if (!err)
		err = weir_nl_string(attrs[WEIR_A_EXEMPT_DEV], exempt->dev,
				     sizeof(exempt->dev), extack);
	if (!err && *exempt->dev && !dev_valid_name(exempt->dev)) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[WEIR_A_EXEMPT_DEV],
				    "not a name that a device can have; no space, / or :, and not . or ..");
		return -EINVAL;
	}
	return err ?: weir_nl_string(attrs[WEIR_A_EXEMPT_LIMIT], limit, WEIR_NAME_SIZE, extack);
}

/* Put an exemption, with the name of its limit in the configuration. */
int weir_nl_put_exempt(struct sk_buff *skb, const struct weir_config *config,
		       const struct weir_exempt *exempt)
{
	const char *comment = exempt->stats->comment;
	const struct weir_limit *limit = NULL;

	if (exempt->limit)
		limit = weir_limit_by_id(config, exempt->limit);
	return weir_nl_put_prefix(skb, WEIR_A_EXEMPT_ADDRESS, WEIR_A_EXEMPT_PREFIX_LEN,
				  &exempt->prefix) ||
	       (*exempt->dev && nla_put_string(skb, WEIR_A_EXEMPT_DEV, exempt->dev)) ||
	       (limit && nla_put_string(skb, WEIR_A_EXEMPT_LIMIT, limit->name)) ||
	       (*comment && nla_put_string(skb, WEIR_A_EXEMPT_COMMENT, comment)) ? -EMSGSIZE : 0;
}

static int put_stats(struct sk_buff *skb, const struct weir_exempt *exempt)
{
	u64 packets, bytes;

	weir_exempt_sum(exempt, &packets, &bytes);
	return weir_nl_put_counter(skb, WEIR_A_EXEMPT_STATS, packets, bytes);
}

/* Put the exemption of an address. Under rcu_read_lock(). */
static int exempt_find(struct sk_buff *reply, const struct weir_config *config,
		       const struct weir_exempt *asked, const char *name, struct genl_info *info)
{
	const struct weir_exempt *exempt = NULL;
	const struct weir_limit *limit = NULL;
	struct weir_exempt_place place;
	struct weir_source source = weir_prefix_source(&asked->prefix);

	if (*name) {
		limit = weir_limit_find(config, name);
		if (!limit)
			return weir_nl_no_limit(info->attrs[WEIR_A_EXEMPT_LIMIT], info->extack);
	}
	if (config) {
		weir_exempt_place(config->exempts, &source, asked->dev, &place);
		exempt = weir_exempt_from(&place, asked->dev, 0);
		if (!exempt && limit)
			exempt = weir_exempt_from(&place, asked->dev, limit->id);
	}
	if (exempt)
		return weir_nl_put_exempt(reply, config, exempt) ?:
		       (info->attrs[WEIR_A_EXEMPT_WANT_STATS] ? put_stats(reply, exempt) : 0);
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[WEIR_A_EXEMPT_ADDRESS],
			    "not exempt; source get shows exemptions from single limits and devices");
	return -ENOENT;
}

int weir_nl_exempt_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	char name[WEIR_NAME_SIZE] = "";
	struct weir_exempt asked;
	struct sk_buff *reply;
	void *header;
	int err;

	err = weir_nl_once(info->nlhdr, 0, info->extack);
	if (!err)
		err = weir_nl_exempt(info->attrs, NULL, &asked, name, info->extack);
	if (err)
		return err;
	if (asked.prefix.len != (asked.prefix.family == AF_INET ? 32 : 128)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[WEIR_A_EXEMPT_PREFIX_LEN],
				    "get is for one address; leave the prefix length out");
		return -EINVAL;
	}
	reply = weir_nl_reply(info, WEIR_CMD_EXEMPT_GET, &header);
	if (!reply)
		return -ENOMEM;
	rcu_read_lock();
	err = exempt_find(reply, weir_config_get(wn), &asked, name, info);
	rcu_read_unlock();
	return weir_nl_reply_end(info, reply, header, err);
}

static int exempts_put(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct weir_config *config)
{
	const struct weir_exempts *exempts = config ? config->exempts : NULL;
	bool stats = weir_dump_attrs(cb)[WEIR_A_EXEMPT_WANT_STATS];
	const struct weir_exempt *exempt;
	void *header;

	for (; cb->args[0] < weir_exempts_count(exempts); cb->args[0]++) {
		exempt = weir_exempts_at(exempts, cb->args[0]);
		header = weir_nl_dump_put(skb, cb, WEIR_CMD_EXEMPT_GET);
		if (!header || weir_nl_put_exempt(skb, config, exempt) ||
		    (stats && put_stats(skb, exempt))) {
			genlmsg_cancel(skb, header);
			return skb->len ?: -EMSGSIZE;
		}
		genlmsg_end(skb, header);
	}
	return 0;
}

/* args[0] is the index of an exemption. */
int weir_nl_exempt_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_nl_net(cb->skb);
	int err;

	err = weir_nl_once(cb->nlh, 0, cb->extack);
	if (!err)
		err = weir_nl_only(cb->nlh, BIT(WEIR_A_EXEMPT_WANT_STATS), cb->extack);
	if (err)
		return err;
	weir_nl_dump_check(cb, wn);
	rcu_read_lock();
	err = exempts_put(skb, cb, weir_config_get(wn));
	rcu_read_unlock();
	weir_nl_dump_check(cb, wn);
	return err;
}

static int put_outcomes(struct sk_buff *reply, const struct weir_net *wn)
{
	static const u8 attr[WEIR_OUTCOMES] = {
		[WEIR_SEEN_EXEMPT]	= WEIR_A_STATS_EXEMPT,
		[WEIR_SEEN_UNMATCHED]	= WEIR_A_STATS_UNMATCHED,
		[WEIR_SEEN_ADMITTED]	= WEIR_A_STATS_ADMITTED,
		[WEIR_SEEN_DROPPED]	= WEIR_A_STATS_DROPPED,
		[WEIR_SEEN_UNPARSABLE]	= WEIR_A_STATS_UNPARSABLE,
	};
	u64 count[WEIR_OUTCOMES], seen = 0;
	unsigned int i;

	weir_stats_sum(wn->stats, count, WEIR_OUTCOMES);
	for (i = 0; i < WEIR_OUTCOMES; i++) {
		if (weir_nl_put_u64(reply, attr[i], count[i]))
			return -EMSGSIZE;
		if (i != WEIR_SEEN_UNPARSABLE)
			seen += count[i];
	}
	return weir_nl_put_u64(reply, WEIR_A_STATS_SEEN, seen);
}

static int put_holdings(struct sk_buff *reply, const struct weir_net *wn)
{
	u32 limits = 0, exempts = 0, i;
	struct weir_config *config;
	u64 memory = 0;

	rcu_read_lock();
	config = weir_config_get(wn);
	if (config) {
		limits = config->count;
		exempts = weir_exempts_count(config->exempts);
		for (i = 0; i < limits; i++)
			memory += weir_table_bytes(config->limit[i]->table);
	}
	rcu_read_unlock();
	return weir_nl_put_u64(reply, WEIR_A_STATS_EVENTS_LOST, atomic64_read(&wn->events_lost)) ||
	       weir_nl_put_u64(reply, WEIR_A_STATS_MEMORY, memory) ||
	       nla_put_u32(reply, WEIR_A_STATS_LIMITS, limits) ||
	       nla_put_u32(reply, WEIR_A_STATS_EXEMPTS, exempts) ||
	       weir_nl_put_u64(reply, WEIR_A_STATS_TICK_NS, weir_nl_ns(1)) ? -EMSGSIZE : 0;
}

int weir_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct sk_buff *reply;
	void *header;
	int err;

	err = weir_nl_only(info->nlhdr, 0, info->extack);
	if (err)
		return err;
	reply = weir_nl_reply(info, WEIR_CMD_STATS_GET, &header);
	if (!reply)
		return -ENOMEM;
	return weir_nl_reply_end(info, reply, header,
				 put_outcomes(reply, wn) ?: put_holdings(reply, wn));
}
