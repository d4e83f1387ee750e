// SPDX-License-Identifier: GPL-2.0-only
/*
 * The prefixes of a list are sorted by family, address and length, and may contain one
 * another. An address is in the list if the last prefix that does not begin after it is
 * contained in one that has it. Of those that contain a prefix the shortest has all that
 * the others have, so each prefix refers to that one. A lookup is a binary search and
 * one comparison: at most 17 steps.
 */
#include <linux/bsearch.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "packet/prefixes.h"

int weir_prefix_compare(const struct weir_net_prefix *a, const struct weir_net_prefix *b)
{
	int order;

	if (a->family != b->family)
		return a->family == AF_INET ? -1 : 1;
	order = memcmp(a->word, b->word, sizeof(a->word));
	return order ?: (int)a->len - b->len;
}

bool weir_prefix_holds(const struct weir_net_prefix *outer, const struct weir_net_prefix *inner)
{
	return outer->len <= inner->len && weir_prefix_has(outer, inner->family, inner->word);
}

/* Returns NULL or an error message. */
const char *weir_net_prefix_check(const struct weir_net_prefix *prefix)
{
	unsigned int i, bits;

	if (prefix->family != AF_INET && prefix->family != AF_INET6)
		return "an address has 4 bytes (IPv4) or 16 (IPv6)";
	if (prefix->len > (prefix->family == AF_INET ? 32 : 128))
		return "prefix is longer than the address; IPv4 has 32 bits, IPv6 128";
	if (prefix->family == AF_INET6 && prefix->len >= 96 && !prefix->word[0] &&
	    !prefix->word[1] && prefix->word[2] == htonl(0xffff))
		return "no packet has an IPv4-mapped address; send the IPv4 address, 4 bytes";
	for (i = 0; i < 4; i++) {
		bits = min(prefix->len - min_t(unsigned int, prefix->len, 32 * i), 32u);
		if (bits < 32 && ntohl(prefix->word[i]) & (U32_MAX >> bits))
			return "prefix has host bits set; clear them or lengthen it";
	}
	return NULL;
}

static int compare_member(const void *va, const void *vb)
{
	const struct weir_member *a = va, *b = vb;

	return weir_prefix_compare(&a->prefix, &b->prefix);
}

static struct weir_prefixes *prefixes_alloc(const char *name, unsigned int count)
{
	struct weir_prefixes *list;

	list = kvzalloc(struct_size(list, member, count), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!list)
		return NULL;
	refcount_set(&list->users, 1);
	list->count = count;
	strscpy_pad(list->name, name, sizeof(list->name));
	return list;
}

/* Free a list of which only the first @count prefixes are wanted; returns those, or NULL. */
static struct weir_prefixes *prefixes_fit(struct weir_prefixes *was, unsigned int count)
{
	struct weir_prefixes *list;

	if (count == was->count)
		return was;
	list = prefixes_alloc(was->name, count);
	if (list)
		memcpy(list->member, was->member, count * sizeof(*was->member));
	kvfree(was);
	return list;
}

/* Set what is derived from the prefixes, which are sorted, each once. */
static void prefixes_derive(struct weir_prefixes *list)
{
	struct weir_member *member = list->member;
	unsigned int i, outermost = 0;
	u8 *longest;

	for (i = 0; i < list->count; i++) {
		if (!weir_prefix_holds(&member[outermost].prefix, &member[i].prefix))
			outermost = i;
		member[i].outermost = outermost;
		list->ipv4 += member[i].prefix.family == AF_INET;
		longest = &list->longest[member[i].prefix.family != AF_INET];
		*longest = max(*longest, member[i].prefix.len);
	}
}

/*
 * Make a list of the prefixes of @was, which may be NULL, and of @count others in any order,
 * at least one in all. Returns NULL without memory. Context: process, may sleep.
 */
struct weir_prefixes *weir_prefixes_add(const char *name, const struct weir_prefixes *was,
					const struct weir_net_prefix *prefix, unsigned int count)
{
	unsigned int i, n = was ? was->count : 0;
	struct weir_prefixes *list;

	list = prefixes_alloc(name, n + count);
	if (!list)
		return NULL;
	for (i = 0; i < n; i++)
		list->member[i].prefix = was->member[i].prefix;
	for (i = 0; i < count; i++)
		list->member[n + i].prefix = prefix[i];
	sort(list->member, list->count, sizeof(*list->member), compare_member, NULL);
	for (i = 0, n = 0; i < list->count; i++)
		if (!n || compare_member(&list->member[n - 1], &list->member[i]))
			list->member[n++] = list->member[i];
	list = prefixes_fit(list, n);
	if (list)
		prefixes_derive(list);
	return list;
}

static int prefixes_find(const struct weir_prefixes *list, const struct weir_net_prefix *prefix)
{
	const struct weir_member asked = { .prefix = *prefix }, *at;

	at = bsearch(&asked, list->member, list->count, sizeof(asked), compare_member);
	return at ? at - list->member : -1;
}

/*
 * Make a list of the prefixes of @was but for @count of them. Returns NULL if none is left,
 * or ERR_PTR(-ENOENT) with the index in @absent of one that is not in the list, or -ENOMEM.
 * Context: process, may sleep.
 */
struct weir_prefixes *weir_prefixes_del(const struct weir_prefixes *was,
					const struct weir_net_prefix *prefix, unsigned int count,
					unsigned int *absent)
{
	struct weir_prefixes *list;
	unsigned int i, n = 0;
	int at;

	list = prefixes_alloc(was->name, was->count);
	if (!list)
		return ERR_PTR(-ENOMEM);
	memcpy(list->member, was->member, was->count * sizeof(*was->member));
	for (i = 0; i < count; i++) {
		at = prefixes_find(was, &prefix[i]);
		if (at < 0) {
			*absent = i;
			kvfree(list);
			return ERR_PTR(-ENOENT);
		}
		list->member[at].prefix.family = 0;
	}
	for (i = 0; i < was->count; i++)
		if (list->member[i].prefix.family)
			list->member[n++] = list->member[i];
	if (!n) {
		kvfree(list);
		return NULL;
	}
	list = prefixes_fit(list, n);
	if (!list)
		return ERR_PTR(-ENOMEM);
	prefixes_derive(list);
	return list;
}

struct weir_prefixes *weir_prefixes_get(struct weir_prefixes *list)
{
	if (list)
		refcount_inc(&list->users);
	return list;
}

/* No packet may be in the list when the last user lets go of it. */
void weir_prefixes_put(struct weir_prefixes *list)
{
	if (list && refcount_dec_and_test(&list->users))
		kvfree(list);
}

/* Have two lists the same name and prefixes? */
bool weir_prefixes_same(const struct weir_prefixes *a, const struct weir_prefixes *b)
{
	unsigned int i = 0;

	if (a->count != b->count || strcmp(a->name, b->name))
		return false;
	while (i < a->count && !compare_member(&a->member[i], &b->member[i]))
		i++;
	return i == a->count;
}

u64 weir_prefixes_bytes(const struct weir_prefixes *list)
{
	return struct_size(list, member, list->count);
}

static bool begins_after(const struct weir_net_prefix *prefix, u8 family, const __be32 *addr)
{
	if (family == AF_INET)
		return ntohl(prefix->word[0]) > ntohl(*addr);
	return memcmp(prefix->word, addr, sizeof(prefix->word)) > 0;
}

/* Is an address in the list? Not in NULL. */
bool weir_prefixes_have(const struct weir_prefixes *list, u8 family, const __be32 *addr)
{
	u32 first, low, high, middle;

	if (!list)
		return false;
	first = family == AF_INET ? 0 : list->ipv4;
	high = family == AF_INET ? list->ipv4 : list->count;
	for (low = first; low < high;) {
		middle = (low + high) / 2;
		if (begins_after(&list->member[middle].prefix, family, addr))
			high = middle;
		else
			low = middle + 1;
	}
	return low > first &&
	       weir_prefix_has(&list->member[list->member[low - 1].outermost].prefix, family, addr);
}

/* Has the list prefixes of a family? */
bool weir_prefixes_family(const struct weir_prefixes *list, u8 family)
{
	return family == AF_INET ? list->ipv4 : list->count > list->ipv4;
}
