// SPDX-License-Identifier: GPL-2.0-only
/*
 * A whole configuration at once.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "draft.h"
#include "limit_priv.h"
#include "weir.h"

/* Keep the first warning, and count the limits that have one. */
static void replace_warned(struct weir_fault *warning, struct weir_fault *fault)
{
	if (!fault->msg)
		return;
	if (!warning->msg) {
		*warning = *fault;
		warning->value = fault->index + 1;
	}
	warning->value += 1ULL << 32;
	fault->msg = NULL;
}

/* The limits of a replacement; those of a known name go on counting. */
static int replace_limits(struct weir_net *wn, struct weir_draft *draft,
			  const struct weir_words *words,
			  struct weir_fault *warning, struct weir_fault *fault)
{
	struct weir_config *old = weir_config_get(wn), *config = draft->config;
	struct weir_limit *limit, *was;
	unsigned int i;

	for (i = 0; i < config->count; i++) {
		fault->index = i;
		if (weir_limit_find(config, words[i].name))
			return weir_refuse(fault, -EEXIST, WEIR_WORD_NAME,
					   "the name of a limit stands twice; give each limit a name of its own");
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
		replace_warned(warning, fault);
	}
	return 0;
}

static int replace_exempts(struct weir_draft *draft,
			   const struct weir_exempt_words *words,
			   unsigned int count, struct weir_fault *fault)
{
	struct weir_exempt *list;
	unsigned int i;
	int err = 0;

	list = kvmalloc_array(count ?: 1, sizeof(*list),
			      GFP_KERNEL | __GFP_NOWARN);
	if (!list)
		return -ENOMEM;
	fault->is_exempt = true;
	for (i = 0; i < count && !err; i++) {
		fault->index = i;
		err = weir_exempt_resolve(draft->config, &words[i], &list[i], fault);
	}
	if (!err)
		err = weir_draft_exempts(draft, list, count);
	if (err == -EEXIST)
		weir_refuse(fault, err, WEIR_WORD_EXEMPT_ADDRESS,
			    "an exemption stands twice; leave one of them out");
	fault->is_exempt = err;
	kvfree(list);
	return err;
}

int weir_config_replace(struct weir_net *wn, const struct weir_words *words,
			unsigned int count,
			const struct weir_exempt_words *exempts,
			unsigned int exempt_count, struct weir_fault *fault)
{
	struct weir_fault warning = { .word = -1 };
	struct weir_draft draft;
	int err;

	mutex_lock(&wn->lock);
	err = weir_draft_init(&draft, count);
	if (err)
		goto out;
	err = replace_limits(wn, &draft, words, &warning, fault);
	if (!err)
		err = replace_exempts(&draft, exempts, exempt_count, fault);
	if (err)
		weir_draft_drop(wn, &draft);
	else
		err = weir_draft_publish(wn, &draft);
	if (!err)
		*fault = warning;
out:
	mutex_unlock(&wn->lock);
	return err;
}
