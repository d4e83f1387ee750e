// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that change the configuration: each edits a copy of it, straight
 * from the attributes. The policies have checked types, lengths and ranges; the
 * rest is checked here.
 */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/netdevice.h>

#include "clock.h"
#include "config/edit.h"
#include "config/lists.h"
#include "config/make.h"
#include "error.h"
#include "netlink/message.h"

/* The most that GRO merges into a packet, except with BIG TCP. */
#define GRO_BYTES	(64u << 10)
#define GRO_PACKETS	64u

static int limit_parse(struct nlattr **attrs, struct weir_limit_config *cfg,
		       const struct weir_edit *edit, struct netlink_ext_ack *extack)
{
	if (attrs[WEIR_A_LIMIT_COMMENT])
		nla_strscpy(cfg->comment, attrs[WEIR_A_LIMIT_COMMENT], sizeof(cfg->comment));
	if (attrs[WEIR_A_LIMIT_PREFIX4])
		cfg->prefix.len4 = nla_get_u8(attrs[WEIR_A_LIMIT_PREFIX4]);
	if (attrs[WEIR_A_LIMIT_PREFIX6])
		cfg->prefix.len6 = nla_get_u8(attrs[WEIR_A_LIMIT_PREFIX6]);
	if (attrs[WEIR_A_LIMIT_SOURCES])
		cfg->sources = nla_get_u32(attrs[WEIR_A_LIMIT_SOURCES]);
	if (attrs[WEIR_A_LIMIT_ACTION])
		cfg->observe = nla_get_u32(attrs[WEIR_A_LIMIT_ACTION]);
	if (attrs[WEIR_A_LIMIT_NEWCOMERS])
		cfg->newcomers.budget = nla_get_u64(attrs[WEIR_A_LIMIT_NEWCOMERS]);
	if (attrs[WEIR_A_LIMIT_NEWCOMERS_MS])
		cfg->newcomers.window_ms = nla_get_u32(attrs[WEIR_A_LIMIT_NEWCOMERS_MS]);
	if (attrs[WEIR_A_LIMIT_FLOOD])
		cfg->newcomers.flood = nla_get_u32(attrs[WEIR_A_LIMIT_FLOOD]);
	if (attrs[WEIR_A_LIMIT_KNOWN_MS])
		cfg->newcomers.known_ms = nla_get_u32(attrs[WEIR_A_LIMIT_KNOWN_MS]);
	if (attrs[WEIR_A_LIMIT_PENALTY_MS] || attrs[WEIR_A_LIMIT_RENEW]) {
		cfg->penalty_ms = attrs[WEIR_A_LIMIT_PENALTY_MS] ?
				    nla_get_u64(attrs[WEIR_A_LIMIT_PENALTY_MS]) : 0;
		cfg->renew = attrs[WEIR_A_LIMIT_RENEW];
	}
	if (attrs[WEIR_A_LIMIT_LOG])
		cfg->log = nla_get_u16(attrs[WEIR_A_LIMIT_LOG]);
	if (attrs[WEIR_A_LIMIT_BUDGETS_BY]) {
		const char *list = nla_data(attrs[WEIR_A_LIMIT_BUDGETS_BY]);

		cfg->budgets_by = weir_edit_list(edit, list);
		if (!cfg->budgets_by && strcmp(list, "none"))
			return weir_nl_no_list(attrs[WEIR_A_LIMIT_BUDGETS_BY], extack);
	}
	if (attrs[WEIR_A_LIMIT_MATCH])
		return weir_nl_match(attrs[WEIR_A_LIMIT_MATCH], &cfg->match, edit, extack);
	return 0;
}

/* Does GRO merge packets that the limit matches, on any present device? */
static bool limit_meets_gro(const struct weir_net *wn, const struct weir_match *match)
{
	const unsigned int plain = match->conds & ~match->invert;
	netdev_features_t joins = NETIF_F_GRO;
	const struct net_device *dev;
	bool meets = false;

	if (plain & (WEIR_COND_SYN | WEIR_COND_FRAG | WEIR_COND_ICMP_TYPE | WEIR_COND_ICMPV6_TYPE))
		return false;
	if (plain & WEIR_COND_PROTO && !test_bit(IPPROTO_TCP, match->proto)) {
		joins = NETIF_F_GRO_FRAGLIST | NETIF_F_GRO_UDP_FWD;
		if (!test_bit(IPPROTO_UDP, match->proto))
			return false;
	}
	rcu_read_lock();
	for_each_netdev_rcu(wn->net, dev)
		if (dev->features & joins && !(dev->flags & IFF_LOOPBACK) &&
		    (!(match->conds & WEIR_COND_DEV) ||
		     !strcmp(dev->name, match->dev) != !!(match->invert & WEIR_COND_DEV)))
			meets = true;
	rcu_read_unlock();
	return meets;
}

/* Can anybody send what the limit counts from the address of another? */
static bool limit_spoofed(const struct weir_match *match)
{
	return !weir_match_proto(match, IPPROTO_TCP) ||
	       !(match->conds & match->invert & WEIR_COND_SYN);
}

static void limit_warn(const struct weir_net *wn, const struct weir_limit *limit,
		       struct weir_error *error)
{
	u64 packets = limit->largest[false], bytes = limit->largest[true];

	/* What is lost comes first. */
	if (error->msg)
		return;
	if (limit->cfg.penalty_ms && limit_spoofed(&limit->cfg.match))
		weir_refuse(error, 0, WEIR_A_LIMIT_PENALTY_MS,
			    "spoofed packets can get others blocked; see penalty in weir-limit(8)");
	else if (bytes < ETH_DATA_LEN)
		weir_refuse(error, 0, WEIR_A_LIMIT_BUDGET,
			    "packets larger than the budget never fit; they may have up to 1500 bytes");
	else if ((bytes < GRO_BYTES || packets < GRO_PACKETS) &&
		 limit_meets_gro(wn, &limit->cfg.match))
		weir_refuse(error, 0, WEIR_A_LIMIT_BUDGET,
			    "up to 64 packets merged by GRO may not fit the budget: ethtool -K DEV gro off");
	else if (limit->newcomers.budget && limit->newcomers.budget < GRO_PACKETS &&
		 limit_meets_gro(wn, &limit->cfg.match))
		weir_refuse(error, 0, WEIR_A_LIMIT_NEWCOMERS,
			    "up to 64 packets merged by GRO may not fit newcomers: ethtool -K DEV gro off");
}

/* The attributes of an object, in a nest or, with NULL, the message, of @len bytes. */
static const struct nlattr *object_head(const struct nlattr *nest, const struct genl_info *info,
					int *len)
{
	*len = nest ? nla_len(nest) : nlmsg_attrlen(info->nlhdr, GENL_HDRLEN);
	return nest ? nla_data(nest) : nlmsg_attrdata(info->nlhdr, GENL_HDRLEN);
}

/* Before the budgets: one that is not shared has no amounts for a limit that is alone. */
static void sharing_parse(const struct nlattr *attr, struct weir_limit_config *cfg)
{
	unsigned int i;

	if (attr)
		cfg->shared = nla_get_u32(attr);
	for (i = 0; !cfg->shared && i < cfg->budgets; i++)
		cfg->budget[i].alone = 0;
}

/* Whether the limit, @was or a new one, only blocks, and how many. Before the budgets. */
static int blocks_parse(struct nlattr **attrs, const struct weir_limit *was,
			struct weir_limit_config *cfg, struct weir_error *error)
{
	const struct nlattr *blocks = attrs[WEIR_A_LIMIT_BLOCKS_ONLY];

	if (blocks && was && was->budgets)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_BLOCKS_ONLY,
				   "the limit has budgets; add another one that only blocks");
	if (was ? was->budgets : !blocks)
		return 0;
	if (attrs[WEIR_A_LIMIT_BUDGET])
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_BUDGET,
				   "a limit that only blocks has no budget; add another one with it");
	if (attrs[WEIR_A_LIMIT_SOURCES])
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_SOURCES,
				   "a limit that only blocks is made for blocks; leave sources out");
	if (blocks)
		weir_limit_only_blocks(cfg, nla_get_u32(blocks));
	return 0;
}

static int limit_edit(struct weir_edit *edit, u8 cmd, struct nlattr **attrs,
		      const struct nlattr *nest, struct weir_error *error,
		      const struct genl_info *info)
{
	struct netlink_ext_ack *extack = info->extack;
	const struct nlattr *head;
	u8 place[WEIR_BUDGETS_MAX] = { };
	struct weir_limit *was = NULL;
	struct weir_limit_config cfg;
	const char *name;
	int err, len;

	err = weir_nl_require(attrs, nest, WEIR_A_LIMIT_NAME,
			      "the name of the limit is missing", extack);
	if (!err && cmd == WEIR_CMD_LIMIT_ADD && !attrs[WEIR_A_LIMIT_BLOCKS_ONLY])
		err = weir_nl_require(attrs, nest, WEIR_A_LIMIT_BUDGET,
				      "the budget of the limit is missing", extack);
	if (err)
		return err;
	name = nla_data(attrs[WEIR_A_LIMIT_NAME]);
	if (cmd == WEIR_CMD_LIMIT_DEL)
		return weir_edit_limit_del(edit, name, error);
	if (cmd == WEIR_CMD_LIMIT_RENAME)
		return weir_nl_require(attrs, nest, WEIR_A_LIMIT_NEW_NAME,
				       "the new name of the limit is missing", extack) ?:
		       weir_edit_limit_rename(edit, name, nla_data(attrs[WEIR_A_LIMIT_NEW_NAME]),
					      error);
	if (cmd == WEIR_CMD_LIMIT_ADD) {
		weir_limit_init(&cfg, name);
		cfg.budgets = 0;
	} else {
		was = weir_edit_find(edit, name, error);
		if (!was)
			return -ENOENT;
		/* Copy the padding, too: configurations are compared as bytes. */
		memcpy(&cfg, &was->cfg, sizeof(cfg));
	}
	sharing_parse(attrs[WEIR_A_LIMIT_SHARING], &cfg);
	head = object_head(nest, info, &len);
	err = blocks_parse(attrs, was, &cfg, error) ?:
	      weir_nl_budgets(attrs, head, len, &cfg, place, extack) ?:
	      limit_parse(attrs, &cfg, edit, extack);
	if (!err && cfg.newcomers.budget && !cfg.newcomers.window_ms)
		err = weir_nl_require(attrs, nest, WEIR_A_LIMIT_NEWCOMERS_MS,
				      "the window of the newcomers' budget is missing", extack);
	if (!err && !cfg.newcomers.budget && (attrs[WEIR_A_LIMIT_FLOOD] ||
					      attrs[WEIR_A_LIMIT_KNOWN_MS]))
		err = weir_refuse(error, -EINVAL, attrs[WEIR_A_LIMIT_FLOOD] ?
				  WEIR_A_LIMIT_FLOOD : WEIR_A_LIMIT_KNOWN_MS,
				  "this belongs to a newcomers' budget, and the limit has none");
	if (cmd == WEIR_CMD_LIMIT_ADD && !attrs[WEIR_A_LIMIT_SOURCES] && cfg.budgets)
		cfg.sources = weir_limit_sources(&cfg);
	if (!err)
		err = weir_edit_limit(edit, &cfg, was, attrs[WEIR_A_LIMIT_BEFORE] ?
				      nla_data(attrs[WEIR_A_LIMIT_BEFORE]) : NULL, error);
	if (!err) {
		limit_warn(edit->wn, weir_edit_find(edit, name, error), error);
	} else if (error->budget) {
		/* One that the request does not name has no attribute to point at. */
		error->budget = place[error->budget - 1];
		error->attr = error->budget ? error->attr : 0;
	}
	return err;
}

/* For how long a source is exempt. */
static int exempt_time(const struct nlattr *attr, struct weir_exempt *exempt,
		       struct netlink_ext_ack *extack)
{
	u64 ms = attr ? nla_get_u64(attr) : 0;

	if (!ms)
		return 0;
	exempt->end = weir_clock() + DIV_ROUND_UP_ULL(ms * HZ, MSEC_PER_SEC);
	if (ms >= WEIR_BLOCK_MS_MIN)
		return 0;
	weir_nl_refuse(extack, attr, "it lasts a second at least; 0 is for ever");
	return -ERANGE;
}

static int exempt_edit(struct weir_edit *edit, u8 cmd, struct nlattr **attrs,
		       const struct nlattr *nest, struct weir_error *error,
		       struct netlink_ext_ack *extack)
{
	const char *limit = weir_nl_name(attrs[WEIR_A_EXEMPT_LIMIT]);
	struct weir_exempt exempt;
	int err;

	err = weir_nl_exempt(attrs, nest, &exempt, extack);
	if (err)
		return err;
	if (attrs[WEIR_A_EXEMPT_BLOCK])
		exempt.limit = WEIR_EXEMPT_BLOCK;
	if (cmd == WEIR_CMD_EXEMPT_DEL)
		return weir_edit_exempt_del(edit, &exempt, limit, error);
	err = exempt_time(attrs[WEIR_A_EXEMPT_FOR_MS], &exempt, extack);
	if (err)
		return err;
	exempt.comment = weir_nl_name(attrs[WEIR_A_EXEMPT_COMMENT]);
	edit->renew = attrs[WEIR_A_EXEMPT_REPLACE];
	edit->shorten = attrs[WEIR_A_EXEMPT_FORCE];
	return weir_edit_exempt_add(edit, &exempt, limit, error);
}

/* Is it a command on limits, not on exemptions? */
static bool of_limit(u8 cmd)
{
	return cmd < WEIR_CMD_SOURCE_SHOW || cmd == WEIR_CMD_LIMIT_RENAME;
}

/* Point at the attribute at fault, or else at the object or its name. */
static int object_edit(struct weir_edit *edit, u8 cmd, struct nlattr **attrs,
		       const struct nlattr *nest, struct weir_error *error,
		       const struct genl_info *info)
{
	bool limit = of_limit(cmd);
	const struct nlattr *head;
	int err, len;

	err = limit ? limit_edit(edit, cmd, attrs, nest, error, info) :
		      exempt_edit(edit, cmd, attrs, nest, error, info->extack);
	if (!err)
		return 0;
	head = object_head(nest, info, &len);
	if (error->budget)
		nest = weir_nl_nth(head, len, WEIR_A_LIMIT_BUDGET, error->budget - 1);
	if (error->budget)
		nest = nla_find_nested(nest, error->attr) ?: nest;
	else if (error->attr)
		nest = attrs[error->attr];
	else if (!nest)
		nest = attrs[limit ? WEIR_A_LIMIT_NAME : WEIR_A_EXEMPT_ADDRESS];
	return weir_nl_error(error, nest, err, info->extack);
}

static int config_object(struct weir_edit *edit, const struct nlattr *nest,
			 struct weir_error *error, const struct genl_info *info)
{
	bool limit = nla_type(nest) == WEIR_A_CONFIG_LIMIT;
	/* Of the larger set; what an entry cannot have is not given. */
	struct nlattr *attrs[WEIR_A_LIMIT_MAX + 1] = { };
	bool del = info->attrs[WEIR_A_CONFIG_DEL];
	int err;

	if (limit && del)
		return weir_nl_refuse(info->extack, nest,
				      "del is for exemptions and blocks; limit-del removes a limit");
	err = limit ? weir_nl_nest(nest, attrs, WEIR_A_LIMIT_BLOCKS_ONLY,
				   weir_limit_entry_nl_policy, info->extack) :
		      weir_nl_nest(nest, attrs, WEIR_A_EXEMPT_FORCE,
				   weir_exempt_entry_nl_policy, info->extack);
	return err ?: object_edit(edit, limit ? WEIR_CMD_LIMIT_ADD : del ? WEIR_CMD_EXEMPT_DEL :
				  WEIR_CMD_EXEMPT_ADD, attrs, nest, error, info);
}

/* Keep the first warning, but rather the first of what is lost, and add up those like it. */
static void warning_add(struct weir_error *warning, const struct weir_error *error, u32 place)
{
	const bool lost = warning->value && error->value;

	if (!warning->msg || (!warning->value && error->value))
		*warning = (struct weir_error) { .msg = error->msg, .place = place };
	else if (lost || warning->msg == error->msg)
		warning->more++;
	if (lost && warning->msg != error->msg)
		warning->msg = "blocks, counts or sources are lost; each limit alone says which";
	warning->value += error->value;
}

/* Parse the limits, and then the exemptions, which may name them. */
static int config_parse(struct weir_edit *edit, struct genl_info *info,
			struct weir_error *warning)
{
	const struct nlattr *attr;
	struct weir_error error;
	int err, rem, type;
	u32 place = 0;

	if (info->attrs[WEIR_A_CONFIG_ADD] && info->attrs[WEIR_A_CONFIG_DEL])
		return weir_nl_refuse(info->extack, info->attrs[WEIR_A_CONFIG_DEL],
				      "add and del exclude each other; leave one of them out");
	for (type = WEIR_A_CONFIG_LIMIT; type <= WEIR_A_CONFIG_EXEMPT; type++) {
		nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
			if (nla_type(attr) != type)
				continue;
			place++;
			error = (struct weir_error) { };
			err = config_object(edit, attr, &error, info);
			if (err)
				return err;
			if (error.msg)
				warning_add(warning, &error, place);
			cond_resched();
		}
	}
	return 0;
}

/* How many exemptions and blocks a configuration has. */
static unsigned int config_exempts(const struct genl_info *info)
{
	const struct nlattr *attr;
	unsigned int count = 0;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		count += nla_type(attr) == WEIR_A_CONFIG_EXEMPT;
	return min_t(unsigned int, count, 2 * WEIR_EXEMPTS_MAX);
}

/* Change one object, and with @reply put the limit that it is, or would be. */
static int change_one(struct weir_edit *edit, struct genl_info *info, struct sk_buff *reply,
		      struct weir_error *error)
{
	struct nlattr **attrs = info->attrs;
	int err;

	edit->check = attrs[of_limit(info->genlhdr->cmd) ? WEIR_A_LIMIT_CHECK :
			    WEIR_A_EXEMPT_CHECK];
	err = object_edit(edit, info->genlhdr->cmd, attrs, NULL, error, info);
	if (err || !reply)
		return err;
	return weir_nl_put_whole(reply, weir_edit_find(edit, nla_data(attrs[WEIR_A_LIMIT_NAME]),
						       error), NULL);
}

/* Go on with what was saved: hold the configuration, with the hash key of then. */
static int hold_parse(struct weir_edit *edit, struct nlattr **attrs,
		      struct netlink_ext_ack *extack)
{
	const struct nlattr *key = attrs[WEIR_A_CONFIG_HASH_KEY];
	struct weir_net *wn = edit->wn;

	edit->hold = attrs[WEIR_A_CONFIG_HOLD];
	if ((key || edit->hold) && edit->old && edit->old->count)
		return weir_nl_refuse(extack, key ?: attrs[WEIR_A_CONFIG_HOLD],
				      "this needs a namespace without limits; flush them first");
	if (!key || edit->check)
		return 0;
	/* Its sources were put where the former key says. */
	weir_held_drop(wn);
	memcpy(&wn->key, nla_data(key), sizeof(wn->key));
	return 0;
}

/* All operations that change the configuration come here. */
static int change_reply(struct genl_info *info, struct sk_buff *reply)
{
	bool config = info->genlhdr->cmd == WEIR_CMD_CONFIG_REPLACE;
	bool publish = info->genlhdr->cmd == WEIR_CMD_CONFIG_PUBLISH;
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct nlattr **attrs = info->attrs, *at = NULL;
	struct weir_error error = { };
	struct weir_edit *edit;
	unsigned int before;
	int err = 0;

	edit = weir_edit_begin(wn, publish || (config && !attrs[WEIR_A_CONFIG_ADD] &&
					       !attrs[WEIR_A_CONFIG_DEL]),
			       config ? config_exempts(info) : 1);
	if (!edit)
		return weir_nl_error(&error, NULL, -ENOMEM, info->extack);
	edit->whole = config || publish;
	before = edit->exempts;
	switch (info->genlhdr->cmd) {
	case WEIR_CMD_LIMIT_FLUSH:
		edit->count = 0;
		break;
	case WEIR_CMD_EXEMPT_FLUSH:
		weir_edit_exempt_flush(edit, attrs[WEIR_A_EXEMPT_BLOCK]);
		break;
	case WEIR_CMD_CONFIG_REPLACE:
		edit->check = attrs[WEIR_A_CONFIG_CHECK];
		err = hold_parse(edit, attrs, info->extack) ?: weir_nl_lists(edit, info) ?:
		      config_parse(edit, info, &error);
		break;
	case WEIR_CMD_CONFIG_PUBLISH:
		err = weir_edit_held(edit);
		if (err)
			weir_nl_refuse(info->extack, NULL,
				       "no configuration is held; config-replace with hold makes one");
		break;
	case WEIR_CMD_PREFIX_LIST_ADD:
	case WEIR_CMD_PREFIX_LIST_SET:
	case WEIR_CMD_PREFIX_LIST_DEL:
		err = weir_nl_prefix_list_change(edit, info, &error);
		break;
	default:
		err = change_one(edit, info, reply, &error);
	}
	err = weir_edit_end(edit, err, &error);
	/* An error found only by weir_edit_end() is an exemption given twice. */
	if (config && error.attr)
		at = nla_find_nested(weir_nl_nth(nlmsg_attrdata(info->nlhdr, GENL_HDRLEN),
						 nlmsg_attrlen(info->nlhdr, GENL_HDRLEN),
						 WEIR_A_CONFIG_EXEMPT, error.exempt - before),
				     WEIR_A_EXEMPT_ADDRESS);
	return weir_nl_error(&error, at, err, info->extack);
}

static int change(struct sk_buff *skb, struct genl_info *info)
{
	return change_reply(info, NULL);
}

int weir_nl_limit_del_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_limit_rename_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_limit_flush_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_exempt_add_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_exempt_del_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_exempt_flush_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_config_replace_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_config_publish_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_prefix_list_add_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_prefix_list_set_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);
int weir_nl_prefix_list_del_doit(struct sk_buff *skb, struct genl_info *info) __alias(change);

/* With NLM_F_ECHO reply with the resulting limit, or for a check with what it would be. */
int weir_nl_limit_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply = NULL;
	int err;

	if (info->nlhdr->nlmsg_flags & NLM_F_ECHO) {
		reply = weir_nl_reply(info);
		if (!reply)
			return -ENOMEM;
	}
	err = change_reply(info, reply);
	if (reply)
		weir_nl_reply_end(info, reply, err);
	return err;
}

int weir_nl_limit_join_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs, *name = attrs[WEIR_A_LIMIT_NAME];
	u64 ms;
	int err;

	err = weir_nl_require(attrs, NULL, WEIR_A_LIMIT_NAME, "the name of the limit is missing",
			      info->extack) ?:
	      weir_nl_require(attrs, NULL, WEIR_A_LIMIT_JOINED_MS,
			      "for how long the limit is joined is missing; 0 ends that",
			      info->extack);
	if (err)
		return err;
	ms = nla_get_u32(attrs[WEIR_A_LIMIT_JOINED_MS]);
	err = weir_limit_join(weir_net(genl_info_net(info)), nla_data(name),
			      DIV_ROUND_UP_ULL(ms * HZ, MSEC_PER_SEC));
	if (err == -ENOENT)
		return weir_nl_no_limit(name, info->extack);
	return !err ? 0 : weir_nl_refuse(info->extack, name,
		"hosts do not share this limit; limit set NAME shared lets them");
}

int weir_nl_limit_set_doit(struct sk_buff *skb, struct genl_info *info)
	__alias(weir_nl_limit_add_doit);
