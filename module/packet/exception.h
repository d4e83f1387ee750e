/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prefixes whose sources are exempt from limits, or blocked by them.
 */
#ifndef WEIR_EXCEPTION_H
#define WEIR_EXCEPTION_H

#include <linux/if.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <net/sch_generic.h>

#include "packet/prefixes.h"
#include "packet/source.h"

/* Shared by the indexes that have the exception, one after the other. */
struct weir_exception_stats {
	struct gnet_stats_basic_sync __percpu *count;
	struct weir_exception_stats *owner;	/* of @count, with another comment; or NULL */
	refcount_t users;
	char comment[];
};

struct weir_exception {
	struct weir_net_prefix prefix;	/* of the sources */
	u32 limit;	/* id of the only limit it is from, or 0 for all */
	bool block;	/* its packets are refused instead */
	char dev[IFNAMSIZ] __aligned(8); /* input device, or "" for any; padded */
	u64 end;	/* tick at which it is removed, or 0 */
	struct weir_exception_stats *stats;	/* NULL until it is in an index */
	union {
		struct gnet_stats_basic_sync __percpu *count;	/* of @stats, in an index */
		const char *comment;	/* before, which the index copies */
	};
};

struct weir_exceptions;
struct weir_exception_node;

/* The place of an address among the exceptions. */
struct weir_exception_place {
	const struct weir_exception_node *node;	/* or NULL if none has the address */
	const struct weir_exception *all;	/* exemption from all limits, or NULL */
};

/* Count a packet that was exempted. Context: BH off. */
static inline void weir_exception_count(const struct weir_exception *exception, u32 packets,
					u64 bytes)
{
	_bstats_update(this_cpu_ptr(exception->count), bytes, packets);
}

/* The first address of a prefix. */
static inline struct weir_source weir_prefix_source(const struct weir_net_prefix *prefix)
{
	struct weir_source source = {
		.scope = prefix->family == AF_INET6 ? WEIR_SCOPE_IPV6 : 0,
	};

	memcpy(source.word, prefix->word, sizeof(source.word));
	return source;
}

struct weir_exceptions *weir_exceptions_alloc(const struct weir_exception *exception,
					      unsigned int count, unsigned int *twice);
void weir_exceptions_free(struct weir_exceptions *exceptions);
unsigned int weir_exceptions_count(const struct weir_exceptions *exceptions);
unsigned int weir_exceptions_blocks(const struct weir_exceptions *exceptions);
const struct weir_exception *
weir_exceptions_at(const struct weir_exceptions *exceptions, unsigned int index);
u64 weir_exceptions_end(const struct weir_exceptions *exceptions);
bool weir_exceptions_same(const struct weir_exceptions *a, const struct weir_exceptions *b);
int weir_exceptions_find(const struct weir_exceptions *exceptions,
			 const struct weir_exception *exception);

void weir_exception_place(const struct weir_exceptions *exceptions,
			  const struct weir_source *source, const char *dev,
			  struct weir_exception_place *place);
const struct weir_exception *
weir_exception_of(const struct weir_exception_place *place, const char *dev, u32 limit, bool block);

#endif /* WEIR_EXCEPTION_H */
