// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operation that forgets what sources have sent. It holds the namespace's
 * mutex, so no table has a successor meanwhile.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/socket.h>

#include "hook.h"
#include "netlink_priv.h"

/**
 * struct forget - what is to be forgotten
 * @within: prefix of sources, or empty for all of them and the floors
 * @one: the prefix is a whole address
 * @source: that address
 * @limit: name, or "" for all
 * @state: room for the states of a bucket
 * @forgotten: sources so far
 */
struct forget {
	struct weir_nl_within within;
	bool one;
	struct weir_source source;
	char limit[WEIR_NAME_SIZE];
	struct weir_source_state *state;
	u64 forgotten;
};

static int forget_words(struct genl_info *info, const struct weir_net *wn,
			struct forget *forget)
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
				    "a device needs an address that is on it");
		NL_SET_ERR_ATTR_MISS(extack, NULL, WEIR_A_SOURCE_ADDRESS);
		return -EINVAL;
	}
	forget->one = forget->within.prefix.len ==
		      (forget->within.prefix.family == AF_INET ? 32 : 128);
	if (forget->one)
		err = weir_nl_sender(attrs, wn, &forget->source, dev, extack);
	return err;
}

static void forget_source(const struct weir_net *wn, struct forget *forget,
			  const struct weir_limit *limit,
			  const struct weir_source *masked)
{
	u32 hash = weir_source_hash(masked, limit->prefix, &wn->key);

	forget->forgotten += weir_table_forget(limit->table, masked, hash);
}

static void forget_bucket(const struct weir_net *wn, struct forget *forget,
			  const struct weir_limit *limit, u32 bucket)
{
	bool all = !forget->within.prefix.family;
	struct weir_source_state *state;
	unsigned int i, n;

	n = weir_table_walk(limit->table, bucket, weir_hook_clock(),
			    limit->budget, forget->state);
	for (i = 0; i < n; i++) {
		state = &forget->state[i];
		if (!state->live)
			continue;
		if (all)
			forget->forgotten++;
		else if (weir_nl_holds(&forget->within, &state->source,
				       limit->prefix))
			forget_source(wn, forget, limit, &state->source);
	}
	if (all)
		weir_table_clear(limit->table, bucket);
}

/*
 * An address stands for the source that it belongs to under each limit, as it
 * does for a packet; a prefix for the sources within it.
 */
static int forget_limit(const struct weir_net *wn, struct forget *forget,
			const struct weir_limit *limit)
{
	u32 bucket, buckets = weir_table_buckets(limit->table);
	struct weir_source masked = forget->source;

	if (forget->one) {
		weir_source_mask(&masked, limit->prefix);
		forget_source(wn, forget, limit, &masked);
		return 0;
	}
	for (bucket = 0; bucket < buckets; bucket++) {
		forget_bucket(wn, forget, limit, bucket);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static int forget_locked(struct weir_net *wn, struct forget *forget)
{
	const struct weir_config *config = weir_config_get(wn);
	bool found = !*forget->limit;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && config && i < config->count; i++) {
		if (*forget->limit &&
		    strcmp(config->limit[i]->name, forget->limit))
			continue;
		found = true;
		err = forget_limit(wn, forget, config->limit[i]);
	}
	return found ? err : -ENOENT;
}

static int forget_do(struct weir_net *wn, struct forget *forget,
		     struct netlink_ext_ack *extack)
{
	int err;

	forget->state = kvmalloc_array(WEIR_WAYS_MAX, sizeof(*forget->state),
				       GFP_KERNEL);
	if (!forget->state) {
		NL_SET_ERR_MSG(extack,
			       "no memory to walk the sources; nothing was forgotten, try again");
		return -ENOMEM;
	}
	mutex_lock(&wn->lock);
	err = forget_locked(wn, forget);
	mutex_unlock(&wn->lock);
	kvfree(forget->state);
	return err;
}

/** weir_nl_source_forget - WEIR_CMD_SOURCE_FORGET */
int weir_nl_source_forget(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct forget forget = { };
	struct sk_buff *reply;
	void *header;
	int err;

	err = forget_words(info, wn, &forget);
	if (err)
		return err;
	reply = weir_nl_reply(info, WEIR_CMD_SOURCE_FORGET, &header);
	if (!reply)
		return -ENOMEM;
	err = forget_do(wn, &forget, info->extack);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[WEIR_A_SOURCE_LIMIT],
				    "no limit of that name; limit show lists them");
	if (!err)
		err = nla_put_u64_64bit(reply, WEIR_A_SOURCE_FORGOTTEN,
					forget.forgotten, WEIR_A_SOURCE_PAD);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}
