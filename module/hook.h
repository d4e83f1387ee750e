/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netfilter hook, and its clock.
 */
#ifndef WEIR_HOOK_H
#define WEIR_HOOK_H

#include <linux/jiffies.h>
#include <linux/types.h>

struct weir_net;

int weir_hook_register(struct weir_net *wn);
void weir_hook_unregister(struct weir_net *wn);

/* The coarse clock: ticks, the same on all CPUs and never less than before. */
static inline u64 weir_hook_clock(void)
{
	return get_jiffies_64();
}

#endif /* WEIR_HOOK_H */
