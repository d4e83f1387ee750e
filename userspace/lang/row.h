/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rows of fields_*.c are written with. Of a model, struct weir_MODEL: */
#ifndef WEIR_ROW_H
#define WEIR_ROW_H

#include <stddef.h>

#include "lang/field.h"

/* a member, */
#define AT(model, member)	.offset = offsetof(struct weir_##model, member), \
	.size = sizeof(((struct weir_##model *)0)->member)
/* an array, of which a member says how many there are, */
#define MANY(model, array, number)	.offset = offsetof(struct weir_##model, array), \
	.size = sizeof(((struct weir_##model *)0)->array[0]), \
	.many = sizeof(((struct weir_##model *)0)->array) / \
		sizeof(((struct weir_##model *)0)->array[0]), \
	.count = offsetof(struct weir_##model, number)
/* and the set. */
#define SET(name_, model)	.name = name_, .size = sizeof(struct weir_##model)
/* WEIR_A_NAME, of a set of attributes of the specification */
#define ATTR(set, NAME)	.attr = WEIR_A_##NAME, .spec = &weir_##set##_attrs[WEIR_A_##NAME]
#define END	{ 0 }

#endif
