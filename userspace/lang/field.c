// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations on rows of any type. */

#include <libmnl/libmnl.h>
#include <string.h>

#include "lang/field.h"

void *weir_field_at(const struct weir_field *field, const void *model)
{
	char *at = (char *)model + field->offset;

	return field->apart ? *(char **)at : at;
}

/* A field without a size, as an element of a list, is never zero. */
static bool is_zero(const struct weir_field *field, const void *model)
{
	const char *at = weir_field_at(field, model);
	size_t i;

	for (i = 0; i < field->size && !at[i]; i++)
		;
	return field->size && i == field->size;
}

unsigned int weir_field_given(const struct weir_field *field, const void *model)
{
	if (field->many)
		return *(const unsigned int *)((const char *)model + field->count);
	if (field->bit)
		return !!(*(const uint64_t *)model & field->bit);
	return !is_zero(field, model);
}

const struct weir_field *weir_field_find(const struct weir_set *set,
					 unsigned int verb, uint16_t attr)
{
	const struct weir_field *field;

	for (field = set->fields; field->type; field++) {
		if ((!verb || field->flags & verb) && (field->attr == attr || field->part == attr))
			return field;
	}
	return NULL;
}

const char *weir_field_text(const struct weir_field *field, const void *model,
			    char buf[WEIR_TEXT_SIZE])
{
	unsigned int i, given = field->many ? weir_field_given(field, model) : 1;
	const char *at = weir_field_at(field, model);
	char element[WEIR_TEXT_SIZE];

	if (!field->type->text)
		return "";
	if (given == 1)
		return field->type->text(field, at, buf);
	for (*buf = '\0', i = 0; i < given; i++)
		weir_append(buf, WEIR_TEXT_SIZE, ",",
			    field->type->text(field, at + i * field->size, element));
	return buf;
}

const char *weir_field_key(const struct weir_field *field)
{
	return field->key ? field->key : field->spec->name;
}

/* The placeholder without optional words that follow. */
static void own_value(const struct weir_field *field, char buf[WEIR_TEXT_SIZE])
{
	const char *value = field->value ? field->value : field->type->value;
	const char *const *names = field->spec ? field->spec->names : NULL;

	snprintf(buf, WEIR_TEXT_SIZE, "%s", value ? value : "");
	for (; !value && names && *names; names++)
		weir_append(buf, WEIR_TEXT_SIZE, "|", *names);
}

const char *weir_field_name(const struct weir_field *field, char buf[WEIR_TEXT_SIZE])
{
	while (field->flags & WEIR_FOLLOWS)
		field--;
	if (field->flags & (WEIR_FIRST | WEIR_ALONE | WEIR_BARE))
		own_value(field, buf);
	else
		snprintf(buf, WEIR_TEXT_SIZE, "%s", field->word ? field->word : field->spec->name);
	return buf;
}

char *weir_field_value(const struct weir_field *field, char buf[WEIR_TEXT_SIZE])
{
	char more[WEIR_TEXT_SIZE];
	size_t used;

	own_value(field, buf);
	for (field++; field->type && field->flags & WEIR_FOLLOWS; field++) {
		own_value(field, more);
		used = strlen(buf);
		snprintf(buf + used, WEIR_TEXT_SIZE - used, " [ %s%s%s ]",
			 field->flags & WEIR_BARE ? "" : field->word,
			 field->flags & WEIR_BARE || !*more ? "" : " ", more);
	}
	return buf;
}

int weir_field_required(const struct weir_field *field, struct weir_err *err)
{
	bool alone = field->flags & (WEIR_FIRST | WEIR_ALONE);
	char name[WEIR_TEXT_SIZE], value[WEIR_TEXT_SIZE];

	return weir_err_set(err, "required: %s%s%s%s%s", alone ? "" : weir_field_name(field, name),
			    alone ? "" : " ", weir_field_value(field, value),
			    field->instead ? ", or " : "", field->instead ? field->instead : "");
}

void weir_set_put(const struct weir_set *set, unsigned int verb,
		  struct nlmsghdr *msg, const void *model)
{
	const struct weir_field *field;
	unsigned int given, i;
	uint64_t put = 0;	/* rows may share an attribute */

	for (field = set->fields; field->type; field++) {
		given = weir_field_given(field, model);
		if (!given || !field->attr || !field->type->put || put & 1ULL << field->attr ||
		    (verb && !(field->flags & verb)))
			continue;
		put |= 1ULL << field->attr;
		for (i = 0; i < given; i++)
			field->type->put(field, msg, (const char *)weir_field_at(field, model) +
					 i * field->size);
	}
}

static void get_attr(const struct weir_set *set, const struct nlattr *attr, void *model)
{
	uint16_t type = mnl_attr_get_type(attr);
	const struct weir_field *field = weir_field_find(set, 0, type);
	unsigned int *count;
	char *at;

	if (!field || !field->type->get)
		return;
	at = weir_field_at(field, model);
	if (field->many) {
		count = (unsigned int *)((char *)model + field->count);
		if (*count == field->many)
			return;
		at += field->size * (*count)++;
	}
	field->type->get(field, type, mnl_attr_get_payload(attr),
			 mnl_attr_get_payload_len(attr), at);
	if (type == field->attr && field->bit)
		*(uint64_t *)model |= field->bit;
}

void weir_set_get(const struct weir_set *set, const void *attrs, size_t len, void *model)
{
	const struct nlattr *attr;

	memset(model, 0, set->size);
	mnl_attr_for_each_payload(attrs, len)
		get_attr(set, attr, model);
}

void weir_set_fill(const struct weir_set *set, void *model, const void *from)
{
	const struct weir_field *field;

	for (field = set->fields; field->type; field++) {
		if (weir_field_given(field, model) || !weir_field_given(field, from))
			continue;
		memcpy(weir_field_at(field, model), weir_field_at(field, from),
		       field->size * (field->many ? field->many : 1));
		if (field->many)
			memcpy((char *)model + field->count, (const char *)from + field->count,
			       sizeof(unsigned int));
		*(uint64_t *)model |= field->bit;
	}
}

static size_t add_word(struct weir_word *words, size_t used, const char *name,
		       const void *is, uint32_t number, const void *in)
{
	if (used < WEIR_WORDS_MAX - 1)
		words[used++] = (struct weir_word){ name, is, number, in };
	words[used].name = NULL;
	return used;
}

static size_t add_words(const struct weir_set *set, unsigned int verb,
			const struct weir_field *in, struct weir_word *words,
			size_t used)
{
	const struct weir_field *field;
	size_t i;

	for (field = set->fields; field->type; field++) {
		if (!(field->flags & verb))
			continue;
		if (field->type->nests)
			used = add_words(field->nest, verb, field, words, used);
		if (field->flags & WEIR_BARE) {
			for (i = 0; field->spec->names[i]; i++)
				used = add_word(words, used, field->spec->names[i], field, i, in);
		} else if (field->word && field->type->parse) {
			used = add_word(words, used, field->word, field, 0, in);
			if (field->alias && !(field->flags & WEIR_FIRST))
				used = add_word(words, used, field->alias, field, 0, in);
		}
	}
	return used;
}

const struct weir_word *weir_set_words(const struct weir_set *set, unsigned int verb,
				       struct weir_word words[WEIR_WORDS_MAX])
{
	words[0].name = NULL;
	add_words(set, verb, NULL, words, 0);
	return words;
}

static void show_json(const struct weir_field *field, struct weir_out *out, const void *model)
{
	const char *key = weir_field_key(field), *at = weir_field_at(field, model);
	unsigned int i, given = weir_field_given(field, model);

	if (!field->many) {
		field->type->json(field, key, out, at);
		return;
	}
	weir_out_begin(out, key, '[');
	for (i = 0; i < given; i++)
		field->type->json(field, NULL, out, at + i * field->size);
	weir_out_end(out, ']');
}

const char *weir_field_label(const struct weir_field *field)
{
	if (field->label)
		return field->label;
	return field->flags & (WEIR_BARE | WEIR_FIRST) || !field->word ? "" :
	       field->word;
}

static uint32_t inverted(const struct weir_set *set, const void *model)
{
	const uint32_t none = 0, *invert = &none;

	if (set->invert)
		invert = (const void *)((const char *)model + set->invert);
	return *invert;
}

static void show_text(const struct weir_set *set, const struct weir_field *field,
		      struct weir_out *out, const void *model)
{
	bool not = inverted(set, model) & field->bit;
	char buf[WEIR_TEXT_SIZE], line[2 * WEIR_TEXT_SIZE], *end;
	const char *text = weir_field_text(field, model, buf), *label = weir_field_label(field);

	if (field->flags & WEIR_QUIET && !strcmp(text, field->usual))
		return;
	/* of a limit's counters, omit zeros but for the first */
	if (set->indent && field != set->fields && is_zero(field, model))
		return;
	if (field->flags & WEIR_LINE) {
		weir_out_text(out, "%*s%-17s %s\n", set->indent, "", label, text);
	} else if (*label || *text) {
		end = stpcpy(line, not ? "not " : "");
		end = stpcpy(end, label);
		end = stpcpy(end, *label && *text ? " " : "");
		stpcpy(end, text);
		weir_out_put(out, field->color, line);
	}
}

void weir_field_show(const struct weir_set *set, const struct weir_field *field,
		     struct weir_out *out, const void *model)
{
	unsigned int given = weir_field_given(field, model), i;

	if (out->json)
		show_json(field, out, model);
	else if (field->flags & WEIR_MUTE)
		return;
	else if (field->type->nests)
		for (i = 0; i < (field->many ? given : 1); i++)
			weir_set_show(field->nest, WEIR_WORDS, out,
				      (char *)weir_field_at(field, model) + i * field->size);
	else if (!field->type->flag || given)
		show_text(set, field, out, model);
}

/* Show the fields but for those of some bits. */
static void show_but(const struct weir_set *set, unsigned int flags, uint64_t without,
		     struct weir_out *out, const void *model)
{
	const struct weir_field *field;

	for (field = set->fields; field->type; field++) {
		if (field->flags & flags && field->type->json && !(field->bit & without) &&
		    (weir_field_given(field, model) ||
		     !(field->bit || field->many || field->flags & WEIR_SOME)))
			weir_field_show(set, field, out, model);
	}
}

/* In JSON, inverted conditions are those of an object of their own. */
void weir_set_show(const struct weir_set *set, unsigned int flags,
		   struct weir_out *out, const void *model)
{
	uint32_t invert = out->json ? inverted(set, model) : 0;

	show_but(set, flags, invert, out, model);
	if (!invert)
		return;
	weir_out_begin(out, WEIR_NOT_KEY, '{');
	show_but(set, flags, ~(uint64_t)invert, out, model);
	weir_out_end(out, '}');
}
