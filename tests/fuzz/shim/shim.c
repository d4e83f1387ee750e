// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/netdevice.h>
#include <net/ipv6.h>

bool dev_valid_name(const char *name)
{
	return *name && !strpbrk(name, "/: \t\n");
}

bool ipv6_ext_hdr(__u8 next)
{
	return next == NEXTHDR_HOP || next == NEXTHDR_ROUTING ||
	       next == NEXTHDR_FRAGMENT || next == NEXTHDR_AUTH ||
	       next == NEXTHDR_NONE || next == NEXTHDR_DEST;
}

int ipv6_addr_type(const struct in6_addr *addr)
{
	return (ntohl(addr->s6_addr32[0]) & 0xffc00000) == 0xfe800000 ?
	       (int)IPV6_ADDR_LINKLOCAL : 0;
}

bool ipv6_prefix_equal(const struct in6_addr *a, const struct in6_addr *b,
		       unsigned int len)
{
	const __u8 *x = (const __u8 *)a, *y = (const __u8 *)b;

	if (memcmp(x, y, len / 8))
		return false;
	return !(len % 8) || !((x[len / 8] ^ y[len / 8]) >> (8 - len % 8));
}

int ipv6_skip_exthdr(const struct sk_buff *skb, int start, __u8 *next,
		     __be16 *frag_off)
{
	const struct ipv6_opt_hdr *ext;
	struct ipv6_opt_hdr room;
	__be16 off, *offset;

	*frag_off = 0;
	while (ipv6_ext_hdr(*next)) {
		ext = *next == NEXTHDR_NONE ? NULL :
		      skb_header_pointer(skb, start, sizeof(room), &room);
		if (!ext)
			return -1;
		if (*next == NEXTHDR_FRAGMENT) {
			offset = skb_header_pointer(skb, start + 2, 2, &off);
			if (!offset)
				return -1;
			*frag_off = *offset;
			if (ntohs(*offset) & ~7)
				break;
			start += 8;
		} else {
			start += *next == NEXTHDR_AUTH ? ipv6_authlen(ext) : ipv6_optlen(ext);
		}
		*next = ext->nexthdr;
	}
	return start;
}
