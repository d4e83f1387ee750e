/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a packet costs.
 */
#ifndef WEIR_COST_H
#define WEIR_COST_H

#include <linux/skbuff.h>

#include "table.h"

struct weir_cost weir_segments_cost(const struct sk_buff *skb, u8 family);

/**
 * weir_packet_cost - what a packet costs in either unit
 * @skb: packet in PRE_ROUTING
 * @family: AF_INET or AF_INET6
 *
 * Bytes are counted from the network header on.
 */
static inline struct weir_cost weir_packet_cost(const struct sk_buff *skb,
						u8 family)
{
	if (unlikely(skb_is_gso(skb)))
		return weir_segments_cost(skb, family);
	return (struct weir_cost) { .packets = 1, .bytes = skb->len };
}

#endif /* WEIR_COST_H */
