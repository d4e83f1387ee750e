// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that read limits.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "hook.h"
#include "netlink.h"

/* Room that a message needs before a dump of limits walks a table. */
#define LIMIT_ROOM 3072

/* A copy of a limit, to be used outside of the RCU section. */
struct snapshot {
	struct weir_limit limit;	/* whose pointers must not be followed */
	struct weir_counts counts;	/* if has_stats */
	struct weir_table *table;	/* a reference, if sources are to be counted */
	u64 memory;
	u32 ways;
	u64 sources;			/* if has_sources */
	u64 wanted;			/* size of table that would end the pressure, or 0 */
	bool has_stats;
	bool has_sources;
};

/* Copy a limit; false without one. Under rcu_read_lock(). */
static bool snapshot_take(struct snapshot *snapshot, const struct weir_limit *limit,
			  bool stats)
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
	if (stats && weir_table_tryget(limit->table))
		snapshot->table = limit->table;
	return true;
}

static bool snapshot_find(struct snapshot *snapshot, struct genl_info *info, const char *name,
			  bool stats)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	bool some;

	rcu_read_lock();
	some = snapshot_take(snapshot, weir_limit_find(weir_config_get(wn), name), stats);
	rcu_read_unlock();
	return some;
}

/* Count the sources and drop the reference to the table. May sleep. */
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

int weir_nl_put_counter(struct sk_buff *skb, int attr, u64 packets, u64 bytes)
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
		[WEIR_TOO_LARGE_REFUSED] = WEIR_A_LIMIT_STATS_TOO_LARGE,
	};
	u64 packets = 0, bytes = 0;
	unsigned int i;

	for (i = WEIR_ADMITTED; i <= WEIR_ELSEWHERE; i++) {
		packets += counts->packets[i];
		bytes += counts->bytes[i];
	}
	if (weir_nl_put_counter(skb, WEIR_A_LIMIT_STATS_MATCHED, packets, bytes))
		return -EMSGSIZE;
	for (i = 0; i < WEIR_FATES; i++)
		if (weir_nl_put_counter(skb, attr[i], counts->packets[i], counts->bytes[i]))
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

/* Put the configuration of a limit. */
int weir_nl_put_limit(struct sk_buff *skb, const struct weir_limit *limit)
{
	u32 mode = limit->lenient ? WEIR_MODE_LENIENT : WEIR_MODE_STRICT;

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
	       (*limit->comment && nla_put_string(skb, WEIR_A_LIMIT_COMMENT, limit->comment)) ||
	       weir_nl_put_match(skb, WEIR_A_LIMIT_MATCH, &limit->match) ? -EMSGSIZE : 0;
}

static int put_limit(struct sk_buff *skb, const struct snapshot *snapshot)
{
	const struct weir_limit *limit = &snapshot->limit;
	u64 slot_ns = weir_nl_ns(limit->slot_ticks);

	return weir_nl_put_limit(skb, limit) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_SLOT_NS, slot_ns) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_WINDOW_NS, slot_ns * limit->slots) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_MEMORY, snapshot->memory) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_WAYS, snapshot->ways) ||
	       (snapshot->has_stats && put_stats(skb, snapshot)) ? -EMSGSIZE : 0;
}

/* Reply with a limit that was just made, unless it was removed meanwhile. */
int weir_nl_limit_reply(struct genl_info *info, struct sk_buff *skb, void *header, const char *name)
{
	struct snapshot snapshot;

	if (!snapshot_find(&snapshot, info, name, false))
		return weir_nl_reply_end(info, skb, header, -ENOENT);
	return weir_nl_reply_end(info, skb, header, put_limit(skb, &snapshot));
}

int weir_nl_limit_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *want_stats = info->attrs[WEIR_A_LIMIT_WANT_STATS];
	struct nlattr *attr = info->attrs[WEIR_A_LIMIT_NAME];
	struct snapshot snapshot;
	char name[WEIR_NAME_SIZE];
	struct sk_buff *reply;
	void *header;
	int err;

	err = weir_nl_once(info->nlhdr, 0, info->extack);
	if (!err)
		err = weir_nl_require(info->attrs, NULL, WEIR_A_LIMIT_NAME,
				      "the name of the limit is missing", info->extack);
	if (!err)
		err = weir_nl_string(attr, name, sizeof(name), info->extack);
	if (err)
		return err;
	if (!snapshot_find(&snapshot, info, name, want_stats))
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
	bool some;
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
		       snapshot_take(&snapshot, config->limit[cb->args[0]], stats);
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

/* args[0] is the index of a limit. */
int weir_nl_limit_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_nl_net(cb->skb);
	int err;

	err = weir_nl_once(cb->nlh, 0, cb->extack);
	if (!err)
		err = weir_nl_only(cb->nlh, BIT(WEIR_A_LIMIT_WANT_STATS), cb->extack);
	if (err)
		return err;
	weir_nl_dump_check(cb, wn);
	err = limits_put(skb, cb, wn);
	weir_nl_dump_check(cb, wn);
	return err;
}
