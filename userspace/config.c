// SPDX-License-Identifier: GPL-2.0-or-later
/* A whole configuration, put together item by item. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

/* Make room for one more item. */
static int grow(void **items, unsigned int count, unsigned int *room,
		size_t size, struct weir_err *err)
{
	unsigned int more = *room ? 2 * *room : 64;
	void *bigger;

	if (count < *room)
		return 0;
	bigger = realloc(*items, more * size);
	if (!bigger)
		return weir_err_set(err, "no memory for the configuration");
	*items = bigger;
	*room = more;
	return 0;
}

static const struct weir_limit *find_limit(const struct weir_config *config,
					   const char *name)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++) {
		if (!strcmp(config->limits[i].name, name))
			return &config->limits[i];
	}
	return NULL;
}

/**
 * weir_config_add_limit - add a limit, at its end or where before says
 * @config: the configuration
 * @limit: the limit
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_config_add_limit(struct weir_config *config,
			  const struct weir_limit *limit, struct weir_err *err)
{
	const struct weir_limit *other = find_limit(config, limit->name);
	unsigned int at = config->limit_count;
	struct weir_limit *slot;

	if (other)
		return weir_err_set(err, "limit '%s' is on line %u already",
				    limit->name, other->line);
	if (config->limit_count == WEIR_LIMITS_MAX)
		return weir_err_set(err, "more than %d limits",
				    WEIR_LIMITS_MAX);
	if (limit->has & WEIR_HAS_BEFORE) {
		other = find_limit(config, limit->before);
		if (!other)
			return weir_err_set(err, "before: no limit '%s' above this line",
					    limit->before);
		at = other - config->limits;
	}
	if (grow((void **)&config->limits, config->limit_count,
		 &config->limit_room, sizeof(*limit), err))
		return -EINVAL;
	slot = &config->limits[at];
	memmove(slot + 1, slot, (config->limit_count++ - at) * sizeof(*slot));
	*slot = *limit;
	slot->has &= ~WEIR_HAS_BEFORE;	/* its place says it */
	slot->before[0] = '\0';
	return 0;
}

/**
 * weir_config_add_exempt - add an exemption
 * @config: the configuration
 * @exempt: the exemption
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_config_add_exempt(struct weir_config *config,
			   const struct weir_exempt *exempt,
			   struct weir_err *err)
{
	if (config->exempt_count == WEIR_EXEMPTS_MAX)
		return weir_err_set(err, "more than %d exemptions",
				    WEIR_EXEMPTS_MAX);
	if (grow((void **)&config->exempts, config->exempt_count,
		 &config->exempt_room, sizeof(*exempt), err))
		return -EINVAL;
	config->exempts[config->exempt_count++] = *exempt;
	return 0;
}

static bool same_prefix(const struct weir_prefix *a, const struct weir_prefix *b)
{
	return a->family == b->family && a->len == b->len &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr));
}

/* Whether two matches say the same of a condition. */
static bool same_cond(const struct weir_match *a, const struct weir_match *b,
		      uint32_t cond)
{
	if ((a->conds ^ b->conds) & cond || (a->invert ^ b->invert) & cond)
		return false;
	if (!(a->conds & cond))
		return true;
	switch (cond) {
	case WEIR_COND_FAMILY:
		return a->family == b->family;
	case WEIR_COND_DEV:
		return !strcmp(a->dev, b->dev);
	case WEIR_COND_FROM:
		return same_prefix(&a->from, &b->from);
	case WEIR_COND_TO:
		return same_prefix(&a->to, &b->to);
	case WEIR_COND_PROTO:
		return a->proto == b->proto;
	case WEIR_COND_SPORT:
		return !memcmp(a->sport, b->sport, sizeof(a->sport));
	case WEIR_COND_DPORT:
		return !memcmp(a->dport, b->dport, sizeof(a->dport));
	case WEIR_COND_MARK:
		return a->mark == b->mark && a->mask == b->mask;
	default:
		return true;	/* there is no more to it */
	}
}

/* By the bit of each condition. */
static const char *const conds[] = {
	"family", "dev", "from", "to", "proto", "sport", "dport", "syn",
	"frag", "mark",
};

static void add_word(char text[WEIR_DIFFERS_SIZE], bool same, const char *word)
{
	size_t used = strlen(text);

	if (!same)
		snprintf(text + used, WEIR_DIFFERS_SIZE - used, "%s%s",
			 used ? ", " : "", word);
}

/**
 * weir_conds_text - name conditions
 * @which: WEIR_COND_* of them
 * @text: takes their words
 */
void weir_conds_text(uint32_t which, char text[WEIR_DIFFERS_SIZE])
{
	size_t i;

	*text = '\0';
	for (i = 0; i < sizeof(conds) / sizeof(conds[0]); i++)
		add_word(text, !(which & 1U << i), conds[i]);
}

/**
 * weir_limit_differs - whether words would make another limit
 * @words: the words of a limit; slots that are left out are as they are there
 * @there: the limit, complete
 * @text: takes the words that would be others
 *
 * Return: whether there are any.
 */
bool weir_limit_differs(const struct weir_limit *words,
			const struct weir_limit *there,
			char text[WEIR_DIFFERS_SIZE])
{
	struct weir_limit full = *words;
	bool same;
	size_t i;

	if (!(full.has & WEIR_HAS_PER)) {
		full.prefix4 = WEIR_PREFIX4_USUAL;
		full.prefix6 = WEIR_PREFIX6_USUAL;
	}
	if (!(full.has & WEIR_HAS_SOURCES))
		full.sources = WEIR_SOURCES_USUAL;
	if (!(full.has & WEIR_HAS_SLOTS))
		full.slots = there->slots;
	*text = '\0';
	same = full.budget == there->budget && full.unit == there->unit &&
	       full.window_ms == there->window_ms;
	add_word(text, same, "budget");
	for (i = 0; i < sizeof(conds) / sizeof(conds[0]); i++) {
		same = same_cond(&full.match, &there->match, 1U << i);
		add_word(text, same, conds[i]);
	}
	same = full.prefix4 == there->prefix4 && full.prefix6 == there->prefix6;
	add_word(text, same, "per");
	add_word(text, full.slots == there->slots, "slots");
	add_word(text, full.mode == there->mode, "strict|lenient");
	add_word(text, full.sources == there->sources, "sources");
	add_word(text, full.action == there->action, "action");
	return *text;
}

/**
 * weir_exempt_compare - the order that exemptions are written in
 * @left: an exemption
 * @right: another
 *
 * Return: as qsort() wants it; 0 where both say the same.
 */
int weir_exempt_compare(const void *left, const void *right)
{
	const struct weir_exempt *a = left, *b = right;
	int diff = a->prefix.family - b->prefix.family;

	if (!diff)
		diff = memcmp(a->prefix.addr, b->prefix.addr,
			      sizeof(a->prefix.addr));
	if (!diff)
		diff = a->prefix.len - b->prefix.len;
	if (!diff)
		diff = strcmp(a->dev, b->dev);
	return diff ? diff : strcmp(a->limit, b->limit);
}

static int compare_pointers(const void *left, const void *right)
{
	const struct weir_exempt *const *a = left, *const *b = right;
	int diff = weir_exempt_compare(*a, *b);

	return diff ? diff : (*a > *b) - (*a < *b);
}

static int check_exempts_twice(const struct weir_config *config,
			       unsigned int *line, struct weir_err *err)
{
	unsigned int count = config->exempt_count, i;
	const struct weir_exempt **sorted;
	int ret = 0;

	if (!count)
		return 0;
	sorted = malloc(count * sizeof(*sorted));
	if (!sorted)
		return weir_err_set(err, "no memory for the configuration");
	for (i = 0; i < count; i++)
		sorted[i] = &config->exempts[i];
	qsort(sorted, count, sizeof(*sorted), compare_pointers);
	for (i = 1; i < count && !ret; i++) {
		if (weir_exempt_compare(sorted[i - 1], sorted[i]))
			continue;
		*line = sorted[i]->line;
		ret = weir_err_set(err, "exempt add: that is exempt by line %u already",
				   sorted[i - 1]->line);
	}
	free(sorted);
	return ret;
}

/**
 * weir_config_check - whether the items of a configuration fit each other
 * @config: the configuration, complete
 * @line: takes the line of what does not
 * @err: takes the sentence
 *
 * Return: 0 or -EINVAL.
 */
int weir_config_check(const struct weir_config *config, unsigned int *line,
		      struct weir_err *err)
{
	const struct weir_exempt *exempt;
	unsigned int i;

	for (i = 0; i < config->exempt_count; i++) {
		exempt = &config->exempts[i];
		if (!*exempt->limit || find_limit(config, exempt->limit))
			continue;
		*line = exempt->line;
		return weir_err_set(err, "exempt add: limit: no limit '%s' in this file",
				    exempt->limit);
	}
	return check_exempts_twice(config, line, err);
}

/**
 * weir_config_free - let go of what a configuration holds
 * @config: the configuration
 */
void weir_config_free(struct weir_config *config)
{
	free(config->limits);
	free(config->exempts);
}
