/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The per-CPU refusal cache, which drops a flood from a few sources before
 * anything is hashed or any shared line is written. See the top of refusal.c.
 */
#ifndef WEIR_REFUSAL_H
#define WEIR_REFUSAL_H

#include <linux/hash.h>
#include <linux/percpu.h>

#include "bucket.h"

#define WEIR_REFUSALS_SHIFT 6

struct weir_config;
struct weir_limit;
struct weir_net;

/* A source that a limit refused. */
struct weir_refusal {
	struct weir_source key;	/* source, masked with weir_refusals.mask */
	int ifindex;		/* of the input device, 0 if the entry was never used */
	u64 until;		/* tick at which it expires */
	struct weir_way *way;	/* of the source */
	const struct weir_limit *limit;	/* that refused it */
	u32 seq;		/* seqcount of @way then; the entry is valid while it stays */
	u32 bytes;		/* smallest packet that is refused */
	u32 count;		/* packets refused that @way has not counted yet */
} __aligned(64);

/* @until: tick at which the last entry expires */
struct weir_refusal_cache {
	u64 until;
	struct weir_refusal entry[1 << WEIR_REFUSALS_SHIFT];
};

/* The caches of a configuration. */
struct weir_refusals {
	struct weir_refusal_cache __percpu *cache;	/* CPU-local, written with BH off */
	__be32 mask[4];		/* bits of an IPv6 source that exemptions and @limits look at */
	__be32 mask4;		/* of an IPv4 source */
	unsigned int limits;	/* first limits that look at source and device only */
};

/* Has this CPU any entry that has not expired? BH off. */
static inline bool weir_refusals_alive(const struct weir_refusals *refusals,
				       u64 tick)
{
	return tick < this_cpu_ptr(refusals->cache)->until;
}

/* The entry of this CPU for a masked source. BH off. */
static inline struct weir_refusal *
weir_refusal_entry(const struct weir_refusals *refusals,
		   const struct weir_source *key)
{
	__be32 mix = key->word[0] ^ key->word[1] ^ key->word[2] ^ key->word[3];

	return this_cpu_ptr(refusals->cache)->entry +
	       hash_32((__force u32)mix, WEIR_REFUSALS_SHIFT);
}

/**
 * weir_refusal_holds - does an entry refuse a packet?
 * @entry: entry for its source
 * @key: source, masked
 * @ifindex: of the input device
 * @tick: now
 * @bytes: of the packet, which is not GSO
 *
 * Context: BH off, RCU read lock.
 */
static inline bool weir_refusal_holds(const struct weir_refusal *entry,
				      const struct weir_source *key,
				      int ifindex, u64 tick, u32 bytes)
{
	/* Unchanged: nothing was charged, given back or moved since. */
	return weir_source_same(&entry->key, key) &&
	       entry->ifindex == ifindex && tick < entry->until &&
	       bytes >= entry->bytes &&
	       READ_ONCE(entry->way->seq.seqcount.sequence) == entry->seq;
}

void weir_refusal_store(const struct weir_refusals *refusals,
			struct weir_refusal *entry,
			const struct weir_source *key, int ifindex,
			const struct weir_limit *limit,
			const struct weir_lookup *lookup);
void weir_refusals_pending(const struct weir_refusals *refusals,
			   const struct weir_limit *limit,
			   struct weir_source_state *state, unsigned int count);
int weir_refusals_init(struct weir_config *config);
void weir_refusals_settle(struct weir_net *wn, const struct weir_config *config,
			  const struct weir_config *next);
void weir_refusals_free(struct weir_config *config);

#endif /* WEIR_REFUSAL_H */
