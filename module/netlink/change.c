// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that change the configuration: each edits a copy of it, straight
 * from the attributes. The policies have checked types, lengths and ranges; the
 * rest is checked here.
 */
#include <linux/err.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/netdevice.h>

#include "clock.h"
#include "config/edit.h"
#include "config/make.h"
#include "netlink/message.h"

/* The most that GRO merges into a packet, except with BIG TCP. */
#define GRO_BYTES	(64u << 10)
#define GRO_PACKETS	64u

static int limit_parse(struct nlattr **attrs, struct weir_limit_config *cfg,
		       const struct weir_edit *edit, struct netlink_ext_ack *extack)
{
	struct weir_newcomers_config *new = &cfg->newcomers;

	if (attrs[WEIR_A_LIMIT_COMMENT])
		nla_strscpy(cfg->comment, attrs[WEIR_A_LIMIT_COMMENT], sizeof(cfg->comment));
	cfg->prefix.len4 = weir_nl_uint(attrs[WEIR_A_LIMIT_PREFIX4], cfg->prefix.len4);
	cfg->prefix.len6 = weir_nl_uint(attrs[WEIR_A_LIMIT_PREFIX6], cfg->prefix.len6);
	cfg->sources = weir_nl_uint(attrs[WEIR_A_LIMIT_SOURCES], cfg->sources);
	cfg->observe = weir_nl_uint(attrs[WEIR_A_LIMIT_ACTION], cfg->observe);
	new->budget = weir_nl_uint(attrs[WEIR_A_LIMIT_NEWCOMERS], new->budget);
	new->window_ms = weir_nl_uint(attrs[WEIR_A_LIMIT_NEWCOMERS_MS], new->window_ms);
	new->flood = weir_nl_uint(attrs[WEIR_A_LIMIT_FLOOD], new->flood);
	new->known_ms = weir_nl_uint(attrs[WEIR_A_LIMIT_KNOWN_MS], new->known_ms);
	/* What belongs to their budget goes with it: nothing would show it. */
	if (!new->budget)
		weir_newcomers_init(new);
	if (attrs[WEIR_A_LIMIT_PENALTY_MS] || attrs[WEIR_A_LIMIT_RENEW]) {
		cfg->penalty_ms = weir_nl_uint(attrs[WEIR_A_LIMIT_PENALTY_MS], 0);
		cfg->renew = attrs[WEIR_A_LIMIT_RENEW];
	}
	cfg->log = weir_nl_uint(attrs[WEIR_A_LIMIT_LOG], cfg->log);
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
	const struct weir_match *match = &limit->cfg.match;
	const char *unmet;
	bool merged;

	/* What is lost comes first. */
	if (error->msg)
		return;
	merged = (bytes < GRO_BYTES || packets < GRO_PACKETS) && limit_meets_gro(wn, match);
	unmet = match->conds & ~match->invert & WEIR_COND_DEV ?
		weir_nl_dev_unmet(wn, match->dev) : NULL;
	if (unmet)
		weir_refuse(error, 0, WEIR_A_LIMIT_MATCH, unmet);
	else if (limit->cfg.penalty_ms && !limit->cfg.observe && limit_spoofed(match) && merged)
		weir_refuse(error, 0, WEIR_A_LIMIT_PENALTY_MS,
			    "spoofed packets, and up to 64 merged by GRO, get sources blocked: exempt who must not be; ethtool -K DEV gro off");
	else if (limit->cfg.penalty_ms && !limit->cfg.observe &&
		 weir_match_proto(match, IPPROTO_TCP) && !(match->conds & WEIR_COND_SYN))
		weir_refuse(error, 0, WEIR_A_LIMIT_PENALTY_MS,
			    "open connections and spoofed packets count, too: syn counts attempts alone; exempt who must not be blocked");
	else if (limit->cfg.penalty_ms && !limit->cfg.observe && limit_spoofed(match))
		weir_refuse(error, 0, WEIR_A_LIMIT_PENALTY_MS,
			    "spoofed packets get others blocked: exempt who must not be blocked");
	else if (bytes < ETH_DATA_LEN)
		weir_refuse(error, 0, WEIR_A_LIMIT_BUDGET,
			    "packets larger than budget or burst never fit; they may have up to 1500 bytes");
	else if (merged)
		weir_refuse(error, 0, WEIR_A_LIMIT_BUDGET,
			    "up to 64 packets merged by GRO may not fit the budget: ethtool -K DEV gro off");
	else if (limit->newcomers.budget && limit->newcomers.budget < GRO_PACKETS &&
		 limit_meets_gro(wn, match))
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

	if (blocks && was && was->cfg.budgets)
		return weir_refuse(error, -EINVAL, WEIR_A_LIMIT_BLOCKS_ONLY,
				   "the limit has budgets; add another one that only blocks");
	if (was ? was->cfg.budgets : !blocks)
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

static int limit_name(const struct weir_nl_object *object)
{
	return weir_nl_require(object->attrs, object->nest, WEIR_A_LIMIT_NAME,
			       "the name of the limit is missing", object->info->extack);
}

/* Put a limit, or @was with what the object changes, into the edit. */
static int limit_put(struct weir_edit *edit, const struct weir_nl_object *object,
		     struct weir_limit_config *cfg, struct weir_limit *was,
		     struct weir_error *error)
{
	struct netlink_ext_ack *extack = object->info->extack;
	struct nlattr **attrs = object->attrs, *before = attrs[WEIR_A_LIMIT_BEFORE];
	const char *next = before ? nla_data(before) : NULL;
	u8 place[WEIR_BUDGETS_MAX] = { };
	const struct nlattr *head;
	int err, len;

	sharing_parse(attrs[WEIR_A_LIMIT_SHARING], cfg);
	head = object_head(object->nest, object->info, &len);
	err = blocks_parse(attrs, was, cfg, error) ?:
	      weir_nl_budgets(attrs, head, len, cfg, place, extack) ?:
	      limit_parse(attrs, cfg, edit, extack);
	if (!err && cfg->newcomers.budget && !cfg->newcomers.window_ms)
		err = weir_nl_require(attrs, object->nest, WEIR_A_LIMIT_NEWCOMERS_MS,
				      "the window of the newcomers' budget is missing", extack);
	if (!err && !cfg->newcomers.budget && (attrs[WEIR_A_LIMIT_FLOOD] ||
					       attrs[WEIR_A_LIMIT_KNOWN_MS]))
		err = weir_refuse(error, -EINVAL, attrs[WEIR_A_LIMIT_FLOOD] ?
				  WEIR_A_LIMIT_FLOOD : WEIR_A_LIMIT_KNOWN_MS,
				  "this belongs to a newcomers' budget, and the limit has none");
	if (!was && !attrs[WEIR_A_LIMIT_SOURCES] && cfg->budgets)
		cfg->sources = weir_limit_sources(cfg);
	if (!err)
		err = was ? weir_edit_limit_set(edit, cfg, was, next, error) :
		      weir_edit_limit_add(edit, cfg, next, error);
	if (!err) {
		limit_warn(edit->wn, weir_edit_find(edit, cfg->name, error), error);
	} else if (error->budget) {
		/* One that the request does not name has no attribute to point at. */
		error->budget = place[error->budget - 1];
		error->attr = error->budget ? error->attr : 0;
	}
	return err;
}

static int limit_add(struct weir_edit *edit, const struct weir_nl_object *object,
		     struct weir_error *error)
{
	struct weir_limit_config cfg;
	int err = limit_name(object);

	if (!err && !object->attrs[WEIR_A_LIMIT_BLOCKS_ONLY])
		err = weir_nl_require(object->attrs, object->nest, WEIR_A_LIMIT_BUDGET,
				      "the budget of the limit is missing", object->info->extack);
	if (err)
		return err;
	weir_limit_init(&cfg, nla_data(object->attrs[WEIR_A_LIMIT_NAME]));
	cfg.budgets = 0;
	return limit_put(edit, object, &cfg, NULL, error);
}

static int limit_set(struct weir_edit *edit, const struct weir_nl_object *object,
		     struct weir_error *error)
{
	struct weir_limit_config cfg;
	struct weir_limit *was;

	if (limit_name(object))
		return -EINVAL;
	was = weir_edit_find(edit, nla_data(object->attrs[WEIR_A_LIMIT_NAME]), error);
	if (!was)
		return -ENOENT;
	/* Copy the padding, too: configurations are compared as bytes. */
	memcpy(&cfg, &was->cfg, sizeof(cfg));
	return limit_put(edit, object, &cfg, was, error);
}

static int limit_del(struct weir_edit *edit, const struct weir_nl_object *object,
		     struct weir_error *error)
{
	return limit_name(object) ?:
	       weir_edit_limit_del(edit, nla_data(object->attrs[WEIR_A_LIMIT_NAME]), error);
}

static int limit_rename(struct weir_edit *edit, const struct weir_nl_object *object,
			struct weir_error *error)
{
	struct nlattr **attrs = object->attrs;

	return limit_name(object) ?:
	       weir_nl_require(attrs, object->nest, WEIR_A_LIMIT_NEW_NAME,
			       "the new name of the limit is missing", object->info->extack) ?:
	       weir_edit_limit_rename(edit, nla_data(attrs[WEIR_A_LIMIT_NAME]),
				      nla_data(attrs[WEIR_A_LIMIT_NEW_NAME]), error);
}

static int limit_flush(struct weir_edit *edit, const struct weir_nl_object *object,
		       struct weir_error *error)
{
	edit->count = 0;
	return 0;
}

/* For how long a source is exempt. */
static int exempt_time(const struct nlattr *attr, struct weir_exception *exception,
		       struct netlink_ext_ack *extack)
{
	u64 ms = weir_nl_uint(attr, 0);

	if (!ms)
		return 0;
	exception->end = weir_clock() + DIV_ROUND_UP_ULL(ms * HZ, MSEC_PER_SEC);
	if (ms >= WEIR_BLOCK_MS_MIN)
		return 0;
	weir_nl_refuse(extack, attr, "it lasts a second at least; 0 is for ever");
	return -ERANGE;
}

static int exempt_parse(const struct weir_nl_object *object, struct weir_exception *exception)
{
	int err = weir_nl_exempt(object->attrs, object->nest, exception, object->info->extack);

	exception->block = object->attrs[WEIR_A_EXEMPT_BLOCK];
	return err;
}

static int exempt_add(struct weir_edit *edit, const struct weir_nl_object *object,
		      struct weir_error *error)
{
	enum weir_block how = WEIR_BLOCK_ADD;
	struct nlattr **attrs = object->attrs;
	struct weir_exception exception;
	const char *unmet;
	int err = exempt_parse(object, &exception) ?:
		  exempt_time(attrs[WEIR_A_EXEMPT_FOR_MS], &exception, object->info->extack);

	if (err)
		return err;
	if (attrs[WEIR_A_EXEMPT_REPLACE])
		how = attrs[WEIR_A_EXEMPT_FORCE] ? WEIR_BLOCK_REPLACE : WEIR_BLOCK_EXTEND;
	exception.comment = weir_nl_name(attrs[WEIR_A_EXEMPT_COMMENT]);
	err = weir_edit_exception_add(edit, &exception, weir_nl_name(attrs[WEIR_A_EXEMPT_LIMIT]),
				      how, error);
	unmet = weir_nl_dev_unmet(edit->wn, weir_nl_name(attrs[WEIR_A_EXEMPT_DEV]));
	if (!err && !error->msg && unmet)
		weir_refuse(error, 0, WEIR_A_EXEMPT_DEV, unmet);
	/* Of a whole configuration there may be many. */
	if (!err && !object->nest && !error->msg && weir_edit_exempt_wins(edit, &exception))
		weir_refuse(error, 0, WEIR_A_EXEMPT_ADDRESS, exception.block ?
			    "sources of the prefix are exempt, which comes before blocks" :
			    "sources of the prefix are blocked, which an exemption comes before");
	return err;
}

static int exempt_del(struct weir_edit *edit, const struct weir_nl_object *object,
		      struct weir_error *error)
{
	struct weir_exception exception;

	return exempt_parse(object, &exception) ?:
	       weir_edit_exception_del(edit, &exception,
				       weir_nl_name(object->attrs[WEIR_A_EXEMPT_LIMIT]), error);
}

static int exempt_flush(struct weir_edit *edit, const struct weir_nl_object *object,
			struct weir_error *error)
{
	weir_edit_exempt_flush(edit, object->attrs[WEIR_A_EXEMPT_BLOCK]);
	return 0;
}

/* Edit an object; point at the attribute at fault, or else at its nest, or @name. */
static int object_do(struct weir_edit *edit, weir_nl_edit *edit_it,
		     const struct weir_nl_object *object, const struct nlattr *name,
		     struct weir_error *error)
{
	int err = edit_it(edit, object, error), len;
	const struct nlattr *at = object->nest ?: name, *head;

	if (!err)
		return 0;
	head = object_head(object->nest, object->info, &len);
	if (error->budget) {
		at = weir_nl_nth(head, len, WEIR_A_LIMIT_BUDGET, error->budget - 1);
		at = nla_find_nested(at, error->attr) ?: at;
	} else if (error->attr) {
		at = nla_find(head, len, error->attr) ?: object->nest;
	}
	return weir_nl_error(error, at, err, object->info->extack);
}

/* Edit an object of a configuration, whose attributes go up to @max. */
static int config_object(struct weir_edit *edit, weir_nl_edit *edit_it, const struct nlattr *nest,
			 int max, const struct nla_policy *policy, struct weir_error *error,
			 const struct genl_info *info)
{
	/* Of the larger set; what another cannot have is not given. */
	struct nlattr *attrs[WEIR_A_LIMIT_MAX + 1] = { };
	const struct weir_nl_object object = { attrs, nest, info };

	*error = (struct weir_error) { };
	return weir_nl_nest(nest, attrs, max, policy, info->extack) ?:
	       object_do(edit, edit_it, &object, NULL, error);
}

/* Keep the first warning, but rather the first of what is lost, and add up those like it. */
static void warning_add(struct weir_error *warning, const struct weir_error *error, u32 place)
{
	const bool lost = warning->value && error->value;

	if (!error->msg)
		return;
	if (!warning->msg || (!warning->value && error->value))
		*warning = (struct weir_error) { .msg = error->msg, .place = place };
	else if (lost || warning->msg == error->msg)
		warning->more++;
	if (lost && warning->msg != error->msg)
		warning->msg = "blocks, counts or sources are lost; each limit alone says which";
	warning->value += error->value;
}

/* Parse the limits, and then the exemptions, which may name them. */
static int config_parse(struct weir_edit *edit, const struct genl_info *info,
			struct weir_error *warning)
{
	weir_nl_edit *exempt_do = info->attrs[WEIR_A_CONFIG_DEL] ? exempt_del : exempt_add;
	const struct nlattr *nest;
	struct weir_error error;
	u32 place = 0;
	int err, rem;

	nlmsg_for_each_attr_type(nest, WEIR_A_CONFIG_LIMIT, info->nlhdr, GENL_HDRLEN, rem) {
		err = config_object(edit, limit_add, nest, WEIR_A_LIMIT_BLOCKS_ONLY,
				    weir_limit_entry_nl_policy, &error, info);
		if (err)
			return err;
		warning_add(warning, &error, ++place);
		cond_resched();
	}
	nlmsg_for_each_attr_type(nest, WEIR_A_CONFIG_EXEMPT, info->nlhdr, GENL_HDRLEN, rem) {
		err = config_object(edit, exempt_do, nest, WEIR_A_EXEMPT_FORCE,
				    weir_exempt_entry_nl_policy, &error, info);
		if (err)
			return err;
		/* What a configuration has together is meant so. */
		if (info->attrs[WEIR_A_CONFIG_ADD])
			warning_add(warning, &error, min(++place, (u32)U16_MAX));
		cond_resched();
	}
	return 0;
}

/* How many exemptions and blocks a configuration has. */
static unsigned int config_exempts(const struct genl_info *info)
{
	const struct nlattr *attr;
	unsigned int count = 0;
	int rem;

	nlmsg_for_each_attr_type(attr, WEIR_A_CONFIG_EXEMPT, info->nlhdr, GENL_HDRLEN, rem)
		count++;
	return min_t(unsigned int, count, 2 * WEIR_EXEMPTS_MAX);
}

/* Begin a change that a request asks for. Returns ERR_PTR() with a sentence. */
static struct weir_edit *edit_begin(struct genl_info *info, bool replace,
				    unsigned int exceptions)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct weir_edit *edit = weir_edit_begin(wn, replace, exceptions);
	struct weir_error error = { };
	int err;

	if (!edit)
		return ERR_PTR(weir_nl_error(&error, NULL, -ENOMEM, info->extack));
	err = weir_nl_restoring(wn, info);
	if (!err)
		return edit;
	weir_edit_end(edit, err, WEIR_EDIT_CHECK, &error);
	return ERR_PTR(err);
}

/* Go on with what was saved: the configuration is held, with the hash key of then. */
static int hold_parse(struct weir_edit *edit, const struct genl_info *info)
{
	const struct nlattr *key = info->attrs[WEIR_A_CONFIG_HASH_KEY];

	if (!info->attrs[WEIR_A_CONFIG_HOLD])
		return key ? weir_nl_refuse(info->extack, key,
					    "a hash key is of what is held; add hold") : 0;
	if (!edit->replace)
		return weir_nl_refuse(info->extack, info->attrs[WEIR_A_CONFIG_HOLD],
				      "only a whole configuration is held; leave out add and del");
	edit->old = NULL;
	edit->key = key ? nla_data(key) : NULL;
	edit->holder = info->snd_portid;
	edit->privileged = capable(CAP_NET_ADMIN);
	/* It may be as large as what is in force, beside that, but not beside what was held. */
	if (!info->attrs[WEIR_A_CONFIG_CHECK])
		weir_held_drop(edit->wn);
	edit->wn->spare = atomic64_read(&edit->wn->bytes);
	return 0;
}

int weir_nl_config_replace_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	const struct nlattr *at = NULL;
	bool check = attrs[WEIR_A_CONFIG_CHECK];
	struct weir_error error = { };
	struct weir_edit *edit;
	int err;

	if (attrs[WEIR_A_CONFIG_ADD] && attrs[WEIR_A_CONFIG_DEL])
		return weir_nl_refuse(info->extack, attrs[WEIR_A_CONFIG_DEL],
				      "add and del exclude each other; leave one of them out");
	if (attrs[WEIR_A_CONFIG_LIMIT] && attrs[WEIR_A_CONFIG_DEL])
		return weir_nl_refuse(info->extack, attrs[WEIR_A_CONFIG_LIMIT],
				      "del is for exemptions and blocks; limit-del removes a limit");
	edit = edit_begin(info, !attrs[WEIR_A_CONFIG_ADD] && !attrs[WEIR_A_CONFIG_DEL],
			  config_exempts(info));
	if (IS_ERR(edit))
		return PTR_ERR(edit);
	err = hold_parse(edit, info) ?: weir_nl_lists(edit, info) ?:
	      config_parse(edit, info, &error);
	err = weir_edit_end(edit, err, check ? WEIR_EDIT_CHECK : attrs[WEIR_A_CONFIG_HOLD] ?
			    WEIR_EDIT_HOLD : WEIR_EDIT_PUBLISH, &error);
	/* An error found only by weir_edit_end() is an exemption given twice. */
	if (error.attr)
		at = weir_nl_nth(nlmsg_attrdata(info->nlhdr, GENL_HDRLEN),
				 nlmsg_attrlen(info->nlhdr, GENL_HDRLEN), WEIR_A_CONFIG_EXEMPT,
				 error.exempt);
	return weir_nl_error(&error, at ? nla_find_nested(at, WEIR_A_EXEMPT_ADDRESS) : NULL, err,
			     info->extack);
}

int weir_nl_config_publish_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_edit *edit = edit_begin(info, true, 0);
	struct weir_error error = { };
	int err;

	if (IS_ERR(edit))
		return PTR_ERR(edit);
	err = weir_edit_held(edit);
	if (err)
		weir_nl_refuse(info->extack, NULL,
			       "no configuration is held; config-replace with hold makes one");
	err = weir_edit_end(edit, err, WEIR_EDIT_PUBLISH, &error);
	return weir_nl_error(&error, NULL, err, info->extack);
}

/* What a command does; the attribute at fault, if there is no other; and that of a check, or 0. */
static const struct {
	weir_nl_edit *edit_it;
	u8 name;
	u8 check;
} changes[] = {
	[WEIR_CMD_LIMIT_ADD] = { limit_add, WEIR_A_LIMIT_NAME, WEIR_A_LIMIT_CHECK },
	[WEIR_CMD_LIMIT_SET] = { limit_set, WEIR_A_LIMIT_NAME, WEIR_A_LIMIT_CHECK },
	[WEIR_CMD_LIMIT_DEL] = { limit_del, WEIR_A_LIMIT_NAME, WEIR_A_LIMIT_CHECK },
	[WEIR_CMD_LIMIT_RENAME] = { limit_rename, WEIR_A_LIMIT_NAME, WEIR_A_LIMIT_CHECK },
	[WEIR_CMD_LIMIT_FLUSH] = { limit_flush },
	[WEIR_CMD_EXEMPT_ADD] = { exempt_add, WEIR_A_EXEMPT_ADDRESS, WEIR_A_EXEMPT_CHECK },
	[WEIR_CMD_EXEMPT_DEL] = { exempt_del, WEIR_A_EXEMPT_ADDRESS, WEIR_A_EXEMPT_CHECK },
	[WEIR_CMD_EXEMPT_FLUSH] = { exempt_flush },
	[WEIR_CMD_PREFIX_LIST_ADD] = { weir_nl_list_edit, 0, WEIR_A_PREFIX_LIST_CHECK },
	[WEIR_CMD_PREFIX_LIST_SET] = { weir_nl_list_edit, 0, WEIR_A_PREFIX_LIST_CHECK },
	[WEIR_CMD_PREFIX_LIST_DEL] = { weir_nl_list_edit, 0, WEIR_A_PREFIX_LIST_CHECK },
};

/* Change one object, and with @reply put the limit that it is, or would be. */
static int change_reply(struct genl_info *info, struct sk_buff *reply)
{
	struct weir_edit *edit = edit_begin(info, false, 1);
	const struct weir_nl_object object = { info->attrs, NULL, info };
	const typeof(changes[0]) *change = &changes[info->genlhdr->cmd];
	const struct nlattr *name = change->name ? info->attrs[change->name] : NULL;
	bool check = change->check && info->attrs[change->check];
	struct weir_error error = { };
	int err;

	if (IS_ERR(edit))
		return PTR_ERR(edit);
	err = object_do(edit, change->edit_it, &object, name, &error);
	if (!err && reply)
		err = weir_nl_put_whole(reply, weir_edit_find(edit, nla_data(name), &error), NULL);
	err = weir_edit_end(edit, err, check ? WEIR_EDIT_CHECK : WEIR_EDIT_PUBLISH, &error);
	return weir_nl_error(&error, NULL, err, info->extack);
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

int weir_nl_limit_set_doit(struct sk_buff *skb, struct genl_info *info)
	__alias(weir_nl_limit_add_doit);

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
		"hosts do not share this limit; set that it is shared first");
}
