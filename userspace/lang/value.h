/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers and formatters of the field types. */
#ifndef WEIR_VALUE_H
#define WEIR_VALUE_H

#include <time.h>

#include "lang/field.h"

#define WEIR_NS_PER_S	1000000000ull

/* Read 1, 2, 4 or 8 bytes in host order; 0 for other lengths. */
uint64_t weir_uint_get(const void *data, size_t len);
void weir_uint_set(void *data, size_t len, uint64_t value);

/* How far a counter has gone on; one that was reset, or is of another limit, begins at 0. */
static inline uint64_t weir_since(uint64_t was, uint64_t is)
{
	return is < was ? is : is - was;
}

/* -EINVAL with a sentence if @value, written as @text, is out of range. */
int weir_value_range(const char *text, uint64_t value, uint64_t min,
		     uint64_t max, struct weir_err *err);
/* A number, decimal or 0x. */
int weir_value_number(const char *text, uint64_t min, uint64_t max,
		      uint64_t *value, struct weir_err *err);
/* A decimal number that may end in k (1000), M or G. */
int weir_value_count(const char *text, uint64_t min, uint64_t max,
		     uint64_t *value, struct weir_err *err);

/* A time in milliseconds: a number, 1 if left out, and its unit. */
int weir_value_time(const char *text, uint64_t *ms, struct weir_err *err);

/* What a zone's name, or "+02:00", means now. -EINVAL with a sentence if it is neither. */
int weir_zone_find(const char *name, time_t now, struct weir_zone *zone, struct weir_err *err);

/* One parser per type; only a prefix's uses the field. */
weir_parse_value weir_parse_budget, weir_parse_name, weir_parse_list, weir_parse_dev,
	weir_parse_comment, weir_parse_prefix, weir_parse_address, weir_parse_proto,
	weir_parse_icmp, weir_parse_icmpv6, weir_parse_family, weir_parse_ports, weir_parse_mark,
	weir_parse_per, weir_parse_newcomers, weir_parse_rate, weir_parse_ms, weir_parse_zone,
	weir_parse_group, weir_parse_member, weir_parse_lookup, weir_parse_date;
/* The inverses, in the same syntax; the field may be NULL. */
const char *weir_text_budget(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_newcomers(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_rate_of(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_zone(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_date(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_ms(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_group(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_family(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_member(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_lookup(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_prefix(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_proto(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_icmp(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_icmpv6(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_ports(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_mark(const struct weir_field *field, const void *at, char *buf);
const char *weir_text_per(const struct weir_field *field, const void *at, char *buf);
/* Smaller amounts are written without a multiplier: 1000/s. */
#define WEIR_K_FROM	100000
/* With a decimal multiplier (k, M, ...) if large, and at most @digits digits. */
const char *weir_text_amount(uint64_t amount, int digits, char *buf);
/* A rate per second, or per minute, hour or day if below one. */
const char *weir_text_rate(double count, uint32_t window_ms, char *buf);
const char *weir_text_time(uint64_t ns, char *buf);
/* The time of a clock. */
uint64_t weir_clock_ns(clockid_t clock);
const char *weir_text_size(uint64_t bytes, char *buf);

/* Numbers that have names: protocols, and types. */
extern const struct weir_word weir_protos[], weir_icmp_types[], weir_icmpv6_types[];
/* Does a list begin with the name of a protocol? */
bool weir_proto_listed(const char *text);
/* Whether @outer contains @inner. */
bool weir_prefix_holds(const struct weir_prefix *outer, const struct weir_prefix *inner);
/* Shorten a prefix to @len bits. */
void weir_prefix_cut(struct weir_prefix *prefix, uint8_t len);
/* Whether two elements of a list overlap. */
bool weir_prefixes_overlap(const void *a, const void *b);
bool weir_ports_overlap(const void *a, const void *b);
bool weir_types_overlap(const void *a, const void *b);
/* Whether the protocol's header begins with source and destination port. */
bool weir_proto_has_ports(uint8_t proto);
/* Whether peers reply to its packets; false for announcements. */
bool weir_proto_answers(uint8_t proto);

#endif
