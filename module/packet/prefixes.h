/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prefixes of addresses, and named lists of them.
 */
#ifndef WEIR_PREFIXES_H
#define WEIR_PREFIXES_H

#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/types.h>
#include <net/ipv6.h>

#include "packet/source.h"
#include "uapi/linux/weir.h"

/* What a configuration takes: no process of the cgroup that pays for it is ended to get it. */
#define WEIR_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

/* A prefix of one family; IPv4 in the first word. */
struct weir_net_prefix {
	__be32 word[4];
	u8 family;
	u8 len;
};

struct weir_member {
	struct weir_net_prefix prefix;
	u32 outer;	/* index + 1 of the longest other prefix that contains this one, or 0 */
	u64 budget;	/* of each source in the prefix, where a limit goes by the list; 0: none */
};

/* A step of a lookup asks whether there is a mark of the first @len bits; see prefixes.c. */
struct weir_prefix_step {
	u64 code;	/* of those marks, in place */
	u64 mask[2];	/* of those bits, of IPv4 in the first; see weir_prefix_half() */
	u8 len;
	const struct weir_prefix_step *longer;	/* the next step if there is one, or NULL */
	const struct weir_prefix_step *shorter;	/* likewise if there is none */
};

/*
 * A mark, or 0: from the lowest bit on the bits of IPv4, or of IPv6 the index of a member that has
 * them, and whether others do that are longer; a code; and the index + 1 of the longest member
 * within those bits, or 0.
 */
#define WEIR_MARK_MORE		BIT(31)
#define WEIR_MARK_CODE		32
#define WEIR_MARK_WITHIN	40

/*
 * A list, constant once made: limits that use it and the configuration hold it. That of exemptions
 * has no name.
 */
struct weir_prefixes {
	refcount_t users;
	u32 count;	/* at least one */
	u32 ipv4;	/* first ones, of IPv4 */
	u64 factor;	/* of the hash of marks, odd */
	u64 *mark;	/* a power of two of them */
	u32 last;	/* index of the last one */
	u8 shift;	/* of the hash */
	u8 longest[2];	/* prefixes of IPv4, of IPv6 */
	const struct weir_prefix_step *first[2];	/* for them; NULL without a prefix */
	struct weir_prefix_step *step;	/* all of them */
	u8 steps;
	char name[WEIR_NAME_MAX + 1];	/* padded with zeroes */
	u32 least;	/* index of the smallest budget, and of the largest; @count without one */
	u32 largest;
	struct weir_member member[] __counted_by(count);	/* sorted, each prefix once */
};

static inline bool weir_prefix_has(const struct weir_net_prefix *prefix, u8 family,
				   const __be32 *addr)
{
	if (prefix->family != family)
		return false;
	if (family == AF_INET)
		return !((*addr ^ prefix->word[0]) & htonl(~0ull << (32 - prefix->len)));
	return ipv6_prefix_equal((const struct in6_addr *)addr,
				 (const struct in6_addr *)prefix->word, prefix->len);
}

int weir_prefix_compare(const struct weir_net_prefix *a, const struct weir_net_prefix *b);
bool weir_prefix_holds(const struct weir_net_prefix *outer, const struct weir_net_prefix *inner);
const char *weir_net_prefix_check(const struct weir_net_prefix *prefix);

struct weir_prefixes *weir_prefixes_add(const char *name, const struct weir_prefixes *was,
					const struct weir_member *member, unsigned int count);
unsigned int weir_prefixes_other(const struct weir_prefixes *list,
				 const struct weir_member *member, unsigned int count);
struct weir_prefixes *weir_prefixes_del(const struct weir_prefixes *was,
					const struct weir_member *member, unsigned int count,
					unsigned int *absent);
struct weir_prefixes *weir_prefixes_get(struct weir_prefixes *list);
void weir_prefixes_put(struct weir_prefixes *list);
bool weir_prefixes_same(const struct weir_prefixes *a, const struct weir_prefixes *b);
u64 weir_prefixes_bytes(const struct weir_prefixes *list);
const struct weir_member *weir_prefixes_find(const struct weir_prefixes *list, u8 family,
					     const __be32 *addr);
u64 weir_prefixes_budget(const struct weir_prefixes *list, const struct weir_source *whole);
u64 weir_prefixes_budget_masked(const struct weir_prefixes *list,
				const struct weir_source *source, struct weir_prefix prefix);
bool weir_prefixes_family(const struct weir_prefixes *list, u8 family);
size_t weir_prefixes_search(const struct weir_prefixes *list, const __be32 *addr,
			    const struct weir_prefix_step *step, size_t found);

/* The index + 1 of the longest prefix that contains an address of IPv4, or 0. */
static inline size_t weir_prefixes_ipv4(const struct weir_prefixes *list, __be32 addr)
{
	const struct weir_prefix_step *step = list->first[false];
	u64 key, mark, i, found = 0;

	while (step) {
		key = ((__force u32)addr & step->mask[0]) | step->code;
		i = key * list->factor >> list->shift;
again:
		mark = list->mark[i];
		if (!((mark ^ key) << (64 - WEIR_MARK_WITHIN))) {
			found = mark;
			step = step->longer;
		} else if (likely(!mark)) {
			step = step->shorter;
		} else {
			i = (i + 1) & list->last;
			goto again;
		}
	}
	return found >> WEIR_MARK_WITHIN;
}

/* Half of an address of IPv6, in the order of the CPU. */
static inline u64 weir_prefix_half(const __be32 word[2])
{
	u64 half;

	memcpy(&half, word, sizeof(half));
	return half;
}

/* The key of the first bits of an address of IPv6. Few prefixes are longer than 64 bits. */
static inline u64 weir_prefix_key(const struct weir_prefix_step *step, const __be32 *addr)
{
	u64 key = (weir_prefix_half(addr) & step->mask[0]) + step->code;

	if (unlikely(step->mask[1]))
		key += (weir_prefix_half(addr + 2) & step->mask[1]) * GOLDEN_RATIO_64;
	return key;
}

/* Is a mark that of the first bits of an address of IPv6? */
static inline bool weir_prefix_marks(const struct weir_prefixes *list,
				     const struct weir_prefix_step *step, u64 mark,
				     const __be32 *addr)
{
	const __be32 *word;

	if ((mark ^ step->code) >> WEIR_MARK_CODE & U8_MAX)
		return false;
	word = list->member[(u32)mark & ~WEIR_MARK_MORE].prefix.word;
	return !((weir_prefix_half(word) ^ weir_prefix_half(addr)) & step->mask[0]) &&
	       (likely(!step->mask[1]) ||
		!((weir_prefix_half(word + 2) ^ weir_prefix_half(addr + 2)) & step->mask[1]));
}

/* Likewise of IPv6. Most searches end with the first step, for which few registers are saved. */
static inline size_t weir_prefixes_ipv6(const struct weir_prefixes *list, const __be32 *addr)
{
	const struct weir_prefix_step *step = list->first[true];
	size_t found = 0;
	u64 mark;

	if (!step)
		return 0;
	mark = list->mark[weir_prefix_key(step, addr) * list->factor >> list->shift];
	if (weir_prefix_marks(list, step, mark, addr)) {
		found = mark >> WEIR_MARK_WITHIN;
		step = mark & WEIR_MARK_MORE ? step->longer : NULL;
	} else if (!mark) {
		step = step->shorter;
	}
	return likely(!step) ? found : weir_prefixes_search(list, addr, step, found);
}

#endif /* WEIR_PREFIXES_H */
