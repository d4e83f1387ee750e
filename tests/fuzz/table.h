/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the specification says of messages; table.c is made from it. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum kind { U8, U16, U32, U64, STRING, BINARY, FLAG, NEST, PAD };

struct set;

struct attr {
	const char *name;
	uint16_t number;
	enum kind kind;
	bool multi;		/* may stand more than once */
	uint16_t max_len;	/* of strings, without their NUL, and binaries */
	uint64_t least, most;	/* of numbers */
	const struct set *nest;
};

struct set {
	const struct attr *attrs;
	unsigned int count;
};

/* What a message of an operation may carry. */
struct mode {
	bool there;
	unsigned int count;
	uint8_t attr[24];	/* by number */
};

struct op {
	const char *name;
	uint8_t cmd;
	bool admin;
	const struct set *set;
	struct mode one, dump;
};

extern const struct set match_set;
extern const struct op ops[];
extern const unsigned int ops_count;

const struct attr *attr_find(const struct set *set, unsigned int number);
unsigned int kind_bytes(enum kind kind);

#endif
