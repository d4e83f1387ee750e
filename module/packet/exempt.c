// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exemptions are sorted by family, address and length of their prefix. Those of
 * the same prefix form a node; a node refers to the longest other node that
 * contains it, its outer node. A binary search finds the last node that is not
 * after an address. That one, or else one of its outer nodes, is the longest that
 * contains the address: at most 129 steps outwards. Within a node exemptions are
 * sorted by limit and device, and found by a binary search.
 */
#include <linux/bsearch.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "packet/exempt.h"

#define NO_NODE U32_MAX

/* A prefix; addresses in host order, IPv4 in the upper half of the first word. */
struct exempt_node {
	u64 address[2];
	u64 mask[2];
	u32 outer;	/* the longest other node that contains this one, or NO_NODE */
	u32 first;	/* of its exemptions */
	u32 count;	/* of them */
	/* The exemption that is found for all limits and devices, or NULL */
	const struct weir_exempt *any;
	bool has[2];	/* here or in outer nodes there are exemptions, or blocks */
};

/* Constant once made; both arrays sorted, IPv4 first. */
struct weir_exempts {
	struct exempt_node *node;
	u32 nodes;
	u32 ipv4;	/* first nodes, of IPv4 */
	u32 blocks;	/* those that are no exemptions */
	u32 count;
	struct weir_exempt exempt[] __counted_by(count);
};

static int compare_scope(const struct weir_exempt *a, u32 limit, const char *dev)
{
	if (a->limit != limit)
		return a->limit < limit ? -1 : 1;
	return strncmp(a->dev, dev, IFNAMSIZ);
}

static int compare_exempt(const void *va, const void *vb)
{
	const struct weir_exempt *a = va, *b = vb;
	int order = weir_prefix_compare(&a->prefix, &b->prefix);

	return order ?: compare_scope(a, b->limit, b->dev);
}

static u64 host_order(const __be32 word[2])
{
	return (u64)ntohl(word[0]) << 32 | ntohl(word[1]);
}

static bool node_has(const struct exempt_node *node, const u64 address[2])
{
	return !(((node->address[0] ^ address[0]) & node->mask[0]) |
		 ((node->address[1] ^ address[1]) & node->mask[1]));
}

static void make_nodes(struct weir_exempts *exempts)
{
	const struct weir_net_prefix *prefix, *last = NULL;
	const struct weir_exempt *exempt;
	struct exempt_node *node = NULL;
	u32 i, outer;

	for (i = 0; i < exempts->count; i++, last = prefix) {
		exempt = &exempts->exempt[i];
		prefix = &exempt->prefix;
		if (!last || weir_prefix_compare(last, prefix)) {
			outer = last && last->family == prefix->family ?
				exempts->nodes - 1 : NO_NODE;
			node = &exempts->node[exempts->nodes++];
			*node = (struct exempt_node) {
				.address = {
					host_order(prefix->word),
					host_order(prefix->word + 2),
				},
				.mask = {
					prefix->len ? U64_MAX << (64 - min(prefix->len, 64)) : 0,
					prefix->len > 64 ? U64_MAX << (128 - prefix->len) : 0,
				},
				.first = i,
			};
			exempts->ipv4 += prefix->family == AF_INET;
			while (outer != NO_NODE && !node_has(&exempts->node[outer], node->address))
				outer = exempts->node[outer].outer;
			node->outer = outer;
			if (outer != NO_NODE) {
				node->any = exempts->node[outer].any;
				memcpy(node->has, exempts->node[outer].has, sizeof(node->has));
			}
			/* One for a device is found before those of outer nodes. */
			if (!exempt->limit)
				node->any = *exempt->dev ? NULL : exempt;
		}
		node->count++;
		node->has[exempt->limit & WEIR_EXEMPT_BLOCK] = true;
		exempts->blocks += exempt->limit & WEIR_EXEMPT_BLOCK;
	}
}

/* Usually only the last one, just added, is out of order. */
static void exempts_sort(struct weir_exempt *exempt, unsigned int count)
{
	struct weir_exempt last = exempt[count - 1];
	unsigned int i;

	for (i = 1; i < count && compare_exempt(&exempt[i - 1], &exempt[i]) < 0; i++)
		;
	if (i < count - 1)
		sort(exempt, count, sizeof(*exempt), compare_exempt, NULL);
	if (i != count - 1)
		return;
	while (i && compare_exempt(&exempt[i - 1], &last) > 0)
		i--;
	memmove(&exempt[i + 1], &exempt[i], (count - 1 - i) * sizeof(*exempt));
	exempt[i] = last;
}

/* Share the counters of an exemption, also under another comment, or make new ones; may sleep. */
static int stats_get(struct weir_exempt *exempt)
{
	const gfp_t gfp = WEIR_GFP;
	struct weir_exempt_stats *was = exempt->stats, *stats;
	size_t size = strlen(exempt->comment) + 1;

	if (was && !strcmp(was->comment, exempt->comment)) {
		refcount_inc(&was->users);
		exempt->count = was->count;
		return 0;
	}
	stats = kzalloc(struct_size(stats, comment, size), gfp);
	if (!stats)
		return -ENOMEM;
	stats->owner = was && was->owner ? was->owner : was;
	stats->count = was ? was->count :
		       __netdev_alloc_pcpu_stats(struct gnet_stats_basic_sync, gfp);
	if (!stats->count) {
		kfree(stats);
		return -ENOMEM;
	}
	if (was)
		refcount_inc(&stats->owner->users);
	refcount_set(&stats->users, 1);
	memcpy(stats->comment, exempt->comment, size);
	exempt->stats = stats;
	exempt->count = stats->count;
	return 0;
}

static void stats_put(struct weir_exempt_stats *stats)
{
	if (!refcount_dec_and_test(&stats->users))
		return;
	if (stats->owner)
		stats_put(stats->owner);
	else
		free_percpu(stats->count);
	kfree(stats);
}

/* The index of the second exemption that is equal to @one; there are two. */
static unsigned int second_of(const struct weir_exempt *exempt, const struct weir_exempt *one)
{
	unsigned int i, met = 0;

	for (i = 0; met < 2; i++)
		met += !compare_exempt(&exempt[i], one);
	return i - 1;
}

/*
 * Make an index of exemptions, at least one, in any order. Returns ERR_PTR(-EEXIST) if
 * two are equal, with the index of the second in @twice, or -ENOMEM. Context: process,
 * may sleep.
 */
struct weir_exempts *weir_exempts_alloc(const struct weir_exempt *exempt, unsigned int count,
					unsigned int *twice)
{
	struct weir_exempts *exempts;
	unsigned int i;
	int err = 0;

	exempts = kvzalloc(struct_size(exempts, exempt, count), WEIR_GFP);
	if (!exempts)
		return ERR_PTR(-ENOMEM);
	exempts->count = count;
	exempts->node = kvcalloc(count, sizeof(*exempts->node), WEIR_GFP);
	if (!exempts->node) {
		kvfree(exempts);
		return ERR_PTR(-ENOMEM);
	}
	memcpy(exempts->exempt, exempt, count * sizeof(*exempt));
	exempts_sort(exempts->exempt, count);
	for (i = 0; i < count && !err; i++) {
		if (i && !compare_exempt(&exempts->exempt[i - 1], &exempts->exempt[i])) {
			*twice = second_of(exempt, &exempts->exempt[i]);
			err = -EEXIST;
		} else {
			err = stats_get(&exempts->exempt[i]);
		}
	}
	if (err) {
		exempts->count = i - 1;
		weir_exempts_free(exempts);
		return ERR_PTR(err);
	}
	make_nodes(exempts);
	return exempts;
}

void weir_exempts_free(struct weir_exempts *exempts)
{
	unsigned int i;

	if (!exempts)
		return;
	for (i = 0; i < exempts->count; i++)
		stats_put(exempts->exempt[i].stats);
	kvfree(exempts->node);
	kvfree(exempts);
}

unsigned int weir_exempts_count(const struct weir_exempts *exempts)
{
	return exempts ? exempts->count : 0;
}

unsigned int weir_exempts_blocks(const struct weir_exempts *exempts)
{
	return exempts ? exempts->blocks : 0;
}

const struct weir_exempt *weir_exempts_at(const struct weir_exempts *exempts, unsigned int index)
{
	return &exempts->exempt[index];
}

/* The tick at which the first of them ends, or U64_MAX. */
u64 weir_exempts_end(const struct weir_exempts *exempts)
{
	u64 end = U64_MAX;
	unsigned int i;

	for (i = 0; i < weir_exempts_count(exempts); i++)
		if (exempts->exempt[i].end)
			end = min(end, exempts->exempt[i].end);
	return end;
}

/* Have two indexes, one made from the other, the same ones, with the same ends and comments? */
bool weir_exempts_same(const struct weir_exempts *a, const struct weir_exempts *b)
{
	unsigned int i = 0, count = weir_exempts_count(a);

	if (count != weir_exempts_count(b))
		return false;
	while (i < count && a->exempt[i].stats == b->exempt[i].stats &&
	       a->exempt[i].end == b->exempt[i].end)
		i++;
	return i == count;
}

/* The index of an exemption, or -1. */
int weir_exempts_find(const struct weir_exempts *exempts, const struct weir_exempt *exempt)
{
	const struct weir_exempt *at = NULL;

	if (exempts)
		at = bsearch(exempt, exempts->exempt, exempts->count, sizeof(*at), compare_exempt);
	return at ? at - exempts->exempt : -1;
}

static const struct weir_exempt *
node_find(const struct weir_exempts *exempts, const struct exempt_node *node,
	  const char *dev, u32 limit)
{
	u32 low = node->first, high = low + node->count, middle;
	int order;

	while (low < high) {
		middle = (low + high) / 2;
		order = compare_scope(&exempts->exempt[middle], limit, dev);
		if (!order)
			return &exempts->exempt[middle];
		if (order > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static const struct weir_exempt *
walk_outwards(const struct weir_exempts *exempts, u32 at, const char *dev, u32 limit)
{
	const struct weir_exempt *exempt;
	const struct exempt_node *node;

	if (!exempts->node[at].has[limit & WEIR_EXEMPT_BLOCK])
		return NULL;
	for (; at != NO_NODE; at = node->outer) {
		node = &exempts->node[at];
		exempt = node_find(exempts, node, "", limit);
		if (!exempt && *dev)
			exempt = node_find(exempts, node, dev, limit);
		if (exempt)
			return exempt;
	}
	return NULL;
}

/*
 * Find the exemptions of a whole address. @dev is the name of the input device, or "". @place is
 * valid as long as @exempts; @place->all is set if it is exempt from all limits.
 */
void weir_exempt_place(const struct weir_exempts *exempts,
		       const struct weir_source *source, const char *dev,
		       struct weir_exempt_place *place)
{
	u64 address[2] = { host_order(source->word), host_order(source->word + 2) };
	bool ipv6 = source->scope & WEIR_SCOPE_IPV6;
	const struct exempt_node *node;
	u32 low, high, middle, at;

	place->exempts = NULL;
	place->all = NULL;
	if (!exempts)
		return;
	low = ipv6 ? exempts->ipv4 : 0;
	high = ipv6 ? exempts->nodes : exempts->ipv4;
	at = NO_NODE;
	while (low < high) {
		middle = (low + high) / 2;
		node = &exempts->node[middle];
		if (node->address[0] == address[0] ? node->address[1] <= address[1] :
						     node->address[0] < address[0]) {
			at = middle;
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	while (at != NO_NODE && !node_has(&exempts->node[at], address))
		at = exempts->node[at].outer;
	if (at == NO_NODE)
		return;
	place->exempts = exempts;
	place->node = at;
	place->all = exempts->node[at].any ?: walk_outwards(exempts, at, dev, 0);
}

/* Is the address in a prefix that is blocked under any limit, on any device? */
bool weir_exempt_has_blocks(const struct weir_exempt_place *place)
{
	return place->exempts && place->exempts->node[place->node].has[WEIR_EXEMPT_BLOCK];
}

/*
 * The exemption from this limit alone, or with 0 from all limits; or NULL. With
 * WEIR_EXEMPT_BLOCK likewise the block.
 */
const struct weir_exempt *
weir_exempt_from(const struct weir_exempt_place *place, const char *dev, u32 limit)
{
	if (!place->exempts)
		return NULL;
	return walk_outwards(place->exempts, place->node, dev, limit);
}
