/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decision on a packet. See the top of verdict.c.
 */
#ifndef WEIR_VERDICT_H
#define WEIR_VERDICT_H

#include <linux/types.h>

#include "limit/result.h"
#include "packet/packet.h"

struct sk_buff;
struct weir_config;
struct weir_net;

int weir_verdict_init(void);
void weir_verdict_exit(void);
enum weir_verdict weir_verdict(struct sk_buff *skb, u8 family, struct weir_net *wn,
			       const struct weir_config *config, u64 tick);
enum weir_verdict weir_verdict_frame(struct weir_frame frame, struct weir_net *wn,
				     const struct weir_config *config, u64 tick);

#endif /* WEIR_VERDICT_H */
