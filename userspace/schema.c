// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -schema: the JSON schema of -json output, generated from the table. */

#include <jansson.h>
#include <string.h>

#include "tool.h"

#define ON_ANY	(WEIR_ON_ADD | WEIR_ON_SET | WEIR_ON_SHOW)

/* The monitor's events, with members that are not in the set. */
static const struct {
	const char *event;
	const struct weir_set *set;
	unsigned int flags;		/* selects the rows of the set */
	struct {
		const char *key, *type;
	} more[4];
} events[] = {
	{ "limit", &weir_limit_fields, WEIR_EVENT,
	  { { "change", "string" }, { "limit", "string" } } },
	{ "exempt", &weir_exempt_fields, WEIR_EVENT, { { "change", "string" } } },
	{ "block-prefix", &weir_block_fields, WEIR_EVENT, { { "change", "string" } } },
	{ "source", &weir_source_fields, WEIR_EVENT,
	  { { "until", "string" }, { "window_ms", "integer" }, { "rate", "number" } } },
	{ "charge", &weir_source_fields, WEIR_WORDS | WEIR_RESULT,
	  { { "taken", "integer" }, { "wait_ms", "number" } } },
	{ "forget", &weir_source_fields, WEIR_WORDS, { { "forgotten", "integer" } } },
	{ "block", &weir_source_fields, WEIR_WORDS,
	  { { "blocked", "boolean" }, { "blocked_ms", "number" } } },
	{ "release", &weir_source_fields, WEIR_WORDS, { { 0 } } },
	{ "pressure", &weir_pressure_fields, WEIR_EVENT, { { 0 } } },
	{ "newcomers", &weir_newcomers_fields, WEIR_EVENT, { { 0 } } },
	{ "state", &weir_state_fields, WEIR_EVENT, { { 0 } } },
	{ "lost", NULL, 0, { { "events_lost", "integer" } } },
};

static json_t *schema_of(const struct weir_set *set);

static json_t *type_of(const char *type, const struct weir_attr_spec *spec)
{
	if (!spec || !spec->max)
		return json_pack("{ss}", "type", type);
	return json_pack("{ss sI sI}", "type", type, "minimum", (json_int_t)spec->min,
			 "maximum", (json_int_t)spec->max);
}

static json_t *object_of(json_t *members, json_t *required)
{
	return json_pack("{ss so so* sb}", "type", "object", "properties", members,
			 "required", required, "additionalProperties", 0);
}

static json_t *value_of(const struct weir_field *field)
{
	const char *const *name = field->spec ? field->spec->names : NULL;
	json_t *names = json_array();

	while (name && *name)
		json_array_append_new(names, json_string(*name++));
	if (name)
		return json_pack("{ss so}", "type", field->type->schema, "enum", names);
	json_decref(names);
	if (field->nest && !strcmp(field->type->schema, "object"))
		return schema_of(field->nest);
	return type_of(field->type->schema, field->spec);
}

/* Add a field as one member, or two with a second part; a list as an array. */
static void add_member(json_t *members, const struct weir_field *field)
{
	json_t *value = value_of(field);

	if (field->many)
		value = json_pack("{ss si so}", "type", "array", "maxItems", (int)field->many,
				  "items", value);
	json_object_set_new(members, weir_field_key(field), value);
	if (field->part && field->type->second)
		json_object_set_new(members, weir_field_part(field)->name,
				    type_of(field->type->schema, weir_field_part(field)));
}

static void add_members(json_t *members, const struct weir_set *set, unsigned int flags)
{
	const struct weir_field *field;

	for (field = set->fields; field->type; field++) {
		if (field->type->json &&
		    (!field->attr || weir_field_find(set, 0, field->attr) == field) &&
		    (flags ? field->flags & flags : !(field->flags & ON_ANY) ||
		     field->flags & WEIR_WORDS))
			add_member(members, field);
	}
}

/* Members from WEIR_WORDS rows are required, except conditions and optional ones. */
static json_t *schema_of(const struct weir_set *set)
{
	json_t *members = json_object(), *required = json_array();
	const struct weir_field *field;

	add_members(members, set, 0);
	for (field = set->fields; field->type; field++) {
		if (field->flags & WEIR_WORDS && !(field->flags & WEIR_SOME) && !set->invert &&
		    !(field->bit && !(field->flags & (WEIR_ON_ADD | WEIR_FOLLOWS))))
			json_array_append_new(required, json_string(weir_field_key(field)));
	}
	if (set->invert) {
		json_t *not = json_deep_copy(members);

		json_object_set_new(members, WEIR_NOT_KEY, object_of(not, NULL));
	}
	return object_of(members, required);
}

static json_t *event_of(size_t i)
{
	json_t *members = json_pack("{s{ss} s{ss}}", "event", "const", events[i].event,
				    "timestamp", "type", "string");
	size_t j;

	for (j = 0; events[i].more[j].key; j++)
		json_object_set_new(members, events[i].more[j].key,
				    type_of(events[i].more[j].type, NULL));
	if (events[i].set)
		add_members(members, events[i].set, events[i].flags);
	return object_of(members, json_pack("[s]", "event"));
}

static json_t *array_of(const char *name)
{
	return json_pack("{ss s{ss+}}", "type", "array", "items", "$ref", "#/$defs/", name);
}

/* Any JSON text, or line of monitor, matches one of these. */
void weir_schema(struct weir_out *out)
{
	static const struct weir_set *const sets[] = { &weir_limit_fields, &weir_exempt_fields,
		&weir_block_fields, &weir_list_fields, &weir_source_fields, &weir_stats_fields,
		&weir_xdp_fields };
	json_t *any = json_array(), *defs = json_object(), *told = json_array(), *schema;
	size_t i;

	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		json_array_append_new(any, array_of(sets[i]->name));
		json_object_set_new(defs, sets[i]->name, schema_of(sets[i]));
	}
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		json_array_append_new(told, event_of(i));
	json_array_append_new(any, array_of("config"));
	json_array_append_new(any, array_of("version"));
	json_array_append_new(any, array_of("change"));
	json_array_append_new(any, json_pack("{ss}", "$ref", "#/$defs/event"));
	json_object_set_new(defs, "config",
			    object_of(json_pack("{s:o, s:o, s:o, s:o, s:o}",
						"prefix_lists", array_of("list"),
						"limits", array_of("limit"),
						"exempts", array_of("exempt"),
						"blocked_prefixes", array_of("blocked"),
						"early", array_of("xdp")), NULL));
	json_object_set_new(defs, "version",
			    object_of(json_pack("{s{ss}}", "version", "type", "string"), NULL));
	json_object_set_new(defs, "change",
			    object_of(json_pack("{s{ss}}", "command", "type", "string"),
				      json_pack("[s]", "command")));
	json_object_set_new(defs, "event", json_pack("{so}", "anyOf", told));
	schema = json_pack("{ss so so}", "$schema", "https://json-schema.org/draft/2020-12/schema",
			   "anyOf", any, "$defs", defs);
	if (json_dumpf(schema, out->to, out->pretty ? JSON_INDENT(4) : JSON_COMPACT) ||
	    putc('\n', out->to) == EOF)
		out->error = schema ? -EIO : -ENOMEM;
	json_decref(schema);
}
