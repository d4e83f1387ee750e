/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a packet costs.
 */
#ifndef WEIR_COST_H
#define WEIR_COST_H

#include "table.h"

struct sk_buff;

struct weir_cost weir_packet_cost(const struct sk_buff *skb, u8 family);

#endif /* WEIR_COST_H */
