// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on exemptions, the whole configuration, and the counters of a
 * namespace.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/socket.h>

#include "netlink_priv.h"

static int exempt_change(struct genl_info *info, bool add)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct weir_fault fault = { .word = -1 };
	struct weir_exempt_words words = { };
	int err;

	err = weir_nl_once(info->nlhdr, 0, info->extack);
	if (!err)
		err = weir_nl_exempt_words(info->attrs, NULL, &words,
					   info->extack);
	if (err)
		return err;
	err = add ? weir_exempt_add(wn, &words, &fault) :
		    weir_exempt_del(wn, &words, &fault);
	return weir_nl_exempt_fault(info->attrs, &fault, err, info->extack);
}

/** weir_nl_exempt_add - WEIR_CMD_EXEMPT_ADD */
int weir_nl_exempt_add(struct sk_buff *skb, struct genl_info *info)
{
	return exempt_change(info, true);
}

/** weir_nl_exempt_del - WEIR_CMD_EXEMPT_DEL */
int weir_nl_exempt_del(struct sk_buff *skb, struct genl_info *info)
{
	return exempt_change(info, false);
}

/** weir_nl_exempt_flush - WEIR_CMD_EXEMPT_FLUSH */
int weir_nl_exempt_flush(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_fault fault = { .word = -1 };
	int err = weir_exempt_flush(weir_net(genl_info_net(info)));

	return weir_nl_fault(&fault, NULL, err, info->extack);
}

/* Under rcu_read_lock(). */
static int exempt_tell(struct sk_buff *reply, const struct weir_config *config,
		       const struct weir_exempt_words *words,
		       struct genl_info *info)
{
	const struct weir_net_prefix *prefix = &words->exempt.prefix;
	const struct weir_limit *limit = NULL;
	const struct weir_exempt *exempt = NULL;
	struct weir_exempt_place place;
	struct weir_source source = {
		.zone = prefix->family == AF_INET6 ? WEIR_ZONE_IPV6 : 0,
	};

	memcpy(source.word, prefix->word, sizeof(source.word));
	if (*words->limit) {
		limit = weir_limit_find(config, words->limit);
		if (!limit) {
			NL_SET_ERR_MSG_ATTR(info->extack,
					    info->attrs[WEIR_A_EXEMPT_LIMIT],
					    "no limit of that name; limit show lists them");
			return -ENOENT;
		}
	}
	if (config) {
		weir_exempt_place(config->exempts, &source, words->exempt.dev,
				  &place);
		exempt = weir_exempt_from(&place, words->exempt.dev, 0);
		if (!exempt && limit)
			exempt = weir_exempt_from(&place, words->exempt.dev,
						  limit->id);
	}
	if (!exempt) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[WEIR_A_EXEMPT_ADDRESS],
				    "no exemption holds the address (of a device: say dev); exempt show lists them");
		return -ENOENT;
	}
	return weir_nl_put_exempt(reply, config, exempt);
}

static int exempt_whole(struct genl_info *info,
			const struct weir_net_prefix *prefix)
{
	if (prefix->len == (prefix->family == AF_INET ? 32 : 128))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[WEIR_A_EXEMPT_PREFIX_LEN],
			    "get is for one address; leave the prefix length out");
	return -EINVAL;
}

/** weir_nl_exempt_get - WEIR_CMD_EXEMPT_GET of an address */
int weir_nl_exempt_get(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct weir_exempt_words words = { };
	struct sk_buff *reply;
	void *header;
	int err;

	err = weir_nl_once(info->nlhdr, 0, info->extack);
	if (!err)
		err = weir_nl_exempt_words(info->attrs, NULL, &words,
					   info->extack);
	if (!err)
		err = exempt_whole(info, &words.exempt.prefix);
	if (err)
		return err;
	reply = weir_nl_reply(info, WEIR_CMD_EXEMPT_GET, &header);
	if (!reply)
		return -ENOMEM;
	rcu_read_lock();
	err = exempt_tell(reply, weir_config_get(wn), &words, info);
	rcu_read_unlock();
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}

static int exempts_put(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct weir_net *wn)
{
	const struct weir_config *config;
	const struct weir_exempt *exempt;
	void *header;
	int err = 0;

	rcu_read_lock();
	config = weir_config_get(wn);
	for (; config && cb->args[0] < weir_exempts_count(config->exempts);
	     cb->args[0]++) {
		exempt = weir_exempts_at(config->exempts, cb->args[0]);
		header = weir_nl_dump_put(skb, cb, WEIR_CMD_EXEMPT_GET);
		if (header && !weir_nl_put_exempt(skb, config, exempt)) {
			genlmsg_end(skb, header);
			continue;
		}
		if (header)
			genlmsg_cancel(skb, header);
		err = skb->len ?: -EMSGSIZE;
		break;
	}
	rcu_read_unlock();
	return err;
}

/** weir_nl_exempt_dump - WEIR_CMD_EXEMPT_GET of all; args[0] is a place */
int weir_nl_exempt_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **attrs = weir_dump_attrs(cb);
	struct weir_net *wn = weir_nl_net(cb->skb);
	unsigned int i;
	int err;

	for (i = 1; i <= WEIR_A_EXEMPT_MAX; i++) {
		if (!attrs[i])
			continue;
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[i],
				    "a dump tells all exemptions; leave this out");
		return -EINVAL;
	}
	weir_nl_dump_turn(cb, wn);
	err = exempts_put(skb, cb, wn);
	weir_nl_dump_turn(cb, wn);
	return err;
}

/**
 * struct replace - a configuration to be
 * @limit: words of the limits
 * @exempt: words of the exemptions
 * @limits: so many
 * @exempts: so many
 */
struct replace {
	struct weir_words *limit;
	struct weir_exempt_words *exempt;
	unsigned int limits;
	unsigned int exempts;
};

static int replace_count(struct genl_info *info, struct replace *replace)
{
	const struct nlattr *attr;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == WEIR_A_CONFIG_EXEMPT)
			replace->exempts++;
		else
			replace->limits++;
		if (replace->limits > WEIR_LIMITS_MAX) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "a namespace has at most 256 limits");
			return -ENOSPC;
		}
		if (replace->exempts > WEIR_EXEMPTS_MAX) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "a namespace has at most 8192 exemptions");
			return -ENOSPC;
		}
	}
	return 0;
}

static int replace_limit(const struct nlattr *nest, struct weir_words *words,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_LIMIT_MATCH + 1];
	int err;

	err = weir_nl_nest(nest, attrs, WEIR_A_LIMIT_MATCH,
			   weir_nl_limit_entry_policy, extack);
	return err ?: weir_nl_limit_words(attrs, nest, true, words, extack);
}

static int replace_exempt(const struct nlattr *nest,
			  struct weir_exempt_words *words,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_EXEMPT_MAX + 1];
	int err;

	err = weir_nl_nest(nest, attrs, WEIR_A_EXEMPT_MAX,
			   weir_nl_exempt_policy, extack);
	return err ?: weir_nl_exempt_words(attrs, nest, words, extack);
}

static int replace_words(struct genl_info *info, struct replace *replace)
{
	unsigned int limits = 0, exempts = 0;
	const struct nlattr *attr;
	int rem, err = 0;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == WEIR_A_CONFIG_EXEMPT)
			err = replace_exempt(attr, &replace->exempt[exempts++],
					     info->extack);
		else
			err = replace_limit(attr, &replace->limit[limits++],
					    info->extack);
		if (err)
			break;
		cond_resched();
	}
	return err;
}

/* Point at the attribute of the entry at fault. */
static int replace_fault(struct genl_info *info, const struct weir_fault *fault,
			 int err)
{
	int type = fault->is_exempt ? WEIR_A_CONFIG_EXEMPT : WEIR_A_CONFIG_LIMIT;
	struct nlattr *attrs[WEIR_A_LIMIT_MATCH + 1];
	unsigned int index = fault->index;
	const struct nlattr *attr;
	int rem;

	BUILD_BUG_ON((int)WEIR_A_EXEMPT_MAX > WEIR_A_LIMIT_MATCH);
	if (!fault->msg)
		return weir_nl_fault(fault, NULL, err, info->extack);
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != type || index--)
			continue;
		if (fault->is_exempt) {
			weir_nl_nest(attr, attrs, WEIR_A_EXEMPT_MAX,
				     weir_nl_exempt_policy, NULL);
			return weir_nl_exempt_fault(attrs, fault, err,
						    info->extack);
		}
		weir_nl_nest(attr, attrs, WEIR_A_LIMIT_MATCH,
			     weir_nl_limit_entry_policy, NULL);
		return weir_nl_limit_fault(attrs, fault, err, info->extack);
	}
	return weir_nl_fault(fault, NULL, err, info->extack);
}

/** weir_nl_config_replace - WEIR_CMD_CONFIG_REPLACE */
int weir_nl_config_replace(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_fault fault = { .word = -1 };
	struct replace replace = { };
	int err;

	err = weir_nl_once(info->nlhdr, BIT_ULL(WEIR_A_CONFIG_LIMIT) |
			   BIT_ULL(WEIR_A_CONFIG_EXEMPT), info->extack);
	if (!err)
		err = replace_count(info, &replace);
	if (err)
		return err;
	/* Not for the log, which a user who is root in a namespace of their own
	 * could fill; the answer says it.
	 */
	replace.limit = kvcalloc(replace.limits ?: 1, sizeof(*replace.limit),
				 GFP_KERNEL | __GFP_NOWARN);
	replace.exempt = kvcalloc(replace.exempts ?: 1,
				  sizeof(*replace.exempt),
				  GFP_KERNEL | __GFP_NOWARN);
	if (replace.limit && replace.exempt)
		err = replace_words(info, &replace);
	else
		err = weir_nl_fault(&fault, NULL, -ENOMEM, info->extack);
	if (!err) {
		err = weir_config_replace(weir_net(genl_info_net(info)),
					  replace.limit, replace.limits,
					  replace.exempt, replace.exempts,
					  &fault);
		replace_fault(info, &fault, err);
	}
	kvfree(replace.limit);
	kvfree(replace.exempt);
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

	weir_net_counts(wn, count);
	for (i = 0; i < WEIR_SEEN_UNPARSABLE; i++)
		seen += count[i];
	if (nla_put_u64_64bit(reply, WEIR_A_STATS_SEEN, seen, WEIR_A_STATS_PAD))
		return -EMSGSIZE;
	for (i = 0; i < WEIR_OUTCOMES; i++)
		if (nla_put_u64_64bit(reply, attr[i], count[i],
				      WEIR_A_STATS_PAD))
			return -EMSGSIZE;
	return 0;
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
	return nla_put_u64_64bit(reply, WEIR_A_STATS_EVENTS_LOST,
				 atomic64_read(&wn->events.lost),
				 WEIR_A_STATS_PAD) ||
	       nla_put_u64_64bit(reply, WEIR_A_STATS_MEMORY, memory,
				 WEIR_A_STATS_PAD) ||
	       nla_put_u32(reply, WEIR_A_STATS_LIMITS, limits) ||
	       nla_put_u32(reply, WEIR_A_STATS_EXEMPTS, exempts) ||
	       nla_put_u64_64bit(reply, WEIR_A_STATS_TICK_NS, weir_nl_ns(1),
				 WEIR_A_STATS_PAD);
}

/** weir_nl_stats_get - WEIR_CMD_STATS_GET */
int weir_nl_stats_get(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct sk_buff *reply;
	void *header;

	reply = weir_nl_reply(info, WEIR_CMD_STATS_GET, &header);
	if (!reply)
		return -ENOMEM;
	if (put_outcomes(reply, wn) || put_holdings(reply, wn)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}
