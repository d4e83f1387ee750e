// SPDX-License-Identifier: GPL-2.0-or-later
/* The kinds of values: read, sent, received, written, each by its rows. */

#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "field.h"
#include "value.h"

#define PART(field)	((field)->spec[(field)->part - (field)->attr])

/* Numbers */

static uint64_t number(const struct weir_field *field, const void *at)
{
	return weir_uint_get(at, field->size);
}

static int parse_count(const struct weir_field *field, struct weir_args *args,
		       const char *text, void *at)
{
	uint64_t max = field->spec->max, value;

	if (!max)
		max = field->size < 8 ? (1ULL << 8 * field->size) - 1 : UINT64_MAX;
	if (weir_value_count(text, field->spec->min, max, &value, args->err))
		return -EINVAL;
	weir_uint_set(at, field->size, value);
	return 0;
}

static void put_uint(const struct weir_field *field, struct weir_msg *msg, const void *at)
{
	weir_msg_put(msg, field->attr, at, field->size);
}

static void get_uint(const struct weir_field *field, uint16_t attr,
		     const void *data, size_t len, void *at)
{
	weir_uint_set(at, field->size, weir_uint_get(data, len));
}

static const char *text_uint(const struct weir_field *field, const void *at,
			     char buf[WEIR_TEXT_SIZE])
{
	char *text = buf + WEIR_TEXT_SIZE - 1;
	uint64_t value = number(field, at);

	/* of a million sources: faster than printf */
	for (*text = '\0'; value >= 10; value /= 10)
		*--text = '0' + value % 10;
	*--text = '0' + value;
	while (field->flags & WEIR_LINE && text > buf + WEIR_TEXT_SIZE - 13)
		*--text = ' ';
	return text;
}

static void json_uint(const struct weir_field *field, const char *key,
		      struct weir_out *out, const void *at)
{
	weir_out_u64(out, key, number(field, at));
}

/* Of a source: packets, or bytes in as few digits as a budget has. */
static const char *text_amount(const struct weir_field *field, const void *at,
			       char buf[WEIR_TEXT_SIZE])
{
	const struct weir_source *source = (const void *)((const char *)at - field->offset);

	if (source->unit != WEIR_UNIT_BYTES)
		return text_uint(field, at, buf);
	return weir_text_amount(number(field, at), buf);
}

static void json_ns(const struct weir_field *field, const char *key,
		    struct weir_out *out, const void *at)
{
	weir_out_number(out, key, number(field, at) / 1e6);
}

static const char *text_ns(const struct weir_field *field, const void *at, char buf[WEIR_TEXT_SIZE])
{
	return weir_text_time(number(field, at), buf);
}

static const char *text_size(const struct weir_field *field, const void *at,
			     char buf[WEIR_TEXT_SIZE])
{
	return weir_text_size(number(field, at), buf);
}

#define UINT	.schema = "integer", .put = put_uint, \
	.get = get_uint, .json = json_uint
const struct weir_type weir_type_uint = { "N", UINT, .parse = parse_count,
	.text = text_uint };
/* Read, and not shown as a field. */
const struct weir_type weir_type_code = { .get = get_uint };
const struct weir_type weir_type_amount = { "N", UINT, .text = text_amount };
/* Nanoseconds; milliseconds in JSON, as what is asked for. */
const struct weir_type weir_type_ns = { "TIME", "number", .put = put_uint, .get = get_uint,
	.json = json_ns, .text = text_ns };
const struct weir_type weir_type_size = { "SIZE", UINT, .text = text_size };

/* Names of numbers */

static int parse_enum(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_word *word;

	word = weir_pick(weir_words_of(field->spec->names, words), text,
			 args->exact, "word", args->err);
	if (!word)
		return -EINVAL;
	weir_uint_set(at, field->size, word->number);
	return 0;
}

static const char *text_enum(const struct weir_field *field, const void *at,
			     char buf[WEIR_TEXT_SIZE])
{
	uint64_t value = number(field, at), i;

	for (i = 0; field->spec->names[i]; i++) {
		if (i == value)
			return field->spec->names[i];
	}
	return text_uint(field, at, buf);
}

/* The text is the value. */
static void json_text(const struct weir_field *field, const char *key,
		      struct weir_out *out, const void *at)
{
	char buf[WEIR_TEXT_SIZE];

	weir_out_str(out, key, field->type->text(field, at, buf));
}

#define STRING	"string"
const struct weir_type weir_type_enum = { NULL, STRING, 0, parse_enum,
	put_uint, get_uint, text_enum, json_text };

static const char *const families[] = { "ipv4", "ipv6", NULL };

static int parse_family(const struct weir_field *field, struct weir_args *args,
			const char *text, void *at)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_word *word = weir_pick(weir_words_of(families, words), text,
						 args->exact, "word", args->err);

	if (word)
		*(uint8_t *)at = word->number ? AF_INET6 : AF_INET;
	return word ? 0 : -EINVAL;
}

static const char *text_family(const struct weir_field *field, const void *at,
			       char buf[WEIR_TEXT_SIZE])
{
	return families[*(const uint8_t *)at != AF_INET];
}

const struct weir_type weir_type_family = { "ipv4|ipv6", STRING, 0, parse_family,
	put_uint, get_uint, text_family, json_text };
const struct weir_type weir_type_proto = { "PROTO", STRING, 0, weir_parse_proto,
	put_uint, get_uint, weir_text_proto, json_text };

/* Strings */

static void put_string(const struct weir_field *field, struct weir_msg *msg, const void *at)
{
	weir_msg_put(msg, field->attr, at, strlen(at) + 1);
}

static void get_string(const struct weir_field *field, uint16_t attr,
		       const void *data, size_t len, void *at)
{
	len = len < field->size ? len : field->size - 1;
	memset(at, 0, field->size);
	memcpy(at, data, strnlen(data, len));
}

static const char *text_string(const struct weir_field *field, const void *at,
			       char buf[WEIR_TEXT_SIZE])
{
	return at;
}

const struct weir_type weir_type_name = { "NAME", STRING, 0, weir_parse_name,
	put_string, get_string, text_string, json_text };
const struct weir_type weir_type_dev = { "IFACE", STRING, 0, weir_parse_dev,
	put_string, get_string, text_string, json_text };

/* Prefixes; the second part is the length. */

static void put_prefix(const struct weir_field *field, struct weir_msg *msg, const void *at)
{
	const struct weir_prefix *prefix = at;

	weir_msg_put(msg, field->attr, prefix->addr, prefix->family == AF_INET ? 4 : 16);
	if (field->part)
		weir_msg_put(msg, field->part, &prefix->len, 1);
}

static void get_prefix(const struct weir_field *field, uint16_t attr,
		       const void *data, size_t len, void *at)
{
	struct weir_prefix *prefix = at;

	if (attr == field->part) {
		prefix->len = weir_uint_get(data, len);
	} else if (len == 4 || len == 16) {
		prefix->family = len == 4 ? AF_INET : AF_INET6;
		memcpy(prefix->addr, data, len);
	}
}

const struct weir_type weir_type_prefix = { "PREFIX", STRING, 0, weir_parse_prefix,
	put_prefix, get_prefix, weir_text_prefix, json_text };
const struct weir_type weir_type_address = { "ADDR", STRING, 0, weir_parse_address,
	put_prefix, get_prefix, weir_text_prefix, json_text };

/* Pairs of numbers: the second part is at second, and what remains is its size. */

static size_t second_size(const struct weir_field *field)
{
	size_t second = field->type->second;

	return second == 8 ? 4 : second;	/* a budget's window is the shorter */
}

size_t weir_type_width(const struct weir_field *field, uint16_t attr)
{
	return !field->type->second ? field->size : attr == field->attr ?
	       field->type->second : second_size(field);
}

static void put_pair(const struct weir_field *field, struct weir_msg *msg, const void *at)
{
	size_t second = field->type->second;

	weir_msg_put(msg, field->attr, at, second);
	weir_msg_put(msg, field->part, (const char *)at + second, second_size(field));
}

static void get_pair(const struct weir_field *field, uint16_t attr,
		     const void *data, size_t len, void *at)
{
	size_t second = field->type->second;

	if (attr == field->attr)
		weir_uint_set(at, second, weir_uint_get(data, len));
	else
		weir_uint_set((char *)at + second, second_size(field), weir_uint_get(data, len));
}

static void json_pair(const struct weir_field *field, const char *key,
		      struct weir_out *out, const void *at)
{
	size_t second = field->type->second;

	weir_out_u64(out, key, weir_uint_get(at, second));
	weir_out_u64(out, PART(field).name, weir_uint_get((const char *)at + second,
							  second_size(field)));
}

#define PAIR	.schema = "integer", .put = put_pair, .json = json_pair
/* A mark without a mask has all its bits. */
static void get_mark(const struct weir_field *field, uint16_t attr,
		     const void *data, size_t len, void *at)
{
	get_pair(field, attr, data, len, at);
	if (attr == field->attr)
		((uint32_t *)at)[1] = UINT32_MAX;
}

const struct weir_type weir_type_budget = { "COUNT[k|M|G]/TIME", PAIR,
	.get = get_pair, .parse = weir_parse_budget, .text = weir_text_budget, .second = 8 };
const struct weir_type weir_type_ports = { "PORT[-PORT]", PAIR,
	.get = get_pair, .parse = weir_parse_ports, .text = weir_text_ports, .second = 2 };
const struct weir_type weir_type_mark = { "VALUE[/MASK]", PAIR,
	.get = get_mark, .parse = weir_parse_mark, .text = weir_text_mark, .second = 4 };
const struct weir_type weir_type_per = { "V4[,V6]", PAIR,
	.get = get_pair, .parse = weir_parse_per, .text = weir_text_per, .second = 1 };

/* Elements of a list, each a nest of one row, whose type it is. */

static int parse_element(const struct weir_field *field, struct weir_args *args,
			 const char *text, void *at)
{
	const struct weir_field *inner = field->nest->fields;

	return inner->type->parse(inner, args, text, at);
}

static void put_element(const struct weir_field *field, struct weir_msg *msg, const void *at)
{
	const struct weir_field *inner = field->nest->fields;
	size_t nest = weir_msg_nest(msg, field->attr);

	inner->type->put(inner, msg, at);
	weir_msg_nest_end(msg, nest);
}

static void get_nest(const struct weir_field *field, uint16_t attr,
		     const void *data, size_t len, void *at)
{
	weir_set_get(field->nest, data, len, at);
}

static const char *text_element(const struct weir_field *field, const void *at,
				char buf[WEIR_TEXT_SIZE])
{
	const struct weir_field *inner = field->nest->fields;

	return inner->type->text(inner, at, buf);
}

static void json_element(const struct weir_field *field, const char *key,
			 struct weir_out *out, const void *at)
{
	const struct weir_field *inner = field->nest->fields;

	weir_out_begin(out, key, '{');
	inner->type->json(inner, weir_field_key(inner), out, at);
	weir_out_end(out, '}');
}

const struct weir_type weir_type_prefixes = { "PREFIX[,...]", STRING, 0, parse_element,
	put_element, get_nest, text_element, json_text };
const struct weir_type weir_type_portlist = { "PORT[-PORT][,...]", "object", 0, parse_element,
	put_element, get_nest, text_element, json_element };

/* Flags: that it is there is all, and a bool of the model says so. */

static int parse_flag(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	if (field->size)
		*(bool *)at = true;
	return 0;
}

static void put_flag(const struct weir_field *field, struct weir_msg *msg, const void *at)
{
	weir_msg_put(msg, field->attr, NULL, 0);
}

static void get_flag(const struct weir_field *field, uint16_t attr,
		     const void *data, size_t len, void *at)
{
	parse_flag(field, NULL, data, at);
}

static const char *text_flag(const struct weir_field *field, const void *at,
			     char buf[WEIR_TEXT_SIZE])
{
	return "";
}

static void json_flag(const struct weir_field *field, const char *key,
		      struct weir_out *out, const void *at)
{
	weir_out_bool(out, key, !field->size || *(const bool *)at);
}

const struct weir_type weir_type_flag = { NULL, "boolean", 0,
	parse_flag, put_flag, get_flag, text_flag, json_flag };

/* "any", or the first condition, which is left to be read. */
static int parse_any(const struct weir_field *field, struct weir_args *args,
		     const char *text, void *at)
{
	bool cond = !strcmp(text, "not");

	*(uint8_t *)at = WEIR_MATCH_ANY;
	if (!strcmp(text, "any"))
		return 0;
	for (field = weir_match_fields.fields; field->type; field++)
		cond |= field->flags & WEIR_NOT && !strncmp(field->word, text, strlen(text));
	if (!cond)
		return weir_err_set(args->err, "'%.60s' is not a condition; expected a condition, or any",
				    text);
	*(uint8_t *)at = WEIR_MATCH_THESE;
	args->at--;
	return 0;
}

const struct weir_type weir_type_any = { "any|MATCH", "boolean", .parse = parse_any,
	.put = put_flag };

/* Conditions by their bits: those that must not hold. */

static void json_conds(const struct weir_field *field, const char *key,
		       struct weir_out *out, const void *at)
{
	uint64_t conds = number(field, at);
	unsigned int i;

	weir_out_begin(out, key, '[');
	for (i = 0; field->spec->names[i]; i++) {
		if (conds & 1ULL << i)
			weir_out_str(out, NULL, field->spec->names[i]);
	}
	weir_out_end(out, ']');
}

const struct weir_type weir_type_conds = { NULL,
	"string",
	.put = put_uint, .get = get_uint, .json = json_conds };

/* Names of files, which only the tool reads. */

static int parse_file(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	*(const char **)at = text;
	return *text ? 0 : weir_err_set(args->err, "a file's name cannot be empty");
}

const struct weir_type weir_type_file = { "FILE", .parse = parse_file };

/* Fields inside */

static void put_nest(const struct weir_field *field, struct weir_msg *msg, const void *at)
{
	size_t nest = weir_msg_nest(msg, field->attr);

	weir_set_put(field->nest, 0, msg, at);
	weir_msg_nest_end(msg, nest);
}

static void json_nest(const struct weir_field *field, const char *key,
		      struct weir_out *out, const void *at)
{
	weir_out_begin(out, key, '{');
	weir_set_show(field->nest, WEIR_WORDS, out, at);
	weir_out_end(out, '}');
}

const struct weir_type weir_type_nest = { NULL, "object", 0, NULL, put_nest,
	get_nest, NULL, json_nest };

static const char *text_counter(const struct weir_field *field, const void *at,
				char buf[WEIR_TEXT_SIZE])
{
	const struct weir_counter *counter = at;

	snprintf(buf, WEIR_TEXT_SIZE, "%12" PRIu64 " packets %15" PRIu64 " bytes",
		 counter->packets, counter->bytes);
	return buf;
}

const struct weir_type weir_type_counter = { .schema = "object", .get = get_nest,
	.text = text_counter, .json = json_nest };
