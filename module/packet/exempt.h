/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prefixes whose sources are exempt from limits, or blocked by them.
 */
#ifndef WEIR_EXEMPT_H
#define WEIR_EXEMPT_H

#include <linux/if.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <net/sch_generic.h>

#include "packet/prefixes.h"
#include "packet/source.h"

/* Shared by the indexes that have the exemption, one after the other. */
struct weir_exempt_stats {
	struct gnet_stats_basic_sync __percpu *count;
	struct weir_exempt_stats *owner;	/* of @count, with another comment; or NULL */
	refcount_t users;
	char comment[];
};

struct weir_exempt {
	struct weir_net_prefix prefix;	/* of the sources */
	u32 limit;	/* id of the only limit it is from, or 0 for all */
	bool block;	/* its packets are refused instead */
	char dev[IFNAMSIZ] __aligned(8); /* input device, or "" for any; padded */
	u64 end;	/* tick at which it is removed, or 0 */
	struct weir_exempt_stats *stats;	/* NULL until it is in an index */
	union {
		struct gnet_stats_basic_sync __percpu *count;	/* of @stats, in an index */
		const char *comment;	/* before, which the index copies */
	};
};

struct weir_exempts;
struct weir_exempt_node;

/* The place of an address among the exemptions. */
struct weir_exempt_place {
	const struct weir_exempt_node *node;	/* or NULL if none has the address */
	const struct weir_exempt *all;	/* exemption from all limits, or NULL */
};

/* Count a packet that was exempted. Context: BH off. */
static inline void weir_exempt_count(const struct weir_exempt *exempt, u32 packets, u64 bytes)
{
	_bstats_update(this_cpu_ptr(exempt->count), bytes, packets);
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

struct weir_exempts *weir_exempts_alloc(const struct weir_exempt *exempt, unsigned int count,
					unsigned int *twice);
void weir_exempts_free(struct weir_exempts *exempts);
unsigned int weir_exempts_count(const struct weir_exempts *exempts);
unsigned int weir_exempts_blocks(const struct weir_exempts *exempts);
const struct weir_exempt *weir_exempts_at(const struct weir_exempts *exempts, unsigned int index);
u64 weir_exempts_end(const struct weir_exempts *exempts);
bool weir_exempts_same(const struct weir_exempts *a, const struct weir_exempts *b);
int weir_exempts_find(const struct weir_exempts *exempts, const struct weir_exempt *exempt);

void weir_exempt_place(const struct weir_exempts *exempts,
		       const struct weir_source *source, const char *dev,
		       struct weir_exempt_place *place);
const struct weir_exempt *
weir_exempt_from(const struct weir_exempt_place *place, const char *dev, u32 limit, bool block);

#endif /* WEIR_EXEMPT_H */
