/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a change of the configuration loses. See the top of loss.c.
 */
#ifndef WEIR_LOSS_H
#define WEIR_LOSS_H

#include "error.h"
#include "limit/limit.h"

struct weir_net;

/*
 * Do the counts of the first budget begin anew? Between units a source keeps the part of its
 * budget that it has used, but not where a list gives sources budgets of their own.
 */
bool weir_limit_recounts(const struct weir_limit *limit, const struct weir_limit *was);

/*
 * Warn, with a number, of what @limit loses if it replaces @was with another table.
 * Under the namespace's mutex. Returns 0 or -ENOMEM.
 */
int weir_limit_loss(const struct weir_limit *limit, const struct weir_limit *was,
		    struct weir_net *wn, struct weir_error *error);

#endif /* WEIR_LOSS_H */
