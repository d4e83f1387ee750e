/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_NETFILTER_H
#define SHIM_NETFILTER_H

#include_next <linux/netfilter.h>
#include <linux/types.h>

struct net;
struct net_device;
struct sk_buff;

struct nf_hook_state {
	u8 pf;
	struct net_device *in;
};

typedef unsigned int nf_hookfn(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state);

struct nf_hook_ops {
	nf_hookfn *hook;
	void *priv;
	u8 pf;
	unsigned int hooknum;
	int priority;
};

/* The hooks of a namespace are remembered for tests; one fails where asked. */
extern const struct nf_hook_ops *shim_hooks;
extern int shim_hooks_error;

int nf_register_net_hooks(struct net *net, const struct nf_hook_ops *ops,
			  unsigned int n);
void nf_unregister_net_hooks(struct net *net, const struct nf_hook_ops *ops,
			     unsigned int n);

#endif
