/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What attributes alone do not rule out, and the division of windows. See the top of check.c.
 */
#ifndef WEIR_CHECK_H
#define WEIR_CHECK_H

#include "error.h"
#include "limit/limit.h"

int weir_name_check(const char *name, int attr, struct weir_error *error);
int weir_limit_check(struct weir_limit *limit, struct weir_error *error);
u64 weir_limit_room_joined(const struct weir_limit *limit, unsigned int i);
u64 weir_limit_room_most(const struct weir_limit *limit, unsigned int i);
u64 weir_limit_most(const struct weir_limit *limit, unsigned int i);
u64 weir_limit_log_most(const struct weir_limit_config *cfg);

#endif /* WEIR_CHECK_H */
