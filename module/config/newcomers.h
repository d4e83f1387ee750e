/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The budget of a limit for packets of sources that it does not know. See the top of
 * newcomers.c.
 */
#ifndef WEIR_NEWCOMERS_H
#define WEIR_NEWCOMERS_H

#include "error.h"
#include "limit/newcomers.h"

struct weir_net;

/* Bytes that @table and @tries take. */
u64 weir_newcomers_bytes(const struct weir_newcomers *newcomers);
/* Makes those of a checked configuration, or takes those of @was; may sleep. */
int weir_newcomers_make(struct weir_net *wn, struct weir_newcomers *newcomers,
			const struct weir_newcomers *was, struct weir_error *error);
/* @heir has replaced them, a grace period ago. */
void weir_newcomers_replaced(const struct weir_newcomers *newcomers,
			     const struct weir_newcomers *heir);
/* Frees what @heir, which may be NULL, has not taken. */
void weir_newcomers_free(struct weir_newcomers *newcomers, const struct weir_newcomers *heir);

/* Begin to learn, because nobody is known: at first, and when all are forgotten. */
void weir_newcomers_learn(const struct weir_newcomers *newcomers);
/* The ticks for which it still learns. */
u64 weir_newcomers_learning(const struct weir_newcomers *newcomers);

#endif /* WEIR_NEWCOMERS_H */
