/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table: a row for each field of a model. It drives parsing, messages,
 * text, JSON, help, completion, comparison, the JSON schema, and names the
 * word that the kernel refuses.
 */
#ifndef WEIR_FIELD_H
#define WEIR_FIELD_H

#include "model.h"
#include "out.h"
#include "spec.h"
#include "word.h"

enum weir_field_flag {
	/* the commands that take the word */
	WEIR_ON_ADD	= 1 << 0,
	WEIR_ON_SET	= 1 << 1,
	WEIR_ON_DEL	= 1 << 2,
	WEIR_ON_SHOW	= 1 << 3,
	WEIR_ON_GET	= 1 << 4,
	WEIR_ON_CHARGE	= 1 << 5,
	WEIR_ON_FORGET	= 1 << 6,
	/* how it is written */
	WEIR_FIRST	= 1 << 8,	/* its value stands first, without the word */
	WEIR_ALONE	= 1 << 9,	/* an address that may stand without the word */
	WEIR_BARE	= 1 << 10,	/* the names of its values are words */
	WEIR_FOLLOWS	= 1 << 11,	/* only behind the value of the row above */
	WEIR_NOT	= 1 << 12,	/* a condition: "not" may precede it */
	/* how it is shown */
	WEIR_WORDS	= 1 << 14,	/* among the words that make the object */
	WEIR_RESULT	= 1 << 15,	/* what resulted */
	WEIR_EVENT	= 1 << 16,	/* in an event */
	WEIR_LINE	= 1 << 17,	/* a line of its own: counters */
	WEIR_QUIET	= 1 << 18,	/* the usual value is not in the text */
	WEIR_MUTE	= 1 << 19,	/* never in the text */
	WEIR_SOME	= 1 << 20,	/* left out where it is zero */
};

struct nlmsghdr;
struct weir_set;
struct weir_type;

struct weir_field {
	const char *word;		/* NULL: shown, never written */
	const struct weir_type *type;
	unsigned int flags, needed;	/* by which commands */
	uint16_t attr, part;		/* attributes of the value and its second part */
	const struct weir_attr_spec *spec;	/* of attr */
	size_t offset, size;
	uint64_t bit;			/* in has; 0: given where it is not zero */
	const char *help;
	const char *usual;		/* the value where none is given */
	const char *label;		/* in text; NULL: the word; "": none */
	const char *value;		/* as help names it; NULL: the type's */
	const char *alias;		/* another word of the same meaning */
	const char *key;		/* in JSON; NULL: the specification's */
	enum weir_color color;
	const struct weir_set *nest;	/* fields inside, or of each element */
	unsigned int many;		/* elements of a list there may be; 0: it is single */
	size_t count;			/* where their number (unsigned int) is */
};

typedef int weir_parse_value(const struct weir_field *field, struct weir_args *args,
			     const char *text, void *at);

/* A kind of values. What has no function of its own is not done with it. */
struct weir_type {
	const char *value;		/* as help names it */
	const char *schema;		/* the type of each part in JSON */
	size_t second;			/* where in a number its second part is; or 0 */
	weir_parse_value *parse;
	void (*put)(const struct weir_field *field, struct nlmsghdr *msg, const void *at);
	void (*get)(const struct weir_field *field, uint16_t attr,
		    const void *data, size_t len, void *at);
	/* Returns its text, which may be in @buf, of WEIR_TEXT_SIZE. */
	const char *(*text)(const struct weir_field *field, const void *at, char *buf);
	void (*json)(const struct weir_field *field, const char *key,
		     struct weir_out *out, const void *at);
	bool (*overlap)(const void *a, const void *b);	/* elements of a list */
};

/* The fields of one model, which begins with "uint64_t has". */
struct weir_set {
	const char *name;
	const struct weir_field *fields;	/* one without a type ends them */
	size_t size;
	size_t invert;		/* where conditions that must not hold are; or 0 */
	int (*check)(struct weir_args *args, unsigned int verb, void *model);
	int indent;		/* of lines */
};

extern const struct weir_type weir_type_uint, weir_type_amount, weir_type_code, weir_type_ns,
	weir_type_size, weir_type_enum, weir_type_family, weir_type_name,
	weir_type_dev, weir_type_comment, weir_type_prefix, weir_type_address, weir_type_proto,
	weir_type_ports, weir_type_prefixes, weir_type_portlist, weir_type_mark,
	weir_type_per, weir_type_budget, weir_type_flag, weir_type_any, weir_type_conds,
	weir_type_counter, weir_type_nest, weir_type_file;

extern const struct weir_set weir_match_fields, weir_limit_fields,
	weir_limit_stats_fields, weir_exempt_fields, weir_query_fields, weir_wanted_fields,
	weir_source_fields, weir_stats_fields, weir_pressure_fields,
	weir_config_fields, weir_saving_fields;

/* A number of 1, 2, 4 or 8 bytes in host order; 0 of another length. */
uint64_t weir_uint_get(const void *data, size_t len);
void weir_uint_set(void *data, size_t len, uint64_t value);
/* How many bytes the number of an attribute has: of the value, or of its second part. */
size_t weir_type_width(const struct weir_field *field, uint16_t attr);
/* The row of an attribute, of a value or its second part; NULL: none. */
const struct weir_field *weir_field_find(const struct weir_set *set,
					 unsigned int verb, uint16_t attr);
/* Where the value is in a model; of many, the first. */
void *weir_field_at(const struct weir_field *field, const void *model);
/* How many values a model has for a field: 0 or 1, but of many. */
unsigned int weir_field_given(const struct weir_field *field, const void *model);
/* The value as it is written; "" of a flag. */
const char *weir_field_text(const struct weir_field *field, const void *model,
			    char buf[WEIR_TEXT_SIZE]);
/* What an operator calls it: its word, or what stands in its place. */
const char *weir_field_name(const struct weir_field *field, char buf[WEIR_TEXT_SIZE]);
/* Its value as help names it, with what may follow; "" of a flag. */
char *weir_field_value(const struct weir_field *field, char buf[WEIR_TEXT_SIZE]);
/* -EINVAL: it is missing. */
int weir_field_required(const struct weir_field *field, struct weir_err *err);
/* Its key in JSON. */
const char *weir_field_key(const struct weir_field *field);
/* What is known of its second part. */
static inline const struct weir_attr_spec *weir_field_part(const struct weir_field *field)
{
	return &field->spec[field->part - field->attr];
}

/* Append what a command sends of a model, WEIR_MSG_ROOM at most; @verb 0: all. */
void weir_set_put(const struct weir_set *set, unsigned int verb,
		  struct nlmsghdr *msg, const void *model);
/* Read attributes into a model, which is emptied; unknown ones are newer. */
void weir_set_get(const struct weir_set *set, const void *attrs, size_t len, void *model);
/* Fill in what is not given in a model from another. */
void weir_set_fill(const struct weir_set *set, void *model, const void *from);
/* The words of a command, in the order of help; returns @words. */
const struct weir_word *weir_set_words(const struct weir_set *set, unsigned int verb,
				       struct weir_word words[WEIR_WORDS_MAX]);
/* Show fields that have one of @flags, in text or JSON. */
void weir_set_show(const struct weir_set *set, unsigned int flags,
		   struct weir_out *out, const void *model);
/* Show one field. */
void weir_field_show(const struct weir_set *set, const struct weir_field *field,
		     struct weir_out *out, const void *model);

/* parse.c: read all words; @verb is the command. -EINVAL: the words' err says why. */
int weir_parse(struct weir_args *args, const struct weir_set *set, unsigned int verb, void *model);
/* check.c: whether the words of a limit fit each other. */
int weir_check_limit(struct weir_args *args, unsigned int verb, void *model);
/* The worst by drops may be idle now. */
int weir_check_query(struct weir_args *args, unsigned int verb, void *model);

#endif
