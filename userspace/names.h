/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the specification calls the numbers on the wire. */
#ifndef WEIR_NAMES_H
#define WEIR_NAMES_H

enum weir_attr_kind {
	WEIR_KIND_PAD,
	WEIR_KIND_UINT,
	WEIR_KIND_STRING,
	WEIR_KIND_BINARY,
	WEIR_KIND_FLAG,
	WEIR_KIND_NEST,
};

struct weir_attr_set;

struct weir_attr_name {
	const char *name;			/* NULL where the number is unused */
	enum weir_attr_kind kind;
	const struct weir_attr_set *nest;	/* what is inside, of WEIR_KIND_NEST */
};

struct weir_attr_set {
	const struct weir_attr_name *attrs;	/* by attribute number */
	unsigned int count;
};

struct weir_op_name {
	const char *name;
	const struct weir_attr_set *set;
};

extern const struct weir_attr_set weir_match_set, weir_counter_set,
	weir_limit_stats_set, weir_limit_set, weir_exempt_set, weir_source_set,
	weir_stats_set, weir_config_set, weir_pressure_set;
extern const struct weir_op_name weir_op_names[];	/* by command number */
extern const unsigned int weir_op_count;

#endif
