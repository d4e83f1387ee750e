/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prefixes of addresses, and named lists of them.
 */
#ifndef WEIR_PREFIXES_H
#define WEIR_PREFIXES_H

#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <net/ipv6.h>

#include "uapi/linux/weir.h"

/* A prefix of one family; IPv4 in the first word. */
struct weir_net_prefix {
	__be32 word[4];
	u8 family;
	u8 len;
};

struct weir_member {
	struct weir_net_prefix prefix;
	u32 outermost;	/* index of the shortest prefix of the list that contains this one */
};

/* A list, constant once made: limits that use it and the configuration hold it. */
struct weir_prefixes {
	refcount_t users;
	u32 count;	/* at least one */
	u32 ipv4;	/* first ones, of IPv4 */
	u8 longest[2];	/* of IPv4, of IPv6 */
	char name[WEIR_NAME_MAX + 1];	/* padded with zeroes */
	struct weir_member member[] __counted_by(count);	/* sorted, each once */
};

static inline bool weir_prefix_has(const struct weir_net_prefix *prefix, u8 family,
				   const __be32 *addr)
{
	if (prefix->family != family)
		return false;
	if (family == AF_INET)
		return !((*addr ^ prefix->word[0]) &
			 htonl(~0ull << (32 - prefix->len)));
	return ipv6_prefix_equal((const struct in6_addr *)addr,
				 (const struct in6_addr *)prefix->word,
				 prefix->len);
}

int weir_prefix_compare(const struct weir_net_prefix *a, const struct weir_net_prefix *b);
bool weir_prefix_holds(const struct weir_net_prefix *outer, const struct weir_net_prefix *inner);
const char *weir_net_prefix_check(const struct weir_net_prefix *prefix);

struct weir_prefixes *weir_prefixes_add(const char *name, const struct weir_prefixes *was,
					const struct weir_net_prefix *prefix, unsigned int count);
struct weir_prefixes *weir_prefixes_del(const struct weir_prefixes *was,
					const struct weir_net_prefix *prefix, unsigned int count,
					unsigned int *absent);
struct weir_prefixes *weir_prefixes_get(struct weir_prefixes *list);
void weir_prefixes_put(struct weir_prefixes *list);
bool weir_prefixes_same(const struct weir_prefixes *a, const struct weir_prefixes *b);
u64 weir_prefixes_bytes(const struct weir_prefixes *list);

bool weir_prefixes_have(const struct weir_prefixes *list, u8 family, const __be32 *addr);
bool weir_prefixes_family(const struct weir_prefixes *list, u8 family);

#endif /* WEIR_PREFIXES_H */
