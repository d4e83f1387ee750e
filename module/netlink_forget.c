// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forgetting sources: one, those within a prefix, or all; and what limits have counted.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/socket.h>

#include "event.h"
#include "hook.h"
#include "netlink.h"

/* Room for the message of one limit. */
#define FORGOTTEN_ROOM 160

struct forget {
	struct genl_info *info;
	struct weir_nl_within within;	/* empty: all sources, and the floors */
	bool one;			/* it is a whole address */
	struct weir_source source;	/* that address */
	char limit[WEIR_NAME_SIZE];	/* or "" for all */
	struct weir_source_state *state; /* room for those of a bucket */
	struct sk_buff *reply;		/* room for all messages */
	const struct weir_limit *at;	/* the limit that is at hand, or NULL */
	struct weir_net_prefix prefix;	/* what was forgotten there */
	u64 forgotten;			/* sources */
};

static int forget_parse(struct genl_info *info, const struct weir_net *wn, struct forget *forget)
{
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr **attrs = info->attrs;
	char dev[IFNAMSIZ];
	int err;

	err = weir_nl_once(info->nlhdr, 0, extack);
	if (!err)
		err = weir_nl_within(attrs, wn, &forget->within, extack);
	if (!err)
		err = weir_nl_string(attrs[WEIR_A_SOURCE_LIMIT], forget->limit,
				     sizeof(forget->limit), extack);
	if (err)
		return err;
	if (attrs[WEIR_A_SOURCE_DEV] && !attrs[WEIR_A_SOURCE_ADDRESS]) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[WEIR_A_SOURCE_DEV],
				    "dev requires an address on that device");
		NL_SET_ERR_ATTR_MISS(extack, NULL, WEIR_A_SOURCE_ADDRESS);
		return -EINVAL;
	}
	forget->prefix = forget->within.prefix;
	forget->one = forget->within.prefix.len ==
		      (forget->within.prefix.family == AF_INET ? 32 : 128);
	return forget->one ? weir_nl_sender(attrs, wn, &forget->source, dev, extack) : 0;
}

static int put_forgotten(struct sk_buff *skb, const struct weir_net *wn, const void *data)
{
	const struct forget *forget = data;
	const struct weir_net_prefix *prefix = &forget->prefix;

	return (prefix->family &&
		weir_nl_put_prefix(skb, WEIR_A_SOURCE_ADDRESS, WEIR_A_SOURCE_PREFIX_LEN, prefix)) ||
	       weir_nl_put_dev(skb, wn->net, forget->within.ifindex) ||
	       (forget->at && nla_put_string(skb, WEIR_A_SOURCE_LIMIT, forget->at->name)) ||
	       weir_nl_put_u64(skb, WEIR_A_SOURCE_FORGOTTEN, forget->forgotten) ? -EMSGSIZE : 0;
}

/* Report what was forgotten to the caller and, unless nothing was, to listeners. */
static void forget_tell(struct weir_net *wn, struct forget *forget)
{
	void *header = genlmsg_put_reply(forget->reply, forget->info, &weir_nl_family, 0,
					 WEIR_CMD_SOURCE_FORGET);

	/* There is room: see FORGOTTEN_ROOM. */
	if (!WARN_ON_ONCE(!header || put_forgotten(forget->reply, wn, forget)))
		genlmsg_end(forget->reply, header);
	if (forget->forgotten)
		weir_nl_event_done(wn, WEIR_SOURCE_EVENT_FORGOTTEN, put_forgotten, forget);
}

static void forget_source(const struct weir_net *wn, struct forget *forget,
			  const struct weir_source *masked)
{
	u32 hash = weir_source_hash(masked, forget->at->prefix, &wn->key);

	forget->forgotten += weir_table_forget(forget->at->table, masked, hash);
}

static void forget_bucket(const struct weir_net *wn, struct forget *forget, u32 bucket)
{
	bool all = !forget->within.prefix.family;
	struct weir_source_state *state = forget->state;
	const struct weir_limit *limit = forget->at;
	unsigned int n;

	n = weir_table_walk(limit->table, bucket, weir_hook_clock(), limit->budget, state);
	for (; n--; state++)
		if (all)
			forget->forgotten += state->live || state->dropped;
		else if (weir_nl_holds(&forget->within, &state->source, limit->prefix))
			forget_source(wn, forget, &state->source);
	if (all)
		weir_table_clear(limit->table, bucket);
}

/*
 * An address means the source that it belongs to under each limit, as for a packet;
 * a prefix means the sources within it.
 */
static int forget_limit(const struct weir_net *wn, struct forget *forget)
{
	u32 bucket, buckets = weir_table_buckets(forget->at->table);
	struct weir_source masked = forget->source;

	if (forget->one) {
		weir_source_mask(&masked, forget->at->prefix);
		forget->prefix = weir_nl_source_prefix(&masked, forget->at->prefix);
		forget_source(wn, forget, &masked);
		return 0;
	}
	for (bucket = 0; bucket < buckets; bucket++) {
		forget_bucket(wn, forget, bucket);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/* Forget under each limit, or the named one. Returns whether there is one, or -EINTR. */
static int forget_limits(struct weir_net *wn, struct forget *forget,
			 const struct weir_config *config)
{
	int found = !*forget->limit, err = 0;
	bool told = false;
	unsigned int i;

	for (i = 0; !err && config && i < config->count; i++) {
		forget->at = config->limit[i];
		if (*forget->limit && strcmp(forget->at->name, forget->limit))
			continue;
		found = 1;
		forget->forgotten = 0;
		err = forget_limit(wn, forget);
		if (forget->forgotten)
			forget_tell(wn, forget);
		told |= forget->forgotten;
	}
	if (!told) {
		forget->at = NULL;
		forget->forgotten = 0;
		forget->prefix = forget->within.prefix;
		forget_tell(wn, forget);
	}
	return err ?: found;
}

/* With the mutex, so that no table has a successor meanwhile. */
static int forget_do(struct weir_net *wn, struct forget *forget)
{
	const struct weir_config *config;
	int err = -ENOMEM;

	mutex_lock(&wn->lock);
	config = weir_config_get(wn);
	forget->state = kvmalloc_array(WEIR_WAYS_MAX, sizeof(*forget->state), GFP_KERNEL);
	forget->reply = nlmsg_new(FORGOTTEN_ROOM * (config ? config->count + 1 : 1), GFP_KERNEL);
	if (forget->state && forget->reply)
		err = forget_limits(wn, forget, config);
	mutex_unlock(&wn->lock);
	kvfree(forget->state);
	return err;
}

int weir_nl_source_forget_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct forget forget = { .info = info };
	int err;

	err = forget_parse(info, wn, &forget);
	if (err)
		return err;
	err = forget_do(wn, &forget);
	if (err > 0)
		return genlmsg_reply(forget.reply, info);
	nlmsg_free(forget.reply);
	if (err == -ENOMEM)
		NL_SET_ERR_MSG(info->extack,
			       "no memory to walk the sources; nothing was forgotten, try again");
	return err ?: weir_nl_no_limit(info->attrs[WEIR_A_SOURCE_LIMIT], info->extack);
}

int weir_nl_limit_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct nlattr *attr = info->attrs[WEIR_A_LIMIT_NAME];
	const struct weir_config *config;
	char name[WEIR_NAME_SIZE];
	bool found = !attr;
	unsigned int i;
	int err;

	err = weir_nl_once(info->nlhdr, 0, info->extack);
	if (!err)
		err = weir_nl_string(attr, name, sizeof(name), info->extack);
	if (err)
		return err;
	mutex_lock(&wn->lock);
	config = weir_config_get(wn);
	for (i = 0; config && i < config->count; i++) {
		if (attr && strcmp(config->limit[i]->name, name))
			continue;
		weir_limit_reset(config->limit[i]);
		weir_event_reset(wn, config->limit[i]);
		found = true;
	}
	mutex_unlock(&wn->lock);
	return found ? 0 : weir_nl_no_limit(attr, info->extack);
}
