/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The module, as it is reached over generic netlink: models go in and come
 * out. What fails returns a negative errno and leaves a sentence.
 */
#ifndef WEIR_NL_H
#define WEIR_NL_H

#include "err.h"
#include "model.h"

struct weir_nl;

/* What the kernel thinks of something that it did all the same. */
struct weir_nl_warning {
	const char *sentence;
	unsigned int place;	/* of the limit in a configuration, from 1; or 0 */
	unsigned int more;	/* limits of it that are warned of too */
};

typedef void weir_nl_warn(const struct weir_nl_warning *warning, void *data);
typedef void weir_nl_limit_told(const struct weir_limit *limit, void *data);
typedef void weir_nl_source_told(const struct weir_source *source, void *data);
typedef void weir_nl_exempt_told(const struct weir_exempt *exempt, void *data);
typedef void weir_nl_noticed(const struct weir_notice *notice, void *data);

int weir_nl_open(struct weir_nl **nl, weir_nl_warn *warn, void *data,
		 struct weir_err *err);
void weir_nl_close(struct weir_nl *nl);
const char *weir_nl_error(const struct weir_nl *nl);
bool weir_nl_interrupted(const struct weir_nl *nl);

int weir_nl_limit_add(struct weir_nl *nl, const struct weir_limit *limit,
		      struct weir_limit *made);
int weir_nl_limit_set(struct weir_nl *nl, const struct weir_limit *limit,
		      struct weir_limit *made);
int weir_nl_limit_del(struct weir_nl *nl, const char *name);
int weir_nl_limit_flush(struct weir_nl *nl);
int weir_nl_limit_get(struct weir_nl *nl, const char *name, bool stats,
		      struct weir_limit *limit);
int weir_nl_limit_walk(struct weir_nl *nl, bool stats,
		       weir_nl_limit_told *told, void *data);

int weir_nl_source_show(struct weir_nl *nl, const struct weir_query *query,
			weir_nl_source_told *told, void *data);
int weir_nl_source_get(struct weir_nl *nl, const struct weir_query *query,
		       weir_nl_source_told *told, void *data);
int weir_nl_source_charge(struct weir_nl *nl, const struct weir_query *query,
			  struct weir_source *source);
int weir_nl_source_forget(struct weir_nl *nl, const struct weir_query *query,
			  uint64_t *forgotten);

int weir_nl_exempt_add(struct weir_nl *nl, const struct weir_exempt *exempt);
int weir_nl_exempt_del(struct weir_nl *nl, const struct weir_exempt *exempt);
int weir_nl_exempt_get(struct weir_nl *nl, const struct weir_exempt *asked,
		       struct weir_exempt *exempt);
int weir_nl_exempt_walk(struct weir_nl *nl, weir_nl_exempt_told *told,
			void *data);
int weir_nl_exempt_flush(struct weir_nl *nl);

int weir_nl_replace(struct weir_nl *nl, const struct weir_config *config,
		    unsigned int *line);
int weir_nl_stats(struct weir_nl *nl, struct weir_stats *stats);

int weir_nl_subscribe(struct weir_nl *nl);
int weir_nl_wait(const struct weir_nl *nl, int out);
int weir_nl_listen(struct weir_nl *nl, weir_nl_noticed *noticed, void *data);

#endif
