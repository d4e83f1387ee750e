/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and prefixes of them, as others write them. */
#ifndef FLEET_PREFIX_H
#define FLEET_PREFIX_H

#include "model.h"

/* "192.0.2.0/24", or an address; what is behind '%' is left out. */
bool fleet_prefix_read(struct weir_prefix *prefix, const char *text);

#endif
