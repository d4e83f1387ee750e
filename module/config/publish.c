// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration of a namespace: an ordered array of limits and an index of
 * exemptions, published through one RCU pointer and constant from then on. Every
 * change edits a copy of both, allocates all that it needs, and only then
 * publishes; until then it can be abandoned without a trace. The old and the new
 * array share the limits that do not change.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "clock.h"
#include "config/edit.h"
#include "config/make.h"
#include "config/publish.h"
#include "error.h"
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "path/events.h"
#include "path/hook.h"
#include "path/refusal.h"

/* Half of the time in which slots of one tick alias. */
#define AGE_TICKS BIT(29)

/* The index of exemptions, without those of removed limits or that have ended. */
static int config_exempts(struct weir_edit *edit, struct weir_config *config,
			  struct weir_error *error)
{
	struct weir_exempts *exempts;
	unsigned int i, j, n = 0, twice;

	for (i = 0; i < edit->exempts; i++) {
		for (j = 0; edit->exempt[i].limit && j < edit->count; j++)
			if (edit->limit[j]->id == edit->exempt[i].limit)
				break;
		if ((!edit->exempt[i].limit || j < edit->count) &&
		    (!edit->exempt[i].end || edit->exempt[i].end > weir_clock()))
			edit->exempt[n++] = edit->exempt[i];
	}
	if (!n)
		return 0;
	exempts = weir_exempts_alloc(edit->exempt, n, &twice);
	if (!IS_ERR(exempts)) {
		config->exempts = exempts;
	} else if (PTR_ERR(exempts) == -EEXIST) {
		error->exempt = twice;
		weir_refuse(error, -EEXIST, WEIR_A_EXEMPT_ADDRESS,
			    "the exemption is given twice; leave one of them out");
	}
	return PTR_ERR_OR_ZERO(exempts);
}

static void config_drop(struct weir_config *config)
{
	weir_exempts_free(config->exempts);
	kfree(config);
}

static struct weir_config *config_make(struct weir_edit *edit, struct weir_error *error)
{
	struct weir_config *config;
	unsigned int i;
	int err;

	config = kzalloc(struct_size(config, limit, edit->count), GFP_KERNEL_ACCOUNT);
	if (!config)
		return ERR_PTR(-ENOMEM);
	config->count = edit->count;
	config->generation = (u16)((edit->old ? edit->old->generation : 0) + 1) ?: 1;
	for (i = 0; i < edit->count; i++) {
		config->limit[i] = edit->limit[i];
		config->conds |= edit->limit[i]->match.conds;
	}
	err = config_exempts(edit, config, error);
	if (err) {
		config_drop(config);
		return ERR_PTR(err);
	}
	weir_refusals_init(config);
	return config;
}

static void limit_age(const struct weir_limit *limit)
{
	weir_table_age(limit->table, weir_clock());
	if (limit->newcomers.table)
		weir_table_age(limit->newcomers.table, weir_clock());
}

/* See weir_table_age(). The mutex is only tried: its holder may wait for this work. */
static void tables_age(struct work_struct *work)
{
	struct weir_net *wn = container_of(to_delayed_work(work), struct weir_net, age);
	const struct weir_config *config;
	unsigned int i, again = HZ;

	if (mutex_trylock(&wn->lock)) {
		config = weir_config_get(wn);
		for (i = 0; i < config->count; i++)
			limit_age(config->limit[i]);
		mutex_unlock(&wn->lock);
		again = AGE_TICKS;
	}
	queue_delayed_work(system_unbound_wq, &wn->age, again);
}

/* Have the first exemption that ends removed then, if one does. */
static void exempts_watch(struct weir_net *wn, const struct weir_config *config)
{
	u64 end = weir_exempts_end(config->exempts), now = weir_clock();

	if (end != U64_MAX)
		mod_delayed_work(system_unbound_wq, &wn->expire,
				 min_t(u64, end > now ? end - now : 0, MAX_JIFFY_OFFSET));
}

/* A change of nothing else leaves out what has ended. */
static void exempts_expire(struct work_struct *work)
{
	struct weir_net *wn = container_of(to_delayed_work(work), struct weir_net, expire);
	struct weir_edit *edit = weir_edit_begin(wn, false, 0);
	struct weir_error error = { };

	if (edit)
		edit->notify = wn->notify;
	if (!edit || weir_edit_end(edit, 0, &error))
		/* There was no memory. */
		queue_delayed_work(system_unbound_wq, &wn->expire, HZ);
}

void weir_config_init(struct weir_net *wn)
{
	mutex_init(&wn->lock);
	wn->generation = 1;
	INIT_DELAYED_WORK(&wn->age, tables_age);
	INIT_DELAYED_WORK(&wn->expire, exempts_expire);
}

/*
 * Wait for packets that use the old configuration. Exemptions may be changed one by
 * one, by the thousand, and so do not wait for long; limits are few.
 */
static void old_wait(const struct weir_edit *edit)
{
	if (edit->count == edit->old->count &&
	    !memcmp(edit->limit, edit->old->limit, edit->count * sizeof(edit->limit[0])))
		synchronize_rcu_expedited();
	else
		synchronize_rcu();
}

static int hooks_start(struct weir_net *wn)
{
	int err = weir_refusals_alloc(wn) ?: weir_events_start(wn) ?: weir_hook_register(wn);

	wn->hooked = !err;
	if (err) {
		/* The first hook may have been registered, and a packet may be in it. */
		synchronize_rcu();
		weir_events_stop(wn);
		weir_refusals_free(wn);
	} else {
		queue_delayed_work(system_unbound_wq, &wn->age, AGE_TICKS);
	}
	return err;
}

/* Does a limit get another table? */
static bool table_moves(const struct weir_limit *limit, const struct weir_limit *was)
{
	return was && was->table != limit->table;
}

/* Likewise, for its newcomers? */
static bool newcomers_move(const struct weir_newcomers *newcomers, const struct weir_limit *was)
{
	return newcomers->table && was && was->newcomers.table &&
	       was->newcomers.table != newcomers->table;
}

/* Have the tables of a limit take over from the old ones, before it is published. */
static void limit_succeed(struct weir_net *wn, const struct weir_limit *limit,
			  const struct weir_limit *was)
{
	u64 budget, old_budget;

	if (table_moves(limit, was))
		weir_table_succeed(limit->table, was->table, limit->room, was->room,
				   &wn->key, weir_clock);
	if (!newcomers_move(&limit->newcomers, was))
		return;
	budget = limit->newcomers.budget;
	old_budget = was->newcomers.budget;
	weir_table_succeed(limit->newcomers.table, was->newcomers.table, &budget, &old_budget,
			   &wn->key, weir_clock);
}

/* Bring over what is left, when it is published. */
static void limit_drain(struct weir_limit *limit, const struct weir_limit *was)
{
	if (newcomers_move(&limit->newcomers, was))
		weir_table_drain(limit->newcomers.table);
	if (!table_moves(limit, was))
		return;
	weir_limit_count_evictions(limit, weir_table_drain(limit->table));
	weir_limit_count_blocks(limit, 0, weir_table_unblocked(limit->table));
	weir_pressure_reset(limit);
}

static void config_publish(const struct weir_edit *edit, struct weir_config *config)
{
	struct weir_net *wn = edit->wn;
	unsigned int i;

	for (i = 0; i < edit->count; i++) {
		limit_succeed(wn, edit->limit[i], edit->was[i]);
		weir_table_anchor(edit->limit[i]->table, &edit->limit[i]->zone);
	}
	rcu_assign_pointer(wn->config, config);
	/* Dumps read it without the lock, to compare it. */
	if (!edit->again)
		WRITE_ONCE(wn->generation, wn->generation + 1 ?: 1);
	for (i = 0; i < edit->count; i++)
		limit_drain(edit->limit[i], edit->was[i]);
}

static void old_release(const struct weir_edit *edit)
{
	struct weir_limit *limit, *heir;
	struct weir_net *wn = edit->wn;
	unsigned int i, j;

	weir_refusals_settle(wn);
	for (i = 0; i < edit->old->count; i++) {
		limit = edit->old->limit[i];
		heir = NULL;
		for (j = 0; j < edit->count && !heir; j++)
			if (edit->was[j] == limit)
				heir = edit->limit[j];
		if (heir != limit)
			weir_limit_free(limit, heir);
	}
	config_drop(edit->old);
}

static int edit_publish(struct weir_edit *edit, struct weir_error *error)
{
	struct weir_config *config;
	struct weir_net *wn = edit->wn;
	int err = 0;

	config = config_make(edit, error);
	if (IS_ERR(config))
		return PTR_ERR(config);
	if (edit->replace && !edit->force)
		err = weir_edit_keeps(edit, error);
	if (!err && config->count && !wn->hooked && !edit->check)
		err = hooks_start(wn);
	if (err || edit->check) {
		config_drop(config);
		return err;
	}
	config_publish(edit, config);
	exempts_watch(wn, config);
	if (edit->notify)
		edit->notify(edit);
	if (!edit->old)
		return 0;
	if (!config->count && wn->hooked)
		weir_hook_unregister(wn);
	old_wait(edit);
	old_release(edit);
	if (!config->count && wn->hooked) {
		cancel_delayed_work_sync(&wn->age);
		/* No packet has been in the hook for a grace period. */
		weir_events_stop(wn);
		weir_refusals_free(wn);
		wn->hooked = false;
	}
	return 0;
}

/* Publish, or with @err or for a check abandon the changes, and free the copy. */
int weir_edit_end(struct weir_edit *edit, int err, struct weir_error *error)
{
	struct weir_error warning = *error;
	struct weir_net *wn = edit->wn;
	unsigned int i;

	if (!err) {
		*error = (struct weir_error) { };
		err = edit_publish(edit, error);
		if (!err)
			*error = warning;
	}
	for (i = 0; (err || edit->check) && i < edit->count; i++)
		if (edit->limit[i] != edit->was[i])
			weir_limit_free(edit->limit[i], edit->was[i]);
	mutex_unlock(&wn->lock);
	kvfree(edit);
	return err;
}

/* Nothing changes by itself any more. Nobody else changes anything. */
void weir_config_stop(struct weir_net *wn)
{
	cancel_delayed_work_sync(&wn->expire);
}

/* Called a grace period after the hooks were unregistered. */
void weir_config_free(struct weir_net *wn)
{
	struct weir_config *config = rcu_dereference_protected(wn->config, true);
	unsigned int i;

	cancel_delayed_work_sync(&wn->age);
	weir_events_stop(wn);
	if (!config)
		return;
	weir_refusals_free(wn);
	for (i = 0; i < config->count; i++)
		weir_limit_free(config->limit[i], NULL);
	config_drop(config);
}
