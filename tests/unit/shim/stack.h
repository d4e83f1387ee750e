/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the network stack that the hook uses, see kernel.h. */
#ifndef SHIM_STACK_H
#define SHIM_STACK_H

#include "locks.h"

#include <linux/if.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/socket.h>

struct user_namespace {
	int id;
};

extern struct user_namespace init_user_ns;

struct net {
	struct user_namespace *user_ns;
};

#define htonl(x) __cpu_to_be32(x)
#define ntohl(x) __be32_to_cpu(x)
#define htons(x) __cpu_to_be16(x)
#define ntohs(x) __be16_to_cpu(x)

struct net_device {
	char name[IFNAMSIZ];
	unsigned int flags;
	int ifindex;
};

#define netif_is_l3_master(dev)	((void)(dev), false)

bool dev_valid_name(const char *name);

#define __netdev_alloc_pcpu_stats(type, gfp)	alloc_percpu_gfp(type, gfp)

struct sk_buff;

struct nf_hook_state {
	u8 pf;
	struct net_device *in;
};

typedef unsigned int nf_hookfn(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);

struct nf_hook_ops {
	nf_hookfn *hook;
	void *priv;
	u8 pf;
	unsigned int hooknum;
	int priority;
};

/* The hooks registered last, and the error that registration returns, for tests. */
extern const struct nf_hook_ops *shim_hooks;
extern int shim_hooks_error;

int nf_register_net_hooks(struct net *net, const struct nf_hook_ops *ops, unsigned int n);
void nf_unregister_net_hooks(struct net *net, const struct nf_hook_ops *ops, unsigned int n);

/* Loggers, as nf_log.h has them, and for tests what was asked of them: see hooks.c. */
enum nf_log_type {
	NF_LOG_TYPE_LOG,
	NF_LOG_TYPE_ULOG,
};

struct nf_loginfo {
	u8 type;
	union {
		struct {
			u16 group;
		} ulog;
	} u;
};

#define request_module(name)	((void)(name))

extern int shim_logger_error;
extern unsigned int shim_loggers, shim_logged;
extern char shim_log_prefix[128];

int nf_logger_find_get(int pf, enum nf_log_type type);
void nf_logger_put(int pf, enum nf_log_type type);
__attribute__((format(printf, 8, 9)))
void nf_log_packet(struct net *net, u8 pf, unsigned int hooknum, const struct sk_buff *skb,
		   const struct net_device *in, const struct net_device *out,
		   const struct nf_loginfo *li, const char *fmt, ...);

#define IP_OFFSET 0x1fff
#define IP_MF 0x2000

/* Numbers of RFC 8200, under the kernel's names */

#define NEXTHDR_HOP		0
#define NEXTHDR_ROUTING		43
#define NEXTHDR_FRAGMENT	44
#define NEXTHDR_AUTH		51
#define NEXTHDR_ICMP		58
#define NEXTHDR_NONE		59
#define NEXTHDR_DEST		60
#define IP6_OFFSET		0xfff8
#define IPV6_ADDR_LINKLOCAL	0x0020u

struct frag_hdr {
	__u8 nexthdr;
	__u8 reserved;
	__be16 frag_off;
	__be32 identification;
};

#define ipv6_optlen(p)	(((p)->hdrlen + 1) << 3)
#define ipv6_authlen(p)	(((p)->hdrlen + 2) << 2)

bool ipv6_ext_hdr(u8 next);
unsigned int ipv6_addr_type(const struct in6_addr *addr);
#define ipv4_is_multicast(addr) IN_MULTICAST(ntohl(addr))
void ipv6_addr_prefix(struct in6_addr *prefix, const struct in6_addr *addr, int len);
bool ipv6_prefix_equal(const struct in6_addr *a, const struct in6_addr *b, unsigned int len);
int ipv6_skip_exthdr(const struct sk_buff *skb, int start, u8 *next, __be16 *frag_off);

#define NDISC_ROUTER_SOLICITATION	133
#define NDISC_ROUTER_ADVERTISEMENT	134
#define NDISC_NEIGHBOUR_SOLICITATION	135
#define NDISC_NEIGHBOUR_ADVERTISEMENT	136
#define NDISC_REDIRECT			137

/* A packet as the hook gets it: a linear part, and perhaps a nonlinear one. */

#define SKB_GSO_TCPV4	BIT(0)
#define SKB_GSO_TCPV6	BIT(4)

#define IS_ENABLED(CONFIG_option)	0

/* Counts reads behind the network header */
extern unsigned int shim_looks;

struct skb_shared_info {
	unsigned short gso_size, gso_segs;
	unsigned int gso_type;
};

struct sk_buff {
	struct net_device *dev;
	union {
		void *network;
		void *data;	/* the same */
	};
	void *head;		/* not used */
	unsigned char *rest;	/* nonlinear part */
	unsigned int len, data_len;	/* total length, and of rest */
	int transport, inner_transport;	/* offsets from network */
	bool encapsulation;
	u32 mark;
	struct skb_shared_info shinfo;
};

#define skb_shinfo(skb)			(&(skb)->shinfo)
#define skb_network_offset(skb)		((void)(skb), 0)
#define skb_network_header(skb)		((skb)->network)
#define skb_headlen(skb)		((skb)->len - (skb)->data_len)
#define skb_transport_offset(skb)	((skb)->transport)
#define skb_inner_transport_offset(skb)	((skb)->inner_transport)
#define skb_is_gso(skb)			((skb)->shinfo.gso_size)
#define skb_has_extensions(skb)		((void)(skb), false)

#define ip_hdr(skb)			((struct iphdr *)(skb)->network)
#define ipv6_hdr(skb)			((struct ipv6hdr *)(skb)->network)

static inline void *__skb_header_pointer(const struct sk_buff *skb, int offset, int len,
					 const void *data, int linear, void *room)
{
	int i;

	shim_looks++;
	if (linear - offset >= len)
		return (void *)data + offset;
	if (!skb || offset < 0 || (int)skb->len - offset < len)
		return NULL;
	for (i = 0; i < len; i++)
		((u8 *)room)[i] = offset + i < linear ? ((u8 *)skb->network)[offset + i] :
							skb->rest[offset + i - linear];
	return room;
}

static inline void *skb_header_pointer(const struct sk_buff *skb, int offset, int len, void *room)
{
	return __skb_header_pointer(skb, offset, len, skb->data, skb_headlen(skb), room);
}

#endif /* SHIM_STACK_H */
