// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir -json -file: what weir -json save writes. Each of its objects becomes the words
 * of a line of a file, which are read and judged like those.
 */

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tool.h"
#include "value.h"

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
		       struct weir_err *err);

static bool is_list(const struct weir_field *field)
{
	return field->many || field->type == &weir_type_conds;
}

static const char *wanted(const struct weir_field *field)
{
	return field->type == &weir_type_flag ? "true" :
	       !strcmp(field->type->schema, "integer") ? "a whole number" :
	       !strcmp(field->type->schema, "object") ? "an object" : "a string";
}

static int read_value(json_t *value, const struct weir_field *field, uint16_t attr, void *at,
		      struct weir_err *err)
{
	struct weir_args args = { .exact = true, .err = err };
	const char *schema = field->type->schema;

	if (json_is_object(value) && !strcmp(schema, "object"))
		return read_object(value, field->nest, at, err);
	if (json_is_string(value) && !strcmp(schema, "string"))
		return field->type->parse(field, &args, json_string_value(value), at);
	if (json_integer_value(value) >= 0 && json_is_integer(value) && !strcmp(schema, "integer"))
		return read_number(field, attr, json_integer_value(value), at, err);
	if (json_is_true(value) && field->type == &weir_type_flag)
		return field->type->parse(field, &args, "", at);
	return weir_err_set(err, "expected %s", wanted(field));
}

/* The name of a bit that is set. */
static int read_cond(json_t *value, const struct weir_field *field, void *at,
		     struct weir_err *err)
{
	const char *name = json_string_value(value);
	int bit = name ? weir_pick_name(field->spec->names, name, true, err) :
			 weir_err_set(err, "expected %s", wanted(field));

	if (bit >= 0)
		weir_uint_set(at, field->size, weir_uint_get(at, field->size) | 1ULL << bit);
	return bit < 0 ? bit : 0;
}

static int read_list(json_t *list, const struct weir_field *field, char *model,
		     struct weir_err *err)
{
	unsigned int *count = (unsigned int *)(model + field->count);
	char *at = weir_field_at(field, model);
	json_t *value;
	int ret = 0;
	size_t i;

	if (!json_is_array(list))
		return weir_err_set(err, "expected an array");
	if (field->many && !json_array_size(list))
		return weir_err_set(err, "empty array; to match any, leave out the key");
	if (field->many && json_array_size(list) > field->many)
		return weir_err_set(err, "more than %u elements", field->many);
	json_array_foreach(list, i, value) {
		ret = !field->many ? read_cond(value, field, at, err) :
		      read_value(value, field, field->attr, at + field->size * (*count)++, err);
		if (ret)
			break;
	}
	return ret;
}

/* The row of a key, and its attribute, that of a second part too. */
static const struct weir_field *find_key(const struct weir_set *set, const char *key,
					 uint16_t *attr)
{
	const struct weir_field *field;

	for (field = set->fields; field->type; field++) {
		if (!field->type->json || !(field->flags & (WEIR_WORDS | WEIR_ON_ADD)))
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

static int read_object(json_t *object, const struct weir_set *set, char *model,
		       struct weir_err *err)
{
	const struct weir_field *field;
	struct weir_err inner;
	uint16_t attr;
	const char *key;
	json_t *value;
	bool given;
	int ret;

	json_object_foreach(object, key, value) {
		field = find_key(set, key, &attr);
		if (!field)
			return weir_err_set(err, "unknown key '%.60s'", key);
		ret = is_list(field) ? read_list(value, field, model, &inner) :
		      read_value(value, field, attr, weir_field_at(field, model), &inner);
		if (ret)
			return weir_err_set(err, "%s: %.400s", key, inner.text);
		if (field->bit)
			*(uint64_t *)model |= field->bit;
	}
	for (field = set->fields; field->type; field++) {
		given = !field->bit || *(uint64_t *)model & field->bit;
		if (!given && set->invert && *(uint32_t *)(model + set->invert) & field->bit)
			return weir_err_set(err, "'not' names '%s', whose key is missing",
					    weir_field_key(field));
		key = field->type->second ? weir_field_part(field)->name : NULL;
		if (key && given && !(json_object_get(object, weir_field_key(field)) &&
				      json_object_get(object, key)))
			return weir_err_set(err, "%s and %s must be given together",
					    weir_field_key(field), key);
	}
	return 0;
}

/* The object becomes words. */
static int read_item(struct weir_tool *tool, const struct weir_set *set, json_t *item,
		     struct weir_config *config)
{
	char *text, *words[WEIR_LINE_WORDS];
	union weir_model model = { 0 };
	struct weir_out out = { 0 };
	int count, fault, ret;
	size_t size;

	if (read_object(item, set, (char *)&model, &tool->err))
		return -EINVAL;
	out.to = open_memstream(&text, &size);
	if (!out.to)
		return weir_err_set(&tool->err, WEIR_NO_MEMORY);
	weir_out_text(&out, "%s add ", set->name);
	weir_set_show(set, WEIR_WORDS | WEIR_ON_ADD, &out, &model);
	fclose(out.to);
	count = weir_split(text, words, WEIR_LINE_WORDS);
	ret = weir_read_item(tool, words, count, config, &fault);
	free(text);
	return ret;
}

/* The object of the third level that opens next, in JSON that is valid. */
static const char *find_item(const char *at, int *level)
{
	for (;; at++) {
		if (*at == '"') {
			for (at++; *at != '"'; at++)
				at += *at == '\\';
		}
		if (strchr("{[", *at) && ++*level == 3)
			return at;
		*level -= !!strchr("}]", *at);
	}
}

static int read_lists(struct weir_tool *tool, const char *text, json_t *lists,
		      struct weir_config *config)
{
	const char *key, *at = strchr(text, '{');
	const struct weir_set *set;
	json_t *list, *item;
	int level = 0;
	size_t i;

	json_object_foreach(lists, key, list) {
		set = !strcmp(key, "limits") ? &weir_limit_fields :
		      !strcmp(key, "exempts") ? &weir_exempt_fields : NULL;
		if (!set)
			return weir_err_set(&tool->err, "unknown key '%.60s'; expected limits or exempts",
					    key);
		if (!json_is_array(list))
			return weir_err_set(&tool->err, "%s: expected an array", key);
		json_array_foreach(list, i, item) {
			if (!json_is_object(item))
				return weir_err_set(&tool->err, "%s: expected objects", key);
			at = find_item(at, &level);
			tool->line = 1;
			weir_point(tool, text, at++, 1);
			if (read_item(tool, set, item, config))
				return -EINVAL;
		}
	}
	return 0;
}

int weir_read_json(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config)
{
	json_t *root, *lists;
	json_error_t error;
	ssize_t len;
	int ret;

	errno = 0;
	len = getdelim(&lines->source, &lines->room, '\0', lines->file);
	if (len < 0 || strspn(lines->source, " \t\r\n") == (size_t)len)
		return weir_err_set(&tool->err, errno ? WEIR_CANNOT_READ :
				    "the file is empty; an empty configuration is {}",
				    strerror(errno));
	root = json_loadb(lines->source, len, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		tool->line = 1;
		weir_point(tool, lines->source,
			   lines->source + error.position - !!error.position, 1);
		return weir_err_set(&tool->err, "not JSON: %s",
				    memchr(lines->source, '\0', len) ? "NUL byte" : error.text);
	}
	lists = json_array_size(root) == 1 ? json_array_get(root, 0) : root;
	ret = json_is_object(lists) ? read_lists(tool, lines->source, lists, config) :
	      weir_err_set(&tool->err, "expected an object with limits and exempts");
	json_decref(root);
	return ret;
}
