// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir -json -file: what weir -json save writes. Each of its objects becomes the words
 * of a line of a file, which are read and judged like those.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tool.h"
#include "value.h"

struct json {
	struct weir_tool *tool;
	struct weir_config *config;
	const char *begin, *at;
	const char *token;		/* that is at hand: where errors point */
};

/* The next token's first character, '\0' at the end. */
static char peek(struct json *json)
{
	json->at += strspn(json->at, " \t\r\n");
	json->token = json->at;
	return *json->at;
}

static bool take(struct json *json, char c)
{
	if (peek(json) != c)
		return false;
	json->at++;
	return true;
}

static int expect(struct json *json, char c)
{
	return take(json, c) ? 0 : weir_err_set(&json->tool->err, "not JSON: expected '%c'", c);
}

/* Whether another element follows: 1, or 0 behind the end; @first: before any. */
static int more(struct json *json, char end, bool first)
{
	if (take(json, end))
		return 0;
	return first ? 1 : expect(json, ',') ? -EINVAL : 1;
}

/* Behind a backslash: the character as UTF-8; its length, or 0. */
static int unescape(struct json *json, char text[4])
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *plain = *json->at ? strchr(from, *json->at) : NULL;
	unsigned int code;

	if (plain) {
		json->at++;
		text[0] = to[plain - from];
		return 1;
	}
	if (*json->at != 'u' || strspn(json->at + 1, "0123456789abcdefABCDEF") < 4 ||
	    sscanf(json->at + 1, "%4x", &code) != 1 || !code || (code & 0xf800) == 0xd800)
		return 0;
	json->at += 5;
	if (code < 0x80)
		return sprintf(text, "%c", code);
	if (code < 0x800)
		return sprintf(text, "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
	return sprintf(text, "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f),
		       0x80 | (code & 0x3f));
}

static int read_string(struct json *json, char text[WEIR_TEXT_SIZE])
{
	size_t used = 0, len;

	if (expect(json, '"'))
		return -EINVAL;
	for (; *json->at != '"'; used += len) {
		text[used] = *json->at++;
		len = text[used] == '\\' ? unescape(json, text + used) : text[used] != '\0';
		if (!len || used + 4 >= WEIR_TEXT_SIZE)
			return weir_err_set(&json->tool->err, len ? "string too long" :
					    "not JSON: invalid escape or unterminated string");
	}
	json->at++;
	text[used] = '\0';
	return 0;
}

static int read_number(struct json *json, const struct weir_field *field, uint16_t attr, void *at)
{
	const struct weir_attr_spec *spec = &field->spec[attr - field->attr];
	size_t width = weir_type_width(field, attr);
	uint64_t max = width < 8 ? (1ULL << 8 * width) - 1 : UINT64_MAX, value;
	char text[24];

	snprintf(text, sizeof(text), "%.*s", (int)strspn(json->at, "0123456789.eE+-"), json->at);
	if (weir_value_number(text, spec->min, spec->max ? spec->max : max, &value,
			      &json->tool->err))
		return -EINVAL;
	json->at += strlen(text);
	field->type->get(field, attr, &value, sizeof(value), at);
	return 0;
}

static int read_object(struct json *json, const struct weir_set *set, char *model);

/* The names of an enumeration whose bits are set. */
static int read_names(struct json *json, const struct weir_field *field, void *at)
{
	struct weir_args args = { .exact = true, .err = &json->tool->err };
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_word *word;
	char text[WEIR_TEXT_SIZE];
	uint64_t bits = 0;
	int ret;

	weir_words_of(field->spec->names, words);
	for (ret = more(json, ']', true); ret > 0; ret = more(json, ']', false)) {
		if (read_string(json, text))
			return -EINVAL;
		word = weir_pick(words, text, args.exact, "word", args.err);
		if (!word)
			return -EINVAL;
		bits |= 1ULL << word->number;
	}
	weir_uint_set(at, field->size, bits);
	return ret;
}

static const char *wanted(const struct weir_field *field)
{
	return field->many || field->type == &weir_type_conds ? "an array" :
	       field->type == &weir_type_flag ? "true" :
	       !strcmp(field->type->schema, "integer") ? "a whole number" :
	       !strcmp(field->type->schema, "object") ? "an object" : "a string";
}

/* One value, of a type that its first character tells. */
static int read_value(struct json *json, const struct weir_field *field, uint16_t attr, void *at)
{
	struct weir_args args = { .exact = true, .err = &json->tool->err };
	const char *schema = field->type->schema;
	char text[WEIR_TEXT_SIZE], c = peek(json);

	if (c == '[' && field->type == &weir_type_conds && json->at++)
		return read_names(json, field, at);
	if (c == '{' && field->nest)
		return read_object(json, field->nest, at);
	if (c == '"' && !strcmp(schema, "string"))
		return read_string(json, text) || field->type->parse(field, &args, text, at) ?
		       -EINVAL : 0;
	if (c >= '0' && c <= '9' && !strcmp(schema, "integer"))
		return read_number(json, field, attr, at);
	if (!strncmp(json->at, "true", 4) && field->type == &weir_type_flag) {
		json->at += 4;
		return field->type->parse(field, &args, "", at);
	}
	return weir_err_set(args.err, "expected %s", wanted(field));
}

static int read_many(struct json *json, const struct weir_field *field, char *model)
{
	unsigned int *count = (unsigned int *)(model + field->count);
	char *at = weir_field_at(field, model);
	int ret;

	if (peek(json) != '[')
		return weir_err_set(&json->tool->err, "expected %s", wanted(field));
	expect(json, '[');
	for (ret = more(json, ']', true); ret > 0; ret = more(json, ']', false)) {
		if (*count == field->many)
			return weir_err_set(&json->tool->err, "more than %u elements", field->many);
		if (read_value(json, field, field->attr, at + field->size * (*count)++))
			return -EINVAL;
	}
	return ret;
}

/* The row of a key, and its attribute, that of a second part too. */
static const struct weir_field *find_key(const struct weir_set *set, const char *key,
					 uint16_t *attr)
{
	const struct weir_field *field;

	for (field = set->fields; field->type; field++) {
		if (!field->type->json || field->flags & WEIR_RESULT)
			continue;
		*attr = field->attr;
		if (!strcmp(weir_field_key(field), key))
			return field;
		*attr = field->type->second ? field->part : 0;
		if (*attr && !strcmp(field->spec[*attr - field->attr].name, key))
			return field;
	}
	return NULL;
}

static int read_object(struct json *json, const struct weir_set *set, char *model)
{
	const struct weir_field *field;
	uint64_t seen[2] = { 0 }, row;	/* rows by their keys, and by those of second parts */
	char key[WEIR_TEXT_SIZE];
	struct weir_err inner;
	uint16_t attr;
	int ret = expect(json, '{');

	for (ret = ret ? ret : more(json, '}', true); ret > 0; ret = more(json, '}', false)) {
		if (read_string(json, key))
			return -EINVAL;
		field = find_key(set, key, &attr);
		if (!field)
			return weir_err_set(&json->tool->err, "unknown key '%s'", key);
		row = 1ULL << (field - set->fields);
		if (seen[attr != field->attr] & row)
			return weir_err_set(&json->tool->err, WEIR_TWICE, key);
		seen[attr != field->attr] |= row;
		if (expect(json, ':'))
			return -EINVAL;
		ret = field->many ? read_many(json, field, model) :
		      read_value(json, field, attr, weir_field_at(field, model));
		if (ret) {
			inner = json->tool->err;
			return weir_err_set(&json->tool->err, "%s: %.400s", key, inner.text);
		}
		if (field->bit)
			*(uint64_t *)model |= field->bit;
	}
	for (field = set->fields; !ret && field->type; field++) {
		row = 1ULL << (field - set->fields);
		if (field->type->second && field->type != &weir_type_mark &&
		    (seen[0] ^ seen[1]) & row)
			return weir_err_set(&json->tool->err, "%s and %s must be given together",
					    weir_field_key(field),
					    field->spec[field->part - field->attr].name);
	}
	return ret;
}

/* Where the token at hand is. */
static void point(const struct json *json)
{
	struct weir_tool *tool = json->tool;

	tool->line = 1;
	for (tool->source = json->begin; ; tool->line++) {
		tool->column = json->token - tool->source + 1;
		if (strcspn(tool->source, "\n") >= tool->column - 1)
			break;
		tool->source += strcspn(tool->source, "\n") + 1;
	}
	tool->length = json->at > json->token ? json->at - json->token : 1;
}

/* The items of one list. */
static int read_items(struct json *json, const struct weir_set *set, const char *object)
{
	int ret = expect(json, '['), count, fault;
	char *text, *words[WEIR_LINE_WORDS];
	union weir_model model;
	struct weir_out out;
	const char *begin;
	size_t size;

	for (ret = ret ? ret : more(json, ']', true); ret > 0; ret = more(json, ']', false)) {
		peek(json);
		begin = json->token;
		memset(&model, 0, sizeof(model));
		if (read_object(json, set, (char *)&model))
			return -EINVAL;
		json->token = begin;
		point(json);
		out = (struct weir_out){ .to = open_memstream(&text, &size) };
		if (!out.to)
			return weir_err_set(&json->tool->err, WEIR_NO_MEMORY);
		weir_out_text(&out, "%s add ", object);
		weir_set_show(set, WEIR_WORDS, &out, &model);
		fclose(out.to);
		count = weir_split(text, words, WEIR_LINE_WORDS);
		ret = weir_read_item(json->tool, words, count, json->config, &fault);
		free(text);
		if (ret)
			return ret;
	}
	return ret;
}

static int read_lists(struct json *json)
{
	bool list = take(json, '['), limits;
	char key[WEIR_TEXT_SIZE];
	int ret = expect(json, '{');

	for (ret = ret ? ret : more(json, '}', true); ret > 0; ret = more(json, '}', false)) {
		if (read_string(json, key))
			return -EINVAL;
		limits = !strcmp(key, "limits");
		if (!limits && strcmp(key, "exempts"))
			return weir_err_set(&json->tool->err, "unknown key '%s'; expected limits or exempts",
					    key);
		if (expect(json, ':') || (limits ? read_items(json, &weir_limit_fields, "limit") :
					  read_items(json, &weir_exempt_fields, "exempt")))
			return -EINVAL;
	}
	if (!ret && list)
		ret = expect(json, ']');
	if (!ret && peek(json))
		ret = weir_err_set(&json->tool->err, "not JSON: unexpected text after the end");
	return ret;
}

int weir_read_json(struct weir_tool *tool, struct weir_lines *lines, struct weir_config *config)
{
	struct json json = { .tool = tool, .config = config };

	errno = 0;
	if (getdelim(&lines->text, &lines->room, '\0', lines->file) < 0 ||
	    !lines->text[strspn(lines->text, " \t\r\n")])
		return weir_err_set(&tool->err, errno ? WEIR_CANNOT_READ :
				    "the file is empty; an empty configuration is {}",
				    strerror(errno));
	json.begin = lines->text;
	json.at = lines->text;
	if (!read_lists(&json))
		return 0;
	point(&json);
	return -EINVAL;
}
