/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decision on a packet. See the top of verdict.c.
 */
#ifndef WEIR_VERDICT_H
#define WEIR_VERDICT_H

#include <linux/types.h>

struct sk_buff;
struct weir_config;
struct weir_net;

int weir_verdict_init(void);
void weir_verdict_exit(void);
unsigned int weir_verdict(struct sk_buff *skb, u8 family, struct weir_net *wn,
			  const struct weir_config *config, u64 tick);

#endif /* WEIR_VERDICT_H */
