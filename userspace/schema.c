// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -schema: what -json prints, as a JSON schema, from the table. */

#include <string.h>

#include "tool.h"

#define ON_ANY	(WEIR_ON_ADD | WEIR_ON_SET | WEIR_ON_SHOW)

/* What monitor tells, by the name of the event, and its members beside those of a set. */
static const struct {
	const char *event;
	const struct weir_set *set;
	unsigned int flags;		/* of the rows that it has */
	struct {
		const char *key, *type;
	} more[4];
} events[] = {
	{ "limit", &weir_limit_fields, WEIR_EVENT,
	  { { "change", "string" }, { "limit", "string" } } },
	{ "exempt", &weir_exempt_fields, WEIR_EVENT, { { "change", "string" } } },
	{ "source", &weir_source_fields, WEIR_EVENT,
	  { { "until", "string" }, { "window_ms", "integer" }, { "rate", "number" } } },
	{ "charge", &weir_source_fields, WEIR_WORDS | WEIR_RESULT, { { 0 } } },
	{ "forget", &weir_source_fields, WEIR_WORDS, { { "forgotten", "integer" } } },
	{ "pressure", &weir_pressure_fields, WEIR_EVENT, { { 0 } } },
	{ "lost", NULL, 0, { { 0 } } },
};

static void put_set(struct weir_out *out, const struct weir_set *set);

static void put_range(struct weir_out *out, const struct weir_attr_spec *spec)
{
	if (!spec->max)
		return;
	weir_out_u64(out, "minimum", spec->min);
	weir_out_u64(out, "maximum", spec->max);
}

static void put_names(struct weir_out *out, const char *const *names)
{
	weir_out_begin(out, "enum", '[');
	while (*names)
		weir_out_str(out, NULL, *names++);
	weir_out_end(out, ']');
}

static void put_value(struct weir_out *out, const struct weir_field *field)
{
	bool list = field->type == &weir_type_conds;

	weir_out_str(out, "type", list ? "array" : field->type->schema);
	if (list)
		weir_out_begin(out, "items", '{');
	if (field->spec->names)
		put_names(out, field->spec->names);
	if (list)
		weir_out_end(out, '}');
	if (field->nest && !strcmp(field->type->schema, "object"))
		put_set(out, field->nest);
	put_range(out, field->spec);
}

/* A field as a member, or two; of many, an array. */
static void put_member(struct weir_out *out, const struct weir_field *field)
{
	weir_out_begin(out, weir_field_key(field), '{');
	if (field->many) {
		weir_out_str(out, "type", "array");
		weir_out_u64(out, "maxItems", field->many);
		weir_out_begin(out, "items", '{');
	}
	put_value(out, field);
	if (field->many)
		weir_out_end(out, '}');
	weir_out_end(out, '}');
	if (!field->part || !field->type->second)
		return;
	weir_out_begin(out, weir_field_part(field)->name, '{');
	weir_out_str(out, "type", field->type->schema);
	put_range(out, weir_field_part(field));
	weir_out_end(out, '}');
}

static void put_members(struct weir_out *out, const struct weir_set *set, unsigned int flags)
{
	const struct weir_field *field;

	for (field = set->fields; field->type; field++) {
		if (field->type->json && weir_field_find(set, 0, field->attr) == field &&
		    (flags ? field->flags & flags : !(field->flags & ON_ANY) ||
		     field->flags & WEIR_WORDS))
			put_member(out, field);
	}
}

/* The members of an object; those of its words are always there, or conditions. */
static void put_set(struct weir_out *out, const struct weir_set *set)
{
	const struct weir_field *field;

	weir_out_begin(out, "properties", '{');
	put_members(out, set, 0);
	weir_out_end(out, '}');
	weir_out_begin(out, "required", '[');
	for (field = set->fields; field->type; field++) {
		if (field->flags & WEIR_WORDS && !(field->flags & WEIR_SOME) && !set->invert &&
		    !(field->bit && !(field->flags & (WEIR_ON_ADD | WEIR_FOLLOWS))))
			weir_out_str(out, NULL, weir_field_key(field));
	}
	weir_out_end(out, ']');
	weir_out_bool(out, "additionalProperties", false);
}

static void put_type(struct weir_out *out, const char *key, const char *type)
{
	weir_out_begin(out, key, '{');
	weir_out_str(out, "type", type);
	weir_out_end(out, '}');
}

static void put_event(struct weir_out *out, size_t i)
{
	size_t j;

	weir_out_begin(out, NULL, '{');
	weir_out_str(out, "type", "object");
	weir_out_begin(out, "properties", '{');
	weir_out_begin(out, "event", '{');
	weir_out_str(out, "const", events[i].event);
	weir_out_end(out, '}');
	put_type(out, "timestamp", "string");
	for (j = 0; events[i].more[j].key; j++)
		put_type(out, events[i].more[j].key, events[i].more[j].type);
	if (events[i].set)
		put_members(out, events[i].set, events[i].flags);
	weir_out_end(out, '}');
	weir_out_begin(out, "required", '[');
	weir_out_str(out, NULL, "event");
	weir_out_end(out, ']');
	weir_out_bool(out, "additionalProperties", false);
	weir_out_end(out, '}');
}

static void put_ref(struct weir_out *out, const char *key, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "#/$defs/%s", name);
	weir_out_begin(out, key, '{');
	weir_out_str(out, "$ref", path);
	weir_out_end(out, '}');
}

/* An array of what a definition says. */
static void put_array(struct weir_out *out, const char *key, const char *name)
{
	weir_out_begin(out, key, '{');
	weir_out_str(out, "type", "array");
	put_ref(out, "items", name);
	weir_out_end(out, '}');
}

/* A configuration, and the version. */
static void put_config(struct weir_out *out)
{
	weir_out_begin(out, "config", '{');
	weir_out_str(out, "type", "object");
	weir_out_begin(out, "properties", '{');
	put_array(out, "limits", weir_limit_fields.name);
	put_array(out, "exempts", weir_exempt_fields.name);
	weir_out_end(out, '}');
	weir_out_bool(out, "additionalProperties", false);
	weir_out_end(out, '}');
	weir_out_begin(out, "version", '{');
	weir_out_str(out, "type", "object");
	weir_out_begin(out, "properties", '{');
	put_type(out, "version", "string");
	weir_out_end(out, '}');
	weir_out_bool(out, "additionalProperties", false);
	weir_out_end(out, '}');
}

/* Whatever is printed as a whole, or as a line of monitor, is one of these. */
void weir_schema(struct weir_out *out)
{
	static const struct weir_set *const sets[] = { &weir_limit_fields, &weir_exempt_fields,
		&weir_source_fields, &weir_stats_fields };
	size_t i;

	out->json = true;
	weir_out_begin(out, NULL, '{');
	weir_out_str(out, "$schema", "https://json-schema.org/draft/2020-12/schema");
	weir_out_begin(out, "anyOf", '[');
	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		put_array(out, NULL, sets[i]->name);
	put_array(out, NULL, "config");
	put_array(out, NULL, "version");
	put_ref(out, NULL, "event");
	weir_out_end(out, ']');
	weir_out_begin(out, "$defs", '{');
	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		weir_out_begin(out, sets[i]->name, '{');
		weir_out_str(out, "type", "object");
		put_set(out, sets[i]);
		weir_out_end(out, '}');
	}
	put_config(out);
	weir_out_begin(out, "event", '{');
	weir_out_begin(out, "anyOf", '[');
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		put_event(out, i);
	weir_out_end(out, ']');
	weir_out_end(out, '}');
	weir_out_end(out, '}');
	weir_out_end(out, '}');
}
