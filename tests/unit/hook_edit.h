/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of a configuration, each as one call. */
#ifndef HOOK_EDIT_H
#define HOOK_EDIT_H

#include "limit.h"
#include "weir.h"

#define weir_error weir_fault

/* An exemption and the name of its limit. */
struct said_exempt {
	struct weir_exempt exempt;
	char limit[WEIR_NAME_SIZE];
};

static inline void weir_limit_init(struct weir_limit *limit, const char *name)
{
	*limit = (struct weir_limit) {
		.prefix = { 32, 64 }, .sources = 65536,
	};
	strcpy(limit->name, name);
}

static inline struct weir_words edit_words(const struct weir_limit *limit)
{
	struct weir_words words = {
		.given = 0xfff & ~BIT(WEIR_WORD_BEFORE),
		.budget = limit->budget, .window_ms = limit->window_ms,
		.bytes = limit->bytes, .slots = limit->slots,
		.lenient = limit->lenient, .prefix = limit->prefix,
		.sources = limit->sources, .observe = limit->observe,
		.match = limit->match,
	};

	strcpy(words.name, limit->name);
	if (!limit->slots_given)
		words.given &= ~BIT(WEIR_WORD_SLOTS);
	return words;
}

static inline int edit_add(struct weir_net *wn, const struct weir_limit *limit,
			   const char *before, struct weir_error *error)
{
	struct weir_words words = edit_words(limit);

	if (before) {
		words.given |= BIT(WEIR_WORD_BEFORE);
		strcpy(words.before, before);
	}
	return weir_limit_add(wn, &words, error);
}

static inline int edit_set(struct weir_net *wn, const struct weir_limit *limit,
			   struct weir_error *error)
{
	struct weir_words words = edit_words(limit);

	return weir_limit_set(wn, &words, error);
}

static inline int edit_del(struct weir_net *wn, const char *name,
			   struct weir_error *error)
{
	return weir_limit_del(wn, name, error);
}

/* All limits, or all exemptions. */
static inline int edit_flush(struct weir_net *wn, bool limits)
{
	return limits ? weir_limit_flush(wn) : weir_exempt_flush(wn);
}

static inline int edit_exempt(struct weir_net *wn, const struct said_exempt *said,
			      bool add, struct weir_error *error)
{
	struct weir_exempt_words words;

	words.exempt = said->exempt;
	strcpy(words.limit, said->limit);
	return add ? weir_exempt_add(wn, &words, error) :
		     weir_exempt_del(wn, &words, error);
}

static inline int edit_replace(struct weir_net *wn, const struct weir_limit *limit,
			       unsigned int limits, const struct said_exempt *said,
			       unsigned int exempts, struct weir_error *error)
{
	struct weir_exempt_words exempt[16];
	struct weir_words words[16];
	unsigned int i;

	for (i = 0; i < limits; i++)
		words[i] = edit_words(&limit[i]);
	for (i = 0; i < exempts; i++) {
		exempt[i].exempt = said[i].exempt;
		strcpy(exempt[i].limit, said[i].limit);
	}
	return weir_config_replace(wn, words, limits, exempt, exempts, error);
}

#endif /* HOOK_EDIT_H */
