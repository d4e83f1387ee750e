/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of RFC 8200, and what the kernel makes of them. */
#ifndef SHIM_NET_IPV6_H
#define SHIM_NET_IPV6_H

#include <linux/in6.h>
#include <linux/skbuff.h>

#define NEXTHDR_HOP		0
#define NEXTHDR_ROUTING		43
#define NEXTHDR_FRAGMENT	44
#define NEXTHDR_AUTH		51
#define NEXTHDR_ICMP		58
#define NEXTHDR_NONE		59
#define NEXTHDR_DEST		60
#define IP6_OFFSET		0xfff8
#define IPV6_ADDR_LINKLOCAL	0x0020U

struct frag_hdr {
	__u8 nexthdr;
	__u8 reserved;
	__be16 frag_off;
	__be32 identification;
};

#define ipv6_optlen(p)	(((p)->hdrlen + 1) << 3)
#define ipv6_authlen(p)	(((p)->hdrlen + 2) << 2)

bool ipv6_ext_hdr(__u8 next);
int ipv6_addr_type(const struct in6_addr *addr);
bool ipv6_prefix_equal(const struct in6_addr *a, const struct in6_addr *b,
		       unsigned int len);
int ipv6_skip_exthdr(const struct sk_buff *skb, int start, __u8 *next,
		     __be16 *frag_off);

#endif
