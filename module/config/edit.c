// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration of a namespace: an ordered array of limits and an index of
 * exemptions, published through one RCU pointer and constant from then on. Every
 * change edits a copy of both, is checked there, allocates all that it needs, and only
 * then publishes; until then it can be abandoned without a trace. The old and the new
 * array share the limits that do not change.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "clock.h"
#include "config/check.h"
#include "config/edit.h"
#include "config/loss.h"
#include "config/make.h"
#include "error.h"
#include "limit/limit.h"
#include "limit/net.h"
#include "limit/stats.h"
#include "path/events.h"
#include "path/hook.h"
#include "path/refusal.h"

/* Half of the time in which slots of one tick alias. */
#define AGE_TICKS BIT(29)
/* Ends are gathered for so long: each change copies all, and waits for packets. */
#define GATHER_TICKS (HZ / 4)

/*
 * Copy the configuration, or with @replace start with an empty one; at most @exempts
 * will be added. Returns NULL without memory.
 */
struct weir_edit *weir_edit_begin(struct weir_net *wn, bool replace, unsigned int exempts)
{
	struct weir_config *old;
	struct weir_edit *edit;
	unsigned int i, n;

	mutex_lock(&wn->lock);
	old = rcu_dereference_protected(wn->config, lockdep_is_held(&wn->lock));
	n = old && !replace ? weir_exempts_count(old->exempts) : 0;
	/* Users of a namespace of their own could fill the log with warnings. */
	edit = kvzalloc(struct_size(edit, exempt, n + exempts), GFP_KERNEL | __GFP_NOWARN);
	if (!edit) {
		mutex_unlock(&wn->lock);
		return NULL;
	}
	edit->wn = wn;
	edit->old = old;
	edit->replace = replace;
	for (i = 0; old && !replace && i < old->count; i++) {
		edit->limit[i] = old->limit[i];
		edit->was[i] = old->limit[i];
	}
	edit->count = i;
	for (i = 0; old && !replace && i < old->lists; i++)
		edit->list[i] = weir_prefixes_get(old->list[i]);
	edit->lists = i;
	for (i = 0; i < n; i++) {
		edit->exempt[i] = *weir_exempts_at(old->exempts, i);
		edit->exempt[i].comment = edit->exempt[i].stats->comment;
	}
	edit->exempts = n;
	edit->blocks = n ? weir_exempts_blocks(old->exempts) : 0;
	return edit;
}

/* The index of a limit, or the count if there is none of that name. */
static unsigned int edit_place(const struct weir_edit *edit, const char *name)
{
	unsigned int i;

	for (i = 0; i < edit->count; i++)
		if (!strcmp(edit->limit[i]->cfg.name, name))
			break;
	return i;
}

static void edit_remove(struct weir_edit *edit, unsigned int place)
{
	unsigned int behind = --edit->count - place;

	memmove(&edit->limit[place], &edit->limit[place + 1], behind * sizeof(edit->limit[0]));
	memmove(&edit->was[place], &edit->was[place + 1], behind * sizeof(edit->was[0]));
}

static void edit_insert(struct weir_edit *edit, unsigned int place,
			struct weir_limit *limit, struct weir_limit *was)
{
	unsigned int behind = edit->count++ - place;

	memmove(&edit->limit[place + 1], &edit->limit[place], behind * sizeof(edit->limit[0]));
	memmove(&edit->was[place + 1], &edit->was[place], behind * sizeof(edit->was[0]));
	edit->limit[place] = limit;
	edit->was[place] = was;
}

struct weir_limit *weir_edit_find(const struct weir_edit *edit, const char *name,
				  struct weir_error *error)
{
	unsigned int place = edit_place(edit, name);

	if (place < edit->count)
		return edit->limit[place];
	weir_refuse(error, -ENOENT, WEIR_A_LIMIT_NAME,
		    "no limit of that name; limit show lists them");
	return NULL;
}

/* May a limit of that name be added? */
static int edit_admit(const struct weir_edit *edit, unsigned int place, struct weir_error *error)
{
	if (place < edit->count)
		return weir_refuse(error, -EEXIST, WEIR_A_LIMIT_NAME, edit->replace ?
				   "the name is given twice; give each limit its own" :
				   "a limit of that name exists; use set to change it");
	if (edit->count == WEIR_LIMITS_MAX)
		return weir_refuse(error, -ENOSPC, 0, "a namespace has at most 256 limits");
	return 0;
}

/* Does a limit get another table? */
static bool table_moves(const struct weir_limit *limit, const struct weir_limit *was)
{
	return was && was->table != limit->table;
}

/*
 * Add a limit, or replace @was, one of the edit, by another of its name. It is placed before
 * the limit @before; with NULL it stays where it is, or a new one is the last.
 */
int weir_edit_limit(struct weir_edit *edit, const struct weir_limit_config *cfg,
		    struct weir_limit *was, const char *before, struct weir_error *error)
{
	unsigned int from = edit_place(edit, cfg->name), place = from;
	struct weir_limit *made;
	const bool set = was;
	bool same;
	int err;

	if (!set && edit->replace)
		was = weir_limit_find(edit->old, cfg->name);
	same = was && cfg->prefix.len4 == was->prefix.len4 &&
	       cfg->prefix.len6 == was->prefix.len6;
	if (set && !same)
		return weir_refuse(error, -EINVAL, cfg->prefix.len4 != was->prefix.len4 ?
				   WEIR_A_LIMIT_PREFIX4 : WEIR_A_LIMIT_PREFIX6,
				   "the prefix of a limit cannot change; add another limit");
	err = set ? 0 : edit_admit(edit, from, error);
	if (err)
		return err;
	if (before)
		place = edit_place(edit, before);
	if (before && place == edit->count)
		return weir_refuse(error, -ENOENT, WEIR_A_LIMIT_BEFORE,
				   "no limit of that name to place it before; limit show lists them");
	was = same ? was : NULL;
	made = weir_limit_make(edit->wn, cfg, was, error);
	if (IS_ERR(made))
		return PTR_ERR(made);
	if (table_moves(made, was))
		err = weir_limit_loss(made, was, edit->wn, error);
	if (err) {
		weir_limit_free(made, was);
		return err;
	}
	if (edit->replace && was && !memcmp(&made->cfg, &was->cfg, sizeof(made->cfg))) {
		weir_limit_drop(made);
		made = was;
	}
	if (from < edit->count) {
		edit_remove(edit, from);
		place -= place > from;
	}
	edit_insert(edit, place, made, was);
	return 0;
}

/* Replace the limit at @place by one of the same name and prefix. */
int weir_edit_limit_remake(struct weir_edit *edit, unsigned int place,
			   const struct weir_limit_config *cfg, struct weir_error *error)
{
	struct weir_limit *was = edit->was[place], *made;

	made = weir_limit_make(edit->wn, cfg, was, error);
	if (IS_ERR(made))
		return PTR_ERR(made);
	if (edit->limit[place] != was)
		weir_limit_free(edit->limit[place], was);
	edit->limit[place] = made;
	return 0;
}

/* Give a limit another name; all else is that of the old one. */
int weir_edit_limit_rename(struct weir_edit *edit, const char *name, const char *new_name,
			   struct weir_error *error)
{
	unsigned int place = edit_place(edit, name);
	const struct weir_limit *was = weir_edit_find(edit, name, error);
	struct weir_limit *made;

	if (!was)
		return -ENOENT;
	if (edit_place(edit, new_name) < edit->count)
		return weir_refuse(error, -EEXIST, WEIR_A_LIMIT_NEW_NAME,
				   "a limit of that name exists; choose another");
	if (weir_name_check(new_name, WEIR_A_LIMIT_NEW_NAME, error))
		return -EINVAL;
	made = weir_limit_make(edit->wn, &was->cfg, was, error);
	if (IS_ERR(made))
		return PTR_ERR(made);
	strscpy_pad(made->cfg.name, new_name, sizeof(made->cfg.name));
	edit->limit[place] = made;
	return 0;
}

int weir_edit_limit_del(struct weir_edit *edit, const char *name, struct weir_error *error)
{
	if (!weir_edit_find(edit, name, error))
		return -ENOENT;
	edit_remove(edit, edit_place(edit, name));
	return 0;
}

/* Look up the limit that an exemption names. */
static int exempt_resolve(const struct weir_edit *edit, struct weir_exempt *exempt,
			  const char *limit, struct weir_error *error)
{
	unsigned int place = edit_place(edit, limit);

	if (*limit && place == edit->count)
		return weir_refuse(error, -ENOENT, WEIR_A_EXEMPT_LIMIT,
				   exempt->limit & WEIR_EXEMPT_BLOCK ?
				   "no limit of that name to block under; limit show lists them" :
				   "no limit of that name to exempt from; limit show lists them");
	exempt->limit = (exempt->limit & WEIR_EXEMPT_BLOCK) |
			(*limit ? edit->limit[place]->id : 0);
	return 0;
}

/* Are sources of a prefix exempt that is to be blocked, or the other way round? */
static bool exempt_wins(const struct weir_edit *edit, const struct weir_exempt *added)
{
	const struct weir_exempt *exempt = edit->exempt;

	for (; exempt < edit->exempt + edit->exempts; exempt++)
		if ((exempt->limit ^ added->limit) & WEIR_EXEMPT_BLOCK &&
		    (weir_prefix_holds(&exempt->prefix, &added->prefix) ||
		     weir_prefix_holds(&added->prefix, &exempt->prefix)))
			return true;
	return false;
}

/* All exemptions, or all blocks. */
void weir_edit_exempt_flush(struct weir_edit *edit, bool blocks)
{
	unsigned int i, n = 0;

	for (i = 0; i < edit->exempts; i++)
		if (!(edit->exempt[i].limit & WEIR_EXEMPT_BLOCK) == blocks)
			edit->exempt[n++] = edit->exempt[i];
	edit->exempts = n;
}

/* The place of the one that is in force; or -1. */
static int exempt_find(const struct weir_edit *edit, const struct weir_exempt *exempt,
		       const char *limit)
{
	struct weir_exempt key = *exempt;
	const struct weir_limit *was;

	if (!edit->old)
		return -1;
	/* A limit of that name may be made anew, with another id. */
	if (edit->replace && *limit) {
		was = weir_limit_find(edit->old, limit);
		if (!was)
			return -1;
		key.limit = (exempt->limit & WEIR_EXEMPT_BLOCK) | was->id;
	}
	return weir_exempts_find(edit->old->exempts, &key);
}

/* weir_edit_end() refuses duplicates within the edit. */
int weir_edit_exempt_add(struct weir_edit *edit, struct weir_exempt *exempt,
			 const char *limit, struct weir_error *error)
{
	bool block = exempt->limit & WEIR_EXEMPT_BLOCK, there;
	int err = exempt_resolve(edit, exempt, limit, error), at = -1;
	const struct weir_exempt *was = NULL;

	if (!err)
		at = exempt_find(edit, exempt, limit);
	if (at >= 0)
		was = weir_exempts_at(edit->old->exempts, at);
	there = at >= 0 && !edit->replace;
	if (there && !edit->renew)
		err = weir_refuse(error, -EEXIST, WEIR_A_EXEMPT_ADDRESS, block ?
				  "blocked already; -exist prolongs it, weir block del ends it" :
				  "already exempt; weir -exist exempt add prolongs it");
	if (!err && !there &&
	    (block ? edit->blocks : edit->exempts - edit->blocks) == WEIR_EXEMPTS_MAX)
		err = weir_refuse(error, -ENOSPC, 0, block ?
				  "a namespace has at most 65536 blocked prefixes" :
				  "a namespace has at most 65536 exemptions");
	if (was)
		exempt->stats = was->stats;
	/* The end of one that is given again stays if it is nearer: a file prolongs nothing. */
	if (was && edit->replace && !edit->renew && was->end > weir_clock())
		exempt->end = min(exempt->end, was->end);
	if (err)
		return err;
	/* Of a whole configuration there may be many. */
	if (!edit->whole && exempt_wins(edit, exempt))
		weir_refuse(error, 0, WEIR_A_EXEMPT_ADDRESS, block ?
			    "sources of the prefix are exempt, which comes before blocks" :
			    "sources of the prefix are blocked, which an exemption comes before");
	/* The old ones are the first of the edit, in their order. For ever is the latest end. */
	if (there && !*exempt->comment)
		exempt->comment = edit->exempt[at].comment;
	if (there && !edit->shorten && edit->exempt[at].end - 1 > exempt->end - 1) {
		exempt->end = edit->exempt[at].end;
		if (!edit->whole)
			weir_refuse(error, 0, WEIR_A_EXEMPT_FOR_MS,
				    "it has a later end, which stays; -force sets this one");
	}
	edit->blocks += block && !there;
	edit->exempt[there ? at : edit->exempts++] = *exempt;
	return 0;
}

/* It stays in the edit, without family, until config_exempts() leaves it out. */
int weir_edit_exempt_del(struct weir_edit *edit, struct weir_exempt *exempt,
			 const char *limit, struct weir_error *error)
{
	int err = exempt_resolve(edit, exempt, limit, error), at = -1;

	if (!err && edit->old)
		at = weir_exempts_find(edit->old->exempts, exempt);
	if (!err && (at < 0 || !edit->exempt[at].prefix.family))
		err = weir_refuse(error, -ENOENT, WEIR_A_EXEMPT_ADDRESS,
				  exempt->limit & WEIR_EXEMPT_BLOCK ?
				  "the prefix is not blocked; block show lists those that are" :
				  "no such exemption; exempt show lists them");
	if (!err)
		edit->exempt[at].prefix.family = 0;
	return err;
}

/* The index of exemptions, without those that are removed, are of removed limits or have ended. */
static int config_exempts(struct weir_edit *edit, struct weir_config *config,
			  struct weir_error *error)
{
	struct weir_exempts *exempts;
	unsigned int i, j, n = 0, twice;
	u32 id;

	for (i = 0; i < edit->exempts; i++) {
		id = edit->exempt[i].limit & ~WEIR_EXEMPT_BLOCK;
		for (j = 0; id && j < edit->count; j++)
			if (edit->limit[j]->id == id)
				break;
		if ((id && j == edit->count) || !edit->exempt[i].prefix.family ||
		    (edit->exempt[i].end && edit->exempt[i].end <= weir_clock()))
			continue;
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
			    "the exemption, or the block, is given twice; leave one of them out");
	}
	return PTR_ERR_OR_ZERO(exempts);
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
	weir_exempts_free(config->exempts);
	kfree(config);
}

/* Count the parts that change, for dumps. */
static void config_count(const struct weir_config *old, struct weir_config *config)
{
	u32 *changes = config->changes;

	memcpy(changes, old->changes, sizeof(config->changes));
	changes[WEIR_LIMITS] += old->count != config->count ||
				memcmp(old->limit, config->limit,
				       config->count * sizeof(config->limit[0]));
	changes[WEIR_EXEMPTS] += !weir_exempts_same(old->exempts, config->exempts);
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
	config->generation = (u16)((edit->old ? edit->old->generation : 0) + 1) ?: 1;
	for (i = 0; i < edit->count; i++) {
		config->limit[i] = edit->limit[i];
		config->conds |= edit->limit[i]->cfg.match.conds;
	}
	err = config_lists(edit, config) ?: config_exempts(edit, config, error);
	if (err) {
		config_drop(config);
		return ERR_PTR(err);
	}
	config->odd = weir_exempts_blocks(config->exempts) || !config->count;
	if (edit->old)
		config_count(edit->old, config);
	weir_refusals_init(config);
	return config;
}

static void limit_age(const struct weir_limit *limit)
{
	weir_table_age(limit->table, weir_clock());
	weir_newcomers_set(&limit->newcomers);
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

/* Have done what is due first: exemptions end, gathered; a limit joins or is alone. */
static void config_watch(struct weir_net *wn, const struct weir_config *config)
{
	u64 end = weir_exempts_end(config->exempts), now = weir_clock();
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
	if (!edit || weir_edit_end(edit, err, &error))
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

/* Have the counts of a limit take over from the old ones, before it is published. */
static void limit_succeed(struct weir_net *wn, const struct weir_limit *limit,
			  const struct weir_limit *was)
{
	u64 budget[WEIR_BUDGETS_MAX];

	if (table_moves(limit, was)) {
		memcpy(budget, limit->room, sizeof(budget));
		if (weir_limit_recounts(limit, was))
			budget[0] = 0;
		weir_table_succeed(limit->table, was->table, budget, was->room, &wn->key);
	}
	if (was && was->cfg.newcomers.window_ms != limit->cfg.newcomers.window_ms)
		weir_newcomers_set(&limit->newcomers);
}

/* Bring over what is left, when it is published. */
static void limit_drain(struct weir_limit *limit, const struct weir_limit *was)
{
	if (!table_moves(limit, was))
		return;
	weir_limit_count_evictions(limit, weir_table_drain(limit->table));
	weir_limit_count_blocks(limit, 0, weir_table_unblocked(limit->table));
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
		limit_succeed(wn, edit->limit[i], edit->was[i]);
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

void weir_held_drop(struct weir_net *wn)
{
	lockdep_assert_held(&wn->lock);
	config_free(wn->held);
	wn->held = NULL;
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

static int edit_publish(struct weir_edit *edit, struct weir_error *error)
{
	struct weir_config *config = edit->made ?: config_make(edit, error);
	struct weir_net *wn = edit->wn;
	int err = 0;

	if (IS_ERR(config))
		return PTR_ERR(config);
	if (config->count && !wn->hooked && !edit->check && !edit->hold)
		err = hooks_start(wn);
	if (err || edit->check) {
		/* What is held may be published again. */
		if (!edit->made)
			config_drop(config);
		return err;
	}
	/* It was made to follow the configuration that is replaced. */
	if (!edit->made)
		weir_held_drop(wn);
	wn->held = NULL;
	if (edit->hold) {
		wn->held = config;
		return 0;
	}
	memcg_keep(wn);
	config_publish(edit, config);
	config_watch(wn, config);
	weir_events_config(edit);
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
	for (i = 0; (err || edit->check) && !edit->made && i < edit->count; i++)
		if (edit->limit[i] != edit->was[i])
			weir_limit_free(edit->limit[i], edit->was[i]);
	while (edit->lists)
		weir_prefixes_put(edit->list[--edit->lists]);
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
