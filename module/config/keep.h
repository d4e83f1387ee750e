/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a change of the configuration would lose. See the top of keep.c.
 */
#ifndef WEIR_KEEP_H
#define WEIR_KEEP_H

#include "error.h"
#include "limit/limit.h"

struct weir_net;

int weir_limit_keeps(const struct weir_limit *limit, const struct weir_limit *was,
		     struct weir_net *wn, struct weir_error *error);

#endif /* WEIR_KEEP_H */
