/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decision on a packet before the stack: refused, or not sure. See the top of early.c.
 */
#ifndef WEIR_EARLY_H
#define WEIR_EARLY_H

#include <linux/types.h>

struct weir_config;
struct weir_net;
struct weir_packet;

bool weir_early_refuses(struct weir_packet *packet, struct weir_net *wn,
			const struct weir_config *config, u64 tick, u32 bytes);

#endif /* WEIR_EARLY_H */
