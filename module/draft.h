/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A configuration to be: drafted by config.c, published here.
 */
#ifndef WEIR_DRAFT_H
#define WEIR_DRAFT_H

#include "limit.h"

/**
 * struct weir_draft - a configuration to be
 * @config: with its limits, some of them the old ones
 * @was: for each limit, the one of the old configuration that it is or
 *	replaces, or NULL
 */
struct weir_draft {
	struct weir_config *config;
	struct weir_limit **was;
};

int weir_draft_init(struct weir_draft *draft, unsigned int count);
void weir_draft_keep(struct weir_draft *draft, unsigned int i,
		     const struct weir_config *old, unsigned int j);
int weir_draft_exempts(struct weir_draft *draft,
		       const struct weir_exempt *exempt, unsigned int count);
int weir_draft_edit_exempts(struct weir_draft *draft,
			    const struct weir_config *old,
			    const struct weir_exempt *gone,
			    const struct weir_exempt *come);
void weir_draft_drop(struct weir_net *wn, struct weir_draft *draft);
int weir_draft_publish(struct weir_net *wn, struct weir_draft *draft);

#endif /* WEIR_DRAFT_H */
