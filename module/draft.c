// SPDX-License-Identifier: GPL-2.0-only
/*
 * A draft holds the whole of what shall be: the limits that stay, those that
 * are made or changed, and the exemptions. Until it is published it can be
 * dropped, and nothing has changed. All functions run under the namespace's
 * mutex, and may sleep.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "draft.h"
#include "hook.h"
#include "limit_priv.h"
#include "weir.h"

/**
 * weir_draft_init - an empty draft
 * @draft: filled
 * @count: limits that it will have
 *
 * Return: 0 or -ENOMEM.
 */
int weir_draft_init(struct weir_draft *draft, unsigned int count)
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

/**
 * weir_draft_keep - a limit stays as it is
 * @draft: draft
 * @i: its place there
 * @old: published configuration
 * @j: its place there
 */
void weir_draft_keep(struct weir_draft *draft, unsigned int i,
		     const struct weir_config *old, unsigned int j)
{
	draft->config->limit[i] = old->limit[j];
	draft->was[i] = old->limit[j];
}

/**
 * weir_draft_drop - give up a draft: nothing has been changed
 * @wn: namespace, locked
 * @draft: draft, some of whose places may still be empty
 */
void weir_draft_drop(struct weir_net *wn, struct weir_draft *draft)
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
	weir_refusals_free(wn, draft->config, NULL);
	weir_exempts_free(draft->config->exempts);
	kfree(draft->config);
	kfree(draft->was);
}

/**
 * weir_draft_exempts - these exemptions and no others
 * @draft: draft
 * @exempt: with the ids of the draft's limits
 * @count: of them
 *
 * Return: 0, -ENOMEM, or -EEXIST if two are equal.
 */
int weir_draft_exempts(struct weir_draft *draft,
		       const struct weir_exempt *exempt, unsigned int count)
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

/**
 * weir_draft_edit_exempts - the old exemptions with a change
 * @draft: draft with all its limits
 * @old: published configuration or NULL
 * @gone: one that goes, or NULL
 * @come: one that comes, or NULL
 *
 * Those of limits that the draft has not go too.
 *
 * Return: 0 or -ENOMEM.
 */
int weir_draft_edit_exempts(struct weir_draft *draft,
			    const struct weir_config *old,
			    const struct weir_exempt *gone,
			    const struct weir_exempt *come)
{
	const struct weir_exempts *had = old ? old->exempts : NULL;
	unsigned int i, j, count = weir_exempts_count(had), n = 0;
	const struct weir_exempt *exempt;
	struct weir_exempt *list;
	int err;

	list = kvmalloc_array(count + 1, sizeof(*list),
			      GFP_KERNEL | __GFP_NOWARN);
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
	err = weir_draft_exempts(draft, list, n);
	kvfree(list);
	return err;
}

static bool draft_moves(const struct weir_draft *draft, unsigned int i)
{
	return draft->was[i] &&
	       draft->was[i]->table != draft->config->limit[i]->table;
}

static void tell_changes(struct weir_net *wn, const struct weir_draft *draft,
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
static void old_free(struct weir_net *wn, const struct weir_draft *draft,
		     struct weir_config *old)
{
	struct weir_limit *limit, *heir;
	unsigned int i, j;

	weir_refusals_free(wn, old, draft->config);
	for (i = 0; i < old->count; i++) {
		limit = old->limit[i];
		for (heir = NULL, j = 0; j < draft->config->count; j++)
			if (draft->was[j] == limit)
				heir = draft->config->limit[j];
		if (heir == limit)
			continue;
		if (heir && heir->table != limit->table)
			weir_pressure_reset(heir);
		if (!heir || heir->table != limit->table)
			wn->bytes -= weir_table_bytes(limit->table);
		weir_limit_shell_free(limit, heir);
	}
	weir_exempts_free(old->exempts);
	kfree(old);
}

/**
 * weir_draft_publish - make a draft the configuration
 * @wn: namespace, locked
 * @draft: whole draft; what it does not take over is freed
 *
 * Nothing fails but the hook's registration, which comes first.
 *
 * Return: 0, or a negative errno and the draft is dropped.
 */
int weir_draft_publish(struct weir_net *wn, struct weir_draft *draft)
{
	struct weir_config *old = rcu_dereference_protected(wn->config,
					lockdep_is_held(&wn->lock)), *config = draft->config;
	unsigned int i;
	int err;

	err = weir_refusals_init(config);
	if (err) {
		weir_draft_drop(wn, draft);
		return err;
	}
	if (config->count && !wn->hooked) {
		err = weir_hook_register(wn);
		if (err) {
			weir_draft_drop(wn, draft);
			return err;
		}
		wn->hooked = true;
	}
	for (i = 0; i < config->count; i++)
		if (draft_moves(draft, i))
			weir_table_succeed(config->limit[i]->table,
					   draft->was[i]->table,
					   config->limit[i]->budget,
					   draft->was[i]->budget, &wn->key,
					   weir_hook_clock);
	rcu_assign_pointer(wn->config, config);
	for (i = 0; i < config->count; i++)
		if (draft_moves(draft, i))
			weir_limit_count_evictions(config->limit[i],
						   weir_table_drain(config->limit[i]->table));

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
