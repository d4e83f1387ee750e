/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between limit.c, which makes limits, and those that publish them.
 */
#ifndef WEIR_LIMIT_PRIV_H
#define WEIR_LIMIT_PRIV_H

#include "limit.h"

struct weir_limit *weir_limit_make(struct weir_net *wn,
				   const struct weir_words *words,
				   const struct weir_limit *was, bool fresh,
				   struct weir_fault *fault);
bool weir_limit_same(const struct weir_limit *limit,
		     const struct weir_words *words);
int weir_limit_account(struct weir_limit *limit);
void weir_limit_shell_free(struct weir_limit *limit,
			   const struct weir_limit *other);
int weir_exempt_resolve(const struct weir_config *config,
			const struct weir_exempt_words *words,
			struct weir_exempt *exempt, struct weir_fault *fault);
int weir_refuse(struct weir_fault *fault, int err, enum weir_word word,
		const char *msg);

#endif /* WEIR_LIMIT_PRIV_H */
