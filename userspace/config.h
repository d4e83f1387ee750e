/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole configuration: its limits in their order and its exemptions. */
#ifndef WEIR_CONFIG_H
#define WEIR_CONFIG_H

#include "err.h"
#include "model.h"

int weir_config_add_limit(struct weir_config *config,
			  const struct weir_limit *limit, struct weir_err *err);
int weir_config_add_exempt(struct weir_config *config,
			   const struct weir_exempt *exempt,
			   struct weir_err *err);
int weir_config_check(const struct weir_config *config, unsigned int *line,
		      struct weir_err *err);
/* Room for all words of a limit. */
#define WEIR_DIFFERS_SIZE	160

void weir_conds_text(uint32_t which, char text[WEIR_DIFFERS_SIZE]);
bool weir_limit_differs(const struct weir_limit *words,
			const struct weir_limit *there,
			char text[WEIR_DIFFERS_SIZE]);
int weir_exempt_compare(const void *left, const void *right);
void weir_config_free(struct weir_config *config);

#endif
