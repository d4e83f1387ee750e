// SPDX-License-Identifier: GPL-2.0-only
#include <linux/in.h>
#include <linux/minmax.h>
#include <linux/socket.h>

#include "packet/source.h"

/* The leading bits of a word, 0 to 32. */
static __be32 word_mask(unsigned int bits)
{
	return htonl(~0ull << (32 - bits));
}

/*
 * With both lengths 0 all addresses of both families are one source. Link-local
 * addresses are not masked; if half an IPv6 address makes a source, the interface
 * identifier is kept instead.
 */
void weir_source_mask(struct weir_source *source, struct weir_prefix prefix)
{
	bool ipv6 = source->scope & WEIR_SCOPE_IPV6;
	unsigned int len = ipv6 ? prefix.len6 : prefix.len4;
	unsigned int i;

	if (!len) {
		*source = (struct weir_source) { };
		if (ipv6 && prefix.len4)
			source->scope = WEIR_SCOPE_IPV6;
		return;
	}
	if (unlikely(source->scope & WEIR_SCOPE_LINKLOCAL)) {
		if (ipv6 && weir_prefix_words(prefix) == 2) {
			source->word[0] = source->word[2];
			source->word[1] = source->word[3];
			source->word[2] = 0;
			source->word[3] = 0;
		}
		return;
	}
	for (i = 0; len >= 32; i++)
		len -= 32;
	if (len)
		source->word[i++] &= word_mask(len);
	for (; i < (ipv6 ? 4 : 1); i++)
		source->word[i] = 0;
}

/*
 * The address that was masked with @prefix, IPv4 in the first word, and the bits of it
 * that are counted. Returns AF_INET, AF_INET6, or AF_UNSPEC for all addresses.
 */
u8 weir_source_address(const struct weir_source *source,
		       struct weir_prefix prefix, struct in6_addr *addr,
		       u8 *len)
{
	bool whole = source->scope & WEIR_SCOPE_LINKLOCAL;

	memcpy(addr, source->word, sizeof(*addr));
	if (source->scope & WEIR_SCOPE_IPV6) {
		*len = whole ? 128 : prefix.len6;
		if (whole && weir_prefix_words(prefix) == 2) {
			addr->s6_addr32[2] = source->word[0];
			addr->s6_addr32[3] = source->word[1];
			addr->s6_addr32[0] = htonl(0xfe800000);
			addr->s6_addr32[1] = 0;
		}
		return AF_INET6;
	}
	*len = whole ? 32 : prefix.len4;
	return *len ? AF_INET : AF_UNSPEC;
}
