// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on limits.
 */
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "hook.h"
#include "netlink_priv.h"

/* A dump of limits starts no walk of a table with less room than this. */
#define LIMIT_ROOM 1024

/**
 * struct copy - a limit, taken out of the configuration
 * @limit: whose counters must not be looked at any more
 * @counts: what they said
 * @table: reference, if sources are to be counted
 * @memory: bytes of the table
 * @ways: of the table
 * @sources: counted
 * @wanted: size of table that would end the pressure
 * @has_stats: @counts are filled
 * @has_sources: @sources is
 */
struct copy {
	struct weir_limit limit;
	struct weir_counts counts;
	struct weir_table *table;
	u64 memory;
	u32 ways;
	u64 sources;
	u64 wanted;
	bool has_stats;
	bool has_sources;
};

/* Under rcu_read_lock(). */
static void copy_take(struct copy *copy, const struct weir_limit *limit,
		      bool stats, bool sources)
{
	copy->limit = *limit;
	copy->memory = weir_table_bytes(limit->table);
	copy->ways = weir_table_ways(limit->table);
	copy->has_stats = stats;
	copy->table = NULL;
	copy->has_sources = false;
	if (stats) {
		weir_limit_counts(limit, &copy->counts);
		copy->wanted = weir_pressure_sources(limit);
	}
	if (stats && sources && weir_table_tryget(limit->table))
		copy->table = limit->table;
}

/* Count the sources and let go of the table. May sleep. */
static int copy_count(struct copy *copy, struct netlink_ext_ack *extack)
{
	struct weir_source_state *state;
	u32 bucket, buckets;
	unsigned int i, n;
	int err = 0;

	if (!copy->table)
		return 0;
	copy->sources = 0;
	state = kvmalloc_array(WEIR_WAYS_MAX, sizeof(*state), GFP_KERNEL);
	if (!state) {
		NL_SET_ERR_MSG(extack,
			       "no memory to count the sources; ask without statistics or try again");
		err = -ENOMEM;
		goto out;
	}
	buckets = weir_table_buckets(copy->table);
	for (bucket = 0; bucket < buckets; bucket++) {
		n = weir_table_walk(copy->table, bucket, weir_hook_clock(),
				    copy->limit.budget, state);
		for (i = 0; i < n; i++)
			copy->sources += state[i].live;
		cond_resched();
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			break;
		}
	}
	copy->has_sources = !err;
	kvfree(state);
out:
	weir_table_put(copy->table);
	copy->table = NULL;
	return err;
}

static int put_stats(struct sk_buff *skb, const struct copy *copy)
{
	struct nlattr *nest = nla_nest_start(skb, WEIR_A_LIMIT_STATS);

	if (!nest || weir_nl_put_fates(skb, &copy->counts) ||
	    nla_put_u64_64bit(skb, WEIR_A_LIMIT_STATS_EVICTIONS,
			      copy->counts.evictions, WEIR_A_LIMIT_STATS_PAD))
		return -EMSGSIZE;
	if (copy->has_sources &&
	    nla_put_u64_64bit(skb, WEIR_A_LIMIT_STATS_SOURCES_NOW,
			      copy->sources, WEIR_A_LIMIT_STATS_PAD))
		return -EMSGSIZE;
	if (copy->wanted &&
	    nla_put_u64_64bit(skb, WEIR_A_LIMIT_STATS_SOURCES_WANTED,
			      copy->wanted, WEIR_A_LIMIT_STATS_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_words(struct sk_buff *skb, const struct weir_limit *limit)
{
	u32 unit = limit->bytes ? WEIR_UNIT_BYTES : WEIR_UNIT_PACKETS;
	u32 mode = limit->lenient ? WEIR_MODE_LENIENT : WEIR_MODE_STRICT;
	u32 action = limit->observe ? WEIR_ACTION_OBSERVE : WEIR_ACTION_DROP;

	return nla_put_string(skb, WEIR_A_LIMIT_NAME, limit->name) ||
	       nla_put_u64_64bit(skb, WEIR_A_LIMIT_BUDGET, limit->budget,
				 WEIR_A_LIMIT_PAD) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_WINDOW_MS, limit->window_ms) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_UNIT, unit) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_SLOTS, limit->slots) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_MODE, mode) ||
	       nla_put_u8(skb, WEIR_A_LIMIT_PREFIX4, limit->prefix.len4) ||
	       nla_put_u8(skb, WEIR_A_LIMIT_PREFIX6, limit->prefix.len6) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_SOURCES, limit->sources) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_ACTION, action) ||
	       weir_nl_put_match(skb, WEIR_A_LIMIT_MATCH, &limit->match);
}

static int put_result(struct sk_buff *skb, const struct copy *copy)
{
	const struct weir_limit *limit = &copy->limit;
	u64 slot_ns = weir_nl_ns(limit->slot_ticks);

	return nla_put_u64_64bit(skb, WEIR_A_LIMIT_SLOT_NS, slot_ns,
				 WEIR_A_LIMIT_PAD) ||
	       nla_put_u64_64bit(skb, WEIR_A_LIMIT_WINDOW_NS,
				 slot_ns * limit->slots, WEIR_A_LIMIT_PAD) ||
	       nla_put_u64_64bit(skb, WEIR_A_LIMIT_MEMORY, copy->memory,
				 WEIR_A_LIMIT_PAD) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_WAYS, copy->ways);
}

/* Ends the message, or takes it back. */
static int put_limit(struct sk_buff *skb, void *header, const struct copy *copy)
{
	if (!header)
		return -EMSGSIZE;
	if (put_words(skb, &copy->limit) || put_result(skb, copy) ||
	    (copy->has_stats && put_stats(skb, copy))) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* Who may read sources may have them counted, which takes time. */
static bool may_count(struct sk_buff *skb, const struct weir_net *wn)
{
	return netlink_ns_capable(skb, wn->net->user_ns, CAP_NET_ADMIN);
}

/* What is to be counted is left to copy_count(). */
static int limit_copy(struct weir_net *wn, const char *name, bool stats,
		      bool sources, struct copy *copy)
{
	const struct weir_limit *limit;

	rcu_read_lock();
	limit = weir_limit_find(weir_config_get(wn), name);
	if (limit)
		copy_take(copy, limit, stats, sources);
	rcu_read_unlock();
	return limit ? 0 : -ENOENT;
}

/* Takes the reply. */
static int limit_reply(struct genl_info *info, struct sk_buff *reply,
		       void *header, const struct copy *copy)
{
	int err = put_limit(reply, header, copy);

	if (err) {
		nlmsg_free(reply);
		return err;
	}
	return genlmsg_reply(reply, info);
}

static int limit_do(struct weir_net *wn, struct genl_info *info, u8 cmd,
		    const struct weir_words *words)
{
	struct weir_fault fault = { .word = -1 };
	int err;

	if (cmd == WEIR_CMD_LIMIT_ADD)
		err = weir_limit_add(wn, words, &fault);
	else
		err = weir_limit_set(wn, words, &fault);
	weir_nl_limit_fault(info->attrs, &fault, err, info->extack);
	return err;
}

static int limit_change(struct genl_info *info, u8 cmd)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct weir_words words = { };
	struct sk_buff *reply = NULL;
	struct copy copy;
	void *header;
	int err;

	err = weir_nl_once(info->nlhdr, 0, info->extack);
	if (!err)
		err = weir_nl_limit_words(info->attrs, NULL,
					  cmd == WEIR_CMD_LIMIT_ADD, &words,
					  info->extack);
	if (err)
		return err;
	/* Allocated first: a change that cannot be told is not made. */
	if (info->nlhdr->nlmsg_flags & NLM_F_ECHO) {
		reply = weir_nl_reply(info, cmd, &header);
		if (!reply)
			return -ENOMEM;
	}
	err = limit_do(wn, info, cmd, &words);
	/* Somebody else may have removed it since. */
	if (reply && !err && !limit_copy(wn, words.name, false, false, &copy))
		limit_reply(info, reply, header, &copy);
	else
		nlmsg_free(reply);
	return err;
}

/** weir_nl_limit_add - WEIR_CMD_LIMIT_ADD */
int weir_nl_limit_add(struct sk_buff *skb, struct genl_info *info)
{
	return limit_change(info, WEIR_CMD_LIMIT_ADD);
}

/** weir_nl_limit_set - WEIR_CMD_LIMIT_SET */
int weir_nl_limit_set(struct sk_buff *skb, struct genl_info *info)
{
	return limit_change(info, WEIR_CMD_LIMIT_SET);
}

static int limit_name(struct genl_info *info, char *name)
{
	int err = weir_nl_once(info->nlhdr, 0, info->extack);

	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, WEIR_A_LIMIT_NAME)) {
		NL_SET_ERR_MSG(info->extack, "the name of the limit is missing");
		return -EINVAL;
	}
	return weir_nl_string(info->attrs[WEIR_A_LIMIT_NAME], name,
			      WEIR_NAME_SIZE, info->extack);
}

/** weir_nl_limit_del - WEIR_CMD_LIMIT_DEL */
int weir_nl_limit_del(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_fault fault = { .word = -1 };
	char name[WEIR_NAME_SIZE];
	int err;

	err = limit_name(info, name);
	if (err)
		return err;
	err = weir_limit_del(weir_net(genl_info_net(info)), name, &fault);
	return weir_nl_fault(&fault, info->attrs[WEIR_A_LIMIT_NAME], err,
			     info->extack);
}

/** weir_nl_limit_flush - WEIR_CMD_LIMIT_FLUSH */
int weir_nl_limit_flush(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_fault fault = { .word = -1 };
	int err = weir_limit_flush(weir_net(genl_info_net(info)));

	return weir_nl_fault(&fault, NULL, err, info->extack);
}

/** weir_nl_limit_get - WEIR_CMD_LIMIT_GET of one limit */
int weir_nl_limit_get(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	char name[WEIR_NAME_SIZE];
	struct sk_buff *reply;
	struct copy copy;
	void *header;
	int err;

	err = limit_name(info, name);
	if (err)
		return err;
	err = limit_copy(wn, name, info->attrs[WEIR_A_LIMIT_WANT_STATS],
			 may_count(skb, wn), &copy);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[WEIR_A_LIMIT_NAME],
				    "no limit of that name; limit show lists them");
	else
		err = copy_count(&copy, info->extack);
	if (err)
		return err;
	reply = weir_nl_reply(info, WEIR_CMD_LIMIT_GET, &header);
	return reply ? limit_reply(info, reply, header, &copy) : -ENOMEM;
}

/* The limit at a place, or false behind the last. */
static bool limit_at(const struct weir_net *wn, unsigned int place, bool stats,
		     bool sources, struct copy *copy)
{
	const struct weir_config *config;
	bool some;

	rcu_read_lock();
	config = weir_config_get(wn);
	some = config && place < config->count;
	if (some)
		copy_take(copy, config->limit[place], stats, sources);
	rcu_read_unlock();
	return some;
}

static int limits_put(struct sk_buff *skb, struct netlink_callback *cb,
		      struct weir_net *wn)
{
	bool stats = weir_dump_attrs(cb)[WEIR_A_LIMIT_WANT_STATS];
	bool sources = may_count(cb->skb, wn);
	struct copy copy;
	int err;

	for (;; cb->args[0]++) {
		if (skb->len && skb_tailroom(skb) < LIMIT_ROOM)
			return skb->len;
		if (!limit_at(wn, cb->args[0], stats, sources, &copy))
			return 0;
		err = copy_count(&copy, cb->extack);
		if (err)
			return err;
		err = put_limit(skb, weir_nl_dump_put(skb, cb,
						      WEIR_CMD_LIMIT_GET),
				&copy);
		if (err)
			return skb->len ?: err;
	}
}

/** weir_nl_limit_dump - WEIR_CMD_LIMIT_GET of all limits; args[0] is a place */
int weir_nl_limit_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *name = weir_dump_attrs(cb)[WEIR_A_LIMIT_NAME];
	struct weir_net *wn = weir_nl_net(cb->skb);
	int err;

	if (name) {
		NL_SET_ERR_MSG_ATTR(cb->extack, name,
				    "a dump tells all limits; leave the name out");
		return -EINVAL;
	}
	err = weir_nl_once(cb->nlh, 0, cb->extack);
	if (err)
		return err;
	weir_nl_dump_turn(cb, wn);
	err = limits_put(skb, cb, wn);
	weir_nl_dump_turn(cb, wn);
	return err;
}
