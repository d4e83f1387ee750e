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

#include "packet/exception.h"

/* The exceptions of a prefix. */
struct weir_exception_node {
	const struct weir_exception_node *outer;	/* the longest that contains it, or NULL */
	const struct weir_exception *first;
	u32 count;
	/* The exemption that is found for all limits and devices, or NULL */
	const struct weir_exception *any;
	bool has[2];	/* here or in outer nodes there are exemptions, or blocks; */
	bool devs;	/* and some that are for a device */
};

/* Constant once made. */
struct weir_exceptions {
	struct weir_prefixes *index;	/* of the nodes' prefixes */
	struct weir_exception_node *node;
	u32 blocks;	/* those that are no exemptions */
	u32 count;
	struct weir_exception exception[] __counted_by(count);
};

static int compare_scope(const struct weir_exception *a, bool block, u32 limit, const char *dev)
{
	if (a->limit != limit)
		return a->limit < limit ? -1 : 1;
	return a->block - block ?: strncmp(a->dev, dev, IFNAMSIZ);
}

static int compare_exception(const void *va, const void *vb)
{
	const struct weir_exception *a = va, *b = vb;
	int order = weir_prefix_compare(&a->prefix, &b->prefix);

	return order ?: compare_scope(a, b->block, b->limit, b->dev);
}

/* Index the prefixes of sorted exceptions. Returns 0 or -ENOMEM. */
static int make_index(struct weir_exceptions *exceptions)
{
	struct weir_member *member;
	u32 i;

	member = kvcalloc(exceptions->count, sizeof(*member), WEIR_GFP);
	if (!member)
		return -ENOMEM;
	for (i = 0; i < exceptions->count; i++)
		member[i].prefix = exceptions->exception[i].prefix;
	exceptions->index = weir_prefixes_add("", NULL, member, exceptions->count);
	kvfree(member);
	if (exceptions->index)
		exceptions->node = kvcalloc(exceptions->index->count, sizeof(*exceptions->node),
					    WEIR_GFP);
	return exceptions->node ? 0 : -ENOMEM;
}

static void make_nodes(struct weir_exceptions *exceptions)
{
	struct weir_exception_node *node = NULL;
	const struct weir_exception *exception;
	u32 i, outer, n = 0;

	for (i = 0; i < exceptions->count; i++) {
		exception = &exceptions->exception[i];
		if (!i || weir_prefix_compare(&exception[-1].prefix, &exception->prefix)) {
			outer = exceptions->index->member[n].outer;
			node = &exceptions->node[n++];
			if (outer) {
				*node = exceptions->node[outer - 1];
				node->outer = &exceptions->node[outer - 1];
			}
			node->first = exception;
			node->count = 0;
			/* One for a device is found before those of outer nodes. */
			if (!exception->limit && !exception->block)
				node->any = *exception->dev ? NULL : exception;
		}
		node->count++;
		node->has[exception->block] = true;
		node->devs |= *exception->dev;
		exceptions->blocks += exception->block;
	}
}

/* Usually only the last one, just added, is out of order. */
static void exceptions_sort(struct weir_exception *exception, unsigned int count)
{
	struct weir_exception last = exception[count - 1];
	unsigned int i;

	for (i = 1; i < count && compare_exception(&exception[i - 1], &exception[i]) < 0; i++)
		;
	if (i < count - 1)
		sort(exception, count, sizeof(*exception), compare_exception, NULL);
	if (i != count - 1)
		return;
	while (i && compare_exception(&exception[i - 1], &last) > 0)
		i--;
	memmove(&exception[i + 1], &exception[i], (count - 1 - i) * sizeof(*exception));
	exception[i] = last;
}

/* Share the counters of an exception, also under another comment, or make new ones; may sleep. */
static int stats_get(struct weir_exception *exception)
{
	const gfp_t gfp = WEIR_GFP;
	struct weir_exception_stats *was = exception->stats, *stats;
	size_t size = strlen(exception->comment) + 1;

	if (was && !strcmp(was->comment, exception->comment)) {
		refcount_inc(&was->users);
		exception->count = was->count;
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
	memcpy(stats->comment, exception->comment, size);
	exception->stats = stats;
	exception->count = stats->count;
	return 0;
}

static void stats_put(struct weir_exception_stats *stats)
{
	if (!refcount_dec_and_test(&stats->users))
		return;
	if (stats->owner)
		stats_put(stats->owner);
	else
		free_percpu(stats->count);
	kfree(stats);
}

/* The index of the second exception that is equal to @one; there are two. */
static unsigned int second_of(const struct weir_exception *exception,
			      const struct weir_exception *one)
{
	unsigned int i, met = 0;

	for (i = 0; met < 2; i++)
		met += !compare_exception(&exception[i], one);
	return i - 1;
}

/*
 * Make an index of exceptions, at least one, in any order. Returns ERR_PTR(-EEXIST) if
 * two are equal, with the index of the second in @twice, or -ENOMEM. Context: process,
 * may sleep.
 */
struct weir_exceptions *weir_exceptions_alloc(const struct weir_exception *exception,
					      unsigned int count, unsigned int *twice)
{
	struct weir_exceptions *exceptions;
	unsigned int i;
	int err = 0;

	exceptions = kvzalloc(struct_size(exceptions, exception, count), WEIR_GFP);
	if (!exceptions)
		return ERR_PTR(-ENOMEM);
	exceptions->count = count;
	memcpy(exceptions->exception, exception, count * sizeof(*exception));
	exceptions_sort(exceptions->exception, count);
	for (i = 0; i < count && !err; i++) {
		if (i && !compare_exception(&exceptions->exception[i - 1],
					    &exceptions->exception[i])) {
			*twice = second_of(exception, &exceptions->exception[i]);
			err = -EEXIST;
		} else {
			err = stats_get(&exceptions->exception[i]);
		}
	}
	if (err)
		exceptions->count = i - 1;
	else
		err = make_index(exceptions);
	if (err) {
		weir_exceptions_free(exceptions);
		return ERR_PTR(err);
	}
	make_nodes(exceptions);
	return exceptions;
}

void weir_exceptions_free(struct weir_exceptions *exceptions)
{
	unsigned int i;

	if (!exceptions)
		return;
	for (i = 0; i < exceptions->count; i++)
		stats_put(exceptions->exception[i].stats);
	weir_prefixes_put(exceptions->index);
	kvfree(exceptions->node);
	kvfree(exceptions);
}

unsigned int weir_exceptions_count(const struct weir_exceptions *exceptions)
{
	return exceptions ? exceptions->count : 0;
}

unsigned int weir_exceptions_blocks(const struct weir_exceptions *exceptions)
{
	return exceptions ? exceptions->blocks : 0;
}

const struct weir_exception *
weir_exceptions_at(const struct weir_exceptions *exceptions, unsigned int index)
{
	return &exceptions->exception[index];
}

/* The tick at which the first of them ends, or U64_MAX. */
u64 weir_exceptions_end(const struct weir_exceptions *exceptions)
{
	u64 end = U64_MAX;
	unsigned int i;

	for (i = 0; i < weir_exceptions_count(exceptions); i++)
		if (exceptions->exception[i].end)
			end = min(end, exceptions->exception[i].end);
	return end;
}

/* Have two indexes, one made from the other, the same ones, with the same ends and comments? */
bool weir_exceptions_same(const struct weir_exceptions *a, const struct weir_exceptions *b)
{
	unsigned int i = 0, count = weir_exceptions_count(a);

	if (count != weir_exceptions_count(b))
		return false;
	while (i < count && a->exception[i].stats == b->exception[i].stats &&
	       a->exception[i].end == b->exception[i].end)
		i++;
	return i == count;
}

/* The index of an exception, or -1. */
int weir_exceptions_find(const struct weir_exceptions *exceptions,
			 const struct weir_exception *exception)
{
	const struct weir_exception *at = NULL;

	if (exceptions)
		at = bsearch(exception, exceptions->exception, exceptions->count, sizeof(*at),
			     compare_exception);
	return at ? at - exceptions->exception : -1;
}

static const struct weir_exception *
node_find(const struct weir_exception_node *node, const char *dev, u32 limit, bool block)
{
	const struct weir_exception *exception = node->first;
	u32 low = 0, high = node->count, middle;
	int order;

	while (low < high) {
		middle = (low + high) / 2;
		order = compare_scope(&exception[middle], block, limit, dev);
		if (!order)
			return &exception[middle];
		if (order > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/*
 * Find the exceptions of a whole address. @dev is the name of the input device, or "". @place is
 * valid as long as @exceptions; @place->all is set if it is exempt from all limits.
 */
void weir_exception_place(const struct weir_exceptions *exceptions,
			  const struct weir_source *source, const char *dev,
			  struct weir_exception_place *place)
{
	size_t found = 0;

	if (exceptions)
		found = source->scope & WEIR_SCOPE_IPV6 ?
			weir_prefixes_ipv6(exceptions->index, source->word) :
			weir_prefixes_ipv4(exceptions->index, source->word[0]);
	place->node = found ? &exceptions->node[found - 1] : NULL;
	place->all = found ? place->node->any ?: weir_exception_of(place, dev, 0, false) : NULL;
}

/* What exempts from all limits, or else, unless that is 0, from this one; or with @block blocks. */
const struct weir_exception *
weir_exception_of(const struct weir_exception_place *place, const char *dev, u32 limit, bool block)
{
	const struct weir_exception_node *node = place->node;
	const struct weir_exception *exception = NULL;

	if (!node || !node->has[block])
		return NULL;
	if (limit)
		exception = block ? weir_exception_of(place, dev, 0, true) : place->all;
	for (; node && !exception; node = node->outer) {
		exception = node_find(node, "", limit, block);
		if (!exception && node->devs)
			exception = node_find(node, dev, limit, block);
	}
	return exception;
}
