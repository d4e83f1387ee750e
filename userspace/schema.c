// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -schema: what -json prints, as a JSON schema, from the table. */

#include <string.h>

#include "tool.h"

#define ON_ANY	(WEIR_ON_ADD | WEIR_ON_SET | WEIR_ON_SHOW)

/* Members that events have beside those of the table. */
static const struct {
	const char *key, *type;
} event_members[] = {
	{ "event", "string" }, { "change", "string" }, { "timestamp", "string" },
	{ "until", "string" }, { "rate", "integer" }, { "window_ms", "integer" },
	{ "count", "integer" }, { "unit", "string" }, { "action", "string" },
	{ "next_ns", "integer" },
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
	weir_out_begin(out, field->spec[field->part - field->attr].name, '{');
	weir_out_str(out, "type", field->type->schema);
	put_range(out, &field->spec[field->part - field->attr]);
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

static void put_event(struct weir_out *out)
{
	size_t i;

	weir_out_begin(out, "event", '{');
	weir_out_str(out, "type", "object");
	weir_out_begin(out, "properties", '{');
	for (i = 0; i < sizeof(event_members) / sizeof(event_members[0]); i++) {
		weir_out_begin(out, event_members[i].key, '{');
		weir_out_str(out, "type", event_members[i].type);
		weir_out_end(out, '}');
	}
	weir_out_begin(out, "budget", '{');
	weir_out_str(out, "type", "integer");
	weir_out_end(out, '}');
	put_members(out, &weir_source_fields, WEIR_EVENT);
	put_members(out, &weir_pressure_fields, WEIR_EVENT);
	weir_out_end(out, '}');
	weir_out_bool(out, "additionalProperties", false);
	weir_out_end(out, '}');
}

void weir_schema(struct weir_out *out)
{
	static const struct weir_set *const sets[] = { &weir_limit_fields, &weir_exempt_fields,
		&weir_source_fields, &weir_stats_fields };
	size_t i;

	out->json = true;
	weir_out_begin(out, NULL, '{');
	weir_out_str(out, "$schema", "https://json-schema.org/draft/2020-12/schema");
	weir_out_begin(out, "$defs", '{');
	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		weir_out_begin(out, sets[i]->name, '{');
		weir_out_str(out, "type", "object");
		put_set(out, sets[i]);
		weir_out_end(out, '}');
	}
	put_event(out);
	weir_out_end(out, '}');
	weir_out_end(out, '}');
}
