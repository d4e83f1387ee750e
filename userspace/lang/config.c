// SPDX-License-Identifier: GPL-2.0-or-later
/* Build a configuration item by item, and check it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lang/config.h"
#include "lang/place.h"
#include "lang/value.h"

void weir_config_clear(struct weir_config *config)
{
	free(config->lists);
	free(config->exempts);
	memset(&config->hold, 0,
	       offsetof(struct weir_config, limits) - offsetof(struct weir_config, hold));
}

bool weir_config_is_empty(const struct weir_config *config)
{
	return !config->limit_count && !config->exempt_count && !config->list_count;
}

struct weir_limit *weir_config_find(const struct weir_config *config, const char *name)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++) {
		if (!strcmp(config->limits[i].name, name))
			return (struct weir_limit *)&config->limits[i];
	}
	return NULL;
}

int weir_config_add_limit(struct weir_config *config,
			  const struct weir_limit *limit, struct weir_err *err)
{
	struct weir_limit *other = weir_config_find(config, limit->name);
	unsigned int at = config->limit_count;
	char place[WEIR_PLACE_SIZE];
	struct weir_limit *slot;

	if (other)
		return weir_err_set(err, "limit '%s' was already defined on %s", limit->name,
				    weir_place_text(config->places, other->line, place));
	if (config->limit_count == WEIR_LIMITS_MAX)
		return weir_err_set(err, "more than %d limits", WEIR_LIMITS_MAX);
	if (limit->has & WEIR_HAS(LIMIT_BEFORE)) {
		other = weir_config_find(config, limit->before);
		if (!other) {
			weir_err_set(err, "before: no limit '%s' is defined above this line",
				     limit->before);
			return -ENOENT;
		}
		at = other - config->limits;
	}
	slot = &config->limits[at];
	memmove(slot + 1, slot, (config->limit_count++ - at) * sizeof(*slot));
	*slot = *limit;
	slot->has &= ~WEIR_HAS(LIMIT_BEFORE);	/* implied by its position */
	slot->before[0] = '\0';
	return 0;
}

bool weir_grow(void *array, unsigned int *room, unsigned int count, size_t size,
	       struct weir_err *err)
{
	unsigned int more = *room ? 2 * *room : 4;
	void **at = array, *grown;

	if (count < *room)
		return true;
	grown = realloc(*at, more * size);
	if (!grown) {
		weir_err_set(err, WEIR_NO_MEMORY);
		return false;
	}
	*at = grown;
	*room = more;
	return true;
}

int weir_config_add_exempt(struct weir_config *config, const struct weir_exempt *exempt,
			   struct weir_err *err)
{
	unsigned int blocks = config->block_count;

	if ((exempt->block ? blocks : config->exempt_count - blocks) == WEIR_EXEMPTS_MAX)
		return weir_err_set(err, "more than %d %s", WEIR_EXEMPTS_MAX,
				    exempt->block ? "blocked prefixes" : "exemptions");
	if (!weir_grow(&config->exempts, &config->exempt_room, config->exempt_count,
		       sizeof(*exempt), err))
		return -ENOMEM;
	config->exempts[config->exempt_count++] = *exempt;
	config->block_count += exempt->block;
	return 0;
}

/* Another part of a list, or NULL with an error. */
static struct weir_list *new_part(struct weir_config *config, struct weir_err *err)
{
	if (!weir_grow(&config->lists, &config->list_room, config->list_count,
		       sizeof(*config->lists), err))
		return NULL;
	return &config->lists[config->list_count++];
}

int weir_config_add_list(struct weir_config *config, const struct weir_list *list,
			 struct weir_err *err)
{
	unsigned int i, at = config->list_count;
	struct weir_list *part = NULL;
	struct weir_member *member;

	/* Mostly the last one of all. */
	while (!part && at--)
		if (!strcmp(config->lists[at].name, list->name))
			part = &config->lists[at];
	if (!part && config->lists_named++ == WEIR_PREFIX_LISTS_MAX)
		return weir_err_set(err, "more than %d lists", WEIR_PREFIX_LISTS_MAX);
	for (i = 0; i < list->member_count; i++) {
		if (config->member_count == WEIR_LIST_PREFIXES_MAX)
			return weir_err_set(err, "more than %d prefixes in lists",
					    WEIR_LIST_PREFIXES_MAX);
		if (!part || part->member_count == WEIR_PREFIXES_MAX) {
			part = new_part(config, err);
			if (!part)
				return -EINVAL;
			*part = *list;
			part->member_count = 0;
		}
		member = &part->member[part->member_count++];
		*member = list->member[i];
		member->line = list->line;
		member->place = config->member_count++;
	}
	return 0;
}

const struct weir_member *weir_config_budget(const struct weir_config *config,
					     const struct weir_limit *limit,
					     const struct weir_prefix *source)
{
	const struct weir_member *at, *found = NULL;
	const struct weir_list *list;
	unsigned int i;

	for (i = 0; i < config->list_count; i++) {
		list = &config->lists[i];
		if (strcmp(list->name, limit->budgets_by))
			continue;
		for (at = list->member; at < list->member + list->member_count; at++)
			if (weir_prefix_holds(&at->prefix, source) &&
			    (!found || at->prefix.len >= found->prefix.len))
				found = at;
	}
	return found && found->budget ? found : NULL;
}

const struct weir_exempt *weir_config_exempt(const struct weir_config *config,
					     const struct weir_prefix *source, const char *dev,
					     const char *limit, bool block)
{
	const struct weir_exempt *at, *found = NULL;
	unsigned int i;

	for (i = 0; i < config->exempt_count; i++) {
		at = &config->exempts[i];
		if (at->block == block && weir_prefix_holds(&at->prefix, source) &&
		    (dev ? !*at->dev || !strcmp(at->dev, dev) : *at->dev) &&
		    !strcmp(at->limit, limit) && (!found || at->prefix.len > found->prefix.len ||
		     (at->prefix.len == found->prefix.len && !*at->dev)))
			found = at;
	}
	return found;
}

int weir_config_add_early(struct weir_config *config, const struct weir_xdp *xdp,
			  struct weir_err *err)
{
	char place[WEIR_PLACE_SIZE];
	unsigned int i;

	for (i = 0; i < config->early_count; i++) {
		if (!strcmp(config->early[i].dev, xdp->dev))
			return weir_err_set(err, "device '%s' was already given on %s", xdp->dev,
					    weir_place_text(config->places, config->early[i].line,
							    place));
	}
	if (config->early_count == WEIR_EARLY_MAX)
		return weir_err_set(err, "more than %d devices", WEIR_EARLY_MAX);
	config->early[config->early_count++] = *xdp;
	return 0;
}

/* The value as the user writes it, with "not"; if absent, the default. */
static void value_text(const struct weir_set *set, const struct weir_field *field,
		       const char *model, char text[2 * WEIR_TEXT_SIZE])
{
	bool not = set->invert && *(const uint32_t *)(model + set->invert) & field->bit;
	bool given = weir_field_given(field, model);
	char buf[WEIR_TEXT_SIZE];

	snprintf(text, 2 * WEIR_TEXT_SIZE, "%s%s%s", given ? "=" : "",
		 not ? "not " : "", given ? weir_field_text(field, model, buf) : "");
	if (!given && field->usual)
		snprintf(text, 2 * WEIR_TEXT_SIZE, "=%s", field->usual);
}

static void add_differing(const struct weir_set *set, const char *words,
			  const char *there, char text[WEIR_DIFFERS_SIZE]);

/* A list of nests differs in how many there are, or in one of them. */
static void add_list(const struct weir_field *field, const char *words, const char *there,
		     char text[WEIR_DIFFERS_SIZE])
{
	unsigned int count = weir_field_given(field, words), i;

	if (count != weir_field_given(field, there))
		weir_append(text, WEIR_DIFFERS_SIZE, ", ", field->nest->name);
	for (i = 0; i < count && count == weir_field_given(field, there); i++)
		add_differing(field->nest, words + field->offset + i * field->size,
			      there + field->offset + i * field->size, text);
}

static void add_differing(const struct weir_set *set, const char *words,
			  const char *there, char text[WEIR_DIFFERS_SIZE])
{
	char a[2 * WEIR_TEXT_SIZE], b[2 * WEIR_TEXT_SIZE], name[WEIR_TEXT_SIZE];
	const struct weir_field *field, *named = NULL;

	for (field = set->fields; field->type; field++) {
		if (field->type == &weir_type_nest && field->many && field->flags & WEIR_ON_ADD)
			add_list(field, words, there, text);
		if (field->type == &weir_type_nest && !field->many && field->flags & WEIR_ON_ADD)
			add_differing(field->nest, words + field->offset,
				      there + field->offset, text);
		value_text(set, field, words, a);
		value_text(set, field, there, b);
		/* absent without a default: the kernel chooses, no difference */
		if ((field->type == &weir_type_nest && !field->many) ||
		    !(field->flags & WEIR_ON_ADD) ||
		    !(field->flags & WEIR_WORDS) || !strcmp(a, b) ||
		    (!*a && !(field->flags & WEIR_NOT)))
			continue;
		if (!(field->flags & WEIR_FOLLOWS) || named != field - 1)
			weir_append(text, WEIR_DIFFERS_SIZE, ", ", weir_field_name(field, name));
		named = field;
	}
}

bool weir_limit_differs(const struct weir_limit *words, const struct weir_limit *there,
			char text[WEIR_DIFFERS_SIZE])
{
	*text = '\0';
	add_differing(&weir_limit_fields, (const char *)words, (const char *)there, text);
	return *text;
}

int weir_config_compare(const struct weir_exempt *a, const struct weir_exempt *b)
{
	int diff = a->prefix.family - b->prefix.family;

	if (!diff)
		diff = memcmp(a->prefix.addr, b->prefix.addr, sizeof(a->prefix.addr));
	if (!diff)
		diff = a->prefix.len - b->prefix.len;
	if (!diff)
		diff = strcmp(a->dev, b->dev);
	if (!diff)
		diff = strcmp(a->limit, b->limit);
	return diff ? diff : a->block - b->block;
}

bool weir_config_stays(const struct weir_exempt *there, const struct weir_exempt *file)
{
	if (strcmp(there->comment, file->comment) || !there->for_ms != !file->for_ms)
		return false;
	return file->until ? there->for_ms <= file->for_ms + WEIR_NEARLY_MS &&
			     file->for_ms <= there->for_ms + WEIR_NEARLY_MS :
	       there->for_ms <= (file->for_ms + 999) / 1000 * 1000;
}

static int compare_lines(const void *left, const void *right)
{
	const struct weir_exempt *a = left, *b = right;
	int diff = weir_config_compare(a, b);

	return diff ? diff : (a->line > b->line) - (a->line < b->line);
}

/* The parts of a list follow each other, in the order of the file. */
static int compare_lists(const void *left, const void *right)
{
	const struct weir_list *a = left, *b = right;
	int diff = strcmp(a->name, b->name);

	if (!diff)
		diff = (a->line > b->line) - (a->line < b->line);
	return diff;
}

void weir_config_sort(struct weir_config *config)
{
	if (config->list_count)
		qsort(config->lists, config->list_count, sizeof(*config->lists), compare_lists);
	if (config->exempt_count)
		qsort(config->exempts, config->exempt_count, sizeof(*config->exempts),
		      compare_lines);
}

int weir_config_check(struct weir_config *config, const struct weir_exempt *exempt,
		      struct weir_err *err)
{
	const char *add = exempt->block ? "block add" : "exempt add";
	char place[WEIR_PLACE_SIZE];

	if (exempt > config->exempts && !weir_config_compare(exempt - 1, exempt))
		return weir_err_set(err, "%s: already %s on %s", add,
				    exempt->block ? "blocked" : "exempted",
				    weir_place_text(config->places, exempt[-1].line, place));
	if (!*exempt->limit || weir_config_find(config, exempt->limit))
		return 0;
	weir_err_set(err, "%s: limit: no limit '%s' in this file", add, exempt->limit);
	return -ENOENT;
}
