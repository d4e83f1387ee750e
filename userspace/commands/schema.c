// SPDX-License-Identifier: GPL-2.0-or-later
/* weir -schema: the JSON schema of -json output, generated from the table. */

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"

#define ON_ANY	(WEIR_ON_ADD | WEIR_ON_SET | WEIR_ON_SHOW | WEIR_ON_RENAME)

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
	{ "lost", NULL, 0, { { "events_lost", "integer" } } },
};

/* Output of commands; parts of it that stand in several places. */
static const struct weir_set *const sets[] = { &weir_limit_fields, &weir_exempt_fields,
	&weir_block_fields, &weir_list_fields, &weir_source_fields, &weir_stats_fields,
	&weir_xdp_fields, &weir_restored_fields, &weir_upgraded_fields, &weir_pending_fields };
static const struct weir_set *const parts[] = { &weir_match_fields, &weir_budget_fields,
	&weir_source_budget_fields, &weir_counter_fields };

#define COUNT_OF(array)	(sizeof(array) / sizeof((array)[0]))

static json_t *schema_of(const struct weir_set *set);

static json_t *ref_to(const char *name)
{
	return json_pack("{ss+}", "$ref", "#/$defs/", name);
}

static json_t *nested(const struct weir_set *set)
{
	size_t i;

	for (i = 0; i < COUNT_OF(sets); i++)
		if (set == sets[i])
			return ref_to(set->name);
	for (i = 0; i < COUNT_OF(parts); i++)
		if (set == parts[i])
			return ref_to(set->name);
	return schema_of(set);
}

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
	if (name && !strcmp(field->type->schema, "array"))
		return json_pack("{ss s{ss so}}", "type", "array", "items", "type", "string",
				 "enum", names);
	if (name)
		return json_pack("{ss so}", "type", field->type->schema, "enum", names);
	json_decref(names);
	if (field->nest && !strcmp(field->type->schema, "object"))
		return nested(field->nest);
	return type_of(field->type->schema, field->spec);
}

/* Say which word precedes the value in text, and which attribute of the specification it is. */
static void annotate(json_t *value, const struct weir_set *set, const struct weir_field *field)
{
	const char *label = field->flags & WEIR_MUTE ? "" : weir_field_label(field);

	if (*label)
		json_object_set_new(value, "title", json_string(label));
	if (field->spec && !set->own)
		json_object_set_new(value, "x-attribute", json_string(field->spec->name));
}

/* Add a field as one member, or two with a second part; a list as an array. */
static void add_member(json_t *members, const struct weir_set *set, const struct weir_field *field)
{
	json_t *value = value_of(field);

	if (field->many)
		value = json_pack("{ss si so}", "type", "array", "maxItems", (int)field->many,
				  "items", value);
	annotate(value, set, field);
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
			add_member(members, set, field);
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
	return json_pack("{ss so}", "type", "array", "items", ref_to(name));
}

/* What each command prints: limit-show, save. */
static void add_commands(json_t *defs)
{
	const struct weir_command *command;
	const struct weir_object *object;
	const char *verb;
	char name[64];

	for (object = weir_objects; object->name; object++) {
		for (command = object->commands; command->name; command++) {
			verb = weir_verb_of(object, command);
			snprintf(name, sizeof(name), "%s%s%s", object->name, verb ? "-" : "",
				 verb ? verb : "");
			if (command->prints)
				json_object_set_new(defs, name, command->single ?
						    ref_to(command->prints) :
						    array_of(command->prints));
		}
	}
}

/* Any JSON text, or line of monitor, matches one of these. */
void weir_schema(struct weir_out *out)
{
	static const char *const more[] = { "config", "version" };
	json_t *any = json_array(), *defs = json_object(), *told = json_array(), *schema;
	char id[32];
	size_t i;

	for (i = 0; i < COUNT_OF(sets); i++) {
		json_array_append_new(any, array_of(sets[i]->name));
		json_object_set_new(defs, sets[i]->name, schema_of(sets[i]));
	}
	for (i = 0; i < COUNT_OF(events); i++)
		json_array_append_new(told, event_of(i));
	for (i = 0; i < COUNT_OF(more); i++)
		json_array_append_new(any, array_of(more[i]));
	for (i = 0; i < COUNT_OF(parts); i++)
		json_object_set_new(defs, parts[i]->name, schema_of(parts[i]));
	json_array_append_new(any, ref_to("event"));
	json_array_append_new(any, ref_to("advice"));
	json_object_set_new(defs, "advice", schema_of(&weir_advice_fields));
	json_object_set_new(defs, "config",
			    object_of(json_pack("{s:o, s:o, s:o, s:o, s:o}",
						"prefix_lists", array_of("list"),
						"limits", array_of("limit"),
						"exempts", array_of("exempt"),
						"blocked_prefixes", array_of("blocked"),
						"early", array_of("xdp")), NULL));
	json_object_set_new(defs, "version",
			    object_of(json_pack("{s{ss} s{ss si}}", "version", "type", "string",
						"schema_version", "type", "integer",
						"const", WEIR_SCHEMA_VERSION),
				      json_pack("[s s]", "version", "schema_version")));
	json_object_set_new(defs, "event", json_pack("{so}", "anyOf", told));
	add_commands(defs);
	snprintf(id, sizeof(id), "urn:weir:json:%d", WEIR_SCHEMA_VERSION);
	schema = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}",
			   "$comment", "SPDX-License-Identifier: GPL-2.0-or-later",
			   "$schema", "https://json-schema.org/draft/2020-12/schema",
			   "$id", id, "title", "weir -json", "anyOf", any, "$defs", defs);
	if (json_dumpf(schema, out->to, out->pretty ? JSON_INDENT(4) : JSON_COMPACT) ||
	    putc('\n', out->to) == EOF)
		out->error = schema ? -EIO : -ENOMEM;
	json_decref(schema);
}
