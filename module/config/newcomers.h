/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The budget of a limit for packets of sources that it does not know. See the top of
 * newcomers.c.
 */
#ifndef WEIR_NEWCOMERS_H
#define WEIR_NEWCOMERS_H

#include "error.h"
#include "limit/newcomers.h"

struct weir_limit;
struct weir_net;

/* Bytes that @tries takes. */
u64 weir_newcomers_bytes(const struct weir_newcomers *newcomers);
/* Makes those of a limit, or takes those of @old; may sleep. */
int weir_newcomers_make(struct weir_net *wn, struct weir_limit *limit,
			const struct weir_limit *old, struct weir_error *error);
/* End batches, which may be old, and count in the window of a limit. */
void weir_newcomers_set(const struct weir_newcomers *newcomers);
/* @heir has replaced the limit, a grace period ago. */
void weir_newcomers_replaced(const struct weir_limit *limit, const struct weir_limit *heir);
/* Frees what @heir, which may be NULL, has not taken. */
void weir_newcomers_free(const struct weir_limit *limit, const struct weir_limit *heir);

/* Begin to learn, because nobody is known: at first, and when all are forgotten. */
void weir_newcomers_learn(const struct weir_limit *limit);
/* The ticks for which it still learns. */
u64 weir_newcomers_learning(const struct weir_limit *limit);

#endif /* WEIR_NEWCOMERS_H */
