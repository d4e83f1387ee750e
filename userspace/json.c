// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir -json -file: read the output of weir -json save. Each object is turned into the
 * words of a line, which are parsed and checked as in a file of commands.
 */

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tool.h"
#include "value.h"

/* The current value's position in the text. */
struct reader {
	const char *at;
	struct weir_err *err;
};

static size_t token_length(const char *at)
{
	const char *end = at + 1;

	if (*at != '"')
		return *at == '{' || *at == '[' ? 1 : strcspn(at, WEIR_BLANKS ",:]}");
	while (*end != '"')
		end += 1 + (*end == '\\');
	return end + 1 - at;
}

/* The next token of valid JSON; @level counts open arrays and objects. */
static const char *take_token(const char *at, int *level)
{
	*level += *at == '{' || *at == '[';
	for (at += token_length(at); *at && strchr(WEIR_BLANKS ",:]}", *at); at++)
		*level -= *at == ']' || *at == '}';
	return at;
}

static const char *next_token(const char *at)
{
	int level = 0;

	return take_token(at, &level);
}

/* Find a key's value in an object, or return the object; @key NULL: skip the value. */
static const char *find_value(const char *value, const char *key)
{
	size_t len = key ? strlen(key) : 0, end = len + 2;
	const char *at = value;
	int level = 0;

	while (at = take_token(at, &level), level > 0) {
		if (key && token_length(at) == end && !strncmp(at + 1, key, len) &&
		    at[end + strspn(at + end, WEIR_BLANKS)] == ':')
			return next_token(at);
	}
	return key ? value : at;
}

static int read_number(const struct weir_field *field, uint16_t attr, uint64_t value,
		       void *at, struct weir_err *err)
{
	const struct weir_attr_spec *spec = &field->spec[attr - field->attr];
	size_t width = weir_type_width(field, attr);
	uint64_t max = width < 8 ? (1ULL << 8 * width) - 1 : UINT64_MAX;
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	if (weir_value_range(text, value, spec->min, spec->max ? spec->max : max, err))
		return -EINVAL;
	field->type->get(field, attr, &value, sizeof(value), at);
	return 0;
}

static int read_object(json_t *object, const struct weir_set *set, char *model,
		       struct reader *reader);

static const char *wanted(const struct weir_field *field)
{
	return field->type == &weir_type_flag ? "true" :
	       !strcmp(field->type->schema, "integer") ? "a whole number" :
	       !strcmp(field->type->schema, "object") ? "an object" : "a string";
}

static int read_value(json_t *value, const struct weir_field *field, uint16_t attr, void *at,
		      struct reader *reader)
{
	struct weir_args args = { .exact = true, .err = reader->err };
	const char *schema = field->type->schema;

	if (json_is_object(value) && !strcmp(schema, "object"))
		return read_object(value, field->nest, at, reader);
	if (json_is_string(value) && !strcmp(schema, "string"))
		return field->type->parse(field, &args, json_string_value(value), at);
	if (json_integer_value(value) >= 0 && json_is_integer(value) && !strcmp(schema, "integer"))
		return read_number(field, attr, json_integer_value(value), at,
				   reader->err);
	if (json_is_true(value) && field->type == &weir_type_flag)
		return field->type->parse(field, &args, "", at);
	return weir_err_set(reader->err, "expected %s", wanted(field));
}

static int read_list(json_t *list, const struct weir_field *field, char *model,
		     struct reader *reader)
{
	unsigned int *count = (unsigned int *)(model + field->count);
	char *at = weir_field_at(field, model);
	json_t *value;
	int ret = 0;
	size_t i;

	if (!json_is_array(list))
		return weir_err_set(reader->err, "expected an array");
	if (!json_array_size(list))
		return weir_err_set(reader->err, "empty array%s", field->type == &weir_type_nest ?
				    "" : "; to match any, leave out the key");
	if (json_array_size(list) + *count > field->many)
		return weir_err_set(reader->err, "more than %u elements", field->many);
	reader->at = next_token(reader->at);
	json_array_foreach(list, i, value) {
		ret = read_value(value, field, field->attr, at + field->size * (*count)++, reader);
		if (ret)
			break;
		reader->at = find_value(reader->at, NULL);
	}
	return ret;
}

/* The row of a key; @attr tells the value from its second part. */
static const struct weir_field *find_key(const struct weir_set *set, const char *key,
					 uint16_t *attr)
{
	const struct weir_field *field;

	for (field = set->fields; field->type; field++) {
		if (!field->type->json || !(field->flags & (WEIR_WORDS | WEIR_ON_ADD)) ||
		    (!field->word && !(field->flags & WEIR_WORDS)))
			continue;
		*attr = field->attr;
		if (!strcmp(weir_field_key(field), key))
			return field;
		*attr = field->part;
		if (field->type->second && !strcmp(weir_field_part(field)->name, key))
			return field;
	}
	return NULL;
}

/* The inverted conditions: keys as beside them, none of which may be in both. */
static int read_inverted(json_t *object, const struct weir_set *set, char *model,
			 struct reader *reader)
{
	uint64_t *has = (uint64_t *)model, plain = *has;
	int ret;

	if (!json_is_object(object))
		return weir_err_set(reader->err, WEIR_NOT_KEY ": expected an object");
	*has = 0;
	ret = read_object(object, set, model, reader);
	if (!ret && (*has & plain || *(uint32_t *)(model + set->invert)))
		ret = weir_err_set(reader->err, WEIR_NOT_KEY ": a condition is given twice");
	*(uint32_t *)(model + set->invert) = *has;
	*has |= plain;
	return ret;
}

static int read_object(json_t *object, const struct weir_set *set, char *model,
		       struct reader *reader)
{
	const char *begin = reader->at, *next = next_token(begin), *key;
	struct weir_err *err = reader->err;
	const struct weir_field *field;
	uint16_t attr;
	json_t *value, *inverted = NULL;
	const char *inverted_at = NULL;
	bool given;
	int ret;

	json_object_foreach(object, key, value) {
		reader->at = next;
		if (set->invert && !strcmp(key, WEIR_NOT_KEY)) {
			inverted = value;
			inverted_at = next_token(next);
			reader->at = inverted_at;
			next = find_value(reader->at, NULL);
			continue;
		}
		field = find_key(set, key, &attr);
		if (!field)
			return weir_err_set(err, "unknown key '%.60s'", key);
		reader->at = next_token(next);
		next = find_value(reader->at, NULL);
		ret = field->many ? read_list(value, field, model, reader) :
		      read_value(value, field, attr, weir_field_at(field, model), reader);
		if (ret)
			return weir_err_set(err, "%s: %.400s", key, err->text);
		if (field->bit)
			*(uint64_t *)model |= field->bit;
	}
	reader->at = begin;
	for (field = set->fields; field->type; field++) {
		given = !field->bit || *(uint64_t *)model & field->bit;
		key = field->type->second ? weir_field_part(field)->name : NULL;
		if (key && given && !(json_object_get(object, weir_field_key(field)) &&
				      json_object_get(object, key)))
			return weir_err_set(err, "%s and %s must be given together",
					    weir_field_key(field), key);
	}
	if (!inverted)
		return 0;
	reader->at = inverted_at;
	return read_inverted(inverted, set, model, reader);
}

/* A budget of the limit at @item, by its number from 1. */
static const char *find_budget(const char *item, unsigned int number)
{
	const char *list = find_value(item, "budgets"), *at = next_token(list);

	while (list != item && --number)
		at = find_value(at, NULL);
	return list == item ? item : at;
}

/* The value of the word at fault, or of the word that precedes a value. */
static const char *find_fault(const char *item, const struct weir_set *set, char **words, int at)
{
	struct weir_word list[WEIR_WORDS_MAX];
	const struct weir_word *word = NULL;
	const struct weir_field *in;
	unsigned int budget = 1;
	int i;

	weir_set_words(set, WEIR_ON_ADD, list);
	for (; at > 2 && !word; at--)
		word = weir_word_find(list, words[at]);
	if (!word)
		return find_value(item, at < 2 ? "" : weir_field_key(list->is));
	in = word->in;
	for (i = 3; i <= at + 1; i++)
		budget += !strcmp(words[i], "budget") && i > 3;
	if (in && in->many)
		item = find_budget(item, budget);
	return find_value(item, weir_field_key(word->is));
}

/* A list of a configuration. */
struct list {
	const char *key, *command;
	const struct weir_set *set;
};

static const struct list lists_of[] = {
	{ "prefix_lists", "prefix-list add", &weir_list_fields },
	{ "limits", "limit add", &weir_limit_fields },
	{ "exempts", "exempt add", &weir_exempt_fields },
	{ "blocked_prefixes", "block add", &weir_block_fields },
	{ "early", "early", &weir_xdp_fields },
};

/* Turn an object into words and parse them. */
static int read_item(struct weir_tool *tool, const struct list *list, json_t *item,
		     struct weir_config *config, struct reader *reader)
{
	char *text, *words[WEIR_LINE_WORDS];
	const char *begin = reader->at;
	union weir_model model = { 0 };
	struct weir_out out = { 0 };
	int count, fault, ret;
	size_t size;

	if (read_object(item, list->set, (char *)&model, reader))
		return -EINVAL;
	if (list->set == &weir_exempt_fields && model.exempt.block)
		return weir_err_set(&tool->err, "blocks belong into the list blocked_prefixes");
	out.to = open_memstream(&text, &size);
	if (!out.to)
		return weir_err_set(&tool->err, WEIR_NO_MEMORY);
	weir_out_text(&out, "%s ", list->command);
	weir_set_show(list->set, WEIR_WORDS | WEIR_ON_ADD, &out, &model);
	fclose(out.to);
	count = weir_split(text, words, WEIR_LINE_WORDS);
	ret = weir_read_item(tool, words, count, config, &fault);
	reader->at = ret == -ENOENT ? find_value(begin, "before") :
		     find_fault(begin, list->set, words, fault);
	free(text);
	return ret;
}

/* Make the next error point at the current value, which follows the previous position. */
static void point(struct weir_tool *tool, const struct reader *reader)
{
	weir_point(tool, tool->source, reader->at, token_length(reader->at));
}

static int read_items(struct weir_tool *tool, const struct list *of, json_t *list,
		      struct weir_lines *lines, struct weir_config *config, struct reader *reader)
{
	const char *next;
	json_t *item;
	size_t i;
	int ret;

	reader->at = next_token(reader->at);
	json_array_foreach(list, i, item) {
		if (!json_is_object(item))
			return weir_err_set(&tool->err, "%s: expected objects", of->key);
		next = find_value(reader->at, NULL);
		point(tool, reader);
		ret = read_item(tool, of, item, config, reader);
		if (ret && !(ret == -ENOENT && lines->bad)) {
			point(tool, reader);
			if (weir_count_bad(tool, lines))
				return -ECANCELED;
		}
		reader->at = next;
	}
	return 0;
}

static int read_lists(struct weir_tool *tool, json_t *lists, struct weir_lines *lines,
		      struct weir_config *config, struct reader *reader)
{
	const size_t count = sizeof(lists_of) / sizeof(lists_of[0]);
	const char *key;
	json_t *list;
	int ret = 0;
	size_t i;

	if (!json_is_object(lists))
		return weir_err_set(&tool->err, "expected an object with prefix_lists, limits, exempts, blocked_prefixes and early");
	reader->at = next_token(reader->at);
	json_object_foreach(lists, key, list) {
		for (i = 0; i < count && strcmp(key, lists_of[i].key); i++)
			;
		if (i == count)
			return weir_err_set(&tool->err, "unknown key '%.60s'; expected prefix_lists, limits, exempts, blocked_prefixes or early",
					    key);
		reader->at = next_token(reader->at);
		if (!json_is_array(list))
			return weir_err_set(&tool->err, "%s: expected an array", key);
		ret = read_items(tool, &lists_of[i], list, lines, config, reader);
		if (ret)
			break;
	}
	return ret;
}

void weir_json_point(struct weir_tool *tool, const char *text, unsigned int line,
		     unsigned int column, const char *key, unsigned int budget)
{
	const char *at;

	for (tool->line = 1; tool->line < line; tool->line++)
		text = strchr(text, '\n') + 1;
	at = text + column - 1;
	if (budget)
		at = find_budget(at, budget);
	at = find_value(at, key);
	weir_point(tool, text, at, token_length(at));
}

static int read_text(struct weir_tool *tool, struct weir_lines *lines,
		     struct weir_config *config)
{
	struct reader reader = { lines->whole, &tool->err };
	json_error_t error;
	json_t *root = json_loadb(reader.at, lines->size, JSON_REJECT_DUPLICATES, &error);
	bool list = json_array_size(root) == 1;
	int ret;

	tool->line = 1;
	tool->source = reader.at;
	if (!root) {
		weir_point(tool, reader.at, reader.at + error.position - !!error.position, 1);
		return weir_err_set(&tool->err, "not JSON: %s",
				    memchr(reader.at, '\0', lines->size) ? "NUL byte" : error.text);
	}
	reader.at += strspn(reader.at, WEIR_BLANKS);
	if (list)
		reader.at = next_token(reader.at);
	ret = read_lists(tool, list ? json_array_get(root, 0) : root, lines, config, &reader);
	if (ret == -EINVAL)
		point(tool, &reader);
	json_decref(root);
	return ret;
}

void weir_read_json(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config)
{
	bool empty = lines->size <= 0 || strspn(lines->whole, WEIR_BLANKS) == (size_t)lines->size;
	int ret = empty ?
		weir_err_set(&tool->err, "the file is empty; an empty configuration is {}") :
		read_text(tool, lines, config);

	if (ret == -EINVAL)
		weir_count_bad(tool, lines);
}
