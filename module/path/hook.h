/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netfilter hook.
 */
#ifndef WEIR_HOOK_H
#define WEIR_HOOK_H

#include <linux/jiffies.h>
#include <linux/local_lock.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "compat.h"

struct weir_net;

/* CPU-local data, caches and counters, belongs to one packet at a time. */
struct weir_hook_cpu {
	local_lock_t lock;
};

DECLARE_PER_CPU(struct weir_hook_cpu, weir_hook_cpu);

/* BH off. */
static inline void weir_hook_lock(void)
{
	weir_lock_nested_bh(&weir_hook_cpu.lock);
}

static inline void weir_hook_unlock(void)
{
	weir_unlock_nested_bh(&weir_hook_cpu.lock);
}

int weir_hook_register(struct weir_net *wn);
void weir_hook_unregister(struct weir_net *wn);
/* How many namespaces have hooks, that is limits. */
unsigned int weir_hook_namespaces(void);
nf_hookfn weir_hook_ipv4;
nf_hookfn weir_hook_ipv6;

/* The kfunc for XDP programs: xdp.c */
struct xdp_md;
int weir_xdp_refuses(struct xdp_md *ctx);
int weir_xdp_init(void);

#endif /* WEIR_HOOK_H */
