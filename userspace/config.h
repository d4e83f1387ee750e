/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole configuration: lists, limits in order, exemptions, and devices that drop early. */
#ifndef WEIR_CONFIG_H
#define WEIR_CONFIG_H

#include "field.h"

/* Room for all words of a limit. */
#define WEIR_DIFFERS_SIZE	160

/* Empty it, and free its lists and exemptions. */
void weir_config_clear(struct weir_config *config);
struct weir_limit *weir_config_find(struct weir_config *config, const char *name);
/* Insert a limit before limit->before, or at the end; -ENOENT: no such limit. */
int weir_config_add_limit(struct weir_config *config,
			  const struct weir_limit *limit, struct weir_err *err);
int weir_config_add_exempt(struct weir_config *config, const struct weir_exempt *exempt,
			   struct weir_err *err);
/* Fills the last part of that list up before it adds another one. */
int weir_config_add_list(struct weir_config *config, const struct weir_list *list,
			 struct weir_err *err);
/* As weir_packet_meets(), with the lists of the configuration. */
bool weir_config_meets(const struct weir_config *config, const struct weir_match *packet,
		       const struct weir_match *match);
int weir_config_add_early(struct weir_config *config, const struct weir_xdp *xdp,
			  struct weir_err *err);
/* 0: the same prefix, device and limit; else their order. */
int weir_config_compare(const struct weir_exempt *a, const struct weir_exempt *b);
/* Sort the exemptions and the lists, for weir_config_check() and for saving. */
void weir_config_sort(struct weir_config *config);
/* Check an exemption of a sorted configuration for duplicates; -ENOENT: no such limit. */
int weir_config_check(struct weir_config *config, const struct weir_exempt *exempt,
		      struct weir_err *err);
/* List the words in which a limit differs from the existing one; false: none. */
bool weir_limit_differs(const struct weir_limit *words, const struct weir_limit *there,
			char text[WEIR_DIFFERS_SIZE]);

#endif
