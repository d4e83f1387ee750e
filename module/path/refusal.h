/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The per-CPU refusal cache, which drops a flood from a few sources before
 * anything is hashed or any shared line is written. See the top of refusal.c.
 */
#ifndef WEIR_REFUSAL_H
#define WEIR_REFUSAL_H

#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>

#include "compat.h"
#include "limit/limit.h"
#include "limit/result.h"
#include "packet/packet.h"
#include "table/counts.h"

#define WEIR_REFUSALS_SHIFT 10

struct weir_config;
struct weir_limit;
struct weir_net;

/* A source that a limit refused. */
struct weir_refusal {
	struct weir_source key;	/* source, masked with weir_refusals.key */
	int ifindex;		/* of the input device */
	u64 until;		/* tick at which it expires */
	struct weir_entry *entry;	/* of the source */
	const struct weir_limit *limit;	/* that refused it */
	u32 seq;		/* seqcount of @entry then; the cell is valid while it stays */
	u32 bytes;		/* smallest packet that is refused */
	u32 count;		/* packets refused that @entry has not counted yet */
	u16 generation;		/* of the configuration, 0 if it was never used */
	struct weir_result result;	/* of a later one: which budget of @limit refuses it */
} __aligned(64);

/* A CPU's, of a namespace; written with BH off. */
struct weir_refusal_cache {
	u64 until;		/* tick at which the last cell expires */
	u16 generation;		/* of the configuration that stored last */
	struct weir_refusal *cell;	/* 1 << WEIR_REFUSALS_SHIFT of them */
};

#define WEIR_REFUSED_SHIFT 12

/*
 * When a packet was refused last, in any namespace, by a hash of the first 64 bits of its
 * whole address: low bits of a tick.
 */
extern u32 weir_refused[1 << WEIR_REFUSED_SHIFT];

static inline u32 *weir_refused_cell(__be32 first, __be32 second)
{
	return weir_refused + hash_32((__force u32)(first ^ second), WEIR_REFUSED_SHIFT);
}

/* Note a refusal. Any CPU may; it seldom writes what the others read. */
static inline void weir_refused_note(const struct weir_source *source, u64 tick)
{
	u32 *cell = weir_refused_cell(source->word[0], source->word[1]);

	/* Pairs with weir_refused_lately(). */
	if (unlikely((u32)tick - READ_ONCE(*cell) > HZ / 4))
		WRITE_ONCE(*cell, tick);
}

/*
 * Is it worth while to ask whether a packet is refused? A source that floods is refused
 * by more than its CPU's cache at least once a second. @first, @second: words of its
 * address, the second one 0 for IPv4.
 */
static inline bool weir_refused_lately(__be32 first, __be32 second, u64 tick)
{
	/* Pairs with weir_refused_note(). */
	return (u32)tick - READ_ONCE(*weir_refused_cell(first, second)) <= 2 * HZ;
}

/* The cell of a cache for a source, whole or masked. */
static inline struct weir_refusal *
weir_refusal_cell(const struct weir_refusal_cache *cache,
		  const struct weir_refusals *refusals,
		  const struct weir_source *source)
{
	const struct weir_refusal_mask *index = &refusals->index;
	__be32 mix;

	if (source->scope & WEIR_SCOPE_IPV6)
		mix = (source->word[0] & index->ipv6[0]) ^
		      (source->word[1] & index->ipv6[1]) ^
		      (source->word[2] & index->ipv6[2]) ^
		      (source->word[3] & index->ipv6[3]);
	else
		mix = source->word[0] & index->ipv4;
	return cache->cell + hash_32((__force u32)mix, WEIR_REFUSALS_SHIFT);
}

/* Mask a source to what a cell stands for. */
static inline void weir_refusal_mask(const struct weir_refusals *refusals,
				     struct weir_source *source)
{
	const struct weir_refusal_mask *key = &refusals->key;

	if (source->scope & WEIR_SCOPE_IPV6) {
		source->word[0] &= key->ipv6[0];
		source->word[1] &= key->ipv6[1];
		source->word[2] &= key->ipv6[2];
		source->word[3] &= key->ipv6[3];
	} else {
		source->word[0] &= key->ipv4;
	}
}

/*
 * Does a cell refuse a packet? @key: its source, masked; @ifindex: of the input device;
 * @bytes: of the packet, which is not GSO. BH off, RCU read lock.
 */
static inline bool weir_refusal_holds(const struct weir_refusal *cell, u16 generation,
				      const struct weir_source *key, int ifindex,
				      u64 tick, u32 bytes)
{
	/* Unchanged: nothing was charged, given back or moved since. */
	return weir_source_same(&cell->key, key) &&
	       cell->ifindex == ifindex && tick < cell->until &&
	       cell->generation == generation && bytes >= cell->bytes &&
	       READ_ONCE(cell->entry->seq.sequence) == cell->seq;
}

/* May a cell be used for a refusal? */
static inline bool weir_refusal_free(const struct weir_refusal *cell, u16 generation,
				     const struct weir_lookup *lookup)
{
	if (unlikely(cell->generation != generation))
		/* Pairs with weir_refusals_settle(). */
		return !smp_load_acquire(&cell->count);
	return lookup->tick >= cell->until ||
	       (cell->entry == lookup->entry &&
		(cell->seq != lookup->seq || lookup->amount[true] < cell->bytes));
}

/*
 * Find the cell of a CPU's cache that refuses a packet of @bytes, which is not GSO. @header:
 * of IP; @dev: its input device. BH off, RCU read lock.
 */
static __always_inline bool
weir_refusal_find(const struct weir_refusal_cache *cache, const struct weir_config *config,
		  const void *header, u8 family, const struct net_device *dev, u64 tick,
		  const u32 *bytes, struct weir_refusal **cell)
{
	struct weir_source source __weir_uninitialized;

	if (!weir_header_plain(header, family))
		return false;
	weir_header_source(header, family, dev->ifindex, &source);
	if (!weir_source_plain(&source))
		return false;
	*cell = weir_refusal_cell(cache, &config->refusals, &source);
	weir_refusal_mask(&config->refusals, &source);
	/* A packet that exceeds the whole budget is counted apart. */
	return weir_refusal_holds(*cell, data_race(config->generation), &source, dev->ifindex,
				  tick, *bytes) &&
	       *bytes <= (*cell)->limit->largest[true];
}

/* Count a packet in a cell, and say how it refuses it. */
static inline struct weir_result weir_refusal_repeat(struct weir_refusal *cell)
{
	/* Pairs with weir_refusals_pending(). */
	WRITE_ONCE(cell->count, cell->count + 1);
	return cell->result;
}

void weir_refusal_store(const struct weir_net *wn, const struct weir_config *config,
			struct weir_refusal *cell, const struct weir_source *source,
			int ifindex, const struct weir_limit *limit,
			const struct weir_lookup *lookup, struct weir_result result);
void weir_refusals_pending(const struct weir_net *wn,
			   const struct weir_limit *limit,
			   struct weir_source_state *state, unsigned int count);
void weir_refusals_init(struct weir_config *config);
void weir_refusals_settle(struct weir_net *wn);
void weir_refusals_renew(struct weir_net *wn);
int weir_refusals_alloc(struct weir_net *wn);
void weir_refusals_free(struct weir_net *wn);

#endif /* WEIR_REFUSAL_H */
