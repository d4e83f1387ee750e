// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make what was edited (edit.c), publish it, and let the old one go a grace period later; and the
 * work that a published configuration needs with time.
 */
#include <linux/err.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "clock.h"
#include "config/edit.h"
#include "config/loss.h"
#include "config/make.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "path/events.h"
#include "path/hook.h"
#include "path/refusal.h"

/* Half of the time in which slots of one tick alias. */
#define AGE_TICKS BIT(29)
/* Ends are gathered for so long: each change copies all, and waits for packets. */
#define GATHER_TICKS (HZ / 4)

/* The index of exemptions, without those that are removed, are of removed limits or have ended. */
static int config_exempts(struct weir_edit *edit, struct weir_config *config,
			  struct weir_error *error)
{
	struct weir_exceptions *exceptions;
	/* Those of the old configuration are the first. */
	unsigned int copied = edit->old && !edit->replace ?
			      weir_exceptions_count(edit->old->exceptions) : 0;
	unsigned int i, j, n = 0, kept = 0, twice;
	u32 id;

	for (i = 0; i < edit->exceptions; i++) {
		id = edit->exception[i].limit;
		for (j = 0; id && j < edit->count; j++)
			if (edit->limit[j]->id == id)
				break;
		if ((id && j == edit->count) || !edit->exception[i].prefix.family ||
		    (edit->exception[i].end && edit->exception[i].end <= weir_clock()))
			continue;
		edit->exception[n++] = edit->exception[i];
		kept += i < copied;
	}
	if (!n)
		return 0;
	exceptions = weir_exceptions_alloc(edit->exception, n, &twice);
	if (!IS_ERR(exceptions)) {
		config->exceptions = exceptions;
	} else if (PTR_ERR(exceptions) == -EEXIST) {
		error->exempt = twice - kept;
		weir_refuse(error, -EEXIST, WEIR_A_EXEMPT_ADDRESS,
			    "the exemption, or the block, is given twice; leave one of them out");
	}
	return PTR_ERR_OR_ZERO(exceptions);
}

static int config_lists(const struct weir_edit *edit, struct weir_config *config)
{
	if (!edit->lists)
		return 0;
	config->list = kmemdup(edit->list, edit->lists * sizeof(edit->list[0]), WEIR_GFP);
	if (!config->list)
		return -ENOMEM;
	while (config->lists < edit->lists)
		weir_prefixes_get(config->list[config->lists++]);
	return 0;
}

static void config_drop(struct weir_config *config)
{
	while (config->lists)
		weir_prefixes_put(config->list[--config->lists]);
	kfree(config->list);
	weir_exceptions_free(config->exceptions);
	kfree(config);
}

/* Number a configuration that replaces another one, and count the parts that change, for dumps. */
static void config_follow(const struct weir_config *old, struct weir_config *config)
{
	u32 *changes = config->changes;

	config->generation = (u16)((old ? old->generation : 0) + 1) ?: 1;
	if (!old)
		return;
	memcpy(changes, old->changes, sizeof(config->changes));
	changes[WEIR_LIMITS] += old->count != config->count ||
				memcmp(old->limit, config->limit,
				       config->count * sizeof(config->limit[0]));
	changes[WEIR_EXCEPTIONS] += !weir_exceptions_same(old->exceptions, config->exceptions);
	changes[WEIR_LISTS] += old->lists != config->lists ||
			       (config->lists && memcmp(old->list, config->list,
							config->lists * sizeof(config->list[0])));
}

static struct weir_config *config_make(struct weir_edit *edit, struct weir_error *error)
{
	struct weir_config *config;
	unsigned int i;
	int err;

	config = kzalloc(struct_size(config, limit, edit->count), WEIR_GFP);
	if (!config)
		return ERR_PTR(-ENOMEM);
	config->count = edit->count;
	for (i = 0; i < edit->count; i++) {
		config->limit[i] = edit->limit[i];
		config->conds |= edit->limit[i]->cfg.match.conds;
	}
	err = config_lists(edit, config) ?: config_exempts(edit, config, error);
	if (err) {
		config_drop(config);
		return ERR_PTR(err);
	}
	weir_refusals_init(config);
	return config;
}

/* See weir_table_age(). The mutex is only tried: its holder may wait for this work. */
static void tables_age(struct work_struct *work)
{
	struct weir_net *wn = container_of(to_delayed_work(work), struct weir_net, age);
	const struct weir_config *config;
	unsigned int i, again = HZ;

	if (mutex_trylock(&wn->lock)) {
		config = weir_config_get(wn);
		for (i = 0; i < config->count; i++) {
			weir_table_age(config->limit[i]->table, weir_clock());
			weir_newcomers_set(&config->limit[i]->newcomers);
		}
		mutex_unlock(&wn->lock);
		again = AGE_TICKS;
	}
	queue_delayed_work(system_unbound_wq, &wn->age, again);
}

/* Have done what is due first: exemptions end, gathered; a limit joins or is alone. */
static void config_watch(struct weir_net *wn, const struct weir_config *config)
{
	u64 end = weir_exceptions_end(config->exceptions), now = weir_clock();
	unsigned int i;

	if (end != U64_MAX)
		end += GATHER_TICKS;
	for (i = 0; i < config->count; i++)
		end = min(end, weir_limit_turns(config->limit[i], now));
	if (end != U64_MAX)
		mod_delayed_work(system_unbound_wq, &wn->expire,
				 min_t(u64, end > now ? end - now : 0, MAX_JIFFY_OFFSET));
}

/* A change of nothing else leaves out what has ended. */
static void config_expire(struct work_struct *work)
{
	struct weir_net *wn = container_of(to_delayed_work(work), struct weir_net, expire);
	struct weir_edit *edit = weir_edit_begin(wn, false, 0);
	struct weir_error error = { };
	struct mem_cgroup *old = NULL;
	u64 now = weir_clock();
	unsigned int i;
	int err = 0;

	if (edit)
		old = set_active_memcg(wn->memcg);
	for (i = 0; edit && !err && i < edit->count; i++)
		if (weir_limit_turns(edit->limit[i], now) <= now)
			err = weir_edit_limit_remake(edit, i, &edit->limit[i]->cfg, &error);
	if (!edit || weir_edit_end(edit, err, WEIR_EDIT_PUBLISH, &error))
		/* There was no memory. */
		queue_delayed_work(system_unbound_wq, &wn->expire, HZ);
	if (edit)
		set_active_memcg(old);
}

/*
 * Have a limit joined for so long, or with 0 alone. It is so on return, if there is memory.
 * -ENOENT: it is not there, -EINVAL: it is not shared.
 */
int weir_limit_join(struct weir_net *wn, const char *name, u64 ticks)
{
	struct weir_limit *limit;
	bool turns = false;
	int err;
	u64 now;

	mutex_lock(&wn->lock);
	now = weir_clock();
	limit = weir_limit_find(weir_config_get(wn), name);
	err = !limit ? -ENOENT : limit->cfg.shared ? 0 : -EINVAL;
	if (!err) {
		limit->joined_until = ticks ? now + ticks : 0;
		turns = weir_limit_turns(limit, now) <= now;
		config_watch(wn, weir_config_get(wn));
	}
	mutex_unlock(&wn->lock);
	if (turns)
		flush_delayed_work(&wn->expire);
	return err;
}

void weir_config_init(struct weir_net *wn)
{
	mutex_init(&wn->lock);
	INIT_DELAYED_WORK(&wn->age, tables_age);
	INIT_DELAYED_WORK(&wn->expire, config_expire);
}

/*
 * Wait for packets that use the old configuration. Exemptions may be changed one by
 * one, by the thousand, and so do not wait for long; limits are few.
 */
static void old_wait(const struct weir_config *old, const struct weir_config *config)
{
	if (config->changes[WEIR_LIMITS] == old->changes[WEIR_LIMITS])
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

/* Have the counts of a limit take over from the old ones, before it is published. */
static void limit_succeed(const struct weir_limit *limit, const struct weir_limit *was)
{
	u64 budget[WEIR_BUDGETS_MAX];

	if (table_moves(limit, was)) {
		memcpy(budget, limit->room, sizeof(budget));
		if (weir_limit_recounts(limit, was))
			budget[0] = 0;
		weir_table_succeed(limit->table, was->table, budget, was->room, &limit->key);
	}
	if (was && was->cfg.newcomers.window_ms != limit->cfg.newcomers.window_ms)
		weir_newcomers_set(&limit->newcomers);
}

/* Bring over what is left, when it is published. */
static void limit_drain(struct weir_limit *limit, const struct weir_limit *was)
{
	if (!table_moves(limit, was))
		return;
	weir_limit_count(limit, WEIR_COUNTER_OF(evictions), weir_table_drain(limit->table));
	weir_limit_count(limit, WEIR_COUNTER_OF(blocks_lost), weir_table_unblocked(limit->table));
	weir_pressure_reset(limit);
}

/* Keep the cgroup that pays for a change: a change by the worker is charged to it, too. */
static void memcg_keep(struct weir_net *wn)
{
	struct mem_cgroup *old = wn->memcg;

	wn->memcg = get_mem_cgroup_from_mm(current->mm);
	mem_cgroup_put(old);
}

static void config_publish(const struct weir_edit *edit, struct weir_config *config)
{
	struct weir_net *wn = edit->wn;
	unsigned int i;

	for (i = 0; i < edit->count; i++) {
		limit_succeed(edit->limit[i], edit->was[i]);
		weir_table_anchor(edit->limit[i]->table, &edit->limit[i]->cfg.zone);
	}
	rcu_assign_pointer(wn->config, config);
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
		if (heir && heir != limit)
			weir_limit_replaced(limit, heir);
		if (heir != limit)
			weir_limit_free(limit, heir);
	}
	config_drop(edit->old);
}

/* Free a configuration that no packet has, and its limits. */
static void config_free(struct weir_config *config)
{
	unsigned int i;

	if (!config)
		return;
	for (i = 0; i < config->count; i++)
		weir_limit_free(config->limit[i], NULL);
	config_drop(config);
}

static void held_set(struct weir_net *wn, struct weir_config *config, u32 holder)
{
	wn->held = config;
	/* Pairs with weir_held_release(). */
	WRITE_ONCE(wn->holder, holder);
}

/* Free what is held. Under the mutex; may sleep. */
void weir_held_drop(struct weir_net *wn)
{
	config_free(wn->held);
	held_set(wn, NULL, 0);
}

/* Likewise if a socket that was closed had asked for it. */
void weir_held_release(struct weir_net *wn, u32 portid)
{
	/* Pairs with held_set(): only a request of that socket makes it the holder. */
	if (READ_ONCE(wn->holder) != portid)
		return;
	mutex_lock(&wn->lock);
	weir_held_drop(wn);
	mutex_unlock(&wn->lock);
}

/* Have an edit that began empty publish what is held. Returns -ENOENT if nothing is. */
int weir_edit_held(struct weir_edit *edit)
{
	struct weir_net *wn = edit->wn;

	lockdep_assert_held(&wn->lock);
	if (!wn->held)
		return -ENOENT;
	edit->made = wn->held;
	edit->count = edit->made->count;
	memcpy(edit->limit, edit->made->limit, edit->count * sizeof(edit->limit[0]));
	return 0;
}

static int edit_publish(struct weir_edit *edit, enum weir_edit_end how, struct weir_error *error)
{
	struct weir_config *config = edit->made ?: config_make(edit, error);
	struct weir_net *wn = edit->wn;
	int err = 0;

	if (IS_ERR(config))
		return PTR_ERR(config);
	if (config->count && !wn->hooked && how == WEIR_EDIT_PUBLISH)
		err = hooks_start(wn);
	if (err || how == WEIR_EDIT_CHECK) {
		/* What is held may be published again. */
		if (!edit->made)
			config_drop(config);
		return err;
	}
	if (how == WEIR_EDIT_HOLD) {
		config_free(wn->held);
		held_set(wn, config, edit->holder);
		wn->privileged = edit->privileged;
		return 0;
	}
	if (edit->made)
		held_set(wn, NULL, 0);
	if (config->count)
		wn->key = config->limit[0]->key;
	memcg_keep(wn);
	config_follow(edit->old, config);
	config_publish(edit, config);
	config_watch(wn, config);
	blocking_notifier_call_chain(&weir_told, WEIR_CMD_CONFIG_REPLACE, edit);
	if (!edit->old)
		return 0;
	if (!config->count && wn->hooked)
		weir_hook_unregister(wn);
	old_wait(edit->old, config);
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

/* With @err abandon the changes; free the copy. */
int weir_edit_end(struct weir_edit *edit, int err, enum weir_edit_end how, struct weir_error *error)
{
	struct weir_error warning = *error;
	struct weir_net *wn = edit->wn;
	unsigned int i;

	if (!err) {
		*error = (struct weir_error) { };
		err = edit_publish(edit, how, error);
		if (!err)
			*error = warning;
	}
	for (i = 0; (err || how == WEIR_EDIT_CHECK) && !edit->made && i < edit->count; i++)
		if (edit->limit[i] != edit->was[i])
			weir_limit_free(edit->limit[i], edit->was[i]);
	while (edit->lists)
		weir_prefixes_put(edit->list[--edit->lists]);
	wn->spare = 0;
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

	cancel_delayed_work_sync(&wn->age);
	weir_events_stop(wn);
	mem_cgroup_put(wn->memcg);
	config_free(wn->held);
	if (!config)
		return;
	weir_refusals_free(wn);
	config_free(config);
}
