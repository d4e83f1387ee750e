// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exemptions and blocks are sorted by family, address and length of their prefix, then by limit and
 * device. Those of the same prefix form a node, in the order of the index of prefixes, which finds
 * the longest that contains an address. What that node does not have one of its outer nodes may
 * have: at most 129 steps outwards. Within a node one is found by a binary search.
 */
#include <linux/bsearch.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "packet/exempt.h"

/* The exemptions of a prefix. */
struct weir_exempt_node {
	const struct weir_exempt_node *outer;	/* the longest other that contains it, or NULL */
	const struct weir_exempt *first;
	u32 count;
	/* The exemption that is found for all limits and devices, or NULL */
	const struct weir_exempt *any;
	bool has[2];	/* here or in outer nodes there are exemptions, or blocks; */
	bool devs;	/* and some that are for a device */
};

/* Constant once made. */
struct weir_exempts {
	struct weir_prefixes *index;	/* of the nodes' prefixes */
	struct weir_exempt_node *node;
	u32 blocks;	/* those that are no exemptions */
	u32 count;
	struct weir_exempt exempt[] __counted_by(count);
};

static int compare_scope(const struct weir_exempt *a, bool block, u32 limit, const char *dev)
{
	if (a->limit != limit)
		return a->limit < limit ? -1 : 1;
	return a->block - block ?: strncmp(a->dev, dev, IFNAMSIZ);
}

static int compare_exempt(const void *va, const void *vb)
{
	const struct weir_exempt *a = va, *b = vb;
	int order = weir_prefix_compare(&a->prefix, &b->prefix);

	return order ?: compare_scope(a, b->block, b->limit, b->dev);
}

/* Index the prefixes of sorted exemptions. Returns 0 or -ENOMEM. */
static int make_index(struct weir_exempts *exempts)
{
	struct weir_member *member;
	u32 i;

	member = kvcalloc(exempts->count, sizeof(*member), WEIR_GFP);
	if (!member)
		return -ENOMEM;
	for (i = 0; i < exempts->count; i++)
		member[i].prefix = exempts->exempt[i].prefix;
	exempts->index = weir_prefixes_add("", NULL, member, exempts->count);
	kvfree(member);
	if (exempts->index)
		exempts->node = kvcalloc(exempts->index->count, sizeof(*exempts->node), WEIR_GFP);
	return exempts->node ? 0 : -ENOMEM;
}

static void make_nodes(struct weir_exempts *exempts)
{
	struct weir_exempt_node *node = NULL;
	const struct weir_exempt *exempt;
	u32 i, outer, n = 0;

	for (i = 0; i < exempts->count; i++) {
		exempt = &exempts->exempt[i];
		if (!i || weir_prefix_compare(&exempt[-1].prefix, &exempt->prefix)) {
			outer = exempts->index->member[n].outer;
			node = &exempts->node[n++];
			if (outer) {
				*node = exempts->node[outer - 1];
				node->outer = &exempts->node[outer - 1];
			}
			node->first = exempt;
			node->count = 0;
			/* One for a device is found before those of outer nodes. */
			if (!exempt->limit && !exempt->block)
				node->any = *exempt->dev ? NULL : exempt;
		}
		node->count++;
		node->has[exempt->block] = true;
		node->devs |= *exempt->dev;
		exempts->blocks += exempt->block;
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
	if (err)
		exempts->count = i - 1;
	else
		err = make_index(exempts);
	if (err) {
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
	weir_prefixes_put(exempts->index);
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
node_find(const struct weir_exempt_node *node, const char *dev, u32 limit, bool block)
{
	const struct weir_exempt *exempt = node->first;
	u32 low = 0, high = node->count, middle;
	int order;

	while (low < high) {
		middle = (low + high) / 2;
		order = compare_scope(&exempt[middle], block, limit, dev);
		if (!order)
			return &exempt[middle];
		if (order > 0)
			high = middle;
		else
			low = middle + 1;
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
	size_t found = 0;

	if (exempts)
		found = source->scope & WEIR_SCOPE_IPV6 ?
			weir_prefixes_ipv6(exempts->index, source->word) :
			weir_prefixes_ipv4(exempts->index, source->word[0]);
	place->node = found ? &exempts->node[found - 1] : NULL;
	place->all = found ? place->node->any ?: weir_exempt_from(place, dev, 0, false) : NULL;
}

/* What exempts from all limits, or else, unless that is 0, from this one; or with @block blocks. */
const struct weir_exempt *
weir_exempt_from(const struct weir_exempt_place *place, const char *dev, u32 limit, bool block)
{
	const struct weir_exempt_node *node = place->node;
	const struct weir_exempt *exempt = NULL;

	if (!node || !node->has[block])
		return NULL;
	if (limit)
		exempt = block ? weir_exempt_from(place, dev, 0, true) : place->all;
	for (; node && !exempt; node = node->outer) {
		exempt = node_find(node, "", limit, block);
		if (!exempt && node->devs)
			exempt = node_find(node, dev, limit, block);
	}
	return exempt;
}
