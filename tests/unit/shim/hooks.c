// SPDX-License-Identifier: GPL-2.0-or-later
/* Registration of netfilter hooks, in user space. */

#include <stdarg.h>
#include <stdio.h>

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

int shim_logger_error;
unsigned int shim_loggers;	/* how often the logger is held */
unsigned int shim_logged;	/* packets */
char shim_log_prefix[128];	/* of the last one */

int nf_logger_find_get(int pf, enum nf_log_type type)
{
	assert(pf == NFPROTO_INET && type == NF_LOG_TYPE_ULOG);
	shim_loggers += !shim_logger_error;
	return shim_logger_error;
}

void nf_logger_put(int pf, enum nf_log_type type)
{
	assert(pf == NFPROTO_INET && type == NF_LOG_TYPE_ULOG && shim_loggers);
	shim_loggers--;
}

void nf_log_packet(struct net *net, u8 pf, unsigned int hooknum, const struct sk_buff *skb,
		   const struct net_device *in, const struct net_device *out,
		   const struct nf_loginfo *li, const char *fmt, ...)
{
	va_list args;

	assert(shim_loggers && skb && in && li->u.ulog.group);
	assert(hooknum == NF_INET_PRE_ROUTING && (pf == NFPROTO_IPV4 || pf == NFPROTO_IPV6));
	va_start(args, fmt);
	vsnprintf(shim_log_prefix, sizeof(shim_log_prefix), fmt, args);
	va_end(args);
	shim_logged++;
}

/* The module's init; what it allocates is no test's. */
__attribute__((constructor)) static void init(void)
{
	weir_verdict_init();
	shim_allocated = 0;
	shim_allocations = 0;
}
