// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that read limits.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "clock.h"
#include "config/make.h"
#include "limit/stats.h"
#include "netlink/message.h"

/* Room that a message needs before a dump of limits walks a table. */
#define LIMIT_ROOM 3744

/* Count the sources of a limit, which may be removed meanwhile. May sleep. */
static int sources_count(const struct weir_net *wn, u32 id, struct weir_counted *count,
			 struct netlink_ext_ack *extack)
{
	struct weir_source_state *state;
	const struct weir_limit *limit;
	u32 set = 0, sets;
	unsigned int n;

	state = kvmalloc_array(WEIR_ENTRIES_MAX, sizeof(*state), GFP_KERNEL | __GFP_NOWARN);
	if (!state) {
		NL_SET_ERR_MSG(extack,
			       "no memory to count the sources; ask without statistics or try again");
		return -ENOMEM;
	}
	*count = (struct weir_counted) { };
	do {
		cond_resched();
		rcu_read_lock();
		limit = weir_limit_by_id(weir_config_get(wn), id);
		sets = limit ? weir_table_sets(limit->table) : 0;
		n = set < sets ?
		    weir_limit_walk(limit, set, weir_clock(), true, state) : 0;
		rcu_read_unlock();
		while (n--) {
			count->live += state[n].live;
			count->blocked += !!state[n].blocked;
			count->limited += state[n].wait && !state[n].blocked;
			count->known += !state[n].unknown;
		}
	} while (++set < sets && !fatal_signal_pending(current));
	kvfree(state);
	return set < sets ? -EINTR : 0;
}

static int put_counters(struct sk_buff *skb, const struct weir_counters *counters,
			unsigned int fates)
{
	static const u8 attr[] = {
		[WEIR_ADMITTED]		= WEIR_A_LIMIT_STATS_ADMITTED,
		[WEIR_DROPPED]		= WEIR_A_LIMIT_STATS_DROPPED,
		[WEIR_WOULD_DROP]	= WEIR_A_LIMIT_STATS_WOULD_DROP,
		[WEIR_ELSEWHERE]	= WEIR_A_LIMIT_STATS_ELSEWHERE,
		[WEIR_FLOOR_REFUSED]	= WEIR_A_LIMIT_STATS_FLOOR_REFUSED,
		[WEIR_TOO_LARGE_REFUSED] = WEIR_A_LIMIT_STATS_TOO_LARGE,
		[WEIR_EARLY_REFUSED]	= WEIR_A_LIMIT_STATS_EARLY,
		[WEIR_PREFIX_BLOCKED]	= WEIR_A_LIMIT_STATS_DROPPED_BY_PREFIX,
		[WEIR_NEWCOMERS_REFUSED] = WEIR_A_LIMIT_STATS_NEWCOMERS_REFUSED,
		[WEIR_NEWCOMERS_CHARGED] = WEIR_A_LIMIT_STATS_NEWCOMERS,
		[WEIR_SECOND_CHARGED]	= WEIR_A_LIMIT_STATS_SECOND_TRIES,
	};
	u64 packets = 0, bytes = 0;
	unsigned int i;

	for (i = WEIR_ADMITTED; i <= WEIR_ELSEWHERE; i++) {
		packets += counters->packets[i];
		bytes += counters->bytes[i];
	}
	if (weir_nl_put_counter(skb, WEIR_A_LIMIT_STATS_MATCHED, packets, bytes))
		return -EMSGSIZE;
	for (i = 0; i < fates; i++)
		if (weir_nl_put_counter(skb, attr[i], counters->packets[i], counters->bytes[i]))
			return -EMSGSIZE;
	return weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_EVICTIONS, counters->evictions) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_PENALTIES, counters->penalties) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_BLOCKS_LOST, counters->blocks_lost);
}

static int put_newcomers_now(struct sk_buff *skb, const struct weir_limit *limit,
			     const struct weir_counted *sources)
{
	struct weir_newcomers_state state;

	weir_newcomers_peek(&limit->newcomers, weir_clock(), &state);
	return weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_KNOWN_NOW, sources->known) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_NEWCOMERS_NOW, state.count);
}

static int put_stats(struct sk_buff *skb, const struct weir_limit *limit,
		     const struct weir_counters *counters, const struct weir_counted *sources)
{
	struct nlattr *nest = nla_nest_start(skb, WEIR_A_LIMIT_STATS);
	u64 wanted = weir_pressure_sources(limit, weir_clock());

	if (!nest || put_counters(skb, counters, limit->newcomers.budget ?
				 WEIR_BUDGET_REFUSED : WEIR_NEWCOMERS_REFUSED) ||
	    weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_SOURCES_NOW, sources->live) ||
	    weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_BLOCKED_NOW, sources->blocked) ||
	    weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_LIMITED_NOW, sources->limited) ||
	    (limit->newcomers.budget && put_newcomers_now(skb, limit, sources)) ||
	    (limit->cfg.log &&
	     weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_LOGGED, counters->logged)) ||
	    (wanted && weir_nl_put_u64(skb, WEIR_A_LIMIT_STATS_SOURCES_WANTED, wanted)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_learning(struct sk_buff *skb, const struct weir_limit *limit)
{
	u64 ticks = weir_newcomers_learning(&limit->newcomers);

	return ticks ? weir_nl_put_u64(skb, WEIR_A_LIMIT_LEARNING_NS, weir_ticks_ns(ticks)) : 0;
}

static int put_newcomers(struct sk_buff *skb, const struct weir_newcomers_config *newcomers)
{
	return weir_nl_put_u64(skb, WEIR_A_LIMIT_NEWCOMERS, newcomers->budget) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_NEWCOMERS_MS, newcomers->window_ms) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_FLOOD, newcomers->flood) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_KNOWN_MS, newcomers->known_ms);
}

/* Put what was asked for, and what its budgets are. */
int weir_nl_put_limit(struct sk_buff *skb, const struct weir_limit *limit,
		      const struct weir_counters *counters)
{
	const struct weir_limit_config *cfg = &limit->cfg;

	return nla_put_string(skb, WEIR_A_LIMIT_NAME, cfg->name) ||
	       weir_nl_put_budgets(skb, limit, counters) ||
	       weir_nl_put_zone(skb, cfg) ||
	       nla_put_u8(skb, WEIR_A_LIMIT_PREFIX4, cfg->prefix.len4) ||
	       nla_put_u8(skb, WEIR_A_LIMIT_PREFIX6, cfg->prefix.len6) ||
	       nla_put_u32(skb, weir_limit_size_attr(cfg), cfg->blocks ?: cfg->sources) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_ACTION, cfg->observe) ||
	       (*cfg->comment && nla_put_string(skb, WEIR_A_LIMIT_COMMENT, cfg->comment)) ||
	       (cfg->newcomers.budget && put_newcomers(skb, &cfg->newcomers)) ||
	       (cfg->penalty_ms &&
		weir_nl_put_u64(skb, WEIR_A_LIMIT_PENALTY_MS, cfg->penalty_ms)) ||
	       (cfg->renew && nla_put_flag(skb, WEIR_A_LIMIT_RENEW)) ||
	       (cfg->budgets_by &&
		nla_put_string(skb, WEIR_A_LIMIT_BUDGETS_BY, cfg->budgets_by->name)) ||
	       (cfg->log && nla_put_u16(skb, WEIR_A_LIMIT_LOG, cfg->log)) ||
	       (cfg->shared && nla_put_u32(skb, WEIR_A_LIMIT_SHARING, cfg->shared)) ||
	       (limit->alone && nla_put_flag(skb, WEIR_A_LIMIT_ALONE_NOW)) ||
	       weir_nl_put_match(skb, WEIR_A_LIMIT_MATCH, &cfg->match) ? -EMSGSIZE : 0;
}

/* Put a limit and its table, with statistics if @sources are counted. */
int weir_nl_put_whole(struct sk_buff *skb, const struct weir_limit *limit,
		      const struct weir_counted *sources)
{
	struct weir_counters counters;

	if (sources)
		weir_limit_counters(limit, &counters);
	return weir_nl_put_limit(skb, limit, sources ? &counters : NULL) ||
	       weir_nl_put_u64(skb, WEIR_A_LIMIT_MEMORY, weir_table_bytes(limit->table) +
			       weir_newcomers_bytes(&limit->newcomers)) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_ENTRIES, weir_table_entries(limit->table)) ||
	       nla_put_u32(skb, WEIR_A_LIMIT_SOURCE_BYTES, weir_table_source_bytes(limit->table)) ||
	       (limit->cfg.budgets && (limit->cfg.prefix.len4 || limit->cfg.prefix.len6) &&
		nla_put_u32(skb, WEIR_A_LIMIT_BLOCKS, weir_table_blocks_most(limit->table))) ||
	       put_learning(skb, limit) ||
	       (sources && put_stats(skb, limit, &counters, sources)) ? -EMSGSIZE : 0;
}

/* Reply with the limit that the request names. */
static int limit_reply(struct genl_info *info, struct sk_buff *reply,
		       const struct weir_counted *sources)
{
	const struct weir_net *wn = weir_net(genl_info_net(info));
	const struct nlattr *name = info->attrs[WEIR_A_LIMIT_NAME];
	const struct weir_limit *limit;
	int err;

	rcu_read_lock();
	limit = weir_limit_find(weir_config_get(wn), nla_data(name));
	err = limit ? weir_nl_put_whole(reply, limit, sources) :
	      weir_nl_no_limit(name, info->extack);
	rcu_read_unlock();
	return weir_nl_reply_end(info, reply, err);
}

/* The id of the limit at an index, or if there is one, of that name; or 0. */
static u32 limit_id(const struct weir_net *wn, const char *name, long at)
{
	const struct weir_config *config;
	const struct weir_limit *limit;
	u32 id;

	rcu_read_lock();
	config = weir_config_get(wn);
	if (name)
		limit = weir_limit_find(config, name);
	else
		limit = config && at < config->count ? config->limit[at] : NULL;
	id = limit ? limit->id : 0;
	rcu_read_unlock();
	return id;
}

int weir_nl_limit_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct weir_net *wn = weir_net(genl_info_net(info));
	struct nlattr **attrs = info->attrs;
	struct sk_buff *reply;
	struct weir_counted sources;
	int err;

	err = weir_nl_require(attrs, NULL, WEIR_A_LIMIT_NAME,
			      "the name of the limit is missing", info->extack);
	if (!err && attrs[WEIR_A_LIMIT_WANT_STATS])
		err = sources_count(wn, limit_id(wn, nla_data(attrs[WEIR_A_LIMIT_NAME]), 0),
				    &sources, info->extack);
	if (err)
		return err;
	reply = weir_nl_reply(info);
	if (!reply)
		return -ENOMEM;
	return limit_reply(info, reply, attrs[WEIR_A_LIMIT_WANT_STATS] ? &sources : NULL);
}

/* args[0] is the index of a limit. */
static int limits_put(struct sk_buff *skb, struct netlink_callback *cb, struct weir_net *wn)
{
	bool stats = weir_dump_attrs(cb)[WEIR_A_LIMIT_WANT_STATS];
	const struct weir_limit *limit;
	struct weir_counted sources;
	void *header;
	int err = 0;
	u32 id;

	for (; !err && (id = limit_id(wn, NULL, cb->args[0])); cb->args[0] += !err) {
		if (skb->len && skb_tailroom(skb) < LIMIT_ROOM)
			return skb->len;
		if (stats)
			err = sources_count(wn, id, &sources, cb->extack);
		if (err)
			return err;
		rcu_read_lock();
		limit = weir_limit_by_id(weir_config_get(wn), id);
		if (limit) {
			header = weir_nl_dump_put(skb, cb);
			err = !header || weir_nl_put_whole(skb, limit, stats ? &sources : NULL);
			err = weir_nl_dump_end(skb, header, err);
		}
		rcu_read_unlock();
	}
	return err;
}

int weir_nl_limit_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return weir_nl_dump(skb, cb, BIT_ULL(WEIR_A_LIMIT_WANT_STATS), BIT(WEIR_LIMITS),
			    limits_put);
}
