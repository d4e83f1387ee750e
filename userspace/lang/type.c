// SPDX-License-Identifier: GPL-2.0-or-later
/* Value types: parsing, netlink encoding and decoding, text and JSON. */

#include <inttypes.h>
#include <libmnl/libmnl.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>

#include "lang/field.h"
#include "lang/value.h"

/* Numbers */

/* Size of a number in bytes: of the value, or of its second part, as @attr says. */
static size_t type_width(const struct weir_field *field, uint16_t attr)
{
	size_t second = field->type->second;

	/* a budget's window is 32 bits, its count 64 */
	return !second ? field->size : attr == field->part && second == 8 ? 4 : second;
}

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

/* A second part, if any, follows the number in the model. */
static void put_uint(const struct weir_field *field, struct nlmsghdr *msg, const void *at)
{
	size_t second = field->type->second;

	mnl_attr_put(msg, field->attr, type_width(field, field->attr), at);
	if (second)
		mnl_attr_put(msg, field->part, type_width(field, field->part),
			     (const char *)at + second);
}

static void get_uint(const struct weir_field *field, uint16_t attr,
		     const void *data, size_t len, void *at)
{
	weir_uint_set((char *)at + (attr == field->attr ? 0 : field->type->second),
		      type_width(field, attr), weir_uint_get(data, len));
}

static const char *text_uint(const struct weir_field *field, const void *at, char *buf)
{
	char *text = buf + WEIR_TEXT_SIZE - 1;
	uint64_t value = number(field, at);

	/* faster than printf: a dump may have a million sources */
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
	size_t second = field->type->second;

	weir_out_u64(out, key, weir_uint_get(at, type_width(field, field->attr)));
	if (second)
		weir_out_u64(out, weir_field_part(field)->name,
			     weir_uint_get((const char *)at + second,
					   type_width(field, field->part)));
}

static void json_ns(const struct weir_field *field, const char *key,
		    struct weir_out *out, const void *at)
{
	weir_out_ms(out, key, number(field, at));
}

static const char *text_ns(const struct weir_field *field, const void *at, char *buf)
{
	return weir_text_time(number(field, at), buf);
}

static const char *text_size(const struct weir_field *field, const void *at, char *buf)
{
	return weir_text_size(number(field, at), buf);
}

#define NUMBER	.put = put_uint, .get = get_uint
#define UINT	.schema = "integer", .json = json_uint, NUMBER
const struct weir_type weir_type_uint = { "N", UINT, .parse = parse_count, .text = text_uint };

static const char *text_amount(const struct weir_field *field, const void *at, char *buf)
{
	uint64_t value = number(field, at);

	return value < WEIR_K_FROM ? text_uint(field, at, buf) : weir_text_amount(value, 20, buf);
}

/* Exact, by the same multipliers as a budget. */
const struct weir_type weir_type_amount = { "N", UINT, .parse = parse_count, .text = text_amount };

static int parse_spare(const struct weir_field *field, struct weir_args *args,
		       const char *text, void *at)
{
	uint64_t value = 0;

	if (strcmp(text, "none") && weir_value_count(text, 1, field->spec->max, &value, args->err))
		return -EINVAL;
	weir_uint_set(at, field->size, value);
	return 0;
}

static const char *text_spare(const struct weir_field *field, const void *at, char *buf)
{
	return number(field, at) ? text_amount(field, at, buf) : "none";
}

/* Likewise, but it may be none, which is 0. */
const struct weir_type weir_type_spare = { "none|N", UINT, .parse = parse_spare,
	.text = text_spare };
/* Never shown. */
const struct weir_type weir_type_code = { .get = get_uint }, weir_type_bits = { NUMBER };
/* Nanoseconds; in JSON milliseconds, as in requests. */
const struct weir_type weir_type_ns = { "TIME", "number", NUMBER, .json = json_ns,
	.text = text_ns };
const struct weir_type weir_type_size = { "SIZE", UINT, .text = text_size };

/* Enumerations */

static int parse_enum(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	int value = weir_pick_name(field->spec->names, text, args->exact, args->err);

	weir_uint_set(at, field->size, value);
	return value < 0 ? value : 0;
}

static const char *text_enum(const struct weir_field *field, const void *at, char *buf)
{
	uint64_t value = number(field, at), i;

	for (i = 0; field->spec->names[i] && i < value; i++)
		;
	return field->spec->names[i] ? field->spec->names[i] : text_uint(field, at, buf);
}

static void json_text(const struct weir_field *field, const char *key,
		      struct weir_out *out, const void *at)
{
	char buf[WEIR_TEXT_SIZE];

	weir_out_str(out, key, field->type->text(field, at, buf));
}

#define STRING	.schema = "string", .json = json_text
const struct weir_type weir_type_enum = { STRING, NUMBER, .parse = parse_enum, .text = text_enum };

/* Conditions, as bits. */
static const char *text_conds(const struct weir_field *field, const void *at, char *buf)
{
	uint64_t conds = number(field, at);
	unsigned int i;

	*buf = '\0';
	for (i = 0; weir_cond_names[i]; i++)
		if (conds & 1ull << i)
			weir_append(buf, WEIR_TEXT_SIZE, ", ", weir_cond_names[i]);
	return buf;
}

static void json_conds(const struct weir_field *field, const char *key,
		       struct weir_out *out, const void *at)
{
	uint64_t conds = number(field, at);
	unsigned int i;

	weir_out_begin(out, key, '[');
	for (i = 0; weir_cond_names[i]; i++)
		if (conds & 1ull << i)
			weir_out_str(out, NULL, weir_cond_names[i]);
	weir_out_end(out, ']');
}

const struct weir_type weir_type_conds = { .schema = "array", .json = json_conds, NUMBER,
	.text = text_conds };

const struct weir_type weir_type_family = { "ipv4|ipv6", STRING, NUMBER,
	.parse = weir_parse_family, .text = weir_text_family };
const struct weir_type weir_type_proto = { "PROTO[,...]", STRING, NUMBER,
	.parse = weir_parse_proto, .text = weir_text_proto, .overlap = weir_types_overlap };
const struct weir_type weir_type_icmp = { "TYPE[,...]", STRING, NUMBER,
	.parse = weir_parse_icmp, .text = weir_text_icmp, .overlap = weir_types_overlap };
const struct weir_type weir_type_icmpv6 = { "TYPE[,...]", STRING, NUMBER,
	.parse = weir_parse_icmpv6, .text = weir_text_icmpv6, .overlap = weir_types_overlap };

/* Strings */

static void put_string(const struct weir_field *field, struct nlmsghdr *msg, const void *at)
{
	mnl_attr_put_strz(msg, field->attr, at);
}

static void get_string(const struct weir_field *field, uint16_t attr,
		       const void *data, size_t len, void *at)
{
	memcpy(at, data, strnlen(data, MIN(len, field->size - 1)));
}

static const char *text_string(const struct weir_field *field, const void *at, char *buf)
{
	return at;
}

/* Quoted and escaped as a file of commands expects. */
static const char *text_quoted(const struct weir_field *field, const void *at, char *buf)
{
	const char *text = at;
	char *to = buf;

	for (*to++ = '"'; *text; *to++ = *text++) {
		if (strchr("\"\\", *text))
			*to++ = '\\';
	}
	strcpy(to, "\"");
	return buf;
}

/* Quoted only if a file of commands would misread it. */
static const char *text_dev(const struct weir_field *field, const void *at, char *buf)
{
	const char *text = at;

	return strspn(text, "#\"'$") || strchr(text, '\\') || strstr(text, ",$") ?
	       text_quoted(field, at, buf) : text;
}

static void json_string(const struct weir_field *field, const char *key,
			struct weir_out *out, const void *at)
{
	weir_out_str(out, key, at);
}

#define TEXT	.schema = "string", .put = put_string, .get = get_string, .json = json_string
const struct weir_type weir_type_name = { "NAME", TEXT, .parse = weir_parse_name,
	.text = text_string };
const struct weir_type weir_type_list = { "LIST", TEXT, .parse = weir_parse_list,
	.text = text_string };
static void put_lookup(const struct weir_field *field, struct nlmsghdr *msg, const void *at)
{
	mnl_attr_put_strz(msg, field->attr, weir_text_lookup(field, at, NULL));
}

/* A list, or none. */
const struct weir_type weir_type_lookup = { "none|LIST", STRING, .parse = weir_parse_lookup,
	.put = put_lookup, .get = get_string, .text = weir_text_lookup };
const struct weir_type weir_type_dev = { "IFACE", TEXT, .parse = weir_parse_dev,
	.text = text_dev };
const struct weir_type weir_type_comment = { "TEXT", TEXT, .parse = weir_parse_comment,
	.text = text_quoted };

/* Prefixes; the second part is the length. */

static void put_prefix(const struct weir_field *field, struct nlmsghdr *msg, const void *at)
{
	const struct weir_prefix *prefix = at;

	mnl_attr_put(msg, field->attr, prefix->family == AF_INET ? 4 : 16, prefix->addr);
	if (field->part)
		mnl_attr_put_u8(msg, field->part, prefix->len);
}

static void get_prefix(const struct weir_field *field, uint16_t attr,
		       const void *data, size_t len, void *at)
{
	struct weir_prefix *prefix = at;

	if (attr == field->part) {
		prefix->len = weir_uint_get(data, len);
	} else if (len == 4 || len == 16) {
		prefix->family = len == 4 ? AF_INET : AF_INET6;
		prefix->len = 8 * len;	/* unless a length follows */
		memcpy(prefix->addr, data, len);
	}
}

const struct weir_type weir_type_prefix = { "PREFIX", STRING, .parse = weir_parse_prefix,
	.put = put_prefix, .get = get_prefix, .text = weir_text_prefix };
/* As it is shown: with the length that its limit gives it. */
const struct weir_type weir_type_source = { "ADDR", STRING, .parse = weir_parse_prefix,
	.put = put_prefix, .get = get_prefix, .text = weir_text_prefix };
const struct weir_type weir_type_address = { "ADDR", STRING, .parse = weir_parse_address,
	.put = put_prefix, .get = get_prefix, .text = weir_text_prefix };

/* Two numbers */

const struct weir_type weir_type_budget = { "COUNT[k|M|G]/TIME", UINT,
	.parse = weir_parse_budget, .text = weir_text_budget, .second = 8 };
const struct weir_type weir_type_newcomers = { "none|COUNT[k|M|G]/TIME", UINT,
	.parse = weir_parse_newcomers, .text = weir_text_newcomers, .second = 8 };
const struct weir_type weir_type_rate = { "COUNT[k|M|G]/s", UINT,
	.parse = weir_parse_rate, .text = weir_text_rate_of };
const struct weir_type weir_type_ms = { "TIME", UINT,
	.parse = weir_parse_ms, .text = weir_text_ms };
/* A time that passes: in text whole seconds, rounded up. */
static const char *text_left(const struct weir_field *field, const void *at, char *buf)
{
	uint64_t ms = (weir_uint_get(at, field->size) + 999) / 1000 * 1000;

	return weir_text_ms(field, &ms, buf);
}

const struct weir_type weir_type_left = { "TIME", UINT,
	.parse = weir_parse_ms, .text = text_left };
const struct weir_type weir_type_group = { "none|GROUP", UINT,
	.parse = weir_parse_group, .text = weir_text_group };
const struct weir_type weir_type_ports = { "PORT[-PORT]", UINT,
	.parse = weir_parse_ports, .text = weir_text_ports, .second = 2 };
const struct weir_type weir_type_mark = { "VALUE[/MASK]", UINT,
	.parse = weir_parse_mark, .text = weir_text_mark, .second = 4 };
const struct weir_type weir_type_per = { "V4[,V6]", UINT,
	.parse = weir_parse_per, .text = weir_text_per, .second = 1 };

/* Flags: presence is the value; in the model, a bool. */

static int parse_flag(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	if (field->size)
		*(bool *)at = true;
	return 0;
}

static void put_flag(const struct weir_field *field, struct nlmsghdr *msg, const void *at)
{
	mnl_attr_put(msg, field->attr, 0, NULL);
}

static void get_flag(const struct weir_field *field, uint16_t attr,
		     const void *data, size_t len, void *at)
{
	parse_flag(field, NULL, data, at);
}

static void json_flag(const struct weir_field *field, const char *key,
		      struct weir_out *out, const void *at)
{
	weir_out_bool(out, key, !field->size || *(const bool *)at);
}

const struct weir_type weir_type_flag = { .schema = "boolean", .flag = true, .parse = parse_flag,
	.put = put_flag, .get = get_flag, .json = json_flag };

/* "any", or the first condition, of the nest, which is not consumed. */
static int parse_any(const struct weir_field *field, struct weir_args *args,
		     const char *text, void *at)
{
	struct weir_word words[WEIR_WORDS_MAX], *any = words;
	const struct weir_word *word = NULL;

	weir_set_words(field->nest, WEIR_ON_ADD, words);
	while (any->is != field)
		any++;
	any->name = "any";
	if (strcmp(text, "not") && !weir_proto_listed(text)) {
		word = weir_pick(words, text, args->exact, "condition", args->err);
		if (!word)
			return -EINVAL;
	}
	*(uint8_t *)at = word == any ? WEIR_MATCH_ANY : WEIR_MATCH_THESE;
	args->at -= word != any;
	return 0;
}

const struct weir_type weir_type_any = { "any|MATCH", "boolean", .parse = parse_any,
	.put = put_flag };

/* File names, never sent to the kernel */

static int parse_file(const struct weir_field *field, struct weir_args *args,
		      const char *text, void *at)
{
	*(const char **)at = text;
	if (*text == '-' && text[1])
		return weir_err_set(args->err, "'%.60s' is no option here; for a file of that name write './%.60s'",
				    text, text);
	return *text ? 0 : weir_err_set(args->err, "a file's name cannot be empty");
}

static void put_bytes(const struct weir_field *field, struct nlmsghdr *msg, const void *at)
{
	mnl_attr_put(msg, field->attr, field->size, at);
}

/* Sent, but neither written nor shown. */
const struct weir_type weir_type_bytes = { .put = put_bytes };
const struct weir_type weir_type_file = { "FILE", .parse = parse_file };

/* Nests */

static void put_nest(const struct weir_field *field, struct nlmsghdr *msg, const void *at)
{
	struct nlattr *nest = mnl_attr_nest_start(msg, field->attr);

	weir_set_put(field->nest, 0, msg, at);
	mnl_attr_nest_end(msg, nest);
}

static void get_nest(const struct weir_field *field, uint16_t attr,
		     const void *data, size_t len, void *at)
{
	weir_set_get(field->nest, data, len, at);
}

static void json_nest(const struct weir_field *field, const char *key,
		      struct weir_out *out, const void *at)
{
	weir_out_begin(out, key, '{');
	weir_set_show(field->nest, WEIR_WORDS | (out->results ? WEIR_RESULT : 0), out, at);
	weir_out_end(out, '}');
}

const struct weir_type weir_type_nest = { .schema = "object", .nests = true, .put = put_nest,
	.get = get_nest, .json = json_nest };

/* Each element of a list is its own nest. */
const struct weir_type weir_type_prefixes = { "PREFIX[,...]", STRING,
	.parse = weir_parse_prefix, .put = put_nest, .get = get_nest,
	.text = weir_text_prefix, .overlap = weir_prefixes_overlap };
/* They may overlap. */
const struct weir_type weir_type_members = { "PREFIX[=COUNT[k|M|G]][,...]", STRING,
	.parse = weir_parse_member, .put = put_nest, .get = get_nest,
	.text = weir_text_member };
const struct weir_type weir_type_portlist = { "PORT[-PORT][,...]", .schema = "object",
	.parse = weir_parse_ports, .put = put_nest, .get = get_nest,
	.text = weir_text_ports, .json = json_nest, .overlap = weir_ports_overlap };

const struct weir_type weir_type_zone = { "ZONE", STRING, .parse = weir_parse_zone,
	.put = put_nest, .get = get_nest, .text = weir_text_zone };
/* Seconds since 1970 UTC, as in RFC 3339; the module is told how long that is from now. */
const struct weir_type weir_type_date = { "DATE", STRING, .get = get_uint,
	.parse = weir_parse_date, .text = weir_text_date };

static const char *text_counter(const struct weir_field *field, const void *at, char *buf)
{
	const struct weir_counter *counter = at;

	snprintf(buf, WEIR_TEXT_SIZE, "%12" PRIu64 " packets %15" PRIu64 " bytes",
		 counter->packets, counter->bytes);
	return buf;
}

const struct weir_type weir_type_counter = { .schema = "object", .get = get_nest,
	.text = text_counter, .json = json_nest };
