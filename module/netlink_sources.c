// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dump of sources. It walks one table after the other, bucket by bucket, with
 * a reference on the table and no lock between two buckets. Between two parts of
 * the dump it holds no reference, so that a reader that stalls cannot keep an old
 * table; if anything changed meanwhile, the dump is marked as interrupted. For the
 * worst sources it walks all tables first.
 */
#include <linux/err.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "batch.h"
#include "hook.h"
#include "netlink.h"

struct ranked {
	struct weir_source_state state;	/* when its bucket was walked */
	u32 limit;			/* id */
};

/* The state of a dump, in args[0]. */
struct show {
	struct weir_nl_within filter;
	bool limited;			/* only those that are limited now */
	bool idle;			/* also those whose count is 0 */
	bool by_count;			/* rank by count, else by drops */
	u32 top;			/* so many of the worst, or 0: all in the walk's order */
	struct ranked *rank;		/* the worst in their order */
	u32 ranked;

	u32 limits;			/* to be walked */
	u32 id[WEIR_LIMITS_MAX];	/* of those */
	u32 at;				/* the one that is walked */
	struct weir_limit limit;	/* a copy of it */
	struct weir_table *table;	/* a reference for this part of the dump, or NULL */
	u32 bucket;			/* the next one */
	u32 states;			/* of the last bucket */
	u32 next;			/* of them, or of the worst, the next one */
	struct weir_source_state state[WEIR_WAYS_MAX];
};

static void show_free(struct show *show)
{
	if (!show)
		return;
	kvfree(show->rank);
	kvfree(show);
}

/* The limits that the request selects, as they are now. */
static int show_limits(struct show *show, const struct weir_net *wn,
		       const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	const struct weir_config *config;
	char name[WEIR_NAME_SIZE] = "";
	unsigned int i;
	int err;

	err = weir_nl_string(attr, name, sizeof(name), extack);
	if (err)
		return err;
	rcu_read_lock();
	config = weir_config_get(wn);
	for (i = 0; config && i < config->count; i++)
		if (!attr || !strcmp(config->limit[i]->name, name))
			show->id[show->limits++] = config->limit[i]->id;
	rcu_read_unlock();
	return attr && !show->limits ? weir_nl_no_limit(attr, extack) : 0;
}

static int show_parse(struct show *show, struct weir_net *wn, struct netlink_callback *cb)
{
	struct nlattr **attrs = weir_dump_attrs(cb);
	int err;

	err = weir_nl_once(cb->nlh, 0, cb->extack);
	if (!err)
		err = weir_nl_within(attrs, wn, &show->filter, cb->extack);
	if (!err)
		err = show_limits(show, wn, attrs[WEIR_A_SOURCE_LIMIT], cb->extack);
	if (err)
		return err;
	if (attrs[WEIR_A_SOURCE_RANK] && !attrs[WEIR_A_SOURCE_TOP]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[WEIR_A_SOURCE_RANK],
				    "a rank needs a number of sources, top");
		NL_SET_ERR_ATTR_MISS(cb->extack, NULL, WEIR_A_SOURCE_TOP);
		return -EINVAL;
	}
	show->limited = attrs[WEIR_A_SOURCE_FILTER_LIMITED];
	show->idle = attrs[WEIR_A_SOURCE_IDLE];
	if (attrs[WEIR_A_SOURCE_TOP])
		show->top = nla_get_u32(attrs[WEIR_A_SOURCE_TOP]);
	if (attrs[WEIR_A_SOURCE_RANK])
		show->by_count = nla_get_u32(attrs[WEIR_A_SOURCE_RANK]) == WEIR_RANK_COUNT;
	return 0;
}

static void show_close(struct show *show)
{
	weir_table_put(show->table);
	show->table = NULL;
}

/* Get the table of this limit or a later one; removed limits are skipped. */
static bool show_open(struct show *show, struct weir_net *wn)
{
	const struct weir_limit *limit;

	rcu_read_lock();
	for (; show->at < show->limits; show->at++, show->bucket = 0) {
		limit = weir_limit_by_id(weir_config_get(wn), show->id[show->at]);
		if (!limit || !weir_table_tryget(limit->table))
			continue;
		show->table = limit->table;
		show->limit = *limit;
		break;
	}
	rcu_read_unlock();
	return show->table;
}

/* Add what is CPU-local, if the table is still in use. */
static void show_cpus(struct show *show, struct weir_net *wn)
{
	const struct weir_config *config;
	const struct weir_limit *limit;
	unsigned int i;

	rcu_read_lock();
	config = weir_config_get(wn);
	limit = weir_limit_by_id(config, show->id[show->at]);
	if (limit && limit->table == show->table) {
		weir_refusals_pending(wn, limit, show->state, show->states);
		for (i = 0; i < show->states; i++)
			weir_batches_unspent(show->table, weir_hook_clock(),
					     &show->state[i], NULL);
	}
	rcu_read_unlock();
}

/* Fetch the next state. Returns 1, 0 at the end, or negative errno. */
static int show_step(struct show *show, struct weir_net *wn)
{
	while (show->next == show->states) {
		if (!show->table && !show_open(show, wn))
			return 0;
		if (show->bucket >= weir_table_buckets(show->table)) {
			show_close(show);
			show->at++;
			show->bucket = 0;
			continue;
		}
		show->next = 0;
		show->states = weir_table_walk(show->table, show->bucket++, weir_hook_clock(),
					       show->limit.budget, show->state);
		show_cpus(show, wn);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 1;
}

static bool show_wants(const struct show *show, const struct weir_source_state *state)
{
	return (state->live || show->idle) && (state->wait || !show->limited) &&
	       weir_nl_overlaps(&show->filter, &state->source, show->limit.prefix);
}

/* The other count decides between equals. */
static bool worse(const struct show *show, const struct weir_source_state *a,
		  const struct weir_source_state *b)
{
	if (show->by_count ? a->count != b->count : a->dropped == b->dropped)
		return a->count > b->count;
	return a->dropped > b->dropped;
}

/* Sources come in the order of a keyed hash, so few insertions move others. */
static void rank_add(struct show *show, const struct weir_source_state *state)
{
	u32 at = show->ranked;

	while (at && worse(show, state, &show->rank[at - 1].state))
		at--;
	if (at == show->top)
		return;
	if (show->ranked < show->top)
		show->ranked++;
	memmove(&show->rank[at + 1], &show->rank[at],
		(show->ranked - 1 - at) * sizeof(show->rank[0]));
	show->rank[at] = (struct ranked) { .state = *state, .limit = show->id[show->at] };
}

/* Find the worst, which walks all tables to their end. */
static int show_rank(struct show *show, struct weir_net *wn, struct netlink_callback *cb)
{
	int err;

	show->rank = kvmalloc_array(show->top, sizeof(*show->rank),
				    GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!show->rank) {
		NL_SET_ERR_MSG_ATTR(cb->extack, weir_dump_attrs(cb)[WEIR_A_SOURCE_TOP],
				    "not enough memory for so many sources; use a smaller top");
		return -ENOMEM;
	}
	while ((err = show_step(show, wn)) > 0) {
		if (show_wants(show, &show->state[show->next]))
			rank_add(show, &show->state[show->next]);
		show->next++;
	}
	show->next = 0;
	return err;
}

static struct show *show_start(struct netlink_callback *cb, struct weir_net *wn)
{
	struct show *show = kvzalloc(sizeof(*show), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	int err;

	if (!show) {
		NL_SET_ERR_MSG(cb->extack, "no memory to list the sources; try again");
		return ERR_PTR(-ENOMEM);
	}
	err = show_parse(show, wn, cb);
	if (!err && show->top)
		err = show_rank(show, wn, cb);
	show_close(show);
	if (!err)
		return show;
	show_free(show);
	return ERR_PTR(err);
}

static int put_source(struct sk_buff *skb, struct netlink_callback *cb,
		      const struct weir_limit *limit, const struct weir_source_state *state)
{
	void *header = weir_nl_dump_put(skb, cb, WEIR_CMD_SOURCE_SHOW);

	if (!header || weir_nl_put_source(skb, sock_net(cb->skb->sk), limit, state)) {
		genlmsg_cancel(skb, header);
		return skb->len ?: -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* Sources of removed limits are left out: the dump is interrupted anyway. */
static int put_ranked(struct sk_buff *skb, struct netlink_callback *cb,
		      struct show *show, const struct weir_net *wn)
{
	const struct weir_limit *limit;
	const struct ranked *entry;
	int err = 0;

	rcu_read_lock();
	for (; !err && show->next < show->ranked; show->next += !err) {
		entry = &show->rank[show->next];
		limit = weir_limit_by_id(weir_config_get(wn), entry->limit);
		if (limit)
			err = put_source(skb, cb, limit, &entry->state);
	}
	rcu_read_unlock();
	return err;
}

static int put_walked(struct sk_buff *skb, struct netlink_callback *cb,
		      struct show *show, struct weir_net *wn)
{
	const struct weir_source_state *state;
	int err, step;

	while ((step = show_step(show, wn)) > 0) {
		state = &show->state[show->next];
		err = show_wants(show, state) ? put_source(skb, cb, &show->limit, state) : 0;
		if (err)
			return err;
		show->next++;
	}
	return step;
}

int weir_nl_source_show_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_nl_net(cb->skb);
	struct show *show = (struct show *)cb->args[0];
	int err;

	weir_nl_dump_check(cb, wn);
	if (!show) {
		show = show_start(cb, wn);
		if (IS_ERR(show))
			return PTR_ERR(show);
		cb->args[0] = (long)show;
	}
	err = show->top ? put_ranked(skb, cb, show, wn) : put_walked(skb, cb, show, wn);
	show_close(show);
	weir_nl_dump_check(cb, wn);
	return err;
}

/* End a dump of sources, complete or not. */
int weir_nl_source_show_done(struct netlink_callback *cb)
{
	show_free((struct show *)cb->args[0]);
	return 0;
}
