/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What attributes carry: values as the specification has them, and others. */
#ifndef VALUE_H
#define VALUE_H

#include <stddef.h>

#include "dice.h"
#include "table.h"

#define VALUE_MAX 64

/* What is made wrong. */
enum mood { GOOD, ODD_VALUES, ODD_ATTRS, ODD_BYTES };

/* Returns its bytes: none of a nest, a flag or a pad. */
size_t value_make(uint8_t value[VALUE_MAX], struct dice *dice,
		  const struct attr *attr, enum mood mood);

#endif
