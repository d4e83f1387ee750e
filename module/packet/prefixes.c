// SPDX-License-Identifier: GPL-2.0-only
/*
 * The prefixes of a list are sorted by family, address and length, and may contain one
 * another. The longest that contains an address is found by a binary search for its length
 * among those that prefixes have (M. Waldvogel et al., Scalable High Speed IP Routing
 * Lookups, SIGCOMM 1997). A hash has a mark of the first bits of each prefix for each step
 * from which its search must go on with longer ones. A mark refers to the longest prefix
 * within its bits, so that no search goes back. One of IPv6 says whether there are longer
 * prefixes within its bits: without them the search ends. A lookup of IPv4 takes at most 6
 * steps, of IPv6 8, whatever the number of prefixes; one or two where they have up to three
 * lengths.
 */
#include <linux/bsearch.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "packet/prefixes.h"

/* Of the hash of a list, of which the first good one is taken, or the best. */
#define FACTORS		8
/* Room for marks. */
#define MARKS_MIN	256ul

#define IPV4_LENS	33
#define LENS		(IPV4_LENS + 129)

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

/* While they are sorted @outer is the order in which they were given. */
static int compare_given(const void *va, const void *vb)
{
	const struct weir_member *a = va, *b = vb;

	return compare_member(a, b) ?: a->outer < b->outer ? -1 : 1;
}

static struct weir_prefixes *prefixes_alloc(const char *name, unsigned int count)
{
	struct weir_prefixes *list;

	list = kvzalloc(struct_size(list, member, count), WEIR_GFP);
	if (!list)
		return NULL;
	refcount_set(&list->users, 1);
	list->count = count;
	strscpy_pad(list->name, name, sizeof(list->name));
	return list;
}

static void prefixes_free(struct weir_prefixes *list)
{
	kvfree(list->mark);
	kvfree(list->step);
	kvfree(list);
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

/* Has a member of IPv6 more than the first bits of the first one that has them? */
static bool mark_more(const struct weir_prefixes *list, u32 index,
		      const struct weir_prefix_step *step)
{
	struct weir_net_prefix first = list->member[index].prefix;

	first.len = step->len;
	return list->member[index].prefix.len > step->len ||
	       (index + 1 < list->count &&
		weir_prefix_holds(&first, &list->member[index + 1].prefix));
}

/* Mark the first bits of a member. Returns how many marks are looked at to find this one. */
static u32 mark_add(struct weir_prefixes *list, u32 index, const struct weir_prefix_step *step)
{
	const struct weir_net_prefix *prefix = &list->member[index].prefix;
	bool ipv6 = prefix->family == AF_INET6;
	u64 key, within = index + 1, i;
	u32 looks = 1;

	while (within && list->member[within - 1].prefix.len > step->len)
		within = list->member[within - 1].outer;
	key = ipv6 ? weir_prefix_key(step, prefix->word) :
		     ((__force u32)prefix->word[0] & step->mask[0]) | step->code;
	for (i = key * list->factor >> list->shift; list->mark[i]; looks++)
		i = (i + 1) & list->last;
	if (ipv6)
		key = index | step->code | (mark_more(list, index, step) ? WEIR_MARK_MORE : 0);
	list->mark[i] = key | within << WEIR_MARK_WITHIN;
	return looks;
}

/*
 * Go the steps to each prefix of a family, and count the marks, each once, or with @add make them
 * and count how many are looked at to find each.
 */
static u32 marks_walk(struct weir_prefixes *list, bool ipv6, bool add)
{
	u32 i = ipv6 ? list->ipv4 : 0, end = ipv6 ? list->count : list->ipv4, count = 0;
	u32 last[129] = { };	/* index + 1 of the last one marked at a length */
	const struct weir_prefix_step *step;
	struct weir_net_prefix first;
	const struct weir_prefix_step *next;

	for (; i < end; i++) {
		next = list->first[ipv6];
		do {
			step = next;
			next = step->shorter;
			if (step->len > list->member[i].prefix.len)
				continue;
			next = step->longer;
			first = list->member[i].prefix;
			first.len = step->len;
			if (last[step->len] &&
			    weir_prefix_has(&first, first.family,
					    list->member[last[step->len] - 1].prefix.word))
				continue;
			last[step->len] = i + 1;
			count += add ? mark_add(list, i, step) : 1;
		} while (step->len != list->member[i].prefix.len);
	}
	return count;
}

/* Make all marks; returns how many are looked at in all to find each of them. */
static u32 marks_fill(struct weir_prefixes *list, u64 factor)
{
	list->factor = factor;
	memset(list->mark, 0, (list->last + 1ull) * sizeof(*list->mark));
	return marks_walk(list, false, true) + marks_walk(list, true, true);
}

static void marks_make(struct weir_prefixes *list, u32 marks)
{
	u64 best = 0, factor;
	u32 least = U32_MAX, looks, i;

	/* Prefixes are regular, and with some factors many have one home. */
	for (i = 0; i < FACTORS; i++) {
		get_random_bytes(&factor, sizeof(factor));
		looks = marks_fill(list, factor | 1);
		if (looks - marks < marks / 8)
			return;
		if (looks < least) {
			least = looks;
			best = list->factor;
		}
	}
	marks_fill(list, best);
}

/* Link the steps of a family, of which those with the @count lengths there are begin at @step. */
static void steps_link(struct weir_prefixes *list, struct weir_prefix_step *step,
		       unsigned int count, bool ipv6)
{
	unsigned int i, low, high, middle;

	list->first[ipv6] = count ? &step[(count - 1) / 2] : NULL;
	list->longest[ipv6] = count ? step[count - 1].len : 0;
	for (i = 0; i < count; i++) {
		low = 0;
		high = count;
		while ((middle = (low + high - 1) / 2) != i) {
			if (middle < i)
				low = middle + 1;
			else
				high = middle;
		}
		step[i].shorter = low < i ? &step[(low + i - 1) / 2] : NULL;
		step[i].longer = i + 1 < high ? &step[(i + high) / 2] : NULL;
	}
}

/* The lengths that prefixes have: those of IPv6 behind the 33 of IPv4. */
static void lens_fill(const struct weir_prefixes *list, unsigned long *lens)
{
	unsigned int i;

	bitmap_zero(lens, LENS);
	for (i = 0; i < list->count; i++)
		__set_bit(list->member[i].prefix.len +
			  (list->member[i].prefix.family == AF_INET6 ? IPV4_LENS : 0), lens);
}

static void mask_fill(struct weir_prefix_step *step, bool ipv6)
{
	struct in6_addr all, first;

	memset(&all, 0xff, sizeof(all));
	ipv6_addr_prefix(&first, &all, step->len);
	step->mask[0] = ipv6 ? weir_prefix_half(first.s6_addr32) : (__force u32)first.s6_addr32[0];
	step->mask[1] = ipv6 ? weir_prefix_half(first.s6_addr32 + 2) : 0;
}

static void steps_make(struct weir_prefixes *list, const unsigned long *lens)
{
	unsigned int i, n = 0, ipv4 = 0;

	for_each_set_bit(i, lens, LENS) {
		list->step[n++] = (struct weir_prefix_step) {
			.code = (i + 1ull) << WEIR_MARK_CODE,
			.len = i < IPV4_LENS ? i : i - IPV4_LENS,
		};
		mask_fill(&list->step[n - 1], i >= IPV4_LENS);
		ipv4 += i < IPV4_LENS;
	}
	steps_link(list, list->step, ipv4, false);
	steps_link(list, &list->step[ipv4], n - ipv4, true);
}

/* Make what a lookup needs. */
static int lookup_make(struct weir_prefixes *list)
{
	const gfp_t gfp = WEIR_GFP;
	DECLARE_BITMAP(lens, LENS);
	unsigned int steps;
	u32 marks;

	lens_fill(list, lens);
	steps = bitmap_weight(lens, LENS);
	list->step = kvcalloc(steps, sizeof(*list->step), gfp);
	if (!list->step)
		return -ENOMEM;
	steps_make(list, lens);
	marks = marks_walk(list, false, false) + marks_walk(list, true, false);
	/* Three quarters of them at least are free, of a few almost all: most are at home. */
	list->last = max(roundup_pow_of_two(4 * marks), MARKS_MIN) - 1;
	list->shift = 64 - ilog2(list->last + 1);
	list->mark = kvcalloc(list->last + 1, sizeof(*list->mark), gfp);
	if (!list->mark)
		return -ENOMEM;
	list->steps = steps;
	marks_make(list, marks);
	return 0;
}

/* Set what is derived from the prefixes, which are sorted, each once. Frees the list on failure. */
static struct weir_prefixes *prefixes_derive(struct weir_prefixes *list)
{
	struct weir_member *member = list->member;
	u32 i, outer;

	list->least = list->count;
	list->largest = list->count;
	for (i = 0; i < list->count; i++) {
		outer = i;
		while (outer && !weir_prefix_holds(&member[outer - 1].prefix, &member[i].prefix))
			outer = member[outer - 1].outer;
		member[i].outer = outer;
		list->ipv4 += member[i].prefix.family == AF_INET;
		if (!member[i].budget)
			continue;
		if (list->least == list->count || member[i].budget < member[list->least].budget)
			list->least = i;
		if (list->largest == list->count || member[i].budget > member[list->largest].budget)
			list->largest = i;
	}
	if (!lookup_make(list))
		return list;
	prefixes_free(list);
	return NULL;
}

/*
 * Make a list of the members of @was, which may be NULL, and of @count others in any order,
 * at least one in all; of a prefix given twice the last counts. Returns NULL without memory.
 * Context: process, may sleep.
 */
struct weir_prefixes *weir_prefixes_add(const char *name, const struct weir_prefixes *was,
					const struct weir_member *member, unsigned int count)
{
	unsigned int i, n = was ? was->count : 0;
	struct weir_prefixes *list;

	list = prefixes_alloc(name, n + count);
	if (!list)
		return NULL;
	if (n)
		memcpy(list->member, was->member, n * sizeof(*member));
	memcpy(&list->member[n], member, count * sizeof(*member));
	for (i = 0; i < list->count; i++)
		list->member[i].outer = i;
	for (i = 1; i < list->count; i++)
		if (compare_given(&list->member[i - 1], &list->member[i]) > 0)
			break;
	if (i < list->count)
		sort(list->member, list->count, sizeof(*list->member), compare_given, NULL);
	for (i = 0, n = 0; i < list->count; i++) {
		n += !n || compare_member(&list->member[n - 1], &list->member[i]);
		list->member[n - 1] = list->member[i];
	}
	list = prefixes_fit(list, n);
	return list ? prefixes_derive(list) : NULL;
}

static int prefixes_index(const struct weir_prefixes *list, const struct weir_member *member)
{
	const struct weir_member *at;

	at = bsearch(member, list->member, list->count, sizeof(*at), compare_member);
	return at ? at - list->member : -1;
}

/*
 * The index of the first of the members from which a list was made that has another budget
 * there, because one of the same prefix came later; or @count.
 */
unsigned int weir_prefixes_other(const struct weir_prefixes *list,
				 const struct weir_member *member, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (list->member[prefixes_index(list, &member[i])].budget != member[i].budget)
			break;
	return i;
}

/*
 * Make a list of the members of @was but for the prefixes of @count. Returns NULL if none is left,
 * or ERR_PTR(-ENOENT) with the index in @absent of one that is not in the list, or -ENOMEM.
 * Context: process, may sleep.
 */
struct weir_prefixes *weir_prefixes_del(const struct weir_prefixes *was,
					const struct weir_member *member, unsigned int count,
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
		at = prefixes_index(was, &member[i]);
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
	if (list)
		list = prefixes_derive(list);
	return list ?: ERR_PTR(-ENOMEM);
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
		prefixes_free(list);
}

/* Have two lists the same name and members? */
bool weir_prefixes_same(const struct weir_prefixes *a, const struct weir_prefixes *b)
{
	unsigned int i = 0;

	if (a->count != b->count || strcmp(a->name, b->name))
		return false;
	while (i < a->count && !compare_member(&a->member[i], &b->member[i]) &&
	       a->member[i].budget == b->member[i].budget)
		i++;
	return i == a->count;
}

u64 weir_prefixes_bytes(const struct weir_prefixes *list)
{
	return struct_size(list, member, list->count) + list->steps * sizeof(*list->step) +
	       (list->last + 1ull) * sizeof(*list->mark);
}

/* Go on with the search for an address of IPv6 at a step. */
size_t weir_prefixes_search(const struct weir_prefixes *list, const __be32 *addr,
			    const struct weir_prefix_step *step, size_t found)
{
	u64 mark, i;

	while (step) {
		i = weir_prefix_key(step, addr) * list->factor >> list->shift;
		for (;; i = (i + 1) & list->last) {
			mark = list->mark[i];
			if (!mark) {
				step = step->shorter;
				break;
			}
			if (weir_prefix_marks(list, step, mark, addr)) {
				found = mark >> WEIR_MARK_WITHIN;
				step = mark & WEIR_MARK_MORE ? step->longer : NULL;
				break;
			}
		}
	}
	return found;
}

/* Apart from IPv4, which saves fewer registers so. */
static noinline size_t find_ipv6(const struct weir_prefixes *list, const __be32 *addr)
{
	return weir_prefixes_ipv6(list, addr);
}

/* The longest prefix that contains an address; NULL if none does, and in NULL. */
const struct weir_member *weir_prefixes_find(const struct weir_prefixes *list, u8 family,
					     const __be32 *addr)
{
	size_t found = 0;

	if (list)
		found = family == AF_INET ? weir_prefixes_ipv4(list, *addr) : find_ipv6(list, addr);
	return found ? &list->member[found - 1] : NULL;
}

/* The budget that a list gives a source, or 0; NULL has none. */
u64 weir_prefixes_budget(const struct weir_prefixes *list, const struct weir_source *whole)
{
	const struct weir_member *member =
		weir_prefixes_find(list, whole->scope & WEIR_SCOPE_IPV6 ? AF_INET6 : AF_INET,
				   whole->word);

	return member ? member->budget : 0;
}

/* Likewise of a source that is masked with @prefix. */
u64 weir_prefixes_budget_masked(const struct weir_prefixes *list,
				const struct weir_source *source, struct weir_prefix prefix)
{
	const struct weir_member *member;
	struct in6_addr addr;
	u8 family, len;

	family = weir_source_address(source, prefix, &addr, &len);
	member = weir_prefixes_find(list, family, addr.s6_addr32);
	return member ? member->budget : 0;
}

/* Has the list prefixes of a family? */
bool weir_prefixes_family(const struct weir_prefixes *list, u8 family)
{
	return list->first[family != AF_INET];
}
