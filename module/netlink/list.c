// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on lists of prefixes.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "config/edit.h"
#include "netlink/message.h"

/* The members of a list, as they are parsed. */
struct parsed {
	const char *name;
	unsigned int count;
	struct weir_member member[WEIR_LIST_PREFIXES_MAX];
};

static int member_parse(const struct nlattr *nest, struct weir_member *member,
			struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_A_MEMBER_BUDGET + 1];
	int err;

	err = weir_nl_nest(nest, tb, WEIR_A_MEMBER_BUDGET, weir_member_nl_policy, extack) ?:
	      weir_nl_prefix_parse(tb, nest, &member->prefix, extack);
	member->budget = 0;
	if (!err && tb[WEIR_A_MEMBER_BUDGET])
		member->budget = nla_get_u64(tb[WEIR_A_MEMBER_BUDGET]);
	return err;
}

static int members_parse(struct parsed *parsed, const struct nlattr *head, int len,
			 struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int err, rem;

	nla_for_each_attr_type(attr, WEIR_A_PREFIX_LIST_PREFIX, head, len, rem) {
		if (parsed->count == WEIR_LIST_PREFIXES_MAX) {
			weir_nl_refuse(extack, attr,
				       "the lists of a namespace have at most 65536 prefixes");
			return -ENOSPC;
		}
		err = member_parse(attr, &parsed->member[parsed->count], extack);
		if (err)
			return err;
		parsed->count++;
	}
	return 0;
}

/* The index of the prefix that an error is about; 0 if the request does not have it. */
static unsigned int member_at_fault(const struct parsed *parsed, const struct weir_error *error)
{
	unsigned int i;

	for (i = 0; error->member && i < parsed->count; i++)
		if (!weir_prefix_compare(&parsed->member[i].prefix, &error->member->prefix))
			return i;
	return 0;
}

static int list_change(struct weir_edit *edit, struct parsed *parsed, const struct genl_info *info,
		       struct weir_error *error)
{
	const struct nlattr *head = nlmsg_attrdata(info->nlhdr, GENL_HDRLEN);
	int len = nlmsg_attrlen(info->nlhdr, GENL_HDRLEN), err;
	const struct nlattr *at = info->attrs[WEIR_A_PREFIX_LIST_NAME];
	unsigned int absent = 0;
	u8 cmd = info->genlhdr->cmd;

	err = weir_nl_require(info->attrs, NULL, WEIR_A_PREFIX_LIST_NAME,
			      "the name of the list is missing", info->extack);
	if (!err && cmd != WEIR_CMD_PREFIX_LIST_DEL)
		err = weir_nl_require(info->attrs, NULL, WEIR_A_PREFIX_LIST_PREFIX,
				      "the prefixes of the list are missing", info->extack);
	if (!err)
		err = members_parse(parsed, head, len, info->extack);
	if (err)
		return err;
	err = cmd == WEIR_CMD_PREFIX_LIST_DEL ?
	      weir_edit_list_del(edit, nla_data(at), parsed->member, parsed->count, &absent,
				 error) :
	      weir_edit_list_add(edit, nla_data(at), cmd == WEIR_CMD_PREFIX_LIST_SET,
				 parsed->member, parsed->count, error);
	if (err && error->attr == WEIR_A_PREFIX_LIST_PREFIX)
		at = weir_nl_nth(head, len, WEIR_A_PREFIX_LIST_PREFIX,
				 absent ?: member_at_fault(parsed, error));
	return weir_nl_error(error, at, err, info->extack);
}

/* Add, set or remove a list, as the request says. */
int weir_nl_list_edit(struct weir_edit *edit, const struct weir_nl_object *object,
		      struct weir_error *error)
{
	struct parsed *parsed = kvmalloc(sizeof(*parsed), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	int err = -ENOMEM;

	if (parsed) {
		parsed->count = 0;
		err = list_change(edit, parsed, object->info, error);
	}
	kvfree(parsed);
	return err;
}

/* Add the list that is parsed so far, the last part of which is @nest. */
static int list_end(struct weir_edit *edit, struct parsed *parsed, const struct nlattr *nest,
		    struct netlink_ext_ack *extack)
{
	struct weir_error error = { };
	int err = 0;

	if (parsed->count)
		err = weir_edit_list_add(edit, parsed->name, false, parsed->member, parsed->count,
					 &error);
	parsed->count = 0;
	return weir_nl_error(&error, nest, err, extack);
}

static int list_part(struct weir_edit *edit, struct parsed *parsed, const struct nlattr *nest,
		     const struct nlattr *last, struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[WEIR_A_PREFIX_LIST_PREFIX + 1];
	const char *name;
	int err;

	err = weir_nl_nest(nest, attrs, WEIR_A_PREFIX_LIST_PREFIX,
			   weir_prefix_list_entry_nl_policy, extack) ?:
	      weir_nl_require(attrs, nest, WEIR_A_PREFIX_LIST_NAME,
			      "the name of the list is missing", extack) ?:
	      weir_nl_require(attrs, nest, WEIR_A_PREFIX_LIST_PREFIX,
			      "the prefixes of the list are missing", extack);
	if (err)
		return err;
	name = nla_data(attrs[WEIR_A_PREFIX_LIST_NAME]);
	if (parsed->count && strcmp(parsed->name, name))
		err = list_end(edit, parsed, last, extack);
	parsed->name = name;
	return err ?: members_parse(parsed, nla_data(nest), nla_len(nest), extack);
}

/* The lists of a whole configuration, which come before the limits that use them. */
int weir_nl_lists(struct weir_edit *edit, struct genl_info *info)
{
	const struct nlattr *attr, *last = NULL;
	struct parsed *parsed;
	int err = 0, rem;

	if (!info->attrs[WEIR_A_CONFIG_PREFIX_LIST])
		return 0;
	if (info->attrs[WEIR_A_CONFIG_DEL])
		return weir_nl_refuse(info->extack, info->attrs[WEIR_A_CONFIG_PREFIX_LIST],
				      "del is for exemptions and blocks; prefix-list-del removes a list");
	parsed = kvmalloc(sizeof(*parsed), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!parsed)
		return -ENOMEM;
	parsed->count = 0;
	nlmsg_for_each_attr_type(attr, WEIR_A_CONFIG_PREFIX_LIST, info->nlhdr, GENL_HDRLEN, rem) {
		err = list_part(edit, parsed, attr, last, info->extack);
		if (err)
			break;
		last = attr;
		cond_resched();
	}
	err = err ?: list_end(edit, parsed, last, info->extack);
	kvfree(parsed);
	return err;
}

/* Put a message with prefixes of a list from @at on; returns how many, or 0. */
static unsigned int part_put(struct sk_buff *skb, struct netlink_callback *cb,
			     const struct weir_prefixes *list, unsigned int at)
{
	unsigned int count = min_t(unsigned int, list->count - at, WEIR_PREFIXES_MAX), i;
	void *header = weir_nl_dump_put(skb, cb);
	struct nlattr *nest;
	int err;

	err = !header || nla_put_string(skb, WEIR_A_PREFIX_LIST_NAME, list->name);
	for (i = at; !err && i < at + count; i++) {
		nest = nla_nest_start(skb, WEIR_A_PREFIX_LIST_PREFIX);
		err = !nest || weir_nl_put_prefix(skb, WEIR_A_MEMBER_ADDRESS, WEIR_A_MEMBER_LEN,
						  &list->member[i].prefix) ||
		      (list->member[i].budget &&
		       nla_put_u64_64bit(skb, WEIR_A_MEMBER_BUDGET, list->member[i].budget,
					 WEIR_A_MEMBER_PAD));
		if (!err)
			nla_nest_end(skb, nest);
	}
	return weir_nl_dump_end(skb, header, err) ? 0 : count;
}

/* args[0] is the index of a list, args[1] that of a prefix. */
static int lists_put(struct sk_buff *skb, struct netlink_callback *cb, struct weir_net *wn)
{
	const struct nlattr *name = weir_dump_attrs(cb)[WEIR_A_PREFIX_LIST_NAME];
	const struct weir_config *config;
	const struct weir_prefixes *list;
	bool found = !name || cb->args[0] || cb->args[1];
	unsigned int count = 1;

	rcu_read_lock();
	config = weir_config_get(wn);
	while (count && config && cb->args[0] < config->lists) {
		list = config->list[cb->args[0]];
		if ((name && strcmp(nla_data(name), list->name)) || cb->args[1] >= list->count) {
			cb->args[0]++;
			cb->args[1] = 0;
			continue;
		}
		found = true;
		count = part_put(skb, cb, list, cb->args[1]);
		cb->args[1] += count;
	}
	rcu_read_unlock();
	if (!count)
		return skb->len ?: -EMSGSIZE;
	if (found)
		return 0;
	return weir_nl_no_list(name, cb->extack);
}

int weir_nl_prefix_list_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return weir_nl_dump(skb, cb, BIT_ULL(WEIR_A_PREFIX_LIST_NAME), BIT(WEIR_LISTS), lists_put);
}
