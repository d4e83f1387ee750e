// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dump of sources. It walks one table after the other, set by set, and
 * holds no lock and no reference between two sets, so that a reader that stalls
 * cannot keep an old table; if limits changed meanwhile, the dump is marked as
 * interrupted. For the worst sources it walks all tables first.
 */
#include <linux/err.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "clock.h"
#include "netlink/message.h"
#include "path/refusal.h"
#include "table/shared.h"

/* A source, when its set was walked. */
struct found {
	struct weir_source_state state;
	u32 limit;			/* id */
};

/* The state of a dump, in args[0]. */
struct show {
	struct weir_nl_within filter;
	const char *name;		/* of the only limit, or "" */
	bool limited;			/* only those that are limited now */
	bool blocked;			/* only those that are blocked now */
	bool idle;			/* also those whose count is 0 */
	bool by_count;			/* rank by count, else by drops */
	bool ranked;			/* only the worst, else all in the walk's order */
	u32 at;				/* index of the limit that is walked */
	u32 set;			/* the next one */
	struct weir_source_state state[WEIR_ENTRIES_MAX];
	u32 next;			/* of @found */
	u32 count;			/* of those, at most @room */
	u32 room;
	struct found found[];		/* in the last set, or the worst in order */
};

static bool show_wants(const struct show *show, const struct weir_source_state *state,
		       struct weir_prefix prefix)
{
	return (state->live || state->blocked || show->idle) &&
	       (state->wait || !show->limited) && (state->blocked || !show->blocked) &&
	       weir_nl_selects(&show->filter, &state->source, prefix, true);
}

/* The other count decides between equals. */
static bool worse(const struct show *show, const struct weir_source_state *a,
		  const struct weir_source_state *b)
{
	if (show->by_count ? a->count[0] != b->count[0] : a->dropped == b->dropped)
		return a->count[0] > b->count[0];
	return a->dropped > b->dropped;
}

/* Where a source belongs among those found. */
static u32 found_at(const struct show *show, const struct weir_source_state *state)
{
	u32 at = show->count;

	while (show->ranked && at && worse(show, state, &show->found[at - 1].state))
		at--;
	return at;
}

/* Sources come in the order of a keyed hash, so few insertions move others. */
static void found_add(struct show *show, const struct weir_source_state *state, u32 limit)
{
	u32 at = found_at(show, state);

	if (at == show->room)
		return;
	if (show->count < show->room)
		show->count++;
	memmove(&show->found[at + 1], &show->found[at],
		(show->count - 1 - at) * sizeof(show->found[0]));
	show->found[at] = (struct found) { .state = *state, .limit = limit };
}

/* The sources of the set that is walked; @whether as in weir_table_walk(). */
static unsigned int set_states(struct show *show, const struct weir_net *wn,
			       const struct weir_limit *limit, bool whether)
{
	u64 now = weir_clock();
	unsigned int i, n;

	n = weir_limit_walk(limit, show->set, now, whether, show->state);
	weir_refusals_pending(wn, limit, show->state, n);
	for (i = 0; i < n; i++)
		weir_batches_unspent(limit->table, now, &show->state[i], NULL);
	return n;
}

/* Under rcu_read_lock(). Few sets have one of the worst, of which more is told. */
static void set_walk(struct show *show, const struct weir_net *wn, const struct weir_limit *limit)
{
	const struct weir_source_state *state = show->state;
	unsigned int n = set_states(show, wn, limit, show->ranked);

	/* Once there are enough, most are none of the worst. */
	while (n && (found_at(show, &state[n - 1]) == show->room ||
		     !show_wants(show, &state[n - 1], limit->cfg.prefix)))
		n--;
	if (n && show->ranked)
		n = set_states(show, wn, limit, false);
	for (; n--; state++)
		if (show_wants(show, state, limit->cfg.prefix))
			found_add(show, state, limit->id);
	show->set++;
}

/* Walk the next set, if any, of the next limit. Returns 1, 0 at the end, or -EINTR. */
static int show_walk(struct show *show, const struct weir_net *wn)
{
	const struct weir_limit *limit;

	cond_resched();
	if (fatal_signal_pending(current))
		return -EINTR;
	rcu_read_lock();
	limit = weir_nl_limit_next(weir_config_get(wn), show->name, &show->at);
	if (limit && show->set < weir_table_sets(limit->table)) {
		set_walk(show, wn, limit);
	} else {
		show->at++;
		show->set = 0;
	}
	rcu_read_unlock();
	return !!limit;
}

static int show_parse(struct show *show, const struct weir_net *wn, struct nlattr **attrs,
		      struct netlink_ext_ack *extack)
{
	const struct nlattr *rank = attrs[WEIR_A_SOURCE_RANK];
	int err;

	err = weir_nl_within(attrs, wn, &show->filter, extack);
	if (err)
		return err;
	show->name = weir_nl_name(attrs[WEIR_A_SOURCE_LIMIT]);
	show->limited = attrs[WEIR_A_SOURCE_FILTER_LIMITED];
	show->blocked = attrs[WEIR_A_SOURCE_FILTER_BLOCKED];
	show->idle = attrs[WEIR_A_SOURCE_IDLE];
	show->ranked = attrs[WEIR_A_SOURCE_TOP];
	show->by_count = rank && nla_get_u32(rank) == WEIR_RANK_COUNT;
	if (rank && !show->ranked) {
		NL_SET_ERR_ATTR_MISS(extack, NULL, WEIR_A_SOURCE_TOP);
		return weir_nl_refuse(extack, rank, "a rank needs a number of sources, top");
	}
	rcu_read_lock();
	err = weir_nl_limits(weir_config_get(wn), attrs[WEIR_A_SOURCE_LIMIT], extack);
	rcu_read_unlock();
	return err;
}

static struct show *show_start(struct netlink_callback *cb, const struct weir_net *wn)
{
	struct nlattr **attrs = weir_dump_attrs(cb), *top = attrs[WEIR_A_SOURCE_TOP];
	u32 room = top ? nla_get_u32(top) : WEIR_ENTRIES_MAX;
	struct show *show;
	int err;

	show = kvzalloc(struct_size(show, found, room), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!show) {
		weir_nl_refuse(cb->extack, top,
			       "no memory to list the sources; try again, or use a smaller top");
		return ERR_PTR(-ENOMEM);
	}
	show->room = room;
	err = show_parse(show, wn, attrs, cb->extack);
	if (!err && show->ranked)
		do
			err = show_walk(show, wn);
		while (err > 0);
	if (!err)
		return show;
	kvfree(show);
	return ERR_PTR(err);
}

/*
 * Sources of removed limits are left out: the dump is interrupted anyway. One that is blocked may
 * be exempt as a whole.
 */
static int put_found(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct weir_net *wn, const struct found *found)
{
	const struct weir_exception *exception = NULL;
	const struct weir_config *config;
	const struct weir_limit *limit;
	void *header;
	int err = 0;

	rcu_read_lock();
	config = weir_config_get(wn);
	limit = weir_limit_by_id(config, found->limit);
	if (limit) {
		header = weir_nl_dump_put(skb, cb);
		if (found->state.blocked)
			exception = weir_nl_exemption(config, limit, &found->state.source, "");
		if (exception &&
		    (exception->block || exception->prefix.len >
		     weir_nl_source_prefix(&found->state.source, limit->cfg.prefix).len))
			exception = NULL;
		err = !header || weir_nl_put_source(skb, wn->net, limit, &found->state, NULL) ||
		      weir_nl_put_exemption(skb, config, exception);
		err = weir_nl_dump_end(skb, header, err);
	}
	rcu_read_unlock();
	return err;
}

static int sources_put(struct sk_buff *skb, struct netlink_callback *cb, struct weir_net *wn)
{
	struct show *show = (struct show *)cb->args[0];
	int err;

	if (!show) {
		show = show_start(cb, wn);
		if (IS_ERR(show))
			return PTR_ERR(show);
		cb->args[0] = (long)show;
	}
	do {
		for (; show->next < show->count; show->next++) {
			err = put_found(skb, cb, wn, &show->found[show->next]);
			if (err)
				return err;
		}
		if (show->ranked)
			return 0;
		show->next = 0;
		show->count = 0;
		err = show_walk(show, wn);
	} while (err > 0);
	return err;
}

int weir_nl_source_show_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return weir_nl_dump(skb, cb, ~0ull, BIT(WEIR_LIMITS), sources_put);
}

/* End a dump of sources, complete or not. */
int weir_nl_source_show_done(struct netlink_callback *cb)
{
	kvfree((void *)cb->args[0]);
	return 0;
}
