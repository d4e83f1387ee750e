/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEIR_MAKE_H
#define WEIR_MAKE_H

#include "error.h"
#include "limit/limit.h"

struct weir_net;

/*
 * The caller initialises a configuration and fills it. A limit made from it has table and
 * counters, those of @was if they can be kept.
 */
u32 weir_limit_sources(const struct weir_limit_config *cfg);
void weir_newcomers_init(struct weir_newcomers_config *cfg);
void weir_limit_init(struct weir_limit_config *cfg, const char *name);
void weir_limit_only_blocks(struct weir_limit_config *cfg, u32 blocks);
u64 weir_limit_turns(const struct weir_limit *limit, u64 now);
struct weir_limit *weir_limit_make(struct weir_net *wn, const struct weir_limit_config *cfg,
				   const struct weir_limit *was, struct weir_error *error);
void weir_limit_replaced(const struct weir_limit *limit, const struct weir_limit *heir);
void weir_limit_free(struct weir_limit *limit, const struct weir_limit *heir);
void weir_limit_drop(struct weir_limit *limit);

/* The attribute that says how large the table is. */
static inline int weir_limit_size_attr(const struct weir_limit_config *cfg)
{
	return cfg->budgets ? WEIR_A_LIMIT_SOURCES : WEIR_A_LIMIT_BLOCKS_ONLY;
}

#endif /* WEIR_MAKE_H */
