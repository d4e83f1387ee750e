// SPDX-License-Identifier: GPL-2.0-or-later
/* Registration of netfilter hooks, in user space. */

#include "path/verdict.h"

const struct nf_hook_ops *shim_hooks;
int shim_hooks_error;

int nf_register_net_hooks(struct net *net, const struct nf_hook_ops *ops, unsigned int n)
{
	assert(!shim_hooks);
	if (!shim_hooks_error)
		shim_hooks = ops;
	else	/* The first hook was registered, and a packet may still be in it. */
		shim_rcu_replace_all();
	return shim_hooks_error;
}

void nf_unregister_net_hooks(struct net *net, const struct nf_hook_ops *ops, unsigned int n)
{
	assert(shim_hooks == ops);
	shim_hooks = NULL;
}

/* The module's init; what it allocates is no test's. */
__attribute__((constructor)) static void init(void)
{
	weir_verdict_init();
	shim_allocated = 0;
	shim_allocations = 0;
}
