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

#include "draft.h"
#include "limit_priv.h"
#include "weir.h"

static struct weir_config *config_now(const struct weir_net *wn)
{
	return rcu_dereference_protected(wn->config,
					 lockdep_is_held(&wn->lock));
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
				   "no limit of that name to be placed before; limit show lists them");
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
	struct weir_draft draft;
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
	err = weir_draft_init(&draft, count + 1);
	if (err)
		return err;
	for (i = 0; i < count; i++)
		weir_draft_keep(&draft, i + (i >= place), old, i);
	limit = weir_limit_make(wn, words, NULL, true, fault);
	err = PTR_ERR_OR_ZERO(limit);
	if (!err) {
		draft.config->limit[place] = limit;
		err = weir_draft_edit_exempts(&draft, old, NULL, NULL);
	}
	if (err) {
		weir_draft_drop(wn, &draft);
		return err;
	}
	return weir_draft_publish(wn, &draft);
}

static int set_locked(struct weir_net *wn, const struct weir_words *words,
		      struct weir_fault *fault)
{
	struct weir_config *old = config_now(wn);
	unsigned int place, from, i, n = 0;
	struct weir_limit *was, *limit;
	struct weir_draft draft;
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
	err = weir_draft_init(&draft, old->count);
	if (err)
		return err;
	for (i = 0; i < old->count; i++) {
		if (n == place)
			n++;
		if (i != from)
			weir_draft_keep(&draft, n++, old, i);
	}
	limit = weir_limit_make(wn, words, was, false, fault);
	err = PTR_ERR_OR_ZERO(limit);
	if (!err) {
		draft.config->limit[place] = limit;
		draft.was[place] = was;
		err = weir_draft_edit_exempts(&draft, old, NULL, NULL);
	}
	if (err) {
		weir_draft_drop(wn, &draft);
		return err;
	}
	return weir_draft_publish(wn, &draft);
}

/* Without one limit, or with all of NULL without any. */
static int del_locked(struct weir_net *wn, const struct weir_limit *gone)
{
	struct weir_config *old = config_now(wn);
	unsigned int i, n = 0;
	struct weir_draft draft;
	int err;

	err = weir_draft_init(&draft, gone ? old->count - 1 : 0);
	if (err)
		return err;
	for (i = 0; gone && i < old->count; i++)
		if (old->limit[i] != gone)
			weir_draft_keep(&draft, n++, old, i);
	err = weir_draft_edit_exempts(&draft, old, NULL, NULL);
	if (err) {
		weir_draft_drop(wn, &draft);
		return err;
	}
	return weir_draft_publish(wn, &draft);
}

/* The same limits with other exemptions. */
static int exempt_locked(struct weir_net *wn, const struct weir_exempt *gone,
			 const struct weir_exempt *come, bool flush)
{
	struct weir_config *old = config_now(wn);
	unsigned int i, count = old ? old->count : 0;
	struct weir_draft draft;
	int err;

	err = weir_draft_init(&draft, count);
	if (err)
		return err;
	for (i = 0; i < count; i++)
		weir_draft_keep(&draft, i, old, i);
	if (!flush)
		err = weir_draft_edit_exempts(&draft, old, gone, come);
	if (err) {
		weir_draft_drop(wn, &draft);
		return err;
	}
	return weir_draft_publish(wn, &draft);
}

/**
 * weir_exempt_resolve - check an exemption and find the limit that it names
 * @config: with the limits, or NULL
 * @words: what was said
 * @exempt: filled
 * @fault: filled where it is refused
 *
 * Return: 0, -EINVAL or -ENOENT.
 */
int weir_exempt_resolve(const struct weir_config *config,
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
				   "not a name that a device can have; no space, / or :, and not . or ..");
	if (!*words->limit)
		return 0;
	limit = weir_limit_find(config, words->limit);
	if (!limit)
		return weir_refuse(fault, -ENOENT, WEIR_WORD_EXEMPT_LIMIT,
				   "no limit of that name to be exempt from; limit show lists them");
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
				  "no limit of that name; limit show lists them");
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
	err = weir_exempt_resolve(config, words, &exempt, fault);
	if (err)
		goto out;
	if (config && weir_exempts_find(config->exempts, &exempt) >= 0)
		err = weir_refuse(fault, -EEXIST, WEIR_WORD_EXEMPT_ADDRESS,
				  "that is exempt already; it need not be added");
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
	err = weir_exempt_resolve(config, words, &exempt, fault);
	if (err)
		goto out;
	if (config)
		at = weir_exempts_find(config->exempts, &exempt);
	if (at < 0)
		err = weir_refuse(fault, -ENOENT, WEIR_WORD_EXEMPT_ADDRESS,
				  "no such exemption; exempt show lists them");
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
	weir_refusals_free(wn, config, NULL);
	for (i = 0; i < config->count; i++)
		weir_limit_shell_free(config->limit[i], NULL);
	weir_exempts_free(config->exempts);
	kfree(config);
}
