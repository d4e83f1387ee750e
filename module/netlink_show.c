// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that tell limits, exemptions and the counters of a namespace.
 */
#include <linux/log2.h>
#include <linux/netdevice.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/socket.h>

#include "hook.h"
#include "netlink.h"

/* A dump of limits starts no walk of a table with less room than this. */
#define LIMIT_ROOM 1024

/**
 * struct snapshot - a limit, taken out of the configuration
 * @limit: whose pointers must not be followed any more
 * @counts: what its counters said
 * @table: reference, if sources are to be counted
 * @memory: bytes of the table
 * @ways: of the table
 * @sources: counted
 * @wanted: size of table that would end the pressure
 * @has_stats: @counts are filled
 * @has_sources: @sources is
 */
struct snapshot {
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

/* False without a limit. Under rcu_read_lock(). */
static bool snapshot_take(struct snapshot *snapshot, const struct weir_limit *limit,
			  bool stats, bool sources)
{
	if (!limit)
		return false;
	snapshot->limit = *limit;
	snapshot->memory = weir_table_bytes(limit->table);
	snapshot->ways = weir_table_ways(limit->table);
	snapshot->has_stats = stats;
	snapshot->table = NULL;
	snapshot->has_sources = false;
	if (stats) {
		weir_limit_counts(limit, &snapshot->counts);
		snapshot->wanted = weir_pressure_sources(limit, weir_hook_clock());
	}
	if (stats && sources && weir_table_tryget(limit->table))
		snapshot->table = limit->table;
	return true;
}

/* Count the sources and let go of the table. May sleep. */
static int snapshot_count(struct snapshot *snapshot, struct netlink_ext_ack *extack)
{
	struct weir_source_state *state;
	u32 bucket, buckets;
	unsigned int i, n;
	int err = 0;

	if (!snapshot->table)
		return 0;
	snapshot->sources = 0;
	state = kvmalloc_array(WEIR_WAYS_MAX, sizeof(*state), GFP_KERNEL);
	if (!state) {
		NL_SET_ERR_MSG(extack,
			       "no memory to count the sources; ask without statistics or try again");
		err = -ENOMEM;
		goto out;
	}
	buckets = weir_table_buckets(snapshot->table);
	for (bucket = 0; bucket < buckets && !err; bucket++) {
		n = weir_table_walk(snapshot->table, bucket, weir_hook_clock(),
				    snapshot->limit.budget, state);
		for (i = 0; i < n; i++)
			snapshot->sources += state[i].live;
		cond_resched();
		if (fatal_signal_pending(current))
			err = -EINTR;
	}
	snapshot->has_sources = !err;
	kvfree(state);
out:
	weir_table_put(snapshot->table);
	snapshot->table = NULL;
	return err;
}

static int put_counter(struct sk_buff *skb, int attr, u64 packets, u64 bytes)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest || weir_nl_put_u64(skb, WEIR_A_COUNTER_PACKETS, packets) ||
	    weir_nl_put_u64(skb, WEIR_A_COUNTER_BYTES, bytes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_counters(struct sk_buff *skb, const struct weir_counts *counts)
{
	static const u8 attr[WEIR_FATES] = {
		[WEIR_ADMITTED]		= WEIR_A_LIMIT_STATS_ADMITTED,
		[WEIR_DROPPED]		= WEIR_A_LIMIT_STATS_DROPPED,
		[WEIR_WOULD_DROP]	= WEIR_A_LIMIT_STATS_WOULD_DROP,
		[WEIR_ELSEWHERE]	= WEIR_A_LIMIT_STATS_ELSEWHERE,
		[WEIR_FLOOR_REFUSED]	= WEIR_A_LIMIT_STATS_FLOOR_REFUSED,
		[WEIR_TOO_LARGE_REFUSED]= WEIR_A_LIMIT_STATS_TOO_LARGE,
	};
	u64 packets = 0, bytes = 0;
	unsigned int i;

	for (i = WEIR_ADMITTED; i <= WEIR_ELSEWHERE; i++) {
		packets += counts->packets[i];
		bytes += counts->bytes[i];
	}
	if (put_counter(skb, WEIR_A_LIMIT_STATS_MATCHED, packets, bytes))
		return -EMSGSIZE;
	for (i = 0; i < WEIR_FATES; i++)
		if (put_counter(skb, attr[i], counts->packets[i], counts->bytes[i]))
			return -EMSGSIZE;
	return weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_EVICTIONS, counts->evictions);
}

static int put_stats(struct sk_buff *skb, const struct snapshot *snapshot)
{
	struct nlattr *nest = nla_nest_start(skb, WEIR_A_LIMIT_STATS);

	if (!nest || put_counters(skb, &snapshot->counts) ||
	    (snapshot->has_sources &&
	     weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_SOURCES_NOW, snapshot->sources)) ||
	    (snapshot->wanted &&
	     weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_SOURCES_WANTED, snapshot->wanted)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_limit(struct sk_buff *skb, const struct snapshot *snapshot)
{
	const struct weir_limit *limit = &snapshot->limit;
	u32 mode = limit->lenient ? WEIR_MODE_LENIENT : WEIR_MODE_STRICT;
	u64 slot_ns = weir_nl_ns(limit->slot_ticks);

	return nla_put_string(skb, WEIR_A_LIMIT_NAME, limit->name) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_BUDGET, limit->budget) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_WINDOW_MS, limit->window_ms) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_UNIT, weir_nl_unit(limit)) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_SLOTS, limit->slots) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_MODE, mode) ||
	       nla_put_u8(skb, WEIR_A_LIMIT_PREFIX4, limit->prefix.len4) ||
	       nla_put_u8(skb, WEIR_A_LIMIT_PREFIX6, limit->prefix.len6) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_SOURCES, limit->sources) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_ACTION, weir_nl_action(limit)) ||
	       weir_nl_put_match(skb, WEIR_A_LIMIT_MATCH, &limit->match) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_SLOT_NS, slot_ns) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_WINDOW_NS, slot_ns * limit->slots) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_MEMORY, snapshot->memory) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_WAYS, snapshot->ways) ||
	       (snapshot->has_stats && put_stats(skb, snapshot)) ? -EMSGSIZE : 0;
}

/* Who may read sources may have them counted, which takes time. */
static bool may_count(struct sk_buff *skb, const struct weir_net *wn)
{
	return netlink_ns_capable(skb, wn->net->user_ns, CAP_NET_ADMIN);
}

/* Answer with a limit as it was made, if nobody has removed it since. */
int weir_nl_limit_reply(struct genl_info *info, struct sk_buff *skb, void *header,
			const char *name)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct snapshot snapshot;
	bool some;

	rcu_read_lock();
	some = snapshot_take(&snapshot, weir_limit_find(weir_config_get(wn), name),
			     false, false);
	rcu_read_unlock();
	return weir_nl_reply_end(info, skb, header, some ? put_limit(skb, &snapshot) : -ENOENT);
}

int weir_nl_limit_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *want_stats = info->attrs[WEIR_A_LIMIT_WANT_STATS];
	struct nlattr *attr = info->attrs[WEIR_A_LIMIT_NAME];
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct snapshot snapshot;
	char name[WEIR_NAME_SIZE];
	struct sk_buff *reply;
	void *header;
	bool some;
	int err;

	err = weir_nl_once(info->nlhdr, 0, info->extack);
	if (!err)
		err = weir_nl_require(info->attrs, NULL, WEIR_A_LIMIT_NAME,
				      "the name of the limit is missing", info->extack);
	if (!err)
		err = weir_nl_string(attr, name, sizeof(name), info->extack);
	if (err)
		return err;
	rcu_read_lock();
	some = snapshot_take(&snapshot, weir_limit_find(weir_config_get(wn), name),
			     want_stats, may_count(skb, wn));
	rcu_read_unlock();
	if (!some)
		return weir_nl_no_limit(attr, info->extack);
	err = snapshot_count(&snapshot, info->extack);
	if (err)
		return err;
	reply = weir_nl_reply(info, WEIR_CMD_LIMIT_GET, &header);
	if (!reply)
		return -ENOMEM;
	return weir_nl_reply_end(info, reply, header, put_limit(reply, &snapshot));
}

static int limits_put(struct sk_buff *skb, struct netlink_callback *cb, struct weir_net *wn)
{
	bool stats = weir_dump_attrs(cb)[WEIR_A_LIMIT_WANT_STATS];
	bool sources = may_count(cb->skb, wn), some;
	const struct weir_config *config;
	struct snapshot snapshot;
	void *header;
	int err;

	for (;; cb->args[0]++) {
		if (skb->len && skb_tailroom(skb) < LIMIT_ROOM)
			return skb->len;
		rcu_read_lock();
		config = weir_config_get(wn);
		some = config && cb->args[0] < config->count &&
		       snapshot_take(&snapshot, config->limit[cb->args[0]], stats, sources);
		rcu_read_unlock();
		if (!some)
			return 0;
		err = snapshot_count(&snapshot, cb->extack);
		if (err)
			return err;
		header = weir_nl_dump_put(skb, cb, WEIR_CMD_LIMIT_GET);
		if (!header || put_limit(skb, &snapshot)) {
			genlmsg_cancel(skb, header);
			return skb->len ?: -EMSGSIZE;
		}
		genlmsg_end(skb, header);
	}
}

/* args[0] is the place of a limit. */
int weir_nl_limit_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_nl_net(cb->skb);
	int err;

	err = weir_nl_once(cb->nlh, 0, cb->extack);
	if (!err)
		err = weir_dump_only(cb, BIT(WEIR_A_LIMIT_WANT_STATS));
	if (err)
		return err;
	weir_nl_dump_check(cb, wn);
	err = limits_put(skb, cb, wn);
	weir_nl_dump_check(cb, wn);
	return err;
}

/**
 * weir_nl_exempt - parse an exemption
 * @attrs: its attributes
 * @nest: that they stand in, or NULL for the message
 * @exempt: filled but for its limit
 * @limit: filled with the name of that, if it is there
 * @extack: filled where it is refused
 *
 * Return: 0 or -EINVAL.
 */
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

/* An exemption, with the name that its limit has in a configuration. */
int weir_nl_put_exempt(struct sk_buff *skb, const struct weir_config *config,
		       const struct weir_exempt *exempt)
{
	const struct weir_net_prefix *prefix = &exempt->prefix;
	const struct weir_limit *limit = NULL;

	if (exempt->limit)
		limit = weir_limit_by_id(config, exempt->limit);
	return nla_put(skb, WEIR_A_EXEMPT_ADDRESS, prefix->family == AF_INET ? 4 : 16,
		       prefix->word) ||
	       nla_put_u8(skb, WEIR_A_EXEMPT_PREFIX_LEN, prefix->len) ||
	       (*exempt->dev && nla_put_string(skb, WEIR_A_EXEMPT_DEV, exempt->dev)) ||
	       (limit && nla_put_string(skb, WEIR_A_EXEMPT_LIMIT, limit->name)) ? -EMSGSIZE : 0;
}

/* Put the exemption of an address. Under rcu_read_lock(). */
static int exempt_find(struct sk_buff *reply, const struct weir_config *config,
		       const struct weir_exempt *asked, const char *name,
		       struct genl_info *info)
{
	const struct weir_exempt *exempt = NULL;
	const struct weir_limit *limit = NULL;
	struct weir_exempt_place place;
	struct weir_source source = {
		.zone = asked->prefix.family == AF_INET6 ? WEIR_ZONE_IPV6 : 0,
	};

	memcpy(source.word, asked->prefix.word, sizeof(source.word));
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
		return weir_nl_put_exempt(reply, config, exempt);
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[WEIR_A_EXEMPT_ADDRESS],
			    "no exemption holds the address (of a device: say dev); exempt show lists them");
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
	void *header;

	for (; cb->args[0] < weir_exempts_count(exempts); cb->args[0]++) {
		header = weir_nl_dump_put(skb, cb, WEIR_CMD_EXEMPT_GET);
		if (!header ||
		    weir_nl_put_exempt(skb, config, weir_exempts_at(exempts, cb->args[0]))) {
			genlmsg_cancel(skb, header);
			return skb->len ?: -EMSGSIZE;
		}
		genlmsg_end(skb, header);
	}
	return 0;
}

/* args[0] is the place of an exemption. */
int weir_nl_exempt_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_nl_net(cb->skb);
	int err;

	err = weir_dump_only(cb, 0);
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

	weir_net_counts(wn, count);
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
	return weir_nl_put_u64(reply, WEIR_A_STATS_EVENTS_LOST,
			       atomic64_read(&wn->events_lost)) ||
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

	reply = weir_nl_reply(info, WEIR_CMD_STATS_GET, &header);
	if (!reply)
		return -ENOMEM;
	return weir_nl_reply_end(info, reply, header,
				 put_outcomes(reply, wn) ?: put_holdings(reply, wn));
}
