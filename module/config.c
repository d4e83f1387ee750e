// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration of a namespace: an array of limits in their order and an
 * index of exemptions, published by one RCU pointer and never changed. Every
 * change drafts the whole of what shall be, allocates all that it needs, and
 * only then publishes; up to that point it can be given up without a trace.
 *
 * Limits that stay as they are stand in the old array and the new one. All
 * functions here run under the namespace's mutex.
 */
#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "hook.h"
#include "limit_priv.h"
#include "weir.h"

/**
 * struct draft - a configuration to be
 * @config: with its limits, some of them the old ones
 * @was: for each limit, the one of the old configuration that it is or
 *	replaces, or NULL
 */
struct draft {
	struct weir_config *config;
	struct weir_limit **was;
};

static struct weir_config *config_now(const struct weir_net *wn)
{
	return rcu_dereference_protected(wn->config,
					 lockdep_is_held(&wn->lock));
}

/**
 * weir_config_get - the configuration of a namespace
 * @wn: namespace, locked, or in an RCU read-side section
 *
 * Return: the configuration, or NULL where there never was one.
 */
struct weir_config *weir_config_get(const struct weir_net *wn)
{
	return rcu_dereference_check(wn->config, lockdep_is_held(&wn->lock));
}

/**
 * weir_limit_find - a limit by its name
 * @config: configuration or NULL
 * @name: looked for
 */
struct weir_limit *weir_limit_find(const struct weir_config *config,
				   const char *name)
{
	unsigned int i;

	for (i = 0; config && i < config->count; i++)
		if (config->limit[i] && !strcmp(config->limit[i]->name, name))
			return config->limit[i];
	return NULL;
}

static unsigned int limit_index(const struct weir_config *config,
				const struct weir_limit *limit)
{
	unsigned int i;

	for (i = 0; i < config->count; i++)
		if (config->limit[i] == limit)
			break;
	return i;
}

static int draft_init(struct draft *draft, unsigned int count)
{
	draft->config = kzalloc(struct_size(draft->config, limit, count),
				GFP_KERNEL_ACCOUNT);
	draft->was = kcalloc(count ?: 1, sizeof(*draft->was), GFP_KERNEL);
	if (!draft->config || !draft->was) {
		kfree(draft->config);
		kfree(draft->was);
		return -ENOMEM;
	}
	draft->config->count = count;
	return 0;
}

/* Place i of a draft stays as place j of the old configuration is. */
static void draft_keep(struct draft *draft, unsigned int i,
		       const struct weir_config *old, unsigned int j)
{
	draft->config->limit[i] = old->limit[j];
	draft->was[i] = old->limit[j];
}

/* Give up a draft: nothing has been changed. */
static void draft_drop(struct weir_net *wn, struct draft *draft)
{
	struct weir_limit *limit, *was;
	unsigned int i;

	for (i = 0; i < draft->config->count; i++) {
		limit = draft->config->limit[i];
		was = draft->was[i];
		if (!limit || limit == was)
			continue;
		if (!was || limit->table != was->table)
			wn->bytes -= weir_table_bytes(limit->table);
		weir_limit_shell_free(limit, was);
	}
	weir_exempts_free(draft->config->exempts);
	kfree(draft->config);
	kfree(draft->was);
}

/* An index of exemptions, by the ids of the limits. */
static int draft_exempts(struct draft *draft, const struct weir_exempt *exempt,
			 unsigned int count)
{
	struct weir_exempts *exempts = NULL;

	if (count) {
		exempts = weir_exempts_alloc(exempt, count);
		if (IS_ERR(exempts))
			return PTR_ERR(exempts);
	}
	draft->config->exempts = exempts;
	return 0;
}

/*
 * The old exemptions but one that goes and those of limits that go, and one
 * that comes; each of the two may be NULL.
 */
static int draft_edit_exempts(struct draft *draft,
			      const struct weir_config *old,
			      const struct weir_exempt *gone,
			      const struct weir_exempt *come)
{
	const struct weir_exempts *had = old ? old->exempts : NULL;
	unsigned int i, j, count = weir_exempts_count(had), n = 0;
	const struct weir_exempt *exempt;
	struct weir_exempt *list;
	int err;

	list = kvmalloc_array(count + 1, sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		exempt = weir_exempts_at(had, i);
		if (exempt == gone)
			continue;
		for (j = 0; exempt->limit && j < draft->config->count; j++)
			if (draft->config->limit[j]->id == exempt->limit)
				break;
		if (!exempt->limit || j < draft->config->count)
			list[n++] = *exempt;
	}
	if (come)
		list[n++] = *come;
	err = draft_exempts(draft, list, n);
	kvfree(list);
	return err;
}

/* What the packet path wants to know of all limits at once. */
static void draft_finish(struct draft *draft)
{
	struct weir_config *config = draft->config;
	unsigned int i;

	config->conds = 0;
	for (i = 0; i < config->count; i++)
		config->conds |= config->limit[i]->match.conds;
}

static bool draft_moves(const struct draft *draft, unsigned int i)
{
	return draft->was[i] &&
	       draft->was[i]->table != draft->config->limit[i]->table;
}

static void tell_changes(struct weir_net *wn, const struct draft *draft,
			 const struct weir_config *old)
{
	unsigned int i, j;

	for (i = 0; i < draft->config->count; i++)
		if (draft->config->limit[i] != draft->was[i])
			weir_event_limit(wn, draft->was[i] ?
					 WEIR_EVENT_LIMIT_CHANGED :
					 WEIR_EVENT_LIMIT_ADDED,
					 draft->config->limit[i]);
	for (i = 0; old && i < old->count; i++) {
		for (j = 0; j < draft->config->count; j++)
			if (draft->was[j] == old->limit[i])
				break;
		if (j == draft->config->count)
			weir_event_limit(wn, WEIR_EVENT_LIMIT_REMOVED,
					 old->limit[i]);
	}
}

/* Free what a published draft has left behind, after a grace period. */
static void old_free(struct weir_net *wn, const struct draft *draft,
		     struct weir_config *old)
{
	struct weir_limit *limit, *heir;
	unsigned int i, j;

	for (i = 0; i < old->count; i++) {
		limit = old->limit[i];
		for (heir = NULL, j = 0; j < draft->config->count; j++)
			if (draft->was[j] == limit)
				heir = draft->config->limit[j];
		if (heir == limit)
			continue;
		if (heir && heir->table != limit->table)
			weir_table_settle(limit->table, heir->table);
		if (!heir || heir->table != limit->table)
			wn->bytes -= weir_table_bytes(limit->table);
		weir_limit_shell_free(limit, heir);
	}
	weir_exempts_free(old->exempts);
	kfree(old);
}

/* Fill the table of a changed limit from the one that it had. */
static void limit_move(struct weir_net *wn, const struct weir_limit *was,
		       const struct weir_limit *limit)
{
	u64 evictions = weir_table_move(was->table, limit->table, was->budget,
					limit->budget, &wn->key,
					weir_hook_clock);

	weir_limit_count_evictions(limit, evictions);
}

/*
 * Publish a draft. From here on nothing fails but the hook's registration,
 * which comes first.
 */
static int draft_publish(struct weir_net *wn, struct draft *draft)
{
	struct weir_config *old = config_now(wn), *config = draft->config;
	unsigned int i;
	int err;

	draft_finish(draft);
	if (config->count && !wn->hooked) {
		err = weir_hook_register(wn);
		if (err) {
			draft_drop(wn, draft);
			return err;
		}
		wn->hooked = true;
	}
	for (i = 0; i < config->count; i++)
		if (draft_moves(draft, i))
			limit_move(wn, draft->was[i], config->limit[i]);
	preempt_disable();
	for (i = 0; i < config->count; i++)
		if (draft_moves(draft, i))
			weir_table_live(config->limit[i]->table);
	rcu_assign_pointer(wn->config, config);
	preempt_enable();

	/* Read by dumps without the lock, only to be compared. */
	WRITE_ONCE(wn->generation, wn->generation + 1 ?: 1);
	if (!config->count && wn->hooked) {
		weir_hook_unregister(wn);
		wn->hooked = false;
	}
	tell_changes(wn, draft, old);
	if (old) {
		synchronize_rcu();
		old_free(wn, draft, old);
	}
	kfree(draft->was);
	return 0;
}

static int find_before(const struct weir_config *config,
		       const struct weir_words *words, unsigned int *place,
		       struct weir_fault *fault)
{
	struct weir_limit *before;

	if (!(words->given & BIT(WEIR_WORD_BEFORE)))
		return 0;
	before = weir_limit_find(config, words->before);
	if (!before)
		return weir_refuse(fault, -ENOENT, WEIR_WORD_BEFORE,
				   "no limit of that name to be placed before");
	*place = limit_index(config, before);
	return 0;
}

static int add_locked(struct weir_net *wn, const struct weir_words *words,
		      struct weir_fault *fault)
{
	struct weir_config *old = config_now(wn);
	unsigned int count = old ? old->count : 0;
	unsigned int place = count, i;
	struct weir_limit *limit;
	struct draft draft;
	int err;

	if (weir_limit_find(old, words->name))
		return weir_refuse(fault, -EEXIST, WEIR_WORD_NAME,
				   "a limit of that name exists; set changes it");
	if (count == WEIR_LIMITS_MAX)
		return weir_refuse(fault, -ENOSPC, WEIR_WORD_NAME,
				   "a namespace has at most 256 limits");
	err = find_before(old, words, &place, fault);
	if (err)
		return err;
	err = draft_init(&draft, count + 1);
	if (err)
		return err;
	for (i = 0; i < count; i++)
		draft_keep(&draft, i + (i >= place), old, i);
	limit = weir_limit_make(wn, words, NULL, true, fault);
	err = PTR_ERR_OR_ZERO(limit);
	if (!err) {
		draft.config->limit[place] = limit;
		err = draft_edit_exempts(&draft, old, NULL, NULL);
	}
	if (err) {
		draft_drop(wn, &draft);
		return err;
	}
	return draft_publish(wn, &draft);
}

static int set_locked(struct weir_net *wn, const struct weir_words *words,
		      struct weir_fault *fault)
{
	struct weir_config *old = config_now(wn);
	unsigned int place, from, i, n = 0;
	struct weir_limit *was, *limit;
	struct draft draft;
	int err;

	was = weir_limit_find(old, words->name);
	if (!was)
		return weir_refuse(fault, -ENOENT, WEIR_WORD_NAME,
				   "no limit of that name; add makes one");
	if (words->given & BIT(WEIR_WORD_PREFIX4) &&
	    words->prefix.len4 != was->prefix.len4)
		return weir_refuse(fault, -EINVAL, WEIR_WORD_PREFIX4,
				   "the prefix of a limit cannot change; add another limit");
	if (words->given & BIT(WEIR_WORD_PREFIX6) &&
	    words->prefix.len6 != was->prefix.len6)
		return weir_refuse(fault, -EINVAL, WEIR_WORD_PREFIX6,
				   "the prefix of a limit cannot change; add another limit");
	from = limit_index(old, was);
	place = from;
	err = find_before(old, words, &place, fault);
	if (err)
		return err;
	if (place > from)
		place--;
	err = draft_init(&draft, old->count);
	if (err)
		return err;
	for (i = 0; i < old->count; i++) {
		if (n == place)
			n++;
		if (i != from)
			draft_keep(&draft, n++, old, i);
	}
	limit = weir_limit_make(wn, words, was, false, fault);
	err = PTR_ERR_OR_ZERO(limit);
	if (!err) {
		draft.config->limit[place] = limit;
		draft.was[place] = was;
		err = draft_edit_exempts(&draft, old, NULL, NULL);
	}
	if (err) {
		draft_drop(wn, &draft);
		return err;
	}
	return draft_publish(wn, &draft);
}

/* Without one limit, or with all of NULL without any. */
static int del_locked(struct weir_net *wn, const struct weir_limit *gone)
{
	struct weir_config *old = config_now(wn);
	unsigned int i, n = 0;
	struct draft draft;
	int err;

	err = draft_init(&draft, gone ? old->count - 1 : 0);
	if (err)
		return err;
	for (i = 0; gone && i < old->count; i++)
		if (old->limit[i] != gone)
			draft_keep(&draft, n++, old, i);
	err = draft_edit_exempts(&draft, old, NULL, NULL);
	if (err) {
		draft_drop(wn, &draft);
		return err;
	}
	return draft_publish(wn, &draft);
}

/* The same limits with other exemptions. */
static int exempt_locked(struct weir_net *wn, const struct weir_exempt *gone,
			 const struct weir_exempt *come, bool flush)
{
	struct weir_config *old = config_now(wn);
	unsigned int i, count = old ? old->count : 0;
	struct draft draft;
	int err;

	err = draft_init(&draft, count);
	if (err)
		return err;
	for (i = 0; i < count; i++)
		draft_keep(&draft, i, old, i);
	if (!flush)
		err = draft_edit_exempts(&draft, old, gone, come);
	if (err) {
		draft_drop(wn, &draft);
		return err;
	}
	return draft_publish(wn, &draft);
}

/* Check an exemption and turn the name of its limit into an id. */
static int exempt_resolve(const struct weir_config *config,
			  const struct weir_exempt_words *words,
			  struct weir_exempt *exempt, struct weir_fault *fault)
{
	const char *msg = weir_net_prefix_check(&words->exempt.prefix);
	struct weir_limit *limit;

	*exempt = words->exempt;
	if (msg)
		return weir_refuse(fault, -EINVAL, WEIR_WORD_EXEMPT_ADDRESS, msg);
	if (*exempt->dev && !dev_valid_name(exempt->dev))
		return weir_refuse(fault, -EINVAL, WEIR_WORD_EXEMPT_DEV,
				   "not a name that a device can have");
	if (!*words->limit)
		return 0;
	limit = weir_limit_find(config, words->limit);
	if (!limit)
		return weir_refuse(fault, -ENOENT, WEIR_WORD_EXEMPT_LIMIT,
				   "no limit of that name; add it before its exemptions");
	exempt->limit = limit->id;
	return 0;
}

int weir_limit_add(struct weir_net *wn, const struct weir_words *words,
		   struct weir_fault *fault)
{
	int err;

	mutex_lock(&wn->lock);
	err = add_locked(wn, words, fault);
	mutex_unlock(&wn->lock);
	return err;
}

int weir_limit_set(struct weir_net *wn, const struct weir_words *words,
		   struct weir_fault *fault)
{
	int err;

	mutex_lock(&wn->lock);
	err = set_locked(wn, words, fault);
	mutex_unlock(&wn->lock);
	return err;
}

int weir_limit_del(struct weir_net *wn, const char *name,
		   struct weir_fault *fault)
{
	struct weir_limit *limit;
	int err;

	mutex_lock(&wn->lock);
	limit = weir_limit_find(config_now(wn), name);
	if (limit)
		err = del_locked(wn, limit);
	else
		err = weir_refuse(fault, -ENOENT, WEIR_WORD_NAME,
				  "no limit of that name; show lists them");
	mutex_unlock(&wn->lock);
	return err;
}

int weir_limit_flush(struct weir_net *wn)
{
	int err = 0;

	mutex_lock(&wn->lock);
	if (config_now(wn))
		err = del_locked(wn, NULL);
	mutex_unlock(&wn->lock);
	return err;
}

int weir_exempt_add(struct weir_net *wn, const struct weir_exempt_words *words,
		    struct weir_fault *fault)
{
	struct weir_config *config;
	struct weir_exempt exempt;
	int err;

	mutex_lock(&wn->lock);
	config = config_now(wn);
	err = exempt_resolve(config, words, &exempt, fault);
	if (err)
		goto out;
	if (config && weir_exempts_find(config->exempts, &exempt) >= 0)
		err = weir_refuse(fault, -EEXIST, WEIR_WORD_EXEMPT_ADDRESS,
				  "that is exempt already");
	else if (config && weir_exempts_count(config->exempts) == WEIR_EXEMPTS_MAX)
		err = weir_refuse(fault, -ENOSPC, WEIR_WORD_EXEMPT_ADDRESS,
				  "a namespace has at most 8192 exemptions");
	else
		err = exempt_locked(wn, NULL, &exempt, false);
out:
	mutex_unlock(&wn->lock);
	return err;
}

int weir_exempt_del(struct weir_net *wn, const struct weir_exempt_words *words,
		    struct weir_fault *fault)
{
	struct weir_config *config;
	struct weir_exempt exempt;
	int err, at = -1;

	mutex_lock(&wn->lock);
	config = config_now(wn);
	err = exempt_resolve(config, words, &exempt, fault);
	if (err)
		goto out;
	if (config)
		at = weir_exempts_find(config->exempts, &exempt);
	if (at < 0)
		err = weir_refuse(fault, -ENOENT, WEIR_WORD_EXEMPT_ADDRESS,
				  "no such exemption; show lists them");
	else
		err = exempt_locked(wn, weir_exempts_at(config->exempts, at),
				    NULL, false);
out:
	mutex_unlock(&wn->lock);
	return err;
}

int weir_exempt_flush(struct weir_net *wn)
{
	int err = 0;

	mutex_lock(&wn->lock);
	if (config_now(wn))
		err = exempt_locked(wn, NULL, NULL, true);
	mutex_unlock(&wn->lock);
	return err;
}

/* The limits of a replacement; those of a known name go on counting. */
static int replace_limits(struct weir_net *wn, struct draft *draft,
			  const struct weir_words *words,
			  struct weir_fault *fault)
{
	struct weir_config *old = config_now(wn), *config = draft->config;
	struct weir_limit *limit, *was;
	unsigned int i;

	for (i = 0; i < config->count; i++) {
		fault->index = i;
		if (weir_limit_find(config, words[i].name))
			return weir_refuse(fault, -EEXIST, WEIR_WORD_NAME,
					   "the name of a limit stands twice");
		was = weir_limit_find(old, words[i].name);
		if (was && !weir_limit_same(was, &words[i]))
			was = NULL;
		limit = weir_limit_make(wn, &words[i], was, true, fault);
		if (IS_ERR(limit))
			return PTR_ERR(limit);
		if (was && !memcmp(limit, was, sizeof(*limit))) {
			kfree(limit);
			limit = was;
		}
		config->limit[i] = limit;
		draft->was[i] = was;
	}
	return 0;
}

static int replace_exempts(struct draft *draft,
			   const struct weir_exempt_words *words,
			   unsigned int count, struct weir_fault *fault)
{
	struct weir_exempt *list;
	unsigned int i;
	int err = 0;

	list = kvmalloc_array(count ?: 1, sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	fault->is_exempt = true;
	for (i = 0; i < count && !err; i++) {
		fault->index = i;
		err = exempt_resolve(draft->config, &words[i], &list[i], fault);
	}
	if (!err)
		err = draft_exempts(draft, list, count);
	if (err == -EEXIST)
		weir_refuse(fault, err, WEIR_WORD_EXEMPT_ADDRESS,
			    "an exemption stands twice");
	fault->is_exempt = err;
	kvfree(list);
	return err;
}

int weir_config_replace(struct weir_net *wn, const struct weir_words *words,
			unsigned int count,
			const struct weir_exempt_words *exempts,
			unsigned int exempt_count, struct weir_fault *fault)
{
	struct draft draft;
	int err;

	mutex_lock(&wn->lock);
	err = draft_init(&draft, count);
	if (err)
		goto out;
	err = replace_limits(wn, &draft, words, fault);
	if (!err)
		err = replace_exempts(&draft, exempts, exempt_count, fault);
	if (err)
		draft_drop(wn, &draft);
	else
		err = draft_publish(wn, &draft);
out:
	mutex_unlock(&wn->lock);
	return err;
}

/**
 * weir_config_free - free the configuration of a namespace that is gone
 * @wn: namespace whose hooks are, a grace period ago
 */
void weir_config_free(struct weir_net *wn)
{
	struct weir_config *config = rcu_dereference_protected(wn->config, true);
	unsigned int i;

	if (!config)
		return;
	for (i = 0; i < config->count; i++)
		weir_limit_shell_free(config->limit[i], NULL);
	weir_exempts_free(config->exempts);
	kfree(config);
}
