// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that change the configuration: each edits a copy of it, straight
 * from the attributes. The policies have checked types, lengths and ranges; the
 * rest is checked here.
 */
#include <linux/ctype.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/netdevice.h>

#include "netlink.h"

/* The most that GRO merges into a packet, except with BIG TCP. */
#define GRO_BYTES	(64u << 10)
#define GRO_PACKETS	64u

/* Parse the name of a limit, and require what a new one needs. */
static int limit_name(struct nlattr **attrs, const struct nlattr *nest, bool make,
		      char name[WEIR_NAME_SIZE], struct netlink_ext_ack *extack)
{
	int err = weir_nl_require(attrs, nest, WEIR_A_LIMIT_NAME,
				  "the name of the limit is missing", extack);

	if (!err && make)
		err = weir_nl_require(attrs, nest, WEIR_A_LIMIT_BUDGET,
				      "the budget of the limit is missing", extack);
	if (!err && make)
		err = weir_nl_require(attrs, nest, WEIR_A_LIMIT_WINDOW_MS,
				      "the window of the budget is missing", extack);
	return err ?: weir_nl_string(attrs[WEIR_A_LIMIT_NAME], name, WEIR_NAME_SIZE, extack);
}

/* The policy has seen to its length. */
static int comment_check(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	const u8 *text = nla_data(attr), *end = text + nla_len(attr) - 1;

	/* In UTF-8, U+0080 to U+009F are C2 80 to C2 9F. */
	for (; text < end; text++)
		if (iscntrl(*text) || (*text == 0xc2 && text[1] < 0xa0)) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "a comment has no control characters; leave them out");
			return -EINVAL;
		}
	return 0;
}

/* Overwrite a limit with the attributes given. */
static int limit_parse(struct nlattr **attrs, struct weir_limit *limit,
		       struct netlink_ext_ack *extack)
{
	const struct nlattr *comment = attrs[WEIR_A_LIMIT_COMMENT];

	if (comment && comment_check(comment, extack))
		return -EINVAL;
	if (comment)
		strscpy_pad(limit->comment, nla_data(comment), sizeof(limit->comment));
	if (attrs[WEIR_A_LIMIT_BUDGET])
		limit->budget = nla_get_u64(attrs[WEIR_A_LIMIT_BUDGET]);
	if (attrs[WEIR_A_LIMIT_WINDOW_MS])
		limit->window_ms = nla_get_u32(attrs[WEIR_A_LIMIT_WINDOW_MS]);
	if (attrs[WEIR_A_LIMIT_UNIT])
		limit->bytes = nla_get_u32(attrs[WEIR_A_LIMIT_UNIT]) == WEIR_UNIT_BYTES;
	if (attrs[WEIR_A_LIMIT_SLOTS]) {
		limit->slots = nla_get_u32(attrs[WEIR_A_LIMIT_SLOTS]);
		limit->slots_given = true;
	}
	if (attrs[WEIR_A_LIMIT_MODE])
		limit->lenient = nla_get_u32(attrs[WEIR_A_LIMIT_MODE]) == WEIR_MODE_LENIENT;
	if (attrs[WEIR_A_LIMIT_PREFIX4])
		limit->prefix.len4 = nla_get_u8(attrs[WEIR_A_LIMIT_PREFIX4]);
	if (attrs[WEIR_A_LIMIT_PREFIX6])
		limit->prefix.len6 = nla_get_u8(attrs[WEIR_A_LIMIT_PREFIX6]);
	if (attrs[WEIR_A_LIMIT_SOURCES])
		limit->sources = nla_get_u32(attrs[WEIR_A_LIMIT_SOURCES]);
	if (attrs[WEIR_A_LIMIT_ACTION])
		limit->observe = nla_get_u32(attrs[WEIR_A_LIMIT_ACTION]) == WEIR_ACTION_OBSERVE;
	if (attrs[WEIR_A_LIMIT_MATCH])
		return weir_nl_match(attrs[WEIR_A_LIMIT_MATCH], &limit->match, extack);
	return 0;
}

/* Point at the attribute at fault, or else at the object or its name. */
static int object_error(const struct weir_error *error, struct nlattr **attrs, int name,
			const struct nlattr *nest, int err, struct netlink_ext_ack *extack)
{
	if (error->attr)
		nest = attrs[error->attr];
	return weir_nl_error(error, nest ?: attrs[name], err, extack);
}

/* Does GRO merge packets that the limit matches, on any present device? */
static bool limit_meets_gro(const struct weir_net *wn, const struct weir_match *match)
{
	const unsigned int plain = match->conds & ~match->invert;
	netdev_features_t joins = NETIF_F_GRO;
	const struct net_device *dev;
	bool meets = false;

	if (plain & (WEIR_IF_SYN | WEIR_IF_FRAG))
		return false;
	if (plain & WEIR_IF_PROTO && match->proto == IPPROTO_UDP)
		joins = NETIF_F_GRO_FRAGLIST | NETIF_F_GRO_UDP_FWD;
	else if (plain & WEIR_IF_PROTO && match->proto != IPPROTO_TCP)
		return false;
	rcu_read_lock();
	for_each_netdev_rcu(wn->net, dev)
		if (dev->features & joins && !(dev->flags & IFF_LOOPBACK) &&
		    (!(match->conds & WEIR_IF_DEV) ||
		     !strcmp(dev->name, match->dev) != !!(match->invert & WEIR_IF_DEV)))
			meets = true;
	rcu_read_unlock();
	return meets;
}

/* Warn of a limit that may not work as intended. */
static void limit_warn(const struct weir_net *wn, const struct weir_limit *limit,
		       struct weir_error *error)
{
	if (limit->bytes && limit->budget < ETH_DATA_LEN)
		weir_refuse(error, 0, WEIR_A_LIMIT_BUDGET,
			    "packets larger than the budget never fit; they may have up to 1500 bytes");
	else if (limit->budget < (limit->bytes ? GRO_BYTES : GRO_PACKETS) &&
		 limit_meets_gro(wn, &limit->match))
		weir_refuse(error, 0, WEIR_A_LIMIT_BUDGET,
			    "packets that GRO merges may never fit the budget: ethtool -K DEV gro off");
}

static int limit_edit(struct weir_edit *edit, struct nlattr **attrs, const struct nlattr *nest,
		      bool make, struct weir_error *error, struct netlink_ext_ack *extack)
{
	char name[WEIR_NAME_SIZE], before[WEIR_NAME_SIZE];
	const struct weir_limit *was;
	struct weir_limit limit;
	int err;

	err = limit_name(attrs, nest, make, name, extack);
	if (err)
		return err;
	if (make) {
		weir_limit_init(&limit, name);
	} else {
		was = weir_edit_find(edit, name, error);
		if (!was)
			return -ENOENT;
		/* With its padding, for limits are compared as bytes. */
		memcpy(&limit, was, sizeof(limit));
	}
	err = limit_parse(attrs, &limit, extack);
	if (!err && attrs[WEIR_A_LIMIT_BEFORE])
		err = weir_nl_string(attrs[WEIR_A_LIMIT_BEFORE], before, sizeof(before), extack);
	if (err)
		return err;
	err = weir_edit_limit(edit, &limit, attrs[WEIR_A_LIMIT_BEFORE] ? before : NULL, error);
	if (!err)
		limit_warn(edit->wn, &limit, error);
	return err;
}

static int exempt_edit(struct weir_edit *edit, struct nlattr **attrs, const struct nlattr *nest,
		       bool add, struct weir_error *error, struct netlink_ext_ack *extack)
{
	const struct nlattr *comment = add ? attrs[WEIR_A_EXEMPT_COMMENT] : NULL;
	char limit[WEIR_NAME_SIZE] = "";
	struct weir_exempt exempt;
	int err;

	err = weir_nl_exempt(attrs, nest, &exempt, limit, extack);
	if (!err && comment)
		err = comment_check(comment, extack);
	if (err)
		return err;
	exempt.comment = comment ? nla_data(comment) : "";
	return add ? weir_edit_exempt_add(edit, &exempt, limit, error) :
		     weir_edit_exempt_del(edit, &exempt, limit, error);
}

/* An operation on one object. */
static int change(struct genl_info *info, u8 cmd)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct netlink_ext_ack *extack = info->extack;
	bool limit = cmd < WEIR_CMD_SOURCE_SHOW;
	struct nlattr **attrs = info->attrs;
	struct weir_error error = { };
	char name[WEIR_NAME_SIZE];
	struct weir_edit *edit;
	int err;

	err = weir_nl_once(info->nlhdr, 0, extack);
	if (err)
		return err;
	edit = weir_edit_begin(wn, false, 1);
	if (!edit)
		return weir_nl_error(&error, NULL, -ENOMEM, extack);
	edit->check = attrs[limit ? WEIR_A_LIMIT_CHECK : WEIR_A_EXEMPT_CHECK];
	if (!limit)
		err = exempt_edit(edit, attrs, NULL, cmd == WEIR_CMD_EXEMPT_ADD, &error, extack);
	else if (cmd == WEIR_CMD_LIMIT_DEL)
		err = limit_name(attrs, NULL, false, name, extack) ?:
		      weir_edit_limit_del(edit, name, &error);
	else
		err = limit_edit(edit, attrs, NULL, cmd == WEIR_CMD_LIMIT_ADD, &error, extack);
	err = weir_edit_end(edit, err, &error);
	return object_error(&error, attrs, limit ? WEIR_A_LIMIT_NAME : WEIR_A_EXEMPT_ADDRESS,
			    NULL, err, extack);
}

static int flush(struct genl_info *info, bool limits)
{
	struct weir_error error = { };
	struct weir_edit *edit;
	int err;

	err = weir_nl_only(info->nlhdr, 0, info->extack);
	if (err)
		return err;
	edit = weir_edit_begin(weir_net(genl_info_net(info)), false, 0);
	if (!edit)
		return weir_nl_error(&error, NULL, -ENOMEM, info->extack);
	if (limits)
		edit->count = 0;
	else
		edit->exempts = 0;
	return weir_nl_error(&error, NULL, weir_edit_end(edit, 0, &error), info->extack);
}

/* Add or set, and with NLM_F_ECHO reply with the resulting limit. */
static int limit_change(struct genl_info *info, u8 cmd)
{
	struct sk_buff *reply = NULL;
	void *header;
	int err;

	if (info->nlhdr->nlmsg_flags & NLM_F_ECHO && !info->attrs[WEIR_A_LIMIT_CHECK]) {
		reply = weir_nl_reply(info, cmd, &header);
		if (!reply)
			return -ENOMEM;
	}
	err = change(info, cmd);
	if (err || !reply)
		nlmsg_free(reply);
	else
		weir_nl_limit_reply(info, reply, header, nla_data(info->attrs[WEIR_A_LIMIT_NAME]));
	return err;
}

int weir_nl_limit_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return limit_change(info, WEIR_CMD_LIMIT_ADD);
}

int weir_nl_limit_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return limit_change(info, WEIR_CMD_LIMIT_SET);
}

int weir_nl_limit_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change(info, WEIR_CMD_LIMIT_DEL);
}

int weir_nl_limit_flush_doit(struct sk_buff *skb, struct genl_info *info)
{
	return flush(info, true);
}

int weir_nl_exempt_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change(info, WEIR_CMD_EXEMPT_ADD);
}

int weir_nl_exempt_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change(info, WEIR_CMD_EXEMPT_DEL);
}

int weir_nl_exempt_flush_doit(struct sk_buff *skb, struct genl_info *info)
{
	return flush(info, false);
}

static int replace_limit(struct weir_edit *edit, const struct nlattr *nest,
			 struct weir_error *error, struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_LIMIT_COMMENT + 1];
	int err;

	err = weir_nl_nest(nest, attrs, WEIR_A_LIMIT_COMMENT, weir_limit_entry_nl_policy, 0,
			   extack);
	if (!err)
		err = limit_edit(edit, attrs, nest, true, error, extack);
	return err ? object_error(error, attrs, WEIR_A_LIMIT_NAME, nest, err, extack) : 0;
}

static int replace_exempt(struct weir_edit *edit, const struct nlattr *nest,
			  struct weir_error *error, struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_EXEMPT_COMMENT + 1];
	int err;

	err = weir_nl_nest(nest, attrs, WEIR_A_EXEMPT_COMMENT, weir_exempt_entry_nl_policy, 0,
			   extack);
	if (!err)
		err = exempt_edit(edit, attrs, nest, true, error, extack);
	return err ? object_error(error, attrs, WEIR_A_EXEMPT_ADDRESS, nest, err, extack) : 0;
}

/*
 * Parse the limits, and then the exemptions, which may name them. Keeps the first
 * warning and its position, and counts the limits that have one.
 */
static int replace_all(struct weir_edit *edit, struct genl_info *info, struct weir_error *warning)
{
	const struct nlattr *attr;
	struct weir_error error;
	u32 place = 0;
	int err, rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != WEIR_A_CONFIG_LIMIT)
			continue;
		place++;
		error = (struct weir_error) { };
		err = replace_limit(edit, attr, &error, info->extack);
		if (err)
			return err;
		if (error.msg && !warning->msg)
			*warning = (struct weir_error) { .msg = error.msg, .value = place };
		if (error.msg)
			warning->value += 1ULL << 32;
		cond_resched();
	}
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != WEIR_A_CONFIG_EXEMPT)
			continue;
		error = (struct weir_error) { };
		err = replace_exempt(edit, attr, &error, info->extack);
		if (err)
			return err;
	}
	return 0;
}

int weir_nl_config_replace_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	const struct nlattr *attr, *last = NULL;
	struct weir_error error = { };
	unsigned int exempts = 0;
	struct weir_edit *edit;
	int err, rem;

	err = weir_nl_once(info->nlhdr, BIT_ULL(WEIR_A_CONFIG_LIMIT) |
			   BIT_ULL(WEIR_A_CONFIG_EXEMPT), info->extack);
	if (err)
		return err;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(attr) == WEIR_A_CONFIG_EXEMPT) {
			exempts++;
			last = attr;
		}
	edit = weir_edit_begin(wn, true, min(exempts, (unsigned int)WEIR_EXEMPTS_MAX));
	if (!edit)
		return weir_nl_error(&error, NULL, -ENOMEM, info->extack);
	edit->check = info->attrs[WEIR_A_CONFIG_CHECK];
	err = replace_all(edit, info, &error);
	if (err)
		error.msg = NULL;
	err = weir_edit_end(edit, err, &error);
	if (err == -EEXIST && last)
		last = nla_find_nested(last, WEIR_A_EXEMPT_ADDRESS);
	return weir_nl_error(&error, last, err, info->extack);
}
