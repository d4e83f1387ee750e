// SPDX-License-Identifier: GPL-2.0-or-later
/* Registration of netfilter hooks, in user space. */

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
