/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What follows from what sources sent. */
#ifndef WEIR_ADVICE_H
#define WEIR_ADVICE_H

#include "advice/demand.h"

/*
 * Fill in what @demand knows: losses, the largest sources, and a proposal, with its reasons. The
 * limit, if it has budgets, is the one that is judged. @advice is zero but for for_ns, if it was
 * watched for longer than sources sent. -ENOMEM.
 */
int weir_advise(const struct weir_demand *demand, const struct weir_limit *limit, uint64_t tick_ns,
		struct weir_advice *advice);
/* Add to what cannot be known. */
void weir_advice_unknown(struct weir_advice *advice, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
