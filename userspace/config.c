// SPDX-License-Identifier: GPL-2.0-or-later
/* Build a configuration item by item, and check it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "place.h"
#include "value.h"

void weir_config_clear(struct weir_config *config)
{
	free(config->lists);
	free(config->exempts);
	config->lists = NULL;
	config->exempts = NULL;
	config->list_room = 0;
	config->exempt_room = 0;
	config->places = NULL;
	config->list_count = 0;
	config->limit_count = 0;
	config->exempt_count = 0;
	config->early_count = 0;
}

struct weir_limit *weir_config_find(struct weir_config *config, const char *name)
{
	unsigned int i;

	for (i = 0; i < config->limit_count; i++) {
		if (!strcmp(config->limits[i].name, name))
			return &config->limits[i];
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

/* Make room for one more element of @size behind @count; false with an error: no memory. */
static bool grow(void *array, unsigned int *room, unsigned int count, size_t size,
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
	if (config->exempt_count == WEIR_EXEMPTS_MAX)
		return weir_err_set(err, "more than %d exemptions", WEIR_EXEMPTS_MAX);
	if (!grow(&config->exempts, &config->exempt_room, config->exempt_count, sizeof(*exempt),
		  err))
		return -ENOMEM;
	config->exempts[config->exempt_count++] = *exempt;
	return 0;
}

/* Another part of a list, or NULL with an error. */
static struct weir_list *new_part(struct weir_config *config, struct weir_err *err)
{
	if (config->list_count == WEIR_LIST_PARTS_MAX) {
		weir_err_set(err, "more than %d prefixes in lists", WEIR_LIST_PREFIXES_MAX);
		return NULL;
	}
	if (!grow(&config->lists, &config->list_room, config->list_count, sizeof(*config->lists),
		  err))
		return NULL;
	return &config->lists[config->list_count++];
}

int weir_config_add_list(struct weir_config *config, const struct weir_list *list,
			 struct weir_err *err)
{
	unsigned int i, at = config->list_count;
	struct weir_list *part = NULL;

	/* Mostly the last one of all. */
	while (!part && at--)
		if (!strcmp(config->lists[at].name, list->name))
			part = &config->lists[at];
	for (i = 0; i < list->prefix_count; i++) {
		if (!part || part->prefix_count == WEIR_PREFIXES_MAX) {
			part = new_part(config, err);
			if (!part)
				return -EINVAL;
			*part = *list;
			part->prefix_count = 0;
		}
		part->prefix[part->prefix_count++] = list->prefix[i];
	}
	return 0;
}

/* Is the address in the list? */
static bool list_has(const struct weir_config *config, const char *name,
		     const struct weir_prefix *address)
{
	const struct weir_list *list;
	unsigned int at, i;

	for (at = 0; at < config->list_count; at++) {
		list = &config->lists[at];
		for (i = 0; !strcmp(list->name, name) && i < list->prefix_count; i++)
			if (weir_prefix_holds(&list->prefix[i], address))
				return true;
	}
	return false;
}

bool weir_config_meets(const struct weir_config *config, const struct weir_match *packet,
		       const struct weir_match *match)
{
	if (!weir_packet_meets(packet, match))
		return false;
	if (packet->has & WEIR_COND_FROM && match->has & WEIR_COND_FROM_LIST &&
	    list_has(config, match->from_list, packet->from) ==
	    !!(match->invert & WEIR_COND_FROM_LIST))
		return false;
	return !(packet->has & WEIR_COND_TO && match->has & WEIR_COND_TO_LIST) ||
	       list_has(config, match->to_list, packet->to) !=
	       !!(match->invert & WEIR_COND_TO_LIST);
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
	return diff ? diff : (a->column > b->column) - (a->column < b->column);
}

void weir_config_sort(struct weir_config *config)
{
	if (config->list_count)
		qsort(config->lists, config->list_count, sizeof(*config->lists),
		      compare_lists);
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
