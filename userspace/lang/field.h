/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table: one row per field of a model. It drives parsing, netlink messages,
 * text, JSON, help, completion, comparison and the JSON schema, and maps an
 * attribute that the kernel refuses to the user's word.
 */
#ifndef WEIR_FIELD_H
#define WEIR_FIELD_H

#include "model.h"
#include "lang/out.h"
#include "lang/spec.h"
#include "lang/word.h"

enum weir_field_flag {
	/* commands that accept the word */
	WEIR_ON_ADD	= 1 << 0,
	WEIR_ON_SET	= 1 << 1,
	WEIR_ON_DEL	= 1 << 2,
	WEIR_ON_SHOW	= 1 << 3,
	WEIR_ON_GET	= 1 << 4,
	WEIR_ON_CHARGE	= 1 << 5,
	WEIR_ON_FORGET	= 1 << 6,
	WEIR_ON_RENAME	= 1 << 7,
	WEIR_ON_FLUSH	= 1 << 22,
	/* syntax */
	WEIR_FIRST	= 1 << 8,	/* positional: the value comes first, no word */
	WEIR_ALONE	= 1 << 9,	/* an address; its word may be omitted */
	WEIR_BARE	= 1 << 10,	/* the value's name is the word */
	WEIR_LONE	= 1 << 21,	/* a word that is none of the command's is its value */
	WEIR_FOLLOWS	= 1 << 11,	/* valid only after the row above */
	WEIR_NOT	= 1 << 12,	/* a condition: "not" may precede it */
	WEIR_AGAIN	= 1 << 13,	/* given again, it begins the next element of its list */
	/* output */
	WEIR_WORDS	= 1 << 14,	/* part of the configuration or identity */
	WEIR_RESULT	= 1 << 15,	/* computed by the kernel */
	WEIR_EVENT	= 1 << 16,	/* part of an event */
	WEIR_LINE	= 1 << 17,	/* on its own line: counters */
	WEIR_QUIET	= 1 << 18,	/* text omits the default value */
	WEIR_MUTE	= 1 << 19,	/* never in text */
	WEIR_SOME	= 1 << 20,	/* omitted if zero */
};

#define WEIR_NOT_KEY	"not"	/* in JSON, of the inverted conditions */

struct nlmsghdr;
struct weir_set;
struct weir_type;

struct weir_field {
	const char *word;		/* NULL: shown, never written */
	const struct weir_type *type;
	unsigned int flags, needed;	/* needed: commands that require it, */
	const char *instead;		/* or this word; or NULL */
	uint16_t attr, part;		/* of the value and its second part */
	const struct weir_attr_spec *spec;	/* of attr */
	size_t offset, size;
	uint64_t bit;			/* in has; 0: present if nonzero */
	const char *help;
	const char *usual;		/* default value */
	const char *label;		/* in text; NULL: the word; "": none */
	const char *value;		/* placeholder in help; NULL: the type's */
	const char *alias;		/* synonym */
	const char *key;		/* in JSON; NULL: the specification's */
	enum weir_color color;
	const struct weir_set *nest;	/* fields inside, or of each element */
	unsigned int many;		/* capacity of a list; 0: a single value */
	size_t count;			/* offset of their number (unsigned int) */
	bool apart;			/* the offset is that of a pointer to them */
};

typedef int weir_parse_value(const struct weir_field *field, struct weir_args *args,
			     const char *text, void *at);

/* A type of values; an operation may be NULL. */
struct weir_type {
	const char *value;		/* placeholder in help */
	const char *schema;		/* the type of each part in JSON */
	bool nests;			/* a model, with rows of its own */
	bool flag;			/* presence is the value */
	size_t second;			/* offset of a number's second part; or 0 */
	weir_parse_value *parse;
	void (*put)(const struct weir_field *field, struct nlmsghdr *msg, const void *at);
	void (*get)(const struct weir_field *field, uint16_t attr,
		    const void *data, size_t len, void *at);
	/* The result may point into @buf, of WEIR_TEXT_SIZE. */
	const char *(*text)(const struct weir_field *field, const void *at, char *buf);
	void (*json)(const struct weir_field *field, const char *key,
		     struct weir_out *out, const void *at);
	bool (*overlap)(const void *a, const void *b);	/* elements of a list */
};

/* The fields of a model, whose first member is "uint64_t has". */
struct weir_set {
	const char *name;
	const struct weir_field *fields;	/* ends with a row without a type */
	size_t size;
	size_t invert;		/* offset of the inverted conditions; or 0 */
	int indent;		/* of counter lines */
	bool own;		/* the tool's: no attributes of the specification */
};

extern const struct weir_type weir_type_uint, weir_type_amount, weir_type_spare, weir_type_code,
	weir_type_conds, weir_type_bits, weir_type_ns, weir_type_size, weir_type_enum,
	weir_type_family, weir_type_name, weir_type_dev, weir_type_comment, weir_type_prefix,
	weir_type_address, weir_type_source, weir_type_proto, weir_type_icmp, weir_type_icmpv6,
	weir_type_ports, weir_type_prefixes, weir_type_members, weir_type_list, weir_type_lookup,
	weir_type_portlist, weir_type_mark,
	weir_type_per, weir_type_budget, weir_type_newcomers, weir_type_rate,
	weir_type_zone, weir_type_date, weir_type_ms, weir_type_left,
	weir_type_group, weir_type_flag, weir_type_any,
	weir_type_counter, weir_type_nest, weir_type_file, weir_type_bytes;

extern const struct weir_set weir_counter_fields, weir_match_fields, weir_limit_fields,
	weir_limit_stats_fields, weir_exempt_fields, weir_block_fields, weir_query_fields,
	weir_wanted_fields, weir_budget_fields, weir_source_budget_fields,
	weir_source_fields, weir_list_fields, weir_list_change_fields,
	weir_stats_fields,
	weir_pressure_fields, weir_newcomers_fields,
	weir_config_fields, weir_path_fields, weir_merged_fields,
	weir_restored_fields, weir_upgrade_fields, weir_space_fields, weir_upgraded_fields,
	weir_pending_fields, weir_metering_fields,
	weir_xdp_fields, weir_packet_fields, weir_top_fields,
	weir_advising_fields, weir_advice_fields;
/* The length of a packet, a word of several commands. */
extern const struct weir_attr_spec weir_packet_len;
#define WEIR_PER_HELP	"length of a source's prefix (32,64); 0: all as one"
/* Names of enum weir_order. */
extern const char *const weir_order_names[];

/* The row that uses an attribute, for its value or second part; or NULL. */
const struct weir_field *weir_field_find(const struct weir_set *set,
					 unsigned int verb, uint16_t attr);
/* Address of the value in a model; of a list, its first element. */
void *weir_field_at(const struct weir_field *field, const void *model);
/* Number of values present: 0 or 1; for a list, its length. */
unsigned int weir_field_given(const struct weir_field *field, const void *model);
/* The value as the user writes it; "" for a flag. */
const char *weir_field_text(const struct weir_field *field, const void *model,
			    char buf[WEIR_TEXT_SIZE]);
/* Its name in messages: the word, or the placeholder of a value without one. */
const char *weir_field_name(const struct weir_field *field, char buf[WEIR_TEXT_SIZE]);
/* Its placeholder in help, with optional words that follow; "" for a flag. */
char *weir_field_value(const struct weir_field *field, char buf[WEIR_TEXT_SIZE]);
/* Report it as missing: -EINVAL. */
int weir_field_required(const struct weir_field *field, struct weir_err *err);
const char *weir_field_key(const struct weir_field *field);
/* The word that precedes the value in text; "": none. */
const char *weir_field_label(const struct weir_field *field);
/* The specification of its second part. */
static inline const struct weir_attr_spec *weir_field_part(const struct weir_field *field)
{
	return &field->spec[field->part - field->attr];
}

/* Append the attributes that a command sends; @verb 0: all fields. */
void weir_set_put(const struct weir_set *set, unsigned int verb,
		  struct nlmsghdr *msg, const void *model);
/* Clear a model and read attributes into it; unknown ones are ignored. */
void weir_set_get(const struct weir_set *set, const void *attrs, size_t len, void *model);
/* Copy the fields that @model lacks. */
void weir_set_fill(const struct weir_set *set, void *model, const void *from);
/* List the words of a command in the order of help; returns @words. */
const struct weir_word *weir_set_words(const struct weir_set *set, unsigned int verb,
				       struct weir_word words[WEIR_WORDS_MAX]);
/* Show the fields that have any of @flags, in text or JSON. */
void weir_set_show(const struct weir_set *set, unsigned int flags,
		   struct weir_out *out, const void *model);
void weir_field_show(const struct weir_set *set, const struct weir_field *field,
		     struct weir_out *out, const void *model);

/* parse.c: parse all words of the command @verb; -EINVAL with a sentence in args->err. */
int weir_parse(struct weir_args *args, const struct weir_set *set, unsigned int verb, void *model);
/*
 * packet.c: may a packet, of which @packet has what is known, match a limit? A fragment or a
 * SYN that is known has its bit in packet->flags, too.
 */
/* That a limit must name the protocol of a packet that keeps the link alive. */
#define WEIR_COND_NAMED	(1ULL << 63)
/*
 * The conditions, but for lists, that it does not meet, WEIR_COND_* or _NAMED; @open: those that
 * it may meet, as what they are about is not known.
 */
uint64_t weir_packet_unmet(const struct weir_match *packet, const struct weir_match *match,
			   uint64_t *open);
/* check.c: check the words of a command against each other, and add what follows from them. */
int weir_check(struct weir_args *args, const struct weir_set *set, unsigned int verb, void *model);

#endif
